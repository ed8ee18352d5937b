# SPDX-License-Identifier: MPL-2.0
"""The OpenAPI document is valid, complete, and agrees with the handlers.

support/contract.py compares every answer of every test with the document."""

import copy
import json
import re
from collections import defaultdict
from pathlib import Path

import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from support.api import Api
from support.contract import document, faults, includes, operation_at, operations, parameters, validator
from support.routes import rows
from support.samples import SAMPLES, Sample

API = Path(__file__).parents[3] / "scheduler/api"
# Without SCIM's own endpoints, which RFC 7644 describes.
SOURCES = [path.read_text() for path in sorted(API.rglob("*.c")) if path.parent.name not in ("internal", "server") and path.parent != API
           and (path.parent.name != "scim" or path.name.startswith("admin_"))]
PUBLIC = {(method, re.sub(r":(\w+)", r"{\1}", prefix + path)): handler
          for kind, prefix in (("API", "/api/v2"), ("SIGNED", "/signed/:signature"))
          for method, path, handler, _ in rows(kind)}


def test_the_document_is_valid():
    OpenAPIV31SpecValidator(document()).validate()


def test_the_document_is_served_without_a_token(org):
    answer = Api(org.url, None).call("GET", "openapi.json")
    assert answer.status == 200 and answer.headers["Content-Type"] == "application/json"
    assert answer.json == document()


def test_every_public_route_is_an_operation():
    documented = {(method, path) for method, path, _ in operations(document()) if path.startswith(("/api/v2/", "/signed/"))}
    assert documented == set(PUBLIC)


def test_every_row_of_the_tables_is_in_the_document():
    schemas = document()["components"]["schemas"]
    names = re.findall(r'^(?:RESOURCE|OBJECT)\("([^"]+)"', (API / "openapi/resources.def").read_text(), re.M)
    assert names and [name for name in names if name not in schemas and f"{name}-input" not in schemas] == []
    described = set(re.findall(r"^\t?[A-Z]+\((\w+),", (API / "openapi/operations.def").read_text(), re.M))
    assert described - {handler for _, _, handler, _ in rows("API") + rows("REGISTRY") + rows("REGISTRY_KEYS") + rows("SIGNED") + rows("SITE")} == set()


def test_every_reference_has_a_target():
    text = json.dumps(document())
    for kind, name in set(re.findall(r'"#/components/(\w+)/([^"]+)"', text)):
        assert name in document()["components"][kind]


@pytest.mark.parametrize("handler", [handler for handler, sample in SAMPLES.items() if type(sample) is Sample and (sample.attributes or sample.relations)])
def test_requests_have_the_attributes_that_handlers_read(handler):
    """Objects of requests may have other members, which are ignored. So the names are compared one by one."""
    (_, operation), *_ = [(path, operation_at(method, path)) for (method, path), found in PUBLIC.items() if found == handler]
    schema = operation["requestBody"]["content"]["application/vnd.api+json"]["schema"]
    sample = SAMPLES[handler].document(defaultdict(str))
    assert [error.message for error in validator(json.dumps(schema)).iter_errors(sample)] == []
    if "attributes" in sample.get("data", {}) and "$ref" in schema.get("properties", {}).get("data", {}):
        known = document()["components"]["schemas"][schema["properties"]["data"]["$ref"].rpartition("/")[2]]["properties"]
        assert set(sample["data"]["attributes"]) <= set(known["attributes"]["properties"])
        assert set(sample["data"]["relationships"]) <= set(known.get("relationships", {"properties": {}})["properties"])


def test_query_parameters_are_those_that_handlers_read():
    read = {name for text in SOURCES for name in re.findall(r'(?:query|query_or_null|time_read|flag_read)\(req, "([^"]+)"', text)}
    known = {name for _, _, operation in operations(document()) for name in parameters(operation) if "[0]" not in name}
    computed = {"filter[workspace][id]", "include", "page[number]", "page[size]"}  # their readers have no literals
    assert read - {"include"} - known == set()
    assert known - read - computed == set()


def test_includes_are_those_that_handlers_accept():
    tables = [table for text in SOURCES for table in re.findall(r"static const struct inclusion \w+\[\] = \{(.*?)\n?\};", text, re.S)]
    tables += [table for text in SOURCES for table in re.findall(r"static const char \*const includes\[\] = \{(.*?)\};", text, re.S)]
    accepted = {name.replace("-", "_") for table in tables for name in re.findall(r'\{"([^"]+)", (?:"|NULL)', table) or re.findall(r'"([^"]+)"', table)}
    assert accepted == {name.replace("-", "_") for _, _, operation in operations(document()) for name in includes(operation)}


def difference(answer, change):
    body = copy.deepcopy(answer.json)
    change(body["data"])
    return faults("GET", answer.url, answer.status, answer.headers, json.dumps(body).encode())


def test_the_comparison_reports_differences(org):
    answer = org.get(f"organizations/{org.organization}")
    assert difference(answer, lambda data: None) == []
    assert "unexpected" in difference(answer, lambda data: data["attributes"].update(other=1))[0]
    assert "unexpected" in difference(answer, lambda data: data["relationships"].update(other={"data": None}))[0]
    assert "required" in difference(answer, lambda data: data["attributes"].pop("email"))[0]
    assert "null" in difference(answer, lambda data: data["attributes"].update(email=None))[0]
    assert "date-time" in difference(answer, lambda data: data["attributes"].update({"created-at": "yesterday"}))[0]
    assert difference(answer, lambda data: data.update(type="teams")) != []
    assert faults("GET", answer.url, 202, answer.headers, answer.body) == ["the document does not have this status"]
