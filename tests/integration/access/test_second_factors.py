# SPDX-License-Identifier: MPL-2.0
"""Second factors: the app, recovery codes, passkeys, and organizations that need them."""

import random
import re
import time
import uuid

import pytest

from support.api import Api
from support.browser import Browser
from support.passkeys import Passkey, app_code

FACTORS = "/app/settings/two-factor"


class Person:
    def __init__(self, api_site):
        self.name = f"u-{uuid.uuid4().hex[:12]}"
        made = api_site.bootstrap(self.name, self.name)
        api_site.change("update users set is_site_admin = false where username = %s", self.name)
        self.api_site, self.password, self.secret, self.codes = api_site, made["password"], None, []
        self.api = Api(api_site.scheduler.url, made["token"], self.name)
        self.user = self.api.get("account/details").data["id"]

    def browser(self, scheduler=None):
        """A browser at an address of its own, so that attempts of other tests do not count."""
        return Browser((scheduler or self.api_site.scheduler).url, address=f"10.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(256)}")

    def signed_in(self, path="/app/settings/tokens"):
        return self.browser().sign_in(self.name, self.password, path)

    def with_app(self):
        """Sets up the app; returns the browser, which is signed in."""
        browser = self.signed_in(FACTORS)
        browser.send(f"{FACTORS}/app")
        self.secret = re.search(r'class="key">(\w+)<', browser.page)[1]
        browser.send(f"{FACTORS}/app/confirm", code=app_code(self.secret))
        assert browser.status == 201, browser.text
        self.codes = re.findall(r"<li><code>([\w-]+)</code>", browser.page)
        return browser

    def code(self):
        """A code that was not used yet: the app's step may be one ahead."""
        self.forget_step()
        return app_code(self.secret)

    def forget_step(self):
        self.api_site.change("update second_factors set last_step = 0 where user_id = %s", self.user)

    def enter(self, browser, code):
        return browser.send("/app/login/factor", code=code)

    def add_passkey(self, browser, passkey, name="key", **faults):
        browser.ask(FACTORS)
        fields = browser.form(f"{FACTORS}/passkeys")["fields"]
        options = browser.ask(f"{FACTORS}/passkeys/options", {"csrf": fields["csrf"], "purpose": "registration"})
        challenge = re.search(r'"challenge":\s*"([^"]+)"', options.page)[1]
        return browser.ask(f"{FACTORS}/passkeys", {**fields, "name": name, **passkey.creation(challenge, **faults)})

    def events(self):
        return [row[0] for row in self.api_site.ask("select action from audit_events where actor_name = %s or resource_id = %s order by position", self.name, self.user)]

    def details(self, action):
        return self.api_site.ask("select details from audit_events where actor_name = %s and action = %s order by position desc limit 1", self.name, action)[0][0]


@pytest.fixture
def person(api_site):
    return Person(api_site)


def challenge_of(browser, purpose):
    return re.search(r'"challenge":\s*"([^"]+)"', browser.ask("/app/login/passkey/options", {"purpose": purpose}).page)[1]


def two_factor(api):
    return api.get("account/details").data["attributes"]["two-factor"]


# ---- the app ----


def test_an_account_with_an_app_needs_its_code(person, api_site):
    assert two_factor(person.api) == {"enabled": False, "verified": False}
    person.with_app()
    assert two_factor(person.api) == {"enabled": True, "verified": True}
    browser = person.signed_in("/app/settings/sessions")
    assert "Second factor" in browser.text and browser.cookie is None
    assert "Sign in" in Browser(api_site.scheduler.url).ask("/app/login/factor").text
    person.enter(browser, "000000" if app_code(person.secret) != "000000" else "000001")
    assert browser.status == 401 and "The code is wrong" in browser.text and browser.cookie is None
    person.enter(browser, person.code())
    assert browser.status == 200 and "This browser" in browser.text and "password, totp" in browser.text
    assert {"factor_added", "sign_in_failed", "sign_in"} <= set(person.events())
    assert person.details("sign_in")["method"] == "password" and "totp" in person.details("sign_in")["factors"]
    assert person.details("sign_in_failed")["reason"].startswith("The code is wrong")


def test_a_code_is_used_once(person):
    person.with_app()
    code = person.code()
    assert person.enter(person.signed_in(), code).cookie
    again = person.enter(person.signed_in(), code)
    assert again.status == 401 and again.cookie is None


def test_each_recovery_code_signs_in_once(person):
    person.with_app()
    assert len(set(person.codes)) == 10
    for code in (person.codes[0], person.codes[1].lower().replace("-", " ")):
        assert person.enter(person.signed_in(), code).cookie
    assert person.enter(person.signed_in(), person.codes[0]).status == 401
    assert person.events().count("recovery_code_used") == 2
    assert "7 codes are left" in person.enter(person.signed_in(), person.codes[2]).ask(FACTORS).text


def test_secrets_and_recovery_codes_are_not_stored_in_plain_text(person, api_site):
    person.with_app()
    stored = str(api_site.ask("select f::text from second_factors f") + api_site.ask("select c::text from recovery_codes c")) + api_site.scheduler.process.log()
    assert person.secret not in stored and not any(code in stored or code.replace("-", "") in stored for code in person.codes)


def test_wrong_codes_slow_the_app_down_but_not_recovery_codes(person, api_site):
    person.with_app()
    for _ in range(2):
        browser = person.signed_in()
        for number in range(3):
            person.enter(browser, f"{number:06}")
    assert person.enter(person.signed_in(), person.code()).status == 429
    api_site.change("update second_factors set failed_at = now() - interval '2 minutes' where user_id = %s", person.user)
    assert person.enter(person.signed_in(), person.code()).cookie
    assert api_site.ask("select failures from second_factors where user_id = %s", person.user) == [(0,)]
    api_site.change("update second_factors set failures = 30, failed_at = now() where user_id = %s", person.user)
    assert person.enter(person.signed_in(), person.codes[0]).cookie
    assert "sign_in_failed" in person.events()


def test_the_tenth_wrong_code_ends_the_attempt(person, api_site):
    person.with_app()
    browser = person.signed_in()
    for number in range(9):
        assert person.enter(browser, f"{number:06}").status in (401, 429)
    person.enter(browser, "999999")
    assert "Password" in browser.ask("/app/login/factor").text
    assert api_site.ask("select count(*) from factor_attempts where user_id = %s", person.user) == [(0,)]


def test_an_attempt_expires_and_belongs_to_its_browser(person, api_site):
    person.with_app()
    browser, other = person.signed_in(), person.browser()
    assert "Password" in other.ask("/app/login/factor").text
    assert "Password" in other.ask("/app/login/factor", {"code": person.code()}).text and other.cookie is None
    api_site.change("update factor_attempts set created_at = now() - interval '11 minutes' where user_id = %s", person.user)
    person.enter(browser, person.code())
    assert "Password" in browser.text and browser.cookie is None


def test_a_sign_in_goes_on_at_another_scheduler(person, api_site):
    person.with_app()
    second = api_site.new_scheduler("scheduler-2").start()
    try:
        browser = person.signed_in()
        fields, code = browser.form("/app/login/factor")["fields"], person.code()
        browser.url = second.url
        browser.ask(f"{second.url}/app/login/factor", {**fields, "code": code}, follow=False)
        assert browser.status == 303 and browser.cookie
        replayed = person.browser(second).sign_in(person.name, person.password)
        assert person.enter(replayed, code).status == 401
    finally:
        second.release()


# ---- changes ----


def test_changes_need_a_recent_password(person, api_site):
    browser = person.with_app()
    api_site.change("update sessions set authenticated_at = now() - interval '16 minutes' where user_id = %s", person.user)
    fields = browser.ask("/app/settings/sessions").form("/app/settings/sessions/end-others")["fields"]
    assert "Confirm it is you" in browser.ask(f"{FACTORS}/recovery-codes", fields).text
    assert browser.ask(f"{FACTORS}/passkeys/options", fields).status == 403
    browser.ask(FACTORS).send("/app/settings/confirm", password="not the password")
    assert browser.status == 422
    browser.send("/app/settings/confirm", password=person.password)
    assert "Authenticator app" in browser.text
    browser.send(f"{FACTORS}/recovery-codes")
    assert browser.status == 201
    new = re.findall(r"<li><code>([\w-]+)</code>", browser.page)
    assert len(new) == 10 and not set(new) & set(person.codes)
    assert person.enter(person.signed_in(), person.codes[0]).status == 401
    assert person.enter(person.signed_in(), new[0]).cookie


def test_the_last_factor_takes_the_recovery_codes_with_it(person, api_site):
    browser = person.with_app()
    factor = api_site.ask("select id from second_factors where user_id = %s", person.user)[0][0]
    assert browser.ask(FACTORS).send(f"{FACTORS}/{factor}/remove").status == 200
    assert api_site.ask("select count(*) from recovery_codes where user_id = %s", person.user) == [(0,)]
    assert person.signed_in().cookie and "factor_removed" in person.events()
    assert two_factor(person.api) == {"enabled": False, "verified": False}


def test_a_factor_of_another_person_is_not_removed(person, api_site):
    other = Person(api_site)
    other.with_app()
    factor = api_site.ask("select id from second_factors where user_id = %s", other.user)[0][0]
    browser = person.with_app()
    fields = browser.ask("/app/settings/sessions").form("/app/settings/sessions/end-others")["fields"]
    assert browser.ask(f"{FACTORS}/{factor}/remove", fields).status == 404
    assert two_factor(other.api)["enabled"]


FORMS = (f"{FACTORS}/app", f"{FACTORS}/app/confirm", f"{FACTORS}/passkeys", f"{FACTORS}/recovery-codes", f"{FACTORS}/2f-x/remove", "/app/settings/confirm",
         "/app/settings/sessions/end-others", "/app/settings/sessions/sess-x/end", "/app/admin/impersonation/end")


@pytest.mark.parametrize("path", FORMS)
def test_forms_of_other_sites_are_refused(person, path):
    browser = person.signed_in("/app/settings/sessions")
    fields = browser.form("/app/settings/sessions/end-others")["fields"]
    for changes, headers in (({"csrf": "0" * 64}, {}), ({"csrf": ""}, {}), ({}, {"Origin": "https://evil.test"}), ({}, {"Sec-Fetch-Site": "cross-site"})):
        assert browser.ask(path, {**fields, **changes}, headers, follow=False).status == 403


@pytest.mark.parametrize("path", ("/app/login/factor", "/app/login/passkey", "/app/login/passkey/options", "/app/login/forgot", "/app/login/reset",
                                  f"{FACTORS}/passkeys/options"))
def test_forms_before_the_sign_in_are_refused_from_other_sites(person, path):
    for headers in ({"Origin": "https://evil.test"}, {"Sec-Fetch-Site": "cross-site"}):
        assert person.browser().ask(path, {"name": person.name}, headers, follow=False).status == 403


def test_a_site_admin_removes_the_factors_of_a_person(person, api_site):
    org = api_site.organization()
    path = f"admin/users/{person.user}/actions/disable_two_factor"
    assert org.call("POST", path).status == 400
    person.with_app()
    assert org.get("admin/users", q=person.name).data[0]["attributes"]["two-factor"]["enabled"]
    assert org.post(path).data["attributes"]["two-factor"] == {"enabled": False, "verified": False}
    assert person.signed_in().cookie and person.api.call("POST", path).status == 404
    assert "disable_two_factor" in person.events()


# ---- passkeys ----


@pytest.mark.parametrize("algorithm", ["ES256", "EdDSA", "RS256"])
def test_a_passkey_is_a_second_factor_and_signs_in_alone(person, api_site, algorithm):
    passkey = Passkey(api_site.scheduler.url, algorithm)
    added = person.add_passkey(person.signed_in(), passkey)
    assert added.status == 201 and "key" in added.text, added.text
    assert len(re.findall(r"<li><code>", added.page)) == 10
    browser = person.signed_in("/app/settings/sessions")
    assert "Second factor" in browser.text
    browser.ask("/app/login/factor", passkey.assertion(challenge_of(browser, "second-factor")))
    assert browser.cookie and "password, passkey" in browser.text, browser.text
    alone = person.browser()
    alone.ask("/app/login/passkey", {**passkey.assertion(challenge_of(alone, "sign-in")), "return": "/app/settings/sessions"})
    assert alone.cookie and "passkey" in alone.text and "This browser" in alone.text
    assert person.details("sign_in")["method"] == "passkey"


@pytest.mark.parametrize("faults,reason", [
    ({"origin": "https://evil.test"}, "another site"), ({"party": "evil.test"}, "another site"), ({"type": "webauthn.get"}, "another kind"),
    ({"flags": 0x44}, "did not ask"), ({"flags": 0x05}, "made no passkey")])
def test_a_passkey_is_not_registered_with_a_wrong_answer(person, api_site, faults, reason):
    refused = person.add_passkey(person.signed_in(), Passkey(api_site.scheduler.url), **faults)
    assert refused.status == 422 and reason in refused.text
    assert not two_factor(person.api)["enabled"]


def test_a_passkey_is_registered_with_its_own_challenge_once(person, api_site):
    browser, passkey = person.signed_in(FACTORS), Passkey(api_site.scheduler.url)
    fields = browser.form(f"{FACTORS}/passkeys")["fields"]
    assert browser.ask(f"{FACTORS}/passkeys", {**fields, "name": "a", **passkey.creation("A" * 43)}).status == 422
    assert person.add_passkey(browser, passkey).status == 201
    assert person.add_passkey(browser, passkey).status == 409
    other = Person(api_site)
    assert other.add_passkey(other.signed_in(), passkey).status == 409


@pytest.mark.parametrize("faults,reason", [
    ({"origin": "https://evil.test"}, "another site"), ({"party": "evil.test"}, "another site"), ({"type": "webauthn.create"}, "another kind"),
    ({"flags": 0x04}, "did not ask"), ({"flags": 0x01}, "did not verify"), ({"grows": False}, "counter did not grow")])
def test_wrong_answers_of_a_passkey_are_refused_and_audited(person, api_site, faults, reason):
    passkey = Passkey(api_site.scheduler.url)
    person.add_passkey(person.signed_in(), passkey)
    browser = person.browser()
    browser.ask("/app/login/passkey", passkey.assertion(challenge_of(browser, "sign-in")))
    assert browser.cookie
    thief = person.browser()
    thief.ask("/app/login/passkey", passkey.assertion(challenge_of(thief, "sign-in"), **faults))
    assert thief.status == 401 and reason in thief.text and thief.cookie is None
    assert reason in api_site.ask("select details ->> 'reason' from audit_events where action = 'sign_in_failed' order by position desc limit 1")[0][0]


def test_an_answer_is_not_replayed(person, api_site):
    passkey = Passkey(api_site.scheduler.url)
    person.add_passkey(person.signed_in(), passkey)
    first, second = person.browser(), person.browser()
    answer = passkey.assertion(challenge_of(first, "sign-in"))
    challenge_of(second, "sign-in")
    assert second.ask("/app/login/passkey", answer).status == 401
    assert first.ask("/app/login/passkey", answer).cookie
    again = first.ask("/app/login/passkey", answer, follow=False)
    assert again.status in (401, 403)
    other = passkey.assertion(challenge_of(second, "sign-in"))
    other["signature"] = answer["signature"]
    assert second.ask("/app/login/passkey", other).status == 401


def test_a_passkey_of_another_person_is_no_second_factor(person, api_site):
    other = Person(api_site)
    theirs = Passkey(api_site.scheduler.url)
    other.add_passkey(other.signed_in(), theirs)
    person.with_app()
    browser = person.signed_in()
    assert browser.ask("/app/login/factor", theirs.assertion(challenge_of(browser, "second-factor"))).status == 401
    assert browser.cookie is None


def test_a_passkey_goes_on_at_another_scheduler(person, api_site):
    second = api_site.new_scheduler("scheduler-2", public_url=api_site.scheduler.url).start()
    try:
        passkey = Passkey(api_site.scheduler.url)
        person.add_passkey(person.signed_in(), passkey)
        browser = person.browser()
        challenge = challenge_of(browser, "sign-in")
        answer = passkey.assertion(challenge)
        browser.ask(f"{second.url}/app/login/passkey", answer, follow=False)
        assert browser.status == 303 and browser.cookie
        assert browser.ask(f"{api_site.scheduler.url}/app/login/passkey", answer, follow=False).status in (401, 403)
    finally:
        second.release()


def test_malformed_answers_are_refused(person, api_site):
    passkey = Passkey(api_site.scheduler.url)
    person.add_passkey(person.signed_in(), passkey)
    browser = person.browser()
    for part in ("credential", "client_data", "authenticator_data", "signature"):
        for value in ("", "!", "A", "AAAA", "x" * 12000, "ü"):
            answer = passkey.assertion(challenge_of(browser, "sign-in"))
            assert browser.ask("/app/login/passkey", {**answer, part: value}).status in (401, 413, 429), (part, value)
        browser = person.browser()
    for attestation in ("", "AAAA", "oA", "v2hhdXRoRGF0YQ", "o2NmbXQ"):
        signed_in = person.browser()
        signed_in.ask("/app/login/passkey", passkey.assertion(challenge_of(signed_in, "sign-in")))
        fields = signed_in.ask(FACTORS).form(f"{FACTORS}/passkeys")["fields"]
        options = signed_in.ask(f"{FACTORS}/passkeys/options", {"csrf": fields["csrf"]})
        challenge = re.search(r'"challenge":\s*"([^"]+)"', options.page)[1]
        creation = Passkey(api_site.scheduler.url).creation(challenge)
        assert signed_in.ask(f"{FACTORS}/passkeys", {**fields, "name": "x", **creation, "attestation": attestation}).status == 422


# ---- where a second factor is needed ----


def require(api, policy="two_factor_mandatory"):
    return api.call("PATCH", f"organizations/{api.organization}", {"data": {"type": "organizations", "attributes": {"collaborator-auth-policy": policy}}})


def test_an_organization_that_needs_factors_refuses_who_has_none(person, api_site):
    refused = require(person.api)
    assert refused.status == 422 and person.name in refused.text
    person.with_app()
    workspace = person.api.workspace("w")
    assert require(person.api).data["attributes"]["collaborator-auth-policy"] == "two_factor_mandatory"
    assert person.api.get(f"organizations/{person.name}").data["attributes"]["two-factor-conformant"]
    member = Person(api_site)
    owners = person.api.get(f"organizations/{person.name}/teams").data[0]["id"]
    invitation = {"data": {"type": "organization-memberships", "attributes": {"email": f"{member.name}@example.com"},
                           "relationships": {"teams": {"data": [{"type": "teams", "id": owners}]}}}}
    membership = person.api.post(f"organizations/{person.name}/organization-memberships", invitation).data["id"]
    member.api.post(f"account/invitations/{membership}/actions/accept")
    for path in (f"organizations/{person.name}", f"workspaces/{workspace}", f"organizations/{person.name}/workspaces"):
        answer = member.api.call("GET", path)
        assert answer.status == 403 and f"set it up at {FACTORS}" in answer.text
    assert member.api.get(f"organizations/{member.name}").status == 200
    assert {item["id"]: item["attributes"]["two-factor-conformant"] for item in member.api.get("organizations").data} == {person.name: False, member.name: True}
    browser = member.signed_in("/app")
    assert "You need a second factor" in browser.text and browser.at.endswith("required=true")
    cookie = {"Cookie": f"runyard_session={browser.cookie.value}", "Authorization": None}
    assert member.api.call("GET", f"workspaces/{workspace}", headers=cookie).status == 403
    member.with_app()
    assert member.api.get(f"workspaces/{workspace}").status == 200
    assert member.api.call("GET", f"workspaces/{workspace}", headers=cookie).status == 200
    assert person.api.get(f"organizations/{person.name}/organization-memberships", include="user").json["included"][0]["attributes"]["two-factor"]["enabled"]


def test_people_of_a_provider_are_exempt(person, api_site):
    person.with_app()
    assert require(person.api).status == 200
    token = person.api.post(f"users/{person.user}/authentication-tokens", {"data": {"type": "authentication-tokens", "attributes": {}}}).data
    api_site.change("delete from second_factors where user_id = %s", person.user)
    assert person.api.call("GET", f"organizations/{person.name}").status == 403
    api_site.change("insert into identity_providers (id, kind, name, issuer) values (%s, 'oidc', %s, %s)", f"idp-{person.name}", person.name, person.name)
    api_site.change("insert into identities (issuer, subject, user_id, provider_id) values (%s, 'x', %s, %s)", person.name, person.user, f"idp-{person.name}")
    api_site.change("update tokens set provider_id = %s where id = %s", f"idp-{person.name}", token["id"])
    assert Api(api_site.scheduler.url, token["attributes"]["token"], person.name).get(f"organizations/{person.name}").status == 200


@pytest.fixture
def admins_need_factors(api_site):
    api_site.change("update site_settings set settings = settings || '{\"require-two-factor-for-admins\": true}'")
    yield
    api_site.change("update site_settings set settings = settings - 'require-two-factor-for-admins'")


def test_the_setting_of_site_admins_is_changed_by_the_api(api_site):
    org = api_site.organization()
    body = {"data": {"type": "general-settings", "attributes": {"require-two-factor-for-admins": True}}}
    try:
        assert org.patch("admin/general-settings", body).data["attributes"]["require-two-factor-for-admins"] is True
    finally:
        api_site.change("update site_settings set settings = settings - 'require-two-factor-for-admins'")
    assert org.get("admin/general-settings").data["attributes"]["require-two-factor-for-admins"] is False


def test_site_admins_without_a_factor_only_set_one_up(person, api_site, admins_need_factors):
    other = Person(api_site)
    api_site.change("update users set is_site_admin = true where id = %s", person.user)
    for path in ("admin/users", "admin/general-settings", f"organizations/{person.name}", f"organizations/{other.name}"):
        answer = person.api.call("GET", path)
        assert answer.status == 403 and "site admins need two-factor authentication" in answer.text, path
    assert [item["id"] for item in person.api.call("GET", "organizations").data] == [person.name]
    assert person.api.get("account/details").status == 200
    assert "You need a second factor" in person.signed_in("/app").text
    person.with_app()
    assert person.api.get("admin/users").status == 200 and person.api.get(f"organizations/{other.name}").status == 200
    assert other.api.get(f"organizations/{other.name}").status == 200


def test_codes_of_the_next_and_the_last_step_are_accepted(person):
    person.with_app()
    for seconds in (-30, 30):
        person.forget_step()
        assert person.enter(person.signed_in(), app_code(person.secret, time.time() + seconds)).cookie
    person.forget_step()
    assert person.enter(person.signed_in(), app_code(person.secret, time.time() - 90)).status == 401
