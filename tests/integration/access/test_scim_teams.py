# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Teams and site admins that follow the groups of an identity provider."""

import concurrent.futures
import uuid

import psycopg
import pytest

from support import scim as idp
from support.api import Api
from support.people import People
from support.scim import operation
from support.shared import api, database, scheduler  # noqa: F401
from support.wait import until


@pytest.fixture
def scim(api_site):
    return idp.enabled(api_site)


@pytest.fixture
def people(api, database):
    return People(api, database)


def mapping(api, method, team, **attributes):
    body = {"data": {"type": "scim-group-mappings", "attributes": {name.replace("_", "-"): value for name, value in attributes.items()}}}
    return api.call(method, f"admin/teams/{team}/scim-group-mapping", body if attributes else None)


def mapped(api, team, group):
    assert mapping(api, "POST", team, scim_group_id=group["id"]).status == 204


def account(api_site, user):
    return api_site.ask("select user_id from scim_users where id = %s", user["id"])[0][0]


def members(api_site, team):
    """{user: source} of the team's people."""
    return dict(api_site.ask("select m.user_id, m.source from team_members m join users u on u.id = m.user_id where m.team_id = %s and not u.is_service_account", team))


def memberships(api_site, api, user):
    return api_site.ask("""select m.source from organization_memberships m join organizations o on o.id = m.organization_id
                           where o.name = %s and m.user_id = %s""", api.organization, account(api_site, user))


def attributes(api, team):
    shown = api.attributes(f"teams/{team}")
    return shown["scim-linked"], shown["scim-group-name"], shown["scim-sync-paused"], bool(shown["scim-updated-at"])


def test_a_teams_members_follow_its_group_at_once(api_site, api, scim, people):
    team, jane, john = people.team(f"t{uuid.uuid4().hex[:8]}"), scim.user(), scim.user()
    manual = people.member(f"m{uuid.uuid4().hex[:8]}", team)
    assert attributes(api, team) == (False, None, False, False)
    group = scim.group(jane["id"])
    mapped(api, team, group)
    assert attributes(api, team) == (True, group["displayName"], False, True)
    assert not api.attributes(f"teams/{team}")["permissions"]["can-update-membership"]
    (listed,) = api.get("admin/scim-groups", q=group["displayName"]).data
    assert [(one["id"], one["organization"], one["paused"]) for one in listed["attributes"]["mapped-teams"]] == [(team, api.organization, False)]
    # The members of before are replaced; the organization keeps them.
    assert members(api_site, team) == {account(api_site, jane): "scim"} and manual.call("GET", f"organizations/{api.organization}").status == 200
    assert memberships(api_site, api, jane) == [("scim",)] and memberships(api_site, api, john) == []
    path = f"Groups/{group['id']}"
    scim.patch(path, operation("add", [{"value": john["id"]}], "members"))
    assert members(api_site, team) == {account(api_site, jane): "scim", account(api_site, john): "scim"}
    scim.patch(path, operation("remove", path=f'members[value eq "{jane["id"]}"]'))
    assert members(api_site, team) == {account(api_site, john): "scim"} and memberships(api_site, api, jane) == []
    scim.ask("PUT", path, {"displayName": group["displayName"], "members": [{"value": jane["id"]}]})
    assert members(api_site, team) == {account(api_site, jane): "scim"} and memberships(api_site, api, john) == []
    gone = account(api_site, jane)
    scim.ask("DELETE", f"Users/{jane['id']}", status=204)
    assert members(api_site, team) == {}
    events = api_site.ask("select action, details->>'user', actor_type from audit_events where resource_id = %s and details->>'source' = 'scim' order by position", team)
    assert [event[0] for event in events if event[1] == gone] == ["add_member", "remove_member", "add_member", "remove_member"]
    assert [event[2] for event in events] == ["user"] * 2 + ["scim"] * (len(events) - 2) and len(events) == 7  # the mapping, and the person that it replaced


def test_a_manual_membership_of_the_organization_stays(api_site, api, scim, people):
    team, jane = people.team(f"t{uuid.uuid4().hex[:8]}"), scim.user()
    api_site.change("insert into organization_memberships (id, organization_id, user_id) select %s, id, %s from organizations where name = %s", f"ou-{uuid.uuid4().hex[:16]}", account(api_site, jane), api.organization)
    group = scim.group(jane["id"])
    mapped(api, team, group)
    scim.ask("PUT", f"Groups/{group['id']}", {"members": []})
    assert members(api_site, team) == {} and memberships(api_site, api, jane) == [("manual",)]


def test_a_paused_mapping_applies_nothing_until_it_is_resumed(api_site, api, scim, people):
    team, jane, john = people.team(f"t{uuid.uuid4().hex[:8]}"), scim.user(), scim.user()
    group = scim.group(jane["id"])
    mapped(api, team, group)
    for _ in range(2):
        assert mapping(api, "PATCH", team, scim_sync_paused=True).status == 204
    scim.patch(f"Groups/{group['id']}", operation("replace", [{"value": john["id"]}], "members"))
    assert members(api_site, team) == {account(api_site, jane): "scim"} and scim.members(group["id"]) == [john["id"]]
    assert attributes(api, team)[2] is True
    assert mapping(api, "PATCH", team, scim_sync_paused=False).status == 204
    assert members(api_site, team) == {account(api_site, john): "scim"}
    assert mapping(api, "PATCH", team, scim_sync_paused="no").status == 422


def test_resuming_a_mapping_waits_for_a_change_of_its_group(api_site, api, scim, people):
    team, jane, john = people.team(f"t{uuid.uuid4().hex[:8]}"), scim.user(), scim.user()
    group = scim.group(jane["id"], john["id"])
    mapped(api, team, group)
    assert mapping(api, "PATCH", team, scim_sync_paused=True).status == 204
    with psycopg.connect(api_site.database) as change, concurrent.futures.ThreadPoolExecutor(1) as pool:
        # As a request that removes a member, which does not see that the mapping is resumed.
        change.execute("select 1 from scim_groups where id = %s for update", [group["id"]])
        change.execute("delete from scim_group_members where group_id = %s and scim_user_id = %s", [group["id"], jane["id"]])
        resumed = pool.submit(mapping, api, "PATCH", team, scim_sync_paused=False)
        waits = "select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"
        until(lambda: resumed.done() or api_site.ask(waits), "the request waits for the group")
        change.commit()
        assert resumed.result().status == 204
    assert members(api_site, team) == {account(api_site, john): "scim"}


def test_people_cannot_edit_a_mapped_team_by_hand(api_site, api, scim, people):
    team, jane = people.team(f"t{uuid.uuid4().hex[:8]}"), scim.user()
    other = people.member(f"m{uuid.uuid4().hex[:8]}")
    group = scim.group(jane["id"])
    mapped(api, team, group)
    linkage = {"data": [{"type": "organization-memberships", "id": other.membership}]}
    for method, path, body in (("POST", f"teams/{team}/relationships/organization-memberships", linkage), ("DELETE", f"teams/{team}/relationships/organization-memberships", linkage),
                               ("PATCH", f"teams/{team}", {"data": {"type": "teams", "attributes": {"name": "renamed"}}}), ("DELETE", f"teams/{team}", None)):
        answer = api.call(method, path, body)
        assert answer.status == 403 and group["displayName"] in answer.errors(), (method, path, answer.text)
    invitation = {"data": {"type": "organization-memberships", "attributes": {"email": f"{uuid.uuid4().hex}@example.com"}, "relationships": {"teams": {"data": [{"type": "teams", "id": team}]}}}}
    assert api.call("POST", f"organizations/{api.organization}/organization-memberships", invitation).status == 422
    changed = api.patch(f"teams/{team}", {"data": {"type": "teams", "attributes": {"visibility": "organization", "sso-team-id": "x", "organization-access": {"manage-policies": True}}}}).data["attributes"]
    assert changed["visibility"] == "organization" and changed["sso-team-id"] is None
    assert members(api_site, team) == {account(api_site, jane): "scim"}
    ((own,),) = api_site.ask("select id from organization_memberships where user_id = %s", account(api_site, jane))
    refused = api.call("DELETE", f"organization-memberships/{own}")
    assert refused.status == 403 and group["displayName"] in refused.errors()
    assert mapping(api, "DELETE", team).status == 204
    assert members(api_site, team) == {account(api_site, jane): "manual"} and memberships(api_site, api, jane) == [("manual",)]
    assert api.call("POST", f"teams/{team}/relationships/organization-memberships", linkage).status == 204


def test_mappings_that_are_refused(api, scim, people):
    team, group, other = people.team(f"t{uuid.uuid4().hex[:8]}"), scim.group(), scim.group()
    assert mapping(api, "POST", people.owners(), scim_group_id=group["id"]).status == 422
    assert mapping(api, "POST", team, scim_group_id=str(uuid.uuid4())).status == 404
    assert mapping(api, "POST", "team-nonsense", scim_group_id=group["id"]).status == 404
    assert mapping(api, "POST", team, scim_group_id="").status == 422
    for method, values in (("PATCH", {"scim_sync_paused": True}), ("DELETE", {})):
        assert mapping(api, method, team, **values).status == 409
    mapped(api, team, group)
    assert mapping(api, "POST", team, scim_group_id=other["id"]).errors() == "conflict: Team is already linked to a SCIM group"
    idp.settings(api, site_admin_group_scim_id=other["id"])
    assert "site admin group" in mapping(api, "POST", people.team(f"t{uuid.uuid4().hex[:8]}"), scim_group_id=other["id"]).errors()
    idp.settings(api, site_admin_group_scim_id=None)


def test_a_deleted_group_takes_its_people_out_of_teams(api_site, api, scim, people):
    team, jane = people.team(f"t{uuid.uuid4().hex[:8]}"), scim.user()
    group = scim.group(jane["id"])
    mapped(api, team, group)
    scim.ask("DELETE", f"Groups/{group['id']}", status=204)
    assert members(api_site, team) == {} and memberships(api_site, api, jane) == [] and attributes(api, team)[0] is False


def test_disabling_leaves_the_members(api_site, api, scim, people):
    team, jane = people.team(f"t{uuid.uuid4().hex[:8]}"), scim.user()
    mapped(api, team, scim.group(jane["id"]))
    user = account(api_site, jane)
    assert api.call("DELETE", "admin/scim-settings").status == 200
    assert members(api_site, team) == {user: "manual"} and "scim-linked" not in api.attributes(f"teams/{team}")


def admins(api_site, *users):
    return [bool(api_site.ask("select is_site_admin from users where id = %s", user)[0][0]) for user in users]


def test_the_site_admin_group(api_site, api, scim):
    jane, john = scim.user(), scim.user()
    first, second = account(api_site, jane), account(api_site, john)
    group = scim.group(jane["id"])
    assert idp.settings(api, site_admin_group_scim_id=group["id"])["site-admin-group-display-name"] == group["displayName"]
    assert admins(api_site, first, second) == [True, False]
    scim.patch(f"Groups/{group['id']}", operation("replace", [{"value": john["id"]}], "members"))
    assert admins(api_site, first, second) == [False, True]
    idp.settings(api, site_admin_group_scim_id=None)
    assert admins(api_site, first, second) == [False, False]
    # A site admin by hand stays a site admin.
    api_site.change("update users set is_site_admin = true where id = %s", first)
    idp.settings(api, site_admin_group_scim_id=group["id"])
    scim.patch(f"Groups/{group['id']}", operation("add", [{"value": jane["id"]}], "members"))
    scim.ask("PUT", f"Groups/{group['id']}", {"members": []})
    assert admins(api_site, first, second) == [True, False]
    scim.ask("PUT", f"Groups/{group['id']}", {"members": [{"value": john["id"]}]})
    scim.ask("DELETE", f"Users/{john['id']}", status=204)
    assert admins(api_site, second) == [False]
    assert api_site.ask("select action from audit_events where resource_id = %s and details->>'source' = 'scim' order by position", second) == [("grant_admin",), ("revoke_admin",)] * 3
    scim.ask("DELETE", f"Groups/{group['id']}", status=204)
    assert idp.settings(api)["site-admin-group-scim-id"] is None


def test_users_and_groups_are_listed_for_site_admins(api_site, api, scim):
    jane, group = scim.user(), scim.group()
    (listed,) = api.get("admin/scim-groups", q=group["displayName"].upper()).data
    assert (listed["id"], listed["attributes"]) == (group["id"], {"name": group["displayName"], "members-count": 0, "mapped-teams": []})
    assert api.get("admin/scim-groups", q="nonsense").data == []
    (user,) = api.get("admin/users", q=jane["userName"]).data
    assert user["attributes"]["is-scim-managed"] is True and user["attributes"]["scim-username"] == jane["userName"] and user["attributes"]["scim-updated-at"]
    own = Api(api.url, api.token).get("account/details").data["attributes"]
    assert own["is-scim-managed"] is False and own["scim-username"] is None
