# SPDX-License-Identifier: MPL-2.0
"""A scheduler and a Keycloak, both with TLS, and Chromium windows in which people sign in. The scheduler's name is localhost and Keycloak's 127.0.0.1: to browsers they are two sites."""

import uuid

from playwright.sync_api import expect

from support.api import Api
from support.api_site import ApiSite
from support.authority import Authority
from support.keycloak import PASSWORD, Keycloak
from support.pages import Chromium
from support.servers import Broker
from support.site import release_all
from support.wait import PATIENCE

TOKENS = "/app/settings/tokens"


class SsoSite:
    def __init__(self, folder, postgres):
        self.folder = folder
        self.authority = Authority(folder)
        self.keycloak = Keycloak(folder, authority=self.authority)
        self.bus = Broker(folder)
        self.api_site = None
        self.chromium = None
        self.postgres = postgres

    def start(self):
        self.keycloak.start()
        self.bus.start()
        trust = {"environment": {"SSL_CERT_FILE": self.authority.file}}
        self.api_site = ApiSite(self.folder, self.bus, self.postgres, **self.authority.serving(), **trust)
        self.scheduler = self.api_site.scheduler
        self.url = f"https://localhost:{self.scheduler.port}"
        self.scheduler.options["public_url"] = self.url
        self.scheduler.start()
        self.chromium = Chromium()
        self.admin = Api(self.scheduler.url, self.api_site.tokens["token"], "acme", trust=self.scheduler.trust)
        self.ask = self.api_site.ask
        return self

    def second_scheduler(self):
        """One more scheduler of the same site. Its address for browsers is the returned URL."""
        serving = self.authority.serving("second")
        second = self.api_site.new_scheduler("scheduler-2", **serving, public_url=self.url, environment={"SSL_CERT_FILE": self.authority.file})
        return second.start(), f"https://localhost:{second.port}"

    def release(self):
        if self.chromium:
            self.chromium.release()
        release_all([part for part in (self.bus, self.keycloak, self.api_site) if part])

    # ---- what site admins and owners set up ----

    def organization(self, *providers, **settings):
        """A client on a new organization that accepts the providers."""
        api = Api(self.scheduler.url, self.api_site.tokens["token"], f"o-{uuid.uuid4().hex[:12]}", trust=self.scheduler.trust)
        api.post("organizations", {"data": {"type": "organizations", "attributes": {"name": api.organization, "email": "admin@example.com"}}})
        if providers:
            api.patch(f"organizations/{api.organization}/sso-settings", {"data": {"type": "sso-settings", "attributes": settings, "relationships": {
                "identity-providers": {"data": [{"type": "identity-providers", "id": each} for each in providers]}}}})
        return api

    def team(self, api, name, **attributes):
        return api.post(f"organizations/{api.organization}/teams", {"data": {"type": "teams", "attributes": {"name": name, **attributes}}}).data["id"]

    def account(self, issuer, username):
        """The id of the account that came from the issuer under that name, or None."""
        rows = self.ask("select u.id from users u join identities i on i.user_id = u.id where i.issuer = %s and u.username = %s", issuer, username)
        return rows[0][0] if rows else None

    def teams(self, user):
        return {name for (name,) in self.ask("select t.name from team_members m join teams t on t.id = m.team_id where m.user_id = %s", user)}

    # ---- people ----

    def window(self, url=None):
        """A browser window of its own."""
        context = self.chromium.browser.new_context(base_url=url or self.url, ignore_https_errors=True)
        context.set_default_timeout(PATIENCE * 1000)
        return context.new_page()

    def to_provider(self, page, provider, path=TOKENS):
        """Follows the button of the sign-in page."""
        page.goto(path)
        page.get_by_role("link", name=f"Sign in with {provider}", exact=True).click()
        return page

    def signed_in(self, provider, person, page=None):
        """A window in which the person has signed in with their password at Keycloak."""
        page = self.to_provider(page or self.window(), provider)
        answer_keycloak(page, person)
        expect(page.get_by_role("heading", name="Tokens", exact=True)).to_be_visible()
        return page

    def refused(self, page):
        """The page asks to sign in."""
        page.goto(TOKENS)
        return "/app/login" in page.url


def answer_keycloak(page, person, password=PASSWORD):
    page.locator("#username").fill(person)
    page.locator("#password").fill(password)
    page.locator("#kc-login").click()
