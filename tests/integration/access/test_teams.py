# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Teams, members and their permissions: requests, refusals, and answers."""

import concurrent.futures
import json

import psycopg
import pytest

from support.api import Api
from support.people import People
from support.runyard import KEYS, Scheduler
from support.shared import api, database, scheduler  # noqa: F401


@pytest.fixture
def people(api, database):
    return People(api, database)


def refused(client, method, path, body=None):
    """The status and the pointer of a request that must fail."""
    answer = client.call(method, path, body)
    assert answer.status >= 400, answer.text
    return answer.status, (answer.json["errors"][0].get("source") or {}).get("pointer")


def team_body(**attributes):
    return {"data": {"type": "teams", "attributes": {name.replace("_", "-"): value for name, value in attributes.items()}}}


def test_a_team_reads_back_as_created_and_updated(api, people):
    created = api.post(f"organizations/{api.organization}/teams", team_body(name="network", organization_access={"manage-workspaces": True}, sso_team_id="x-1")).data
    assert created["attributes"]["visibility"] == "secret"
    access = created["attributes"]["organization-access"]
    assert access["manage-workspaces"] is True and access["manage-projects"] is False
    assert created == api.get(f"teams/{created['id']}").data
    listed = api.get(f"organizations/{api.organization}/teams").data
    assert [team["attributes"]["name"] for team in listed] == ["owners", "network"]
    assert created in listed
    changed = api.patch(f"teams/{created['id']}", team_body(visibility="organization", organization_access={"manage-policies": True})).data
    access = changed["attributes"]["organization-access"]
    assert access["manage-workspaces"] is True and access["manage-policies"] is True
    assert changed["attributes"]["sso-team-id"] == "x-1"
    api.delete(f"teams/{created['id']}")
    assert refused(api, "GET", f"teams/{created['id']}") == (404, None)


def test_invalid_teams_are_refused(api, people):
    path = f"organizations/{api.organization}/teams"
    api.post(path, team_body(name="taken"))
    assert refused(api, "POST", path, team_body(name="TAKEN")) == (422, "/data/attributes/name")
    assert refused(api, "POST", path, team_body()) == (422, "/data/attributes/name")
    assert refused(api, "POST", path, team_body(name=None)) == (422, "/data/attributes/name")
    assert refused(api, "POST", path, team_body(name="x" * 91)) == (422, "/data/attributes/name")
    assert refused(api, "POST", path, team_body(name="a", visibility="all")) == (422, "/data/attributes/visibility")
    assert refused(api, "POST", path, team_body(name="a", organization_access=3)) == (422, "/data/attributes/organization-access")
    pointer = "/data/attributes/organization-access/manage-policies"
    assert refused(api, "POST", path, team_body(name="a", organization_access={"manage-policies": "yes"})) == (422, pointer)
    assert refused(api, "POST", path, {}) == (400, None)
    owners = people.owners()
    assert refused(api, "DELETE", f"teams/{owners}") == (422, "/data")
    assert refused(api, "PATCH", f"teams/{owners}", team_body(name="bosses")) == (422, "/data/attributes/name")
    with concurrent.futures.ThreadPoolExecutor() as pool:
        statuses = sorted(answer.status for answer in pool.map(lambda _: api.call("POST", path, team_body(name="once")), range(4)))
    assert statuses == [201, 422, 422, 422]


def test_members_are_added_and_removed(api, people):
    team = people.team("network")
    anna = people.member("anna")
    people.user("stranger")
    body = {"data": [{"type": "users", "id": "anna"}]}
    api.post(f"teams/{team}/relationships/users", body)
    api.post(f"teams/{team}/relationships/users", body)
    shown = api.get(f"teams/{team}", include="users,organization-memberships").json
    assert shown["data"]["attributes"]["users-count"] == 1
    assert [item["attributes"].get("username") for item in shown["included"] if item["type"] == "users"] == ["anna"]
    assert [item["attributes"]["email"] for item in shown["included"] if item["type"] == "organization-memberships"] == ["anna@example.com"]
    assert refused(api, "POST", f"teams/{team}/relationships/users", {"data": [{"type": "users", "id": "stranger"}]}) == (422, "/data")
    assert refused(api, "POST", f"teams/{team}/relationships/users", {"data": [{"type": "users", "id": "nobody"}]}) == (422, "/data")
    assert refused(api, "POST", f"teams/{team}/relationships/friends", body) == (404, None)
    api.ask("DELETE", f"teams/{team}/relationships/organization-memberships", {"data": [{"type": "organization-memberships", "id": anna.membership}]})
    assert api.get(f"teams/{team}").data["attributes"]["users-count"] == 0


def test_an_invited_person_is_a_team_member_without_a_username(api, people):
    """tfe_team_members reads the team's usernames and removes them when it is destroyed: an empty list could not be
    removed."""
    team = people.team("with-invited")
    people.member("ines", team)
    body = {"data": {"type": "organization-memberships", "attributes": {"email": "soon-invited@example.com"}, "relationships": {"teams": {"data": [{"type": "teams", "id": team}]}}}}
    invited = api.post(f"organizations/{api.organization}/organization-memberships", body).data["id"]
    shown = api.get(f"teams/{team}", include="users,organization-memberships").json
    names = [item["attributes"]["username"] for item in shown["included"] if item["type"] == "users"]
    assert names == ["ines"] and shown["data"]["attributes"]["users-count"] == 1
    assert invited in {link["id"] for link in shown["data"]["relationships"]["organization-memberships"]["data"]}
    assert all(item["relationships"]["users"]["data"] == shown["data"]["relationships"]["users"]["data"]
               for item in api.get(f"organizations/{api.organization}/teams").data if item["id"] == team)
    api.ask("DELETE", f"teams/{team}/relationships/users", {"data": [{"type": "users", "id": name} for name in names]})
    shown = api.get(f"teams/{team}").data["relationships"]
    assert shown["users"]["data"] == [] and [link["id"] for link in shown["organization-memberships"]["data"]] == [invited]
    api.ask("DELETE", f"teams/{team}/relationships/organization-memberships", {"data": [{"type": "organization-memberships", "id": invited}]})
    assert api.get(f"teams/{team}").data["relationships"]["organization-memberships"]["data"] == []


def test_the_last_owner_cannot_be_removed(api, people):
    owners = people.owners()
    admin = {"data": [{"type": "users", "id": "admin"}]}
    memberships = api.get(f"organizations/{api.organization}/organization-memberships").data
    assert len(memberships) == 1
    assert refused(api, "DELETE", f"teams/{owners}/relationships/users", admin) == (422, "/data")
    assert refused(api, "DELETE", f"organization-memberships/{memberships[0]['id']}") == (422, "/data")
    people.member("berta", owners)
    api.delete(f"organization-memberships/{memberships[0]['id']}")


def test_members_are_invited_by_address(api, people, database):
    path = f"organizations/{api.organization}/organization-memberships"
    team = people.team("network")

    def body(email, teams=()):
        relations = {"teams": {"data": [{"type": "teams", "id": one} for one in teams]}} if teams else {}
        return {"data": {"type": "organization-memberships", "attributes": {"email": email}, "relationships": relations}}

    created = api.post(path, body("new@example.com", [team])).json
    assert created["data"]["attributes"]["status"] == "invited"
    assert created["included"][0]["attributes"]["email"] == "new@example.com"
    read = api.get(f"organization-memberships/{created['data']['id']}", include="user,teams").json
    assert read["data"] == created["data"]
    assert {item["type"] for item in read["included"]} == {"users", "teams"}
    people.member("here")
    assert refused(api, "POST", path, body("HERE@example.com")) == (422, "/data/attributes/email")
    assert refused(api, "POST", path, body("new@example.com")) == (422, "/data/attributes/email")
    assert refused(api, "POST", path, body("nonsense")) == (422, "/data/attributes/email")
    assert refused(api, "POST", path, body(None)) == (422, "/data/attributes/email")
    assert refused(api, "POST", path, body("x@example.com", ["team-other"])) == (422, "/data/relationships/teams")
    assert len(api.get(path).data) == 3
    assert [m["attributes"]["email"] for m in api.get(path, **{"filter[status]": "invited"}).data] == ["new@example.com"]
    assert [m["attributes"]["email"] for m in api.get(path, q="here").data] == ["here@example.com"]
    assert [m["attributes"]["email"] for m in api.get(path, **{"filter[email]": "new@example.com,none@example.com"}).data] == ["new@example.com"]
    added = Scheduler.run_command("add-user", "newcomer", "NEW@example.com", database_url=database, keys=KEYS)
    assert json.loads(added.stdout)["id"] == created["data"]["relationships"]["user"]["data"]["id"]
    joined = api.get(f"organization-memberships/{created['data']['id']}").data["attributes"]
    assert joined["status"] == "active" and joined["username"] == "newcomer"
    again = Scheduler.run_command("add-user", "newcomer", "other@example.com", check=False, database_url=database, keys=KEYS)
    assert again.returncode != 0 and "taken" in again.stderr
    assert api.get(f"users/{json.loads(added.stdout)['id']}").data["attributes"]["username"] == "newcomer"
    stranger = Api(api.url, people.user("outsider"))
    assert refused(stranger, "GET", f"users/{json.loads(added.stdout)['id']}") == (404, None)
    api.delete(f"organization-memberships/{created['data']['id']}")
    unused = api.post(path, body("gone@example.com")).data["id"]
    api.delete(f"organization-memberships/{unused}")
    with psycopg.connect(database) as connection:
        assert connection.execute("select count(*) from users where email = 'gone@example.com'").fetchone()[0] == 0


def access_body(kind, team, target, **attributes):
    relations = {"team": {"data": {"type": "teams", "id": team}}, kind: {"data": {"type": kind + "s", "id": target}}}
    return {"data": {"type": f"team-{kind}s", "attributes": {name.replace("_", "-"): value for name, value in attributes.items()}, "relationships": relations}}


def test_team_access_to_a_workspace_is_created_changed_and_deleted(api, people):
    team, workspace = people.team("network"), api.workspace("w")
    created = api.post("team-workspaces", access_body("workspace", team, workspace, access="write")).data
    assert created["attributes"]["runs"] == "apply" and created["attributes"]["workspace-locking"] is True
    assert created == api.get(f"team-workspaces/{created['id']}").data
    assert api.get("team-workspaces", **{"filter[workspace][id]": workspace}).data == [created]
    changed = api.patch(f"team-workspaces/{created['id']}", access_body("workspace", team, workspace, access="custom", runs="plan")).data
    assert changed["attributes"]["runs"] == "plan" and changed["attributes"]["variables"] == "write"
    pointer = "/data/attributes/"
    for attributes, at in (({"access": "read", "runs": "apply"}, "runs"), ({"access": "all"}, "access"), ({}, "access"), ({"access": 1}, "access"),
                           ({"access": "custom", "runs": "none"}, "runs"), ({"access": "custom", "run_tasks": 1}, "run-tasks")):
        assert refused(api, "POST", "team-workspaces", access_body("workspace", team, workspace, **attributes)) == (422, pointer + at), attributes
    team_pointer = "/data/relationships/team"
    assert refused(api, "POST", "team-workspaces", access_body("workspace", team, workspace, access="read")) == (422, team_pointer)
    assert refused(api, "POST", "team-workspaces", access_body("workspace", "team-none", workspace, access="read")) == (422, team_pointer)
    assert refused(api, "POST", "team-workspaces", access_body("workspace", people.owners(), workspace, access="read")) == (422, team_pointer)
    assert refused(api, "POST", "team-workspaces", access_body("workspace", team, "ws-none", access="read")) == (404, None)
    assert refused(api, "GET", "team-workspaces") == (400, None)
    api.delete(f"team-workspaces/{created['id']}")
    assert refused(api, "DELETE", f"team-workspaces/{created['id']}") == (404, None)


def test_team_access_to_a_project_is_created_and_changed(api, people):
    team, project = people.team("network"), people.project("p")
    created = api.post("team-projects", access_body("project", team, project, access="maintain")).data
    assert created["attributes"]["workspace-access"]["create"] is True
    assert created["attributes"]["project-access"] == {"settings": "read", "teams": "none", "variable-sets": "write"}
    assert created == api.get(f"team-projects/{created['id']}").data
    assert api.get("team-projects", **{"filter[project][id]": project}).data == [created]
    body = access_body("project", team, project, access="custom", project_access={"teams": "manage"}, workspace_access={"move": False})
    changed = api.patch(f"team-projects/{created['id']}", body).data["attributes"]
    assert changed["project-access"]["teams"] == "manage" and changed["workspace-access"]["move"] is False
    for attributes, at in (({"access": "plan"}, "access"), ({"access": "read", "workspace_access": {"runs": "plan"}}, "workspace-access/runs"),
                           ({"access": "custom", "project_access": {"teams": "all"}}, "project-access/teams"),
                           ({"access": "custom", "project_access": []}, "project-access")):
        assert refused(api, "POST", "team-projects", access_body("project", team, project, **attributes)) == (422, "/data/attributes/" + at), attributes
    assert refused(api, "POST", "team-projects", access_body("project", team, project, access="read")) == (422, "/data/relationships/team")


def test_teams_of_other_organizations_get_no_access(api, people):
    api.post("organizations", {"data": {"type": "organizations", "attributes": {"name": "other", "email": "o@example.com"}}})
    theirs = Api(api.url, api.token, "other")
    team = theirs.post("organizations/other/teams", team_body(name="theirs")).data["id"]
    body = access_body("workspace", team, api.workspace("w"), access="admin")
    assert refused(api, "POST", "team-workspaces", body) == (422, "/data/relationships/team")
    people.member("carla")
    assert refused(api, "POST", f"teams/{team}/relationships/users", {"data": [{"type": "users", "id": "carla"}]}) == (422, "/data")
    theirs.delete("organizations/other")


def test_lists_of_teams_are_paged_and_filtered(api, people):
    for n in range(25):
        people.team(f"t{n:02}")
    page = api.get(f"organizations/{api.organization}/teams", include="users").json
    assert len(page["data"]) == 20 and page["meta"]["pagination"]["total-count"] == 26
    assert [t["attributes"]["name"] for t in api.get(f"organizations/{api.organization}/teams", q="T1").data] == [f"t1{n}" for n in range(10)]
    assert len(api.get(f"organizations/{api.organization}/teams", **{"filter[names]": "t01,T02,nope"}).data) == 2
    assert refused(api, "GET", f"organizations/{api.organization}/teams?include=nothing") == (400, None)
