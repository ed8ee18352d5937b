# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Users and groups that an identity provider provisions at /scim/v2."""

import json
import uuid
from urllib.parse import quote

import pytest

from support import scim as idp
from support.api import Api
from support.scim import CORE, ENTERPRISE, Scim, operation


@pytest.fixture(scope="module")
def admin(api_site):
    return Api(api_site.scheduler.url, api_site.tokens["token"])


@pytest.fixture
def scim(api_site):
    return idp.enabled(api_site)


def account(api_site, user):
    """(username, email, is_suspended) of the SCIM user's account."""
    ((row),) = api_site.ask("select u.username, u.email, u.is_suspended from users u join scim_users s on s.user_id = u.id where s.id = %s", user["id"])
    return tuple(row)


# ---- users ----


def test_a_user_is_created_read_replaced_and_deleted(api_site, scim):
    name = f"Jane.{uuid.uuid4().hex[:8]}@Example.com"
    created = scim.user(name, externalId="ext-1", displayName="Jane", **{ENTERPRISE: {"department": "Ops"}})
    assert created["schemas"] == [f"{CORE}:User", ENTERPRISE] and created["active"] is True
    assert created["meta"]["resourceType"] == "User" and created["meta"]["location"].endswith(f"/scim/v2/Users/{created['id']}")
    username = account(api_site, created)[0]
    assert username == name.split("@")[0].replace(".", "-") and created["name"] == {"formatted": username}
    assert scim.ask("GET", f"Users/{created['id']}") == created
    replaced = scim.ask("PUT", f"Users/{created['id']}", {"userName": name, "emails": [{"value": "new@example.com"}], "name": {"givenName": "J"}})
    assert replaced["name"] == {"givenName": "J"} and replaced["externalId"] == "ext-1" and "displayName" not in replaced
    assert account(api_site, created) == (username, "new@example.com", False)
    scim.ask("DELETE", f"Users/{created['id']}", status=204)
    scim.refused("GET", f"Users/{created['id']}", None, 404)
    scim.refused("DELETE", f"Users/{created['id']}", None, 404)
    again = scim.user(name)
    assert again["id"] != created["id"] and account(api_site, again)[0] == username


def test_a_user_name_is_unique_in_any_case(api_site, scim, admin):
    user, other = scim.user(f"A{uuid.uuid4().hex[:8]}@example.com"), scim.user()
    taken = {"userName": user["userName"].upper(), "emails": [{"value": "a@example.com"}]}
    scim.refused("POST", "Users", taken, 409, "uniqueness")
    scim.refused("PUT", f"Users/{other['id']}", taken, 409, "uniqueness")
    scim.refused("PATCH", f"Users/{other['id']}", {"Operations": [operation("replace", taken["userName"], "userName")]}, 409, "uniqueness")
    scim.ask("PUT", f"Users/{user['id']}", taken)


def test_an_existing_account_is_never_taken_over(api_site, scim):
    local = f"local{uuid.uuid4().hex[:8]}"
    api_site.change("insert into users (id, username, email) values (%s, %s, %s)", f"user-{local}", local, f"{local}@example.com")
    scim.refused("POST", "Users", {"userName": local.upper(), "emails": [{"value": "x@example.com"}]}, 409, "uniqueness")
    provisioned = scim.user(f"{local}@example.com")  # the address of the local account, and a name that leads to the same username
    assert account(api_site, provisioned)[0] == f"{local}-2"
    scim.refused("PATCH", f"Users/{provisioned['id']}", {"Operations": [operation("replace", {"userName": local})]}, 409, "uniqueness")
    assert api_site.ask("select count(*) from scim_users where user_id = %s", f"user-{local}") == [(0,)]


INVALID_USERS = [
    ({"emails": [{"value": "a@example.com"}]}, "userName"), ({"userName": "", "emails": [{"value": "a@example.com"}]}, "userName"), ({"userName": 7, "emails": [{"value": "a@example.com"}]}, "userName"),
    ({"userName": "x" * 256, "emails": [{"value": "a@example.com"}]}, "userName"), ({"userName": "fine"}, "emails"), ({"userName": "fine", "emails": []}, "emails"),
    ({"userName": "fine", "emails": [{"value": "nobody"}]}, "emails"), ({"userName": "fine", "emails": "a b@c"}, "emails"), ({"userName": "fine", "active": "perhaps", "emails": [{"value": "a@example.com"}]}, "active"),
    ({"userName": "fine", "title": {"a": 1}, "emails": [{"value": "a@example.com"}]}, "title"),
    ({"userName": "fine", "title": "x" * 3000, "emails": [{"value": "a@example.com"}]}, "title"), ({"userName": "fine", "emails": [{"value": f"a{n}@example.com"} for n in range(101)]}, "emails"),
]


@pytest.mark.parametrize("body, field", INVALID_USERS)
def test_an_invalid_user_is_refused(scim, body, field):
    assert field in scim.refused("POST", "Users", body, 400, "invalidValue")


def test_unknown_attributes_and_passwords_are_ignored(api_site, scim):
    user = scim.user(password="secret-password", favouriteColor="green", groups=[{"value": "x"}], id="mine", meta={"created": "1970"})
    assert not {"password", "favouriteColor", "groups"} & set(user) and user["id"] != "mine"
    assert api_site.ask("select count(*) from scim_users where attributes::text like '%%secret-password%%'") == [(0,)]
    assert api_site.ask("select password_hash from users u join scim_users s on s.user_id = u.id where s.id = %s", user["id"]) == [(None,)]


def test_answers_have_the_attributes_that_are_asked_for(scim):
    user = scim.user(displayName="Jane", name={"givenName": "Jane", "familyName": "Doe"})
    path = f"Users/{user['id']}"
    assert set(scim.ask("GET", f"{path}?attributes=userName,name.givenName")) == {"schemas", "id", "userName", "name"}
    assert scim.ask("GET", f"{path}?attributes=NAME.GIVENNAME")["name"] == {"givenName": "Jane"}
    assert set(scim.ask("GET", f"{path}?attributes={CORE}:User:userName")) == {"schemas", "id", "userName"}
    left = scim.ask("GET", f"{path}?excludedAttributes=emails,name.familyName,id")
    assert "emails" not in left and left["name"] == {"givenName": "Jane"} and left["id"] == user["id"]


# ---- PATCH ----


def patched(scim, user, *operations):
    answer = scim.patch(f"Users/{user['id']}", *operations)
    assert scim.ask("GET", f"Users/{user['id']}") == answer
    return answer


def test_the_forms_of_a_patch(scim):
    user = scim.user()
    assert patched(scim, user, operation("Replace", "Jane", "displayName"))["displayName"] == "Jane"
    assert patched(scim, user, operation("Add", "Doe", "name.familyName"))["name"] == {"familyName": "Doe"}
    assert patched(scim, user, operation("add", {"name.givenName": "Jane", "TITLE": "Boss"}))["name"] == {"familyName": "Doe", "givenName": "Jane"}
    assert patched(scim, user, operation("add", {"name": {"middleName": "M"}}))["name"] == {"familyName": "Doe", "givenName": "Jane", "middleName": "M"}
    assert patched(scim, user, operation("replace", {"givenName": "J"}, "name"))["name"] == {"givenName": "J"}
    assert "name" not in patched(scim, user, operation("remove", path="name"))
    assert patched(scim, user, operation("replace", "Ops", f"{ENTERPRISE}:department"))[ENTERPRISE] == {"department": "Ops"}
    assert patched(scim, user, operation("add", {ENTERPRISE: {"costCenter": "7"}}))[ENTERPRISE] == {"department": "Ops", "costCenter": "7"}
    assert patched(scim, user, operation("add", "manager-1", f"{ENTERPRISE}:manager"))[ENTERPRISE]["manager"] == {"value": "manager-1"}
    assert ENTERPRISE not in patched(scim, user, operation("remove", path=ENTERPRISE))
    phone = patched(scim, user, operation("replace", "123", 'phoneNumbers[type eq "work"].value'))["phoneNumbers"]
    assert phone == [{"type": "work", "value": "123"}]
    phones = patched(scim, user, operation("add", [{"type": "home", "value": "9"}], "phoneNumbers"))["phoneNumbers"]
    assert phones == [{"type": "work", "value": "123"}, {"type": "home", "value": "9"}]
    assert patched(scim, user, operation("remove", path='phoneNumbers[type eq "work" and not (value eq "9")]'))["phoneNumbers"] == [{"type": "home", "value": "9"}]
    several = patched(scim, user, operation("replace", "a", "title"), operation("remove", path="displayName"), operation("replace", "new-ext", "externalId"))
    assert several["title"] == "a" and "displayName" not in several and several["externalId"] == "new-ext"
    assert "externalId" not in patched(scim, user, operation("remove", path="externalId"))


def test_required_attributes_are_not_removed(scim):
    user = scim.user()
    same = patched(scim, user, *(operation("remove", path=path) for path in ("userName", "emails", "active")))
    assert {**same, "meta": 0} == {**user, "meta": 0}


@pytest.mark.parametrize("value", [False, "False", "false"])
def test_a_user_is_deactivated_and_reactivated(api_site, scim, value):
    user = scim.user()
    assert patched(scim, user, operation("Replace", value, "active"))["active"] is False and account(api_site, user)[2] is True
    assert patched(scim, user, operation("replace", {"active": "True"}))["active"] is True
    assert account(api_site, user)[2] is False


INVALID_PATCHES = [
    ({}, "invalidSyntax"), ({"Operations": []}, "invalidSyntax"), ({"Operations": "x"}, "invalidSyntax"), ({"Operations": [7]}, "invalidSyntax"), ({"Operations": [operation("move", "x", "title")]}, "invalidSyntax"),
    ({"Operations": [operation("replace", "x", "title")] * 101}, "tooMany"), ({"Operations": [{"op": "replace", "path": "title"}]}, "invalidValue"), ({"Operations": [operation("replace", "x")]}, "invalidValue"),
    ({"Operations": [operation("remove")]}, "noTarget"), ({"Operations": [operation("replace", "x", "nonsense")]}, "invalidPath"), ({"Operations": [operation("replace", "x", "title[")]}, "invalidPath"),
    ({"Operations": [operation("replace", "x", 'title[value eq "x"]')]}, "invalidPath"), ({"Operations": [operation("replace", "x", "emails[type eq].value")]}, "invalidPath"),
    ({"Operations": [operation("replace", "x", "title.sub")]}, "invalidPath"), ({"Operations": [operation("replace", "x", f"{ENTERPRISE}:manager.displayName")]}, "mutability"),
    ({"Operations": [operation("replace", 7, "title")]}, "invalidValue"), ({"Operations": [operation("replace", "perhaps", "active")]}, "invalidValue"),
]


@pytest.mark.parametrize("body, kind", INVALID_PATCHES)
def test_an_invalid_patch_is_refused_and_changes_nothing(scim, body, kind):
    user = scim.user()
    if isinstance(body.get("Operations"), list) and body["Operations"] and isinstance(body["Operations"][0], dict) and len(body["Operations"]) == 1:
        body = {"Operations": [operation("replace", "changed", "displayName"), *body["Operations"]]}
    scim.refused("PATCH", f"Users/{user['id']}", body, 400, kind)
    assert scim.ask("GET", f"Users/{user['id']}") == user


# ---- lists ----


def ids(answer):
    return [resource["id"] for resource in answer["Resources"]]


def test_users_are_found_by_filters(scim):
    mark = uuid.uuid4().hex[:10]
    jane = scim.user(f"jane-{mark}@Example.com", externalId=f"E-{mark}", title="Boss", name={"familyName": f"Doe-{mark}"})
    john = scim.user(f"john-{mark}@example.com", active=False, phoneNumbers=[{"type": "work", "value": mark}, {"type": "home", "value": "0"}])
    both, filters = sorted([jane["id"], john["id"]]), {
        f'userName eq "JANE-{mark}@EXAMPLE.COM"': [jane], f'userName EQ "jane-{mark}"': [], f'externalId eq "E-{mark}"': [jane], f'externalId eq "e-{mark}"': [], f'id eq "{john["id"]}"': [john],
        f'userName sw "jane-{mark}"': [jane], f'userName co "{mark.upper()}"': [jane, john], f'userName co "{mark}" and userName ew "@example.com" and not (userName sw "jane")': [john],
        f'name.familyName eq "doe-{mark}"': [jane], f'phoneNumbers[value eq "{mark}"]': [john], f'phoneNumbers.value eq "{mark}"': [john], f'userName co "{mark}" and active eq false': [john],
        f'userName co "{mark}" and (title pr or active eq false)': [jane, john], f'userName co "{mark}" and title pr': [jane], f'userName co "{mark}" and title ne "boss"': [john],
        f'userName co "{mark}" and title eq null': [john], f'userName co "{mark}" and externalId ne "E-{mark}"': [john], f'emails eq "jane-{mark}@example.com"': [jane],
        f'userName co "{mark}" and meta.created gt "2020-01-01T00:00:00Z"': [jane, john], f'userName co "{mark}" and meta.created lt "2020-01-01T00:00:00Z"': [],
        f'not (userName co "{mark}" or not (externalId eq "E-{mark}"))': [], f'{CORE}:User:userName eq "jane-{mark}@example.com"': [jane],
    }
    for text, wanted in filters.items():
        found = scim.found("Users", filter=text)
        assert sorted(ids(found)) == sorted(one["id"] for one in wanted), text
        assert found["totalResults"] == len(wanted) == found["itemsPerPage"], text
    assert sorted(ids(scim.found("Users", filter=f'userName co "{mark}"'))) == both


BAD_FILTERS = [
    "userName", "userName eq", 'userName eq "x', "userName eq x", 'userName is "x"', '(userName eq "x"', 'userName eq "x")', 'userName eq "x" and', 'not userName eq "x"', 'emails[type eq "work"', 'emails[type eq "a" and value eq "b"]',
    'emails[a[b eq "c"]]', 'nonsense eq "x"', "userName eq {}", "userName eq [1]", 'userName eq "x" userName eq "y"', "(" * 50 + 'userName eq "x"' + ")" * 50, 'userName eq "x"' + ' or userName eq "x"' * 100, "x" * 5000, "a.b.c pr", "; drop table users",
    'urn:nonsense:a eq "x"', "and", "' or 1=1 --",
]


@pytest.mark.parametrize("text", BAD_FILTERS)
def test_a_filter_that_is_none_is_refused(scim, text):
    scim.refused("GET", f"Users?filter={quote(text)}", None, 400, "invalidFilter")


INJECTIONS = ["x' or '1'='1", "x\" or userName pr or \"", "%", "_", "x'; drop table scim_users; --", "$1", ":value", "{}", "\\u0027 or 1=1", "{\"a\":1}", "x\\\\", "\u00e4\u2028"]


@pytest.mark.parametrize("operator", ["eq", "co", "sw", "ew"])
def test_values_of_filters_are_only_values(scim, operator):
    """No value finds anybody, or changes what the filter means."""
    mark = uuid.uuid4().hex
    scim.user(f"{mark}@example.com")
    for value in INJECTIONS:
        found = scim.found("Users", filter=f'userName eq "{mark}@example.com" and userName {operator} {json.dumps(value)}')
        assert found["totalResults"] == 0, value
    assert scim.found("Users", filter=f'userName eq "{mark}@example.com"')["totalResults"] == 1


def test_lists_have_pages(scim):
    mark = uuid.uuid4().hex[:10]
    users = [scim.user(f"u{number}-{mark}@example.com")["id"] for number in range(5)]
    text = f'userName co "{mark}"'
    assert ids(scim.found("Users", filter=text)) == users
    page = scim.found("Users", filter=text, startIndex=2, count=2)
    assert ids(page) == users[1:3] and (page["totalResults"], page["startIndex"], page["itemsPerPage"]) == (5, 2, 2)
    assert scim.found("Users", filter=text, count=0)["totalResults"] == 5 and ids(scim.found("Users", filter=text, count=0)) == []
    assert ids(scim.found("Users", filter=text, startIndex=-3, count=1)) == users[:1] and ids(scim.found("Users", filter=text, startIndex=6)) == []
    assert ids(scim.found("Users", filter=text, count=-1)) == [] and len(ids(scim.found("Users", count=100000))) <= 200
    scim.refused("GET", "Users?count=x", None, 400, "invalidValue")


# ---- groups ----


def test_a_group_is_created_read_changed_and_deleted(scim):
    jane, john = scim.user(), scim.user()
    group = scim.group(jane["id"], externalId="ext")
    assert group["members"] == [{"value": jane["id"], "display": jane["userName"], "$ref": jane["meta"]["location"]}]
    path = f"Groups/{group['id']}"
    assert scim.ask("GET", path) == group and "members" not in scim.ask("GET", f"{path}?excludedAttributes=members")
    assert scim.found("Groups", filter=f'displayName eq "{group["displayName"].upper()}"', excludedAttributes="members")["Resources"][0]["id"] == group["id"]
    assert scim.found("Groups", filter=f'id eq "{group["id"]}" and members eq "{jane["id"]}"')["totalResults"] == 1
    assert scim.found("Groups", filter=f'id eq "{group["id"]}" and members eq "{john["id"]}"')["totalResults"] == 0
    scim.patch(path, operation("Add", [{"value": john["id"]}], "members"))
    assert scim.members(group["id"]) == sorted([jane["id"], john["id"]])
    scim.patch(path, operation("remove", path=f'members[value eq "{jane["id"]}"]'))
    scim.patch(path, operation("remove", path=f'members[value eq "{jane["id"]}"]'))
    assert scim.members(group["id"]) == [john["id"]]
    scim.patch(path, operation("Remove", [{"value": john["id"]}], "members"), operation("add", {"members": [{"value": jane["id"]}]}))
    assert scim.members(group["id"]) == [jane["id"]]
    renamed = scim.patch(path, operation("replace", {"displayName": f"new-{group['id']}", "members": [{"value": john["id"]}]}))
    assert renamed["displayName"] == f"new-{group['id']}" and scim.members(group["id"]) == [john["id"]] and renamed["externalId"] == "ext"
    assert scim.ask("PUT", path, {"displayName": "x" + group["id"]})["members"] == renamed["members"]
    assert scim.ask("PUT", path, {"members": []})["members"] == []
    scim.patch(path, operation("replace", [{"value": jane["id"]}, {"value": john["id"]}], "members"))
    scim.patch(path, operation("remove", path="members"))
    assert scim.members(group["id"]) == []
    for _ in range(2):
        scim.ask("DELETE", path, status=204)
    scim.refused("GET", path, None, 404)


def test_group_errors(scim):
    group, other = scim.group(), scim.group()
    unknown = str(uuid.uuid4())
    scim.refused("POST", "Groups", {"displayName": group["displayName"].upper()}, 409, "uniqueness")
    scim.refused("PATCH", f"Groups/{other['id']}", {"Operations": [operation("replace", group["displayName"], "displayName")]}, 409, "uniqueness")
    scim.refused("POST", "Groups", {"displayName": ""}, 400, "invalidValue")
    scim.refused("POST", "Groups", {"displayName": f"g-{unknown}", "members": [{"value": unknown}]}, 404)
    assert scim.found("Groups", filter=f'displayName eq "g-{unknown}"')["totalResults"] == 0
    scim.refused("PATCH", f"Groups/{group['id']}", {"Operations": [operation("add", [{"value": unknown}], "members")]}, 404)
    for bad, kind in (([{}], "invalidValue"), ([{"value": 7}], "invalidValue"), ([[]], "invalidValue")):
        scim.refused("PATCH", f"Groups/{group['id']}", {"Operations": [operation("add", bad, "members")]}, 400, kind)
    scim.refused("PATCH", f"Groups/{group['id']}", {"Operations": [operation("remove", path='members[value sw "x"]')]}, 400, "invalidFilter")
    scim.refused("PATCH", f"Groups/{group['id']}", {"Operations": [operation("replace", "x", "id")]}, 400, "mutability")


# ---- discovery, errors, tokens ----


def test_discovery(scim):
    configuration = scim.ask("GET", "ServiceProviderConfig")
    assert configuration["patch"]["supported"] and configuration["filter"] == {"supported": True, "maxResults": 200} and not configuration["bulk"]["supported"]
    schemas = scim.ask("GET", "Schemas")
    assert [schema["id"] for schema in schemas["Resources"]] == [f"{CORE}:User", ENTERPRISE, f"{CORE}:Group"]
    assert scim.ask("GET", f"Schemas/{CORE}:Group")["name"] == "Group"
    assert [one["endpoint"] for one in scim.ask("GET", "ResourceTypes")["Resources"]] == ["/Users", "/Groups"]
    assert scim.ask("GET", "ResourceTypes/User")["schema"] == f"{CORE}:User"
    for path in ("Schemas/nonsense", "ResourceTypes/Nonsense", "nonsense", "Users/nonsense", "Me"):
        scim.refused("GET", path, None, 404)
    for path in ("ServiceProviderConfig", "Schemas", "ResourceTypes"):
        scim.refused("POST", path, {}, 405)
    assert scim.call("POST", ".search", {}).status == 501


def test_bodies_have_a_limit(scim):
    body = json.dumps({"userName": "x" * (1 << 20)}).encode()
    scim.refused("POST", "Users", body, 413)
    scim.refused("POST", "Users", b"{", 400, "invalidSyntax")
    scim.refused("POST", "Users", b"[]", 400, "invalidSyntax")
    scim.refused("POST", "Users", b"", 400, "invalidValue")
    many = [{"value": str(uuid.uuid4())} for _ in range(15_000)]  # just below the limit
    scim.refused("POST", "Groups", {"displayName": "large", "members": many}, 404)
    scim.refused("POST", "Users", b'{"userName": ' + b"[" * 100_000, 400, "invalidSyntax")


def test_only_scim_tokens_of_this_site_are_accepted(api_site, scim, org, admin):
    for token in (None, "nonsense", "ry_scim_" + "x" * 43, org.token, api_site.tokens["agent-token"], api_site.tokens["notifier-token"]):
        for method, path in (("GET", "Users"), ("GET", "ServiceProviderConfig"), ("POST", "Users"), ("DELETE", "Groups/x")):
            Scim(org.url, token).refused(method, path, {} if method == "POST" else None, 401)
    for path in ("account/details", "organizations", "admin/users", "events?topics=site"):
        assert Api(org.url, scim.token).call("GET", path).status == 404
    expired = idp.enabled(api_site)
    assert expired.call("GET", "Users").status == 200
    api_site.change("update scim_tokens set expired_at = now() where hash = encode(sha256(%s), 'hex')", expired.token.encode())
    expired.refused("GET", "Users", None, 401)


def test_tokens_are_created_listed_and_revoked(scim, admin):
    created = admin.post("admin/scim-tokens", {"data": {"type": "authentication-tokens", "attributes": {"description": "okta"}}}).data
    assert created["attributes"]["token"].startswith("ry_scim_") and created["attributes"]["last-used-at"] is None
    used = Scim(admin.url, created["attributes"]["token"])
    used.ask("GET", "Users?count=1")
    path = f"admin/scim-tokens/{created['id']}"
    read = admin.get(path).data
    assert read["attributes"]["token"] is None and read["attributes"]["last-used-at"] and read["attributes"]["description"] == "okta"
    assert created["id"] in [one["id"] for one in admin.get("admin/scim-tokens").data]
    admin.delete(path)
    used.refused("GET", "Users", None, 401)
    assert admin.call("GET", path).status == 404
    other = admin.post("admin/scim-tokens", {"data": {"type": "authentication-tokens", "attributes": {"description": "entra"}}}).data["id"]
    assert admin.get(f"authentication-tokens/{other}").data["id"] == other
    admin.delete(f"authentication-tokens/{other}")
    for expiry, status in (("2100-01-01T00:00:00Z", 400), ("2000-01-01T00:00:00Z", 400), ("tomorrow", 400)):
        body = {"data": {"type": "authentication-tokens", "attributes": {"description": "x", "expired-at": expiry}}}
        assert admin.call("POST", "admin/scim-tokens", body).status == status


# ---- settings ----


def test_scim_is_enabled_paused_and_disabled(api_site, admin):
    scim = idp.enabled(api_site)
    user = scim.user()
    assert idp.settings(admin, paused=True) == {"enabled": True, "paused": True, "site-admin-group-scim-id": None, "site-admin-group-display-name": None, "identity-provider-id": "idp-scim",
                                                  "permissions": {"can-read": True, "can-update": True, "can-destroy": True}}
    for method, path in (("GET", "Users"), ("GET", f"Users/{user['id']}"), ("POST", "Groups")):
        assert "paused" in scim.refused(method, path, {} if method == "POST" else None, 403)
    scim.ask("GET", "ServiceProviderConfig")
    idp.settings(admin, paused=False)
    assert admin.call("PATCH", "admin/scim-settings", {"data": {"attributes": {"enabled": False}}}).status == 422
    assert admin.call("PATCH", "admin/scim-settings", {"data": {"attributes": {"site-admin-group-scim-id": "nonsense"}}}).status == 422
    account_id = api_site.ask("select user_id from scim_users where id = %s", user["id"])[0][0]
    assert admin.call("DELETE", "admin/scim-settings").data["attributes"]["enabled"] is False
    scim.refused("GET", "ServiceProviderConfig", None, 401)
    assert api_site.ask("select is_suspended from users where id = %s", account_id) == [(False,)]
    assert api_site.ask("select (select count(*) from scim_users) + (select count(*) from scim_groups) + (select count(*) from scim_tokens)") == [(0,)]
    assert "is-scim-managed" not in admin.get("account/details").data["attributes"]
    assert admin.call("DELETE", "admin/scim-settings").status == 200


def test_scim_needs_a_provider_to_sign_in_by(api_site, admin):
    admin.call("DELETE", "admin/scim-settings")
    api_site.change("delete from identity_providers")
    answer = admin.call("PATCH", "admin/scim-settings", {"data": {"attributes": {"enabled": True}}})
    assert answer.status == 422 and "sign in" in answer.errors()


def test_changes_are_in_the_audit_trail(api_site, scim, admin):
    user = scim.user()
    scim.patch(f"Users/{user['id']}", operation("replace", "Jane", "displayName"), operation("replace", "x", "title"))
    scim.ask("DELETE", f"Users/{user['id']}", status=204)
    events = api_site.ask("select action, actor_type, token_id is not null, attributes from audit_events where resource_type = 'scim_user' and resource_id = %s order by position", user["id"])
    assert [event[0] for event in events] == ["create", "update", "destroy"] and {event[1:3] for event in events} == {("scim", True)}
    assert sorted(events[1][3]) == ["displayName", "title"]
    assert api_site.ask("select count(*) from audit_events where attributes::text like '%%Jane%%' or details::text like '%%Jane%%'") == [(0,)]
