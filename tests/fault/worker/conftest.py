# SPDX-License-Identifier: MPL-2.0
"""Fixtures for tests of workers that upload to the object store (worker/rescue/rescue.h)."""

import pytest

from support.servers import ObjectStore

LEASE = 3


@pytest.fixture(scope="module")
def objects(tmp_path_factory):
    store = ObjectStore(tmp_path_factory.mktemp("objects")).start()
    yield store
    store.release()


@pytest.fixture
def prefix(request):
    """Each test has a part of the bucket of its own."""
    return f"t{abs(hash(request.node.nodeid))}"


@pytest.fixture
def with_store(scheduler, objects, prefix):
    """with_store("objectStore") starts a scheduler with --rescue 1."""

    def start(setup="objectStore", rescue=1):
        options = {**objects.options(prefix), "rescue": rescue} if setup == "objectStore" else {}
        return scheduler(lease_seconds=LEASE, **options)

    return start
