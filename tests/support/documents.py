# SPDX-License-Identifier: MPL-2.0
"""JSON:API documents that tests send, and the errors that they expect."""

import pytest

from support.api import ApiError, dashed


def document(kind, attributes, **relationships):
    return {"data": {"type": kind, "attributes": attributes, **({"relationships": relationships} if relationships else {})}}


def linkage(kind, *ids):
    return [{"type": kind, "id": id} for id in ids]


def send(client, method, path, kind, /, relations=None, **attributes):
    """Sends a resource. Names are written with underscores; a relation is (kind, id, ...)."""
    relationships = {name: {"data": linkage(*items)} for name, items in dashed(relations or {}).items()}
    return client.call(method, path, document(kind, dashed(attributes), **relationships))


def refused(status, call, *arguments, **more):
    """The answer of a call of Api that must fail with this status."""
    with pytest.raises(ApiError) as caught:
        call(*arguments, **more)
    assert caught.value.status == status, caught.value
    return caught.value.answer


def refused_at(answer, pointer):
    """The errors of an answer with status 422 whose only error is at this pointer."""
    assert answer.status == 422, answer.text
    assert [error["source"]["pointer"] for error in answer.json["errors"]] == [pointer]
    return answer.errors()
