# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Runs as clients see them: lists with filters and includes, events, comments, and force-execute."""

import base64
import hashlib
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from support.documents import refused
from support.shared import api, database, scheduler  # noqa: F401


@pytest.fixture
def workspace(api):
    id = api.workspace("network")
    api.upload(id, {"main.tf": ""})
    return id


def ids(answer):
    return [resource["id"] for resource in answer.data]


def listed(api, workspace, **query):
    return ids(api.get(f"workspaces/{workspace}/runs", **query))


def of_organization(api, **query):
    return api.get(f"organizations/{api.organization}/runs", **query)


# ---- lists ----


def test_runs_of_a_workspace_are_filtered_and_searched(api, workspace):
    plain = api.run(workspace, message="The first one")
    destroy, saved, empty = api.run(workspace, is_destroy=True), api.run(workspace, save_plan=True), api.run(workspace, allow_empty_apply=True)
    refresh, speculative = api.run(workspace, refresh_only=True), api.run(workspace, plan_only=True)
    queued = [refresh, empty, saved, destroy, plain]
    assert listed(api, workspace) == queued
    for operation, expected in (("plan_only", [speculative]), ("destroy", [destroy]), ("save_plan", [saved]), ("empty_apply", [empty]),
                              ("refresh_only", [refresh]), ("plan_and_apply", [plain]), ("destroy,plan_only", [speculative, destroy]), ("nothing", [])):
        assert listed(api, workspace, **{"filter[operation]": operation}) == expected, operation
    assert listed(api, workspace, **{"filter[status]": "pending"}) == queued[:-1]
    assert listed(api, workspace, **{"filter[status]": "pending,plan_queued,fetching"}) == queued
    api.act(destroy, "discard")
    for group, expected in (("final", [destroy]), ("non_final", [refresh, empty, saved, plain]), ("discardable", [refresh, empty, saved]),
                          ("final,discardable", [refresh, empty, saved, destroy]), ("nothing", [])):
        assert listed(api, workspace, **{"filter[status_group]": group}) == expected, group
    assert listed(api, workspace, **{"filter[source]": "tfe-api"}) == queued and listed(api, workspace, **{"filter[source]": "tfe-ui"}) == []
    for search, expected in (({"search[basic]": "FIRST"}, [plain]), ({"search[basic]": saved}, [saved]), ({"search[basic]": "%"}, []), ({"search[user]": "ADM"}, queued),
                           ({"search[user]": "nobody"}, []), ({"search[commit]": "abc123"}, []), ({"search[user]": "nobody", "search[basic]": "first"}, [])):
        assert listed(api, workspace, **search) == expected, search


def test_runs_of_an_organization_are_filtered(api, workspace):
    other = api.workspace("storage")
    api.upload(other, {"main.tf": ""})
    first, second = api.run(workspace), api.run(other)
    assert ids(of_organization(api)) == [second, first]
    assert ids(of_organization(api, **{"filter[workspace_names]": "network"})) == [first]
    assert ids(of_organization(api, **{"filter[workspace_names]": "network,storage"})) == [second, first]
    assert ids(of_organization(api, **{"filter[agent_pool_names]": "none"})) == []
    assert ids(of_organization(api, **{"filter[timeframe]": "year"})) == [second, first]
    year = int(api.attributes(f"runs/{first}")["created-at"][:4])
    assert ids(of_organization(api, **{"filter[timeframe]": year})) == [second, first]
    assert ids(of_organization(api, **{"filter[timeframe]": year - 1})) == []
    for wrong in ("tomorrow", "-1", "99999999999999999999", "20 26"):
        assert refused(400, of_organization, api, **{"filter[timeframe]": wrong})


def test_lists_of_an_organizations_runs_have_no_total_count(api, workspace):
    for _ in range(3):
        api.run(workspace)
    page = of_organization(api, **{"page[size]": 2}).json
    assert len(page["data"]) == 2
    assert page["meta"]["pagination"] == {"current-page": 1, "page-size": 2, "prev-page": None, "next-page": 2}
    last = of_organization(api, **{"page[size]": 2, "page[number]": 2}).json
    assert len(last["data"]) == 1 and last["meta"]["pagination"]["next-page"] is None
    beyond = of_organization(api, **{"page[size]": 100, "page[number]": 999}).json
    assert beyond["data"] == [] and beyond["meta"]["pagination"]["current-page"] == 999
    counted = api.get(f"workspaces/{workspace}/runs").json["meta"]["pagination"]
    assert (counted["total-count"], counted["total-pages"]) == (3, 1)
    queue = api.get(f"organizations/{api.organization}/runs/queue").json
    assert [run["attributes"]["position-in-queue"] for run in queue["data"]] == [0, 1, 2] and queue["meta"]["pagination"]["total-count"] == 3


def test_each_page_has_the_total_count_of_its_filter(api, workspace):
    runs = [api.run(workspace, message=f"number {number}") for number in range(5)][::-1]
    api.run(workspace, plan_only=True)
    for query, expected in (({}, runs), ({"filter[source]": "tfe-api"}, runs), ({"search[basic]": "number"}, runs), ({"filter[status]": "pending"}, runs[:4]),
                          ({"filter[workspace_names]": "network"}, runs), ({"filter[workspace_names]": "other"}, [])):
        for size in (2, 4, 5, 20):
            for number in range(1, 5):
                page = api.get(f"workspaces/{workspace}/runs", **{"page[size]": size, "page[number]": number, "include": "plan,workspace"}, **query).json
                pagination = page["meta"]["pagination"]
                assert [run["id"] for run in page["data"]] == expected[(number - 1) * size:number * size]
                assert (pagination["total-count"], pagination["current-page"]) == (len(expected), number)
                assert pagination["next-page"] == (number + 1 if number * size < len(expected) else None)
                included = [resource["type"] for resource in page.get("included", [])]
                assert included.count("plans") == len(page["data"]) and included.count("workspaces") == bool(page["data"])


ALL = ("plan,apply,created_by,confirmed_by,canceled_by,cost_estimate,configuration_version.ingress_attributes,workspace,task_stages,"
       "task_stages.task_results,task_stages.policy_evaluations,policy_checks,comments.user,run_events.actor,tf_policy_evaluations")


def links(resource):
    for relation in resource.get("relationships", {}).values():
        data = relation.get("data")
        yield from [(link["type"], link["id"]) for link in (data if isinstance(data, list) else [data]) if link]


def cycle(included):
    """A cycle among the included resources, or None."""
    targets = {(resource["type"], resource["id"]): list(links(resource)) for resource in included}

    def walk(node, path):
        if node in path:
            return [*path, node]
        return next(filter(None, (walk(link, [*path, node]) for link in targets.get(node, []))), None)

    return next(filter(None, (walk(node, []) for node in targets)), None)


def test_includes_of_a_run_and_of_a_list_have_no_duplicates_or_cycles(api, workspace):
    runs = [api.run(workspace) for _ in range(3)]
    api.post(f"runs/{runs[0]}/comments", {"data": {"type": "comments", "attributes": {"body": "looks good"}}})
    events = [len(api.events(run)) for run in runs]
    one = api.get(f"runs/{runs[0]}", include=ALL).json
    included = {(resource["type"], resource["id"]) for resource in one["included"]}
    assert sorted(kind for kind, _ in included) == ["applies", "comments", "configuration-versions", "plans", *["run-events"] * events[0], "users", "workspaces"]
    assert included <= set(links(one["data"])) and cycle(one["included"]) is None
    (commented,) = [resource for resource in one["included"] if resource["type"] == "run-events" and resource["attributes"]["action"] == "commented"]
    assert commented["relationships"]["comment"]["data"] == {"type": "comments", "id": one["data"]["relationships"]["comments"]["data"][0]["id"]}
    many = api.get(f"workspaces/{workspace}/runs", include=ALL).json
    kinds = [resource["type"] for resource in many["included"]]
    assert sorted(kinds) == ["applies"] * 3 + ["comments", "configuration-versions"] + ["plans"] * 3 + ["run-events"] * sum(events) + ["users", "workspaces"]
    assert cycle(many["included"]) is None
    assert [run["id"] for run in many["data"]] == runs[::-1]
    assert {**many["data"][-1]} == one["data"]
    for path in (f"runs/{runs[0]}", f"workspaces/{workspace}/runs", f"organizations/{api.organization}/runs"):
        assert "Invalid include parameter" in refused(400, api.get, path, include="plan,nonsense").errors()
    assert "included" not in api.get(f"runs/{runs[0]}").json


# ---- attributes of a run ----


def test_the_attributes_of_a_run_read_back_as_created(api, workspace):
    attributes_sent = {"message": "why", "is-destroy": False, "refresh": False, "allow-empty-apply": True, "allow-config-generation": True, "auto-apply": True,
             "target-addrs": ['module.m["a b"].x.y[0]'], "replace-addrs": ["x.y"], "policy-paths": ["./one", "two"], "invoke-action-addrs": ["action.a.b"],
             "variables": [{"key": "v", "value": '"x"'}]}
    run = api.run(workspace, debugging_mode=True, **{name.replace("-", "_"): value for name, value in attributes_sent.items()})
    attributes = api.attributes(f"runs/{run}")
    assert {name: attributes[name] for name in attributes_sent} == attributes_sent
    assert attributes["trigger-reason"] == "manual" and attributes["status-timestamps"]["plan-queueable-at"]
    plain = api.attributes(f"runs/{api.run(workspace, auto_apply=None, plan_only=None, target_addrs=None, variables=None, message=None)}")
    assert (plain["auto-apply"], plain["plan-only"], plain["target-addrs"], plain["variables"], plain["policy-paths"]) == (False, False, None, [], [])
    assert plain["message"] == "Queued manually via the Terraform Enterprise API"


def test_destroy_runs_are_refused_where_the_workspace_disallows_them(api):
    workspace = api.workspace(allow_destroy_plan=False)
    api.upload(workspace, {"main.tf": ""})
    answer = refused(422, api.run, workspace, is_destroy=True)
    assert answer.json["errors"][0]["source"]["pointer"] == "/data/attributes/is-destroy"
    api.run(workspace)


def test_null_auto_apply_uses_the_workspaces_setting(api):
    workspace = api.workspace(auto_apply=True)
    api.upload(workspace, {"main.tf": ""})
    assert api.attributes(f"runs/{api.run(workspace, auto_apply=None)}")["auto-apply"] is True


# ---- events and comments ----


def test_run_events_are_listed_with_actor_and_comment(api, workspace):
    run = api.run(workspace)
    waiting = api.run(workspace)
    comment = api.post(f"runs/{waiting}/comments", {"data": {"type": "comments", "attributes": {"body": "why wait?"}}}).data
    api.act(waiting, "discard", comment="no need")
    user = api.get("account/details").data["id"]
    events = api.get(f"runs/{waiting}/run-events").json
    assert "included" not in events and [event["attributes"]["action"] for event in events["data"]] == ["created", "commented", "discarded"]
    assert {event["relationships"]["actor"]["data"]["id"] for event in events["data"]} == {user}
    _, commented, discarded = events["data"]
    assert commented["relationships"]["comment"]["data"] == {"id": comment["id"], "type": "comments"}
    both = api.get(f"runs/{waiting}/run-events", include="actor,comment").json
    assert sorted(r["type"] for r in both["included"]) == ["comments", "comments", "users"]
    one = api.get(f"run-events/{discarded['id']}", include="actor,comment").json
    assert one["data"] == discarded
    assert {r["type"]: r["attributes"].get("body") for r in one["included"]} == {"comments": "no need", "users": None}
    assert "included" not in api.get(f"run-events/{commented['id']}").json
    refused(404, api.get, "run-events/nonexisting")
    refused(400, api.get, f"runs/{run}/run-events", include="target")
    refused(400, api.get, f"run-events/{commented['id']}", include="target")


@pytest.mark.parametrize("body", ["", None, 7, ["a"], "x" * 10001])
def test_invalid_comments_are_refused(api, workspace, body):
    run = api.run(workspace)
    refused(422, api.post, f"runs/{run}/comments", {"data": {"type": "comments", "attributes": {"body": body}}})
    assert api.get(f"runs/{run}/comments").data == []


# ---- forcing ----


def test_force_execute_is_refused_for_runs_that_cannot_be_forced(api, workspace):
    first, second, speculative = api.run(workspace), api.run(workspace), api.run(workspace, plan_only=True)
    for run in (first, speculative):
        refused(403, api.act, run, "force-execute")
    refused(409, api.act, second, "force-execute")  # the first run's job waits for a worker: it can only be canceled, not discarded
    assert api.status(second) == "pending"
    refused(404, api.act, "nonexisting", "force-execute")
    api.act(second, "discard")
    refused(403, api.act, second, "force-execute")


def test_a_canceled_run_has_the_time_from_which_it_can_be_force_canceled(api, workspace):
    api.run(workspace)
    waiting = api.run(workspace)
    before = api.attributes(f"runs/{waiting}")
    assert before["canceled-at"] is None and before["force-cancel-available-at"] is None and before["actions"]["is-force-cancelable"] is False
    api.act(waiting, "cancel")
    after = api.get(f"runs/{waiting}", include="canceled_by").json
    assert after["data"]["attributes"]["status"] == "canceled"
    assert after["data"]["attributes"]["force-cancel-available-at"] > after["data"]["attributes"]["canceled-at"]
    assert [user["attributes"]["username"] for user in after["included"]] == ["admin"]


# ---- results of an apply ----


def test_an_errored_apply_links_its_recovered_state(api, workspace, database):
    run = api.run(workspace)
    path = f"applies/{run.replace('run-', 'apply-')}/errored-state"
    refused(404, api.get, path)
    content = b'{"version": 4, "serial": 1, "lineage": "l"}'
    api.act(run, "cancel")
    api.post(f"workspaces/{workspace}/actions/lock")
    attributes = {"serial": 1, "md5": hashlib.md5(content).hexdigest(), "state": base64.b64encode(content).decode()}
    relations = {"run": {"data": {"type": "runs", "id": run}}}
    state = api.post(f"workspaces/{workspace}/state-versions", {"data": {"type": "state-versions", "attributes": attributes, "relationships": relations}}).data["id"]
    refused(404, api.get, path)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("update state_versions set recovered = true where id = %s", [state])
        connection.execute("update runs set status = 'errored' where id = %s", [run])
    assert api.get(path).body == content
    refused(404, api.get, "applies/nonexisting/errored-state")


# ---- concurrent runs ----


def test_each_of_many_concurrent_run_creations_gets_its_own_answer(api, database):
    workspaces = [api.workspace(f"w-{number}") for number in range(4)]
    for workspace in workspaces:
        api.upload(workspace, {"main.tf": ""})
    empty = api.workspace("empty")
    with ThreadPoolExecutor(24) as pool:
        accepted = [pool.submit(api.run, workspace) for workspace in workspaces * 4]
        rejected = [pool.submit(refused, 422, api.run, empty) for _ in range(4)] + [pool.submit(refused, 404, api.run, "ws-nonexisting00000") for _ in range(4)]
        runs = [job.result() for job in accepted]
        assert all("must exist" in job.result().errors() for job in rejected[:4]) and all(job.result() for job in rejected[4:])
    assert len(set(runs)) == 16
    assert sorted(api.attributes(f"runs/{run}")["position-in-queue"] for run in runs) == sorted([0, 1, 2, 3] * 4)
    with psycopg.connect(database) as connection:
        events = connection.execute("select resource_id from audit_events where resource_type = 'run' and action = 'create' and resource_id = any(%s)", [runs]).fetchall()
        assert sorted(run for (run,) in events) == sorted(runs)
        assert connection.execute("select count(*) from run_events where action = 'created' and run_id = any(%s)", [runs]).fetchone() == (16,)


def test_a_locked_workspace_row_does_not_block_runs_of_other_workspaces(api, workspace, database):
    other = api.workspace("other")
    api.upload(other, {"main.tf": ""})
    with psycopg.connect(database) as connection, ThreadPoolExecutor(3) as pool:
        connection.execute("select 1 from workspaces where id = %s for update", [workspace])
        blocked = [pool.submit(api.run, workspace) for _ in range(3)]
        for _ in range(5):
            api.run(other)
        assert not any(job.done() for job in blocked)
        connection.rollback()
        assert len({job.result() for job in blocked}) == 3
