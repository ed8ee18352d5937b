# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Actions of site admins on users and runs of all organizations."""

import uuid

import pytest

from support.api import ApiError
from support.browser import Browser


@pytest.fixture
def person(api_site):
    """The owner of an organization of their own: a client, with the user's id."""
    client = api_site.stranger()
    client.user = client.get("account/details").data["id"]
    return client


def listed(org, **query):
    return {user["id"]: user for user in org.get("admin/users", **query).data}


def act(org, user, action):
    return org.post(f"admin/users/{user}/actions/{action}").data["attributes"]


# ---- users ----


def test_users_are_found_by_name_and_address(org, person):
    name = person.organization
    found = listed(org, q=name[:12].upper())
    assert found[person.user]["attributes"]["username"] == name and not found[person.user]["attributes"]["is-suspended"]
    assert list(listed(org, q=f"{name}@EXAMPLE.com")) == [person.user]
    assert listed(org, q=f"nobody-{uuid.uuid4()}") == {}
    assert org.get("admin/users", q=name).json["meta"]["pagination"]["total-count"] == 1
    beyond = org.get("admin/users", **{"page[number]": 999, "page[size]": 100})
    assert beyond.data == [] and beyond.json["meta"]["pagination"]["current-page"] == 999


def test_users_are_filtered_and_their_organizations_included(org, person):
    name = person.organization
    assert listed(org, q=name, **{"filter[admin]": "true"}) == {}
    assert list(listed(org, q=name, **{"filter[admin]": "false"})) == [person.user]
    assert listed(org, q=name, **{"filter[suspended]": "true"}) == {}
    answer = org.get("admin/users", q=name, include="organizations")
    assert answer.data[0]["relationships"]["organizations"]["data"] == [{"type": "organizations", "id": name}]
    assert [one["id"] for one in answer.json["included"]] == [name]
    for query, status in [({"filter[admin]": "perhaps"}, 400), ({"include": "teams"}, 400)]:
        with pytest.raises(ApiError) as refused:
            org.get("admin/users", **query)
        assert refused.value.status == status


def test_a_suspended_user_has_no_access_until_unsuspended(api_site, org):
    created = api_site.bootstrap(name := f"u-{uuid.uuid4().hex[:12]}", name)
    person = type(org)(org.url, created["token"], name)
    user = person.get("account/details").data["id"]
    browser = Browser(org.url, address="10.1.2.3").sign_in(name, created["password"])
    assert "New token" in browser.ask("/app/settings/tokens").text
    assert act(org, user, "suspend")["is-suspended"]
    assert person.call("GET", "account/details").status == 401
    assert "New token" not in browser.ask("/app/settings/tokens").text
    second_browser = Browser(org.url, address="10.1.2.4").sign_in(name, created["password"])
    assert "New token" not in second_browser.ask("/app/settings/tokens").text
    assert list(listed(org, q=name, **{"filter[suspended]": "true"})) == [user]
    assert not act(org, user, "unsuspend")["is-suspended"]
    assert person.call("GET", "account/details").status == 401  # their tokens have ended
    browser = Browser(org.url, address="10.1.2.5").sign_in(name, created["password"])
    assert "New token" in browser.ask("/app/settings/tokens").text


def test_site_admin_rights_are_granted_and_revoked(org, person):
    assert person.call("GET", "admin/users").status == 404
    assert act(org, person.user, "grant_admin")["is-admin"]
    assert person.call("GET", "admin/users").status == 200
    assert not act(org, person.user, "revoke_admin")["is-admin"]
    assert person.call("GET", "admin/users").status == 404


def test_site_admins_cannot_suspend_demote_or_delete_themselves(org):
    own = org.get("account/details").data["id"]
    for method, path in [("POST", "actions/suspend"), ("POST", "actions/revoke_admin"), ("DELETE", "")]:
        assert org.call(method, f"admin/users/{own}/{path}".rstrip("/")).status == 422


def test_disabling_two_factor_is_refused_without_any(org, person):
    assert org.call("POST", f"admin/users/{person.user}/actions/disable_two_factor").status == 400


def test_a_user_is_deleted_unless_last_owner_of_an_organization(api_site, org, person):
    refused = org.call("DELETE", f"admin/users/{person.user}")
    assert refused.status == 422 and "last owner" in refused.text
    assert person.get("account/details").data["id"] == person.user
    org.delete(f"organizations/{person.organization}")
    org.delete(f"admin/users/{person.user}")
    assert person.call("GET", "account/details").status == 401
    assert listed(org, q=person.organization) == {}
    for unknown in (person.user, "nobody", "user-aaaaaaaaaaaaaaaa"):
        assert org.call("DELETE", f"admin/users/{unknown}").status == 404
        assert org.call("POST", f"admin/users/{unknown}/actions/suspend").status == 404


def test_an_invited_person_is_deleted_with_the_invitation(org):
    email = f"{uuid.uuid4().hex}@example.com"
    membership = org.post(f"organizations/{org.organization}/organization-memberships", {"data": {"type": "organization-memberships", "attributes": {"email": email}}}).data
    (user,) = listed(org, q=email)
    org.delete(f"admin/users/{user}")
    assert org.call("GET", f"organization-memberships/{membership['id']}").status == 404


def test_service_accounts_of_teams_are_not_users_here(api_site, org):
    (service,) = api_site.ask("select u.id from users u join teams t on t.user_id = u.id join organizations o on o.id = t.organization_id where o.name = %s limit 1", org.organization)
    assert service[0] not in listed(org, **{"page[size]": 100})
    for method, path in [("GET", ""), ("DELETE", ""), ("POST", "/actions/suspend"), ("POST", "/actions/grant_admin")]:
        assert org.call(method, f"admin/users/{service[0]}{path}").status == 404


# ---- runs ----


@pytest.fixture
def runs(org):
    """Two runs of one workspace: the first is current, the second waits."""
    workspace = org.workspace()
    return [org.run_files(workspace, {"main.tf": ""}) for _ in range(2)]


def ids(org, **query):
    return [run["id"] for run in org.get("admin/runs", **query).data]


def test_runs_of_all_organizations_are_listed_newest_first(api_site, org, runs):
    first, second = runs
    assert ids(org)[:2] == [second, first]
    assert first in ids(org, q=org.organization) and first not in ids(api_site.organization(), q=f"nobody-{uuid.uuid4()}")
    assert ids(org, q=first) == [first]
    assert second in ids(org, **{"filter[status]": "pending,applied"}) and first not in ids(org, **{"filter[status]": "pending"})
    assert ids(org, **{"page[number]": 999}) == []
    assert ids(org, **{"page[size]": 1}) == [second] and ids(org, **{"page[size]": 1, "page[number]": 2}) == [first]
    answer = org.get("admin/runs", q=first, include="workspace,workspace.organization")
    assert {(one["type"]) for one in answer.json["included"]} == {"workspaces", "organizations"}
    assert ids(org, **{"filter[from]": "2100-01-01T00:00:00Z"}) == []
    assert org.call("GET", "admin/runs?filter[from]=yesterday").status == 400


def test_site_admins_force_cancel_runs_at_once(api_site, org, runs):
    first, second = runs
    fake_worker = api_site.fake_worker()
    org.wait_status(first, {"plan_queued"})
    job = fake_worker.take(first, "plan")
    assert org.call("POST", f"admin/runs/{second}/actions/force-cancel", {"comment": "not this one"}).status == 202
    assert org.status(second) == "canceled"
    assert org.call("POST", f"admin/runs/{first}/actions/force-cancel", {}).status == 202
    assert [entry["stop"] for entry in fake_worker.heartbeat(job)] == ["force"]
    assert org.call("POST", f"admin/runs/{second}/actions/force-cancel", {}).status == 409
    for unknown in ("nonexisting", "run-aaaaaaaaaaaaaaaa"):
        assert org.call("POST", f"admin/runs/{unknown}/actions/force-cancel", {}).status == 404
