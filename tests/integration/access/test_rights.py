# SPDX-License-Identifier: MPL-2.0
"""Permissions: levels of access, their effect on lists and resources, and those of each kind of token."""

import psycopg
import pytest

from support.api import Api
from support.people import People
from support.shared import api, database, scheduler  # noqa: F401

MAIN = {"main.tf": 'resource "terraform_data" "x" {}'}


@pytest.fixture
def people(api, database):
    return People(api, database)


def status(client, method, path, body=None):
    return client.call(method, path, body).status


def data(resource, **attributes):
    return {"data": {"type": resource, "attributes": attributes}}


def names(client, what):
    return sorted(item["attributes"].get("name") for item in client.get(f"organizations/{client.organization}/{what}").data)


def permissions(client, path):
    return {name for name, allowed in client.attributes(path)["permissions"].items() if allowed}


def test_a_member_without_a_team_sees_the_organization_and_nothing_in_it(api, people):
    workspace = api.workspace("w")
    run = api.run(workspace, api.upload(workspace, MAIN))
    people.team("secret")
    member = people.member("m1")
    assert [o["id"] for o in member.get("organizations").data] == [api.organization]
    assert permissions(member, f"organizations/{api.organization}") == {"can-traverse"}
    for what in ("workspaces", "projects", "runs", "runs/queue", "tasks", "policies"):
        assert names(member, what) == [], what
    assert names(member, "teams") == ["owners"]
    for path in (f"workspaces/{workspace}", f"organizations/{api.organization}/workspaces/w", f"runs/{run}", f"workspaces/{workspace}/vars"):
        assert status(member, "GET", path) == 404, path
    assert status(member, "PATCH", f"organizations/{api.organization}", data("organizations", email="x@example.com")) == 404
    assert status(member, "POST", f"organizations/{api.organization}/workspaces", data("workspaces", name="mine")) == 404
    assert status(member, "GET", f"organizations/{api.organization}/organization-memberships") == 404


READ = {"can-read-run", "can-read-variable", "can-read-state-versions", "can-read-state-outputs", "can-read-settings"}
PLAN = READ | {"can-queue-run"}
WRITE = PLAN | {"can-queue-apply", "can-queue-destroy", "can-update-variable", "can-create-state-versions", "can-lock", "can-unlock"}
ADMIN = WRITE | {"can-update", "can-destroy", "can-force-unlock", "can-manage-tags", "can-manage-run-tasks"}


@pytest.mark.parametrize("level,expected", [("read", READ), ("plan", PLAN), ("write", WRITE), ("admin", ADMIN),
                                            ("custom", {"can-read-run", "can-read-settings"})])
def test_each_workspace_access_level_has_its_permissions(api, people, level, expected):
    workspace, hidden = api.workspace("w"), api.workspace("hidden")
    configuration = api.upload(workspace, MAIN)
    run = api.run(workspace, configuration)
    api.run(hidden, api.upload(hidden, MAIN))
    team = people.team("t")
    people.give(team, "workspace", workspace, level)
    member = people.member(f"level-{level}", team)
    assert permissions(member, f"workspaces/{workspace}") == expected
    assert names(member, "workspaces") == ["w"]
    listed = member.get(f"organizations/{api.organization}/workspaces").data[0]["attributes"]["permissions"]
    assert {name for name, allowed in listed.items() if allowed} == expected
    included = member.get(f"runs/{run}", include="workspace").json["included"][0]["attributes"]["permissions"]
    assert {name for name, allowed in included.items() if allowed} == expected
    assert [item["id"] for item in member.get(f"organizations/{api.organization}/runs").data] == [run]
    assert names(member, "projects") == ["Default Project"]
    assert status(member, "GET", f"workspaces/{hidden}") == 404
    applies = "can-queue-apply" in expected
    assert ("can-apply" in permissions(member, f"runs/{run}")) == applies
    relations = {"workspace": {"data": {"type": "workspaces", "id": workspace}}}
    created = member.call("POST", "runs", {"data": {"type": "runs", "attributes": {"auto-apply": True}, "relationships": relations}})
    assert created.status == (201 if "can-queue-run" in expected else 404)
    if created.status == 201:
        assert created.data["attributes"]["auto-apply"] == applies
    assert status(member, "POST", f"runs/{run}/actions/cancel", {}) == (202 if applies else 404)
    assert status(member, "POST", f"workspaces/{workspace}/actions/lock", {}) in ((200, 409) if "can-lock" in expected else (404,))
    assert status(member, "PATCH", f"workspaces/{workspace}", data("workspaces", description="d")) == (200 if "can-update" in expected else 404)
    assert status(member, "POST", f"workspaces/{workspace}/actions/force-unlock") in ((200, 409) if "can-force-unlock" in expected else (404,))
    assert status(member, "GET", f"workspaces/{workspace}/vars") == (200 if "can-read-variable" in expected else 404)
    body = data("vars", key="k", value="v", category="env")
    assert status(member, "POST", f"workspaces/{workspace}/vars", body) == (201 if "can-update-variable" in expected else 404)


def test_project_access_applies_to_its_workspaces(api, people):
    project = people.project("shared")
    relations = {"project": {"data": {"type": "projects", "id": project}}}

    def body(name, project_relations=relations):
        return {"data": {"type": "workspaces", "attributes": {"name": name}, "relationships": project_relations}}

    api.post(f"organizations/{api.organization}/workspaces", body("inside"))
    outside = api.workspace("outside")
    reader, maker = people.team("readers"), people.team("makers")
    people.give(reader, "project", project, "read")
    people.give(maker, "project", project, "maintain")
    r, m = people.member("reader", reader), people.member("maker", maker)
    workspaces = f"organizations/{api.organization}/workspaces"
    for client in (r, m):
        assert names(client, "workspaces") == ["inside"]
        assert names(client, "projects") == ["shared-project"]
        assert status(client, "GET", f"workspaces/{outside}") == 404
    assert status(r, "POST", workspaces, body("new")) == 404
    created = m.call("POST", workspaces, body("new"))
    assert created.status == 201
    assert status(m, "POST", workspaces, body("new2", {})) == 404  # in the default project
    assert "can-create-workspace" in permissions(m, f"projects/{project}")
    assert permissions(r, f"projects/{project}") == {"can-read"}
    elsewhere = {"data": {"type": "workspaces", "attributes": {}, "relationships": {
        "project": {"data": {"type": "projects", "id": api.get(f"workspaces/{outside}").data["relationships"]["project"]["data"]["id"]}}}}}
    assert status(m, "PATCH", f"workspaces/{created.data['id']}", elsewhere) == 404
    assert status(m, "PATCH", f"projects/{project}", data("projects", description="d")) == 404
    assert status(m, "DELETE", f"workspaces/{created.data['id']}") == 204


def test_includes_omit_resources_that_the_caller_cannot_read(api, people, database):
    workspace, hidden = api.workspace("w"), api.workspace("hidden")
    state = f"sv-included-{api.organization}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("insert into state_versions (id, workspace_id, serial, lineage, md5, size) values (%s, %s, 1, 'l', 'm', 0)", [state, workspace])
        connection.execute("insert into state_version_outputs values (%s, %s, 'o', false, 'string', '\"string\"', '')", [f"wsout-{state}", state])
        connection.execute("update workspaces set current_state_id = %s where id = %s", [state, workspace])
    team = people.team("t")
    people.give(team, "workspace", workspace, "custom")
    member = people.member("included", team)
    assert member.get(f"workspaces/{workspace}", include="outputs,current-state-version").json["included"] == []
    relations = {"workspaces": {"data": [{"type": "workspaces", "id": one} for one in (workspace, hidden)]}}
    body = {"data": {"type": "policy-sets", "attributes": {"name": "s", "kind": "opa"}, "relationships": relations}}
    path = f"policy-sets/{api.post(f'organizations/{api.organization}/policy-sets', body).data['id']}"
    assert {item["id"] for item in api.get(path, include="workspaces").json["included"]} == {workspace, hidden}
    assert [item["id"] for item in member.get(path, include="workspaces").json["included"]] == [workspace]


def test_lists_and_filters_do_not_reveal_hidden_objects(api, people):
    workspace, hidden = api.workspace("w"), api.workspace("hidden")
    org = f"organizations/{api.organization}"
    api.post(f"{org}/agent-pools", data("agent-pools", name="pool"))
    consumers = f"workspaces/{workspace}/relationships/remote-state-consumers"
    api.post(consumers, {"data": [{"type": "workspaces", "id": hidden}]})
    team = people.team("t")
    stranger = people.member("no-project")
    assert stranger.get(org, include="default-project").json["included"] == []
    assert [item["type"] for item in api.get(org, include="default-project").json["included"]] == ["projects"]
    people.give(team, "workspace", workspace, "read")
    member = people.member("hidden-from", team)

    def pools(**filters):
        return len(member.get(f"{org}/agent-pools", **{f"filter[{name}][name]": value for name, value in filters.items()}).data)

    assert pools(allowed_workspaces="w") == 1 and pools(allowed_projects="Default Project") == 1
    people.project("unseen")
    assert pools(allowed_workspaces="hidden") == 0 and pools(allowed_projects="unseen-project") == 0
    listed = member.get(consumers).json
    assert listed["data"] == [] and listed["meta"]["pagination"]["total-count"] == 0
    assert len(api.get(consumers).data) == 1


def test_team_managers_cannot_change_the_owners_or_secret_teams(api, people):
    manager = people.member("managing", people.team("managers", manage_teams=True))
    owners, secret = people.owners(), people.team("secret")
    body = data("teams", **{"allow-member-token-management": False, "sso-team-id": "mine"})
    assert status(manager, "PATCH", f"teams/{owners}", body) == 404
    assert "can-update-sso-team-id" not in permissions(manager, f"teams/{owners}")
    assert status(api, "PATCH", f"teams/{owners}", data("teams", **{"sso-team-id": "ours"})) == 200
    body = data("notification-configurations", name="n", enabled=False, **{"destination-type": "generic", "url": "http://127.0.0.1:9/"})
    notifications = "notification-configurations"
    created = api.post(f"teams/{secret}/{notifications}", body).data["id"]
    assert status(manager, "POST", f"teams/{secret}/{notifications}", body) == 404
    assert status(manager, "GET", f"teams/{secret}/{notifications}") == 404
    assert status(manager, "GET", f"{notifications}/{created}") == 404
    assert status(manager, "DELETE", f"{notifications}/{created}") == 404


def test_organization_access_applies_to_the_whole_organization(api, people):
    workspace = api.workspace("w")
    org = f"organizations/{api.organization}"
    m = people.member("manager", people.team("managers", manage_workspaces=True))
    assert permissions(m, f"workspaces/{workspace}") == ADMIN
    assert status(m, "POST", f"{org}/workspaces", data("workspaces", name="new")) == 201
    assert status(m, "POST", f"{org}/projects", data("projects", name="newproject")) == 404
    p = people.member("policies", people.team("policies", manage_policies=True))
    assert status(p, "POST", f"{org}/policies", data("policies", name="p", kind="opa", query="data.x")) == 201
    assert names(p, "workspaces") == ["new", "w"]
    assert status(p, "DELETE", f"workspaces/{workspace}") == 404
    t = people.member("teams", people.team("teams", manage_teams=True))
    created = t.call("POST", f"{org}/teams", data("teams", name="made"))
    assert created.status == 201 and created.data["attributes"]["visibility"] == "organization"
    assert status(t, "POST", f"{org}/teams", data("teams", name="dark", visibility="secret")) == 422
    body = {"data": {"type": "teams", "attributes": {"name": "grand", "organization-access": {"manage-projects": True}}}}
    assert status(t, "POST", f"{org}/teams", body) == 404
    owners = people.owners()
    assert status(t, "POST", f"teams/{owners}/relationships/users", {"data": [{"type": "users", "id": "teams"}]}) == 404
    assert "managers" not in names(t, "teams") and "teams" in names(t, "teams")
    s = people.member("seer", people.team("seers", access_secret_teams=True))
    assert {"managers", "teams", "policies"} <= set(names(s, "teams"))


def test_a_team_token_has_the_permissions_of_its_team(api, people):
    workspace = api.workspace("w")
    team = people.team("t")
    people.give(team, "workspace", workspace, "write")
    created = api.post(f"teams/{team}/authentication-token", {}).data["attributes"]["token"]
    client = Api(api.url, created, api.organization)
    assert permissions(client, f"workspaces/{workspace}") == WRITE
    assert client.get("account/details").data["attributes"]["is-service-account"] is True
    assert status(client, "POST", "organizations", data("organizations", name="mine", email="a@example.com")) == 404
    client.post(f"workspaces/{workspace}/actions/lock", {})
    shown = api.get(f"workspaces/{workspace}").data["relationships"]["locked-by"]["data"]
    assert shown == {"type": "teams", "id": team}
    refused = api.call("POST", f"workspaces/{workspace}/actions/unlock")
    assert refused.status == 409 and "is locked by Team" in refused.text
    client.post(f"workspaces/{workspace}/actions/unlock")
    assert names(client, "teams") == ["owners", "t"]
    api.delete(f"teams/{team}/authentication-token")
    assert status(client, "GET", f"workspaces/{workspace}") == 401


def test_team_tokens_are_managed_by_their_managers_only(api, people):
    team, other = people.team("t"), people.team("other")
    m = people.member("tokens", team)
    assert status(m, "POST", f"teams/{team}/authentication-token", {}) == 201
    assert status(m, "POST", f"teams/{other}/authentication-token", {}) == 404
    api.patch(f"teams/{team}", {"data": {"type": "teams", "attributes": {"allow-member-token-management": False}}})
    assert status(m, "POST", f"teams/{team}/authentication-token", {}) == 404
    body = data("authentication-tokens", description="ci")
    first = api.post(f"teams/{team}/authentication-tokens", body).data["id"]
    assert status(api, "POST", f"teams/{team}/authentication-tokens", body) == 422
    assert status(m, "GET", f"authentication-tokens/{first}") == 404
    assert api.get(f"authentication-tokens/{first}").data["relationships"]["team"]["data"]["id"] == team
    assert len(api.get(f"organizations/{api.organization}/team-tokens", sort="-team-name").data) == 2
    assert status(m, "GET", f"organizations/{api.organization}/team-tokens") == 404
    api.delete(f"authentication-tokens/{first}")


def test_disabled_user_tokens_cannot_manage_team_tokens(api, people):
    team = people.team("t")
    m = people.member("shut-out", team)
    kept = m.post(f"teams/{team}/authentication-tokens", data("authentication-tokens", description="kept")).data["id"]
    owners = Api(api.url, api.post(f"teams/{people.owners()}/authentication-token").data["attributes"]["token"], api.organization)
    owners.patch(f"organizations/{api.organization}", data("organizations", **{"user-tokens-enabled": False}))
    assert status(m, "POST", f"teams/{team}/authentication-token", {}) == 401
    assert status(m, "GET", f"authentication-tokens/{kept}") == 401


def test_members_of_hidden_secret_teams_cannot_be_removed(api, people):
    secret, seen = people.team("secret"), people.team("seen")
    api.patch(f"teams/{seen}", data("teams", visibility="organization"))
    remover = people.member("remover", people.team("removers", manage_membership=True))
    hidden, plain = people.member("in-secret", secret, seen), people.member("in-the-open", seen)
    assert status(remover, "DELETE", f"organization-memberships/{hidden.membership}") == 404
    assert status(remover, "DELETE", f"organization-memberships/{plain.membership}") == 204
    api.delete(f"teams/{secret}")
    assert status(remover, "DELETE", f"organization-memberships/{hidden.membership}") == 204


def test_a_task_example_shows_only_runs_that_the_caller_can_read(api, people, database):
    workspace = api.workspace("w")
    api.run(workspace, api.upload(workspace, MAIN))
    task = f"task-{api.organization}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("insert into tasks (id, organization_id, name, url) select %s, id, 't', 'http://example.com/' from organizations where name = %s", [task, api.organization])
    assert status(people.member("exampled"), "GET", f"tasks/{task}/example") == 404
    team = people.team("tasks", manage_run_tasks=True)
    manager = people.member("task-manager", team)
    path = f"tasks/{task}/example"
    assert manager.attributes(path)["payload"]["stage"] == "test"
    people.give(team, "workspace", workspace, "read")
    assert manager.attributes(path)["payload"]["workspace_id"] == workspace


def test_an_organization_token_manages_objects_but_cannot_run(api, people):
    workspace = api.workspace("w")
    configuration = api.upload(workspace, MAIN)
    run = api.run(workspace, configuration)
    path = f"organizations/{api.organization}/authentication-token"
    token = api.post(path, {}).data["attributes"]["token"]
    client = Api(api.url, token, api.organization)
    assert client.workspace("made")
    assert status(client, "POST", f"organizations/{api.organization}/teams", data("teams", name="made")) == 201
    relations = {"workspace": {"data": {"type": "workspaces", "id": workspace}}}
    assert status(client, "POST", "runs", {"data": {"type": "runs", "attributes": {}, "relationships": relations}}) == 404
    assert status(client, "POST", f"workspaces/{workspace}/configuration-versions", data("configuration-versions")) == 404
    for action in ("apply", "discard", "cancel"):
        assert status(client, "POST", f"runs/{run}/actions/{action}", {}) == 404
    assert client.get(f"runs/{run}").data["id"] == run
    assert api.get(path).data["attributes"]["token"] is None
    renewed = api.post(path, {}).data["attributes"]["token"]
    assert status(client, "GET", f"workspaces/{workspace}") == 401
    trail = Api(api.url, api.post(path + "?token=audit-trails", {}).data["attributes"]["token"], api.organization)
    assert status(trail, "GET", f"organizations/{api.organization}/audit-trail") == 200
    for denied in (f"organizations/{api.organization}", f"workspaces/{workspace}", path, f"organizations/{api.organization}/teams"):
        assert status(trail, "GET", denied) == 404, denied
    assert trail.get("organizations").data == []
    assert status(Api(api.url, renewed), "GET", f"workspaces/{workspace}") == 200
    assert status(api, "GET", path + "?token=other") == 400


def test_only_site_admins_read_feature_sets(api, people):
    assert api.get("admin/feature-sets", q="Business").data[0]["type"] == "feature-sets"
    body = {"data": {"type": "subscription", "relationships": {"feature-set": {"data": {"type": "feature-sets", "id": "fs-everything"}}}}}
    assert api.post(f"admin/organizations/{api.organization}/subscription", body).status == 201
    owner = people.member("boss", people.owners())
    assert status(owner, "GET", "admin/feature-sets") == 404
    assert permissions(owner, f"organizations/{api.organization}") >= {"can-destroy", "can-update", "can-create-team"}
    assert status(owner, "PATCH", f"organizations/{api.organization}", data("organizations", email="x@example.com")) == 200
