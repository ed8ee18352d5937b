# SPDX-License-Identifier: MPL-2.0
"""A site that signs people in by SAML."""

import random
import uuid

from support.browser import Browser
from support.saml_provider import SamlProvider, make_key

AUTH, METADATA, LOGOUT = "/users/saml/auth", "/users/saml/metadata", "/users/saml/logout"


class SamlSite:
    def __init__(self, api_site, folder):
        self.api_site = api_site
        self.provider = SamlProvider(folder)
        self.admin = api_site.organization()  # a client with the token of a site admin
        self.key, self.certificate = (file.read_text() for file in make_key(folder, "service"))
        self.url = api_site.scheduler.url

    def release(self):
        self.provider.release()

    # ---- settings ----

    def settings(self):
        return self.admin.get("admin/saml-settings").data["attributes"]

    def set(self, **attributes):
        """Changes settings, by their names with underscores."""
        attributes = {name.replace("_", "-"): value for name, value in attributes.items()}
        return self.admin.patch("admin/saml-settings", {"data": {"type": "saml-settings", "attributes": attributes}}).data["attributes"]

    def reset(self):
        self.api_site.change("delete from identity_providers where kind = 'saml'")
        self.api_site.change("delete from identities where issuer = %s", self.provider.entity_id)
        self.provider.encrypts, self.provider.signs = False, True
        self.provider.metadata_answers.clear()
        self.set(idp_metadata_url=self.provider.entity_id, enabled=True, certificate=self.certificate, private_key=self.key, authn_requests_signed=True)
        self.provider.serve(self.get(METADATA).page)

    # ---- browsers ----

    def browser(self, url=None):
        return Browser(url or self.url, address=f"10.{random.randrange(256)}.{random.randrange(256)}.{random.randrange(256)}")

    def get(self, path):
        return self.browser().ask(path)

    def person(self, **attributes):
        """A new person at the provider, who is signed in there from now on. Returns the name."""
        name = f"p-{uuid.uuid4().hex[:10]}"
        self.provider.person = f"{name}@example.com", {"Username": [name], **attributes}
        return name

    def begin(self, browser=None, path=AUTH):
        """Returns the browser, and the address at the provider to which it is redirected."""
        browser = (browser or self.browser()).ask(path)
        location = browser.headers["Location"]
        assert browser.status == 303 and location.startswith(self.provider.url), (browser.status, browser.text)
        return browser, location

    def post(self, browser, fields):
        """The provider's page lets the browser post the form. Cookies that are SameSite=Lax are not part of that request, but of the next."""
        elsewhere = Browser(browser.url, address="10.9.9.%d" % random.randrange(256)).ask(AUTH, fields, follow=False)
        if elsewhere.status == 303:
            return browser.ask(elsewhere.headers["Location"])
        browser.status, browser.page, browser.headers = elsewhere.status, elsewhere.page, elsewhere.headers
        return browser

    def sign_in(self, browser=None, path=AUTH):
        browser, location = self.begin(browser, path)
        return self.post(browser, self.provider.sign_in(location))
