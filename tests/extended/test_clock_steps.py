# SPDX-License-Identifier: MPL-2.0
"""The clock of PostgreSQL's host steps: no lease or deadline of a live worker expires, and a dead worker is still detected."""

import pytest

from integration.identity.test_workload_identity import AUDIENCE, TOKEN, published, verified
from support.fake_worker import FakeWorker
from support.gate import Gate
from support.receiver import acknowledges
from support.servers import Postgres
from support.wait import until

LEASE = 6
HOUR = 3600


@pytest.fixture(scope="session")
def postgres():
    server = Postgres(steps=True).start()
    yield server
    server.release()


@pytest.fixture
def clock(postgres):
    yield postgres
    postgres.step(0)


@pytest.fixture
def two(scheduler):
    return [scheduler(lease_seconds=LEASE), scheduler(lease_seconds=LEASE)]


def applying(api, gate):
    """A run whose apply has reached the gate."""
    files = {"main.tf": f'resource "terraform_data" "one" {{\n  provisioner "local-exec" {{\n    command = "{gate.command}"\n  }}\n}}\n'}
    run = api.run_files(api.workspace(auto_apply=True), files)
    gate.wait()
    return run


def wait_for_step(two, steps, ask):
    """Waits until both schedulers have detected the steps, and one of them has corrected the rows, each time."""
    for one in two:
        until(lambda: one.metric("runyard_database_clock_steps_total") >= steps, f"step {steps} is detected")
    assert ask("select count from clock_steps") == [(steps,)]


def wait_for_renewals(ask, run):
    """Waits until the job's lease has been renewed several times."""
    before = ask("select lease_until from jobs where run_id = %s", run)
    for _ in range(3):
        until(lambda: ask("select lease_until from jobs where run_id = %s", run) != before, "a heartbeat is accepted")
        before = ask("select lease_until from jobs where run_id = %s", run)


@pytest.mark.parametrize("far", [HOUR, -HOUR, 400 * 24 * HOUR, 3], ids=["forward", "back", "by more than a year", "a little"])
def test_a_step_ends_only_the_job_of_a_dead_worker(two, api, worker, gate, folder, clock, ask, far):
    """One worker continues and one is killed at the moment of the step."""
    other = Gate(folder, "other")
    alive, dead = worker(sandbox_bind=gate.folder, slots=1), None  # it has no slot for the other one's job
    try:
        lives = applying(api, gate)
        dead = worker(sandbox_bind=other.folder)
        dies = applying(api, other)
        clock.step(far)
        dead.kill()
        wait_for_step(two, 1, ask)
        assert "Contact with worker" in api.wait_status(dies, "errored")["error"]
        wait_for_renewals(ask, lives)
        assert api.status(lives) == "applying"
        clock.step(0)
        wait_for_step(two, 2, ask)
        wait_for_renewals(ask, lives)
        gate.open()
        api.wait_status(lives, "applied")
        assert alive.metric("runyard_worker_jobs_total", stage="apply") == 1
    finally:
        other.open()


def test_jobs_claimed_during_steps_keep_their_leases(two, api, tokens, clock, ask):
    """The clock steps back and forth while a job is claimed."""
    fake_worker = FakeWorker(two[0].url, tokens["agent-token"])
    run = api.run_files(api.workspace(), {"main.tf": ""})
    (job,) = until(fake_worker.claim, "there is a job to claim")
    for steps, far in enumerate((HOUR, 2 * HOUR, -HOUR, 0), 1):
        clock.step(far)
        until(lambda: fake_worker.lease(job) == (True, "none") and all(one.metric("runyard_database_clock_steps_total") >= steps for one in two),
              f"step {steps} is detected", every=0.3)
    assert fake_worker.lease(job) == (True, "none")
    assert fake_worker.result(job, "failed", error="enough").status == 204
    assert api.status(run) == "errored"


def test_a_step_moves_deadlines_of_holds_and_run_tasks(two, api, worker, notifier, receiver, gate, clock, ask):
    """The clock steps beyond the deadlines of a hold and of a run task."""
    service = receiver.service(acknowledges)
    workspace = api.workspace()
    api.attach(workspace, api.task(service), "pre_plan")
    notifier()
    asking = api.run_files(workspace, {"main.tf": ""})
    until(lambda: api.task_result(asking, "pre_plan")["attributes"]["status"] == "running", "the task is acknowledged")
    one = worker(sandbox_bind=gate.folder)
    lost = applying(api, gate)
    one.kill()
    api.wait_status(lost, "errored")
    (before,) = ask("select h.until - now() from workspace_holds h")

    clock.step(24 * HOUR)
    wait_for_step(two, 1, ask)
    trips_before = [one.metric("runyard_database_round_trips_total") for one in two]
    for one, trips in zip(two, trips_before):
        until(lambda: one.metric("runyard_database_round_trips_total") > trips + 100, "every sweep has run again")
    (after,) = ask("select h.until - now() from workspace_holds h")
    assert before[0] >= after[0] > before[0] / 2
    assert ask("select count(*) from workspaces where hold_job_id is not null") == [(1,)]
    assert api.task_result(asking, "pre_plan")["attributes"]["status"] == "running"
    clock.step(0)
    wait_for_step(two, 2, ask)
    assert ask("select count(*) from task_results where due_at between now() and now() + interval '11 minutes'") == [(1,)]
    assert service.calls[0].back("passed").status == 200
    api.wait_status(asking, {"planning", "plan_queued", "planned_and_finished"})


@pytest.mark.parametrize("far", [HOUR, -HOUR, 400 * 24 * HOUR, -400 * 24 * HOUR])
def test_identities_of_runs_outlast_a_step(two, api, tokens, clock, ask, far):
    """The keys stay those that verifiers know, and each scheduler goes on signing with the same one."""
    worker = FakeWorker(two[0].url, tokens["agent-token"])
    workspace = api.workspace()
    api.variable(workspace, AUDIENCE, "x", category="env")

    def signed():
        run = api.run_files(workspace, {"main.tf": ""})
        job = worker.take(run, "plan")
        (token,) = [variable["value"] for variable in job["variables"] if variable["key"] == TOKEN]
        worker.end(job)
        verified(two[0], token)

    signed()
    keys = published(two[0])
    clock.step(far)
    wait_for_step(two, 1, ask)
    signed()
    assert published(two[0]) == published(two[1]) == keys
