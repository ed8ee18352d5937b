# SPDX-License-Identifier: MPL-2.0
"""Passwords, sessions, pages, and the requests of `terraform login`."""

import base64
import hashlib
import json
import random
import socket
import subprocess
import threading
import urllib.parse
import uuid

import pytest

from support.api import Api
from support.browser import Browser
from support.process import clean_environment, program
from support.runyard import KEYS

PASSWORD = "correct horse battery"


class Person:
    def __init__(self, api_site):
        self.name = f"u-{uuid.uuid4().hex[:12]}"
        created = api_site.bootstrap(self.name, self.name)
        self.address = f"10.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(256)}"
        self.api_site, self.password, self.token = api_site, created["password"], created["token"]
        self.api = Api(api_site.scheduler.url, self.token, self.name)

    def browser(self):
        return Browser(self.api_site.scheduler.url, address=self.address)

    def signed_in(self):
        browser = self.browser().sign_in(self.name, self.password)
        assert browser.status == 200, browser.text
        return browser


@pytest.fixture
def person(api_site):
    return Person(api_site)


def command(api_site, *arguments, text):
    return subprocess.run([program("runyard-scheduler"), *arguments], input=text, capture_output=True, text=True,
                          env=clean_environment(RUNYARD_DATABASE_URL=api_site.database, RUNYARD_KEYS=KEYS))


# ---- signing in ----


def test_sign_in_and_out(person):
    browser = person.browser().ask("/app/settings/tokens")
    assert browser.status == 200 and "Sign in" in browser.text and "return=%2Fapp%2Fsettings%2Ftokens" in browser.at
    browser.send("/app/login", username=person.name.upper(), password=person.password)
    assert browser.status == 200 and "New token" in browser.text and person.name in browser.text
    cookie = browser.cookie
    assert cookie.has_nonstandard_attr("HttpOnly") and cookie.get_nonstandard_attr("SameSite") == "Lax" and not cookie.secure
    assert "frame-ancestors 'none'" in browser.headers["Content-Security-Policy"]
    browser.send("/app/logout")
    assert "Sign in" in browser.text and browser.cookie is None
    again = person.browser()
    again.cookies.set_cookie(cookie)
    assert "Sign in" in again.ask("/app/settings/tokens").text


def test_wrong_passwords_are_refused_and_audited(person, api_site):
    for name, password in ((person.name, "wrong password"), (person.name, ""), ("nobody-" + person.name, person.password), ("", ""),
                           (person.name, "x" * 300), ("n" * 300, "x"), ("ü\x01<b>", "ü")):
        browser = person.browser().sign_in(name, password)
        assert browser.status == 401 and browser.cookie is None and "wrong" in browser.text
        assert "<b>" not in browser.page
    failed = api_site.ask("select actor_name, action from audit_events where actor_name = %s", person.name)
    assert ("sign_in_failed" in {action for _, action in failed}) and len(failed) >= 1


def guess(api_site, name, address, count=14):
    return [Browser(api_site.scheduler.url, address=address).sign_in(name, f"guess number {n}").status for n in range(count)]


def test_failed_sign_ins_are_limited_by_address_and_name(api_site):
    """An attacker can't lock out a user at another address, or another name at the same address."""
    victim, other = Person(api_site), Person(api_site)
    statuses = guess(api_site, victim.name, other.address)
    assert statuses[0] == 401 and statuses[-1] == 429
    assert Browser(api_site.scheduler.url, address=other.address).sign_in(victim.name, victim.password).status == 429
    assert victim.browser().sign_in(victim.name, victim.password).status == 200
    assert other.browser().sign_in(other.name, other.password).status == 200


def test_invalid_tokens_do_not_reset_the_sign_in_limit(api_site):
    victim = Person(api_site)
    assert guess(api_site, victim.name, victim.address)[-1] == 429
    stranger = Api(api_site.scheduler.url, None)
    for number in range(300):
        address = {"X-Forwarded-For": f"10.9.{number % 250}.{number // 250}"}
        stranger.call("GET", "ping", headers={**address, "Authorization": f"Bearer ry_user_invented{number}"})
    assert victim.browser().sign_in(victim.name, victim.password).status == 429


def test_guesses_from_many_addresses_do_not_lock_out_a_known_address(api_site):
    """The limit by name stops single guesses from many addresses, but not the user at a known address."""
    victim = Person(api_site)
    victim.signed_in()
    statuses = [status for n in range(14) for status in guess(api_site, victim.name, f"10.77.{n}.1", 10)]
    assert statuses[0] == 401 and statuses[-1] == 429
    assert 429 in guess(api_site, victim.name, "10.77.200.1", 3)
    assert victim.browser().sign_in(victim.name.upper(), victim.password).status == 200


def test_sign_in_is_not_blocked_by_slow_verification_requests(person):
    workspace = person.api.workspace("w")
    with socket.create_server(("127.0.0.1", 0)) as silent:
        body = {"data": {"type": "notification-configurations", "attributes": {
            "name": "n", "enabled": True, "destination-type": "generic", "url": f"http://127.0.0.1:{silent.getsockname()[1]}/"}}}
        calls = [threading.Thread(target=person.api.call, args=("POST", f"workspaces/{workspace}/notification-configurations", body), daemon=True) for _ in range(8)]
        for call in calls:
            call.start()
        with silent.accept()[0]:
            person.signed_in()
            assert all(call.is_alive() for call in calls)
    for call in calls:
        call.join()


def test_the_sign_in_limit_ignores_letter_case(api_site):
    victim = Person(api_site)
    names = (victim.name[:n] + victim.name[n:].upper() for n in range(len(victim.name)))
    assert [victim.browser().sign_in(name, "guess").status for name in names][-1] == 429


def test_changing_an_address_reveals_nothing_about_other_users(api_site):
    one, two = Person(api_site), Person(api_site)
    taken = one.api.get("account/details").data["attributes"]["email"]
    invited, free = f"{one.name}@invited.test", f"{one.name}@free.test"
    one.api.post(f"organizations/{one.name}/organization-memberships", {"data": {"type": "organization-memberships", "attributes": {"email": invited}}})
    for address in (taken, taken.upper(), invited, free):
        answer = two.api.call("PATCH", "account/update", {"data": {"type": "users", "attributes": {"email": address}}})
        assert answer.status == 200 and answer.data["attributes"]["email"] == address
    assert one.api.get("account/details").data["attributes"]["email"] == taken


def test_sign_in_redirects_to_own_pages_only(person):
    for target in ("//evil.test/", "https://evil.test/", "/\\evil.test", "", "javascript:alert(1)"):
        browser = person.browser().ask("/app/login?" + urllib.parse.urlencode({"return": target}))
        answer = browser.ask("/app/login", {"username": person.name, "password": person.password, "return": target}, follow=False)
        assert answer.status == 303 and answer.headers["Location"] == "/app"


def test_cross_site_forms_are_refused(person):
    browser = person.signed_in()
    url = "/app/settings/tokens"
    for fields, headers in (({"description": "x", "days": "30"}, {}),
                            ({"description": "x", "days": "30", "csrf": "0" * 64}, {}),
                            ({**browser.form(url)["fields"], "description": "x", "days": "30"}, {"Origin": "https://evil.test"}),
                            ({**browser.form(url)["fields"], "description": "x", "days": "30"}, {"Sec-Fetch-Site": "cross-site"})):
        assert person.browser().sign_in(person.name, person.password).ask(url, fields, headers).status == 403
    assert person.browser().ask("/app/login", {"username": person.name, "password": person.password}, {"Origin": "https://evil.test"}).status == 403


def test_malformed_forms_are_refused(person):
    for body in (b"\xff\xfe=1", b"a=%00", b"&".join(b"a=1" for _ in range(100)), b"username=%ff"):
        answer = person.api.call("POST", person.api.url + "/app/login", body, headers={"Content-Type": "application/x-www-form-urlencoded"})
        assert answer.status in (400, 401)


# ---- sessions ----


def test_a_session_needs_its_csrf_token_for_changes(person):
    browser = person.signed_in()
    cookie = f"runyard_session={browser.cookie.value}"
    csrf = browser.form("/app/logout")["fields"]["csrf"]
    api = Api(person.api.url, None, person.name)
    assert api.call("GET", "account/details", headers={"Cookie": cookie}).data["attributes"]["username"] == person.name
    body = {"data": {"type": "workspaces", "attributes": {"name": "by-hand"}}}
    path = f"organizations/{person.name}/workspaces"
    assert api.call("POST", path, body, headers={"Cookie": cookie}).status == 403
    assert api.call("POST", path, body, headers={"Cookie": cookie, "X-CSRF-Token": "0" * 64}).status == 403
    assert api.call("POST", path, body, headers={"Cookie": cookie, "X-CSRF-Token": csrf}).status == 201
    assert api.call("GET", "account/details", headers={"Cookie": "runyard_session=nonsense"}).status == 401
    assert api.call("GET", "account/details", headers={"Cookie": cookie, "Authorization": "Bearer wrong"}).status == 401


def test_idle_and_old_sessions_expire(person, api_site):
    def hash_of(browser):
        return hashlib.sha256(browser.cookie.value.encode()).hexdigest()

    idle, old, short = person.signed_in(), person.signed_in(), person.signed_in()
    api_site.change("update sessions set last_seen_at = now() - interval '15 days' where hash = %s", hash_of(idle))
    api_site.change("update sessions set created_at = now() - interval '15 days' where hash = %s", hash_of(old))
    assert "Sign in" in idle.ask("/app/settings/tokens").text and "Sign in" in old.ask("/app/settings/tokens").text
    assert "New token" in short.ask("/app/settings/tokens").text
    api_site.change("update sessions set last_seen_at = now() - interval '90 minutes' where hash = %s", hash_of(short))
    person.api.patch(f"organizations/{person.name}", {"data": {"type": "organizations", "attributes": {"session-timeout": 60}}})
    assert "Sign in" in short.ask("/app/settings/tokens").text


def test_passwords_and_session_ids_are_not_stored_or_logged_in_plain_text(person, api_site):
    browser = person.signed_in()
    dump = json.dumps(api_site.ask("select row_to_json(s)::text from sessions s") + api_site.ask("select row_to_json(u)::text from users u"))
    assert browser.cookie.value not in dump and person.password not in dump
    assert api_site.ask("select password_hash from users where username = %s", person.name)[0][0].startswith("$y$")
    log = api_site.scheduler.process.log()
    assert person.password not in log and browser.cookie.value not in log


# ---- passwords ----


def password_body(current, new, confirmation=None):
    return {"data": {"type": "users", "attributes": {"current_password": current, "password": new,
                                                     "password_confirmation": new if confirmation is None else confirmation}}}


def test_a_password_change_ends_other_sessions(person):
    keeps, other = person.signed_in(), person.signed_in()
    keeps.ask("/app/settings/password")
    wrong = keeps.send("/app/settings/password", current_password="not it at all", password=PASSWORD, password_confirmation=PASSWORD)
    assert wrong.status == 422 and "incorrect" in wrong.text
    done = keeps.send("/app/settings/password", current_password=person.password, password=PASSWORD, password_confirmation=PASSWORD)
    assert done.status == 200 and "is changed" in done.text
    assert "Sign in" in other.ask("/app/settings/tokens").text and "New token" in keeps.ask("/app/settings/tokens").text
    assert person.browser().sign_in(person.name, person.password).status == 401
    answer = person.api.patch("account/password", password_body(PASSWORD, "another good one"))
    assert answer.data["type"] == "users" and answer.data["attributes"]["username"] == person.name
    assert "Sign in" in keeps.ask("/app/settings/tokens").text
    assert person.browser().sign_in(person.name, "another good one").status == 200


@pytest.mark.parametrize("body,pointer", [
    (password_body("wrong password", PASSWORD), "current_password"),
    (password_body(None, PASSWORD), "current_password"),
    (password_body("x", "short"), "password"),
    (password_body("x", "x" * 300), "password"),
    (password_body("x", None, PASSWORD), "password"),
    (password_body("x", PASSWORD, "different"), "password_confirmation"),
    (password_body("x", 7), "password"),
])
def test_invalid_password_changes_are_refused(person, body, pointer):
    answer = person.api.call("PATCH", "account/password", body)
    assert answer.status == 422 and answer.json["errors"][0]["source"]["pointer"] == f"/data/attributes/{pointer}"


def test_an_operator_sets_a_password(person, api_site):
    browser = person.signed_in()
    done = command(api_site, "set-password", person.name, text=PASSWORD + "\n")
    assert done.returncode == 0, done.stderr
    assert "Sign in" in browser.ask("/app/settings/tokens").text
    assert person.browser().sign_in(person.name, PASSWORD).status == 200
    assert api_site.ask("select actor_type, action from audit_events where resource_type = 'user' order by position desc limit 1") == [("system", "set_password")]
    for user, text, message in ((person.name, "short\n", "too short"), (person.name, "", "no password"), ("nobody", PASSWORD, "no user")):
        done = command(api_site, "set-password", user, text=text)
        assert done.returncode == 1 and message in done.stderr


def test_password_hashing_does_not_block_other_requests(person):
    """Requests are served while many users sign in."""
    threads = [threading.Thread(target=lambda: person.browser().sign_in(f"nobody-{n}", "some password")) for n in range(12)]
    for thread in threads:
        thread.start()
    for _ in range(20):
        assert person.api.get("account/details").status == 200
    for thread in threads:
        thread.join()


# ---- tokens ----


def test_tokens_are_created_and_revoked_in_the_browser(person):
    browser = person.signed_in()
    browser.send("/app/settings/tokens", description='<script>"mine"</script>', days="30")
    assert browser.status == 201 and "<script>" not in browser.page
    token = browser.page.split("<code>")[1].split("</code>")[0]
    api = Api(person.api.url, token, person.name)
    assert api.get("account/details").data["attributes"]["username"] == person.name
    assert token not in browser.ask("/app/settings/tokens").page
    listed = person.api.get(f"users/{person.api.get('account/details').data['id']}/authentication-tokens").data
    created = next(t for t in listed if "mine" in t["attributes"]["description"])
    assert created["attributes"]["expired-at"] is not None
    browser.send(f"/app/settings/tokens/{created['id']}/revoke")
    assert api.call("GET", "account/details").status == 401
    assert browser.ask("/app/settings/tokens").send("/app/settings/tokens", description="", days="30").status == 422
    assert browser.ask("/app/settings/tokens").send("/app/settings/tokens", description="x", days="-1").status == 422


def test_a_user_cannot_revoke_the_token_of_another_user(person, api_site):
    other = Person(api_site)
    theirs = other.api.get(f"users/{other.api.get('account/details').data['id']}/authentication-tokens").data[0]["id"]
    browser = person.signed_in()
    fields = browser.form("/app/logout")["fields"]
    assert browser.ask(f"/app/settings/tokens/{theirs}/revoke", fields).status == 404
    assert other.api.get("account/details").status == 200


# ---- OAuth ----

VERIFIER = "v" * 64
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
AUTHORIZATION_REQUEST = {"client_id": "terraform-cli", "response_type": "code", "code_challenge": CHALLENGE, "code_challenge_method": "S256",
        "redirect_uri": "http://localhost:10007/login", "state": "a state & more"}


def authorize(browser, **changes):
    return browser.ask("/oauth/authorize?" + urllib.parse.urlencode({**AUTHORIZATION_REQUEST, **changes}))


def approve(browser, press="approve"):
    browser.send("/oauth/authorize", press=press)
    location = urllib.parse.urlsplit(browser.headers["Location"])
    assert browser.status == 303 and location.geturl().startswith("http://localhost:10007/login?")
    return dict(urllib.parse.parse_qsl(location.query))


def redeem(person, granted_code, **changes):
    fields = {"client_id": "terraform-cli", "grant_type": "authorization_code", "code": granted_code, "code_verifier": VERIFIER,
              "redirect_uri": AUTHORIZATION_REQUEST["redirect_uri"], **changes}
    return person.api.call("POST", person.api.url + "/oauth/token", urllib.parse.urlencode(fields).encode(),
                           headers={"Content-Type": "application/x-www-form-urlencoded", "Authorization": None})


def test_discovery_announces_the_login_service(person):
    login = person.api.call("GET", person.api.url + "/.well-known/terraform.json").json["login.v1"]
    assert login == {"client": "terraform-cli", "grant_types": ["authz_code"], "authz": "/oauth/authorize", "token": "/oauth/token", "ports": [10000, 10010]}


def test_a_code_is_redeemed_for_a_token_once(person):
    browser = authorize(person.browser())
    assert "Sign in" in browser.text
    browser.send("/app/login", username=person.name, password=person.password)
    assert "Authorize terraform" in browser.text and person.name in browser.text
    answer = approve(browser)
    assert answer["state"] == AUTHORIZATION_REQUEST["state"]
    token = redeem(person, answer["code"])
    assert token.status == 200 and token.json["token_type"] == "bearer"
    mine = Api(person.api.url, token.json["access_token"], person.name)
    user = mine.get("account/details").data
    assert user["attributes"]["username"] == person.name
    assert mine.get(f"users/{user['id']}/authentication-tokens").data[0]["attributes"]["description"] == "terraform login"
    again = redeem(person, answer["code"])
    assert again.status == 400 and again.json["error"] == "invalid_grant"


def test_a_denied_authorization_redirects_with_an_error(person):
    answer = approve(authorize(person.signed_in()), press="deny")
    assert answer == {"error": "access_denied", "state": AUTHORIZATION_REQUEST["state"]}


@pytest.mark.parametrize("changes,error", [
    ({"code_verifier": "w" * 64}, "invalid_grant"),
    ({"code_verifier": "short"}, "invalid_grant"),
    ({"redirect_uri": "http://localhost:10008/login"}, "invalid_grant"),
    ({"client_id": "other"}, "invalid_client"),
    ({"grant_type": "password"}, "unsupported_grant_type"),
    ({"code": "guess"}, "invalid_grant"),
])
def test_a_code_is_not_redeemed_with_wrong_parameters(person, changes, error):
    code = approve(authorize(person.signed_in()))["code"]
    wrong = redeem(person, code, **changes)
    assert wrong.status == 400 and wrong.json["error"] == error
    # A request with the code but without its secret consumes the code.
    assert redeem(person, code).status == (400 if changes.keys() & {"code_verifier", "redirect_uri"} else 200)


def test_a_code_expires(person, api_site):
    code = approve(authorize(person.signed_in()))["code"]
    api_site.change("update oauth_codes set created_at = now() - interval '6 minutes'")
    assert redeem(person, code).status == 400


@pytest.mark.parametrize("changes", [
    {"redirect_uri": "http://evil.test:10007/login"}, {"redirect_uri": "http://localhost:9999/login"},
    {"redirect_uri": "http://localhost:10011/login"}, {"redirect_uri": "http://localhost:10007@evil.test/login"},
    {"redirect_uri": "http://localhost:10007/login/../x"}, {"redirect_uri": "https://localhost:10007/login"},
    {"redirect_uri": "http://localhost:10007.evil.test/login"}, {"redirect_uri": ""},
    {"client_id": "other"}, {"response_type": "token"}, {"code_challenge_method": "plain"}, {"code_challenge": "short"},
    {"code_challenge": "!" * 43}, {"state": "s" * 300},
])
def test_invalid_authorization_requests_are_refused_without_a_redirect(person, changes):
    browser = authorize(person.signed_in(), **changes)
    assert browser.status == 400 and "Location" not in browser.headers and "can't be authorized" in browser.text


def test_an_authorization_request_without_a_redirect_uri_is_refused(person):
    assert person.signed_in().ask("/oauth/authorize?client_id=terraform-cli").status == 400


def test_approval_needs_the_session_and_its_csrf_token(person):
    browser = authorize(person.signed_in())
    fields = {**browser.form("/oauth/authorize")["fields"], "answer": "approve", "csrf": "0" * 64}
    assert browser.ask("/oauth/authorize", fields).status == 403
    assert "Sign in" in person.browser().ask("/oauth/authorize", fields).text
