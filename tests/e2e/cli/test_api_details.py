# SPDX-License-Identifier: MPL-2.0
"""Details that clients rely on: headers, logs, and members of documents that they read without a check."""

import http.client
import urllib.parse

import pytest

from support.api import Api, tar_gz

CHANGES = {"main.tf": 'resource "terraform_data" "one" {\n  input = "hello"\n}\n'}


@pytest.fixture
def start(engine):
    """How each log of a run starts."""
    return f"\x02{engine.title} v{engine.version}\non linux_amd64\nInitializing plugins and modules...\n".encode()


@pytest.fixture
def workspace(site):
    return site.api.workspace()


@pytest.fixture
def planned(site, workspace):
    run = site.api.run_files(workspace, CHANGES)
    site.api.wait_status(run, "planned")
    yield run
    site.api.act(run, "discard")


def as_terraform(api, method, path, body=None):
    return api.call(method, path, body, headers={"Terraform-Version": "1.11.4", "X-Terraform-Integration": "cloud", "Accept": "application/vnd.api+json"})


def log_url(api, run, kind="plan"):
    return api.attributes(f"{'plans' if kind == 'plan' else 'applies'}/{api.sibling(run, kind)}")["log-read-url"]


def test_every_answer_has_the_version_headers(site, workspace, planned):
    """Includes uploads, downloads, logs and errors."""
    api, anonymous = site.api, Api(site.api.url, None)
    version = api.post(f"workspaces/{workspace}/configuration-versions", {"data": {"type": "configuration-versions", "attributes": {}}}).data
    upload = version["attributes"]["upload-url"]
    answers = [api.call("GET", "ping"), anonymous.call("GET", "ping"), anonymous.call("GET", f"{api.url}/.well-known/terraform.json"),
               anonymous.call("GET", "account/details"), api.call("GET", "nowhere"), api.call("POST", "runs", b"{"), api.call("GET", "runs/run-none"),
               anonymous.call("PUT", upload, tar_gz(CHANGES), headers={"Content-Type": "application/octet-stream"}),
               anonymous.call("PUT", f"{upload}x", b""), api.call("GET", f"configuration-versions/{version['id']}/download"),
               anonymous.call("GET", log_url(api, planned)), api.call("GET", f"plans/{api.sibling(planned, 'plan')}/json-output-redacted")]
    for answer in answers:
        assert answer.headers["TFP-API-Version"] == "2.6" and answer.headers["TFP-AppName"] == "Terraform Enterprise", answer.text
        assert answer.headers["X-TFE-Version"] == "v202411-2"
        limit = answer.headers["X-RateLimit-Limit"]
        assert limit is None or int(limit) >= 30
    assert [answer.status for answer in answers] == [204, 204, 200, 401, 404, 400, 404, 200, 404, 200, 200, 200]


def test_logs_are_read_by_offset_and_limit(site, workspace, start):
    """The whole query is the client's. Byte counts include the marks at both ends. Parts that do not exist yet are
    empty."""
    api, anonymous = site.api, Api(site.api.url, None)
    run = api.run_files(workspace, CHANGES)
    plan, apply = log_url(api, run), log_url(api, run, "apply")
    assert plan and apply and not urllib.parse.urlsplit(plan).query
    early = anonymous.call("GET", f"{apply}?limit=65536&offset=0")
    assert (early.status, early.body) == (200, b"")
    api.wait_status(run, "planned")
    whole = anonymous.call("GET", f"{plan}?limit=65536&offset=0").body
    assert whole.startswith(start) and whole.endswith(b"\x03") and whole.count(b"\x02") == whole.count(b"\x03") == 1
    parts = [anonymous.call("GET", f"{plan}?limit=100&offset={offset}") for offset in range(0, len(whole) + 200, 100)]
    assert b"".join(part.body for part in parts) == whole and {part.status for part in parts} == {200} and max(len(part.body) for part in parts) == 100
    for query in ("limit=65536&offset=99999999", f"limit=65536&offset={len(whole)}"):
        assert (anonymous.call("GET", f"{plan}?{query}").status, anonymous.call("GET", f"{plan}?{query}").body) == (200, b"")
    assert anonymous.call("GET", plan.replace("/logs/plan-", "/logs/apply-")).status == 404, "the signature covers the path"
    api.act(run, "apply")
    api.wait_status(run, "applied")
    applied = anonymous.call("GET", f"{apply}?limit=65536&offset=0").body
    assert applied.startswith(start) and applied.endswith(b"\x03")


def test_the_status_is_final_when_the_log_ends(site, workspace):
    """A client that has seen the log's end requests the status once, and must not have to repeat that."""
    api = site.api
    run = api.run_files(workspace, CHANGES)
    url, plan = log_url(api, run), api.sibling(run, "plan")
    offset, status = 0, None
    while status is None:
        chunk = api.call("GET", f"{url}?limit=65536&offset={offset}").body
        offset += len(chunk)
        if chunk.endswith(b"\x03"):
            status = api.attributes(f"plans/{plan}")["status"]
    assert status == "finished"
    api.wait_status(run, "planned")
    api.act(run, "discard")


def test_documents_have_the_members_that_the_cli_requires(site, workspace, planned):
    api = site.api
    assert api.attributes(f"organizations/{api.organization}/entitlement-set")["operations"] is True
    shown = as_terraform(api, "GET", f"organizations/{api.organization}/workspaces/{api.attributes(f'workspaces/{workspace}')['name']}").data
    assert {"can-update", "can-queue-run", "can-queue-apply", "can-force-delete"} <= shown["attributes"]["permissions"].keys()
    assert shown["relationships"]["current-run"]["data"]["id"] == planned and shown["attributes"]["structured-run-output-enabled"] is True
    run = as_terraform(api, "GET", f"runs/{planned}?include=workspace,plan,task_stages").json
    assert run["data"]["attributes"]["actions"].keys() == {"is-cancelable", "is-confirmable", "is-discardable", "is-force-cancelable", "is-window-overridable"}
    assert run["data"]["attributes"]["permissions"]["can-apply"] is True
    relations = run["data"]["relationships"]
    assert all(relations[name]["data"]["id"] for name in ("plan", "apply", "workspace", "configuration-version"))
    assert {item["type"] for item in run["included"]} == {"workspaces", "plans"}
    assert as_terraform(api, "GET", f"runs/{planned}/run-events").status == 200
    refused = as_terraform(api, "GET", f"runs/{planned}?include=nothing_known")
    assert refused.status == 400 and "include parameter" in refused.errors().lower()
    for path in ("runs/queue", "capacity"):
        assert as_terraform(api, "GET", f"organizations/{api.organization}/{path}").status == 200


def test_a_run_of_the_remote_backend_has_a_plain_log(site, workspace, engine):
    """The remote backend sends no X-Terraform-Integration: its log is text, which the client must not render again."""
    api = site.api
    configuration = api.upload(workspace, CHANGES)
    relations = {name: {"data": {"type": f"{name}s", "id": identity}} for name, identity in (("workspace", workspace), ("configuration-version", configuration))}
    run = api.call("POST", "runs", {"data": {"type": "runs", "attributes": {"refresh": True}, "relationships": relations}}, headers={"Terraform-Version": "1.11.4"}).data["id"]
    api.wait_status(run, "planned")
    assert '"@level"' not in api.log(run) and f"{engine.title} will perform the following actions:" in api.log(run)
    (included,) = [item for item in api.get(f"runs/{run}", include="workspace").json["included"] if item["type"] == "workspaces"]
    assert included["attributes"]["structured-run-output-enabled"] is False
    api.act(run, "discard")


def test_refused_unlocks_name_the_holder_of_the_lock(site, workspace, planned):
    """The CLI parses the holder of the lock from the error message. Its own request body has an empty type."""
    api = site.api
    held = api.call("POST", f"workspaces/{workspace}/actions/unlock")
    assert held.status == 409 and f"is locked by Run {planned}" in held.errors()
    free = api.workspace()
    body = {"data": {"type": "", "attributes": {"reason": "Locked by Terraform"}}}
    locked = as_terraform(api, "POST", f"workspaces/{free}/actions/lock", body)
    assert locked.status == 200 and locked.data["attributes"]["locked"] is True
    assert as_terraform(api, "POST", f"workspaces/{free}/actions/lock", body).status == 409
    assert as_terraform(api, "POST", f"workspaces/{free}/actions/unlock").status == 200
    assert as_terraform(api, "POST", f"workspaces/{free}/actions/unlock").status == 409
    assert as_terraform(api, "POST", f"workspaces/{free}/actions/force-unlock").status == 409


def test_unlocking_is_refused_while_a_state_is_pending(site):
    """The newest state is announced and not uploaded yet. The client retries on a 422 with this wording."""
    api = site.api
    workspace = api.workspace()
    api.post(f"workspaces/{workspace}/actions/lock", {"reason": "r"})
    attributes = {"serial": 1, "lineage": "l", "md5": "0" * 32}
    api.post(f"workspaces/{workspace}/state-versions", {"data": {"type": "state-versions", "attributes": attributes}})
    answer = api.call("POST", f"workspaces/{workspace}/actions/unlock")
    assert answer.status == 422 and "latest state version is still pending" in answer.errors()
    assert api.call("POST", f"workspaces/{workspace}/actions/force-unlock").status == 200


def test_unknown_query_parameters_are_ignored(site):
    """terraform itself sends one, and it is not form-encoded."""
    api = site.api
    connection = http.client.HTTPConnection("127.0.0.1", site.scheduler.port)
    path = f"/api/v2/organizations/{api.organization}/workspaces?TagBindings=%7B%20env%20prod%7D&filter%5Btagged%5D%5B0%5D%5Bkey%5D=env&filter%5Btagged%5D%5B0%5D%5Bvalue%5D=prod&x&=&search%5Btags%5D=env"
    connection.request("GET", path, headers={"Authorization": f"Bearer {api.token}", "Terraform-Version": "1.11.4"})
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    connection.close()
