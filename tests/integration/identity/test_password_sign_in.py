# SPDX-License-Identifier: MPL-2.0
"""The setting of the site that only break-glass accounts sign in with a password."""

import pytest

from support.api import Api
from support.browser import Browser
from support.documents import document, refused_at
from support.oidc_provider import OidcProvider
from support.people import Owner

NAME = "password-sign-in-enabled"
SETTINGS = "admin/general-settings"
TOKENS = "/app/settings/tokens"


@pytest.fixture
def admin(api_site):
    admin = Api(api_site.scheduler.url, api_site.tokens["token"], "acme")
    yield admin
    switch(admin, True)


@pytest.fixture
def provider(admin):
    """An enabled identity provider."""
    provider = OidcProvider()
    id = admin.post("admin/oidc-settings", document("oidc-settings", provider.attributes())).data["id"]
    yield id
    switch(admin, True)  # a provider stays while it is needed
    admin.delete(f"admin/oidc-settings/{id}")
    provider.release()


@pytest.fixture
def break_glass(api_site):
    person = Owner(api_site)
    api_site.change("update users set is_break_glass = true where username = %s", person.name)
    yield person
    api_site.change("update users set is_break_glass = false where username = %s", person.name)


@pytest.fixture
def person(api_site):
    return Owner(api_site)


def switch(admin, on):
    return admin.call("PATCH", SETTINGS, document("general-settings", {NAME: on}))


def attempt(api_site, person, password=None):
    return Browser(api_site.scheduler.url, address=person.address).sign_in(person.name, password or person.password)


def test_passwords_are_accepted_by_default(api_site, admin, person):
    assert admin.attributes(SETTINGS)[NAME] is True
    page = Browser(api_site.scheduler.url).ask(TOKENS)
    assert "<details" not in page.page and page.form("/app/login")
    assert "New token" in attempt(api_site, person).text


def test_without_passwords_only_break_glass_accounts_sign_in(api_site, admin, provider, break_glass, person):
    assert switch(admin, False).data["attributes"][NAME] is False
    browser = Browser(api_site.scheduler.url).ask(TOKENS)
    folded = browser.page.partition("<details>")[2].partition("</details>")[0]
    assert "<summary>Break-glass account</summary>" in folded and 'action="/app/login"' in folded
    assert browser.page.index("Sign in with") < browser.page.index("<details>")
    answer = attempt(api_site, person)
    assert answer.status == 401 and answer.cookie is None and "The username or the password is wrong." in answer.text
    assert "<details open>" in answer.page
    (event,) = api_site.ask("select details from audit_events where action = 'sign_in_failed' and actor_name = %s", person.name)
    assert event[0]["method"] == "password"
    # The answer does not tell whether the password was right, or whose account it is.
    assert attempt(api_site, person, "wrong-password").text == answer.text == attempt(api_site, break_glass, "wrong-password").text
    assert "New token" in attempt(api_site, break_glass).text
    assert switch(admin, True).status == 200
    assert "New token" in attempt(api_site, person).text


def test_sessions_stay_when_passwords_end(api_site, admin, provider, break_glass, person):
    browser = attempt(api_site, person)
    assert switch(admin, False).status == 200
    assert "New token" in browser.ask(TOKENS).text


def test_an_identity_provider_is_needed_first(admin, break_glass):
    assert "no identity provider is enabled" in refused_at(switch(admin, False), f"/data/attributes/{NAME}")
    assert admin.attributes(SETTINGS)[NAME] is True


def test_a_disabled_identity_provider_is_none(admin, provider, break_glass):
    admin.patch(f"admin/oidc-settings/{provider}", document("oidc-settings", {"enabled": False}))
    assert "no identity provider is enabled" in refused_at(switch(admin, False), f"/data/attributes/{NAME}")


@pytest.mark.parametrize("change", ["is_break_glass = false", "password_hash = null", "is_suspended = true"])
def test_a_break_glass_account_with_a_password_is_needed_first(api_site, admin, provider, break_glass, change):
    api_site.change(f"update users set {change} where username = %s", break_glass.name)
    assert "no break-glass account has a password" in refused_at(switch(admin, False), f"/data/attributes/{NAME}")
    assert admin.attributes(SETTINGS)[NAME] is True


def test_the_last_other_way_to_sign_in_stays_while_passwords_are_off(api_site, admin, provider, break_glass):
    user = api_site.ask("select id from users where username = %s", break_glass.name)[0][0]
    assert switch(admin, False).status == 200
    for method, path, body in (("PATCH", f"admin/oidc-settings/{provider}", document("oidc-settings", {"enabled": False})), ("DELETE", f"admin/oidc-settings/{provider}", None),
                               ("POST", f"admin/users/{user}/actions/revoke_break_glass", None), ("POST", f"admin/users/{user}/actions/suspend", None)):
        refused = admin.call(method, path, body)
        assert refused.status == 422 and "switch passwords on first" in refused.text, f"{method} {path}: {refused.status} {refused.text}"
    assert "New token" in attempt(api_site, break_glass).text
