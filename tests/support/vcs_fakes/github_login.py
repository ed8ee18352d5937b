# SPDX-License-Identifier: MPL-2.0
"""GitHub with the pages on which users install the App and log in for it (OAuth with PKCE)."""

import re
import urllib.parse
import uuid

from support.oauth_provider import challenge_of
from support.vcs_fakes.github import GitHub
from support.vcs_fakes.server import Answer, route


class GitHubWithLogin(GitHub):
    """`owners`: {organization's login: logins of its owners}. client_secret is the App's."""

    client_id, client_secret = "Iv1.0123456789abcdef", "a secret+/="

    def __init__(self, folder):
        super().__init__(folder)
        self.codes, self.owners = {}, {}
        self.suspended = set()

    # ---- a user's browser ----

    def install(self, url, number, setup_url, action="install"):
        """The user installs the App on the page at the URL. Returns where the browser is sent."""
        found = re.fullmatch(rf"{re.escape(self.url)}/github-apps/runyard/installations/new\?state=([A-Za-z0-9_-]{{43,}})", url)
        assert found, url
        return f"{setup_url}?{urllib.parse.urlencode({'installation_id': number, 'setup_action': action, 'state': found[1]})}"

    def log_in(self, url, login):
        """The user agrees on the page at the URL. Returns where the browser is sent."""
        parts = urllib.parse.urlsplit(url)
        query = dict(urllib.parse.parse_qsl(parts.query, strict_parsing=True))
        assert f"{parts.scheme}://{parts.netloc}{parts.path}" == f"{self.url}/login/oauth/authorize", url
        assert query.keys() >= {"client_id", "redirect_uri", "state", "code_challenge"} and query["client_id"] == self.client_id, query
        assert query["code_challenge_method"] == "S256" and len(query["code_challenge"]) == 43, query
        code = uuid.uuid4().hex
        self.codes[code] = {"login": login, "challenge": query["code_challenge"], "redirect": query["redirect_uri"]}
        return f"{query['redirect_uri']}?{urllib.parse.urlencode({'code': code, 'state': query['state']})}"

    # ---- requests ----

    def answer(self, request):
        if request.method == "POST" and request.path == "/login/oauth/access_token":
            return self.exchange(request)
        return super().answer(request)

    def exchange(self, request):
        form = dict(urllib.parse.parse_qsl(request.raw.decode(), strict_parsing=True))
        known = self.codes.pop(form.get("code"), None)
        if form.get("client_id") != self.client_id or form.get("client_secret") != self.client_secret:
            return Answer(200, {"error": "incorrect_client_credentials"})
        if not known:
            return Answer(200, {"error": "bad_verification_code"})
        if form.get("redirect_uri") != known["redirect"] or challenge_of(form.get("code_verifier", "")) != known["challenge"]:
            self.refuse(request, 400, "redirect_uri or code_verifier is not that of the login")
        token = f"ghu_{uuid.uuid4().hex}"
        self.tokens[token] = known["login"]
        return Answer(200, {"access_token": token, "token_type": "bearer", "scope": ""})

    def installation_document(self, number):
        return {**super().installation_document(number), "suspended_at": "2026-01-01T00:00:00Z" if number in self.suspended else None}

    @route("GET", "/api/v3/user/memberships/orgs/{name}")
    def get_membership(self, request, name):
        if not isinstance(request.user, str):
            self.refuse(request, 403, "Resource not accessible by integration")
        if name not in self.owners:
            raise Answer(404, {"message": "Not Found"})
        role = "admin" if request.user in self.owners[name] else "member"
        return {"state": "active", "role": role, "organization": self.user(name), "user": self.user(request.user)}

    @route("POST", "/api/v3/app/installations/{number}/access_tokens")
    def post_token(self, request, number):
        if int(number) in self.suspended:
            raise Answer(403, {"message": "This installation has been suspended"})
        return super().post_token(request, number)
