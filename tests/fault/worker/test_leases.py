# SPDX-License-Identifier: MPL-2.0
"""Leases are renewed and expire, and a worker whose lease has expired is refused."""

import os
import signal

import psycopg
import pytest

from support.fake_worker import FakeWorker
from support.wait import until

LEASE = 4  # seconds, for workers without heartbeats: long enough for the steps of a test
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


@pytest.fixture
def fake_worker(scheduler, tokens):
    first = scheduler(lease_seconds=LEASE)
    fake_worker = FakeWorker(first.url, tokens["agent-token"])
    assert fake_worker.call("POST", "heartbeat", {"free": 1, "slots": 1, "draining": False, "partitions": [], "jobs": []}, fake_worker.own_token).json["lease-seconds"] == LEASE
    return fake_worker


def claim_job(fake_worker):
    """The only waiting job."""
    (job,) = until(fake_worker.claim, "there is a job to claim")
    return job


def claim_apply(fake_worker, api, worker):
    """A confirmed run whose apply the fake worker has claimed, and whose real worker has stopped."""
    one = worker()
    run = api.run_files(api.workspace(), ONE)
    api.wait_status(run, "planned")
    assert one.stop() == 0
    api.act(run, "apply")
    job = claim_job(fake_worker)
    assert (job["run"], job["stage"]) == (run, "apply")
    return run, job, one


def check_refused(fake_worker, job):
    """The attempt's requests are refused."""
    for method, what, body in (("PUT", "log?offset=0", b"late\n"), ("PUT", "plan", b"late"), ("GET", "configuration", None), ("POST", "started", b"")):
        assert fake_worker.on(job, method, what, body, check=False).status in (401, 404, 409), what
    # A result may always be repeated. It has no effect.
    assert fake_worker.result(job).status in (204, 401, 404, 409)


def test_an_apply_that_was_not_started_is_repeated(fake_worker, api, worker):
    run, job, one = claim_apply(fake_worker, api, worker)
    one.start()
    api.wait_status(run, "applied")
    check_refused(fake_worker, job)
    assert api.status(run) == "applied"
    assert "late" not in api.log(run, "apply")


def test_a_started_apply_is_never_repeated(fake_worker, api, worker):
    run, job, one = claim_apply(fake_worker, api, worker)
    assert fake_worker.on(job, "POST", "started", b"").status == 204
    one.start()
    assert "never tried again" in api.wait_status(run, "errored")["error"]
    check_refused(fake_worker, job)
    assert api.status(run) == "errored"
    assert one.metric("runyard_worker_jobs_total", stage="apply") == 0


def test_a_lost_plan_gets_a_new_attempt_and_token(fake_worker, api, worker):
    run = api.run_files(api.workspace(), ONE)
    first = claim_job(fake_worker)
    second = claim_job(fake_worker)
    assert second["job"] == first["job"] and second["attempt"] == first["attempt"] + 1 and second["token"] != first["token"]
    check_refused(fake_worker, first)
    assert fake_worker.lease(first) == (False, "none")
    assert fake_worker.lease(second) == (True, "none")
    assert api.status(run) == "planning"


def test_heartbeats_extend_the_lease(fake_worker, api, database):
    run = api.run_files(api.workspace(), ONE)
    job = claim_job(fake_worker)
    with psycopg.connect(database, autocommit=True) as connection:
        (first_end,) = connection.execute("select lease_until from jobs where id = %s", (job["job"],)).fetchone()

        def is_renewed():
            assert fake_worker.lease(job) == (True, "none")
            return connection.execute("select now() > %s + interval '1 second'", (first_end,)).fetchone()[0]

        until(is_renewed, "its first lease has expired", every=0.3)
    assert fake_worker.on(job, "PUT", "log?offset=0", b"still here\n").status == 204
    api.act(run, "cancel")
    assert fake_worker.lease(job) == (True, "cancel")
    assert fake_worker.result(job, "canceled").status == 204
    assert api.status(run) == "canceled"
    assert fake_worker.lease(job) == (False, "none")


def expire_during(database, job, change):
    """The sweeper finds the lease expired while a transaction of the job's worker is about to commit that change."""
    with psycopg.connect(database) as connection, psycopg.connect(database, autocommit=True) as onlooker:
        connection.execute(f"update jobs set {change} where id = %s", (job["job"],))
        (me,) = connection.execute("select pg_backend_pid()").fetchone()
        until(lambda: onlooker.execute("select 1 from pg_stat_activity where %s = any(pg_blocking_pids(pid))", (me,)).fetchone(), "the sweeper waits for it")


def test_a_heartbeat_concurrent_with_the_sweeper_extends_the_lease(fake_worker, api, database):
    """If the sweeper decided by data that it had read before, two workers would have the plan."""
    run = api.run_files(api.workspace(), ONE)
    job = claim_job(fake_worker)
    expire_during(database, job, "lease_until = now() + interval '1 hour'")
    after = api.run_files(api.workspace(), ONE)
    assert claim_job(fake_worker)["run"] == after
    assert fake_worker.lease(job) == (True, "none")
    assert fake_worker.result(job, "failed", error="enough").status == 204
    assert api.status(run) == "errored"


def test_an_apply_started_concurrently_with_the_sweeper_is_not_repeated(fake_worker, api, worker, database):
    run, job, one = claim_apply(fake_worker, api, worker)
    expire_during(database, job, "started = true")
    one.start()
    assert "never tried again" in api.wait_status(run, "errored")["error"]
    assert one.metric("runyard_worker_jobs_total", stage="apply") == 0


def test_a_force_canceled_run_ends_when_its_lease_expires(fake_worker, api, database):
    """Until the lease expires its process may be alive, and no other run of the workspace starts."""
    workspace = api.workspace()
    run = api.run_files(workspace, ONE)
    job = claim_job(fake_worker)
    api.act(run, "cancel")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("update runs set force_cancel_available_at = now() where id = %s", (run,))
    api.act(run, "force-cancel")
    after = api.run(workspace)
    assert fake_worker.lease(job) == (True, "force")
    assert (api.status(run), api.status(after), fake_worker.claim()) == ("planning", "pending", [])
    api.wait_status(run, "force_canceled")
    assert claim_job(fake_worker)["run"] == after
    assert fake_worker.lease(job) == (False, "none")


def test_an_estimate_that_was_lost_twice_errors_and_the_run_continues(fake_worker, api):
    api.patch(f"organizations/{api.organization}", {"data": {"type": "organizations", "attributes": {"cost-estimation-enabled": True}}})
    run = api.run_files(api.workspace(), ONE)
    assert fake_worker.result(claim_job(fake_worker)).status == 204
    assert [claim_job(fake_worker)["stage"], claim_job(fake_worker)["stage"]] == ["cost", "cost"]
    api.wait_status(run, "cost_estimated")
    estimate = api.attributes(f"cost-estimates/{api.sibling(run, 'cost-estimate')}")
    assert "was lost with its worker twice (workers fake-worker and fake-worker)" in estimate["error-message"]
    assert fake_worker.claim() == []


def test_a_canceled_run_of_a_lost_worker_ends_with_the_lease(fake_worker, api):
    """Its process may be alive until the lease expires."""
    run = api.run_files(api.workspace(), ONE)
    claim_job(fake_worker)
    api.act(run, "cancel")
    assert api.status(run) == "planning"
    api.wait_status(run, {"canceled", "errored"})


def test_a_canceled_apply_can_not_be_started(fake_worker, api, worker):
    run, job, _ = claim_apply(fake_worker, api, worker)
    api.act(run, "cancel")
    assert fake_worker.on(job, "POST", "started", b"", check=False).status == 409
    assert fake_worker.result(job, "canceled").status == 204
    assert api.status(run) == "canceled"


def test_an_apply_whose_claim_was_answered_too_late_is_claimed_again(scheduler, tokens, worker, request):
    """The claim was answered by a scheduler that was stopped meanwhile, so the lease is over when the worker gets the
    job. Nothing has been started yet, so the job is claimed again."""
    second = scheduler(lease_seconds=LEASE)
    paused = scheduler(lease_seconds=LEASE)
    api = request.getfixturevalue("api")
    run = api.run_files(api.workspace(), ONE)
    one = worker(scheduler_url=paused.url)
    api.wait_status(run, "planned")

    def failed_heartbeats():
        return one.metric("runyard_worker_heartbeats_total", outcome="failed")

    before = failed_heartbeats()
    os.kill(paused.pid, signal.SIGSTOP)
    try:
        api.act(run, "apply")
        until(lambda: failed_heartbeats() >= before + 3, "the lease has expired")
    finally:
        os.kill(paused.pid, signal.SIGCONT)
    assert api.url == second.url and api.wait_status(run, "applied")


def test_repeated_bytes_of_a_log_are_stored_once(fake_worker, api):
    run = api.run_files(api.workspace(), ONE)
    job = claim_job(fake_worker)
    for offset, text in ((0, b"one\n"), (0, b"one\n"), (4, b"two\n"), (0, b"one\ntwo\n"), (2, b"e\ntwo\nthree\n")):
        assert fake_worker.on(job, "PUT", f"log?offset={offset}", text).status == 204
    gap = fake_worker.on(job, "PUT", "log?offset=100", b"far\n", check=False)
    assert gap.status == 409 and '"length":14' in gap.text.replace(" ", "")
    fake_worker.result(job, "failed", error="enough")
    api.wait_status(run, "errored")
    assert api.log(run) == "one\ntwo\nthree\n"


@pytest.mark.parametrize("slots", [0, -1, "many", None, 1 << 40])
def test_invalid_claims_are_refused(fake_worker, api, slots):
    api.run_files(api.workspace(), ONE)
    answer = fake_worker.call("POST", "claim", {"worker": fake_worker.id, "slots": slots}, check=False)
    assert answer.status in (200, 400, 422) and (answer.status != 200 or len(answer.json["jobs"]) <= 1)
    assert fake_worker.call("POST", "claim", {"worker": "agent-unknown", "slots": 1}, check=False).status in (404, 422)
    assert fake_worker.call("POST", "claim", {"worker": fake_worker.id, "slots": 1}, token="wrong", check=False).status == 401
    assert fake_worker.call("POST", "claim", {"worker": fake_worker.id, "slots": 1}, token=api.token, check=False).status in (401, 403, 404)
