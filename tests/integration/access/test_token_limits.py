# SPDX-License-Identifier: MPL-2.0
"""How long tokens last, what scoped tokens may do, and their first use."""

import datetime
import uuid

import pytest

from support.api import Api
from support.browser import Browser
from support.documents import refused, refused_at
from support.wait import until

DAY = 86_400_000


@pytest.fixture
def person(api_site):
    """The owner of an organization of their own, who is not a site admin, with the user's id."""
    client = api_site.stranger()
    client.user = client.get("account/details").data["id"]
    return client


def settings(api, **attributes):
    attributes = {name.replace("_", "-"): value for name, value in attributes.items()}
    return api.patch(f"organizations/{api.organization}", {"data": {"type": "organizations", "attributes": attributes}})


def limit(api, **kinds):
    policies = [{"token-type": kind, "max-ttl-ms": ms} for kind, ms in kinds.items()]
    body = {"data": {"type": "organization-token-ttl-policies", "attributes": {"token-ttl-policies": policies}}}
    return {item["attributes"]["token-type"]: item["attributes"]["max-ttl-ms"] for item in api.patch(f"organizations/{api.organization}/token-ttl-policies", body).data}


def token_body(workspace=None, **attributes):
    attributes = {name.replace("_", "-"): value for name, value in attributes.items()}
    relations = {"workspace": {"data": {"type": "workspaces", "id": workspace}}} if workspace else {}
    return {"data": {"type": "authentication-tokens", "attributes": {"description": str(uuid.uuid4()), **attributes}, "relationships": relations}}


def new_token(person, workspace=None, **attributes):
    """A client with a further token of the person; `item` is the token's resource."""
    item = person.post(f"users/{person.user}/authentication-tokens", token_body(workspace, **attributes)).data
    client = Api(person.url, item["attributes"]["token"], person.organization)
    client.item = item
    return client


def left(item):
    """For how long the token is valid, in days."""
    expires = datetime.datetime.fromisoformat(item["attributes"]["expired-at"])
    return (expires - datetime.datetime.now(datetime.timezone.utc)).total_seconds() / 86_400


def age(api_site, id, days, column="created_at"):
    api_site.change(f"update tokens set {column} = now() - make_interval(days => %s) where id = %s", days, id)


# ---- the longest lifetime ----


def test_limits_act_when_tokens_are_made(person):
    base = f"organizations/{person.organization}"
    assert limit(person, team=30 * DAY, organization=DAY)["audit_trails"] == 63_113_904_000
    team = person.post(f"{base}/teams", {"data": {"type": "teams", "attributes": {"name": "scripts"}}}).data["id"]
    assert left(person.post(f"teams/{team}/authentication-tokens", token_body()).data) > 700  # the limits are not switched on
    settings(person, max_ttl_enabled=True)
    assert 29 < left(person.post(f"teams/{team}/authentication-tokens", token_body()).data) < 31
    answer = person.call("POST", f"teams/{team}/authentication-tokens", token_body(expired_at="2099-01-01T00:00:00Z"))
    assert "must not be later" in refused_at(answer, "/data/attributes/expired-at")
    assert left(person.post(f"{base}/authentication-token", token_body()).data) < 1.1
    assert left(person.post(f"{base}/authentication-token?token=audit-trails", token_body()).data) > 700
    limit(person, user=7 * DAY)
    assert 6 < left(new_token(person).item) < 8  # by default; a person may be in other organizations, too
    assert left(new_token(person, expired_at="2099-01-01T00:00:00Z").item) > 700


def test_limits_act_on_tokens_that_exist(person, api_site):
    base = f"organizations/{person.organization}"
    item = person.post(f"{base}/authentication-token", token_body()).data
    client = Api(person.url, item["attributes"]["token"], person.organization)
    settings(person, max_ttl_enabled=True)
    age(api_site, item["id"], 40)
    assert client.call("GET", base).status == 200
    limit(person, organization=30 * DAY)
    assert client.call("GET", base).status == 401
    assert left(person.get(f"{base}/authentication-token").data) < 0
    limit(person, organization=60 * DAY)
    assert client.call("GET", base).status == 200
    limit(person, organization=30 * DAY)
    settings(person, max_ttl_enabled=False)
    assert client.call("GET", base).status == 200


def test_an_old_token_of_a_person_does_not_open_the_organization(person, api_site):
    client = new_token(person)
    age(api_site, client.item["id"], 40)
    limit(person, user=30 * DAY)
    settings(person, max_ttl_enabled=True)
    answer = client.call("GET", f"organizations/{person.organization}")
    assert answer.status == 401 and "as old as this one" in answer.text
    assert client.call("GET", "account/details").status == 200
    assert new_token(person).call("GET", f"organizations/{person.organization}").status == 200


# ---- unused tokens ----


def unused(client, path, days):
    return {item["id"] for item in client.get(path, **{"filter[unused-days]": days, "page[size]": 100}).data}


def test_unused_tokens_are_listed(person, api_site):
    base = f"organizations/{person.organization}"
    old, new = new_token(person), new_token(person)
    age(api_site, old.item["id"], 40)
    assert unused(person, f"users/{person.user}/authentication-tokens", 30) == {old.item["id"]}
    assert new.item["id"] in unused(person, f"users/{person.user}/authentication-tokens", 0)
    team = person.post(f"{base}/teams", {"data": {"type": "teams", "attributes": {"name": "scripts"}}}).data["id"]
    item = person.post(f"teams/{team}/authentication-tokens", token_body()).data
    assert unused(person, f"{base}/team-tokens", 30) == set()
    age(api_site, item["id"], 40)
    assert unused(person, f"{base}/team-tokens", 30) == {item["id"]}
    refused(400, person.get, f"{base}/team-tokens", **{"filter[unused-days]": "many"})


def test_unused_tokens_are_deleted_and_audited(person, api_site):
    base = f"organizations/{person.organization}"
    team = person.post(f"{base}/teams", {"data": {"type": "teams", "attributes": {"name": "scripts"}}}).data["id"]
    old, used = (person.post(f"teams/{team}/authentication-tokens", token_body()).data for _ in range(2))
    own = new_token(person)
    for item in (old, used, own.item):
        age(api_site, item["id"], 40)
    assert Api(person.url, used["attributes"]["token"], person.organization).call("GET", base).status == 200
    settings(person, unused_token_days=30)

    def events():
        return [event["resource"]["id"] for event in person.get(f"{base}/audit-trail").data if event["resource"]["action"] == "expire_unused"]

    until(lambda: events() == [old["id"]], "the unused token is deleted")
    refused(404, person.get, f"authentication-tokens/{old['id']}")
    assert person.get(f"authentication-tokens/{used['id']}").data and person.get(f"authentication-tokens/{own.item['id']}").data  # the person's is the site's matter


# ---- scoped tokens ----


def test_a_token_that_only_reads(person):
    workspace = person.workspace("read")
    reader = new_token(person, read_only=True)
    assert reader.item["attributes"]["read-only"] is True and reader.item["attributes"]["token"].startswith("ry_scoped_")
    assert reader.get(f"workspaces/{workspace}").data["id"] == workspace
    answer = refused(403, reader.patch, f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {"description": "x"}}})
    assert "only reads" in answer.text
    refused(403, reader.post, f"users/{person.user}/authentication-tokens", token_body())
    refused(403, reader.delete, f"authentication-tokens/{reader.item['id']}")


def test_a_token_that_only_reads_sees_no_address_for_uploads(person):
    policy_set = person.post(f"organizations/{person.organization}/policy-sets", {"data": {"type": "policy-sets", "attributes": {"name": "set", "kind": "opa"}}}).data["id"]
    version = person.post(f"policy-sets/{policy_set}/versions").data
    assert "upload" in person.get(f"policy-set-versions/{version['id']}").data["links"]
    reader = new_token(person, read_only=True)
    assert "upload" not in reader.get(f"policy-set-versions/{version['id']}").data["links"]
    assert "upload" not in reader.get(f"policy-sets/{policy_set}", include="newest_version").json["included"][0]["links"]


def test_a_token_of_one_workspace(person):
    workspace, other = person.workspace("mine"), person.workspace("other")
    client = new_token(person, workspace)
    assert client.item["relationships"]["workspace"]["data"]["id"] == workspace
    base = f"organizations/{person.organization}"
    assert client.get(f"{base}/workspaces/mine").data["id"] == workspace
    client.patch(f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {"description": "mine"}}})
    run = client.run(workspace, client.upload(workspace, {"main.tf": ""}))
    assert client.get(f"runs/{run}", include="plan,configuration_version,created_by").data["id"] == run
    for path in (base, f"{base}/entitlement-set", f"{base}/capacity", "account/details"):
        assert client.get(path).data
    for path in (f"workspaces/{other}", f"{base}/workspaces/other", f"{base}/workspaces", f"{base}/runs", f"{base}/teams", "organizations", f"{base}/projects", f"workspaces/{workspace}/run-triggers",
                 f"users/{person.user}/authentication-tokens"):
        refused(404, client.get, path)
    refused(404, client.get, f"workspaces/{workspace}", include="project")
    refused(404, client.post, "runs", {"data": {"type": "runs", "relationships": {"workspace": {"data": {"type": "workspaces", "id": other}}}}})
    refused(404, client.post, f"users/{person.user}/authentication-tokens", token_body())
    person.delete(f"workspaces/{workspace}")
    assert client.call("GET", base).status == 401  # the token has gone with its workspace


def test_a_site_admins_token_of_one_workspace_administers_nothing(org, api_site):
    workspace = org.workspace("admin")
    org.user = org.get("account/details").data["id"]
    client = new_token(org, workspace)
    assert client.get(f"workspaces/{workspace}").data["id"] == workspace
    refused(404, client.get, "admin/organizations")
    refused(404, client.get, f"workspaces/{api_site.stranger().workspace('hidden')}")
    reader = new_token(org, read_only=True)
    assert reader.get("admin/organizations").data
    refused(403, reader.patch, "admin/general-settings", {"data": {"type": "general-settings", "attributes": {}}})


def test_a_workspace_that_one_does_not_see_is_no_scope(person, api_site):
    hidden = api_site.stranger().workspace("hidden")
    for id in (hidden, "ws-AAAAAAAAAAAAAAAA", "nonsense"):
        answer = person.call("POST", f"users/{person.user}/authentication-tokens", token_body(id))
        assert refused_at(answer, "/data/relationships/workspace") .endswith("Workspace must exist")


def test_a_scheduler_of_the_release_before_finds_no_scoped_token(person, api_site):
    """It looks for the digest of the text itself."""
    text = new_token(person, read_only=True).item["attributes"]["token"]
    assert api_site.ask("select count(*) from tokens where hash = encode(sha256(%s), 'hex')", text.encode()) == [(0,)]


def test_the_page_makes_scoped_tokens(person, api_site):
    workspace = person.workspace("page")
    api_site.change("update users set password_hash = (select password_hash from users where username = %s) where id = %s", api_site.tokens["user"], person.user)
    browser = Browser(person.url).sign_in(person.organization, api_site.tokens["password"])
    browser.send("/app/settings/tokens", description="scripts", days="30", workspace=workspace, **{"read-only": "yes"})
    assert browser.status == 201 and f"Only reads in {workspace}" in browser.text
    client = Api(person.url, browser.page.partition("<code>")[2].partition("</code>")[0], person.organization)
    assert client.get(f"workspaces/{workspace}").data["id"] == workspace
    refused(403, client.delete, f"workspaces/{workspace}")
    browser.send("/app/settings/tokens", description="scripts", days="30", workspace="ws-AAAAAAAAAAAAAAAA")
    assert browser.status == 422 and "no such workspace" in browser.text


# ---- the first use ----


def first_uses(api_site, id):
    return api_site.ask("select action, actor_name, organization_id is null, address from audit_events where token_id = %s and action = 'first_use'", id)


def test_the_first_use_of_a_token_is_an_event(person, api_site):
    client = new_token(person)
    assert first_uses(api_site, client.item["id"]) == []
    for _ in range(3):
        client.get("account/details")
    assert first_uses(api_site, client.item["id"]) == [("first_use", person.organization, True, "127.0.0.1")]
    item = person.post(f"organizations/{person.organization}/authentication-token", token_body()).data
    token = Api(person.url, item["attributes"]["token"], person.organization)
    token.get("organization/audit-trail")  # shows no use of its own
    assert first_uses(api_site, item["id"]) == []
    token.get(f"organizations/{person.organization}")
    ((_, _, of_site, _),) = first_uses(api_site, item["id"])
    assert not of_site and token.get("organization/audit-trail").data[0]["resource"]["action"] == "first_use"
