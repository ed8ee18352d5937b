# SPDX-License-Identifier: MPL-2.0
"""Workers that hold results or states which the scheduler lacks are counted by pool, also after they are gone."""

import pytest

from support.configurations import applying
from support.fake_worker import FakeWorker
from support.http_proxy import HttpProxy
from support.wait import until

LEASE = 3


@pytest.fixture
def first(scheduler):
    return scheduler(lease_seconds=LEASE)


@pytest.fixture
def undelivered(first):
    return lambda: first.metric("runyard_workers_undelivered", pool="default")


def test_a_killed_worker_counts_until_the_next_one_of_its_name_has_delivered(first, api, worker, gate, ask, undelivered):
    proxy = HttpProxy(first.port)
    one = worker(sandbox_bind=gate.folder, scheduler_url=proxy.url)
    until(lambda: 'runyard_workers_undelivered{pool="default"}' in first.metrics(), "it is shown")
    run = api.run_files(api.workspace(auto_apply=True), applying(gate.command))
    gate.wait()
    until(lambda: undelivered() == 0, "the state of the first resource is delivered")
    one.kill()
    api.wait_status(run, "errored")
    until(lambda: undelivered() == 1, "its last state is awaited")
    ask("update workers set seen_at = now() - interval '3 days'")
    gate.open()
    until(lambda: first.metric("runyard_workers", state="live") == 0, "it is gone")
    assert undelivered() == 1

    proxy.reply = lambda method, path: (503, [], b"") if path.endswith("/state") else None
    one.start()
    until(lambda: ask("select undelivered from workers order by created_at") == [(0,), (1,)], "the next one says that it has the state")
    until(lambda: first.metric("runyard_workers", state="live") == 1, "it is shown")
    assert undelivered() == 1, "both have one folder"
    proxy.reply = lambda method, path: None
    until(lambda: undelivered() == 0, "the state is delivered")
    until(lambda: first.metric("runyard_workspaces_held") == 0, "the workspace is free")


def test_a_worker_that_left_with_undelivered_data_counts_until_its_name_registers(first, tokens, undelivered):
    make = lambda: FakeWorker(first.url, tokens["agent-token"], name="worker-0")
    body = {"free": 1, "slots": 1, "draining": False, "partitions": [], "jobs": []}
    gone = make()
    gone.call("POST", "heartbeat", {**body, "undelivered": 2}, gone.own_token)
    until(lambda: undelivered() == 1, "the worker reports two jobs")
    assert gone.call("POST", "heartbeat", {**body, "undelivered": -1}, gone.own_token, check=False).status == 422
    gone.call("POST", "leave", {"failed": True, "undelivered": 1}, gone.own_token)
    until(lambda: first.metric("runyard_workers", pool="default") == 0, "it has left")
    assert undelivered() == 1
    make()
    until(lambda: undelivered() == 0, "a worker of that name has its folder")
