# SPDX-License-Identifier: MPL-2.0
"""kill -9 of a worker: a plan is repeated, an apply never, and no written state is lost."""

import signal

import pytest

from support.configurations import applying, planning_at
from support.engine import each_engine, unrecorded
from support.gate import Gate
from support.proc import processes_with
from support.wait import until

LEASE = 3
BOTH = ["terraform_data.first", "terraform_data.second"]
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


def applying_at(gate):
    """The engine must stop the provisioner itself: OpenTofu that is interrupted while its apply ends by itself sometimes
    leaves an empty state."""
    return applying(f"trap '' INT; {gate.command}")


@pytest.fixture(autouse=True)
def short_leases(scheduler):
    return scheduler(lease_seconds=LEASE)


@pytest.mark.parametrize("continued_by", ["another", "itself"])
def test_the_plan_of_a_killed_worker_is_repeated(api, scheduler, worker, gate, continued_by):
    workspace = api.workspace(auto_apply=True)
    first = worker(sandbox_bind=gate.folder)
    run = api.run_files(workspace, planning_at(gate))
    gate.wait()
    assert api.status(run) == "planning"
    first.kill()
    gate.open()
    if continued_by == "another":
        worker(sandbox_bind=gate.folder)
    else:
        first.start()
    api.wait_status(run, "applied")
    assert api.resources(workspace) == ["terraform_data.one"]
    log = api.log(run)
    assert log.count("Initializing plugins and modules...") >= 1 and log.rstrip().splitlines()[-1].startswith("{")


@each_engine()
def test_the_apply_of_a_killed_worker_errors_and_its_state_is_kept(api, scheduler, worker, gate, engine):
    """The folder is lost: resources that OpenTofu created before its first state are listed."""
    workspace = api.workspace(auto_apply=True)
    first = worker(sandbox_bind=gate.folder)
    run = api.run_files(workspace, applying_at(gate))
    gate.wait()
    if engine.writes_at_once:
        until(lambda: first.metric("runyard_worker_states_sent_total") >= 1, "a state is sent")
    until(lambda: "first: Creation complete" in api.log(run, "apply"), "the log is sent")
    assert api.status(run) == "applying"
    first.kill()
    until(lambda: not processes_with(gate.path), "nothing of the job is left")
    second = worker(sandbox_bind=gate.folder)
    attributes = api.wait_status(run, "errored")
    assert "Contact with worker worker-1 was lost" in attributes["error"] and "never tried again" in attributes["error"]
    assert api.log(run, "apply").endswith(f"\nError: {attributes['error']}\n")
    if engine.writes_at_once:
        assert "terraform_data.first" in api.resources(workspace)
        current = api.get(f"workspaces/{workspace}/current-state-version").data
        assert current["relationships"]["run"]["data"]["id"] == run
    else:
        until(lambda: unrecorded(api, run) == ["terraform_data.first"], "the unrecorded resource is listed")
    assert api.attributes(f"applies/{api.sibling(run, 'apply')}")["status"] in ("errored", "unreachable")
    after = api.run_files(workspace, {"main.tf": applying_at(gate)["main.tf"].replace(gate.command, "true")})
    assert api.status(after) == "pending", "the worker may still deliver its state"
    api.post(f"workspaces/{workspace}/actions/force-unlock")
    api.wait_status(after, "applied")
    assert api.resources(workspace) == ["terraform_data.first", "terraform_data.second"]
    until(lambda: second.metric("runyard_worker_jobs_total", stage="apply") == 1, "its jobs have ended")


@each_engine()
def test_a_restarted_worker_delivers_its_last_state(api, scheduler, worker, gate):
    """The worker's folder persists: the state that the interrupted engine wrote arrives when the worker is back, and
    then nothing waits."""
    workspace = api.workspace(auto_apply=True)
    first = worker(sandbox_bind=gate.folder)
    run = api.run_files(workspace, applying_at(gate))
    after = api.run(workspace, is_destroy=True)
    gate.wait()
    first.kill()
    first.start()
    api.wait_status(run, "errored")
    until(lambda: "terraform_data.first" in api.resources(workspace), "its state arrived")
    until(lambda: first.metric("runyard_worker_states_pending") == 0, "nothing waits to be delivered")
    api.wait_status(after, "applied")
    assert api.resources(workspace) == []


def waiting_after_apply(folder, engine, gate):
    """Options of a worker whose engine waits at the gate after an apply and ignores interrupts."""
    program = folder / engine.program
    program.write_text(f'#!/bin/sh\n{engine.path} "$@"\ncode=$?\n[ "$1" != apply ] || {gate.command}\nexit $code\n')
    program.chmod(0o755)
    return {"engine": program, "sandbox_bind": f"{gate.folder},{engine.folder}"}


@pytest.fixture
def before(folder):
    """The gate at which an apply is interrupted."""
    return Gate(folder, "before")


def killed_while_applying(api, one, gate):
    """A run whose worker was killed, and its workspace."""
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, applying_at(gate))
    gate.wait()
    one.kill()
    return workspace, run


@each_engine()
def test_a_keeper_waits_for_the_engine_if_its_worker_is_killed_twice(folder, api, worker, gate, before, engine):
    """The keeper interrupts the engine, and no worker uses the folder until the engine has exited."""
    options = waiting_after_apply(folder, engine, gate)
    options["sandbox_bind"] += f",{before.folder}"
    one = worker(job_stop_seconds=600, **options)
    workspace, run = killed_while_applying(api, one, before)
    after = api.run(workspace, is_destroy=True)
    gate.wait()
    for again in range(2):
        one.start()
        until(lambda: one.metric("runyard_worker_states_pending") == 1, "it waits for the keeper")
        if not again:
            one.kill()
    api.wait_status(run, "errored")
    assert gate.reached() and api.status(after) == "pending" and BOTH[1] not in api.resources(workspace)
    gate.open()
    until(lambda: api.resources(workspace) == BOTH, "the last state arrived")
    until(lambda: one.metric("runyard_worker_states_pending") == 0, "nothing waits to be delivered")
    api.wait_status(after, "applied")
    assert api.resources(workspace) == []


@each_engine()
def test_an_engine_that_ignores_interrupts_is_killed_and_its_state_delivered(folder, api, worker, gate, before, engine):
    """The keeper kills it after --job-stop-seconds."""
    options = waiting_after_apply(folder, engine, gate)
    options["sandbox_bind"] += f",{before.folder}"
    one = worker(job_stop_seconds=10, **options)
    workspace, run = killed_while_applying(api, one, before)
    gate.wait()
    one.start()
    until(lambda: api.resources(workspace) == BOTH, "the last state arrived")
    until(lambda: not processes_with(gate.path), "nothing of the job is left")
    api.wait_status(run, "errored")


def test_a_plan_that_was_lost_twice_is_not_repeated(api, scheduler, worker, gate):
    workspace = api.workspace()
    workers = [worker(sandbox_bind=gate.folder, name="one")]
    run = api.run_files(workspace, planning_at(gate))
    gate.wait()
    workers[0].kill()
    gate.left()
    workers.append(worker(sandbox_bind=gate.folder, name="other"))
    gate.wait()
    workers[1].kill()
    gate.left()
    third = worker(sandbox_bind=gate.folder)
    error = api.wait_status(run, "errored")["error"]
    assert "stage 'plan' was lost with its worker twice (workers one and other) and is not tried again" in error
    assert not gate.reached()
    api.wait_status(api.run_files(workspace, ONE), "planned")
    until(lambda: third.metric("runyard_worker_jobs_total", stage="plan") == 1, "its jobs have ended")


def test_a_plan_of_a_worker_that_was_stopped_in_order_is_not_counted_as_lost(api, scheduler, worker, gate):
    """A second signal also stops the plan, but the worker reports this: the attempt does not count against the plan."""
    workspace = api.workspace()
    run = api.run_files(workspace, planning_at(gate))
    for number in range(2):
        one = worker(sandbox_bind=gate.folder, name=f"stopped-{number}")
        gate.wait()
        one.process.send(signal.SIGTERM)
        until(lambda: one.metric("runyard_worker_draining") == 1, "it drains")
        assert one.stop() == 1
        gate.left()
    killed = worker(sandbox_bind=gate.folder)
    gate.wait()
    killed.kill()
    gate.open()
    worker(sandbox_bind=gate.folder)
    api.wait_status(run, "planned")
    reasons = [event["attributes"]["description"] for event in api.get(f"runs/{run}/run-events").data if event["attributes"]["action"] == "lost"]
    assert len(reasons) == 1 and reasons[0].endswith("It is tried again.")
