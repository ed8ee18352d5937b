# SPDX-License-Identifier: MPL-2.0
"""Sessions of people, forgotten passwords, accounts for emergencies."""

import hashlib
import random
import re
import urllib.parse
import uuid

import pytest

from support.api import Api
from support.browser import Browser
from support.mail_server import MailServer
from support.runyard import KEYS, Notifier, Scheduler
from support.wait import until

PASSWORD = "correct horse battery"
SESSIONS = "/app/settings/sessions"


class Person:
    def __init__(self, api_site):
        self.name = f"u-{uuid.uuid4().hex[:12]}"
        made = api_site.bootstrap(self.name, self.name)
        self.api_site, self.password, self.email = api_site, made["password"], f"{self.name}@example.com"
        self.api = Api(api_site.scheduler.url, made["token"], self.name)
        self.user = self.api.get("account/details").data["id"]

    def browser(self):
        return Browser(self.api_site.scheduler.url, address=f"10.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(256)}")

    def signed_in(self, path=SESSIONS):
        return self.browser().sign_in(self.name, self.password, path)

    def actions(self):
        return [row[0] for row in self.api_site.ask("select action from audit_events where lower(actor_name) = %s or resource_id = %s order by position", self.name, self.user)]


@pytest.fixture
def person(api_site):
    return Person(api_site)


def hash_of(browser):
    return hashlib.sha256(browser.cookie.value.encode()).hexdigest()


def ended(browser):
    return "Sign in" in browser.ask(SESSIONS).text


# ---- sessions ----


def test_sessions_are_listed_and_ended(person, api_site):
    own, other, third = person.signed_in(), person.signed_in(), person.signed_in()
    page = own.ask(SESSIONS)
    assert page.page.count("This browser") == 1 and other.own_headers["X-Forwarded-For"] in page.text and "Python-urllib" in page.text
    assert hash_of(other) not in page.page
    path = f"{SESSIONS}/sess-{hash_of(other)[:16]}/end"
    own.send(path)
    assert own.status == 200 and ended(other) and not ended(third)
    assert own.ask(path, own.ask(SESSIONS).form(f"{SESSIONS}/end-others")["fields"]).status == 404
    own.ask(SESSIONS).send(f"{SESSIONS}/end-others")
    assert ended(third) and not ended(own)
    assert {"destroy", "end_others"} <= set(person.actions())


def test_a_session_of_another_person_is_not_ended(person, api_site):
    theirs, own = Person(api_site).signed_in(), person.signed_in()
    fields = own.form(f"{SESSIONS}/end-others")["fields"]
    assert own.ask(f"{SESSIONS}/sess-{hash_of(theirs)[:16]}/end", fields).status == 404
    assert person.api.call("DELETE", f"account/sessions/sess-{hash_of(theirs)[:16]}").status == 404
    own.send(f"{SESSIONS}/end-others") if own.status == 200 else own.ask(SESSIONS).send(f"{SESSIONS}/end-others")
    assert person.api.call("DELETE", "account/sessions").status == 204
    assert not ended(theirs)


def test_the_api_lists_and_ends_sessions(person):
    one, two = person.signed_in(), person.signed_in()
    listed = {item["id"]: item["attributes"] for item in person.api.get("account/sessions").data}
    assert set(listed) == {f"sess-{hash_of(browser)[:16]}" for browser in (one, two)}
    shown = listed[f"sess-{hash_of(one)[:16]}"]
    assert shown["method"] == "password" and shown["factors"] == [] and shown["address"] == one.own_headers["X-Forwarded-For"] and not shown["is-current"]
    with_cookie = {"Cookie": f"runyard_session={one.cookie.value}", "Authorization": None}
    own = Api(person.api.url, None, person.name).call("GET", "account/sessions", headers=with_cookie).data
    assert [item["id"] for item in own if item["attributes"]["is-current"]] == [f"sess-{hash_of(one)[:16]}"]
    assert person.api.call("DELETE", f"account/sessions/sess-{hash_of(one)[:16]}").status == 204 and ended(one)
    assert person.api.call("DELETE", "account/sessions").status == 204 and ended(two)


@pytest.mark.parametrize("setting,column", [("session-timeout", "last_seen_at"), ("session-remember", "created_at")])
def test_the_limits_of_organizations_act(person, api_site, setting, column):
    browser = person.signed_in()
    api_site.change(f"update sessions set {column} = now() - interval '90 minutes' where hash = %s", hash_of(browser))
    assert person.api.get("account/sessions").data
    assert not ended(browser)
    api_site.change(f"update sessions set {column} = now() - interval '90 minutes' where hash = %s", hash_of(browser))
    person.api.patch(f"organizations/{person.name}", {"data": {"type": "organizations", "attributes": {setting: 60}}})
    assert ended(browser) and person.api.get("account/sessions").data == []
    person.api.patch(f"organizations/{person.name}", {"data": {"type": "organizations", "attributes": {setting: 30000}}})
    api_site.change(f"update sessions set {column} = now() - interval '20 days' where hash = %s", hash_of(browser))
    assert not ended(browser)


# ---- forgotten passwords ----


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


def mails_to(mails, address, count=1):
    def found():
        return [mail for mail in mails.mails if address in mail.recipients]

    until(lambda: len(found()) >= count, lambda: f"{count} mails to {address}: {[mail.recipients for mail in mails.mails]}")
    return found()


def ask_for_link(person, name):
    browser = person.browser().ask("/app/login")
    assert "Forgot your password?" in browser.text
    return browser.ask("/app/login/forgot").send("/app/login/forgot", name=name)


def path_in(mail):
    link = urllib.parse.urlsplit(re.search(r"https?://\S+/app/login/reset\S+", mail.text)[0])
    return f"{link.path}?{link.query}"


def set_password(browser, path, password=PASSWORD, again=None):
    browser.ask(path)
    return browser.send("/app/login/reset", password=password, password_confirmation=password if again is None else again)


def test_a_mailed_link_sets_the_password_once(person, api_site, mails):
    signed_in = person.signed_in()
    answer = ask_for_link(person, person.name.upper())
    assert answer.status == 200 and "is on its way" in answer.text
    (mail,) = mails_to(mails, person.email)
    path = path_in(mail)
    browser = person.browser()
    assert set_password(browser, path, "short").status == 422 and set_password(browser, path, again="different one").status == 422
    done = set_password(browser, path)
    assert done.status == 200 and "is set" in done.text and done.cookie is None
    assert ended(signed_in) and person.signed_in().status == 401
    assert person.browser().sign_in(person.name, PASSWORD).cookie
    assert browser.ask(path).status == 410
    assert {"password_reset_asked", "password_reset"} <= set(person.actions())
    code = urllib.parse.parse_qs(urllib.parse.urlsplit(path).query)["code"][0]
    assert code not in str(api_site.ask("select e::text from audit_events e")) + api_site.scheduler.process.log() + mails.notifier.process.log()


def test_a_link_is_used_once_by_two_browsers_and_ends_the_others(person, mails):
    ask_for_link(person, person.email)
    ask_for_link(person, person.name)
    one, two = (path_in(mail) for mail in mails_to(mails, person.email, 2))
    first, second, third = person.browser().ask(one), person.browser().ask(one), person.browser().ask(two)
    assert first.status == second.status == third.status == 200
    assert first.send("/app/login/reset", password=PASSWORD, password_confirmation=PASSWORD).status == 200
    for late in (second, third):
        assert late.send("/app/login/reset", password="x" * 12, password_confirmation="x" * 12).status == 410


def test_a_link_expires_and_is_not_forged(person, api_site, mails):
    ask_for_link(person, person.email)
    (mail,) = mails_to(mails, person.email)
    path = path_in(mail)
    code = urllib.parse.parse_qs(urllib.parse.urlsplit(path).query)["code"][0]
    for wrong in ("", "x", code[4:], code[:-8] + "AAAAAAA=", "x" * 4000):
        assert person.browser().ask(f"/app/login/reset?code={urllib.parse.quote(wrong)}").status == 410
    api_site.change("update password_resets set created_at = now() - interval '61 minutes' where user_id = %s", person.user)
    assert person.browser().ask(path).status == 410
    api_site.change("update password_resets set created_at = now(), user_id = user_id where user_id = %s", person.user)
    api_site.change("update users set is_suspended = true where id = %s", person.user)
    assert person.browser().ask(path).status == 410


def test_known_and_unknown_names_get_the_same_answer(person, api_site):
    unconfirmed, suspended = Person(api_site), Person(api_site)
    api_site.change("update users set email_confirmed = false where id = %s", unconfirmed.user)
    api_site.change("update users set is_suspended = true where id = %s", suspended.user)
    pages = {ask_for_link(person, name).page for name in (person.name, person.email, "nobody", "nobody@example.com", unconfirmed.email, suspended.name, "ü", "'; --")}
    assert len(pages) == 1
    assert api_site.ask("select count(*) from password_resets where user_id in (%s, %s)", unconfirmed.user, suspended.user) == [(0,)]
    assert api_site.ask("select count(*) from password_resets where user_id = %s", person.user) == [(2,)]


def test_links_are_limited_by_name_and_by_address(person, api_site):
    assert [ask_for_link(person, person.name.upper() if n % 2 else person.name).status for n in range(5)] == [200, 200, 200, 429, 429]
    assert api_site.ask("select count(*) from password_resets where user_id = %s", person.user) == [(3,)]
    assert ask_for_link(person, person.email).status == 200
    assert api_site.ask("select count(*) from password_resets where user_id = %s", person.user) == [(3,)]
    one = person.browser()
    statuses = [one.ask("/app/login/forgot", {"name": f"nobody-{n}"}).status for n in range(12)]
    assert statuses[0] == 200 and statuses[-1] == 429


def test_an_account_of_a_provider_is_told_to_sign_in_there(person, api_site, mails):
    api_site.change("update users set password_hash = null where id = %s", person.user)
    assert "is on its way" in ask_for_link(person, person.name).text
    (mail,) = mails_to(mails, person.email)
    assert "has no password" in mail.text and "/app/login/reset" not in mail.text and f"{api_site.scheduler.url}/app/login" in mail.text


# ---- accounts for emergencies ----


def test_each_session_of_an_emergency_account_is_reported(person, api_site, mails):
    org = api_site.organization()
    other = Person(api_site)
    api_site.change("update users set is_site_admin = false where id = %s", person.user)
    assert org.post(f"admin/users/{person.user}/actions/grant_break_glass").data["attributes"]["is-break-glass"] is True
    assert person.api.call("POST", f"admin/users/{other.user}/actions/grant_break_glass").status == 404
    other.signed_in()
    person.signed_in()
    (mail,) = mails_to(mails, other.email)  # a site admin, too
    assert "emergency" in mail.subject and person.name in mail.text
    assert person.actions().count("break_glass_sign_in") == 1 and "break_glass_sign_in" not in other.actions()
    assert org.post(f"admin/users/{person.user}/actions/revoke_break_glass").data["attributes"]["is-break-glass"] is False
    person.signed_in()
    assert person.actions().count("break_glass_sign_in") == 1


def test_an_operator_marks_an_emergency_account(person, api_site):
    def command(*words):
        return Scheduler.run_command("break-glass", *words, check=False, database_url=api_site.database, keys=KEYS)

    assert command(person.name, "on").returncode == 0
    assert api_site.ask("select is_break_glass from users where id = %s", person.user) == [(True,)]
    assert command(person.name, "off").returncode == 0 and command("nobody", "on").returncode == 1 and command(person.name, "perhaps").returncode != 0
    assert api_site.ask("select is_break_glass from users where id = %s", person.user) == [(False,)]
    assert {"grant_break_glass", "revoke_break_glass"} <= set(person.actions())
