# SPDX-License-Identifier: MPL-2.0
"""A workspace's attributes about its runs and states, access to these, retention, and auto-destroy."""

import base64
import hashlib
import json

import psycopg

from support.api import Api
from support.documents import document, refused
from support.people import People
from support.shared import api, database, scheduler  # noqa: F401

RESOURCES = [
    {"mode": "managed", "type": "terraform_data", "name": "a", "provider": 'provider["terraform.io/builtin/terraform"]', "instances": [{"attributes": {}}]},
    {"module": 'module.net["x.module.y"].module.sub', "mode": "managed", "type": "aws_subnet", "name": "this",
     "provider": 'module.net.provider["registry.terraform.io/hashicorp/aws"].west', "instances": [{"index_key": 0}, {"index_key": "b"}]},
    {"mode": "data", "type": "aws_ami", "name": "d", "provider": "p", "instances": [{}]},
]


def ids(*workspaces):
    return {"data": [{"type": "workspaces", "id": workspace} for workspace in workspaces]}


def push(api, workspace, resources, serial=1, **outputs):
    content = json.dumps({"version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": "l", "outputs": outputs, "resources": resources}).encode()
    api.post(f"workspaces/{workspace}/actions/lock")
    attributes = {"serial": serial, "lineage": "l", "md5": hashlib.md5(content).hexdigest(), "state": base64.b64encode(content).decode()}
    state = api.post(f"workspaces/{workspace}/state-versions", document("state-versions", attributes)).data["id"]
    api.post(f"workspaces/{workspace}/actions/unlock")
    return state


def change(api, workspace, **attributes):
    attributes = {name.replace("_", "-"): value for name, value in attributes.items()}
    return api.patch(f"workspaces/{workspace}", document("workspaces", attributes)).data["attributes"]


def project(api, name, **attributes):
    attributes = {"name": name, **{key.replace("_", "-"): value for key, value in attributes.items()}}
    return api.post(f"organizations/{api.organization}/projects", document("projects", attributes)).data["id"]


def move(api, workspace, project_id):
    return api.patch(f"workspaces/{workspace}", document("workspaces", {}, project={"data": {"type": "projects", "id": project_id}}))


# ---- resources ----


def test_the_resources_of_the_current_state_are_listed(api):
    workspace = api.workspace("w")
    assert api.get(f"workspaces/{workspace}/resources").data == []
    before = api.attributes(f"workspaces/{workspace}")["latest-change-at"]
    state = push(api, workspace, RESOURCES)
    found = api.get(f"workspaces/{workspace}/resources").data
    shown = [[item["attributes"][name] for name in ("address", "name", "module", "provider", "provider-type", "name-index")] for item in found]
    assert shown == [["terraform_data.a", "a", "root", "builtin/terraform", "terraform_data", None],
                     ['net["x.module.y"].sub.aws_subnet.this[0]', "this", 'net["x.module.y"].sub', "hashicorp/aws", "aws_subnet", "0"],
                     ['net["x.module.y"].sub.aws_subnet.this["b"]', "this", 'net["x.module.y"].sub', "hashicorp/aws", "aws_subnet", "b"]]
    assert {item["attributes"]["modified-by-state-version-id"] for item in found} == {state}
    assert len({item["id"] for item in found}) == 3
    page = api.get(f"workspaces/{workspace}/resources", **{"page[size]": 1, "page[number]": 2}).json
    assert page["data"] == [found[1]] and page["meta"]["pagination"]["total-count"] == 3
    attributes = api.attributes(f"workspaces/{workspace}")
    assert attributes["resource-count"] == 3 and attributes["latest-change-at"] > before
    assert "managing resources" in refused(409, api.post, f"workspaces/{workspace}/actions/safe-delete").errors()
    push(api, workspace, [], serial=2)
    assert api.attributes(f"workspaces/{workspace}")["resource-count"] == 0
    api.post(f"workspaces/{workspace}/actions/safe-delete")


def test_force_deletion_by_workspace_admins_needs_the_organizations_setting(api, database):
    people = People(api, database)
    workspace, team = api.workspace("w"), people.team("admins")
    people.give(team, "workspace", workspace, "admin")
    admin = people.member("admin-of-w", team)
    push(api, workspace, RESOURCES)
    assert admin.attributes(f"workspaces/{workspace}")["permissions"]["can-force-delete"] is False
    assert api.attributes(f"workspaces/{workspace}")["permissions"]["can-force-delete"] is True
    refused(403, admin.delete, f"workspaces/{workspace}")
    api.patch(f"organizations/{api.organization}", document("organizations", {"allow-force-delete-workspaces": True}))
    assert admin.attributes(f"workspaces/{workspace}")["permissions"]["can-force-delete"] is True
    admin.delete(f"workspaces/{workspace}")


def test_the_types_of_risk_hints_are_checked(api):
    def patched(types):
        return api.call("PATCH", f"organizations/{api.organization}", document("organizations", {"risk-hint-types": types}))

    assert api.attributes(f"organizations/{api.organization}")["risk-hint-types"] == []
    types = [f"type_{number}" for number in range(99)] + ["x" * 128]
    assert patched(types).data["attributes"]["risk-hint-types"] == types
    for wrong in ([*types, "one_more"], ["Aws"], [""], ["x" * 129], ["a-b"], ["a\n"], ["a", "a"], [7], "a", {"a": "b"}):
        answer = patched(wrong)
        assert answer.status == 422 and answer.json["errors"][0]["source"]["pointer"] == "/data/attributes/risk-hint-types", wrong
    assert api.attributes(f"organizations/{api.organization}")["risk-hint-types"] == types
    assert patched([]).data["attributes"]["risk-hint-types"] == []


def test_a_pending_state_prevents_safe_deletion(api):
    workspace = api.workspace("w")
    api.post(f"workspaces/{workspace}/actions/lock")
    attributes = {"serial": 1, "lineage": "l", "md5": "0" * 32}
    api.post(f"workspaces/{workspace}/state-versions", document("state-versions", attributes))
    api.post(f"workspaces/{workspace}/actions/force-unlock")
    assert "being processed" in refused(409, api.post, f"workspaces/{workspace}/actions/safe-delete").errors()


# ---- runs ----


def test_a_workspace_has_the_counts_and_average_durations_of_its_runs(api, database):
    workspace = api.workspace("w")
    configuration = api.upload(workspace, {"main.tf": ""})
    names = ("workspace-kpis-runs-count", "run-failures", "policy-check-failures", "plan-duration-average", "apply-duration-average")
    for number in range(2):
        run = api.run(workspace, configuration)
        with psycopg.connect(database, autocommit=True) as connection:
            times = json.dumps({"started-at": "2026-01-01T00:00:00Z", "finished-at": f"2026-01-01T00:00:0{number + 1}Z"})
            connection.execute("update operations set status_timestamps = %s where run_id = %s and id like 'plan-%%'", [times, run])
        api.act(run, "cancel")
    attributes = api.attributes(f"workspaces/{workspace}")
    assert [attributes[name] for name in names] == [2, 0, 0, 1500, 0]


# ---- included ----


def test_all_includes_are_returned_once(api):
    workspace = api.workspace("w", working_directory="live")
    push(api, workspace, RESOURCES, out={"value": "v", "type": "string"}, secret={"value": "hidden", "type": "string", "sensitive": True})
    configuration = api.upload(workspace, {"main.tf": "", "README.md": "root", "live/README.md": "# Live"})
    run = api.run(workspace, configuration)
    everything = ("organization,project,current_run.plan,current_run.configuration_version,current_configuration_version,"
                  "current-state-version,locked_by,outputs,effective_tag_bindings,recent_runs")
    answer = api.get(f"workspaces/{workspace}", include=everything + ",readme").json
    assert {item["type"] for item in answer["included"]} == {"organizations", "projects", "runs", "plans", "configuration-versions", "state-versions",
                                                             "workspace-outputs", "workspace-recent-runs", "workspace-readme"}
    readme = [item for item in answer["included"] if item["type"] == "workspace-readme"][0]
    assert readme["attributes"]["raw-markdown"] == "# Live" and answer["data"]["relationships"]["readme"]["data"]["id"] == readme["id"]
    outputs = {item["attributes"]["name"]: item["attributes"]["value"] for item in answer["included"] if item["type"] == "workspace-outputs"}
    assert outputs == {"out": "v", "secret": None} and len(answer["data"]["relationships"]["outputs"]["data"]) == 2
    recent = [item for item in answer["included"] if item["type"] == "workspace-recent-runs"][0]
    assert recent["id"] == workspace and [row["id"] for row in recent["attributes"]["runs"]] == [run]
    keys = [(item["type"], item["id"]) for item in answer["included"]]
    assert len(keys) == len(set(keys))
    page = api.get(f"organizations/{api.organization}/workspaces", include=everything).json
    assert {item["type"] for item in page["included"]} == {item["type"] for item in answer["included"]} - {"workspace-readme"}
    assert "Invalid include parameter" in refused(400, api.ask, "GET", f"workspaces/{workspace}?include=nonsense").errors()
    refused(400, api.ask, "GET", f"organizations/{api.organization}/workspaces?include=readme")


def test_workspaces_are_sorted_by_latest_change_and_current_run(api):
    first, second = api.workspace("first"), api.workspace("second")
    push(api, first, [])
    names = [w["attributes"]["name"] for w in api.get(f"organizations/{api.organization}/workspaces", sort="latest-change-at").data]
    assert names == ["second", "first"]
    names = [w["id"] for w in api.get(f"organizations/{api.organization}/workspaces", sort="-latest-change-at").data]
    assert names == [first, second]
    api.run(second, api.upload(second, {"main.tf": ""}))
    for sort, expected in (("current-run.created-at", [second, first]), ("-current-run.created-at", [second, first])):
        assert [w["id"] for w in api.get(f"organizations/{api.organization}/workspaces", sort=sort).data] == expected
    assert [w["id"] for w in api.get(f"organizations/{api.organization}/workspaces", **{"filter[current-run][status]": "plan_queued"}).data] == [second]


def test_pages_sorted_by_current_run_cover_all_workspaces(api):
    created = [api.workspace(f"w{number}") for number in range(7)]
    for number in (3, 0, 5, 3, 2):
        api.run(created[number], api.upload(created[number], {"main.tf": ""}))
    began = [created[number] for number in (3, 0, 5, 2)]  # of the two in one workspace the first is its current one
    idle = [created[number] for number in (1, 4, 6)]
    for sort, order in (("current-run.created-at", began + idle), ("-current-run.created-at", began[::-1] + idle)):
        for size in (1, 2, 3, 4, 7, 20):
            for number in range(1, 9):
                page = api.get(f"organizations/{api.organization}/workspaces", sort=sort, **{"page[size]": size, "page[number]": number}).json
                assert [row["id"] for row in page["data"]] == order[(number - 1) * size:number * size], (sort, size, number)
                assert page["meta"]["pagination"]["total-count"] == 7


def test_workspaces_are_filtered_by_the_status_of_their_current_run(api):
    queued, discarded, idle = api.workspace("waits"), api.workspace("discarded"), api.workspace("idle")
    tagged = api.workspace("tagged")
    api.patch(f"workspaces/{tagged}/tag-bindings", {"data": [{"type": "tag-bindings", "attributes": {"key": "k", "value": ""}}]})
    for workspace in (queued, discarded, tagged):
        api.run(workspace, api.upload(workspace, {"main.tf": ""}))
    api.run(queued)  # behind the current one
    ended, = [run["id"] for run in api.get(f"workspaces/{discarded}/runs").data]
    api.act(ended, "cancel")
    ended_status = api.attributes(f"runs/{ended}")["status"]

    def found(status, **query):
        page = api.get(f"organizations/{api.organization}/workspaces", sort="name", **{"filter[current-run][status]": status, **query}).json
        assert page["meta"]["pagination"]["total-count"] == len(page["data"])
        return [row["id"] for row in page["data"]]

    assert ended_status in ("canceled", "discarded")
    assert found("plan_queued") == found("plan_queued,applying,planned_and_saved") == [tagged, queued]
    assert found("pending") == found("planning,applying") == []
    assert found(ended_status) == [discarded] and found(f"plan_queued,{ended_status}") == [discarded, tagged, queued]
    assert found("plan_queued", **{"search[tags]": "k"}) == [tagged] and found("plan_queued", **{"search[exclude-tags]": "k"}) == [queued]
    assert found("plan_queued", **{"search[name]": "WAI"}) == [queued] and idle not in found("plan_queued,,nothing")
    of_organization = {status: [run["relationships"]["workspace"]["data"]["id"] for run in api.get(f"organizations/{api.organization}/runs", **{"filter[status]": status}).data]
                       for status in ("pending", "plan_queued", ended_status, f"pending,{ended_status}")}
    assert of_organization["pending"] == [queued] and sorted(of_organization["plan_queued"]) == sorted([queued, tagged])
    assert of_organization[ended_status] == [discarded] and of_organization[f"pending,{ended_status}"] == [queued, discarded]


# ---- access to the state ----


def consumers(api, workspace):
    return [item["attributes"]["name"] for item in api.get(f"workspaces/{workspace}/relationships/remote-state-consumers").data]


def test_remote_state_consumers_are_added_replaced_and_removed(api):
    a, b, c = (api.workspace(name) for name in "abc")
    path = f"workspaces/{a}/relationships/remote-state-consumers"
    assert consumers(api, a) == []
    assert api.post(path, ids(b, b)).status == 204 and consumers(api, a) == ["b"]
    api.patch(path, ids(c))
    assert consumers(api, a) == ["c"]
    api.ask("DELETE", path, ids(c, b))
    assert consumers(api, a) == []
    for body in (ids(a), ids("ws-nobody"), {"data": None}, {}, {"data": [{"type": "projects", "id": b}]}):
        refused(422, api.post, path, body)
        refused(422, api.patch, path, body)
    assert change(api, a, global_remote_state=True)["global-remote-state"] is True
    assert consumers(api, a) == ["b", "c"]
    other = project(api, "other")
    move(api, c, other)
    after = change(api, a, project_remote_state=True)
    assert after["project-remote-state"] is True and after["global-remote-state"] is False
    assert consumers(api, a) == ["b"]
    refused(422, api.patch, f"workspaces/{a}", document("workspaces", {"project-remote-state": True, "global-remote-state": True}))


# ---- retention ----


def test_data_retention_policies_are_created_changed_and_deleted(api):
    workspace = api.workspace("w")
    for owner in (f"workspaces/{workspace}", f"organizations/{api.organization}"):
        path = f"{owner}/relationships/data-retention-policy"
        refused(404, api.get, path)
        assert api.get(owner).data["relationships"]["data-retention-policy"]["data"] is None
        created = api.post(path, document("data-retention-policy-delete-olders", {"delete-older-than-n-days": 33})).data
        assert created["id"].startswith("drp-") and created["attributes"] == {"delete-older-than-n-days": 33}
        assert api.get(path).data == created
        assert api.get(owner).data["relationships"]["data-retention-policy"]["data"] == {"id": created["id"], "type": "data-retention-policy-delete-olders"}
        same = api.post(path, document("data-retention-policy-delete-olders", {"delete-older-than-n-days": 1})).data
        assert same["id"] == created["id"] and same["attributes"] == {"delete-older-than-n-days": 1}
        assert api.patch(path, document("data-retention-policies", {"delete-older-than-n-days": 2})).data["type"] == "data-retention-policies"
        kept = api.post(path, {"data": {"type": "data-retention-policy-dont-deletes"}}).data
        assert kept["type"] == "data-retention-policy-dont-deletes" and kept["id"] != created["id"]
        for body in (document("data-retention-policy-delete-olders", {}), document("data-retention-policy-delete-olders", {"delete-older-than-n-days": 0}),
                     document("data-retention-policy-delete-olders", {"delete-older-than-n-days": "7"}), document("nonsense", {})):
            refused(422, api.post, path, body)
        assert api.delete(path).status == 204
        refused(404, api.get, path)


# ---- auto-destroy ----


def test_auto_destroy_time_and_duration_are_set_and_validated(api):
    workspace = api.workspace("w", auto_destroy_at="2030-01-01T02:00:00+02:00")
    attributes = api.attributes(f"workspaces/{workspace}")
    assert attributes["auto-destroy-at"] == "2030-01-01T00:00:00Z" and attributes["inherits-project-auto-destroy"] is False
    assert change(api, workspace, auto_destroy_at=None)["auto-destroy-at"] is None
    attributes = change(api, workspace, auto_destroy_activity_duration="14d")
    assert attributes["auto-destroy-activity-duration"] == "14d" and attributes["auto-destroy-at"].endswith("Z")
    for wrong in ({"auto_destroy_at": "tomorrow"}, {"auto_destroy_at": "2030-13-01T00:00:00Z"}, {"auto_destroy_at": 5}, {"auto_destroy_activity_duration": "20m"},
                  {"auto_destroy_activity_duration": "12345d"}, {"auto_destroy_at": "2030-01-01T00:00:00Z", "auto_destroy_activity_duration": "1d"}):
        refused(422, lambda wrong=wrong: change(api, workspace, **wrong))


def test_a_projects_auto_destroy_duration_is_inherited(api):
    workspace = api.workspace("w")
    move(api, workspace, project(api, "short", auto_destroy_activity_duration="2h"))
    attributes = api.attributes(f"workspaces/{workspace}")
    assert attributes["auto-destroy-activity-duration"] == "2h" and attributes["auto-destroy-at"] is not None
    assert change(api, workspace, inherits_project_auto_destroy=False)["auto-destroy-at"] is None


# ---- attributes that contradict one another, and moves ----


def test_contradicting_attributes_are_refused(api):
    workspace = api.workspace("w")
    for wrong in ({"trigger_prefixes": ["/a"], "trigger_patterns": ["/b/*"]}, {"vcs_repo": {"identifier": "a/b"}}, {"vcs_repo": "a/b"}, {"source_name": "x" * 256},
                  {"trigger_prefixes": [f"/{i}" for i in range(101)]}, {"description": "x" * 3000}):
        refused(422, lambda wrong=wrong: change(api, workspace, **wrong))
    change(api, workspace, trigger_prefixes=["/a"], vcs_repo=None)
    after = change(api, workspace, trigger_patterns=["/b/*"], trigger_prefixes=[])
    assert after["trigger-patterns"] == ["/b/*"] and after["trigger-prefixes"] == []


def test_workspaces_are_moved_into_a_project(api):
    one, two = api.workspace("one"), api.workspace("two")
    target = project(api, "target", default_execution_mode="local")
    path = f"projects/{target}/relationships/workspaces"
    assert api.post(path, ids(one, two)).status == 204
    assert api.get(f"workspaces/{one}").data["relationships"]["project"]["data"]["id"] == target
    assert api.attributes(f"workspaces/{two}")["execution-mode"] == "local"
    refused(404, api.post, "projects/prj-nobody/relationships/workspaces", ids(one))
    for body in (ids("ws-nobody"), {"data": None}):
        assert api.call("POST", path, body).status in (404, 422)
    refused(409, api.delete, f"projects/{target}")


# ---- organizations' defaults ----


def test_an_organizations_default_pool_applies_to_its_workspaces(api):
    pool = api.post(f"organizations/{api.organization}/agent-pools", document("agent-pools", {"name": "p"})).data["id"]
    relation = {"data": {"type": "agent-pools", "id": pool}}
    workspace = api.workspace("w")
    path = f"organizations/{api.organization}"
    assert "must not be specified unless using 'agent' execution mode" in refused(
        422, api.patch, path, document("organizations", {}, **{"default-agent-pool": relation})).errors()
    refused(422, api.patch, path, document("organizations", {"default-execution-mode": "agent"}))
    answer = api.patch(path, document("organizations", {"default-execution-mode": "agent"}, **{"default-agent-pool": relation})).data
    assert answer["relationships"]["default-agent-pool"]["data"]["id"] == pool
    shown = api.get(f"workspaces/{workspace}").data
    assert shown["attributes"]["execution-mode"] == "agent" and shown["relationships"]["agent-pool"]["data"]["id"] == pool
    refused(409, api.delete, f"agent-pools/{pool}")
    back = api.patch(path, document("organizations", {"default-execution-mode": "remote"})).data
    assert back["relationships"]["default-agent-pool"]["data"] is None
    assert api.get(f"workspaces/{workspace}").data["relationships"]["agent-pool"]["data"] is None
    for attributes in ({"session-timeout": 0}, {"session-remember": -1}, {"collaborator-auth-policy": "none"}, {"default-execution-mode": None}):
        refused(422, api.patch, path, document("organizations", attributes))


def test_disabled_user_tokens_cannot_access_the_organization(api, database):
    workspace, owners = api.workspace("w"), People(api, database).owners()
    team = Api(api.url, api.post(f"teams/{owners}/authentication-token").data["attributes"]["token"], api.organization)
    path = f"organizations/{api.organization}"
    assert team.patch(path, document("organizations", {"user-tokens-enabled": False})).data["attributes"]["user-tokens-enabled"] is False
    for url_path in (path, f"workspaces/{workspace}", f"{path}/workspaces"):
        refused(401, api.get, url_path)
        assert team.get(url_path).status == 200
    api.get("organizations")
    team.patch(path, document("organizations", {"user-tokens-enabled": True}))
    assert api.get(path).status == 200
