# SPDX-License-Identifier: MPL-2.0
"""A strict OAuth 2.0 server, as each VCS provider has it: pages of consent, tokens, and the owner of a token."""

import base64
import hashlib
import json
import threading
import time
import urllib.parse
import uuid
from http.server import BaseHTTPRequestHandler

from support.vcs_fakes.server import Served

# Of each kind: the pages' paths, PKCE, whether the application logs in with a header, the scope, and the owner's path and name.
KINDS = {
    "github_enterprise": ("/login/oauth/authorize", "/login/oauth/access_token", True, False, "repo", "/api/v3/user", "login"),
    "gitlab_enterprise_edition": ("/oauth/authorize", "/oauth/token", True, False, "api", "/api/v4/user", "username"),
    "bitbucket_hosted": ("/site/oauth2/authorize", "/site/oauth2/access_token", False, True, None, "/2.0/user", "nickname"),
    "ado_services": ("/organizations/oauth2/v2.0/authorize", "/organizations/oauth2/v2.0/token", True, False,
                     "499b84ac-1321-427f-aa17-267ca6975798/.default offline_access", "/_apis/profile/profiles/me", "displayName"),
    "gitea": ("/login/oauth/authorize", "/login/oauth/access_token", True, False, "read:user write:repository write:issue", "/api/v1/user", "login"),
    "forgejo": ("/login/oauth/authorize", "/login/oauth/access_token", True, False, "read:user write:repository write:issue", "/api/v1/user", "login"),
}
API_PATHS = {"github_enterprise": "/api/v3", "gitlab_enterprise_edition": "/api/v4", "bitbucket_hosted": "/2.0", "ado_services": "", "gitea": "/api/v1", "forgejo": "/api/v1"}


def challenge_of(verifier):
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).decode().rstrip("=")


class OAuthProvider(Served):
    """`lifetime` is that of tokens in seconds; None: they do not expire. answers: the next answers of the token's address, in place of its own."""

    def __init__(self, kind, lifetime=7200):
        self.kind, self.lifetime = kind, lifetime
        self.authorize, self.token, self.pkce, self.basic, self.scope, self.user_path, self.user_member = KINDS[kind]
        self.client, self.secret = f"client-{uuid.uuid4().hex}", f"secret/+&{uuid.uuid4().hex}"
        self.user = "ada"
        self.codes, self.refresh_tokens, self.access_tokens = {}, {}, set()
        self.personal_tokens = set()  # that the owner made without OAuth
        self.exchanges, self.refreshes, self.answers = [], [], []
        self.user_status = 200
        self.refreshing = threading.Event()  # while it is not set, answers to refreshes wait
        self.refreshing.set()
        super().__init__()

    def attributes(self):
        """Of a connection to it."""
        return {"service-provider": self.kind, "http-url": self.url, "api-url": self.url + API_PATHS[self.kind], "key": self.client, "secret": self.secret}

    # ---- the user's browser ----

    def consent(self, url):
        """The user agrees on the page at the URL. Returns the address to which the browser is sent."""
        parts = urllib.parse.urlsplit(url)
        query = dict(urllib.parse.parse_qsl(parts.query, strict_parsing=True))
        assert f"{parts.scheme}://{parts.netloc}" == self.url and parts.path == self.authorize, url
        wanted = {"client_id", "redirect_uri", "response_type", "state"} | ({"scope"} if self.scope else set()) | ({"code_challenge", "code_challenge_method"} if self.pkce else set())
        assert query.keys() == wanted, query
        assert query["client_id"] == self.client and query["response_type"] == "code" and query.get("scope") == self.scope, query
        assert len(query["state"]) >= 43
        if self.pkce:
            assert query["code_challenge_method"] == "S256" and len(query["code_challenge"]) == 43
        code = f"code-{uuid.uuid4().hex}+/="
        self.codes[code] = {"challenge": query.get("code_challenge"), "redirect": query["redirect_uri"], "used": False}
        return f"{query['redirect_uri']}?{urllib.parse.urlencode({'code': code, 'state': query['state']})}"

    # ---- requests of the client ----

    def complain(self, what):
        self.complaints.append(what)
        return 400, {"error": "invalid_request", "error_description": what}

    def logged_in(self, headers, form):
        pair = base64.b64encode(f"{self.client}:{self.secret}".encode()).decode()
        if self.basic:
            return headers.get("Authorization") == f"Basic {pair}" and "client_secret" not in form
        return "Authorization" not in headers and form.get("client_id") == self.client and form.get("client_secret") == self.secret

    def grant(self):
        access, refresh = f"access-{uuid.uuid4().hex}", f"refresh-{uuid.uuid4().hex}"
        self.access_tokens.add(access)
        if self.lifetime is None:
            return 200, {"access_token": access, "token_type": "bearer", "scope": self.scope or ""}
        self.refresh_tokens[refresh] = True
        return 200, {"access_token": access, "token_type": "bearer", "refresh_token": refresh, "expires_in": self.lifetime}

    def refused(self, error):
        # GitHub refuses with the status 200.
        return (200 if self.kind == "github_enterprise" else 400), {"error": error, "error_description": "<b>no</b>"}

    def exchange(self, form):
        known = self.codes.get(form.get("code"))
        if not known or known["used"]:
            return self.refused("bad_verification_code" if self.kind == "github_enterprise" else "invalid_grant")
        known["used"] = True
        if form.get("redirect_uri") != known["redirect"]:
            return self.complain("redirect_uri differs from that of the consent")
        if self.pkce and challenge_of(form.get("code_verifier", "")) != known["challenge"]:
            return self.complain("code_verifier does not match")
        if not self.pkce and "code_verifier" in form:
            return self.complain("code_verifier is not known here")
        return self.grant()

    def refresh(self, form):
        self.refreshes.append(time.monotonic())
        token = form.get("refresh_token")
        if token not in self.refresh_tokens:
            return self.complain(f"an unknown refresh token: {token}")
        if not self.refresh_tokens[token]:
            return self.refused("invalid_grant")
        self.refresh_tokens[token] = False  # each is used once
        granted = self.grant()
        self.refreshing.wait()
        return granted

    def revoke(self):
        self.refresh_tokens = dict.fromkeys(self.refresh_tokens, False)

    def token_asked(self, headers, body):
        if headers.get("Content-Type") != "application/x-www-form-urlencoded" or headers.get("Accept") != "application/json":
            return self.complain("Content-Type or Accept is wrong")
        form = dict(urllib.parse.parse_qsl(body, keep_blank_values=True, strict_parsing=True))
        if not self.logged_in(headers, form):
            return 401, {"error": "invalid_client"}
        if self.answers:
            return self.answers.pop(0)
        kind = form.get("grant_type")
        if kind == "authorization_code":
            self.exchanges.append(form)
            return self.exchange(form)
        return self.refresh(form) if kind == "refresh_token" else self.complain(f"grant_type {kind}")

    def user_asked(self, headers):
        kind, _, token = headers.get("Authorization", "").partition(" ")
        if (kind != "Bearer" or token not in self.access_tokens) and (kind != "token" or token not in self.personal_tokens):
            return 401, {"message": "Bad credentials"}
        return self.user_status, {self.user_member: self.user}

    def _handler(self):
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def answer(self, asked):
                status, document, *headers = asked
                body = json.dumps(document).encode()
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers[0] if headers else {})}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
                self.answer(provider.token_asked(self.headers, body) if self.path == provider.token else provider.complain(f"POST {self.path}"))

            def do_GET(self):
                path = self.path.partition("?")[0]
                self.answer(provider.user_asked(self.headers) if path == provider.user_path else provider.complain(f"GET {self.path}"))

            def log_message(self, *_):
                pass

        return Handler
