# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Behaviour common to all requests: headers, errors, bodies, pages."""

import concurrent.futures
import re
import socket

from support.api import Api
from support.shared import api, database, scheduler  # noqa: F401


def document(attributes, kind="workspaces"):
    return {"data": {"type": kind, "attributes": attributes}}


def error(answer):
    """The only error of an answer, checked to be a document as clients parse it."""
    assert answer.headers["Content-Type"] == "application/vnd.api+json"
    (one,) = answer.json["errors"]
    assert one["status"] == str(answer.status) and one["title"] and one["detail"]
    return one


def test_every_answer_has_the_headers_that_clients_read(api):
    for path in ("ping", "account/details", "nonexistent", "organizations/nobody"):
        answer = api.call("GET", path)
        assert answer.headers["TFP-API-Version"] == "2.6"
        assert answer.headers["TFP-AppName"] == "Terraform Enterprise"
        assert answer.headers["X-TFE-Version"] == "v202411-2"
        assert int(answer.headers["X-RateLimit-Limit"]) >= 30
    assert api.call("GET", "ping").status == 204


def test_every_answer_has_a_request_id(api):
    ids = [Api(api.url, token).call("GET", path).headers["X-Request-Id"]
           for token in (api.token, None) for path in ("ping", "account/details", "nonexistent", f"{api.url}/healthz", f"{api.url}/app/login")]
    assert len(set(ids)) == len(ids) and all(re.fullmatch(r"req-[A-Za-z0-9]{16}", id) for id in ids)


def test_a_well_formed_request_id_of_the_client_is_kept(api):
    def answered(id):
        return api.call("GET", "ping", headers={"X-Request-Id": id}).headers["X-Request-Id"]

    for id in ("a", "0f8c2a1e-5d.7B_x", "x" * 64):
        assert answered(id) == id
    for id in ("", "x" * 65, "a b", "a/b", "ü", '"', "a,b"):
        assert answered(id.encode()).startswith("req-"), id


def test_the_log_of_a_failure_has_the_request_id(api_site, api):
    path = f"organizations/{api.organization}/ssh-keys"
    api_site.change("alter table ssh_keys rename to ssh_keys_away")
    try:
        answer = api.call("GET", path, headers={"X-Request-Id": "find-me"})
    finally:
        api_site.change("alter table ssh_keys_away rename to ssh_keys")
    assert answer.status == 500 and answer.headers["X-Request-Id"] == "find-me"
    (line,) = [line for line in api_site.scheduler.log_lines() if line.get("request") == "find-me"]
    assert line["event"] == "request-failed" and line["route"].endswith("/ssh-keys") and "ssh_keys" in line["error"]
    assert api.call("GET", path).status == 200


def test_discovery_needs_no_token(api):
    answer = Api(api.url, None).call("GET", f"{api.url}/.well-known/terraform.json")
    assert answer.status == 200 and answer.headers["Content-Type"] == "application/json"
    assert answer.json["tfe.v2"] == answer.json["tfe.v2.1"] == "/api/v2/"
    home = Api(api.url, None).call("GET", f"{api.url}/")
    assert home.status == 200 and "Runyard" in home.text


def test_unknown_endpoints_are_not_found(api):
    """Never a 5xx: clients would retry for minutes."""
    for method, path in (("GET", "stacks"), ("POST", "nonsense"), ("DELETE", "workspaces"), ("PUT", "runs/run-1"), ("PATCH", "ping"),
                         ("GET", "workspaces/ws-1/"), ("GET", "/".join(["a"] * 300)), ("GET", "%ff%fe"), ("GET", "workspaces/a%2Fb")):
        answer = api.call(method, path)
        assert answer.status == 404, (method, path)
        error(answer)


def test_invalid_bodies_are_refused(api):
    path = f"organizations/{api.organization}/workspaces"
    for body in (b"{", b"not json", b"\xff\xfe", b'{"a":1}{"b":2}', b'{"a":"\\u0000"}', b"[" * 100000):
        answer = api.call("POST", path, body)
        assert answer.status == 400 and "not JSON" in error(answer)["detail"], body[:20]
    for body in (b"", b"null", b"[]", b"{}", b'{"data":[]}', b'{"data":null}'):
        answer = api.call("POST", path, body)
        assert answer.status == 400, body
        error(answer)
    for attributes, pointer in (({"name": 1}, "name"), ({"name": "a", "auto-apply": "yes"}, "auto-apply"),
                                ({"name": "a", "trigger-prefixes": "x"}, "trigger-prefixes"), ({}, "name"),
                                ({"name": "no spaces"}, "name"), ({"name": "a" * 91}, "name"), ({"name": None}, "name")):
        answer = api.call("POST", path, document(attributes))
        assert answer.status == 422, attributes
        assert error(answer)["source"]["pointer"] == f"/data/attributes/{pointer}"
    assert api.call("POST", path, document({"name": "a"}, kind="runs")).status == 422


def test_too_large_bodies_are_refused(api):
    answer = api.call("POST", f"organizations/{api.organization}/workspaces", b"x" * (2 << 20))
    assert answer.status == 413
    error(answer)
    # An announced body is refused for its size, and so is a chunked one.
    with socket.create_connection(("127.0.0.1", int(api.url.rsplit(":", 1)[1]))) as connection:
        head = f"POST /api/v2/organizations HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {api.token}\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall(head.encode())
        for _ in range(40):
            connection.sendall(b"10000\r\n" + b"y" * 0x10000 + b"\r\n")
        connection.sendall(b"0\r\n\r\n")
        assert connection.recv(100).startswith(b"HTTP/1.1 413")


def test_lists_are_paged(api):
    names = [f"p{i:02}" for i in range(25)]
    for name in names:
        api.workspace(name)
    first = api.get(f"organizations/{api.organization}/workspaces", sort="name").json
    assert [w["attributes"]["name"] for w in first["data"]] == names[:20]
    assert first["meta"]["pagination"] == {"current-page": 1, "page-size": 20, "prev-page": None, "next-page": 2, "total-pages": 2, "total-count": 25}
    second = api.ask("GET", first["links"]["next"]).json
    assert [w["attributes"]["name"] for w in second["data"]] == names[20:]
    assert second["links"]["next"] is None and second["links"]["prev"] == first["links"]["self"]
    beyond = api.get(f"organizations/{api.organization}/workspaces", **{"page[number]": 999, "page[size]": 100}).json
    assert beyond["data"] == [] and beyond["meta"]["pagination"]["current-page"] == 999 and beyond["meta"]["pagination"]["total-count"] == 25
    assert api.get(f"organizations/{api.organization}/workspaces", **{"page[size]": 1000}).json["meta"]["pagination"]["page-size"] == 100
    for wrong in ("x", "-1", "0", "1.5"):
        assert api.call("GET", f"organizations/{api.organization}/workspaces?page[number]={wrong}").status == 400
    assert api.call("GET", f"organizations/{api.organization}/workspaces?search[name]=%ff").status == 400
    assert api.call("GET", f"organizations/{api.organization}/workspaces?TagBindings=%7B%20env%20prod%7D").status == 200


def test_unknown_includes_are_refused(api):
    answer = api.call("GET", f"organizations/{api.organization}/workspaces?include=organization,nonsense")
    assert answer.status == 400
    assert "Invalid include parameter" in error(answer)["title"]
    assert api.call("GET", f"organizations/{api.organization}/workspaces?include=current_run,current-state-version,locked_by").status == 200


def test_of_concurrent_creations_with_one_name_one_succeeds(api):
    """Every thread has its own connection to the database."""
    def create(_):
        return api.call("POST", f"organizations/{api.organization}/workspaces", document({"name": "only-one"})).status

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert sorted(pool.map(create, range(32))) == [201] + [422] * 31
