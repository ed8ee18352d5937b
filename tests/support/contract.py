# SPDX-License-Identifier: MPL-2.0
"""Compares every answer of the API that the tests receive with the OpenAPI document, which the scheduler prints.

An attribute that is not in scheduler/api/openapi/resources.def, or is missing in an answer, fails the test that received the answer."""

import json
import re
import subprocess
import urllib.parse
from functools import cache

import jsonschema_rs

from support.process import program

MAX_SHOWN = 10


@cache
def document():
    printed = subprocess.run([program("runyard-scheduler"), "openapi"], check=True, capture_output=True)
    return json.loads(printed.stdout)


def operations(of):
    """(method, path, operation) of each operation."""
    return [(method.upper(), path, operation) for path, item in of["paths"].items() for method, operation in item.items()]


def parameters(operation):
    """The query parameters that are not those of all lists, by their names."""
    return {parameter["name"]: parameter for parameter in operation["parameters"] if parameter.get("in") == "query"}


def includes(operation):
    """The values of `include`."""
    parameter = parameters(operation).get("include")
    return parameter["schema"]["items"]["enum"] if parameter else []


@cache
def patterns(method):
    """One pattern with a group for each path that has the method, and their operations."""
    found = [(path, operation) for wanted, path, operation in operations(document()) if wanted == method]
    paths = ["(" + re.sub(r"\\{\w+\\}", "[^/]+", re.escape(path)) + ")" for path, _ in found]
    return re.compile("|".join(paths) or "(?!)"), [operation for _, operation in found]


def operation_at(method, path):
    """The operation, or None."""
    pattern, found = patterns("GET" if method == "HEAD" else method)
    match = pattern.fullmatch(path.removesuffix("/"))
    return match and found[match.lastindex - 1]


@cache
def validator(schema):
    """For a schema of the document, as text."""
    parts = {"components": {"schemas": document()["components"]["schemas"]}}
    return jsonschema_rs.validator_for({**json.loads(schema), **parts}, validate_formats=True)


@cache
def contents(operation_id, status):
    """{media type: validator} of an answer with that status, {} if it has no body, None if the document has no such
    answer. operation_id None: a path that the document does not have."""
    answers = {"4XX": {"$ref": "#/components/responses/failure"}}
    if operation_id:
        answers = next(operation for _, _, operation in operations(document()) if operation["operationId"] == operation_id)["responses"]
    answer = answers.get(str(status), answers.get(f"{status // 100}XX"))
    if answer is None:
        return None
    if "$ref" in answer:
        answer = document()["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    return {media: validator(json.dumps(content["schema"])) for media, content in answer.get("content", {}).items()}


def faults(method, url, status, headers, body):
    """The differences between an answer and the document."""
    parts = urllib.parse.urlsplit(url)
    operation = operation_at(method, urllib.parse.unquote(parts.path))
    expected = contents(operation and operation["operationId"], status)
    if expected is None:
        return ["the document does not have this status"]
    if method == "HEAD":
        return []
    media = (headers.get("Content-Type") or "").partition(";")[0]
    if not expected or media not in expected:
        return [] if not expected and not body else [f"the document does not have the content {media!r} of {len(body)} bytes"]
    if not media.endswith("json"):
        return []
    return [f"{'/'.join(map(str, error.instance_path))}: {error.message[:300]}" for error in expected[media].iter_errors(json.loads(body))]


class Contract:
    """Collects the differences, because a test may receive answers in threads of its own."""

    def __init__(self):
        self.found = []

    def note(self, method, answer):
        path = urllib.parse.urlsplit(answer.url).path
        if path.startswith(("/api/v2/", "/api/registry/", "/signed/")):
            self.found += [f"{method} {path}: {answer.status}: {fault}" for fault in faults(method, answer.url, answer.status, answer.headers, answer.body)]

    def check(self):
        found, self.found = self.found, []
        assert not found, "answers differ from the OpenAPI document (scheduler/api/openapi):\n" + "\n".join(found[:MAX_SHOWN])
