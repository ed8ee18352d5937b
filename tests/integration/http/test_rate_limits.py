# SPDX-License-Identifier: MPL-2.0
"""Rate limits, and the identification of clients."""

import uuid

import psycopg
import pytest

from support.api import Api
from support.wait import until

LIMIT = 5  # small enough that a slow machine exceeds it, too


def limits(answer):
    return tuple(answer.headers[f"X-RateLimit-{name}"] for name in ("Limit", "Remaining", "Reset"))


def exceed_limit(api, count=LIMIT * 30, **more):
    """Sends `count` requests. Returns the first refused answer, or None. The first LIMIT requests of a client are never
    refused."""
    for _ in range(count):
        answer = api.call("GET", "account/details", **more)
        if answer.status == 429:
            return answer
    return None


@pytest.fixture
def limited(scheduler):
    return scheduler(rate_limit=LIMIT, trusted_proxies="127.0.0.1,10.0.0.0/8")


def test_a_token_over_its_limit_is_refused_with_retry_after(limited, api):
    first = api.call("GET", "account/details")
    limit, remaining, reset = limits(first)
    assert int(limit) == LIMIT and LIMIT < int(remaining) < 2 * LIMIT and float(reset) == 0
    refused = exceed_limit(api)
    assert refused.json["errors"][0]["title"] == "Too many requests" and refused.json["errors"][0]["status"] == "429"
    limit, remaining, reset = limits(refused)
    assert int(limit) == LIMIT and remaining == "0" and 0 < float(reset) <= 1 / LIMIT + 0.001
    assert int(refused.headers["Retry-After"]) >= 1
    assert refused.headers["TFP-API-Version"] == "2.6"
    until(lambda: api.call("GET", "account/details").status == 200, "the token is accepted again")


def test_each_token_has_its_own_limit(limited, api):
    user = api.get("account/details").data["id"]
    other = api.post(f"users/{user}/authentication-tokens", {"data": {"type": "authentication-tokens", "attributes": {}}}).data
    other = Api(api.url, other["attributes"]["token"])
    assert exceed_limit(api) is not None
    assert other.call("GET", "account/details").status == 200


def test_spellings_of_the_authorization_header_share_one_limit(limited, api):
    token = api.token
    assert exceed_limit(api) is not None
    api.token = None
    for header in (f"bearer {token}", f"Bearer   {token}", f"BEARER {token}"):
        assert exceed_limit(api, LIMIT, headers={"Authorization": header}) is not None


def test_invalid_tokens_count_against_their_address(limited, api):
    """An invalid token has no bucket of its own, and takes nothing from the bucket of a valid token."""
    client = Api(api.url, None)

    def guess(count, path="account/details", **more):
        names = ({"Authorization": f"Bearer ry_user_{uuid.uuid4().hex}"} for _ in range(count))
        return {client.call("GET", path, headers={**name, **more}).status for name in names}

    assert api.call("GET", "account/details").status == 200
    assert 429 in guess(LIMIT * 30, "ping") and 429 in guess(LIMIT * 3)
    assert {client.call("GET", "account/details", headers={"Cookie": f"runyard_session={n}"}).status for n in range(LIMIT * 3)} & {429}
    assert api.call("GET", "account/details").status == 200
    assert 429 not in guess(1, **{"X-Forwarded-For": "203.0.113.20"})


def test_an_ipv6_network_is_one_client(limited, api):
    api.token = None
    addresses = (f"2001:db8:1:2::{n:x}" for n in range(1, LIMIT * 30))
    assert 429 in {api.call("GET", "account/details", headers={"X-Forwarded-For": address}).status for address in addresses}
    assert exceed_limit(api, 1, headers={"X-Forwarded-For": "2001:db8:1:3::1"}) is None


def test_requests_without_a_token_are_limited_by_address(limited, api):
    """Only a trusted proxy names the client. Addresses that others report have no effect."""
    api.token = None
    assert exceed_limit(api, headers={"X-Forwarded-For": "203.0.113.7"}) is not None
    assert exceed_limit(api, LIMIT, headers={"X-Forwarded-For": "1.2.3.4, 203.0.113.7"}) is not None
    assert exceed_limit(api, LIMIT, headers={"X-Forwarded-For": "203.0.113.7, 10.1.2.3"}) is not None
    for other in ("203.0.113.8", "203.0.113.7, 203.0.113.9", "203.0.113.7, 2001:db8::1", "203.0.113.7, nonsense", None):
        assert exceed_limit(api, 1, headers={"X-Forwarded-For": other}) is None


def test_forwarded_addresses_of_untrusted_clients_are_ignored(scheduler, api):
    api.token = None
    limited = Api(scheduler(rate_limit=LIMIT).url, None)
    assert exceed_limit(limited, headers={"X-Forwarded-For": "203.0.113.7"}) is not None
    assert exceed_limit(limited, LIMIT, headers={"X-Forwarded-For": "203.0.113.8"}) is not None


def test_uploads_and_workers_are_not_rate_limited(limited, api, tokens):
    workspace = api.workspace("w")
    created = api.post(f"workspaces/{workspace}/configuration-versions", {"data": {"type": "configuration-versions", "attributes": {}}}).data
    assert all(api.call("PUT", created["attributes"]["upload-url"], b"nothing").status != 429 for _ in range(LIMIT * 3))
    worker = Api(api.url, tokens["agent-token"])
    assert all(worker.call("POST", f"{api.url}/api/worker/v1/heartbeat", {}).status != 429 for _ in range(LIMIT * 3))


def test_a_limit_of_zero_disables_rate_limits(scheduler, tokens):
    api = Api(scheduler(rate_limit=0).url, tokens["token"])
    answer = api.call("GET", "account/details")
    assert not any(name.lower().startswith("x-ratelimit") for name in answer.headers)
    assert exceed_limit(api, 200) is None


def test_refused_tokens_are_audited_a_limited_number_of_times(scheduler, database):
    limited = scheduler(trusted_proxies="127.0.0.1")
    for number in range(20):
        assert Api(limited.url, f"ry_user_wrong{number}").call("GET", "account/details", headers={"X-Forwarded-For": "203.0.113.70"}).status == 401
    with psycopg.connect(database) as db:
        rows = db.execute("select address, action, resource_type from audit_events where action = 'refused'").fetchall()
    assert 1 <= len(rows) <= 6 and set(rows) == {("203.0.113.70", "refused", "authentication_token")}
