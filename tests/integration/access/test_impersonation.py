# SPDX-License-Identifier: MPL-2.0
"""Site admins who act as another user: what they may do, what the audit trail says, and how it ends."""

import base64
import hashlib
import json
import random
import re
import urllib.parse
import uuid

import pytest

from support.api import Api
from support.browser import Browser
from support.passkeys import app_code

BODY = {"data": {"type": "authentication-tokens", "attributes": {"description": "x"}}}


class Person:
    def __init__(self, api_site, admin=False):
        self.name = f"u-{uuid.uuid4().hex[:12]}"
        made = api_site.bootstrap(self.name, self.name)
        api_site.change("update users set is_site_admin = %s where username = %s", admin, self.name)
        self.api_site, self.password = api_site, made["password"]
        self.api = Api(api_site.scheduler.url, made["token"], self.name)
        self.user = self.api.get("account/details").data["id"]
        self.browser = Browser(api_site.scheduler.url, address=f"10.{random.randrange(256)}.{random.randrange(256)}.1")
        self.session = Api(api_site.scheduler.url, None, self.name)

    def sign_in(self):
        self.browser.sign_in(self.name, self.password, "/app/settings/sessions")
        assert self.browser.cookie, self.browser.text
        return self

    def call(self, method, path, body=None, **query):
        """With the browser's session."""
        csrf = re.search(r'name="csrf" content="([^"]+)"', self.browser.ask("/app").page)
        headers = {"Cookie": f"runyard_session={self.browser.cookie.value}", "Authorization": None}
        if csrf:
            headers["X-CSRF-Token"] = csrf[1]
        return self.session.call(method, path + ("?" + urllib.parse.urlencode(query) if query else ""), body, headers=headers)

    def act_as(self, person, reason="a ticket"):
        answer = self.call("POST", f"admin/users/{person.user}/actions/impersonate", {"reason": reason})
        if answer.status == 204:
            cookie = self.browser.cookie
            cookie.value = re.match(r"runyard_session=([^;]+)", answer.headers["Set-Cookie"])[1]
            self.browser.cookies.set_cookie(cookie)
        return answer


@pytest.fixture
def person(api_site):
    return Person(api_site)


@pytest.fixture
def admin(api_site):
    return Person(api_site, admin=True).sign_in()


def test_a_site_admin_acts_as_a_person_and_stops(admin, person, api_site):
    old = admin.browser.cookie.value
    assert admin.act_as(person).status == 204
    assert admin.call("GET", "account/details").data["attributes"]["username"] == person.name
    assert admin.session.call("GET", "account/details", headers={"Cookie": f"runyard_session={old}", "Authorization": None}).status == 401
    page = admin.browser.ask("/app/settings/sessions")
    assert f"You act as {person.name}" in page.text and admin.name in page.text and "acts as you" in page.text
    assert f'name="impersonator" content="{admin.name}"' in admin.browser.ask("/app").page
    assert admin.call("GET", "admin/users").status == 404
    admin.browser.ask("/app/settings/sessions").send("/app/admin/impersonation/end")
    assert admin.call("GET", "account/details").data["attributes"]["username"] == admin.name
    assert "You act as" not in admin.browser.ask("/app/settings/sessions").text
    events = api_site.ask("select action, actor_name, details from audit_events where resource_id = %s and action like '%%impersonate' order by position", person.user)
    assert [event[:2] for event in events] == [("impersonate", admin.name), ("unimpersonate", person.name)]
    assert events[0][2]["reason"] == "a ticket" and events[1][2]["impersonator"] == admin.name


def test_the_api_ends_an_impersonation_with_a_session_of_the_admin(admin, person):
    assert admin.call("POST", "admin/users/actions/unimpersonate").status == 400
    admin.act_as(person)
    answer = admin.call("POST", "admin/users/actions/unimpersonate")
    assert answer.status == 204
    cookie = re.match(r"(runyard_session=[^;]+)", answer.headers["Set-Cookie"])[1]
    assert admin.session.call("GET", "account/details", headers={"Cookie": cookie, "Authorization": None}).data["attributes"]["username"] == admin.name
    assert admin.call("GET", "account/details").status == 401
    assert person.api.call("POST", "admin/users/actions/unimpersonate").status == 400


def test_audit_events_have_both_names(admin, person):
    admin.act_as(person)
    body = {"data": {"type": "workspaces", "attributes": {"name": "by-admin"}}}
    assert admin.call("POST", f"organizations/{person.name}/workspaces", body).status == 201
    event = person.api.get(f"organizations/{person.name}/audit-trail").json["data"][0]
    assert event["resource"]["action"] == "create" and event["auth"]["accessor_id"] == person.user
    assert event["auth"]["impersonator_id"] == admin.user and event["resource"]["meta"]["details"]["impersonator"] == admin.name


@pytest.mark.parametrize("reason,status", [("", 400), ("  ", 400), (None, 400), (7, 400), ("x" * 600, 400)])
def test_a_reason_is_needed(admin, person, reason, status):
    assert admin.act_as(person, reason).status == status
    assert admin.call("GET", "account/details").data["attributes"]["username"] == admin.name


def test_who_can_not_be_impersonated(admin, person, api_site):
    assert admin.act_as(admin).status == 403
    assert admin.call("POST", "admin/users/user-aaaaaaaaaaaaaaaa/actions/impersonate", {"reason": "x"}).status == 404
    service = api_site.ask("select user_id from teams limit 1")[0][0]
    assert admin.call("POST", f"admin/users/{service}/actions/impersonate", {"reason": "x"}).status == 403
    api_site.change("update users set is_suspended = true where id = %s", person.user)
    assert admin.act_as(person).status == 403
    api_site.change("update users set is_suspended = false where id = %s", person.user)
    admin.act_as(person)
    other = Person(api_site)
    assert admin.act_as(other).status == 404  # the person is no site admin
    third = Person(api_site, admin=True).sign_in()
    assert third.act_as(Person(api_site, admin=True)).status == 204
    assert third.act_as(other).status == 403
    assert person.api.call("POST", f"admin/users/{admin.user}/actions/impersonate", {"reason": "x"}).status == 404
    token = Person(api_site, admin=True)
    assert token.api.call("POST", f"admin/users/{person.user}/actions/impersonate", {"reason": "x"}).status == 403


def new_state(api, workspace, state):
    text = json.dumps(state).encode()
    api.post(f"workspaces/{workspace}/actions/lock", {})
    attributes = {"serial": state["serial"], "lineage": state["lineage"], "md5": hashlib.md5(text).hexdigest(), "state": base64.b64encode(text).decode()}
    made = api.post(f"workspaces/{workspace}/state-versions", {"data": {"type": "state-versions", "attributes": attributes}}).data["id"]
    api.post(f"workspaces/{workspace}/actions/unlock", {})
    return made


def test_no_secrets_are_read_and_no_tokens_made(admin, person, api_site):
    api = person.api
    workspace, beside = api.workspace("w"), api.workspace("beside")
    run = api.run(beside, api.upload(beside, {"main.tf": ""}))
    state = {"version": 4, "serial": 1, "lineage": "l", "outputs": {"secret": {"value": "hunter2", "type": "string", "sensitive": True}}, "resources": []}
    made = new_state(api, workspace, state)
    pool = api.post(f"organizations/{person.name}/agent-pools", {"data": {"type": "agent-pools", "attributes": {"name": "p"}}}).data["id"]
    team = api.get(f"organizations/{person.name}/teams").data[0]["id"]
    admin.act_as(person)
    assert admin.call("GET", f"workspaces/{workspace}").status == 200
    shown = admin.call("GET", f"workspaces/{workspace}", include="current_state_version,outputs")
    assert shown.status == 200 and "hunter2" not in shown.text and "hosted-state-download-url" not in shown.text
    reads = [f"workspaces/{workspace}/current-state-version", f"workspaces/{workspace}/current-state-version-outputs", f"runs/{run}/plan/json-output",
             f"state-versions/{made}", f"state-versions/{made}/download", f"state-versions/{made}/outputs"]
    for path in reads:
        answer = admin.call("GET", path)
        assert answer.status in (403, 404) and "hunter2" not in answer.text, path
    assert admin.call("GET", f"workspaces/{workspace}/current-state-version").status == 403
    for path in (f"users/{person.user}/authentication-tokens", f"organizations/{person.name}/authentication-token", f"teams/{team}/authentication-token",
                 f"teams/{team}/authentication-tokens", f"agent-pools/{pool}/authentication-tokens"):
        assert admin.call("POST", path, BODY).status == 403, path
    for method, path in (("PATCH", "account/password"), ("PATCH", "account/update"), ("DELETE", "account/sessions"), ("DELETE", "account/sessions/sess-x")):
        assert admin.call(method, path, {"data": {"type": "users", "attributes": {"email": "thief@example.com"}}}).status == 403, path
    for path in ("/app/settings/tokens", "/app/settings/password"):
        action = path
        fields = admin.browser.ask(path).form(action)["fields"]
        assert admin.browser.ask(action, {**fields, "description": "x", "days": "30"}).status == 403
    assert admin.browser.ask("/app/settings/two-factor").status == 403
    fields = admin.browser.ask("/app/settings/sessions").form("/app/settings/sessions/end-others")["fields"]
    for path in ("/app/settings/two-factor/app", "/app/settings/two-factor/recovery-codes", "/app/settings/sessions/end-others", "/app/settings/confirm"):
        assert admin.browser.ask(path, {**fields, "password": person.password}).status == 403, path
    assert api_site.ask("select count(*) from second_factors where user_id = %s", person.user) == [(0,)]


def test_no_token_is_made_by_terraform_login(admin, person):
    admin.act_as(person)
    query = ("client_id=terraform-cli&response_type=code&code_challenge=" + "A" * 43 +
             "&code_challenge_method=S256&redirect_uri=http%3A%2F%2Flocalhost%3A10007%2Flogin&state=s")
    admin.browser.ask(f"/oauth/authorize?{query}")
    admin.browser.send("/oauth/authorize", press="approve")
    assert admin.browser.status == 403 and "you act as another user" in admin.browser.text


def test_it_ends_after_an_hour_and_with_the_admins_rights(admin, person, api_site):
    def is_over():
        return admin.call("GET", "account/details").status == 401

    admin.act_as(person)
    api_site.change("update sessions set created_at = now() - interval '59 minutes' where impersonator_id = %s", admin.user)
    assert not is_over()
    api_site.change("update sessions set created_at = now() - interval '61 minutes' where impersonator_id = %s", admin.user)
    assert is_over()
    api_site.change("update sessions set created_at = now() where impersonator_id = %s", admin.user)
    assert not is_over()
    api_site.change("update users set is_site_admin = false where id = %s", admin.user)
    assert is_over()
    api_site.change("update users set is_site_admin = true, is_suspended = true where id = %s", admin.user)
    assert is_over()
    api_site.change("update users set is_suspended = false where id = %s", admin.user)
    assert not is_over()
    assert admin.api.patch("account/password", {"data": {"type": "users", "attributes": {
        "current_password": admin.password, "password": "another good one", "password_confirmation": "another good one"}}}).status == 200
    assert is_over()


def test_the_factors_of_the_person_are_not_asked_for(admin, person, api_site):
    browser = Person.sign_in(person).browser.ask("/app/settings/two-factor")
    browser.send("/app/settings/two-factor/app")
    secret = re.search(r'class="key">(\w+)<', browser.page)[1]
    browser.send("/app/settings/two-factor/app/confirm", code=app_code(secret))
    assert person.api.patch(f"organizations/{person.name}", {"data": {"type": "organizations", "attributes": {"collaborator-auth-policy": "two_factor_mandatory"}}}).status == 200
    admin.act_as(person)
    assert admin.call("GET", f"organizations/{person.name}").status == 200
