# SPDX-License-Identifier: MPL-2.0
# label: extended
"""The broker, PostgreSQL and schedulers are restarted during runs: every run ends correctly."""

import signal

import psycopg
import pytest

from support.configurations import applying
from support.wait import until

LEASE = 4


def one(number):
    return {"main.tf": f'resource "terraform_data" "one" {{\n  input = {number}\n}}\n'}


class Work:
    """Runs in every phase: in the queue, waiting, planning, planned, applying."""

    def __init__(self, api, gate, runs=2):
        self.api = api
        self.gate = gate
        gated = api.workspace(auto_apply=True)
        self.applying = api.run_files(gated, applying(gate.command))
        self.after = api.run(gated, is_destroy=True)
        self.workspaces = [api.workspace(auto_apply=True) for _ in range(2)]
        self.runs = [[api.run_files(workspace, one(number)) for number in range(runs)] for workspace in self.workspaces]
        gate.wait()

    def more(self):
        for workspace, runs in zip(self.workspaces, self.runs):
            runs.append(self.api.run_files(workspace, one(len(runs))))

    def check_all_applied(self):
        self.gate.open()
        for run in [self.applying, self.after, *sum(self.runs, [])]:
            self.api.wait_status(run, "applied")
        for workspace, runs in zip(self.workspaces, self.runs):
            state = self.api.state(workspace)
            assert state["resources"][0]["instances"][0]["attributes"]["input"]["value"] == len(runs) - 1


@pytest.fixture
def short(scheduler):
    return scheduler(lease_seconds=LEASE)


@pytest.mark.parametrize("how", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.extended)])
@pytest.mark.kafka
def test_runs_are_applied_after_a_restart_of_kafka(short, api, worker, gate, bus, how):
    worker(sandbox_bind=gate.folder, slots=3)
    work = Work(api, gate)
    bus.process.stop(how)
    work.more()
    bus.start()
    work.check_all_applied()


def test_runs_are_applied_after_the_embedded_broker_lost_its_memory(short, api, worker, gate, bus):
    worker(sandbox_bind=gate.folder, slots=3)
    work = Work(api, gate)
    bus.process.stop(signal.SIGKILL)
    work.more()
    bus.start()
    work.check_all_applied()


def test_runs_are_applied_without_a_broker(short, api, worker, gate, bus):
    worker(sandbox_bind=gate.folder, slots=3)
    bus.process.stop(signal.SIGKILL)
    Work(api, gate, runs=1).check_all_applied()
    bus.start()


@pytest.mark.parametrize("how", [signal.SIGQUIT, pytest.param(signal.SIGINT, marks=pytest.mark.extended)])
def test_runs_are_applied_after_a_restart_of_postgresql(short, api, worker, gate, postgres, how):
    worker(sandbox_bind=gate.folder, slots=3)
    work = Work(api, gate)
    postgres.restart(how)
    until(short.ready, "the scheduler is ready again")
    work.more()
    work.check_all_applied()


def test_a_planned_run_is_applied_after_a_long_outage_of_postgresql(short, api, worker, gate, postgres):
    first = worker(sandbox_bind=gate.folder, slots=3)
    workspace = api.workspace()
    planned = api.run_files(workspace, one(1))
    api.wait_status(planned, "planned")
    failed = first.metric("runyard_worker_heartbeats_total", outcome="failed")
    postgres.stop()
    assert api.call("GET", f"runs/{planned}").status == 503
    assert api.call("GET", f"runs/{planned}").headers["Retry-After"]
    assert short.get("/readyz")[0] == 503 and short.get("/healthz")[0] == 200
    until(lambda: first.metric("runyard_worker_heartbeats_total", outcome="failed") >= failed + 2, "heartbeats fail")
    postgres.start()
    until(short.ready, "the scheduler is ready again")
    api.act(planned, "apply")
    api.wait_status(planned, "applied")


def test_another_scheduler_continues_the_runs_of_a_killed_one(short, api, scheduler, worker, gate):
    second = scheduler(lease_seconds=LEASE)
    worker(sandbox_bind=gate.folder, slots=3, scheduler_url=second.url)
    work = Work(api, gate)
    work.more()
    short.kill()
    api.url = second.url
    work.more()
    work.check_all_applied()


def test_a_restarted_scheduler_continues_its_runs(short, api, worker, gate, database):
    worker(sandbox_bind=gate.folder, slots=3)
    work = Work(api, gate)
    work.more()
    short.restart(kill=True)
    work.check_all_applied()
    with psycopg.connect(database) as connection:
        until(lambda: connection.execute("select count(*) from outbox").fetchone() == (0,), "nothing is left in the outbox")


def test_no_apply_is_lost_after_a_long_outage_of_the_scheduler(short, api, worker, gate):
    """The worker continues its apply. The restarted scheduler gets its heartbeat before it checks its lease."""
    first = worker(sandbox_bind=gate.folder)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, applying(gate.command))
    gate.wait()
    failed = first.metric("runyard_worker_heartbeats_total", outcome="failed")
    short.kill()
    until(lambda: first.metric("runyard_worker_heartbeats_total", outcome="failed") >= failed + 3, "heartbeats fail")
    gate.open()
    short.start()
    api.wait_status(run, "applied")
    until(lambda: api.resources(workspace) == ["terraform_data.first", "terraform_data.second"], "the whole state arrived")
