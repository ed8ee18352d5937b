# SPDX-License-Identifier: MPL-2.0
"""Passkeys and second factors in a real browser, whose virtual authenticator keeps the keys."""

import re

import pytest
from playwright.sync_api import expect

from support import pages
from support.api import Api
from support.api_site import open_api_site
from support.passkeys import app_code

FACTORS = "/app/settings/two-factor"


@pytest.fixture(scope="module")
def local_site(postgres):
    """Browsers accept passkeys of `localhost`, and not of an address."""
    with open_api_site(postgres) as site:
        site.address = site.scheduler.options["public_url"] = f"http://localhost:{site.scheduler.port}"
        site.scheduler.restart()
        yield site


class Person:
    def __init__(self, site, visitors, name):
        made = site.bootstrap(name, name)
        self.site, self.visitors, self.name, self.password = site, visitors, name, made["password"]
        self.api = Api(f"http://127.0.0.1:{site.address.rpartition(':')[2]}", made["token"], name)

    def visit(self, verifies=True):
        """A window of a browser with an authenticator; signs in with the password if the session has ended."""
        page = self.visitors(self.site.address)
        self.tool = page.context.new_cdp_session(page)
        self.tool.send("WebAuthn.enable")
        options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True, "isUserVerified": verifies,
                   "automaticPresenceSimulation": True}
        self.authenticator = self.tool.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]
        return page

    def keys(self):
        return self.tool.send("WebAuthn.getCredentials", {"authenticatorId": self.authenticator})["credentials"]

    def use_keys(self, keys):
        for key in keys:
            self.tool.send("WebAuthn.addCredential", {"authenticatorId": self.authenticator, "credential": key})


@pytest.fixture
def person(local_site, visitors, request):
    name = "p-" + re.sub(r"[^a-z]+", "-", request.node.name.lower())[:40].strip("-")
    return Person(local_site, visitors, name)


def add_passkey(person):
    page = pages.sign_in(person.visit(), person.name, person.password, FACTORS)
    page.get_by_label("Name").fill("My laptop")
    page.get_by_role("button", name="Add passkey").click()
    expect(page.get_by_role("heading", name="Recovery codes").first).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="My laptop")).to_contain_text("Passkey")
    return page


def test_a_passkey_is_added_and_signs_in_without_a_password(person, axe):
    page = add_passkey(person)
    axe(page)
    keys = person.keys()
    assert len(keys) == 1 and keys[0]["rpId"] == "localhost"
    page = person.visit()
    person.use_keys(keys)
    page.goto("/app/login?return=/app/settings/sessions")
    axe(page)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="Sessions")).to_be_visible()
    expect(page.get_by_role("row").filter(has_text="This browser")).to_contain_text("passkey")
    axe(page)


def test_a_passkey_is_the_second_factor(person, axe):
    add_passkey(person)
    keys = person.keys()
    page = person.visit()
    person.use_keys(keys)
    pages.sign_in(page, person.name, person.password, "/app/settings/sessions")
    expect(page.get_by_role("heading", name="Second factor")).to_be_visible()
    axe(page)
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("row").filter(has_text="This browser")).to_contain_text("password, passkey")


def test_an_authenticator_that_verifies_nobody_does_not_sign_in_alone(person, visitors):
    add_passkey(person)
    keys = person.keys()
    page = person.visit(verifies=False)
    person.use_keys(keys)
    page.goto("/app/login")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("alert")).to_contain_text("The passkey was not used")
    assert not [cookie for cookie in page.context.cookies() if cookie["name"] == "runyard_session"]


def test_an_app_is_set_up_by_its_qr_code_and_its_key(person, axe):
    page = pages.sign_in(person.visit(), person.name, person.password, FACTORS)
    expect(page.get_by_text("Your account has no second factor.")).to_be_visible()
    page.get_by_role("button", name="Set up an app").click()
    expect(page.get_by_role("img", name="QR code of the key")).to_be_visible()
    axe(page)
    secret = page.locator("code.key").inner_text()
    page.get_by_label("Code that the app shows").fill(app_code(secret))
    page.get_by_role("button", name="Confirm").click()
    codes = page.locator(".codes li").all_inner_texts()
    assert len(set(codes)) == 10
    page = pages.sign_in(person.visit(), person.name, person.password, "/app")
    page.get_by_label("recovery code").fill(codes[3])
    page.get_by_role("button", name="Sign in", exact=True).click()
    expect(page.get_by_role("heading", name="Organizations")).to_be_visible()


def test_a_passkey_can_be_removed(person):
    page = add_passkey(person)
    page.get_by_role("button", name="Remove My laptop").click()
    expect(page.get_by_text("Your account has no second factor.")).to_be_visible()
    assert person.api.get("account/details").data["attributes"]["two-factor"]["enabled"] is False


def test_who_needs_a_factor_is_led_to_set_it_up(person, local_site):
    local_site.change("update organizations set settings = settings || '{\"collaborator-auth-policy\": \"two_factor_mandatory\"}' where name = %s", person.name)
    page = pages.sign_in(person.visit(), person.name, person.password, f"/app/{person.name}/workspaces")
    expect(page.get_by_role("alert")).to_contain_text("You need a second factor")
    expect(page).to_have_url(re.compile("/app/settings/two-factor"))


def test_a_site_admin_acts_as_a_user_under_a_banner(person, local_site, axe):
    other = local_site.bootstrap(f"{person.name}-b", f"{person.name}-b")
    local_site.change("update users set is_site_admin = false where username = %s", f"{person.name}-b")
    page = pages.sign_in(person.visit(), person.name, person.password, f"/app/admin/users?q={person.name}-b")
    page.get_by_role("button", name=f"Act as {person.name}-b").click()
    dialog = page.get_by_role("dialog")
    axe(page)
    dialog.get_by_label("Reason").fill("a ticket")
    dialog.get_by_role("button", name="Act as this user").click()
    banner = page.locator(".impersonation")
    expect(banner).to_contain_text(f"You act as {person.name}-b")
    expect(page.get_by_role("heading", name="Organizations")).to_be_visible()
    axe(page)
    page.goto("/app/settings/sessions")
    expect(banner).to_contain_text(person.name)
    axe(page)
    banner.get_by_role("button", name="Stop").click()
    expect(page.get_by_role("heading", name="Users")).to_be_visible()
    expect(banner).to_have_count(0)
    assert other["password"]
