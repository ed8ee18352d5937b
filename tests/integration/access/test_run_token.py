# SPDX-License-Identifier: MPL-2.0
"""The objects that a run's own token can read while its job's attempt lasts. It permits nothing else."""

import base64
import hashlib
import json
import re

import pytest

from support.api import Api
from support.routes import ROUTES


@pytest.fixture
def job(org, api_site):
    """A claimed plan, its worker, and a client with the run's token."""
    fake_worker = api_site.fake_worker()
    workspace = org.workspace("consumer")
    run = org.run(workspace, org.upload(workspace, {"main.tf": ""}))
    job = fake_worker.take(run, "plan")
    assert job["api-url"] == org.url and job["project"] == "Default Project"
    return {**job, "fake_worker": fake_worker, "client": Api(org.url, job["run-token"], org.organization), "workspace": workspace}


def share(org, workspace, shared=True):
    org.patch(f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {"global-remote-state": shared}}})


STATE = {"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "resources": [],
         "outputs": {"word": {"value": "from afar", "type": "string", "sensitive": True}}}


def producer(org):
    """A workspace with a state, and its output."""
    workspace, state = org.workspace("producer"), json.dumps(STATE).encode()
    org.post(f"workspaces/{workspace}/actions/lock")
    attributes = {"serial": 1, "lineage": "l", "md5": hashlib.md5(state).hexdigest(), "state": base64.b64encode(state).decode()}
    version = org.post(f"workspaces/{workspace}/state-versions", {"data": {"type": "state-versions", "attributes": attributes}}).data["id"]
    return workspace, version, org.get(f"state-versions/{version}/outputs").data[0]["id"]


def test_a_run_token_reads_its_own_workspace_and_run_only(job, org):
    client = job["client"]
    for path in (f"workspaces/{job['workspace']}", f"organizations/{org.organization}/workspaces/consumer", f"runs/{job['run']}",
                 f"plans/{job['run'].replace('run-', 'plan-')}", f"organizations/{org.organization}/entitlement-set", "ping"):
        assert client.call("GET", path).status in (200, 204), path
    assert set(client.get(f"workspaces/{job['workspace']}").data["attributes"]["permissions"].values()) == {False}
    other = org.run(job["workspace"], plan_only=True)
    for path in ("organizations", "account/details", f"runs/{other}", f"plans/{other.replace('run-', 'plan-')}", f"workspaces/{job['workspace']}/runs",
                 f"workspaces/{job['workspace']}/vars", f"workspaces/{job['workspace']}?include=current_run", f"runs/{job['run']}?include=workspace",
                 f"plans/{job['run'].replace('run-', 'plan-')}/json-output"):
        assert client.call("GET", path).status == 404, path


def test_a_run_token_reads_shared_states(job, org):
    workspace, state, output = producer(org)
    paths = [f"workspaces/{workspace}", f"organizations/{org.organization}/workspaces/producer", f"workspaces/{workspace}/current-state-version",
             f"state-versions/{state}", f"state-versions/{state}/outputs", f"workspaces/{workspace}/current-state-version-outputs", f"state-version-outputs/{output}",
             f"state-versions/{state}/download"]
    client = job["client"]
    for path in paths:
        assert client.call("GET", path).status == 404, path
    share(org, workspace)
    for path in paths:
        assert client.call("GET", path).status == 200, path
    read = client.get(f"workspaces/{workspace}/current-state-version", include="outputs").json
    assert [item["attributes"]["name"] for item in read["included"]] == ["word"]
    for path in (f"workspaces/{workspace}/runs", f"workspaces/{workspace}/vars", f"organizations/{org.organization}/workspaces",
                 f"workspaces/{workspace}/tasks", f"workspaces/{workspace}?include=current_run", f"state-versions/{state}?include=run"):
        assert client.call("GET", path).status == 404, path
    share(org, workspace, False)
    assert {client.call("GET", path).status for path in paths} == {404}
    org.call("POST", f"workspaces/{workspace}/relationships/remote-state-consumers", {"data": [{"type": "workspaces", "id": job["workspace"]}]})
    assert {client.call("GET", path).status for path in paths} == {200}
    org.call("DELETE", f"workspaces/{workspace}/relationships/remote-state-consumers", {"data": [{"type": "workspaces", "id": job["workspace"]}]})
    assert {client.call("GET", path).status for path in paths} == {404}


def test_a_run_token_reads_nothing_of_other_organizations(job, api_site):
    other = api_site.organization()
    workspace, state, _ = producer(other)
    share(other, workspace)
    for path in (f"workspaces/{workspace}", f"state-versions/{state}", f"organizations/{other.organization}/entitlement-set"):
        assert job["client"].call("GET", path).status == 404, path


def test_a_run_token_changes_nothing(job, org):
    objects = {"organization": org.organization, "workspace": job["workspace"], "run": job["run"], "name": "consumer",
              "plan": job["run"].replace("run-", "plan-")}
    body = {"data": {"attributes": {"name": "n"}, "relationships": {"workspace": {"data": {"type": "workspaces", "id": job["workspace"]}}}}}
    before = org.get(f"workspaces/{job['workspace']}").data["attributes"]["updated-at"]
    for method, path in re.findall(r'^API\((POST|PATCH|PUT|DELETE),\s*"([^"]+)"', ROUTES.read_text(), re.M):
        filled = re.sub(r":(\w+)", lambda name: objects.get(name[1], "other"), path)
        assert job["client"].call(method, filled[1:], body).status == 404, f"{method} {path}"
    assert org.get(f"workspaces/{job['workspace']}").data["attributes"]["updated-at"] == before
    for path in ("register", "claim", "heartbeat"):
        assert job["fake_worker"].call("POST", path, {"partitions": [], "jobs": []}, job["run-token"], check=False).status in (401, 404)
    assert job["fake_worker"].on({**job, "token": job["run-token"]}, "GET", "configuration", check=False).status == 404


def test_a_run_token_ends_with_its_attempt(job, org, api_site):
    client = job["client"]
    api_site.change("update jobs set lease_until = now() - interval '1 second' where id = %s", job["job"])
    retry = None
    while not retry or retry["job"] != job["job"]:
        retry = next(iter(job["fake_worker"].claim()), None)
    assert retry["attempt"] == 2 and retry["run-token"] != job["run-token"]
    assert client.call("GET", f"runs/{job['run']}").status == 401
    second = Api(org.url, retry["run-token"], org.organization)
    assert second.call("GET", f"runs/{job['run']}").status == 200
    job["fake_worker"].end(retry, "passed")
    assert second.call("GET", f"runs/{job['run']}").status == 401
    assert retry["run-token"] not in str(api_site.ask("select * from jobs"))
