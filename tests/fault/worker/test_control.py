# SPDX-License-Identifier: MPL-2.0
"""A stop reaches its worker under all conditions: without a broker, with a lost message, from another scheduler, for a
worker that was away."""

import signal
import uuid

import psycopg
import pytest

from support.configurations import planning_at
from support.fake_worker import FakeWorker, PendingRequest
from support.proc import processes_with
from support.process import free_port
from support.wait import until

NEVER = 3600  # a lease so long that no heartbeat is sent during a test
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


@pytest.fixture
def first(scheduler):
    return scheduler(lease_seconds=NEVER)


@pytest.fixture
def marker():
    """A marker in the environment of every process of this test's jobs."""
    return f"marker-{uuid.uuid4().hex}"


def planning(api, gate, marker):
    """A run during its plan, whose processes have the marker."""
    workspace = api.workspace()
    api.variable(workspace, "MARKER", marker, category="env")
    run = api.run_files(workspace, planning_at(gate))
    gate.wait()
    return workspace, run


def end_cool_off(database, run):
    """Ends the time between a cancel and a force-cancel at once."""
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("update runs set force_cancel_available_at = now() where id = %s", (run,))


def check_stopped_by_http(api, one, gate, marker, run):
    """terraform is interrupted at the gate. When it continues, it notices the interrupt. The heartbeat that a change of the
    broker's partitions causes may bring the stop first."""
    until(lambda: one.metric("runyard_worker_stops_total", way="http") + one.metric("runyard_worker_stops_total", way="heartbeat") == 1, "the worker has the stop")
    gate.open()
    api.wait_status(run, "canceled")
    assert not processes_with(marker)


def test_a_cancel_reaches_its_worker_without_the_broker(first, api, worker, gate, marker, broker):
    one = worker(sandbox_bind=gate.folder)
    _, run = planning(api, gate, marker)
    broker.process.kill()
    api.act(run, "cancel")
    check_stopped_by_http(api, one, gate, marker, run)
    broker.start()


def test_a_cancel_reaches_its_worker_if_the_message_is_lost(first, api, worker, scheduler, gate, marker, database):
    """The stop is stored nowhere, and the process that has it in memory can't reach a broker."""
    one = worker(sandbox_bind=gate.folder)
    second = scheduler(lease_seconds=NEVER, brokers=f"127.0.0.1:{free_port()}")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("create function lose() returns trigger language plpgsql as 'begin return null; end'")
        connection.execute("create trigger lose before insert on outbox for each row when (new.topic = 'runyard.control') execute function lose()")
    _, run = planning(api, gate, marker)
    api.url = second.url
    api.act(run, "cancel")
    check_stopped_by_http(api, one, gate, marker, run)
    assert one.metric("runyard_worker_messages_total", kind="control") == 0


def test_a_cancel_reaches_its_worker_through_another_scheduler(first, api, worker, scheduler, gate, marker):
    one = worker(sandbox_bind=gate.folder, brokers="", scheduler_url=scheduler(lease_seconds=NEVER).url)
    _, run = planning(api, gate, marker)
    api.act(run, "cancel")
    check_stopped_by_http(api, one, gate, marker, run)


def test_a_force_cancel_reaches_a_worker_that_was_disconnected(first, api, worker, scheduler, gate, marker, database):
    """The worker's scheduler is down. The cancel and the force-cancel take effect when it is back, and not before."""
    second = scheduler(lease_seconds=NEVER)
    one = worker(sandbox_bind=gate.folder, brokers="", scheduler_url=second.url)
    workspace, run = planning(api, gate, marker)
    second.kill()
    api.act(run, "cancel")
    end_cool_off(database, run)
    api.act(run, "force-cancel")
    after = api.run(workspace)
    before = processes_with(marker)
    assert before
    assert (api.status(run), api.status(after)) == ("planning", "pending")
    second.start()
    api.wait_status(run, "force_canceled")
    assert not set(before) & set(processes_with(marker))  # the next run has the marker, too
    assert one.metric("runyard_worker_stops_total", way="http") == 1
    gate.open()
    api.wait_status(after, "planned")


def test_a_cancel_reaches_a_worker_that_was_stopped(first, api, worker, gate, marker):
    one = worker(sandbox_bind=gate.folder)
    _, run = planning(api, gate, marker)
    one.process.send(signal.SIGSTOP)
    api.act(run, "cancel")
    assert api.status(run) == "planning" and processes_with(marker)
    gate.open()
    one.process.send(signal.SIGCONT)
    api.wait_status(run, "canceled")
    assert not processes_with(marker)


# ---- the request itself ----


@pytest.fixture
def fake_worker(first, tokens):
    return FakeWorker(first.url, tokens["agent-token"])


def test_a_known_stop_is_sent_again_only_if_it_changes(fake_worker, api, database):
    run = api.run_files(api.workspace(), ONE)
    (job,) = fake_worker.claim()
    waits = PendingRequest(fake_worker.listen)
    api.act(run, "cancel")
    cancel = {"job": job["job"], "attempt": 1, "stop": "cancel"}
    assert waits.answer() == [cancel]
    assert fake_worker.listen() == [cancel]  # an answer may be lost
    knows = PendingRequest(fake_worker.listen, cancel)
    end_cool_off(database, run)
    assert not knows.answered()
    api.act(run, "force-cancel")
    assert knows.answer() == [{**cancel, "stop": "force"}]
    assert fake_worker.result(job, "canceled").status == 204
    assert api.status(run) == "force_canceled"


def test_a_worker_gets_only_stops_of_its_own_jobs(fake_worker, first, tokens, api):
    other = FakeWorker(first.url, tokens["agent-token"], "other")
    mine, theirs = api.run_files(api.workspace(), ONE), api.run_files(api.workspace(), ONE)
    jobs = {job["run"]: job for job in fake_worker.claim(1) + other.claim(1)}
    waits = {worker: PendingRequest(worker.listen) for worker in (fake_worker, other)}
    for run in (mine, theirs):
        api.act(run, "cancel")
    stopped = [stop["job"] for listening in waits.values() for stop in listening.answer()]
    assert sorted(stopped) == sorted(job["job"] for job in jobs.values()) and len(stopped) == 2


def test_invalid_requests_are_refused(fake_worker, api):
    for body in ({}, {"told": None}, {"told": {}}, {"told": "all"}):
        assert fake_worker.call("POST", "control", body, fake_worker.own_token, check=False).status == 422
    assert fake_worker.call("POST", "control", {"told": []}, "worker.unknown", check=False).status == 404
    assert fake_worker.call("POST", "control", {"told": []}, fake_worker.token, check=False).status == 404
    run = api.run_files(api.workspace(), ONE)
    (job,) = fake_worker.claim()
    api.act(run, "cancel")
    assert [stop["job"] for stop in fake_worker.listen(1, None, [], {}, {"job": 7, "stop": []}, {"job": job["job"], "attempt": "1", "stop": "force"})] == [job["job"]]


def test_a_stopping_scheduler_answers_pending_requests(fake_worker, first, api):
    api.run_files(api.workspace(), ONE)
    fake_worker.claim()
    waits = PendingRequest(fake_worker.listen)
    until(lambda: first.metric("runyard_http_requests_total", route="/api/worker/v1/control") >= 1, "the request arrived")
    assert first.stop() == 0
    assert waits.answer() == []
