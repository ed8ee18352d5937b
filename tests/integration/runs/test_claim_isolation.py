# SPDX-License-Identifier: MPL-2.0
"""One organization's large or broken runs block no claim of another's, and committed claims are answered."""

import json
import uuid

import psycopg
import pytest

from support.fake_worker import FakeWorker
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
VALUE = 256 << 10  # the largest variable
MEBIBYTE = 1 << 20
RUN_LIMIT, ANSWER_LIMIT = 16 * MEBIBYTE, 32 * MEBIBYTE


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
    api_site.change("update run_inputs set snapshot_sealed = substr(snapshot_sealed, 1, 20) || '\\x00'::bytea || substr(snapshot_sealed, 22) where run_id = %s", broken)
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


# ---- large variables ----


def variable_set(org, count):
    """A set of the organization for all workspaces, with that many variables of the largest size. Returns its id."""
    attributes = {"name": f"large-{uuid.uuid4()}", "global": True}
    varset = org.post(f"organizations/{org.organization}/varsets", {"data": {"type": "varsets", "attributes": attributes}}).data["id"]
    for number in range(count):
        add(org, varset, f"large_{number}")
    return varset


def add(org, varset, key):
    attributes = {"key": key, "value": "x" * VALUE, "category": "terraform"}
    return org.post(f"varsets/{varset}/relationships/vars", {"data": {"type": "vars", "attributes": attributes}}).data["id"]


def test_the_size_of_a_claims_answer_is_bounded(org, api_site, fake_worker):
    variable_set(org, 60)  # 15 MiB
    large = [waiting_run(org) for _ in range(4)]
    other = api_site.organization()
    small = [waiting_run(other) for _ in range(3)]
    found, answers = [], []
    while True:
        answer = fake_worker.call("POST", "claim", {"worker": fake_worker.id, "slots": 8})
        found.append([job["run"] for job in answer.json["jobs"]])
        answers.append((len(answer.body), answer.json["more"]))
        if not found[-1]:
            break
    assert sorted(sum(found, [])) == sorted(large + small)
    assert all(size < ANSWER_LIMIT + MEBIBYTE for size, _ in answers), answers
    assert [more for _, more in answers] == [True] * (len(answers) - 2) + [False, False], answers
    assert set(found[0]) & set(small), "the other organization's jobs come among the first"
    assert max(len(set(jobs) & set(large)) for jobs in found) == 2


def test_an_oversized_run_of_an_earlier_version_is_claimed_alone(org, api_site, fake_worker):
    """The earlier version had no such limit."""
    variable_set(org, 60)
    large, small = [waiting_run(org), waiting_run(org)], waiting_run(api_site.organization())
    sizes = api_site.ask("select octet_length(snapshot_sealed) from run_inputs where run_id = %s", large[0])
    assert 15 * MEBIBYTE < sizes[0][0] < RUN_LIMIT
    with psycopg.connect(api_site.database) as connection:  # claims bound their answers by stored sizes only
        connection.execute("update run_inputs set invoke_action_addrs = jsonb_build_array(repeat('x', 20000000)) where run_id = any(%s)", (large,))
    found = []
    until(lambda: found.append(claimed(fake_worker, 8)) or not found[-1], "all jobs are claimed")
    assert sorted(sum(found, [])) == sorted([*large, small]) and all(len(set(jobs) & set(large)) <= 1 for jobs in found)


def test_too_large_variables_are_refused_with_a_pointer(org, api_site):
    workspace, other = org.workspace(), api_site.organization()
    varset = variable_set(org, 63)  # 15.75 MiB
    configuration = org.upload(workspace, ONE)

    def create(**attributes):
        body = {"data": {"type": "runs", "attributes": attributes, "relationships": {
            "workspace": {"data": {"type": "workspaces", "id": workspace}},
            "configuration-version": {"data": {"type": "configuration-versions", "id": configuration}}}}}
        return org.call("POST", "runs", body)

    def assert_refused(answer, pointer):
        assert answer.status == 422 and answer.json["errors"][0]["source"]["pointer"] == pointer, answer.text
        assert str(RUN_LIMIT) in answer.json["errors"][0]["detail"] and "xxx" not in answer.text

    own = [{"key": f"own_{number}", "value": json.dumps("y" * (200 << 10))} for number in range(2)]
    assert_refused(create(variables=own), "/data/attributes/variables")
    assert create(variables=own[:1], message="fits").status == 201
    last = add(org, varset, "large_63")  # 16 MiB, and the names
    assert_refused(create(), "/data/relationships/workspace")
    assert_refused(create(variables=own), "/data/relationships/workspace")
    waiting_run(other)
    org.delete(f"varsets/{varset}/relationships/vars/{last}")
    assert create().status == 201
    # JSON needs six bytes for each of these characters.
    attributes = {"key": "control", "value": "\x01" * (100 << 10), "category": "terraform"}
    org.post(f"workspaces/{workspace}/vars", {"data": {"type": "vars", "attributes": attributes}})
    assert_refused(create(), "/data/relationships/workspace")


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
    fake_worker = FakeWorker(api_site.scheduler.url, api_site.tokens["agent-token"])
    fake_worker = api_site.fake_worker()
    fake_worker.leave()
    assert fake_worker.call("POST", "claim", {"worker": fake_worker.id, "slots": 1}, check=False).status == 404
