# SPDX-License-Identifier: MPL-2.0
"""The lag of job messages is the number of waiting jobs, as Apache Kafka's own tool shows it."""

import time

import pytest

from support import kafka_tools
from support.kcat import produce
from support.wait import until

pytestmark = pytest.mark.kafka
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


@pytest.fixture
def pool(ask, api):
    ((pool,),) = ask("select id from agent_pools")
    return pool


@pytest.fixture
def waiting(ask):
    return lambda: ask("select count(*) from jobs where state = 'waiting'")[0][0]


@pytest.fixture
def lag(kafka, pool):
    return lambda: kafka_tools.lag(kafka, f"runyard-worker-{pool}")


def gated(gate):
    return {"main.tf": f'resource "terraform_data" "one" {{\n  input = {gate.expression}\n}}\n'}


def settled(lag, wanted):
    """Waits for that lag, at most 20 s."""
    end = time.monotonic() + 20
    until(lambda: lag() == wanted, lambda: f"lag {wanted}: it is {lag()}", timeout=20)
    assert time.monotonic() < end + 5


def test_a_hundred_jobs_for_two_slots(api, worker, gate, waiting, lag):
    workspace = api.workspace()
    configuration = api.upload(workspace, gated(gate))
    worker(slots=2, sandbox_bind=gate.folder)
    runs = [api.run(workspace, configuration, plan_only=True) for _ in range(100)]
    gate.wait()
    until(lambda: waiting() == 98, lambda: f"98 jobs wait: {waiting()}")
    settled(lag, 98)
    for run in runs[2:]:
        api.act(run, "cancel")
    settled(lag, 0)
    gate.open()
    for run in runs[:2]:
        api.wait_status(run, "planned_and_finished")
    settled(lag, 0)


def test_a_queue_that_moves(api, worker, waiting, lag):
    """Applies are claimed before older plans. The lag is never less than what waits, and at most 8 more."""
    workspaces = [api.workspace(auto_apply=True) for _ in range(20)]
    configurations = [api.upload(workspace, ONE) for workspace in workspaces]
    for _ in range(3):
        worker(slots=2)
    runs = [api.run(workspace, configuration) for workspace, configuration in zip(workspaces, configurations)]
    looks = []
    while not looks or any(api.status(run) != "applied" for run in runs):
        before, shown, after = waiting(), lag(), waiting()
        looks.append((before, shown, after))
        assert min(before, after) <= shown <= max(before, after) + 8, looks
    assert any(before for before, _, _ in looks)
    settled(lag, 0)


def test_messages_that_announce_nothing(api, worker, bus, pool, lag, waiting):
    """Messages of jobs that do not exist, or that can't be read, are passed."""
    one = worker()
    topic = f"runyard.jobs.{pool}"
    produce(bus, topic, *[{"v": 1, "job": f"job-{n:016}", "run": "run-0000000000000000"} for n in range(600)], "no message")
    until(lambda: one.metric("runyard_worker_messages_total", kind="malformed") == 1, "all are read")
    settled(lag, 0)
    api.wait_status(api.run_files(api.workspace(auto_apply=True), ONE), "applied")
    settled(lag, 0)
