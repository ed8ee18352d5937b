# SPDX-License-Identifier: MPL-2.0
"""Connections with an agent pool: workers of the pool send the calls of the provider's API. The notifier of these tests
may not connect to the provider."""

import pytest

from support.runyard import Worker
from support.vcs_connections import create_client
from support.vcs_events import Watched
from support.vcs_fakes import FAKES, GitHub, GitLab
from support.wait import until

NO_WORKER = 'no worker of the agent pool "far" with request forwarding is there'


@pytest.fixture
def far(org):
    """(relationships of a connection with a pool, the pool's token)"""
    pool, token = org.pool("far")
    return {"agent-pool": {"type": "agent-pools", "id": pool}}, token


@pytest.fixture
def forwarder(api_site, folder, far):
    """forwarder() starts a worker of the pool that forwards requests."""
    started = []

    def start():
        name = f"far-{len(started) + 1}"
        options = {"scheduler_url": api_site.scheduler.url, "agent_token": far[1], "name": name, "data_dir": folder / name, "request_forwarding": 1, "vcs_allow": "127.0.0.1",
                   "git_slots": 0, "engine": "/nonexistent"}
        started.append(Worker(name, folder, **options).start())
        return started[-1]

    yield start
    for worker in started:
        worker.release()


def client_of(fake, **changes):
    return {"service-provider": fake.dialect, "http-url": fake.url, "api-url": fake.api_url, "oauth-token-string": "good-token", **changes}


def forwarded(worker):
    return worker.metric("runyard_worker_forwarded_requests_total", outcome="answered")


@pytest.mark.parametrize("kind", [GitHub, GitLab])
def test_calls_go_through_a_worker_of_the_pool(api_site, org, provider, notifier, forwarder, far, kind):
    worker = forwarder()
    notifier(allow=None)
    fake = provider(kind)
    refused = create_client(org, client_of(fake), far[0], oauth_token_string="bad-token")
    assert refused.status == 422 and "refused by the provider" in refused.text
    watched = Watched(api_site, org, fake, FAKES[kind], relations=far[0])
    assert api_site.ask("select state from vcs_tokens where connection_id = %s", watched.connection) == [("verified",)]
    asked = forwarded(worker)
    assert asked >= 2
    listed = org.get(f"oauth-tokens/{watched.token}/repositories").data
    assert [each["attributes"]["identifier"] for each in listed] == [watched.identifier]
    assert forwarded(worker) > asked
    wrong = {"data": {"type": "workspaces", "attributes": {"vcs-repo": {"identifier": watched.identifier, "oauth-token-id": watched.token, "branch": "missing"}}}}
    assert "Branch can't be used" in org.call("PATCH", f"workspaces/{org.workspace()}", wrong).text
    watched.workspace("connected")
    watched.event()
    until(lambda: [each["state"] for each in watched.repository.statuses] == ["success"], "the status of the commit is there")
    until(lambda: watched.repository.hooks, "the webhook is there")
    watched.quiet()


def test_without_a_worker_the_reason_is_shown(api_site, org, provider, notifier, forwarder, far):
    notifier(allow=None)
    fake = provider(GitHub)
    watched = Watched(api_site, org, fake, FAKES[GitHub], relations=far[0])
    answer = org.call("GET", f"oauth-tokens/{watched.token}/repositories")
    assert answer.status == 422 and NO_WORKER in answer.json["errors"][0]["detail"], answer.text
    watched.workspace("connected")
    watched.event()
    until(lambda: NO_WORKER in (org.attributes(f"oauth-clients/{watched.connection}")["call-error"] or ""), lambda: f"the connection shows it: {org.attributes(f'oauth-clients/{watched.connection}')['call-error']}")
    assert not fake.requests, "neither the scheduler nor the notifier has called the provider"
    forwarder()
    until(lambda: [each["state"] for each in watched.repository.statuses] == ["success"], "the status of the commit is there")
    watched.quiet()


def test_hooks_of_a_deleted_connection_are_removed_through_its_pool(api_site, org, provider, notifier, forwarder, far):
    worker = forwarder()
    notifier(allow=None)
    watched = Watched(api_site, org, provider(GitHub), FAKES[GitHub], relations=far[0])
    watched.workspace("connected")
    until(lambda: watched.repository.hooks, "the webhook is there")
    watched.quiet()
    asked = forwarded(worker)
    org.delete(f"oauth-clients/{watched.connection}")
    until(lambda: not watched.repository.hooks, "the webhook is gone")
    assert forwarded(worker) > asked
