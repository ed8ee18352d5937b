# SPDX-License-Identifier: MPL-2.0
# label: extended
"""The pending request of a worker with a free slot is answered when there is a job, under all conditions, and no other
request is."""

import threading

import pytest

from support.configurations import planning_at
from support.fake_worker import FakeWorker, PendingRequest
from support.wait import until

NEVER = 3600  # a lease so long that no heartbeat is sent during a test
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


@pytest.fixture
def first(scheduler):
    return scheduler(lease_seconds=NEVER)


def wait_for_waiters(scheduler, count):
    until(lambda: scheduler.metric("runyard_waiting_workers") == count, lambda: f"{count} workers wait, not {scheduler.metric('runyard_waiting_workers'):g}")


def woken(*schedulers, **labels):
    return sum(one.metric("runyard_workers_woken_total", **labels) for one in schedulers)


def planned(api, run):
    api.wait_status(run, "planned")


# ---- real workers ----


def test_a_worker_without_a_broker_gets_each_job_with_one_claim(first, api, worker):
    """No claim is unsuccessful: one claim for each job."""
    one = worker(brokers="")
    wait_for_waiters(first, 1)
    for run in [api.run_files(api.workspace(), ONE) for _ in range(3)]:
        planned(api, run)
    wait_for_waiters(first, 1)
    until(lambda: one.metric("runyard_worker_jobs_total", stage="plan") == 3, "its jobs have ended")
    assert woken(first) - woken(first, by="look") <= 3


def test_a_worker_gets_jobs_while_the_broker_is_down(first, api, worker, broker):
    worker()
    wait_for_waiters(first, 1)
    broker.process.kill()
    planned(api, api.run_files(api.workspace(), ONE))
    broker.start()


@pytest.mark.parametrize("kill", [False, True], ids=["stopped", "killed"])
def test_a_worker_gets_jobs_after_a_restart_of_its_scheduler(first, api, worker, scheduler, kill):
    second = scheduler(lease_seconds=NEVER)
    worker(brokers="", scheduler_url=second.url)
    wait_for_waiters(second, 1)
    second.restart(kill)
    planned(api, api.run_files(api.workspace(), ONE))


def test_a_worker_gets_a_job_that_was_created_while_its_scheduler_was_down(first, api, worker, scheduler):
    second = scheduler(lease_seconds=NEVER)
    worker(brokers="", scheduler_url=second.url)
    wait_for_waiters(second, 1)
    second.kill()
    run = api.run_files(api.workspace(), ONE)
    second.start()
    planned(api, run)


def test_a_worker_gets_a_job_that_another_scheduler_created(first, api, worker, scheduler):
    second = scheduler(lease_seconds=NEVER)
    worker(brokers="", scheduler_url=second.url)
    wait_for_waiters(second, 1)
    planned(api, api.run_files(api.workspace(), ONE))
    assert woken(first) == 0
    assert woken(second, by="notice") + woken(second, by="look") >= 1


def test_a_worker_gets_jobs_after_the_listening_connection_was_closed(first, api, worker, scheduler, ask):
    """The connection that listens for other schedulers' jobs is closed."""
    second = scheduler(lease_seconds=NEVER)
    worker(brokers="", scheduler_url=second.url)
    wait_for_waiters(second, 1)
    ask("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()")
    planned(api, api.run_files(api.workspace(), ONE))


def test_a_worker_without_a_free_slot_is_not_woken(first, api, worker, gate):
    worker(brokers="", sandbox_bind=gate.folder, slots=1)
    held = api.run_files(api.workspace(), planning_at(gate))
    gate.wait()
    wait_for_waiters(first, 0)
    before = woken(first)
    run = api.run_files(api.workspace(), ONE)
    assert (api.status(run), woken(first)) == ("plan_queued", before)
    gate.open()
    planned(api, held)
    planned(api, run)


# ---- the request itself ----


@pytest.fixture
def fake_worker(first, tokens):
    return [FakeWorker(first.url, tokens["agent-token"], f"fake-worker-{number}") for number in range(3)]


def test_one_job_wakes_one_worker(fake_worker, first, api):
    waits = [PendingRequest(fake_worker.wait) for fake_worker in fake_worker]
    wait_for_waiters(first, 3)
    run = api.run_files(api.workspace(), ONE)
    until(lambda: any(wait.answered() for wait in waits), "one request is answered")
    woken_workers = [fake_worker for fake_worker, wait in zip(fake_worker, waits) if wait.answered()]
    assert [job["run"] for fake_worker in woken_workers for job in fake_worker.claim()] == [run]
    assert woken(first) - woken(first, by="look") == 1


def test_workers_are_woken_in_turn_until_one_claims_the_job(fake_worker, first, api):
    """The first two do not claim the job."""
    waits = [PendingRequest(fake_worker.wait) for fake_worker in fake_worker]
    wait_for_waiters(first, 3)
    run = api.run_files(api.workspace(), ONE)
    assert [wait.answer() for wait in waits] == [True] * 3
    assert [job["run"] for job in fake_worker[2].claim()] == [run]


def test_a_request_is_answered_at_once_if_a_job_waits(fake_worker, first, api):
    api.run_files(api.workspace(), ONE)
    assert fake_worker[0].wait() is True
    assert woken(first, by="request") == 1


def test_a_second_request_of_a_worker_ends_the_first(fake_worker, first):
    waits = PendingRequest(fake_worker[0].wait)
    wait_for_waiters(first, 1)
    again = PendingRequest(fake_worker[0].wait)
    assert waits.answer() is False and not again.answered()
    wait_for_waiters(first, 1)
    assert fake_worker[0].call("POST", "leave", {"failed": False}, fake_worker[0].own_token).status == 204
    assert again.answer() is False
    wait_for_waiters(first, 0)


def test_a_worker_is_woken_only_for_jobs_of_its_pool(fake_worker, first, api):
    pool = api.post(f"organizations/{api.organization}/agent-pools", {"data": {"type": "agent-pools", "attributes": {"name": "edge"}}}).data["id"]
    body = {"data": {"type": "agent-tokens", "attributes": {"description": "a worker's"}}}
    token = api.post(f"agent-pools/{pool}/authentication-tokens", body).data["attributes"]["token"]
    edge = FakeWorker(first.url, token, "edge")
    waits, other = PendingRequest(edge.wait), PendingRequest(fake_worker[0].wait)
    wait_for_waiters(first, 2)
    api.run_files(api.workspace(), ONE)
    assert other.answer() is True and not waits.answered()
    fake_worker[0].claim()
    api.run_files(api.workspace(execution_mode="agent", agent_pool_id=pool), ONE)
    assert waits.answer() is True
    assert len(edge.claim()) == 1


def test_no_job_is_claimed_twice(fake_worker, first, api):
    """All repeat their claims while there are jobs, and find all of them."""
    jobs, lock = [], threading.Lock()
    workspaces = [api.workspace() for _ in range(12)]

    def work(fake_worker):
        while len(jobs) < len(workspaces):
            if fake_worker.wait(2):
                claimed = fake_worker.claim(2)
                with lock:
                    jobs.extend(claimed)

    threads = [threading.Thread(target=work, args=(fake_worker,), daemon=True) for fake_worker in fake_worker]
    for thread in threads:
        thread.start()
    runs = [api.run_files(workspace, ONE) for workspace in workspaces]
    until(lambda: len(jobs) >= len(runs), lambda: f"all are claimed, not {len(jobs)} of {len(runs)}")
    assert sorted(job["run"] for job in jobs) == sorted(runs)
    for fake_worker in fake_worker:
        fake_worker.call("POST", "leave", {"failed": False}, fake_worker.own_token)


def test_invalid_requests_are_refused(fake_worker, first, api):
    fake_worker = fake_worker[0]
    for body in ({}, {"worker": fake_worker.id}, {"worker": None, "slots": 1}, {"worker": fake_worker.id, "slots": -1}, {"worker": fake_worker.id, "slots": "1"}):
        assert fake_worker.call("POST", "wait", body, check=False).status == 422
    assert fake_worker.call("POST", "wait", {"worker": "agent-unknown", "slots": 1}, check=False).status == 404
    assert fake_worker.call("POST", "wait", {"worker": fake_worker.id, "slots": 1}, "wrong", check=False).status == 401
    assert fake_worker.call("POST", "wait", {"worker": fake_worker.id, "slots": 1}, fake_worker.own_token, check=False).status == 401


def test_a_stopping_scheduler_answers_pending_requests(fake_worker, first):
    waits = PendingRequest(fake_worker[0].wait)
    wait_for_waiters(first, 1)
    assert first.stop() == 0
    assert waits.answer() is False


@pytest.mark.parametrize("quota", ["(organization_id, runs) select id, 1 from organizations", "(pool_id, runs) select id, 1 from agent_pools"],
                         ids=["organization", "pool"])
def test_jobs_above_a_quota_end_no_wait_until_there_is_room(first, api, tokens, ask, quota):
    one, other = (FakeWorker(first.url, tokens["agent-token"], slots=2, name=name) for name in ("one", "other"))
    ask(f"insert into run_quotas {quota}")
    runs = [api.run_files(api.workspace(), ONE) for _ in range(2)]
    (job,) = one.claim(2)
    assert other.wait() is False and woken(first) == 0
    waiting = PendingRequest(other.wait)
    wait_for_waiters(first, 1)
    one.end(job)
    assert waiting.answer() is True
    assert [found["run"] for found in other.claim(2)] == [run for run in runs if run != job["run"]]
