# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Tests of modules by the API: test runs, their variables and configurations, and what no list shows. No engine runs."""

import base64
import json
import urllib.request

import pytest

from support.documents import document, refused_at
from support.fake_worker import FakeWorker
from support.modules import TYPE, ModuleTests, Modules
from support.people import People
from support.wait import until

ENGINE = ["terraform 1.11.4", "test", "identity"]
CONTENT = {"main.tf": "", "tests/a.tftest.hcl": 'run "a" {}\n'}
SUMMARY = '{"@level":"info","@message":"Failure! 3 passed, 1 failed.","type":"test_summary","test_summary":{"status":"fail","passed":3,"failed":1,"errored":0,"skipped":2}}\n'


@pytest.fixture
def worker(api_site):
    return api_site.fake_worker(capabilities=ENGINE)


@pytest.fixture
def modules(org):
    return Modules(org)


@pytest.fixture
def tests(modules):
    modules.create("network")
    return ModuleTests(modules, "network")


def run_of(test):
    return test["id"].replace("trun-", "run-")


def claims(token):
    part = token.split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))


def test_a_test_run_is_claimed_logged_and_counted(tests, worker):
    configuration = tests.upload(CONTENT)
    made = tests.run(configuration, verbose=True, filters=["tests/a.tftest.hcl"], test_directory="tests", parallelism=3, variables=[{"key": "size", "value": "2"}])
    shown = made["attributes"]
    assert made["id"].startswith("trun-") and (shown["status"], shown["test-status"], shown["tests-passed"], shown["source"]) == ("queued", None, None, "tfe-api")
    assert (shown["test-configurable-type"], shown["test-configurable-id"]) == ("RegistryModule", tests.module)
    assert (shown["verbose"], shown["filters"], shown["test-directory"], shown["parallelism"]) == (True, ["tests/a.tftest.hcl"], "tests", 3)
    assert shown["variables"] == [{"key": "size", "value": "2"}]
    assert made["relationships"]["configuration-version"]["data"]["id"] == configuration and made["relationships"]["registry-module"]["data"]["id"] == tests.module
    job = worker.take(run_of(made), "plan")
    assert job["test"] == {"verbose": True, "filters": ["tests/a.tftest.hcl"], "test-directory": "tests", "parallelism": 3}
    assert job["workspace"]["name"] == "network-null" and job["json-log"] is True and job["query"] is False
    assert [(v["key"], v["value"], v["hcl"]) for v in job["variables"]] == [("size", "2", True)]
    assert tests.read(made)["status"] == "running"
    worker.on(job, "PUT", "log?offset=0", SUMMARY.encode())
    worker.end(job, additions=3, changes=1, imports=2)
    until(lambda: tests.read(made)["status"] == "finished", "the test run has finished")
    shown = tests.read(made)
    assert (shown["test-status"], shown["tests-passed"], shown["tests-failed"], shown["tests-errored"], shown["tests-skipped"]) == ("fail", 3, 1, 0, 2)
    assert set(shown["status-timestamps"]) == {"queued-at", "started-at", "finished-at"}
    with urllib.request.urlopen(shown["log-read-url"]) as log:
        assert SUMMARY in log.read().decode()


def test_only_a_worker_that_tests_gets_the_job(tests, worker, api_site):
    old = api_site.fake_worker(name="old", capabilities=["terraform 1.11.4"])
    made = tests.run(tests.upload(CONTENT))
    assert old.claim() == []
    assert worker.take(run_of(made), "plan")["test"]["test-directory"] == "tests"


def test_a_test_run_is_canceled_and_force_canceled(tests, worker, api_site):
    configuration = tests.upload(CONTENT)
    waiting = tests.run(configuration)
    assert tests.act(waiting, "force-cancel").status == 409
    assert tests.act(waiting, "cancel").status == 202 and tests.read(waiting)["status"] == "canceled"
    assert tests.act(waiting, "cancel").status == 409
    made = tests.run(configuration)
    job = worker.take(run_of(made), "plan")
    assert tests.act(made, "cancel").status == 202 and worker.lease(job) == (True, "cancel")
    assert tests.act(made, "force-cancel").status == 409
    api_site.change("update runs set force_cancel_available_at = now() where id = %s", run_of(made))
    assert tests.read(made)["actions"]["is-force-cancelable"] and tests.act(made, "force-cancel").status == 202
    assert worker.lease(job) == (True, "force")
    worker.end(job, "canceled")
    until(lambda: tests.read(made)["status"] == "canceled", "the test run is canceled")
    assert tests.read(made)["test-status"] is None


def test_test_runs_are_listed_by_pages_and_sources(tests):
    assert tests.api.get(tests.path("test-runs")).data == []
    configuration = tests.upload(CONTENT)
    made = [tests.run(configuration)["id"] for _ in range(3)]
    page = tests.api.get(tests.path("test-runs"), **{"page[size]": 2})
    assert [item["id"] for item in page.data] == made[:0:-1] and page.json["meta"]["pagination"]["total-count"] == 3
    assert tests.api.get(tests.path("test-runs"), **{"filter[source]": "terraform"}).data == []
    assert len(tests.api.get(tests.path("test-runs"), **{"filter[source]": "terraform,tfe-api"}).data) == 3
    assert tests.api.call("GET", tests.path("test-runs", "trun-0000000000000000")).status == 404


def test_options_are_checked(tests, modules):
    configuration = tests.upload(CONTENT)
    for name, values in (("test-directory", ("../x", "/etc", "-x", "a/../b", "x" * 1025)), ("parallelism", (0, 257)), ("filters", (["-x\ny"], "x")), ("variables", ("x", [{"key": "k"}]))):
        for value in values:
            refused_at(tests.api.call("POST", tests.path("test-runs"), tests.document(configuration, **{name: value})), f"/data/attributes/{name}")
    pending = tests.api.post(tests.path("test-runs", "configuration-versions")).data["id"]
    for document_sent in (tests.document(pending), document("test-runs", {})):
        refused_at(tests.api.call("POST", tests.path("test-runs"), document_sent), "/data/relationships/configuration-version")
    modules.create("other")
    other = ModuleTests(modules, "other")
    wrong = {**tests.document(configuration)}
    wrong["data"]["relationships"]["registry-module"] = {"data": {"type": "registry-modules", "id": other.module}}
    refused_at(tests.api.call("POST", tests.path("test-runs"), wrong), "/data/relationships/registry-module")


def test_variables_are_kept_paged_and_given_to_the_job(tests, worker):
    assert tests.api.get(tests.path("vars")).data == []
    secret = tests.variable("TOKEN", "hidden", sensitive=True, description="of the cloud")
    tests.variable("size", "2", "terraform", hcl=True)
    assert "relationships" not in secret and secret["attributes"]["value"] is None
    page = tests.api.get(tests.path("vars"), **{"page[number]": 999})
    assert page.data == [] and page.json["meta"]["pagination"]["total-count"] == 2 and page.json["meta"]["pagination"]["current-page"] == 999
    assert [item["attributes"]["key"] for item in tests.api.get(tests.path("vars")).data] == ["TOKEN", "size"]
    refused_at(tests.api.call("POST", tests.path("vars"), document("vars", {"key": "TOKEN", "value": "", "category": "env"})), "/data/attributes/key")
    changed = tests.api.call("PATCH", tests.path("vars", secret["id"]), document("vars", {"value": "new"})).data
    assert changed["attributes"]["version-id"] != secret["attributes"]["version-id"]
    job = worker.take(run_of(tests.run(tests.upload(CONTENT))), "plan")
    assert [(v["key"], v["value"], v["category"], v["sensitive"]) for v in job["variables"]] == [("TOKEN", "new", "env", True), ("size", "2", "terraform", False)]
    assert tests.api.call("DELETE", tests.path("vars", secret["id"])).status == 204 and tests.api.call("GET", tests.path("vars", secret["id"])).status == 404


def test_no_variable_set_applies_to_tests(tests, worker):
    set = tests.api.post(f"organizations/{tests.api.organization}/varsets", document("varsets", {"name": "all", "global": True})).data["id"]
    tests.api.post(f"varsets/{set}/relationships/vars", document("vars", {"key": "GLOBAL", "value": "x", "category": "env"}))
    assert worker.take(run_of(tests.run(tests.upload(CONTENT))), "plan")["variables"] == []


def test_the_identity_is_of_the_module(tests, worker):
    tests.variable("TFC_WORKLOAD_IDENTITY_AUDIENCE", "cloud")
    made = tests.run(tests.upload(CONTENT))
    job = worker.take(run_of(made), "plan")
    (token,) = [v["value"] for v in job["variables"] if v["key"] == "TFC_WORKLOAD_IDENTITY_TOKEN"]
    told = claims(token)
    assert told["sub"] == f"organization:{tests.api.organization}:module:network:operation:test_run"
    assert (told["terraform_run_id"], told["terraform_run_phase"], told["terraform_organization_name"]) == (made["id"], "plan", tests.api.organization)
    assert not [name for name in told if "workspace" in name or "project" in name]


def test_the_test_bed_is_no_workspace(tests, worker, api_site):
    api, configuration = tests.api, tests.upload(CONTENT)
    tests.variable("KEY", "value")
    made = tests.run(configuration)
    ((bed, name),) = api_site.ask("select id, name from workspaces where module_id = %s", tests.module)
    every = {"filter[operation]": "plan_only,plan_and_apply"}
    assert api.get(f"organizations/{api.organization}/workspaces").data == [] and api.get(f"organizations/{api.organization}/workspaces", **{"search[name]": "test"}).data == []
    assert api.get(f"organizations/{api.organization}/explorer", type="workspaces").data == []
    assert api.get(f"organizations/{api.organization}/runs", **every).data == []
    for path in (f"workspaces/{bed}", f"workspaces/{bed}/runs", f"workspaces/{bed}/vars", f"workspaces/{bed}/configuration-versions", f"workspaces/{bed}/current-state-version",
                 f"organizations/{api.organization}/workspaces/{name}", f"runs/{run_of(made)}", f"plans/{made['id'].replace('trun-', 'plan-')}", f"runs/{run_of(made)}/run-events"):
        assert api.call("GET", path).status == 404, path
    run = document("runs", {}, workspace={"data": {"type": "workspaces", "id": bed}})
    assert api.call("POST", "runs", run).status == 404
    assert api.call("POST", f"workspaces/{bed}/actions/lock", {}).status == 404 and api.call("DELETE", f"workspaces/{bed}").status == 404
    ((count,),) = api_site.ask("select coalesce((select sum(workspaces) from organization_totals where organization_id = o.id), 0)::int from organizations o where o.name = %s", api.organization)
    assert count == 0
    assert api.get(f"configuration-versions/{configuration}").data["relationships"]["run"]["data"] is None
    api.delete(f"organizations/{api.organization}/registry-modules/private/{api.organization}/network/null")
    assert api_site.ask("select 1 from workspaces where id = %s", bed) == []


def test_only_those_who_manage_modules_test_them(tests, org, api_site):
    people = People(org, api_site.database)
    configuration = tests.upload(CONTENT)
    made, variable = tests.run(configuration), tests.variable("KEY", "value")
    reader, manager = people.member("reader", people.team("readers")), people.member("manager", people.team("managers", manage_modules=True))
    for path in (tests.path("test-runs"), tests.path("test-runs", made["id"]), tests.path("vars"), tests.path("vars", variable["id"]), f"configuration-versions/{configuration}"):
        assert reader.call("GET", path).status == 404, path
        assert manager.call("GET", path).status == 200, path
    assert reader.call("POST", tests.path("test-runs"), tests.document(configuration)).status == 404
    assert manager.call("POST", tests.path("test-runs"), tests.document(configuration)).status == 201


def test_a_module_that_another_organization_shares_is_not_tested(tests, org, api_site):
    other = api_site.organization()
    api_site.change("update organizations set admin_settings = admin_settings || '{\"global-module-sharing\": true}' where name = %s", org.organization)
    configuration = tests.upload(CONTENT)
    made, variable = tests.run(configuration), tests.variable("KEY", "value")
    base = tests.base.replace(f"organizations/{org.organization}/", f"organizations/{other.organization}/", 1)
    assert other.call("GET", base.replace("/tests/", "/")).status == 200, "the module itself is shared"
    for rest in ("test-runs", f"test-runs/{made['id']}", "vars", f"vars/{variable['id']}"):
        assert other.call("GET", f"{base}/{rest}").status == 404, rest
    assert other.call("POST", f"{base}/test-runs", tests.document(configuration)).status == 404
    assert other.call("POST", f"{base}/test-runs/configuration-versions").status == 404
    own = Modules(other)
    own.create("own")
    refused_at(other.call("POST", ModuleTests(own, "own").path("test-runs"), tests.document(configuration)), "/data/relationships/configuration-version")


def test_test_config_names_a_pool_of_the_organization(modules, org, worker):
    pool, token = org.pool()
    module = modules.create("agents", **{"test-config": {"agent-execution-mode": "agent", "agent-pool-id": pool}})
    assert module["attributes"]["test-config"] == {"tests-enabled": False, "tests-required": False, "agent-execution-mode": "agent", "agent-pool-id": pool}
    tests = ModuleTests(modules, "agents")
    made = tests.run(tests.upload(CONTENT))
    agent = FakeWorker(org.url, token, capabilities=ENGINE)
    assert run_of(made) not in [job["run"] for job in worker.claim(100)] and agent.take(run_of(made), "plan")["run"] == run_of(made)
    path = modules.path("agents")
    for config, at in (({"agent-execution-mode": "agent"}, "agent-pool-id"), ({"agent-execution-mode": "remote", "agent-pool-id": pool}, "agent-pool-id"), ({"agent-pool-id": "apool-0000000000000000"}, "agent-pool-id"),
                       ({"agent-execution-mode": "local"}, "agent-execution-mode"), ({"tests-enabled": True}, "tests-enabled"), ({"tests-enabled": "yes"}, "tests-enabled")):
        refused_at(org.call("PATCH", path, document(TYPE, {"test-config": config})), f"/data/attributes/test-config/{at}")
    changed = org.call("PATCH", path, document(TYPE, {"test-config": {"agent-execution-mode": "remote"}})).data
    assert changed["attributes"]["test-config"] == {"tests-enabled": False, "tests-required": False, "agent-execution-mode": "remote", "agent-pool-id": None}
