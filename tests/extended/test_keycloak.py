# SPDX-License-Identifier: MPL-2.0
"""Single sign-on through OpenID Connect with a real Keycloak, in Chromium, over TLS. deploy/identity/keycloak.md has the same steps for people."""

import re
import shutil
import uuid

import pytest
from playwright.sync_api import expect

from support.api import Api
from support.browser import Browser
from support.site import new_folder
from support.sso_site import TOKENS, SsoSite, answer_keycloak
from support.terraform_login import User
from support.wait import until


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
    """A realm, and the provider of the site that it is. It has the person `name`."""

    def __init__(self, sso, by_session=False, **attributes):
        self.sso, self.realm = sso, sso.keycloak.realm()
        self.name, self.issuer = f"Realm {self.realm.name}", self.realm.issuer
        # Created switched off: Keycloak asks for the addresses, and gives the secret.
        made = sso.admin.post("admin/oidc-settings", {"data": {"type": "oidc-settings", "attributes": {"name": self.name, "issuer": self.issuer, "enabled": False}}}).data
        self.id = made["id"]
        addresses = [sso.url + made["attributes"][name] for name in ("redirect-path", "logout-path")]
        client, secret = self.realm.oidc_client(*addresses, f"{sso.url}/app/login", by_session)
        self.change(**{"client-id": client, "client-secret": secret, "enabled": True, **attributes})

    def change(self, **attributes):
        return self.sso.admin.patch(f"admin/oidc-settings/{self.id}", {"data": {"type": "oidc-settings", "attributes": attributes}})

    def person(self, *groups):
        return self.realm.person(f"p-{uuid.uuid4().hex[:8]}", *groups)

    def signed_in(self, person, page=None):
        return self.sso.signed_in(self.name, person, page)

    def account(self, person):
        return self.sso.account(self.issuer, person)

    def teams(self, person):
        return self.sso.teams(self.account(person))


@pytest.fixture(scope="module")
def provider(sso):
    """The realm of all tests that leave its keys alone."""
    return Provider(sso)


def again(provider, page):
    """The person signs in once more, while Keycloak still knows them."""
    page.context.clear_cookies(domain="localhost")
    provider.sso.to_provider(page, provider.name)
    expect(page.get_by_role("heading", name="Tokens", exact=True)).to_be_visible()


def test_the_first_sign_in_creates_the_account_and_its_teams(sso, provider):
    facts = sso.admin.post(f"admin/oidc-settings/{provider.id}/actions/check").json
    assert facts["issuer"] == provider.issuer and facts["keys"] >= 1 and facts["ends-sessions"] and facts["notifies-of-logouts"]
    api = sso.organization(provider.id)
    sso.team(api, "network")
    sso.team(api, "Platform", **{"sso-team-id": provider.realm.group("cloud")})
    sso.team(api, "others")
    person = provider.person("cloud", provider.realm.group("network"))
    page = provider.signed_in(person)
    expect(page.get_by_role("banner")).to_contain_text(person)
    assert provider.teams(person) == {"network", "Platform"}
    page.goto("/app")
    page.get_by_role("table", name="Organizations").get_by_role("link", name=api.organization).click()
    expect(page.get_by_role("heading", name="Workspaces", exact=True)).to_be_visible()
    user = provider.account(person)
    assert sso.ask("select email, email_confirmed, password_hash is null from users where id = %s", user) == [(f"{person}@example.com", True, True)]
    assert sso.ask("select details from audit_events where action = 'sign_in' and actor_id = %s", user)[0][0] == {"method": "oidc", "provider": provider.id}


def test_membership_follows_the_groups_at_the_next_sign_in(sso, provider):
    api = sso.organization(provider.id)
    first, second = f"a-{uuid.uuid4().hex[:6]}", f"b-{uuid.uuid4().hex[:6]}"
    for name in (first, second):
        sso.team(api, provider.realm.group(name))
    person = provider.person(first)
    page = provider.signed_in(person)
    assert provider.teams(person) == {first}
    provider.realm.leave(person, first)
    provider.realm.join(person, second)
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
        page = sso.to_provider(sso.window(), provider.name, user.opened_url())
        answer_keycloak(page, person)
        expect(page.get_by_role("heading", name="Authorize terraform")).to_be_visible()
        page.get_by_role("button", name="Approve").click()
        login.ended(0)
    finally:
        login.release()
    mine = Api(sso.scheduler.url, user.credentials(), "acme", trust=sso.scheduler.trust)
    assert mine.get("account/details").data["attributes"]["username"] == person
    # The token ends with the link to the provider.
    provider.change(**{"token-days": 7})
    assert mine.call("GET", "account/details").status == 200
    sso.api_site.change("update identities set last_sign_in_at = now() - interval '8 days' where user_id = %s", provider.account(person))
    assert mine.call("GET", "account/details").status == 401
    again(provider, page)
    assert mine.call("GET", "account/details").status == 200


def test_a_disabled_person_is_signed_out(sso, provider):
    person, colleague = provider.person(), provider.person()
    first, second, other = provider.signed_in(person), provider.signed_in(person), provider.signed_in(colleague)
    provider.realm.disable(person)
    provider.realm.log_out(person)
    until(lambda: sso.refused(first) and sso.refused(second), "both sessions have ended")
    other.goto(TOKENS)
    expect(other.get_by_role("heading", name="Tokens", exact=True)).to_be_visible()
    assert sso.ask("select count(*) from audit_events where action = 'sign_out' and details ->> 'provider' = %s and resource_id = %s", provider.id, provider.account(person)) == [(2,)]
    sso.to_provider(first, provider.name)
    answer_keycloak(first, person)
    expect(first.get_by_text("Account is disabled")).to_be_visible()


def test_a_logout_of_one_session_ends_that_session(sso):
    provider = Provider(sso, by_session=True)
    person = provider.person()
    first, second = provider.signed_in(person), provider.signed_in(person)
    again(provider, first)  # a second session here, in the same one at Keycloak
    oldest, newest = provider.realm.sessions(person)
    provider.realm.end_session(oldest)
    until(lambda: sso.refused(first), "the session has ended")
    assert not sso.refused(second)
    assert sso.ask("select provider_session from sessions where provider_id = %s", provider.id) == [(newest,)]
    provider.realm.end_session(newest)
    until(lambda: sso.refused(second), "the other session has ended")


def test_a_sign_out_here_leads_to_the_sign_out_there(sso, provider):
    person = provider.person()
    page = provider.signed_in(person)
    page.get_by_role("banner").get_by_text(person, exact=True).click()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("link", name="Sign out there too").click()
    page.locator("#kc-logout").click()  # Keycloak asks, since it gets no ID token
    expect(page).to_have_url(f"{sso.url}/app/login")
    sso.to_provider(page, provider.name)
    expect(page.locator("#username")).to_be_visible()


def test_two_realms_with_two_domains(sso):
    domain = f"{uuid.uuid4().hex[:8]}.example"
    providers = {each: Provider(sso, domains=[each]) for each in (f"one.{domain}", f"two.{domain}")}
    for each, provider in providers.items():
        person = provider.realm.person("ada", email=f"ada@{each}")
        page = sso.window()
        page.goto(TOKENS)
        page.get_by_label("E-mail address at work").fill(f"ada@{each}")
        page.get_by_role("button", name="Find your identity provider").click()
        page.get_by_role("link", name=f"Sign in with {provider.name}", exact=True).click()
        assert page.url.startswith(provider.issuer)
        answer_keycloak(page, person)
        expect(page.get_by_role("heading", name="Tokens", exact=True)).to_be_visible()
    # The same name twice is two accounts, with two subjects.
    names = sso.ask("select u.username, u.email from users u join identities i on i.user_id = u.id where i.issuer = any(%s) order by u.email", [p.issuer for p in providers.values()])
    assert names == [("ada", f"ada@one.{domain}"), ("ada-2", f"ada@two.{domain}")]


def test_an_organization_that_enforces_it_refuses_local_members(sso, provider):
    api = sso.organization(provider.id)
    sso.team(api, "network", **{"sso-team-id": (group := provider.realm.group(f"g-{uuid.uuid4().hex[:6]}"))})
    page = provider.signed_in(provider.person(group))
    local = sso.api_site.bootstrap(name := f"u-{uuid.uuid4().hex[:8]}", name)
    sso.api_site.change("update users set is_site_admin = false where username = %s", name)
    sso.api_site.change("insert into organization_memberships (organization_id, user_id, id) select o.id, u.id, 'ou-' || u.id from organizations o, users u where o.name = %s and u.username = %s",
                        api.organization, name)
    browser = Browser(sso.url, trust=sso.scheduler.trust).sign_in(name, local["password"])
    assert browser.ask(f"/api/v2/organizations/{api.organization}").status == 200
    api.patch(f"organizations/{api.organization}/sso-settings", {"data": {"type": "sso-settings", "attributes": {"required": True}}})
    member = sso.window()
    member.goto(f"/app/{api.organization}/workspaces")
    member.get_by_label("Username").fill(name)
    member.get_by_label("Password").fill(local["password"])
    member.get_by_role("button", name="Sign in", exact=True).click()
    expect(member.get_by_role("main")).to_contain_text(re.compile("requires single sign-on.*sign in through its identity provider"))
    page.goto(f"/app/{api.organization}/workspaces")
    expect(page.get_by_role("heading", name="Workspaces", exact=True)).to_be_visible()
    sso.api_site.change("update users set is_break_glass = true where username = %s", name)
    member.reload()
    expect(member.get_by_role("heading", name="Workspaces", exact=True)).to_be_visible()


def test_keys_are_rotated_without_a_failed_sign_in(sso):
    provider = Provider(sso)
    page = provider.signed_in(person := provider.person())
    new = provider.realm.new_key()
    again(provider, page)
    provider.realm.delete_old_keys(new)
    again(provider, page)
    provider.signed_in(person)
    # Logout tokens are signed with the new key, too.
    provider.realm.log_out(person)
    until(lambda: sso.refused(page), "the session has ended")


def test_a_sign_in_begins_at_one_scheduler_and_ends_at_another(sso, provider):
    second, url = sso.second_scheduler()
    try:
        person = provider.person()
        page = sso.to_provider(sso.window(url), provider.name)
        assert f"redirect_uri=https%3A%2F%2Flocalhost%3A{sso.scheduler.port}" in page.url
        answer_keycloak(page, person)
        expect(page.get_by_role("heading", name="Tokens", exact=True)).to_be_visible()
        assert page.url == sso.url + TOKENS
        page.goto(url + TOKENS)  # the session is one of all schedulers
        expect(page.get_by_role("banner")).to_contain_text(person)
    finally:
        second.release()


def test_a_keycloak_that_is_away_gets_one_sentence_and_signed_in_people_go_on(sso, provider):
    person = provider.person()
    page, fresh = provider.signed_in(person), sso.window()
    begun = sso.to_provider(sso.window(), provider.name)
    begun.locator("#username").fill(person)
    sso.keycloak.stop()
    try:
        page.goto(TOKENS)
        expect(page.get_by_role("heading", name="Tokens", exact=True)).to_be_visible()

        def said():
            fresh.goto(TOKENS)
            link = fresh.get_by_role("link", name=f"Sign in with {provider.name}", exact=True)
            answer = fresh.request.get(sso.url + link.get_attribute("href"), max_redirects=0)
            return answer.status == 503

        until(said, "the scheduler notices within seconds")
        sso.to_provider(fresh, provider.name)
        expect(fresh.get_by_role("heading", name="Sign-in is not possible now")).to_be_visible()
        expect(fresh.get_by_role("main")).to_contain_text("The identity provider does not answer")
    finally:
        sso.keycloak.start()
    provider.signed_in(person, fresh)
    page.goto(TOKENS)
    expect(page.get_by_role("heading", name="Tokens", exact=True)).to_be_visible()
