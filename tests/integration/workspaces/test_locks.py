# SPDX-License-Identifier: MPL-2.0
# label: quick
"""What pages show of a workspace's lock, of comments and of permissions."""

from support.people import People


def test_a_lock_has_its_time_while_a_person_holds_it(org, contract):
    workspace = org.workspace()
    assert org.attributes(f"workspaces/{workspace}")["locked-at"] is None
    org.post(f"workspaces/{workspace}/actions/lock", {"reason": "by hand"})
    shown = org.attributes(f"workspaces/{workspace}")
    assert (shown["locked"], shown["locked-reason"]) == (True, "by hand") and shown["locked-at"] >= shown["created-at"]
    org.post(f"workspaces/{workspace}/actions/unlock")
    assert org.attributes(f"workspaces/{workspace}")["locked-at"] is None


def test_comments_include_their_authors(org, contract):
    run = org.run_files(org.workspace(), {"main.tf": ""})
    org.post(f"runs/{run}/comments", {"data": {"type": "comments", "attributes": {"body": "fine"}}})
    answer = org.get(f"runs/{run}/comments", include="user")
    (user,) = answer.json["included"]
    assert answer.data[0]["relationships"]["user"]["data"] == {"type": "users", "id": user["id"]}
    assert "included" not in org.get(f"runs/{run}/comments").json


def test_an_organization_shows_which_settings_its_reader_may_change(api_site, org, contract):
    names = ("can-manage-agent-pools", "can-manage-memberships", "can-manage-varsets", "can-read-audit-trail")

    def permissions(client):
        shown = client.attributes(f"organizations/{org.organization}")["permissions"]
        return [shown[name] for name in names]

    assert permissions(org) == [True] * 4
    assert permissions(People(org, api_site.database).member("reads-only")) == [False] * 4
