# SPDX-License-Identifier: MPL-2.0
"""A claim contains the job's inputs if they are small. A worker requests the others."""

import base64
import hashlib
import json
import random

import pytest

from support.api import tar_gz
from support.fake_worker import FakeWorker
from support.runyard import Worker
from support.wait import until

MAX_INPUT, MAX_ANSWER = 64 << 10, 1 << 20
PLAN = {"format_version": "1.2", "terraform_version": "1.11.4", "resource_changes": []}
source = random.Random(1)


@pytest.fixture
def fake_worker(api, scheduler, tokens):
    return FakeWorker(scheduler.all[0].url, tokens["agent-token"], slots=64)


def claim_contents(job):
    return {name: base64.b64decode(text, validate=True) for name, text in job.get("contents", {}).items()}


def requested(fake_worker, job, *names):
    """The answers to the job's own requests."""
    return {name: fake_worker.on(job, "GET", name).body for name in names}


def state_of(serial):
    return json.dumps({"version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": "3f1c", "outputs": {}, "resources": []}).encode()


def push_state(api, workspace, serial):
    """A state version as clients create it."""
    state = state_of(serial)
    attributes = {"serial": serial, "lineage": "3f1c", "md5": hashlib.md5(state).hexdigest(), "state": base64.b64encode(state).decode()}
    api.post(f"workspaces/{workspace}/actions/lock", {})
    api.post(f"workspaces/{workspace}/state-versions", {"data": {"type": "state-versions", "attributes": attributes}})
    api.post(f"workspaces/{workspace}/actions/unlock")
    return state


def test_a_claim_contains_small_inputs(api, fake_worker):
    workspace = api.workspace(auto_apply=True)
    archive = tar_gz({"main.tf": ""})
    version = api.upload(workspace, archive)
    api.run(workspace, version)
    (job,) = fake_worker.claim()
    assert claim_contents(job) == {"configuration": archive} and not job["has-state"]
    fake_worker.on(job, "PUT", "plan", b"a plan")
    fake_worker.on(job, "PUT", "init", b"an init")
    fake_worker.result(job)
    (job,) = fake_worker.claim()
    assert claim_contents(job) == {"configuration": archive, "plan": b"a plan", "init": b"an init"}
    assert claim_contents(job) == requested(fake_worker, job, "configuration", "plan", "init")
    fake_worker.on(job, "POST", "started", b"")
    fake_worker.on(job, "PUT", "state", state_of(1))
    fake_worker.result(job)
    api.run(workspace, version)
    (job,) = fake_worker.claim()
    assert claim_contents(job) == {"configuration": archive, "state": state_of(1)} == requested(fake_worker, job, "configuration", "state")


def test_a_claim_of_a_cost_estimate_contains_the_plan_json(api, fake_worker):
    api.patch("organizations/acme", {"data": {"type": "organizations", "attributes": {"cost-estimation-enabled": True}}})
    api.run_files(api.workspace(), {"main.tf": ""})
    (job,) = fake_worker.claim()
    fake_worker.on(job, "PUT", "plan", b"a plan")
    fake_worker.on(job, "PUT", "plan-json", json.dumps(PLAN).encode())
    fake_worker.result(job)
    (job,) = fake_worker.claim()
    assert job["stage"] == "cost" and claim_contents(job) == {"plan-json": json.dumps(PLAN).encode()}


def test_large_offloaded_or_unreadable_inputs_are_not_in_the_claim(api, fake_worker, ask):
    workspaces = [api.workspace() for _ in range(4)]
    archives = [tar_gz({"main.tf": "", "more": source.randbytes(size)}) for size in (MAX_INPUT - 1000, MAX_INPUT, 10, 20)]
    runs = [api.run(workspace, api.upload(workspace, archive)) for workspace, archive in zip(workspaces, archives)]
    state = push_state(api, workspace := api.workspace(), 1)
    runs.append(api.run_files(workspace, {"main.tf": ""}))
    blobs = [ask("select c.blob_id from run_inputs i join configuration_versions c on c.id = i.configuration_version_id where i.run_id = %s", run)[0][0] for run in runs]
    ask("update blobs set bytes_sealed = null, object_key = 'elsewhere' where id = %s", blobs[2])
    ask("update blobs set bytes_sealed = bytes_sealed || 'x' where id = %s", blobs[3])
    jobs = {job["run"]: job for job in fake_worker.claim(5)}
    small, large, offloaded, broken, other = [jobs[run] for run in runs]
    assert claim_contents(small) == {"configuration": archives[0]} and list(claim_contents(other)) == ["configuration", "state"] and claim_contents(other)["state"] == state
    assert not any("contents" in job for job in (large, offloaded, broken))
    assert requested(fake_worker, large, "configuration") == {"configuration": archives[1]}
    assert [fake_worker.on(job, "GET", "configuration", check=False).status for job in (offloaded, broken)] == [503, 500]


def test_a_claim_is_answered_if_the_inputs_cannot_be_read(api, fake_worker, ask):
    archive = tar_gz({"main.tf": ""})
    workspace = api.workspace()
    run = api.run(workspace, api.upload(workspace, archive))
    ask("alter table configuration_versions rename column blob_id to away")
    (job,) = fake_worker.claim()
    ask("alter table configuration_versions rename column away to blob_id")
    assert job["run"] == run and "contents" not in job and requested(fake_worker, job, "configuration") == {"configuration": archive}


def test_the_size_of_an_answer_is_bounded_and_small_inputs_come_first(api, fake_worker):
    archive = tar_gz({"main.tf": "", "more": source.randbytes(MAX_INPUT - 1000)})
    fit = MAX_ANSWER // len(archive)
    workspace = api.workspace()
    state = push_state(api, workspace, 1)
    version = api.upload(workspace, archive)
    for _ in range(fit + 4):
        api.run(workspace, version, plan_only=True)
    jobs = fake_worker.claim(64)
    assert len(jobs) == fit + 4 and all(claim_contents(job)["state"] == state for job in jobs)
    complete = [job for job in jobs if claim_contents(job).get("configuration") == archive]
    assert len(complete) == fit and sum(len(content) for job in jobs for content in claim_contents(job).values()) <= MAX_ANSWER
    for job in jobs:
        assert requested(fake_worker, job, "configuration") == {"configuration": archive}


def test_a_claim_contains_the_state_at_the_time_of_the_claim(api, fake_worker, ask):
    """While a run holds the workspace, no other client writes its state. During a speculative plan, others may."""
    workspace = api.workspace()
    push_state(api, workspace, 1)
    version = api.upload(workspace, {"main.tf": ""})
    api.run(workspace, version, plan_only=True)
    newer = push_state(api, workspace, 2)
    (job,) = fake_worker.claim()
    assert claim_contents(job)["state"] == newer
    newest = push_state(api, workspace, 3)
    assert requested(fake_worker, job, "state") == {"state": newest}
    run = api.run(workspace, version)
    assert api.call("POST", f"workspaces/{workspace}/actions/lock", {}).status == 409
    (job,) = fake_worker.claim()
    assert job["run"] == run and claim_contents(job)["state"] == newest == requested(fake_worker, job, "state")["state"]
    assert ask("select s.serial from operations o join state_versions s on s.id = o.base_state_id where o.run_id = %s", run) == [(3,)]


# ---- the worker ----


@pytest.fixture(scope="module")
def worker(fake_scheduler, session_folder):
    folder = session_folder / "contents"
    folder.mkdir()
    worker = Worker("worker", folder, scheduler_url=fake_scheduler.url, agent_token="t", data_dir=folder / "data", sandbox="none")
    yield worker.start()
    worker.release()


@pytest.mark.parametrize("content,names", [
    (base64.b64encode(json.dumps(PLAN).encode()).decode(), []),
    ("no base64!", ["plan-json"]),
    (None, ["plan-json"]),
])
def test_a_worker_requests_inputs_that_are_missing_or_malformed(fake_scheduler, worker, content, names):
    job = fake_scheduler.offer("cost", {"plan-json": PLAN}, {"plan-json": content})
    until(lambda: job.result, "an estimate")
    assert job.result["outcome"] == "passed" and json.loads(job.sent["cost"])["status"] == "finished" and job.asked == names


def test_a_worker_requests_all_inputs_if_the_claim_has_none(fake_scheduler, worker):
    job = fake_scheduler.offer("cost", {"plan-json": PLAN})
    until(lambda: job.result, "an estimate")
    assert job.result["outcome"] == "passed" and job.asked == ["plan-json"]


# ---- a missing state ----

STATE = {"version": 4, "terraform_version": "1.5.0", "serial": 3, "lineage": "l", "outputs": {}, "resources": [], "check_results": None}


def plan(fake_scheduler, files, contents=None, **facts):
    job = fake_scheduler.offer("plan", {"configuration": tar_gz({"main.tf": 'output "one" {\n  value = 1\n}\n'}), **files}, contents, **facts)
    until(lambda: job.result, "the plan's end")
    return job


@pytest.mark.parametrize("files,contents", [({}, None), ({"state": b""}, None), ({}, {"state": ""})])
def test_a_plan_without_the_workspaces_state_is_errored(fake_scheduler, worker, files, contents):
    """The plan would create all resources again."""
    job = plan(fake_scheduler, files, contents, has_state=True)
    assert job.result["outcome"] == "errored" and "state" in job.result["error"] and "scheduler" in job.result["error"], job.result
    assert "plan" not in job.sent


@pytest.mark.parametrize("files,contents,facts", [
    ({"state": STATE}, None, {"has_state": True}),
    ({}, {"state": base64.b64encode(json.dumps(STATE).encode()).decode()}, {"has_state": True}),
    ({}, None, {}),  # a workspace without a state: none is requested
])
def test_a_plan_passes_with_the_workspaces_state_or_without_one(fake_scheduler, worker, files, contents, facts):
    job = plan(fake_scheduler, files, contents, **facts)
    assert job.result["outcome"] == "passed", job.result
    assert ("state" in job.asked) == bool(files)
