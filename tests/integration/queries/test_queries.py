# SPDX-License-Identifier: MPL-2.0
"""Query runs by the API: what they are made of, who makes them, and what they leave alone. No engine runs."""

import urllib.request

import pytest

from support.fake_worker import FakeWorker
from support.synthetic import NOTHING
from support.wait import until

ENGINE = ["terraform 1.14.8", "query", "opa", "sentinel", "cost"]
FOUND = '{"@level":"info","@message":"found","type":"list_resource_found","list_resource_found":{"address":"list.folder_file.all","display_name":"a","identity":{"path":"/a"},"resource_type":"folder_file"}}\n'

@pytest.fixture
def worker(api, tokens):
    return FakeWorker(api.url, tokens["agent-token"], slots=4, capabilities=ENGINE)


@pytest.fixture
def workspace(api):
    workspace = api.workspace("w", terraform_version="1.14.8")
    api.upload(workspace, NOTHING)
    return workspace


def asked(workspace, configuration=None, **attributes):
    relations = {"workspace": {"data": {"type": "workspaces", "id": workspace}}}
    if configuration:
        relations["configuration-version"] = {"data": {"type": "configuration-versions", "id": configuration}}
    return {"data": {"type": "queries", "attributes": {"source": "tfe-api", **attributes}, "relationships": relations}}


def query(api, workspace, configuration=None, **attributes):
    answer = api.post("queries", asked(workspace, configuration, **attributes))
    assert answer.status == 201, answer.text
    return answer.data


def refused(api, workspace, **attributes):
    answer = api.call("POST", "queries", asked(workspace, **attributes))
    assert answer.status == 422, answer.text
    return answer.json["errors"][0]["source"]["pointer"], answer.json["errors"][0]["detail"]


def run_of(of):
    return of["id"].replace("query-", "run-")


def status(api, of):
    return api.get(f"queries/{of['id']}").data["attributes"]["status"]


def test_a_query_is_claimed_logged_and_finished(api, worker, workspace):
    made = query(api, workspace, variables=[{"key": "where", "value": '"/srv"'}])
    attributes = made["attributes"]
    assert attributes["status"] == "queued" and attributes["generate-config-out"] is True and attributes["actions"] == {"is-cancelable": True, "is-force-cancelable": False}
    assert made["relationships"]["workspace"]["data"]["id"] == workspace and made["relationships"]["created-by"]["data"]["type"] == "users"
    job = worker.take(run_of(made), "plan")
    assert job["query"] is True and job["generate-config"] is True and job["json-log"] is True
    assert [(v["key"], v["value"], v["hcl"]) for v in job["variables"]] == [("where", '"/srv"', True)]
    assert (job["engine"], job["terraform-version"]) == ("terraform", "1.14.8")
    assert status(api, made) == "running"
    worker.on(job, "PUT", "log?offset=0", FOUND.encode())
    worker.end(job)
    until(lambda: status(api, made) == "finished", "the query has finished")
    shown = api.get(f"queries/{made['id']}", include="created-by,configuration_version,plan")
    assert {item["type"] for item in shown.json["included"]} == {"users", "configuration-versions", "plans"}
    times = shown.data["attributes"]["status-timestamps"]
    assert set(times) == {"pending-at", "queued-at", "queuing-at", "running-at", "finished-at"}
    with urllib.request.urlopen(shown.data["attributes"]["log-read-url"]) as log:
        assert FOUND in log.read().decode()


def test_a_query_is_in_no_list_of_runs_and_takes_no_place_of_the_queue(api, worker, workspace, ask):
    made = query(api, workspace)
    run = api.run(workspace)
    assert worker.take(run, "plan")["run"] == run, "the run starts beside the query"
    assert worker.take(run_of(made), "plan")["query"]
    every = {"filter[operation]": "plan_only,plan_and_apply"}
    assert [item["id"] for item in api.get(f"workspaces/{workspace}/runs", **every).data] == [run]
    assert [item["id"] for item in api.get(f"organizations/{api.organization}/runs", **every).data] == [run]
    assert [item["id"] for item in api.get(f"organizations/{api.organization}/runs/queue").data] == [run]
    assert api.get(f"workspaces/{workspace}").data["relationships"]["current-run"]["data"]["id"] == run
    ((locked, holds),) = ask("select locked_by is not null, current_run_id = %s from workspaces where id = %s", run_of(made), workspace)
    assert not locked and not holds


def test_a_locked_workspace_is_queried(api, worker, workspace):
    api.post(f"workspaces/{workspace}/actions/lock", {"reason": "busy"})
    made = query(api, workspace)
    worker.end(worker.take(run_of(made), "plan"))
    until(lambda: status(api, made) == "finished", "the query has finished")


def test_queries_of_a_workspace_are_listed_by_pages_the_newest_first(api, workspace):
    assert api.get(f"workspaces/{workspace}/queries").data == []
    made = [query(api, workspace)["id"] for _ in range(3)]
    first = api.get(f"workspaces/{workspace}/queries", **{"page[size]": 2, "include": "created-by"})
    assert [item["id"] for item in first.data] == made[:0:-1] and first.json["meta"]["pagination"]["total-count"] == 3
    assert first.json["included"][0]["type"] == "users"
    assert [item["id"] for item in api.get(f"workspaces/{workspace}/queries", **{"page[size]": 2, "page[number]": 2}).data] == made[:1]
    assert api.call("GET", f"workspaces/{workspace}/queries?include=nothing").status == 400


def test_a_configuration_version_of_the_workspace_is_used(api, worker, workspace):
    newest = api.get(f"workspaces/{workspace}/configuration-versions").data[0]["id"]
    configuration = api.upload(workspace, NOTHING, speculative=True)
    made = query(api, workspace, configuration)
    assert worker.take(run_of(made), "plan")["configuration-version"] == configuration
    assert query(api, workspace)["relationships"]["configuration-version"]["data"]["id"] in (newest, configuration)
    other = api.workspace("other", terraform_version="1.14.8")
    answer = api.call("POST", "queries", asked(other, configuration))
    assert answer.status == 422 and "not one of this workspace" in answer.json["errors"][0]["detail"]
    assert refused(api, other) == ("/data/relationships/configuration-version", "Configuration version must exist: upload one first")


def test_a_waiting_query_is_canceled_at_once_and_by_whom(api, workspace):
    made = query(api, workspace)
    assert api.post(f"queries/{made['id']}/actions/cancel").status == 202
    shown = api.get(f"queries/{made['id']}").data
    assert shown["attributes"]["status"] == "canceled" and shown["attributes"]["canceled-at"]
    assert shown["relationships"]["canceled-by"]["data"] == made["relationships"]["created-by"]["data"]
    assert api.call("POST", f"queries/{made['id']}/actions/cancel").status == 409
    assert api.call("POST", f"queries/{made['id']}/actions/force-cancel").status == 409


def test_a_running_query_is_asked_to_stop_and_then_forced(api, worker, workspace, ask):
    made = query(api, workspace)
    job = worker.take(run_of(made), "plan")
    assert api.call("POST", f"queries/{made['id']}/actions/force-cancel").status == 409
    api.post(f"queries/{made['id']}/actions/cancel")
    assert worker.lease(job) == (True, "cancel") and status(api, made) == "running"
    ask("update runs set force_cancel_available_at = now() where id = %s", job["run"])
    assert api.get(f"queries/{made['id']}").data["attributes"]["actions"] == {"is-cancelable": False, "is-force-cancelable": True}
    assert api.post(f"queries/{made['id']}/actions/force-cancel").status == 202
    until(lambda: status(api, made) == "canceled", "the query is canceled")


def test_a_query_whose_worker_is_lost_is_tried_again_as_a_query(api, worker, workspace, ask):
    made = query(api, workspace)
    job = worker.take(run_of(made), "plan")
    ask("update jobs set lease_until = now() - interval '1 second' where id = %s", job["job"])
    again = until(worker.claim, "the job is offered again")[0]
    assert (again["attempt"], again["query"], again["terraform-version"]) == (2, True, "1.14.8")


def test_a_failed_query_says_why(api, worker, workspace):
    made = query(api, workspace)
    worker.end(worker.take(run_of(made), "plan"), "failed", error="terraform query failed: no such list")
    until(lambda: status(api, made) == "errored", "the query has failed")
    assert api.get(f"queries/{made['id']}").data["attributes"]["error"] == "terraform query failed: no such list"


def test_orders_that_make_no_sense_are_refused(api, workspace):
    assert refused(api, workspace, source="")[0] == "/data/attributes/source"
    assert refused(api, workspace, source="x" * 256)[0] == "/data/attributes/source"
    assert refused(api, workspace, variables=[{"key": "a b", "value": "1"}])[0] == "/data/attributes/variables"
    assert refused(api, workspace, **{"generate-config-out": "yes"})[0] == "/data/attributes/generate-config-out"
    old = "Query's Terraform version 1.13.3 has no queries: terraform query needs 1.14 or later"
    assert refused(api, workspace, **{"terraform-version": "1.13.3"}) == ("/data/attributes/terraform-version", old)
    without = {"data": {"type": "queries", "attributes": {"source": "tfe-api"}}}
    assert api.call("POST", "queries", without).json["errors"][0]["source"]["pointer"] == "/data/relationships/workspace"
    assert query(api, workspace, source="anything", **{"terraform-version": "1.15.0"})["attributes"]["source"] == "anything"
    local = api.workspace("local", execution_mode="local")
    assert "local execution" in refused(api, local)[1]


def test_a_workspace_with_an_older_engine_has_no_queries(api):
    workspace = api.workspace("old", terraform_version="1.11.4")
    api.upload(workspace, NOTHING)
    pointer, why = refused(api, workspace)
    assert pointer == "/data/relationships/workspace" and why == "Workspace's Terraform version 1.11.4 has no queries: terraform query needs 1.14 or later"


@pytest.mark.parametrize(("capabilities", "why"), [
    (["terraform 1.14.8", "opa"], "No worker that takes this job can make queries: upgrade the workers."),
    (["terraform 1.13.3", "query"], "needs Terraform 1.14 or later"),
    (["tofu 1.15.0", "download tofu", "query"], "OpenTofu has no queries"),
], ids=["earlier worker", "earlier terraform", "tofu"])
def test_a_pool_that_cannot_query_ends_the_query_with_the_reason(api, tokens, capabilities, why):
    workspace = api.workspace("any")
    api.upload(workspace, NOTHING)
    made = query(api, workspace)
    assert FakeWorker(api.url, tokens["agent-token"], capabilities=capabilities).claim() == []
    shown = until(lambda: (now := api.get(f"queries/{made['id']}").data["attributes"])["status"] == "errored" and now, "the query has failed")
    assert why in shown["error"] and "There are: " in shown["error"]
    with urllib.request.urlopen(shown["log-read-url"]) as log:
        assert why in log.read().decode(), "the CLI shows nothing but the log"


def test_a_worker_without_capabilities_gets_no_query(api, tokens, worker, workspace):
    made = query(api, workspace)
    assert FakeWorker(api.url, tokens["agent-token"], name="old").claim() == []
    assert status(api, made) == "queued"
    assert worker.take(run_of(made), "plan")["query"]


def test_a_worker_that_does_not_accept_queries_gets_none(api, tokens, worker, workspace):
    made = query(api, workspace)
    assert FakeWorker(api.url, tokens["agent-token"], name="refuses", capabilities=[*ENGINE, "no query"]).claim() == []
    assert status(api, made) == "queued"
    without_plans = FakeWorker(api.url, tokens["agent-token"], name="queries-only", capabilities=[*ENGINE, "no plan", "no apply"])
    assert without_plans.take(run_of(made), "plan")["query"]


def test_a_query_leaves_the_assessment_of_its_workspace_alone(api, worker, workspace, ask):
    made = query(api, workspace)
    ask("insert into assessments (workspace_id, run_id, pool_id) select workspace_id, id, (select id from agent_pools limit 1) from runs where id = %s", run_of(made))
    other = query(api, workspace)
    assert status(api, made) == "queued" and status(api, other) == "queued"


def test_runs_are_no_queries_and_ids_of_others_are_not_found(api, workspace):
    run = api.run(workspace)
    for wrong in (run, run.replace("run-", "query-"), "query-0000000000000000", "nonexisting"):
        assert api.call("GET", f"queries/{wrong}").status == 404
        assert api.call("POST", f"queries/{wrong}/actions/cancel").status == 404


def test_queries_are_audited_and_counted(api, worker, workspace, ask, scheduler):
    made = query(api, workspace)
    worker.end(worker.take(run_of(made), "plan"), "failed", error="no")
    until(lambda: status(api, made) == "errored", "the query has failed")
    other = query(api, workspace)
    api.post(f"queries/{other['id']}/actions/cancel")
    rows = ask("select action, resource_id, actor_type, workspace_id from audit_events where resource_type = 'query' order by position")
    assert rows == [("create", made["id"], "user", workspace), ("errored", made["id"], "system", workspace),
                    ("create", other["id"], "user", workspace), ("cancel", other["id"], "user", workspace)]
    assert scheduler.all[0].metric("runyard_queries_total", outcome="errored") == 1 and scheduler.all[0].metric("runyard_queries_total", outcome="canceled") == 1
    assert scheduler.all[0].metric("runyard_runs_ended_total") == 0
