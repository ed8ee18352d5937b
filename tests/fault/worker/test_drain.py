# SPDX-License-Identifier: MPL-2.0
"""SIGTERM: running jobs finish and no new ones are taken; a second signal interrupts applies, a third kills."""

import os
import signal
import time

import pytest

from support.configurations import applying, planning_at
from support.engine import each_engine, unrecorded
from support.http_proxy import HttpProxy
from support.proc import ancestors, is_engine, processes_with
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


def start_apply(api, worker, gate):
    """A worker during an apply."""
    one = worker(sandbox_bind=gate.folder, slots=2)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, applying(gate.command))
    gate.wait()
    return one, workspace, run


@each_engine()
def test_a_draining_worker_finishes_its_jobs_and_claims_no_more(api, worker, gate):
    one, workspace, run = start_apply(api, worker, gate)
    one.process.send(signal.SIGTERM)
    until(lambda: one.metric("runyard_worker_draining") == 1, "it drains")
    assert one.get("/readyz") == (503, "this worker drains: it takes no more jobs\n")
    other = api.run_files(api.workspace(), ONE)
    # Another worker takes over the jobs of the draining one at once.
    two = worker()
    api.wait_status(other, "planned")
    until(lambda: two.metric("runyard_worker_jobs_total", stage="plan") == 1, "its jobs have ended")
    assert one.process.alive() and api.status(run) == "applying"
    gate.open()
    assert one.process.ended() == 0
    api.wait_status(run, "applied")
    assert api.resources(workspace) == ["terraform_data.first", "terraform_data.second"]
    one.process.check_sanitizers()


def test_an_idle_worker_exits_at_once(api, worker):
    one = worker()
    assert one.stop() == 0


@each_engine()
def test_a_second_signal_interrupts_the_engine_and_its_state_is_delivered(api, worker, gate):
    """OpenTofu writes its state when it is interrupted."""
    one, workspace, run = start_apply(api, worker, gate)
    one.process.send(signal.SIGTERM)
    until(lambda: one.metric("runyard_worker_draining") == 1, "it drains")
    one.process.send(signal.SIGTERM)
    assert one.process.ended() == 1
    assert not processes_with(gate.path)
    one.process.check_sanitizers()
    assert "terraform_data.first" in api.resources(workspace)
    assert not unrecorded(api, run)
    worker()
    error = api.wait_status(run, "errored")["error"]
    assert "The worker was stopped" in error and "canceled" not in error
    assert "Interrupt received" in api.log(run, "apply")
    api.wait_status(api.run_files(workspace, ONE), "applied")


def test_the_drain_ends_after_the_drain_seconds(api, worker, gate):
    one = worker(sandbox_bind=gate.folder, drain_seconds=1)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, applying(gate.command))
    gate.wait()
    one.process.send(signal.SIGTERM)
    assert one.process.ended() == 1
    assert "terraform_data.first" in api.resources(workspace)
    worker()
    assert "The worker was stopped" in api.wait_status(run, "errored")["error"]


@pytest.mark.parametrize("third", ["signal", "--job-stop-seconds"])
def test_a_third_step_kills_an_engine_that_does_not_stop(api, worker, gate, third):
    one = worker(sandbox_bind=gate.folder, job_stop_seconds=300 if third == "signal" else 2)
    api.run_files(api.workspace(auto_apply=True), applying(gate.command))
    gate.wait()
    engine = next(pid for pid in ancestors(processes_with(gate.path)[0]) if is_engine(pid))
    os.kill(engine, signal.SIGSTOP)
    one.process.send(signal.SIGTERM)
    until(lambda: one.metric("runyard_worker_draining") == 1, "it drains")
    one.process.send(signal.SIGTERM)
    until(lambda: any("applies are interrupted" in line["msg"] for line in one.log_lines()), "it interrupts")
    if third == "signal":
        one.process.send(signal.SIGTERM)
    assert one.process.ended() == 1
    assert not processes_with(gate.path)


def test_an_apply_whose_state_was_not_stored_is_not_applied(api, scheduler, worker, gate, engine):
    """The engine has succeeded. The worker is stopped while it sends the last state, and its result goes by the broker."""
    front = HttpProxy(scheduler.all[0].port)
    one = worker(sandbox_bind=gate.folder, scheduler_url=front.url)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, applying(gate.command))
    gate.wait()
    if engine.writes_at_once:
        until(lambda: api.resources(workspace) == ["terraform_data.first"], "the first state is sent")
    front.reply = lambda method, path: front.going.wait() and None if path.endswith(("/state", "/batch")) else None
    gate.open()
    until(lambda: one.metric("runyard_worker_step_seconds_count", stage="apply", step="apply") == 1, "the engine has ended")
    for line in ("draining", "applies are interrupted", "what runs is killed"):
        one.process.send(signal.SIGTERM)
        until(lambda: any(line in entry["msg"] for entry in one.log_lines()), line)
    assert one.process.ended() == 3, "it keeps the state on its disk"
    assert "the scheduler has not accepted it" in api.wait_status(run, "errored")["error"]
    assert api.attributes(f"workspaces/{workspace}")["locked-reason"].startswith(f"Held after {run}")
    front.release()
    one.options["scheduler_url"] = scheduler.all[0].url
    one.start()
    until(lambda: not api.attributes(f"workspaces/{workspace}")["locked"], "the hold ends")
    assert api.resources(workspace) == ["terraform_data.first", "terraform_data.second"] and api.status(run) == "errored"


def test_a_plan_that_a_second_signal_stopped_is_repeated(api, worker, gate):
    one = worker(sandbox_bind=gate.folder)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, planning_at(gate))
    gate.wait()
    one.process.send(signal.SIGTERM)
    until(lambda: one.metric("runyard_worker_draining") == 1, "it drains")
    one.process.send(signal.SIGTERM)
    assert one.process.ended() == 1
    gate.open()
    worker(sandbox_bind=gate.folder)
    api.wait_status(run, "applied")


def test_another_scheduler_continues_the_runs_of_a_stopped_one(api, scheduler, worker):
    first, second = scheduler.all[0], scheduler()
    worker(scheduler_url=second.url)
    workspace = api.workspace(auto_apply=True)
    configuration = api.upload(workspace, ONE)
    runs = [api.run(workspace, configuration) for _ in range(3)]
    assert first.stop() == 0
    api.url = second.url
    api.wait_status(runs[0], "applied")
    for run in runs[1:]:
        api.wait_status(run, "planned_and_finished")


def test_a_stopping_scheduler_serves_requests_and_is_not_ready(api, scheduler, worker):
    first, second = scheduler.all[0], scheduler(stop_seconds=300)
    worker(scheduler_url=second.url)
    until(lambda: second.metric("runyard_waiting_workers") == 1, "the worker waits for a job")
    second.process.send(signal.SIGTERM)
    until(lambda: second.get("/readyz")[0] == 503, "it is not ready")
    assert "--stop-seconds" in second.get("/readyz")[1] and second.get("/healthz")[0] == 200
    until(lambda: second.metric("runyard_waiting_workers") == 0, "the claim request has ended")
    # Its worker still gets a run that is created there.
    api.url = second.url
    run = api.run_files(api.workspace(auto_apply=True), ONE)
    api.wait_status(run, "applied")
    api.plan_json(run)  # the worker has nothing left to send
    second.process.send(signal.SIGTERM)
    assert second.process.ended() == 0
    api.url = first.url
    assert api.status(run) == "applied"


def test_a_stopping_scheduler_exits_after_the_stop_seconds(scheduler):
    one = scheduler(stop_seconds=2)
    before = time.monotonic()
    assert one.process.stop() == 0
    assert time.monotonic() - before >= 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_scheduler_exits_on_sigterm_and_sigint(api, scheduler, number):
    assert scheduler.all[0].process.stop(number) == 0
