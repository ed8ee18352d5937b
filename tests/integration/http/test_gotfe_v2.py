# SPDX-License-Identifier: MPL-2.0
"""Paths, relations and parameters that only the second generation of go-tfe uses. tests/gotfe_v2 compares all of them with the document."""

import pytest

from support.documents import document, linkage, refused
from support.people import People
from support.receiver import acknowledges
from support.shared import api, database, scheduler  # noqa: F401


@pytest.fixture
def people(api, database):
    return People(api, database)


@pytest.fixture
def base(api):
    return f"organizations/{api.organization}"


def included(answer):
    """The included resources: {type: [id, ...]}."""
    found = {}
    for resource in answer.json.get("included", []):
        found.setdefault(resource["type"], []).append(resource["id"])
    return found


def project(api, base, name, **relations):
    return api.post(f"{base}/projects", document("projects", {"name": name}, **relations)).data["id"]


# ---- access ----


def test_access_of_teams_includes_the_team_and_is_filtered_by_it(api, base, people):
    one, two, workspace = people.team("one"), people.team("two"), api.workspace("network")
    place = project(api, base, "platform")
    for team in (one, two):
        for kind, to, id in (("workspaces", "workspace", workspace), ("projects", "project", place)):
            relations = {"team": {"data": {"type": "teams", "id": team}}, to: {"data": {"type": kind, "id": id}}}
            made = api.post(f"team-{kind}", document(f"team-{kind}", {"access": "read"}, **relations)).data
            assert included(api.get(f"team-{kind}/{made['id']}", include="team")) == {"teams": [team]}
    for kind, to, id in (("workspaces", "workspace", workspace), ("projects", "project", place)):
        listed = api.get(f"team-{kind}", **{f"filter[{to}][id]": id, "include": "team"})
        assert len(listed.data) == 2 and sorted(included(listed)["teams"]) == sorted([one, two])
        (found,) = api.get(f"team-{kind}", **{f"filter[{to}][id]": id, "filter[team][id]": two}).data
        assert found["relationships"]["team"]["data"]["id"] == two
        refused(400, api.get, f"team-{kind}", **{f"filter[{to}][id]": id, "include": "nothing"})


def test_memberships_of_the_requester_and_of_a_team(api, base, people):
    team = people.team("network")
    member = people.member(f"ada-{api.organization[2:10]}", team)
    own = member.get("organization-memberships", include="organization,teams,user")
    assert [item["id"] for item in own.data] == [member.membership]
    assert own.data[0]["attributes"]["is-org-two-factor-required"] is False
    assert included(own)["organizations"] == [api.organization]
    assert [item["id"] for item in api.get(f"teams/{team}/relationships/organization-memberships").data] == [member.membership]
    assert api.get(f"teams/{team}/relationships/organization-memberships", **{"filter[status]": "invited"}).data == []
    outsider = people.user(f"eve-{api.organization[2:10]}")
    answer = api.call("GET", f"teams/{team}/relationships/organization-memberships", headers={"Authorization": f"Bearer {outsider}"})
    assert answer.status == 404
    one = api.get(f"organization-memberships/{member.membership}", include="organization")
    guest = people.user(f"sam-{api.organization[2:10]}")
    api.post(f"{base}/organization-memberships", document("organization-memberships", {"email": f"sam-{api.organization[2:10]}@example.com"}))
    answer = api.call("GET", "organization-memberships?include=organization", headers={"Authorization": f"Bearer {guest}"})
    assert answer.status == 200 and answer.data == [] and included(answer) == {}
    assert included(one) == {"organizations": [api.organization]}


def test_tokens_of_teams_are_revoked_together(api, base, people):
    team, other = people.team("one"), people.team("two")
    tokens = [api.post(f"teams/{id}/authentication-tokens", document("authentication-tokens", {"description": "ci"})).data for id in (team, other)]
    listed = api.get(f"{base}/team-tokens", include="team")
    assert sorted(included(listed)["teams"]) == sorted([team, other])
    ids = [token["id"] for token in tokens]
    member = people.member(f"ada-{api.organization[2:10]}", team)
    assert member.call("DELETE", f"{base}/team-tokens", {"data": linkage("authentication-tokens", *ids)}).status == 404
    assert api.call("DELETE", f"{base}/team-tokens", {"data": linkage("authentication-tokens", ids[0], "at-none")}).status == 404
    assert len(api.get(f"{base}/team-tokens").data) == 2
    assert api.call("DELETE", f"{base}/team-tokens", {"data": linkage("authentication-tokens", *ids)}).status == 204
    assert api.get(f"{base}/team-tokens").data == []


def test_teams_say_who_sees_their_tokens(api, base, people):
    team = people.team("network")
    attributes = api.get(f"teams/{team}").data["attributes"]
    assert attributes["permissions"]["can-view-api-token"] and attributes["permissions"]["can-update-api-token"]
    assert attributes["non-service-users-count"] == 0
    assert api.get(f"teams/{team}").data["relationships"]["authentication-tokens"]["links"]["related"] == f"/api/v2/teams/{team}/authentication-tokens"


# ---- organizations ----


def test_organizations_are_found_by_name_and_address_and_include_what_they_may_do(api, base):
    one = api.get(base, include="entitlement_set,default_project")
    assert included(one)["entitlement-sets"] == [api.organization] and len(included(one)["projects"]) == 1
    assert one.json["included"][-1]["attributes"]["operations"] is True
    listed = api.get("organizations", **{"q[name]": api.organization, "include": "entitlement_set"})
    assert [item["id"] for item in listed.data] == [api.organization] and included(listed) == {"entitlement-sets": [api.organization]}
    assert api.get("organizations", **{"q[name]": api.organization, "q[email]": "nobody@nowhere.example"}).data == []
    assert one.data["relationships"]["authentication-token"]["links"]["related"] == f"/api/v2/{base}/authentication-token"


# ---- tags ----


def bindings(**tags):
    return {"data": [{"type": "tag-bindings", "attributes": {"key": key, "value": value}} for key, value in tags.items()]}


def test_tag_bindings_are_added_and_replaced_as_a_relation(api, base):
    for path in (f"workspaces/{api.workspace('network')}", f"projects/{project(api, base, 'platform')}"):
        tags = lambda: {tag["attributes"]["key"]: tag["attributes"]["value"] for tag in api.get(f"{path}/relationships/tag-bindings").data}
        assert api.post(f"{path}/relationships/tag-bindings", bindings(stage="test", team="one")).status == 204
        assert api.post(f"{path}/relationships/tag-bindings", bindings(stage="live")).status == 204
        assert tags() == {"stage": "live", "team": "one"}
        assert api.patch(f"{path}/relationships/tag-bindings", bindings(owner="ada")).status == 204
        assert tags() == {"owner": "ada"}
        assert api.call("PATCH", f"{path}/relationships/tag-bindings", bindings(**{"": "x"})).status == 422
        assert tags() == {"owner": "ada"}


def test_inherited_tags_name_their_project(api, base):
    place = project(api, base, "platform")
    api.post(f"projects/{place}/relationships/tag-bindings", bindings(stage="live"))
    workspace = api.post(f"{base}/workspaces", document("workspaces", {"name": "network"}, project={"data": {"type": "projects", "id": place}})).data["id"]
    (tag,) = api.get(f"workspaces/{workspace}/effective-tag-bindings").data
    assert tag["relationships"]["inherited-from"]["data"] == {"type": "projects", "id": place}


# ---- workspaces and projects ----


def test_the_agent_pool_of_workspaces_and_projects_is_a_relation(api, base):
    pool, _ = api.pool("private")
    link = {"data": {"type": "agent-pools", "id": pool}}
    made = api.post(f"{base}/workspaces", document("workspaces", {"name": "network", "execution-mode": "agent"}, **{"agent-pool": link})).data
    assert made["relationships"]["agent-pool"]["data"]["id"] == pool
    assert included(api.get(f"workspaces/{made['id']}", include="agent_pool")) == {"agent-pools": [pool]}
    answer = api.call("POST", f"{base}/workspaces", document("workspaces", {"name": "other", "execution-mode": "agent"}, **{"agent-pool": {"data": {"type": "agent-pools", "id": "apool-none"}}}))
    assert answer.status == 422
    attributes = {"name": "platform", "default-execution-mode": "agent", "setting-overwrites": {"default-execution-mode": True, "default-agent-pool": True}}
    made = api.post(f"{base}/projects", document("projects", attributes, **{"default-agent-pool": link})).data
    assert made["relationships"]["default-agent-pool"]["data"]["id"] == pool
    changed = api.patch(f"projects/{made['id']}", document("projects", {"description": "changed"})).data
    assert changed["relationships"]["default-agent-pool"]["data"]["id"] == pool


def test_workspaces_include_the_variables_that_the_requester_may_read(api, base, people):
    workspace = api.workspace("network")
    variable = api.variable(workspace, "region", "north")
    assert included(api.get(f"workspaces/{workspace}", include="vars")) == {"vars": [variable]}
    assert included(api.get(f"{base}/workspaces", include="vars,latest_run.plan,current_run.apply,current_state_version.resources_processed")) == {"vars": [variable]}
    team = people.team("readers")
    relations = {"team": {"data": {"type": "teams", "id": team}}, "workspace": {"data": {"type": "workspaces", "id": workspace}}}
    attributes = {"access": "custom", "runs": "read", "variables": "none", "state-versions": "none", "sentinel-mocks": "none", "workspace-locking": False}
    api.post("team-workspaces", document("team-workspaces", attributes, **relations))
    member = people.member(f"ada-{api.organization[2:10]}", team)
    assert included(member.get(f"workspaces/{workspace}", include="vars")) == {}


def test_workspaces_include_their_latest_run(api, base):
    workspace = api.workspace("network")
    version = api.upload(workspace, {"main.tf": ""})
    run = api.run(workspace, version)
    found = included(api.get(f"workspaces/{workspace}", include="latest_run.plan,latest_run.configuration_version"))
    assert found["runs"] == [run] and found["configuration-versions"] == [version] and len(found["plans"]) == 1
    assert included(api.get(f"{base}/runs", include="workspace.project"))["projects"]


def test_pools_include_whom_they_serve(api, base):
    allowed, excluded, place = api.workspace("allowed"), api.workspace("excluded"), project(api, base, "platform")
    relations = {name: {"data": linkage(kind, id)} for name, kind, id in (
        ("allowed-workspaces", "workspaces", allowed), ("excluded-workspaces", "workspaces", excluded), ("allowed-projects", "projects", place))}
    pool = api.post(f"{base}/agent-pools", document("agent-pools", {"name": "private", "organization-scoped": False}, **relations)).data["id"]
    found = included(api.get(f"agent-pools/{pool}", include="allowed_workspaces,allowed_projects,excluded_workspaces"))
    assert sorted(found["workspaces"]) == sorted([allowed, excluded]) and found["projects"] == [place]


def test_projects_and_policies_are_sorted_by_name(api, base):
    for name in ("b", "c", "a"):
        project(api, base, f"project-{name}")
        api.post(f"{base}/policies", document("policies", {"name": f"policy-{name}", "kind": "opa", "query": "data.a.deny"}))
    names = lambda kind, sort: [item["attributes"]["name"] for item in api.get(f"{base}/{kind}", sort=sort).data if "-" in item["attributes"]["name"]]
    for kind, one in (("projects", "project"), ("policies", "policy")):
        assert names(kind, "name") == [f"{one}-a", f"{one}-b", f"{one}-c"]
        assert names(kind, "-name") == [f"{one}-c", f"{one}-b", f"{one}-a"]


def test_a_retention_policy_names_its_target(api, base):
    workspace = api.workspace("network")
    for path, target in ((f"workspaces/{workspace}", {"type": "workspaces", "id": workspace}), (base, {"type": "organizations", "id": api.organization})):
        body = document("data-retention-policy-delete-olders", {"delete-older-than-n-days": 30})
        made = api.post(f"{path}/relationships/data-retention-policy", body).data
        assert made["relationships"]["target"]["data"] == target


# ---- variable sets ----


def test_variable_sets_are_filtered_and_changed_by_post(api, base):
    everywhere, one = [api.post(f"{base}/varsets", document("varsets", {"name": name, "global": name == "all"})).data["id"] for name in ("all", "one")]
    assert [item["id"] for item in api.get(f"{base}/varsets", **{"filter[global]": "true"}).data] == [everywhere]
    assert [item["id"] for item in api.get(f"{base}/varsets", **{"filter[global]": "false"}).data] == [one]
    refused(400, api.get, f"{base}/varsets", **{"filter[global]": "maybe"})
    assert api.post(f"varsets/{one}", document("varsets", {"name": "renamed"})).data["attributes"]["name"] == "renamed"


# ---- policies ----


def test_policies_and_versions_include_their_sets(api, base):
    policy = api.post(f"{base}/policies", document("policies", {"name": "limits", "kind": "opa", "query": "data.a.deny"})).data["id"]
    plain = api.post(f"{base}/policy-sets", document("policy-sets", {"name": "plain", "kind": "opa"}, policies={"data": linkage("policies", policy)})).data["id"]
    versioned = api.post(f"{base}/policy-sets", document("policy-sets", {"name": "versioned", "kind": "opa"})).data["id"]
    assert included(api.get(f"policies/{policy}", include="policy_sets")) == {"policy-sets": [plain]}
    assert included(api.get(f"{base}/policies", include="policy_sets")) == {"policy-sets": [plain]}
    answer = api.call("PUT", f"policies/{policy}/upload", b"package a\n", headers={"Content-Type": "application/octet-stream"})
    assert answer.status == 200 and answer.data["id"] == policy
    made = [api.post(f"policy-sets/{versioned}/versions").data["id"] for _ in range(2)]
    listed = api.get(f"policy-sets/{versioned}/versions", include="policy_set")
    assert [item["id"] for item in listed.data] == made[::-1] and included(listed) == {"policy-sets": [versioned]}
    assert included(api.get(f"policy-set-versions/{made[0]}", include="policy_set")) == {"policy-sets": [versioned]}
    assert [item["id"] for item in api.get(f"{base}/policy-sets", **{"filter[versioned]": "true"}).data] == [versioned]
    assert [item["id"] for item in api.get(f"{base}/policy-sets", **{"filter[versioned]": "false"}).data] == [plain]
    refused(400, api.get, f"{base}/policy-sets", **{"filter[versioned]": "maybe"})


# ---- health, change requests, notifications, tasks ----


def test_a_workspace_without_a_result_has_no_current_one(api):
    workspace = api.workspace("network")
    refused(404, api.get, f"workspaces/{workspace}/current-assessment-result")
    assert api.call("POST", f"workspaces/{workspace}/actions/assess").status in (409, 422)


def test_change_requests_are_archived_at_their_own_address(api, base):
    workspace = api.workspace("network")
    body = {"data": {"type": "bulk_actions", "attributes": {"action_type": "change_request", "action_inputs": {"subject": "a", "message": "b"}, "target_ids": [workspace]}}}
    api.post(f"{base}/explorer/bulk-actions", body)
    (request,) = api.get(f"workspaces/{workspace}/change-requests", archive="false").data
    assert api.get(f"change-requests/{request['id']}/actions/archive").data["attributes"]["archived-at"] is None
    assert api.post(f"change-requests/{request['id']}/actions/archive").data["attributes"]["archived-at"]
    assert api.get(f"workspaces/{workspace}/change-requests", archive="false").data == []


def test_a_notification_configuration_is_enabled(api):
    workspace = api.workspace("network")
    attributes = {"name": "mail", "destination-type": "email", "enabled": False, "email-addresses": [], "triggers": ["run:errored"]}
    made = api.post(f"workspaces/{workspace}/notification-configurations", document("notification-configurations", attributes)).data
    assert made["attributes"]["enabled"] is False and made["attributes"]["external-email-addresses"] == []
    changed = api.post(f"notification-configurations/{made['id']}/actions/enable").data
    assert changed["attributes"]["enabled"] is True and changed["attributes"]["triggers"] == ["run:errored"]


def test_a_task_lists_the_workspaces_that_it_belongs_to(api, base, receiver):
    service = receiver.service(acknowledges)
    attributes = {"name": "scan", "url": service.url, "hmac-key": "a key of this task", "category": "task"}
    task = api.post(f"{base}/tasks", document("tasks", attributes)).data["id"]
    workspace = api.workspace("network")
    attached = api.post(f"workspaces/{workspace}/tasks", document("workspace-tasks", {"enforcement-level": "advisory"}, task={"data": {"type": "tasks", "id": task}})).data["id"]
    listed = api.get(f"tasks/{task}/relationships/workspace-tasks", include="workspace")
    assert [item["id"] for item in listed.data] == [attached] and included(listed) == {"workspaces": [workspace]}
