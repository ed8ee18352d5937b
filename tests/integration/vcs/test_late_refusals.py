# SPDX-License-Identifier: MPL-2.0
"""A provider's refusal counts for the token that the call was sent with. A notifier in memory claims the calls and answers them."""

import json

import pytest

from support.api import Api
from support.vcs_connections import connect
from support.wait import until


class Calls:
    """The calls of one connection."""

    def __init__(self, api_site, connection):
        self.api_site, self.connection = api_site, connection
        self.notifier = Api(api_site.scheduler.url, api_site.tokens["notifier-token"])

    def ask(self, path, body):
        answer = self.notifier.ask("POST", f"{self.api_site.scheduler.url}/api/notifier/v1/{path}", body)
        assert answer.status == 200, answer.text
        return answer.json

    def rows(self, columns):
        return self.api_site.ask(f"select {columns} from vcs_calls where connection_id = %s", self.connection)

    def claim(self):
        """Waits for the only call. Returns it with the token that it sends."""
        until(lambda: self.rows("delivery, due_at <= now()") == [("waiting", True)], lambda: f"a call that is due: {self.rows('*')}")
        ((id,),) = self.rows("id")
        (request,) = self.ask("claim", {"notifier": "in-memory", "callback-url": "http://127.0.0.1:1", "version": "1", "calls": True, "max": 1, "ids": [id]})["requests"]
        (token,) = [header.split()[-1] for header in request["headers"] if header.startswith("Authorization:")]
        return request, token

    def answer(self, request, status, body):
        self.ask("deliveries", {"deliveries": [{"id": request["id"], "attempt": request["attempt"], "status": status, "seconds": 0.1, "answer": None, "error": None,
                                                "headers": {}, "body": json.dumps(body), "end": "acknowledged"}]})

    def token(self):
        return self.api_site.ask("select state, error from vcs_tokens where connection_id = %s", self.connection)[0]

    def limit(self):
        return self.api_site.ask("select error from vcs_limits where owner_id = %s", self.connection)[0][0]


@pytest.fixture
def calls(org, api_site):
    """Of a connection that no process can reach, so that its token is verified by a call."""
    connection, _ = connect(org, oauth_token_string="first")
    return Calls(api_site, connection)


@pytest.mark.parametrize("status", [401, 403])
def test_a_late_refusal_of_the_older_token(calls, org, status):
    request, token = calls.claim()
    assert token == "first"
    org.call("PATCH", f"oauth-clients/{calls.connection}", {"data": {"type": "oauth-clients", "attributes": {"oauth-token-string": "second"}}})
    calls.answer(request, status, {"message": "revoked"})
    assert calls.token() == ("unverified", None) and calls.limit() is None
    request, token = calls.claim()
    assert token == "second"
    calls.answer(request, 200, {"login": "bot"})
    assert calls.token() == ("verified", None)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_of_the_current_token(calls, status):
    request, _ = calls.claim()
    calls.answer(request, status, {"message": "revoked"})
    state, error = calls.token()
    assert state == "refused" and "revoked" in error and "revoked" in calls.limit()
