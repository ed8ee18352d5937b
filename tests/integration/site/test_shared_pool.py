# SPDX-License-Identifier: MPL-2.0
# label: quick
"""The shared pool, its tokens and the notifiers' tokens: site admins administer them by API and by command."""

import json
import urllib.request

import pytest

from support.fake_worker import FakeWorker
from support.runyard import KEYS, Scheduler


@pytest.fixture
def tokens(api_site):
    """The command `tokens`. A listing is a list of objects, a new token one object."""

    def run(*arguments, check=True):
        done = Scheduler.run_command("tokens", *arguments, check=check, database_url=api_site.database, keys=KEYS)
        return done if not check else [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]

    return run


def shared(org):
    (pool,) = org.get("admin/agent-pools").data
    return pool


def make(org, path, description="new"):
    return org.post(path, {"data": {"type": "authentication-tokens", "attributes": {"description": description}}}).data


def notifies(api_site, token):
    """Whether it is a valid notifier's token."""
    request = urllib.request.Request(f"{api_site.scheduler.url}/api/notifier/v1/deadlines?limit=1", headers={"Authorization": f"Bearer {token}"})
    try:
        return urllib.request.urlopen(request).status == 200
    except urllib.error.HTTPError as error:
        assert error.code == 401
        return False


def test_workers_and_tokens_of_the_shared_pool_are_managed_by_api(api_site, org):
    pool = shared(org)
    assert pool["attributes"]["name"] == "default" and pool["relationships"]["organization"]["data"] is None
    assert org.get(f"agent-pools/{pool['id']}").data == pool
    worker = api_site.fake_worker()
    assert worker.id in [agent["id"] for agent in org.get(f"agent-pools/{pool['id']}/agents").data]
    made = make(org, f"agent-pools/{pool['id']}/authentication-tokens", "a rack")
    listed = {one["id"]: one["attributes"] for one in org.get(f"agent-pools/{pool['id']}/authentication-tokens").data}
    assert listed[made["id"]]["description"] == "a rack" and listed[made["id"]]["token"] is None and len(listed) == 2
    other = FakeWorker(api_site.scheduler.url, made["attributes"]["token"])
    org.delete(f"authentication-tokens/{made['id']}")
    assert other.call("POST", "claim", {"worker": other.id, "slots": 1}, check=False).status == 401
    other.leave()
    worker.leave()


def test_the_shared_pool_can_be_drained_and_limited_but_not_deleted(api_site, org):
    pool = shared(org)
    limited = org.patch(f"agent-pools/{pool['id']}", {"data": {"type": "agent-pools", "attributes": {"concurrent-run-limit": 9}}}).data
    assert limited["attributes"]["concurrent-run-limit"] == 9 and limited["attributes"]["name"] == "default"
    assert org.post(f"agent-pools/{pool['id']}/actions/drain").data["attributes"]["drained-at"]
    org.post(f"agent-pools/{pool['id']}/actions/resume")
    org.patch(f"agent-pools/{pool['id']}", {"data": {"type": "agent-pools", "attributes": {"concurrent-run-limit": 0}}})
    refused = org.call("DELETE", f"agent-pools/{pool['id']}")
    assert refused.status == 409 and "every workspace without a pool" in refused.errors()


def test_a_renamed_shared_pool_stays_the_only_one(api_site, org):
    pool = shared(org)
    org.patch(f"agent-pools/{pool['id']}", {"data": {"type": "agent-pools", "attributes": {"name": "machines"}}})
    api_site.bootstrap("admin", "acme")
    assert [one["id"] for one in org.get("admin/agent-pools").data] == [pool["id"]]
    org.patch(f"agent-pools/{pool['id']}", {"data": {"type": "agent-pools", "attributes": {"name": "default"}}})


def test_only_site_admins_access_the_shared_pool(api_site, org):
    pool, stranger = shared(org), api_site.stranger()
    token = org.get(f"agent-pools/{pool['id']}/authentication-tokens").data[0]["id"]
    notifier = org.get("admin/notifier-tokens").data[0]["id"]
    for method, path in (("GET", "admin/agent-pools"), ("GET", f"agent-pools/{pool['id']}"), ("GET", f"agent-pools/{pool['id']}/agents"), ("GET", f"agent-pools/{pool['id']}/authentication-tokens"),
                         ("POST", f"agent-pools/{pool['id']}/actions/drain"), ("DELETE", f"agent-pools/{pool['id']}"), ("GET", f"authentication-tokens/{token}"), ("DELETE", f"authentication-tokens/{token}"),
                         ("GET", "admin/notifier-tokens"), ("DELETE", f"authentication-tokens/{notifier}"), ("GET", f"authentication-tokens/{notifier}")):
        assert stranger.call(method, path).status == 404, (method, path)
    body = {"data": {"type": "authentication-tokens", "attributes": {"description": "mine"}}}
    assert stranger.call("POST", f"agent-pools/{pool['id']}/authentication-tokens", body).status == stranger.call("POST", "admin/notifier-tokens", body).status == 404


def test_notifier_tokens_are_created_and_revoked_by_api(api_site, org):
    made = make(org, "admin/notifier-tokens", "the second one")
    assert made["attributes"]["token"].startswith("ry_notifier_") and notifies(api_site, made["attributes"]["token"])
    listed = {one["id"]: one["attributes"] for one in org.get("admin/notifier-tokens").data}
    assert listed[made["id"]]["description"] == "the second one" and listed[made["id"]]["token"] is None
    org.delete(f"authentication-tokens/{made['id']}")
    assert made["id"] not in [one["id"] for one in org.get("admin/notifier-tokens").data] and not notifies(api_site, made["attributes"]["token"])


def test_tokens_are_created_and_revoked_by_command(api_site, org, tokens):
    id, _ = org.pool("edge")
    (made,) = tokens("make", "a rack", "--pool", f"{org.organization}/edge")
    assert {one["description"] for one in tokens("--pool", id, "--json")} == {"test", "a rack"}
    worker = FakeWorker(api_site.scheduler.url, made["token"])
    tokens("revoke", made["id"])
    assert worker.call("POST", "claim", {"worker": worker.id, "slots": 1}, check=False).status == 401
    (notifier,) = tokens("make", "by hand", "--notifier")
    assert notifies(api_site, notifier["token"]) and notifier["id"] in [one["id"] for one in tokens("--notifier", "--json")]
    tokens("revoke", notifier["id"])
    assert not notifies(api_site, notifier["token"])
    (own,) = tokens("make", "lost", "--user", "admin")
    assert type(org)(org.url, own["token"]).attributes("account/details")["username"] == "admin"
    trail = [(event["resource"]["action"], event["resource"]["id"]) for event in org.get("admin/audit-trail").json["data"]]
    assert ("create", notifier["id"]) in trail and ("destroy", notifier["id"]) in trail
    for wrong in ((), ("make", "x"), ("make", "", "--notifier"), ("--pool", "default", "--notifier"), ("--pool", "nowhere"), ("--user", "nobody"), ("revoke", "at-AAAAAAAAAAAAAAAA"), ("revoke",)):
        assert tokens(*wrong, check=False).returncode == 1, wrong


def test_a_second_bootstrap_creates_only_missing_tokens(api_site, org):
    count = api_site.ask("select count(*) from tokens")
    assert set(api_site.bootstrap("admin", "acme")) == {"user", "organization"}
    assert api_site.ask("select count(*) from tokens") == count
    # A side without a valid token gets one.
    api_site.change("update tokens set expired_at = now() where notifier")
    again = api_site.bootstrap("admin", "acme")
    assert set(again) == {"user", "organization", "notifier-token"} and notifies(api_site, again["notifier-token"])
