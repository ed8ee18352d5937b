# SPDX-License-Identifier: MPL-2.0
"""Workers that take only some kinds of jobs (--accept), and runs that need several of them."""

import pytest

from support.fake_worker import FakeWorker
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
ENGINE = ["terraform 1.11.4", "opa", "sentinel", "cost"]
STAGES = ("plan", "apply", "opa", "sentinel", "cost")


@pytest.fixture
def fake_worker(scheduler, tokens):
    """fake_worker(stage...) takes jobs of these stages."""
    url = scheduler().url

    def make(*taken, has=ENGINE):
        return FakeWorker(url, tokens["agent-token"], capabilities=[*has, *(f"no {stage}" for stage in STAGES if stage not in taken)])

    return make


def waiting(api, run):
    shown = api.attributes(f"runs/{run}/waiting")
    return shown["code"], shown["text"]


def pass_plan(worker, job):
    worker.on(job, "PUT", "plan", b"a plan")
    assert worker.result(job).status == 204


def test_a_plan_and_its_apply_have_different_workers(fake_worker, api):
    """The pool says that a job waits exactly to those that take it."""
    plans, applies = fake_worker("plan"), fake_worker("apply")
    run = api.run_files(api.workspace(), ONE)
    assert applies.claim() == [] and waiting(api, run)[0] == "starting"
    (job,) = plans.claim()
    pass_plan(plans, job)
    api.act(run, "apply")
    assert plans.claim() == []
    assert applies.wait() is True
    (job,) = applies.claim()
    assert (job["run"], job["stage"], job["engine"]) == (run, "apply", "terraform")


def test_jobs_that_a_worker_does_not_take_do_not_hide_others(fake_worker, api, ask):
    """Even those of a better class and with the same engine: an apply, and a plan that runs again."""
    plans = fake_worker("plan")
    first = api.run_files(api.workspace(), ONE)
    (job,) = plans.claim()
    pass_plan(plans, job)
    api.act(first, "apply")
    second = api.run_files(api.workspace(), ONE)
    (job,) = plans.claim()
    assert job["run"] == second
    ask("update jobs set lease_until = now() - interval '1 second' where state = 'claimed'")
    (job,) = until(plans.claim, "the plan waits again")
    assert (job["run"], job["attempt"]) == (second, 2)
    answer = plans.call("POST", "claim", {"worker": plans.id, "slots": 1, **plans.capable}).json
    assert answer["jobs"] == [] and answer["more"] is False, "no job is left that it takes"


def test_a_run_says_that_no_worker_accepts_its_stage(fake_worker, api):
    plans = fake_worker("plan")
    run = api.run_files(api.workspace(), ONE)
    pass_plan(plans, plans.claim()[0])
    api.act(run, "apply")
    expected = ("not_accepted", 'No worker in pool default accepts the stage "apply" of runs (--accept).')
    assert waiting(api, run) == expected
    until(lambda: api.events(run, "waiting-for-acceptance") == [("waiting-for-acceptance", expected[1])], "the run has an event")
    applies = fake_worker("apply")
    assert waiting(api, run)[0] == "starting"
    (job,) = applies.claim()
    assert job["run"] == run and waiting(api, run)[0] == "none"


def test_slots_of_workers_that_do_not_take_the_stage_do_not_count(fake_worker, api):
    fake_worker("apply")
    plans = fake_worker("plan")
    api.run_files(api.workspace(), ONE)
    (job,) = plans.claim()
    plans.heartbeat(job)
    run = api.run_files(api.workspace(), ONE)
    assert waiting(api, run) == ("slots_busy", "The only worker slot of pool default is busy: position 1 of 1.")


@pytest.mark.parametrize("kind", ["opa", "sentinel"])
def test_policies_wait_for_a_worker_that_takes_them(fake_worker, api, kind):
    """Also if that one lacks the program, and its result says so."""
    workspace = api.workspace()
    api.policy_set(kind, [api.policy(kind, {"opa": "mandatory", "sentinel": "hard-mandatory"}[kind], "package p\ndeny = []\n")], workspace)
    plans = fake_worker("plan", "apply", "cost")
    run = api.run_files(workspace, ONE)
    pass_plan(plans, plans.claim()[0])
    assert plans.claim() == [] and waiting(api, run)[0] == "not_accepted"
    (job,) = fake_worker("opa", "sentinel", has=["terraform 1.11.4"]).claim()
    assert (job["run"], job["stage"]) == (run, kind)


def test_an_engine_of_a_worker_that_does_not_plan_is_not_counted(fake_worker, api):
    """The plan's version is that of the other worker: the run ends, as if that one were not there."""
    fake_worker("apply", has=["terraform 1.5.7"])
    plans = fake_worker("plan")
    run = api.run_files(api.workspace(terraform_version="1.5.7"), ONE)
    until(lambda: plans.claim() == [] and api.status(run) == "errored", "the run ends")
    assert api.attributes(f"runs/{run}")["error"].startswith('The run\'s Terraform version is "1.5.7", which no worker of its pool has.')


# ---- real workers ----


def test_a_run_goes_through_a_worker_for_plans_and_one_for_applies(api, worker):
    workers = {"plan": worker(accept="plan"), "apply": worker(accept="apply")}
    workspace = api.workspace(auto_apply=True)
    for _ in range(3):
        run = api.run_files(workspace, {"main.tf": f'resource "terraform_data" "one" {{\n  input = "{_}"\n}}\n'})
        api.wait_status(run, "applied")
        for stage, one in workers.items():
            path = {"plan": "plans", "apply": "applies"}[stage]
            assert api.attributes(f"{path}/{api.sibling(run, stage)}")["execution-details"]["agent-name"] == one.name


def test_a_worker_that_accepts_nothing_is_ready_and_claims_nothing(api, worker):
    one = worker(accept="none")
    run = api.run_files(api.workspace(), ONE)
    assert waiting(api, run)[0] == "not_accepted" and one.ready()
    capabilities = until(lambda: api.get("admin/agents").data, "it is registered")[0]["attributes"]["capabilities"]
    assert {f"no {stage}" for stage in STAGES} <= set(capabilities)
    assert one.metric("runyard_worker_claims_total") == 0 and not any("git" in line["msg"] for line in one.log_lines())


@pytest.mark.parametrize(("options", "why"), [
    ({"accept": "plan,aply"}, '--accept: there is no kind of job "aply"'), ({"accept": "plan, apply"}, 'no kind of job " apply"'), ({"accept": ""}, 'no kind of job ""'),
    ({"accept": "none,plan"}, 'no kind of job "none"'), ({"accept": "git", "once": 1}, "--once 1 needs a stage of runs in --accept, which is git")])
def test_unknown_kinds_are_refused_at_the_start(worker, options, why):
    one = worker.launch(**options)
    assert one.process.ended() == 2 and why in one.process.log()
