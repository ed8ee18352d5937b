# SPDX-License-Identifier: MPL-2.0
# label: quick
"""The requests that Okta and Microsoft Entra ID send, as their documentation records them: "Okta and SCIM Version 2.0" (developer.okta.com), "Develop and
plan provisioning for a SCIM endpoint in Microsoft Entra ID" (learn.microsoft.com). Ids and names are those of this test."""

import uuid

import pytest

from support import scim as idp
from support.scim import CORE, ENTERPRISE, PATCH


@pytest.fixture
def scim(api_site):
    return idp.enabled(api_site)


@pytest.fixture
def mark():
    return uuid.uuid4().hex[:10]


def patch(*operations):
    return {"schemas": [PATCH], "Operations": list(operations)}


# ---- Okta ----


def okta_user(mark, **changed):
    return {"schemas": [f"{CORE}:User"], "userName": f"test.user.{mark}@okta.local", "name": {"givenName": "Test", "familyName": "User"},
            "emails": [{"primary": True, "value": f"test.user.{mark}@okta.local", "type": "work"}], "displayName": "Test User", "locale": "en-US", "externalId": f"00ujl29u0{mark}",
            "groups": [], "password": "1mz050nq", "active": True, **changed}


def test_okta_provisions_a_user(scim, mark):
    found = scim.found("Users", filter=f'userName eq "test.user.{mark}@okta.local"', startIndex=1, count=100)
    assert found["totalResults"] == 0 and found["Resources"] == []
    user = scim.ask("POST", "Users", okta_user(mark), 201)
    path = f"Users/{user['id']}"
    assert scim.ask("GET", path)["name"] == {"givenName": "Test", "familyName": "User"}
    # An update sends the whole user that was read.
    changed = {**scim.ask("GET", path), "name": {"givenName": "Another", "middleName": "Excited", "familyName": "User"}, "groups": []}
    assert scim.ask("PUT", path, changed)["name"]["givenName"] == "Another"
    assert scim.ask("PATCH", path, patch({"op": "replace", "value": {"active": False}}))["active"] is False
    assert scim.found("Users", filter=f'userName eq "test.user.{mark}@okta.local"')["Resources"][0]["active"] is False
    assert scim.ask("PATCH", path, patch({"op": "replace", "value": {"active": True}}))["active"] is True
    assert scim.ask("PUT", path, okta_user(mark, active=False))["active"] is False


def test_okta_pushes_a_group(scim, mark):
    first, second = (scim.ask("POST", "Users", okta_user(f"{mark}{number}"), 201) for number in (1, 2))
    assert scim.found("Groups", startIndex=1, count=100)["startIndex"] == 1
    group = scim.ask("POST", "Groups", {"schemas": [f"{CORE}:Group"], "displayName": f"Test SCIMv2 {mark}", "members": []}, 201)
    path = f"Groups/{group['id']}"
    renamed = scim.ask("PATCH", path, patch({"op": "replace", "value": {"id": group["id"], "displayName": f"Test SCIMv20 {mark}"}}))
    assert renamed["displayName"] == f"Test SCIMv20 {mark}"
    member = {"value": first["id"], "display": first["userName"]}
    scim.ask("PATCH", path, patch({"op": "add", "path": "members", "value": [member]}))
    scim.ask("PATCH", path, patch({"op": "remove", "path": f'members[value eq "{first["id"]}"]'}, {"op": "add", "path": "members", "value": [{"value": second["id"], "display": second["userName"]}]}))
    assert scim.members(group["id"]) == [second["id"]]
    both = [member, {"value": second["id"], "display": second["userName"]}]
    scim.ask("PATCH", path, patch({"op": "replace", "path": "members", "value": both}))
    assert scim.members(group["id"]) == sorted([first["id"], second["id"]])
    scim.ask("PUT", path, {"schemas": [f"{CORE}:Group"], "id": group["id"], "displayName": f"Test SCIMv2 {mark}", "members": [member]})
    assert scim.members(group["id"]) == [first["id"]]
    scim.ask("DELETE", path, status=204)


# ---- Microsoft Entra ID ----


def entra_user(mark):
    return {"schemas": [f"{CORE}:User", ENTERPRISE], "externalId": f"0a21f0f2-{mark}", "userName": f"Test_User_{mark}@testuser.com", "active": True,
            "emails": [{"primary": True, "type": "work", "value": f"Test_User_{mark}@testuser.com"}], "meta": {"resourceType": "User"},
            "name": {"formatted": "givenName familyName", "familyName": "familyName", "givenName": "givenName"}, "roles": []}


def test_entra_provisions_a_user(scim, mark):
    assert scim.found("Users", filter=f'userName eq "{uuid.uuid4()}"')["totalResults"] == 0  # the test of the connection
    user = scim.ask("POST", "Users", entra_user(mark), 201)
    path = f"Users/{user['id']}"
    assert scim.ask("GET", path)["userName"] == f"Test_User_{mark}@testuser.com"
    assert scim.found("Users", filter=f'userName eq "Test_User_{mark}@testuser.com"')["Resources"] == [user]
    assert scim.found("Users", filter=f'externalId eq "0a21f0f2-{mark}"')["totalResults"] == 1
    changed = scim.ask("PATCH", path, patch({"op": "Replace", "path": 'emails[type eq "work"].value', "value": f"updated{mark}@microsoft.com"}, {"op": "Replace", "path": "name.familyName", "value": "updatedFamilyName"}))
    assert changed["emails"][0]["value"] == f"updated{mark}@microsoft.com" and changed["name"]["familyName"] == "updatedFamilyName"
    renamed = scim.ask("PATCH", path, patch({"op": "Replace", "path": "userName", "value": f"5b50642d-{mark}@testuser.com"}))
    assert renamed["userName"] == f"5b50642d-{mark}@testuser.com"
    assert scim.ask("PATCH", path, patch({"op": "Replace", "path": "active", "value": "False"}))["active"] is False  # without the flag aadOptscim062020
    assert scim.found("Users", filter=f'userName eq "5b50642d-{mark}@testuser.com"')["Resources"][0]["active"] is False
    assert scim.ask("PATCH", path, patch({"op": "Replace", "path": "active", "value": True}))["active"] is True
    scim.ask("DELETE", path, status=204)


def test_entra_adds_attributes_by_dotted_paths(scim, mark):
    """The forms with and without the flag aadOptscim062020."""
    path = f"Users/{scim.ask('POST', 'Users', entra_user(mark), 201)['id']}"
    added = scim.ask("PATCH", path, patch({"op": "Add", "value": {
        "displayName": "Bjfe", "name.givenName": "Kyra", 'phoneNumbers[type eq "mobile"].value': "00 49", 'addresses[type eq "work"].locality': "Bonn", f"{ENTERPRISE}:department": "Sales", "unknown.attribute": "x"}}))
    assert (added["displayName"], added["name"]["givenName"], added["phoneNumbers"], added["addresses"]) == ("Bjfe", "Kyra", [{"type": "mobile", "value": "00 49"}], [{"type": "work", "locality": "Bonn"}])
    assert added[ENTERPRISE] == {"department": "Sales"}
    replaced = scim.ask("PATCH", path, patch({"op": "replace", "path": f"{ENTERPRISE}:manager", "value": "26118915"}, {"op": "add", "path": "roles", "value": [{"value": '{"id":"1","displayName":"Admin"}'}]},
                                            {"op": "add", "path": 'phoneNumbers[type eq "mobile"].value', "value": "00 1"}))
    assert replaced[ENTERPRISE]["manager"] == {"value": "26118915"} and len(replaced["roles"]) == 1 and replaced["phoneNumbers"] == [{"type": "mobile", "value": "00 1"}]
    removed = scim.ask("PATCH", path, patch({"op": "remove", "path": f"{ENTERPRISE}:manager"}, {"op": "Remove", "path": 'phoneNumbers[type eq "mobile"].value'}, {"op": "Remove", "path": 'addresses[type eq "work"]'}))
    assert removed[ENTERPRISE] == {"department": "Sales"} and "addresses" not in removed


def test_entra_provisions_a_group(scim, mark):
    first, second = (scim.ask("POST", "Users", entra_user(f"{mark}{number}"), 201)["id"] for number in (1, 2))
    body = {"schemas": [f"{CORE}:Group", "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"], "externalId": f"8aa1a0c0-{mark}", "displayName": f"displayName {mark}", "meta": {"resourceType": "Group"}}
    group = scim.ask("POST", "Groups", body, 201)
    path = f"Groups/{group['id']}"
    assert "members" not in scim.ask("GET", f"{path}?excludedAttributes=members")
    assert scim.found("Groups", excludedAttributes="members", filter=f'displayName eq "displayName {mark}"')["totalResults"] == 1
    assert scim.ask("PATCH", path, patch({"op": "Replace", "path": "displayName", "value": f"1879db59 {mark}"}))["displayName"] == f"1879db59 {mark}"
    scim.ask("PATCH", path, patch({"op": "Add", "path": "members", "value": [{"$ref": None, "value": first}]}, {"op": "Add", "path": "members", "value": [{"$ref": None, "value": second}]}))
    assert scim.found("Groups", excludedAttributes="members", filter=f'id eq "{group["id"]}" and members eq "{second}"')["totalResults"] == 1
    scim.ask("PATCH", path, patch({"op": "Remove", "path": "members", "value": [{"$ref": None, "value": first}]}))
    assert scim.members(group["id"]) == [second]
    scim.ask("DELETE", path, status=204)
