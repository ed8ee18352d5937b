# SPDX-License-Identifier: MPL-2.0
"""Invitations into organizations: their data about the invited person, acceptance, and its effects."""

import concurrent.futures
import json
import re
import urllib.parse

import psycopg
import pytest

from support.api import Api
from support.browser import Browser
from support.mail_server import MailServer
from support.people import People
from support.runyard import KEYS, Notifier, Scheduler
from support.wait import until


@pytest.fixture
def people(org, api_site):
    return People(org, api_site.database)


@pytest.fixture
def person(api_site):
    """person() creates a user without an organization. Returns a client with the token, name, address and password."""

    def create_user(address=None):
        name = f"p-{next(People.ids)}-{user_count(api_site)}"
        address = address or f"{name}@Example.com"
        created = json.loads(Scheduler.run_command("add-user", name, address, database_url=api_site.database, keys=KEYS).stdout)
        client = Api(api_site.scheduler.url, People(None, api_site.database).token(created["id"]))
        client.name, client.email, client.id, client.password = name, address, created["id"], created["password"]
        return client

    return create_user


def user_count(api_site):
    return api_site.ask("select count(*) from users")[0][0]


def invitation(address, teams=()):
    relations = {"teams": {"data": [{"type": "teams", "id": team} for team in teams]}} if teams else {}
    return {"data": {"type": "organization-memberships", "attributes": {"email": address}, "relationships": relations}}


def invite(org, address, teams=()):
    return org.post(f"organizations/{org.organization}/organization-memberships", invitation(address, teams)).json


def invitations(client):
    return client.get("account/invitations").data


def accept(client, id):
    return client.call("POST", f"account/invitations/{id}/actions/accept")


def status_of(org, id):
    return org.get(f"organization-memberships/{id}").data["attributes"]["status"]


def without_ids(text):
    return re.sub(r"(ou|user)-\w+|\d{4}-\d\d-\d\dT[\d:.]+Z", "-", text)


# ---- data of an invitation ----


def test_an_invitation_reveals_nothing_about_the_invited_person(org, person, api_site):
    invitee, admin, unknown = person(), person(), "p-none@example.com"
    api_site.change("update users set is_site_admin = true where id = %s", admin.id)
    path = f"organizations/{org.organization}/organization-memberships"
    shown = []
    for address in (invitee.email, admin.email, unknown):
        created = org.call("POST", path, invitation(address))
        id, user = created.data["id"], created.data["relationships"]["user"]["data"]["id"]
        assert user not in (invitee.id, admin.id)
        answers = [created, org.call("GET", f"organization-memberships/{id}?include=user,teams"), org.call("GET", f"users/{user}"),
                   org.call("GET", f"{path}?include=user&filter[email]={urllib.parse.quote(address)}"), org.call("GET", f"{path}?q={urllib.parse.quote(address)}")]
        shown.append([(answer.status, without_ids(urllib.parse.unquote(answer.text)).lower().replace(address.lower(), "ADDRESS")) for answer in answers])
        assert created.data["attributes"]["status"] == "invited" and created.data["attributes"]["email"] == address
        assert created.data["attributes"]["username"] is None and created.json["included"][0]["attributes"]["is-site-admin"] is False
    assert shown[0] == shown[1] == shown[2]


def test_other_routes_do_not_resolve_an_invited_person(org, people, person):
    invitee = person()
    team = people.team("network", manage_workspaces=True)
    id = invite(org, invitee.email)["data"]["id"]
    for relation, name in (("users", invitee.name), ("users", invitee.id), ("users", invitee.email)):
        answer = org.call("POST", f"teams/{team}/relationships/{relation}", {"data": [{"type": relation, "id": name}]})
        assert answer.status == 422, answer.text
    body = {"data": [{"type": "organization-memberships", "id": id}]}
    org.post(f"teams/{team}/relationships/organization-memberships", body)
    shown = org.get(f"teams/{team}", include="users,organization-memberships").json
    assert invitee.id not in json.dumps(shown)
    assert {item["attributes"]["username"] for item in shown["included"]} == {None}
    workspace = org.workspace("w")
    document = {"data": {"type": "notification-configurations", "attributes": {
        "name": "n", "enabled": True, "destination-type": "email", "triggers": []}, "relationships": {"users": {"data": [{"type": "users", "id": invitee.id}]}}}}
    assert org.call("POST", f"workspaces/{workspace}/notification-configurations", document).status == 422
    assert org.call("GET", f"users/{invitee.id}").status == (200 if org.get("account/details").data["attributes"]["is-site-admin"] else 404)
    assert invitee.get("organizations").data == []
    assert invitee.call("GET", f"organizations/{org.organization}").status == 404
    assert invitee.call("GET", f"workspaces/{workspace}").status == 404


def test_the_audit_trail_does_not_identify_a_person_who_declines(org, person):
    invitee = person()
    id = invite(org, invitee.email)["data"]["id"]
    assert invitee.call("DELETE", f"account/invitations/{id}").status == 204
    trail = org.get(f"organizations/{org.organization}/audit-trail").text
    assert f'"{invitee.name}"' not in trail and invitee.id not in trail
    assert org.call("GET", f"organization-memberships/{id}").status == 404


# ---- accepting ----


def test_permissions_start_when_the_invitation_is_accepted(org, people, person):
    invitee = person()
    team = people.team("network", manage_workspaces=True)
    id = invite(org, invitee.email.upper(), [team])["data"]["id"]
    (found,) = invitations(invitee)
    assert found["id"] == id and found["relationships"]["organization"]["data"]["id"] == org.organization
    assert invitee.call("GET", f"organizations/{org.organization}").status == 404
    assert accept(invitee, id).status == 204
    read = org.get(f"organization-memberships/{id}", include="user").json
    assert read["data"]["attributes"]["status"] == "active" and read["data"]["attributes"]["username"] == invitee.name
    assert read["data"]["relationships"]["user"]["data"]["id"] == invitee.id
    assert [one["id"] for one in read["data"]["relationships"]["teams"]["data"]] == [team]
    body = {"data": {"type": "workspaces", "attributes": {"name": "theirs"}}}
    assert invitee.call("POST", f"organizations/{org.organization}/workspaces", body).status == 201
    assert invitations(invitee) == [] and accept(invitee, id).status == 404
    trail = org.get(f"organizations/{org.organization}/audit-trail").text
    assert '"accept"' in trail and invitee.name in trail


def test_an_invitation_is_accepted_once(org, person):
    invitee = person()
    id = invite(org, invitee.email)["data"]["id"]
    with concurrent.futures.ThreadPoolExecutor() as pool:
        statuses = sorted(answer.status for answer in pool.map(lambda _: accept(invitee, id), range(6)))
    assert statuses == [204] + [404] * 5


def test_only_the_invited_person_can_accept_or_decline(org, person, api_site):
    invitee, other, thief = person(), person(), person()
    id = invite(org, invitee.email)["data"]["id"]
    change = {"data": {"type": "users", "attributes": {"email": invitee.email}}}
    assert thief.call("PATCH", "account/update", change).status == 200
    for client in (other, thief, org, Api(api_site.scheduler.url, None)):
        assert accept(client, id).status in (401, 404)
        assert client.call("DELETE", f"account/invitations/{id}").status in (401, 404)
    token = org.post(f"organizations/{org.organization}/authentication-token").data["attributes"]["token"]
    assert accept(Api(api_site.scheduler.url, token), id).status == 404
    assert invitations(thief) == invitations(other) == []
    assert status_of(org, id) == "invited"
    # An address stays confirmed if only its case changes.
    change["data"]["attributes"]["email"] = invitee.email.upper()
    invitee.patch("account/update", change)
    assert accept(invitee, id).status == 204


def test_a_withdrawn_invitation_is_void_and_can_be_repeated(org, person):
    invitee = person()
    first = invite(org, invitee.email)["data"]["id"]
    assert org.call("POST", f"organizations/{org.organization}/organization-memberships", invitation(invitee.email.upper())).status == 422
    org.delete(f"organization-memberships/{first}")
    assert invitations(invitee) == [] and accept(invitee, first).status == 404
    second = invite(org, invitee.email)["data"]["id"]
    assert accept(invitee, first).status == 404 and accept(invitee, second).status == 204
    assert org.call("POST", f"organizations/{org.organization}/organization-memberships", invitation(invitee.email)).status == 422


def test_an_invitation_expires(org, person, api_site):
    invitee = person()
    first = invite(org, invitee.email)["data"]["id"]
    api_site.change("update organization_memberships set created_at = now() - interval '14 days' where id = %s", first)
    assert invitations(invitee) == [] and accept(invitee, first).status == 404
    second = invite(org, invitee.email)["data"]["id"]
    assert org.call("GET", f"organization-memberships/{first}").status == 404
    assert [one["id"] for one in invitations(invitee)] == [second]


def test_a_member_cannot_accept_a_second_membership(org, person, api_site):
    invitee = person()
    assert accept(invitee, invite(org, invitee.email)["data"]["id"]).status == 204
    address = f"second-{invitee.email}"
    invitee.patch("account/update", {"data": {"type": "users", "attributes": {"email": address}}})
    api_site.change("update users set email = %s, email_confirmed = false where id = %s", "x-" + address, invitee.id)
    id = invite(org, address)["data"]["id"]
    api_site.change("update users set email = %s, email_confirmed = true where id = %s", address, invitee.id)
    answer = accept(invitee, id)
    assert answer.status == 422 and "already" in answer.errors()
    assert status_of(org, id) == "invited"


def test_invitations_of_two_organizations_are_independent(org, api_site, person):
    invitee, other = person(), api_site.organization()
    one, two = invite(org, invitee.email)["data"], invite(other, invitee.email.upper())["data"]
    assert (one["attributes"]["email"], two["attributes"]["email"]) == (invitee.email, invitee.email.upper())
    assert accept(invitee, one["id"]).status == 204
    assert status_of(other, two["id"]) == "invited"
    assert [item["id"] for item in invitations(invitee)] == [two["id"]]
    assert [item["id"] for item in invitee.get("organizations").data] == [org.organization]


def test_accepting_moves_mail_recipients_to_the_accepting_user(org, api_site, person):
    invitee = person()
    created = invite(org, invitee.email)["data"]
    workspace, user = org.workspace("w"), created["relationships"]["user"]["data"]
    document = {"data": {"type": "notification-configurations", "attributes": {
        "name": "n", "enabled": True, "destination-type": "email", "triggers": []}, "relationships": {"users": {"data": [user]}}}}
    configuration = org.post(f"workspaces/{workspace}/notification-configurations", document).data["id"]
    accept(invitee, created["id"])
    users = org.get(f"notification-configurations/{configuration}").data["relationships"]["users"]["data"]
    assert users == [{"type": "users", "id": invitee.id}]
    assert api_site.ask("select count(*) from users where id = %s", user["id"]) == [(0,)]


# ---- sessions ----


def test_session_timeouts_apply_only_after_the_invitation_is_accepted(org, api_site, person):
    invitee = person()
    browser = Browser(api_site.scheduler.url, address=f"10.9.{next(People.ids) % 256}.7").sign_in(invitee.name, invitee.password)
    assert browser.status == 200, browser.text
    org.patch(f"organizations/{org.organization}", {"data": {"type": "organizations", "attributes": {"session-timeout": 1, "session-remember": 1}}})
    id = invite(org, invitee.email)["data"]["id"]
    api_site.change("update sessions set created_at = now() - interval '1 hour', last_seen_at = now() - interval '1 hour' where user_id = %s", invitee.id)
    assert "Invitations" in browser.ask("/app/settings/tokens").text
    assert invitee.call("GET", "organizations").status == 200
    assert accept(invitee, id).status == 204
    assert "Sign in" in browser.ask("/app/settings/tokens").text


# ---- the browser ----


def signed_in(api_site, invitee):
    browser = Browser(api_site.scheduler.url, address=f"10.8.{next(People.ids) % 256}.9").sign_in(invitee.name, invitee.password)
    assert browser.status == 200, browser.text
    return browser


def test_invitations_are_accepted_and_declined_in_the_browser(org, api_site, person):
    invitee, other = person(), api_site.organization()
    one, two = invite(org, invitee.email)["data"]["id"], invite(other, invitee.email)["data"]["id"]
    browser = signed_in(api_site, invitee).ask("/app/settings/invitations")
    assert org.organization in browser.text and other.organization in browser.text
    action = f"/app/settings/invitations/{one}"
    fields = {**browser.form(action)["fields"], "answer": "accept"}
    for changes, headers in (({"csrf": "0" * 64}, {}), ({"csrf": ""}, {}), ({}, {"Origin": "https://evil.test"})):
        assert browser.ask(action, {**fields, **changes}, headers).status == 403
    assert browser.ask(action, {**fields, "answer": "perhaps"}).status == 422
    assert status_of(org, one) == "invited"
    browser.ask("/app/settings/invitations").send(action, press="accept")
    assert browser.status == 200 and org.organization not in browser.text and status_of(org, one) == "active"
    browser.send(f"/app/settings/invitations/{two}", press="decline")
    assert "No organization invites" in browser.text
    assert other.call("GET", f"organization-memberships/{two}").status == 404
    assert browser.ask(action, fields).status == 404
    stranger = signed_in(api_site, person()).ask("/app/settings/invitations")
    assert stranger.ask(f"/app/invitations/{two}?code=").status == 404


# ---- the mail ----


@pytest.fixture
def mails(api_site, redis):
    """The mails that a mail server gets from a notifier."""
    mail_server = MailServer()
    notifier = Notifier("notifier-1", api_site.folder, notifier_token=api_site.tokens["notifier-token"], scheduler_url=api_site.scheduler.url,
                        redis_url=redis.url, name="notifier-1", smtp_url=mail_server.url, smtp_from="runyard@example.com", smtp_tls="none",
                        log_level="debug", **api_site.bus.options).start()
    mail_server.notifier = notifier
    yield mail_server
    notifier.release()
    mail_server.release()


def link_in(mail):
    return re.search(r"https?://\S+/app/invitations/\S+", mail.text)[0]


def mail_to(mails, address):
    def found():
        return [mail for mail in mails.mails if address in mail.recipients]

    until(found, lambda: f"a mail to {address}: {[mail.recipients for mail in mails.mails]}")
    return found()[-1]


def test_the_mailed_link_opens_the_invitation_and_its_code_stays_secret(org, api_site, person, mails):
    invitee, thief = person(), person()
    address = f"work-{invitee.email}"
    id = invite(org, address)["data"]["id"]
    mail = mail_to(mails, address)
    assert mail.recipients == [address]
    link = link_in(mail)
    path = link.removeprefix(api_site.scheduler.url)
    code = urllib.parse.parse_qs(urllib.parse.urlsplit(link).query)["code"][0]
    assert path.startswith(f"/app/invitations/{id}?")
    for wrong in ("", code[:-8] + "AAAAAAA=", code[4:], "x" * 4000):
        assert signed_in(api_site, thief).ask(f"/app/invitations/{id}?code={urllib.parse.quote(wrong)}").status == 404
    browser = Browser(api_site.scheduler.url, address=f"10.7.{next(People.ids) % 256}.9").ask(path)
    browser.send("/app/login", username=invitee.name, password=invitee.password)
    assert browser.status == 200 and org.organization in browser.text and address in browser.text
    action = f"/app/settings/invitations/{id}"
    assert browser.form(action)["fields"]["code"] == code
    browser.send(action, press="accept")
    assert status_of(org, id) == "active"
    assert org.get(f"organization-memberships/{id}").data["attributes"]["username"] == invitee.name
    assert browser.ask(path).status == 404 and signed_in(api_site, thief).ask(path).status == 404
    until(lambda: api_site.ask("select count(*) from notifications") == [(0,)], "no notification is pending")
    recorded_text = json.dumps(api_site.scheduler.log_lines()) + json.dumps(mails.notifier.log_lines()) + org.get(f"organizations/{org.organization}/audit-trail").text
    assert code not in recorded_text and urllib.parse.quote(code, safe="") not in recorded_text
    with psycopg.connect(api_site.database) as connection:
        (rows,) = connection.execute("select count(*) from audit_events e where e::text like %s", [f"%{code}%"]).fetchone()
    assert rows == 0


def test_a_mailed_link_confirms_the_address_and_ends_with_its_invitation(org, api_site, person, mails):
    invitee = person()
    changed = f"changed-{invitee.email}"
    invitee.patch("account/update", {"data": {"type": "users", "attributes": {"email": changed}}})
    first = invite(org, changed)["data"]["id"]
    old = link_in(mail_to(mails, changed)).removeprefix(api_site.scheduler.url)
    org.delete(f"organization-memberships/{first}")
    second = invite(org, changed)["data"]["id"]
    browser = signed_in(api_site, invitee)
    assert browser.ask(old).status == 404
    assert browser.ask(old.replace(first, second)).status == 404
    assert invitations(invitee) == []
    until(lambda: len([mail for mail in mails.mails if changed in mail.recipients]) == 2, "the second mail")
    link = link_in(mail_to(mails, changed)).removeprefix(api_site.scheduler.url)
    browser.ask(link).send(f"/app/settings/invitations/{second}", press="accept")
    assert status_of(org, second) == "active"
    third = invite(api_site.organization(), changed)["data"]["id"]
    assert [one["id"] for one in invitations(invitee)] == [third]
