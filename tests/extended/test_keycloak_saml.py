# SPDX-License-Identifier: MPL-2.0
"""Sign-in by SAML with a real Keycloak, in Chromium, over TLS: deploy/identity/saml.md has the same steps for people."""

import shutil
import uuid

import pytest
from playwright.sync_api import expect

from support.api import Api
from support.browser import Browser
from support.saml_provider import make_key
from support.site import new_folder
from support.sso_site import TOKENS, SsoSite, answer_keycloak
from support.terraform_login import User
from support.wait import until

NAME = "SAML"  # of the button


@pytest.fixture(scope="module")
def sso(postgres):
    folder = new_folder("keycloak")
    site = SsoSite(folder, postgres)
    try:
        yield site.start()
    finally:
        site.release()
        shutil.rmtree(folder, ignore_errors=True)


class Provider:
    """A realm that is the site's SAML provider: metadata is exchanged in both directions."""

    def __init__(self, sso):
        self.sso, self.realm = sso, sso.keycloak.realm()
        self.issuer = self.realm.issuer
        key, certificate = make_key(sso.folder, "service")
        self.set(**{"certificate": certificate.read_text(), "private-key": key.read_text(), "authn-requests-signed": True, "team-management-enabled": True})
        self.read_metadata()
        self.realm.saml_client(Browser(sso.url, trust=sso.scheduler.trust).ask("/users/saml/metadata").page)
        self.set(enabled=True)

    def set(self, **attributes):
        return self.sso.admin.patch("admin/saml-settings", {"data": {"type": "saml-settings", "attributes": attributes}}).data["attributes"]

    def read_metadata(self):
        return self.set(**{"idp-metadata-url": self.realm.saml_metadata})

    def person(self, *groups):
        return self.realm.person(f"p-{uuid.uuid4().hex[:8]}", *groups)

    def signed_in(self, person, page=None):
        return self.sso.signed_in(NAME, person, page)

    def account(self, person):
        return self.sso.account(self.issuer, person)

    def teams(self, person):
        return self.sso.teams(self.account(person))


@pytest.fixture(scope="module")
def provider(sso):
    return Provider(sso)


def again(provider, page):
    """The person signs in once more, while Keycloak still knows them."""
    page.context.clear_cookies(domain="localhost")
    provider.sso.to_provider(page, NAME)
    expect(page.get_by_role("heading", name="Tokens", exact=True)).to_be_visible()


def test_the_first_sign_in_creates_the_account_and_its_teams(sso, provider):
    api = sso.organization()
    sso.team(api, provider.realm.group("network"))
    sso.team(api, "Platform", **{"sso-team-id": provider.realm.group("cloud")})
    sso.team(api, "others")
    person = provider.person("network", "cloud")
    page = provider.signed_in(person)
    expect(page.get_by_role("banner")).to_contain_text(person)
    assert provider.teams(person) == {"network", "Platform"}
    user = provider.account(person)
    assert sso.ask("select email, password_hash is null from users where id = %s", user) == [(f"{person}@example.com", True)]
    assert sso.ask("select details ->> 'method' from audit_events where action = 'sign_in' and actor_id = %s", user) == [("saml",)]


def test_membership_follows_the_groups_at_the_next_sign_in(sso, provider):
    api = sso.organization()
    first, second = f"a-{uuid.uuid4().hex[:6]}", f"b-{uuid.uuid4().hex[:6]}"
    for name in (first, second):
        sso.team(api, provider.realm.group(name))
    person = provider.person(first)
    page = provider.signed_in(person)
    assert provider.teams(person) == {first}
    provider.realm.join(person, second)
    provider.realm.leave(person, first)
    again(provider, page)
    assert provider.teams(person) == {second}
    provider.realm.leave(person, second)
    again(provider, page)
    assert provider.teams(person) == set()


def test_terraform_login(sso, provider, engine, tmp_path):
    person = provider.person()
    user = User(tmp_path, sso.scheduler, sso.authority, engine)
    login = user.login()
    try:
        page = sso.to_provider(sso.window(), NAME, user.opened_url())
        answer_keycloak(page, person)
        expect(page.get_by_role("heading", name="Authorize terraform")).to_be_visible()
        page.get_by_role("button", name="Approve").click()
        login.ended(0)
    finally:
        login.release()
    mine = Api(sso.scheduler.url, user.credentials(), "acme", trust=sso.scheduler.trust)
    assert mine.get("account/details").data["attributes"]["username"] == person


def test_a_disabled_person_is_signed_out(sso, provider):
    person, colleague = provider.person(), provider.person()
    page, other = provider.signed_in(person), provider.signed_in(colleague)
    provider.realm.disable(person)
    provider.realm.log_out(person)
    until(lambda: sso.refused(page), "the session has ended")
    assert not sso.refused(other)
    sso.to_provider(page, NAME)
    answer_keycloak(page, person)
    expect(page.get_by_text("Account is disabled")).to_be_visible()


def test_a_sign_out_here_is_one_there(sso, provider):
    person = provider.person()
    page = provider.signed_in(person)
    page.get_by_role("banner").get_by_text(person, exact=True).click()
    page.get_by_role("button", name="Sign out").click()
    page.wait_for_url(f"{sso.url}/app/login")
    assert not provider.realm.sessions(person)
    sso.to_provider(page, NAME)
    expect(page.locator("#username")).to_be_visible()


def test_a_sign_in_begins_at_one_scheduler_and_ends_at_another(sso, provider):
    second, url = sso.second_scheduler()
    try:
        person = provider.person()
        page = sso.to_provider(sso.window(url), NAME)
        answer_keycloak(page, person)
        expect(page.get_by_role("heading", name="Tokens", exact=True)).to_be_visible()
        assert page.url == sso.url + TOKENS
        page.goto(url + TOKENS)
        expect(page.get_by_role("banner")).to_contain_text(person)
    finally:
        second.release()


def test_the_certificate_is_rotated_without_a_failed_sign_in(sso, provider):
    """The new key is published before it signs: the metadata is read in between."""
    person = provider.person()
    page = provider.signed_in(person)
    old = provider.set()["idp-cert"]
    new = provider.realm.new_key(active=False)
    again(provider, page)
    settings = provider.read_metadata()
    assert {settings["idp-cert"], settings["old-idp-cert"]} > {old}
    again(provider, page)
    provider.realm.activate_key(new)
    again(provider, page)
    provider.realm.delete_old_keys(new)
    again(provider, page)
    assert provider.read_metadata()["idp-cert"] != old
    sso.admin.post("admin/saml-settings/actions/revoke-old-certificate")
    again(provider, page)


def test_signed_in_people_go_on_while_keycloak_is_away(sso, provider):
    person = provider.person()
    page = provider.signed_in(person)
    sso.keycloak.stop()
    try:
        page.goto(TOKENS)
        expect(page.get_by_role("heading", name="Tokens", exact=True)).to_be_visible()
    finally:
        sso.keycloak.start()
    again(provider, page)
