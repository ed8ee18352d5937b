# SPDX-License-Identifier: MPL-2.0
"""Single sign-on in the browser: an OpenID provider is set up, tested and switched on; an organization requires it; people sign in and link accounts."""

import re

import pytest
from playwright.sync_api import expect

from support.api import Api
from support.api_site import open_api_site
from support.oidc_provider import OidcProvider
from support.pages import sign_in

PROVIDERS = "/app/admin/oidc"


@pytest.fixture(scope="module")
def site(postgres):
    """A site of its own: it accepts identity providers on this machine."""
    with open_api_site(postgres) as site:
        site.api = Api(site.scheduler.url, site.tokens["token"])
        yield site


@pytest.fixture
def provider(visitors):
    provider = OidcProvider()
    visitors.expect_site(provider.url)
    yield provider
    provider.release()


@pytest.fixture
def enabled(site, provider):
    """The provider's id, once it is on the sign-in page."""
    made = site.api.post("admin/oidc-settings", {"data": {"type": "oidc-settings", "attributes": provider.attributes("Example ID")}}).data["id"]
    yield made
    site.api.delete(f"admin/oidc-settings/{made}")


def dialog(page, button):
    page.get_by_role("button", name=button, exact=True).click()
    return page.get_by_role("dialog")


def test_a_provider_is_created_tested_and_switched_on(browser_page, visitors, site, provider, axe):
    page = browser_page(PROVIDERS)
    expect(page.get_by_text("There is none. People sign in with passwords.")).to_be_visible()
    axe(page)
    # Created first without a client: the provider asks for the addresses before it gives one.
    new = dialog(page, "New provider")
    new.get_by_label("Name", exact=True).fill("Example ID")
    new.get_by_label("Issuer").fill(provider.issuer)
    axe(page)
    new.get_by_role("button", name="Create").click()
    row = page.get_by_role("row", name=re.compile("Example ID"))
    expect(row).to_contain_text("Disabled")
    made = site.api.get("admin/oidc-settings").data[0]
    expect(row).to_contain_text(f"{site.scheduler.url}/oidc/{made['id']}/callback")
    expect(row).to_contain_text(f"{site.scheduler.url}/oidc/{made['id']}/backchannel-logout")
    axe(page)
    # The client of the provider is entered. The test of a sign-in finds a wrong secret.
    edit = dialog(page, "Edit Example ID")
    edit.get_by_label("Client id").fill(provider.client)
    edit.get_by_label("Client secret").fill("wrong")
    edit.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    row.get_by_role("button", name="Check Example ID").click()
    expect(row.get_by_role("status")).to_contain_text("The provider answers, with 1 key")
    visitors.expect_console("403")
    row.get_by_role("link", name="Test a sign-in").click()
    expect(page.get_by_role("heading", name="The connection does not work")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("invalid_client")
    axe(page)
    page.get_by_role("link", name="OpenID providers").click()
    edit = dialog(page, "Edit Example ID")
    edit.get_by_label("Client secret").fill(provider.secret)
    edit.get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    provider.person["groups"] = ["net", "ops"]
    row.get_by_role("link", name="Test a sign-in").click()
    expect(page.get_by_role("heading", name="The connection works")).to_be_visible()
    for text in ("ada@example.com", '["net","ops"]', "email_verified"):
        expect(page.get_by_role("main")).to_contain_text(text)
    axe(page)
    assert not site.ask("select 1 from identities")
    # It is switched on.
    page.get_by_role("link", name="OpenID providers").click()
    edit = dialog(page, "Edit Example ID")
    edit.get_by_label("On the sign-in page").check()
    edit.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("Enabled")
    other = visitors(site.scheduler.url)
    other.goto("/app/settings/tokens")
    axe(other)
    other.get_by_role("link", name="Sign in with Example ID").click()
    expect(other.get_by_role("heading", name="Tokens", exact=True)).to_be_visible()
    expect(other.get_by_role("banner")).to_contain_text("ada")
    remove = dialog(page, "Delete Example ID")
    remove.get_by_label("Type Example ID to confirm").fill("Example ID")
    remove.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("There is none. People sign in with passwords.")).to_be_visible()


def test_a_check_says_what_is_wrong(browser_page, visitors, site, provider, enabled):
    provider.away.set()
    visitors.expect_console("422")
    page = browser_page(PROVIDERS)
    page.get_by_role("button", name="Check Example ID").click()
    expect(page.get_by_role("row", name=re.compile("Example ID"))).to_contain_text("does not answer")


def test_an_organization_requires_single_sign_on(browser_page, visitors, site, provider, enabled, axe):
    owner = site.stranger("globex")
    password = site.bootstrap("helper", "helper")["password"]
    site.change("update users set is_site_admin = false, password_hash = (select password_hash from users where username = 'helper') where username = 'globex'")
    page = browser_page("/app/globex/settings/sso", user=("globex", password))
    page.get_by_label("Example ID").check()
    page.get_by_label("Members must sign in through one of them").check()
    axe(page)
    visitors.expect_console("422")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("so that you don't lock yourself out").first).to_be_visible()
    page.get_by_label("Members must sign in through one of them").uncheck()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name=re.compile("^Save.*nothing has changed"))).to_be_visible()
    # The owner links the account, signs in through it, and requires it then.
    page.goto("/app/settings/identities")
    axe(page)
    page.get_by_role("link", name="Link Example ID").click()
    expect(page.get_by_role("row", name=re.compile("Example ID"))).to_contain_text("ada")
    axe(page)
    mine = visitors(site.scheduler.url)
    mine.goto("/app/globex/settings/sso")
    mine.get_by_role("link", name="Sign in with Example ID").click()
    mine.get_by_label("Members must sign in through one of them").check()
    mine.get_by_role("button", name="Save").click()
    expect(mine.get_by_role("button", name=re.compile("^Save.*nothing has changed"))).to_be_visible()
    # The session with the password is refused now, and the page says what to do.
    visitors.expect_console("403")
    page.goto("/app/globex/workspaces")
    expect(page.get_by_role("main")).to_contain_text("requires single sign-on")
    assert owner.call("GET", "organizations/globex").status == 403


def test_an_address_leads_to_its_provider(visitors, site, provider, enabled, axe):
    site.api.patch(f"admin/oidc-settings/{enabled}", {"data": {"type": "oidc-settings", "attributes": {"domains": ["example.com"]}}})
    page = visitors(site.scheduler.url)
    page.goto("/app/settings/tokens")
    page.get_by_label("E-mail address at work").fill("ada@example.com")
    axe(page)
    page.get_by_role("button", name="Find your identity provider").click()
    axe(page)
    page.get_by_role("link", name="Sign in with Example ID").click()
    expect(page.get_by_role("heading", name="Tokens", exact=True)).to_be_visible()


def test_a_provider_that_is_away_gets_one_sentence(visitors, site, provider, enabled, axe):
    provider.away.set()
    visitors.expect_console("503")
    page = visitors(site.scheduler.url)
    page.goto("/app/settings/tokens")
    page.get_by_role("link", name="Sign in with Example ID").click()
    expect(page.get_by_role("heading", name="Sign-in is not possible now")).to_be_visible()
    expect(page.get_by_role("main")).to_contain_text("The identity provider does not answer")
    axe(page)
    sign_in(page, site.tokens["user"], site.tokens["password"], "/app/settings/tokens")
    expect(page.get_by_role("heading", name="Tokens", exact=True)).to_be_visible()
