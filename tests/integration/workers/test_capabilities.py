# SPDX-License-Identifier: MPL-2.0
# label: full
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


def started(api, version="", **attributes):
    workspace = api.workspace(terraform_version=version, **attributes) if version else api.workspace(**attributes)
    return api.run_files(workspace, ONE)


def claimed(worker):
    """The only job that it gets."""
    (job,) = until(worker.claim, "there is a job to claim")
    return job


def passed(worker, job):
    worker.on(job, "PUT", "plan", b"a plan")
    assert worker.result(job, **{"terraform-version": job["terraform-version"]}).status == 204


def test_one_without_an_engine_claims_nothing(fake_worker, api):
    run = started(api)
    for capabilities in ([], ["opa", "cost"], ["sentinel"]):
        assert fake_worker(capabilities).claim() == []
    assert api.status(run) in ("pending", "plan_queued")
    job = claimed(fake_worker(NEW))
    assert (job["run"], job["engine"], job["terraform-version"]) == (run, "terraform", "1.11.4")


def test_a_plan_is_left_to_the_worker_that_has_its_version(fake_worker, api):
    old, new = fake_worker(OLD), fake_worker(NEW)
    run = started(api, "1.5.7")
    assert new.claim() == []
    assert api.status(run) in ("pending", "plan_queued")
    job = claimed(old)
    assert (job["run"], job["engine"], job["terraform-version"]) == (run, "terraform", "1.5.7")


@pytest.mark.parametrize("version", ["1.5.5", "~> 1.12.0", "1.11.5", "1.11.3"])
def test_a_plan_that_nobody_can_make_ends_with_what_there_is(fake_worker, api, version):
    fake_worker([]), fake_worker(TOFU)
    new = fake_worker(NEW)
    run = started(api, version)
    until(lambda: new.claim() == [] and api.status(run) == "errored", "the run ends")
    error = api.attributes(f"runs/{run}")["error"]
    assert f'"{version}"' in error and "Terraform 1.11.4" in error and "OpenTofu 1.10.6" in error, error
    after = started(api)
    assert claimed(new)["run"] == after, "the worker's slot is free"


def test_a_constraint_is_resolved_once(fake_worker, api, database):
    workspace = api.workspace(terraform_version="~> 1.5.0")
    old = fake_worker(OLD)
    run = api.run_files(workspace, ONE)
    job = claimed(old)
    assert job["terraform-version"] == "1.5.7"
    assert api.attributes(f"runs/{run}")["terraform-version"] == "1.5.7"
    assert api.attributes(f"workspaces/{workspace}")["terraform-version"] == "~> 1.5.0"
    newer = fake_worker([*OLD, "terraform 1.5.9"])
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("update jobs set lease_until = now() - interval '1 second'")
    again = claimed(newer)
    assert (again["run"], again["attempt"], again["terraform-version"]) == (run, 2, "1.5.7")


def test_no_constraint_takes_a_disabled_version(fake_worker, api, database):
    """Applies use the version that planned."""
    old = fake_worker(OLD)
    workspace = api.workspace(terraform_version="~> 1.5.0")
    run = api.run_files(workspace, ONE)
    passed(old, claimed(old))
    api.wait_status(run, "planned")
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("insert into tool_versions (id, tool, version, archs, enabled) values ('tool-1', 'terraform', '1.5.7', '[]', false) "
                           "on conflict (tool, version) do update set enabled = false")
    other = api.run_files(api.workspace(terraform_version="~> 1.5.0"), ONE)
    job = claimed(old)
    assert (job["run"], job["terraform-version"]) == (other, "1.5.6")
    passed(old, job)
    api.act(run, "apply")
    job = claimed(old)
    assert (job["run"], job["stage"], job["terraform-version"]) == (run, "apply", "1.5.7")
    refused = api.run_files(api.workspace(terraform_version="> 1.5.6, < 1.6.0"), ONE)
    until(lambda: old.claim() == [] and api.status(refused) == "errored", "the run ends")
    error = api.attributes(f"runs/{refused}")["error"]
    assert "Terraform 1.5.6" in error and "1.5.7" not in error, error


def test_an_apply_runs_with_the_engine_that_planned(fake_worker, api):
    """Another engine with the same version does not match."""
    tofu, same = fake_worker(TOFU), fake_worker(["terraform 1.10.6"])
    run = started(api)
    job = claimed(tofu)
    assert (job["engine"], job["terraform-version"]) == ("tofu", "1.10.6")
    passed(tofu, job)
    api.wait_status(run, "planned")
    api.act(run, "apply")
    assert same.claim() == []
    assert api.status(run) in ("confirmed", "apply_queued")
    job = claimed(tofu)
    assert (job["stage"], job["engine"], job["terraform-version"]) == ("apply", "tofu", "1.10.6")


def test_an_apply_whose_engine_is_gone_ends_with_what_there_is(fake_worker, api):
    tofu, near = fake_worker(TOFU), fake_worker(["terraform 1.10.6", "tofu 1.10.7"])
    run = started(api, "1.10.6")
    while True:
        job = claimed(tofu)
        if job["engine"] == "tofu":
            break
    passed(tofu, job)
    api.wait_status(run, "planned")
    api.act(run, "apply")
    assert near.claim() == [] and api.status(run) in ("confirmed", "apply_queued"), "it waits for a live worker"
    tofu.leave()
    until(lambda: near.claim() == [] and api.status(run) == "errored", "the run ends")
    error = api.attributes(f"runs/{run}")["error"]
    assert "planned with OpenTofu 1.10.6" in error and "OpenTofu 1.10.7" in error and "Terraform 1.10.6" in error, error
    after = started(api)
    assert claimed(near)["run"] == after


def test_a_worker_that_is_silent_counts_until_its_lease_would_end(fake_worker, api):
    tofu, near = fake_worker(TOFU), fake_worker(["terraform 1.10.6"])
    run = started(api, "1.10.6", auto_apply=True)
    job = claimed(near)
    if job["engine"] == "terraform":
        passed(near, job)
        near, tofu = tofu, near
    api.wait_status(run, "apply_queued")
    until(lambda: near.claim() == [] and api.status(run) == "errored", "the run ends when the other worker is silent")


def test_a_worker_that_downloads_gets_any_exact_version(fake_worker, api):
    new, able = fake_worker(NEW), fake_worker([*NEW, "download terraform"])
    run = started(api, "1.3.9")
    assert new.claim() == []
    job = claimed(able)
    assert (job["run"], job["engine"], job["terraform-version"]) == (run, "terraform", "1.3.9")


def test_one_of_an_earlier_version_gets_what_it_asks_for(fake_worker, api):
    old = fake_worker(None)
    run = started(api, "1.3.9")
    job = claimed(old)
    assert (job["run"], job["engine"], job["terraform-version"]) == (run, "", "1.3.9")
    passed(old, {**job, "terraform-version": "1.3.8"})
    api.wait_status(run, "planned")
    api.act(run, "apply")
    assert claimed(fake_worker(None))["terraform-version"] == "1.3.8"


def test_jobs_for_others_hide_no_job_of_ones_own(fake_worker, api):
    old, new = fake_worker(OLD), fake_worker(NEW)
    for version in ("1.5.6", "1.5.7", "~> 1.5.0", "~> 1.5.6", "< 1.6.0"):
        for _ in range(2):
            started(api, version)
    wanted = {started(api), started(api, "1.11.4"), started(api, ">= 1.11.0")}
    jobs = new.claim(2) + new.claim(2)
    assert {job["run"] for job in jobs} == wanted
    assert new.claim(4) == []
    assert len(old.claim(20)) == 10


def test_policies_go_to_the_worker_that_has_the_program(fake_worker, api):
    workspace = api.workspace()
    api.policy_set("opa", [api.policy("opa", "mandatory", "package x\ndeny = []\n")], workspace)
    plans, opa = fake_worker(NEW), fake_worker(["opa"])
    run = api.run_files(workspace, ONE)
    passed(plans, claimed(plans))
    assert plans.claim() == [], "it is left to the other"
    job = claimed(opa)
    assert (job["run"], job["stage"]) == (run, "opa")


def test_policies_that_nobody_can_evaluate_go_to_any_worker(fake_worker, api):
    workspace = api.workspace()
    api.policy_set("opa", [api.policy("opa", "mandatory", "package x\ndeny = []\n")], workspace)
    plans = fake_worker(NEW)
    run = api.run_files(workspace, ONE)
    passed(plans, claimed(plans))
    job = claimed(plans)
    assert (job["run"], job["stage"]) == (run, "opa")


def test_people_see_what_a_worker_can_run(fake_worker, api):
    fake_worker(OLD + ["opa", "cost"], name="able"), fake_worker([], name="unable"), fake_worker(None, name="earlier")
    agents = {agent["attributes"]["name"]: agent["attributes"]["capabilities"] for agent in api.get("admin/agents").data}
    assert agents == {"able": OLD + ["opa", "cost"], "unable": [], "earlier": None}


@pytest.mark.parametrize("wrong", ["terraform", {"a": 1}, [1], ["x" * 81], ["x"] * 129, None])
def test_what_are_no_capabilities_is_refused(fake_worker, wrong):
    worker = fake_worker([])
    got = worker.call("POST", "claim", {"worker": worker.id, "slots": 1, "capabilities": wrong}, check=False)
    assert got.status == 422, got.text
