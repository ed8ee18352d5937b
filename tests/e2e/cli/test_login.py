# SPDX-License-Identifier: MPL-2.0
"""`terraform login` or `tofu login` at a terminal, with a user who signs in and approves; over TLS, which the client
requires."""

import http.client
import json
import os
import urllib.parse

import pytest

from support.browser import Browser
from support.process import clean_environment
from support.terminal import Terminal
from support.wait import until

OPENER = """#!/bin/sh
echo "$1" > "$HOME/address.part"
mv "$HOME/address.part" "$HOME/address"
"""


class User:
    """A user with an empty home directory, whose desktop opens URLs by writing them to a file."""

    def __init__(self, folder, server, authority, engine):
        self.server, self.engine, self.home = server, engine, folder / "home"
        self.host = f"localhost:{server.port}"
        (self.home / ".terraform.d").mkdir(parents=True)
        programs = folder / "programs"
        programs.mkdir()
        for name in ("xdg-open", "x-www-browser", "www-browser"):
            (programs / name).write_text(OPENER)
            (programs / name).chmod(0o755)
        self.environment = clean_environment(HOME=self.home, CHECKPOINT_DISABLE=1, SSL_CERT_FILE=authority.file,
                                             PATH=f"{programs}:{os.environ['PATH']}")

    def run(self, *arguments):
        """The engine on a terminal."""
        return Terminal([self.engine.path, *arguments], self.home, self.environment)

    def opened_url(self):
        """The URL that the engine has opened."""
        address = self.home / "address"
        until(address.exists, "the engine opens the browser")
        return address.read_text().strip()

    def credentials(self):
        file = self.home / ".terraform.d" / "credentials.tfrc.json"
        return json.loads(file.read_text())["credentials"].get(self.host, {}).get("token") if file.exists() else None


@pytest.fixture
def user(folder, authority, scheduler, tokens, engine):
    server = scheduler(**authority.serving())
    return User(folder, server, authority, engine)


def approve(user, tokens, press):
    """In the browser: signs in, answers the page, and follows the redirect."""
    browser = Browser(f"https://{user.host}", trust=user.server.trust)
    browser.ask(user.opened_url())
    assert "Sign in" in browser.text
    browser.send("/app/login", username=tokens["user"], password=tokens["password"])
    assert browser.cookie.secure and "Authorize terraform" in browser.text
    browser.send("/oauth/authorize", press=press)
    back = browser.headers["Location"]
    assert back.startswith("http://localhost:100")
    try:
        return Browser(back).ask(back).status
    except http.client.RemoteDisconnected:
        return 200  # terraform closes its server as soon as it has the code


def test_login_and_logout(user, tokens, request):
    login = user.run("login", user.host)
    login.expect("Only 'yes' will be accepted").type("yes")
    assert approve(user, tokens, "approve") == 200
    login.ended(0)
    api = request.getfixturevalue("api")
    api.url, api.token = f"https://{user.host}", user.credentials()
    account = api.get("account/details").data
    assert account["attributes"]["username"] == tokens["user"]
    newest = api.get(f"users/{account['id']}/authentication-tokens").data[0]["attributes"]
    assert newest["description"] == "terraform login" and newest["expired-at"]
    settings = f'terraform {{\n  cloud {{\n    hostname = "{user.host}"\n    organization = "acme"\n    workspaces {{\n      name = "by-login"\n    }}\n  }}\n}}\n'
    (user.home / "main.tf").write_text(settings)
    user.run("init", "-input=false").ended(0)
    assert api.get("organizations/acme/workspaces/by-login").status == 200
    user.run("logout", user.host).ended(0)
    assert user.credentials() is None


def test_a_denied_login_stores_no_token(user, tokens):
    """The CLI shows the denial in the browser, and continues to wait for an approval."""
    login = user.run("login", user.host)
    login.expect("Only 'yes' will be accepted").type("yes")
    assert approve(user, tokens, "deny") == 400
    login.release()
    assert user.credentials() is None


def test_the_authorization_request_uses_pkce_and_a_local_port(user):
    login = user.run("login", user.host)
    login.expect("Only 'yes' will be accepted").type("yes")
    url = urllib.parse.urlsplit(user.opened_url())
    query = dict(urllib.parse.parse_qsl(url.query))
    assert url.path == "/oauth/authorize" and query["client_id"] == "terraform-cli" and query["code_challenge_method"] == "S256"
    assert 10000 <= urllib.parse.urlsplit(query["redirect_uri"]).port <= 10010
    login.release()
