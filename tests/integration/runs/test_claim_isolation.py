# SPDX-License-Identifier: MPL-2.0
# label: quick
"""One organization's broken runs block no claim of another's, and committed claims are answered."""

import psycopg
import pytest

from support.fake_worker import FakeWorker
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


@pytest.fixture
def fake_worker(api_site):
    """A worker. No job of another test waits, or becomes available when its lease ends."""
    api_site.change("delete from jobs")
    return FakeWorker(api_site.scheduler.url, api_site.tokens["agent-token"], slots=64)


def waiting_run(org, workspace=None):
    return org.run_files(workspace or org.workspace(), ONE)


def job_of(api_site, run):
    return api_site.ask("select state, attempt from jobs where run_id = %s", run)


def claimed(fake_worker, slots=1):
    return [job["run"] for job in fake_worker.claim(slots)]


# Statements that prevent a run from starting, and the status with which it ends.
BROKEN = {
    "breaks-an-invariant": ("update runs set queued = true where id = %s", "errored"),
    "has-ended": ("update runs set status = 'canceled', queued = false, holds = false, ended = true where id = %s", "canceled"),
    "has-no-plan": ("delete from operations where run_id = %s", None),
}


@pytest.mark.parametrize("slots", [1, 8])
@pytest.mark.parametrize("case", BROKEN)
def test_a_run_that_cannot_start_does_not_affect_other_claims(org, api_site, fake_worker, case, slots):
    statement, status = BROKEN[case]
    workspace = org.workspace()
    broken = [waiting_run(org, workspace), waiting_run(org)]
    fine = [waiting_run(api_site.organization()), waiting_run(org)]
    for run in broken:
        api_site.change(statement, run)
    found = []
    while len(found) < len(fine):
        jobs = claimed(fake_worker, slots)
        assert jobs, "each claim finds a job that can start"
        found += jobs
    assert sorted(found) == sorted(fine) and claimed(fake_worker, slots) == []
    for run in broken:
        assert job_of(api_site, run) == []
        if status:
            assert org.status(run) == status
        if case == "breaks-an-invariant":
            assert "4: a run is queued" in org.events(run, "errored")[0][1]
            assert "4: a run is queued" in api_site.ask("select error from run_inputs where run_id = %s", run)[0][0]
    if case == "breaks-an-invariant":  # its workspace continues
        assert claimed(fake_worker) == [] and api_site.ask("select current_run_id from workspaces where id = %s", workspace) == [(None,)]
        following = org.run(workspace)
        assert claimed(fake_worker) == [following]


@pytest.mark.parametrize("slots", [1, 8])
def test_a_run_with_unreadable_variables_does_not_affect_other_claims(org, api_site, fake_worker, slots):
    workspace = org.workspace()
    org.variable(workspace, "name", "value")
    broken, fine = waiting_run(org, workspace), waiting_run(api_site.organization())
    api_site.change("update run_inputs set snapshot_sealed = set_byte(snapshot_sealed, 20, get_byte(snapshot_sealed, 20) # 1) where run_id = %s", broken)
    found = []
    until(lambda: found.extend(claimed(fake_worker, slots)) or fine in found, "the other run is claimed")
    assert found == [fine] and org.status(broken) == "errored"
    assert "sealed bytes were changed" in org.events(broken, "errored")[0][1]


def test_a_run_of_a_newer_version_is_not_claimed(org, api_site, fake_worker):
    newer, fine = waiting_run(org), waiting_run(api_site.organization())
    api_site.change("update runs set stage = 'of_the_future' where id = %s", newer)
    assert claimed(fake_worker) == [fine] and claimed(fake_worker) == []
    assert job_of(api_site, newer) == [("waiting", 1)]
    api_site.change("update runs set stage = 'plan' where id = %s", newer)
    assert claimed(fake_worker) == [newer]


def test_an_unreadable_variable_refuses_runs_of_its_own_workspace_only(org, api_site):
    workspace, other = org.workspace(), api_site.organization()
    configuration = org.upload(workspace, ONE)
    variable = org.variable(workspace, "name", "value")
    api_site.change("update variables set value_sealed = 'x' where id = %s", variable)
    body = {"data": {"type": "runs", "attributes": {}, "relationships": {"workspace": {"data": {"type": "workspaces", "id": workspace}},
            "configuration-version": {"data": {"type": "configuration-versions", "id": configuration}}}}}
    assert org.call("POST", "runs", body).status == 500
    waiting_run(other)


# ---- attempts ----


def test_jobs_committed_before_a_failed_attempt_are_answered(org, api_site, fake_worker):
    """A second attempt, for a job whose row is locked, fails. The first one has committed."""
    first, locked = waiting_run(org), waiting_run(org)
    api_site.change("create function leaves() returns trigger language plpgsql as $$ begin "
                    "update workers set left_at = now() where id = new.worker_id; return null; end $$")
    api_site.change("create trigger leaves after update of worker_id on jobs for each row when (new.worker_id is not null) execute function leaves()")
    try:
        with psycopg.connect(api_site.database) as connection:
            connection.execute("select 1 from jobs where run_id = %s for update", (locked,))
            assert claimed(fake_worker, 2) == [first]
        answer = fake_worker.call("POST", "claim", {"worker": fake_worker.id, "slots": 2}, check=False)
        assert answer.status == 404 and job_of(api_site, locked) == [("waiting", 1)]
    finally:
        api_site.change("drop trigger leaves on jobs")
    second_worker = FakeWorker(api_site.scheduler.url, api_site.tokens["agent-token"], slots=2)
    assert claimed(second_worker, 2) == [locked]


def test_a_claim_of_a_departed_worker_is_refused(api_site):
    fake_worker = api_site.fake_worker()
    fake_worker.leave()
    assert fake_worker.call("POST", "claim", {"worker": fake_worker.id, "slots": 1}, check=False).status == 404
