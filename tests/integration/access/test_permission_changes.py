# SPDX-License-Identifier: MPL-2.0
"""Changes of permissions apply to the very next request, on every replica."""

import psycopg
import pytest

from support.api import Api
from support.people import People
from support.shared import api, database, scheduler  # noqa: F401


@pytest.fixture(scope="module")
def replicas(api_site):
    """Two schedulers with one thread each."""
    started = [api_site.new_scheduler(f"replica-{number}", http_threads=1).start() for number in (1, 2)]
    yield [one.url for one in started]
    for one in started:
        one.release()


@pytest.fixture
def people(api, database):
    return People(api, database)


def sql(database, *statements):
    with psycopg.connect(database, autocommit=True) as connection:
        for statement in statements:
            connection.execute(*statement)


def statuses(replicas, token, path):
    """The status of each replica's answer."""
    return [Api(url, token).call("GET", path).status for url in replicas]


def assert_status_repeatedly(replicas, token, path, status):
    """Every replica answers with the status, several times."""
    for _ in range(3):
        assert statuses(replicas, token, path) == [status, status]


def team_body(**access):
    return {"data": {"type": "teams", "attributes": {"organization-access": {name.replace("_", "-"): value for name, value in access.items()}}}}


def remove_from_team(api, people, member, team):
    api.call("DELETE", f"teams/{team}/relationships/organization-memberships",
             {"data": [{"type": "organization-memberships", "id": member.membership}]})


def revoke_token(api, people, member, team):
    member.delete(f"authentication-tokens/{token_id(people, member)}")


def let_token_expire(api, people, member, team):
    sql(people.database, ["update tokens set expired_at = now() - interval '1 second' where id = %s", [token_id(people, member)]])


def suspend(api, people, member, team):
    api.post(f"admin/users/{member.get('account/details').data['id']}/actions/suspend")


def token_id(people, member):
    with psycopg.connect(people.database) as connection:
        return connection.execute("select id from tokens where hash = encode(sha256(%s), 'hex')", [member.token.encode()]).fetchone()[0]


REVOCATIONS = {
    "token revoked": (revoke_token, 401),
    "token expired": (let_token_expire, 401),
    "user suspended": (suspend, 401),
    "member removed from the team": (remove_from_team, 404),
    "team deleted": (lambda api, people, member, team: api.delete(f"teams/{team}"), 404),
    "team permission removed": (lambda api, people, member, team: api.patch(f"teams/{team}", team_body(read_workspaces=False)), 404),
    "membership deleted": (lambda api, people, member, team: api.delete(f"organization-memberships/{member.membership}"), 404),
    "user tokens disabled": (lambda api, people, member, team: Api(api.url, owners_token(api), api.organization).patch(
        f"organizations/{api.organization}", {"data": {"type": "organizations", "attributes": {"user-tokens-enabled": False}}}), 401),
}


def owners_token(api):
    team = api.get(f"organizations/{api.organization}/teams", **{"filter[names]": "owners"}).data[0]["id"]
    return api.post(f"teams/{team}/authentication-token", {"data": {"type": "authentication-tokens", "attributes": {}}}).data["attributes"]["token"]


@pytest.mark.parametrize("case", REVOCATIONS)
def test_revoked_access_ends_at_once(api, people, replicas, case):
    revoke, status = REVOCATIONS[case]
    team = people.team("readers", read_workspaces=True)
    member = people.member(f"m{list(REVOCATIONS).index(case)}", team)
    path = f"workspaces/{api.workspace()}"
    assert_status_repeatedly(replicas, member.token, path, 200)
    revoke(api, people, member, team)
    assert statuses(replicas, member.token, path) == [status, status]
    assert statuses(replicas, member.token, path) == [status, status]


def test_granted_access_applies_at_once(api, people, replicas, database):
    member = people.member("given")
    workspace = f"workspaces/{api.workspace()}"
    assert_status_repeatedly(replicas, member.token, workspace, 404)
    api.post(f"teams/{people.team('late', read_workspaces=True)}/relationships/organization-memberships",
             {"data": [{"type": "organization-memberships", "id": member.membership}]})
    assert statuses(replicas, member.token, workspace) == [200, 200]
    assert_status_repeatedly(replicas, member.token, "admin/audit-trail", 404)
    sql(database, ["update users set is_site_admin = true where username = 'given'"])
    assert statuses(replicas, member.token, "admin/audit-trail") == [200, 200]
    sql(database, ["update users set is_site_admin = false where username = 'given'"])
    assert statuses(replicas, member.token, "admin/audit-trail") == [404, 404]


def test_lists_follow_permission_changes_at_once(api, people, replicas):
    team = people.team("all", read_workspaces=True)
    member = people.member("lister", team)
    api.workspace("w")
    path = f"organizations/{api.organization}/workspaces"
    assert_status_repeatedly(replicas, member.token, path, 200)
    api.patch(f"teams/{team}", team_body(read_workspaces=False))
    for url in replicas:
        assert Api(url, member.token).get(path).data == []


def test_a_run_shows_the_permissions_of_the_request(api, people, replicas):
    """A scheduler sends the query of a run with the scope of the caller's last request, and repeats it if the scope has changed."""
    workspace = api.workspace()
    run = api.run(workspace, api.upload(workspace, {"main.tf": ""}))
    readers, owners = people.team("viewers", read_workspaces=True), people.owners()
    member = people.member("changing", readers)

    def can_apply():
        return [Api(url, member.token).attributes(f"runs/{run}")["permissions"]["can-apply"] for url in replicas]

    def belong(method, team):
        api.ask(method, f"teams/{team}/relationships/organization-memberships",
                {"data": [{"type": "organization-memberships", "id": member.membership}]})

    for _ in range(2):
        assert can_apply() == [False, False]
        belong("POST", owners)
        assert can_apply() == [True, True]
        assert can_apply() == [True, True]
        belong("DELETE", owners)
    belong("DELETE", readers)
    assert statuses(replicas, member.token, f"runs/{run}") == [404, 404]


def test_requests_that_read_no_table_still_need_a_valid_token(api, people, replicas):
    member = people.member("plain")
    path = f"runs/{'x' * 20}?include=nothing-there-is"
    assert_status_repeatedly(replicas, member.token, path, 400)
    revoke_token(api, people, member, None)
    assert statuses(replicas, member.token, path) == [401, 401]


def test_a_renamed_organizations_name_refers_to_its_new_owner(api, replicas, database):
    def create(name):
        api.post("organizations", {"data": {"type": "organizations", "attributes": {"name": name, "email": "o@example.com"}}})

    create("first")
    create("second")
    assert_status_repeatedly(replicas, api.token, "organizations/first/projects", 200)
    assert_status_repeatedly(replicas, api.token, "organizations/FIRST/projects", 200)
    api.patch("organizations/first", {"data": {"type": "organizations", "attributes": {"name": "former"}}})
    assert statuses(replicas, api.token, "organizations/first/projects") == [404, 404]
    api.patch("organizations/second", {"data": {"type": "organizations", "attributes": {"name": "first"}}})
    workspace = Api(api.url, api.token, "first").workspace("of-the-second")
    for url in replicas:
        assert [row["id"] for row in Api(url, api.token).get("organizations/first/workspaces").data] == [workspace]
        assert Api(url, api.token).get("organizations/former/workspaces").data == []
    api.delete("organizations/first")
    assert statuses(replicas, api.token, "organizations/first/workspaces") == [404, 404]
    create("first")
    for url in replicas:
        assert Api(url, api.token).get("organizations/first/workspaces").data == []
