# SPDX-License-Identifier: MPL-2.0
"""A worker gets the jobs that it can run, with the engine and the exact version that they need, and no others."""

import psycopg
import pytest

from support.fake_worker import FakeWorker
from support.wait import until

LEASE = 5
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
OLD, NEW, TOFU = ["terraform 1.5.6", "terraform 1.5.7"], ["terraform 1.11.4"], ["tofu 1.10.6"]


@pytest.fixture
def fake_worker(scheduler, tokens):
    """fake_worker(capabilities) registers another worker."""
    url = scheduler(lease_seconds=LEASE).url
    return lambda capabilities, **more: FakeWorker(url, tokens["agent-token"], capabilities=capabilities, **more)


def start_run(api, version="", **attributes):
    workspace = api.workspace(terraform_version=version, **attributes) if version else api.workspace(**attributes)
    return api.run_files(workspace, ONE)


def claim_one(worker):
    """The only job that the worker gets."""
    (job,) = until(worker.claim, "there is a job to claim")
    return job


def pass_plan(worker, job):
    worker.on(job, "PUT", "plan", b"a plan")
    assert worker.result(job, **{"terraform-version": job["terraform-version"]}).status == 204


def test_a_worker_without_an_engine_claims_no_plan(fake_worker, api):
    run = start_run(api)
    for capabilities in ([], ["opa", "cost"], ["sentinel"]):
        assert fake_worker(capabilities).claim() == []
    assert api.status(run) in ("pending", "plan_queued")
    job = claim_one(fake_worker(NEW))
    assert (job["run"], job["engine"], job["terraform-version"]) == (run, "terraform", "1.11.4")


def test_a_plan_goes_to_the_worker_with_its_version(fake_worker, api):
    old, new = fake_worker(OLD), fake_worker(NEW)
    run = start_run(api, "1.5.7")
    assert new.claim() == []
    assert api.status(run) in ("pending", "plan_queued")
    job = claim_one(old)
    assert (job["run"], job["engine"], job["terraform-version"]) == (run, "terraform", "1.5.7")


@pytest.mark.parametrize("version", ["1.5.5", "~> 1.12.0", "1.11.5", "1.11.3"])
def test_a_plan_without_a_capable_worker_is_errored_with_the_available_versions(fake_worker, api, version):
    fake_worker([]), fake_worker(TOFU)
    new = fake_worker(NEW)
    run = start_run(api, version)
    until(lambda: new.claim() == [] and api.status(run) == "errored", "the run ends")
    error = api.attributes(f"runs/{run}")["error"]
    assert f'"{version}"' in error and "Terraform 1.11.4" in error and "OpenTofu 1.10.6" in error, error
    after = start_run(api)
    assert claim_one(new)["run"] == after, "the worker's slot is free"


def test_a_version_constraint_is_resolved_once_per_run(fake_worker, api, database):
    workspace = api.workspace(terraform_version="~> 1.5.0")
    old = fake_worker(OLD)
    run = api.run_files(workspace, ONE)
    job = claim_one(old)
    assert job["terraform-version"] == "1.5.7"
    assert api.attributes(f"runs/{run}")["terraform-version"] == "1.5.7"
    assert api.attributes(f"workspaces/{workspace}")["terraform-version"] == "~> 1.5.0"
    newer = fake_worker([*OLD, "terraform 1.5.9"])
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("update jobs set lease_until = now() - interval '1 second'")
    retry = claim_one(newer)
    assert (retry["run"], retry["attempt"], retry["terraform-version"]) == (run, 2, "1.5.7")


def test_a_constraint_does_not_resolve_to_a_disabled_version(fake_worker, api, database):
    """An apply uses the version of its plan."""
    old = fake_worker(OLD)
    workspace = api.workspace(terraform_version="~> 1.5.0")
    run = api.run_files(workspace, ONE)
    pass_plan(old, claim_one(old))
    api.wait_status(run, "planned")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("insert into tool_versions (id, tool, version, archs, enabled) values ('tool-1', 'terraform', '1.5.7', '[]', false) "
                           "on conflict (tool, version) do update set enabled = false")
    other = api.run_files(api.workspace(terraform_version="~> 1.5.0"), ONE)
    job = claim_one(old)
    assert (job["run"], job["terraform-version"]) == (other, "1.5.6")
    pass_plan(old, job)
    api.act(run, "apply")
    job = claim_one(old)
    assert (job["run"], job["stage"], job["terraform-version"]) == (run, "apply", "1.5.7")
    refused = api.run_files(api.workspace(terraform_version="> 1.5.6, < 1.6.0"), ONE)
    until(lambda: old.claim() == [] and api.status(refused) == "errored", "the run ends")
    error = api.attributes(f"runs/{refused}")["error"]
    assert "Terraform 1.5.6" in error and "1.5.7" not in error, error


def test_an_apply_runs_with_the_engine_that_planned(fake_worker, api):
    """Another engine with the same version does not match."""
    tofu, same = fake_worker(TOFU), fake_worker(["terraform 1.10.6"])
    run = start_run(api)
    job = claim_one(tofu)
    assert (job["engine"], job["terraform-version"]) == ("tofu", "1.10.6")
    pass_plan(tofu, job)
    api.wait_status(run, "planned")
    api.act(run, "apply")
    assert same.claim() == []
    assert api.status(run) in ("confirmed", "apply_queued")
    job = claim_one(tofu)
    assert (job["stage"], job["engine"], job["terraform-version"]) == ("apply", "tofu", "1.10.6")


def test_an_apply_without_its_engine_is_errored_with_the_available_versions(fake_worker, api):
    tofu, near = fake_worker(TOFU), fake_worker(["terraform 1.10.6", "tofu 1.10.7"])
    run = start_run(api, "1.10.6")
    while True:
        job = claim_one(tofu)
        if job["engine"] == "tofu":
            break
    pass_plan(tofu, job)
    api.wait_status(run, "planned")
    api.act(run, "apply")
    assert near.claim() == [] and api.status(run) in ("confirmed", "apply_queued"), "the apply waits for a live worker"
    tofu.leave()
    until(lambda: near.claim() == [] and api.status(run) == "errored", "the run ends")
    error = api.attributes(f"runs/{run}")["error"]
    assert "planned with OpenTofu 1.10.6" in error and "OpenTofu 1.10.7" in error and "Terraform 1.10.6" in error, error
    after = start_run(api)
    assert claim_one(near)["run"] == after


def test_a_silent_worker_counts_as_available_for_one_lease(fake_worker, api):
    tofu, near = fake_worker(TOFU), fake_worker(["terraform 1.10.6"])
    run = start_run(api, "1.10.6", auto_apply=True)
    job = claim_one(near)
    if job["engine"] == "terraform":
        pass_plan(near, job)
        near, tofu = tofu, near
    api.wait_status(run, "apply_queued")
    until(lambda: near.claim() == [] and api.status(run) == "errored", "the run ends when the other worker is silent")


def test_a_silent_worker_counts_as_available_after_an_outage(scheduler, tokens, request, ask):
    """After it, another worker's claim may arrive before the worker's heartbeat."""
    one = scheduler(lease_seconds=600)
    api = request.getfixturevalue("api")
    old, new = (FakeWorker(one.url, tokens["agent-token"], capabilities=capabilities) for capabilities in (OLD, NEW))
    run = start_run(api, "1.5.7")
    ask("update workers set seen_at = now() - interval '1 hour'")
    one.restart(kill=True)
    assert new.claim() == [] and api.status(run) in ("pending", "plan_queued")
    old.heartbeat()
    assert claim_one(old)["run"] == run


def test_a_worker_that_downloads_engines_gets_any_exact_version(fake_worker, api):
    new, able = fake_worker(NEW), fake_worker([*NEW, "download terraform"])
    run = start_run(api, "1.3.9")
    assert new.claim() == []
    job = claim_one(able)
    assert (job["run"], job["engine"], job["terraform-version"]) == (run, "terraform", "1.3.9")


def test_a_worker_that_reports_no_capabilities_gets_the_requested_version(fake_worker, api):
    old = fake_worker(None)
    run = start_run(api, "1.3.9")
    job = claim_one(old)
    assert (job["run"], job["engine"], job["terraform-version"]) == (run, "", "1.3.9")
    pass_plan(old, {**job, "terraform-version": "1.3.8"})
    api.wait_status(run, "planned")
    api.act(run, "apply")
    assert claim_one(fake_worker(None))["terraform-version"] == "1.3.8"


def test_jobs_for_other_workers_do_not_hide_runnable_jobs(fake_worker, api):
    old, new = fake_worker(OLD), fake_worker(NEW)
    for version in ("1.5.6", "1.5.7", "~> 1.5.0", "~> 1.5.6", "< 1.6.0"):
        for _ in range(2):
            start_run(api, version)
    expected = {start_run(api), start_run(api, "1.11.4"), start_run(api, ">= 1.11.0")}
    old.heartbeat()  # a worker that is silent for a lease is not counted
    jobs = new.claim(2) + new.claim(2)
    assert {job["run"] for job in jobs} == expected
    assert new.claim(4) == []
    assert len(old.claim(20)) == 10


def test_policies_go_to_the_worker_with_their_program(fake_worker, api):
    workspace = api.workspace()
    api.policy_set("opa", [api.policy("opa", "mandatory", "package x\ndeny = []\n")], workspace)
    plans, opa = fake_worker(NEW), fake_worker(["opa"])
    run = api.run_files(workspace, ONE)
    pass_plan(plans, claim_one(plans))
    assert plans.claim() == [], "the policies are left to the other worker"
    job = claim_one(opa)
    assert (job["run"], job["stage"]) == (run, "opa")


def test_policies_without_a_capable_worker_go_to_any_worker(fake_worker, api):
    workspace = api.workspace()
    api.policy_set("opa", [api.policy("opa", "mandatory", "package x\ndeny = []\n")], workspace)
    plans = fake_worker(NEW)
    run = api.run_files(workspace, ONE)
    pass_plan(plans, claim_one(plans))
    job = claim_one(plans)
    assert (job["run"], job["stage"]) == (run, "opa")


def test_site_admins_see_the_capabilities_of_workers(fake_worker, api):
    fake_worker(OLD + ["opa", "cost"], name="able"), fake_worker([], name="unable"), fake_worker(None, name="earlier")
    agents = {agent["attributes"]["name"]: agent["attributes"]["capabilities"] for agent in api.get("admin/agents").data}
    assert agents == {"able": OLD + ["opa", "cost"], "unable": [], "earlier": None}


@pytest.mark.parametrize("capabilities", ["terraform", {"a": 1}, [1], ["x" * 81], ["x"] * 129, None])
def test_invalid_capabilities_are_refused(fake_worker, capabilities):
    worker = fake_worker([])
    answer = worker.call("POST", "claim", {"worker": worker.id, "slots": 1, "capabilities": capabilities}, check=False)
    assert answer.status == 422, answer.text
