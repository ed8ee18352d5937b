# SPDX-License-Identifier: MPL-2.0
"""`terraform login` or `tofu login` at a terminal, with a user who signs in and approves; over TLS, which the client
requires."""

import http.client
import urllib.parse

import pytest

from support.browser import Browser
from support.modules import Modules
from support.terraform_login import User


@pytest.fixture
def user(folder, authority, scheduler, tokens, engine):
    server = scheduler(**authority.serving())
    return User(folder, server, authority, engine, "127.0.0.1")  # the addresses of modules need a host with a dot


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
    login = user.login()
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
    Modules(api).publish("network", "1.0.0", {"main.tf": ""})
    (user.home / "module.tf").write_text(f'module "network" {{\n  source  = "{user.host}/acme/network/null"\n  version = "~> 1.0"\n}}\n')
    assert "/acme/network/null 1.0.0 for network" in user.run("init", "-input=false").ended(0)
    user.run("logout", user.host).ended(0)
    assert user.credentials() is None


def test_a_denied_login_stores_no_token(user, tokens):
    """The CLI shows the denial in the browser, and continues to wait for an approval."""
    login = user.login()
    assert approve(user, tokens, "deny") == 400
    login.release()
    assert user.credentials() is None


def test_the_authorization_request_uses_pkce_and_a_local_port(user):
    login = user.login()
    url = urllib.parse.urlsplit(user.opened_url())
    query = dict(urllib.parse.parse_qsl(url.query))
    assert url.path == "/oauth/authorize" and query["client_id"] == "terraform-cli" and query["code_challenge_method"] == "S256"
    assert 10000 <= urllib.parse.urlsplit(query["redirect_uri"]).port <= 10010
    login.release()
