# SPDX-License-Identifier: MPL-2.0
"""Cost estimates in the API and for a worker."""

import itertools

import pytest

from support.fake_worker import FakeWorker
from support.wait import until

FINISHED = {
    "status": "finished", "error-message": None, "currency": "USD", "prior-monthly-cost": "8.392", "proposed-monthly-cost": "65.9860000001",
    "delta-monthly-cost": "57.5940000001", "resources-count": 2, "matched-resources-count": 1, "unmatched-resources-count": 1,
    "resources": [
        {"address": "aws_instance.a", "type": "aws_instance", "provider": "registry.terraform.io/hashicorp/aws", "matched": True,
         "prior": "8.392", "proposed": "65.9860000001", "delta": "57.5940000001", "components": [
             {"name": "Instance", "unit": "hour", "quantity": "730", "price": "0.0904", "monthly-cost": "65.9860000001"}]},
        {"address": "terraform_data.b", "type": "terraform_data", "provider": "", "matched": False, "reason": "no price book knows the type"},
    ],
}


@pytest.fixture
def new_worker(api, tokens):
    names = itertools.count(1)
    return lambda: FakeWorker(api.url, tokens["agent-token"], f"worker-{next(names)}", slots=2)


def claim(worker, stage):
    """The only waiting job, which must be of this stage."""
    (job,) = until(worker.claim, f"a {stage} job waits")
    assert job["stage"] == stage
    return job


def put(worker, job, document):
    """The status of the answer to an estimate."""
    return worker.on(job, "PUT", "cost", document, check=False).status


def plan(worker, changes=True):
    job = claim(worker, "plan")
    worker.on(job, "PUT", "plan-json", b'{"format_version": "1.2"}')
    worker.end(job, **{"has-changes": changes})


def enable(api, on=True):
    api.patch(f"organizations/{api.organization}", {"data": {"type": "organizations", "attributes": {"cost-estimation-enabled": on}}})


def new_run(api, workspace=None, **attributes):
    workspace = workspace or api.workspace()
    return api.run_files(workspace, {"main.tf": "# nothing\n"}, **attributes)


def estimate_of(api, run):
    return api.attributes(f"cost-estimates/{api.sibling(run, 'cost-estimate')}")


def test_runs_have_an_estimate_where_estimation_is_enabled(api):
    assert api.attributes(f"organizations/{api.organization}/entitlement-set")["cost-estimation"] is True
    assert api.sibling(new_run(api), "cost-estimate") is None
    enabled = api.workspace(cost_estimation_enabled=True)
    assert api.attributes(f"workspaces/{enabled}")["cost-estimation-enabled"] is True
    assert api.sibling(new_run(api, enabled), "cost-estimate").startswith("ce-")
    enable(api)
    run = new_run(api)
    assert api.sibling(run, "cost-estimate") == run.replace("run-", "ce-")
    assert api.sibling(new_run(api, api.workspace(cost_estimation_enabled=False)), "cost-estimate") is None
    assert api.call("GET", "cost-estimates/ce-0123456789abcdef").status == 404


def test_the_status_of_an_estimate_follows_its_run(api, new_worker):
    enable(api)
    first, second = new_worker(), new_worker()
    run = new_run(api)
    estimate = estimate_of(api, run)
    assert estimate["status"] == "pending" and estimate["delta-monthly-cost"] == "0.0" and list(estimate["status-timestamps"]) == ["pending-at"]
    plan(first)
    assert api.status(run) == "cost_estimating" and estimate_of(api, run)["status"] == "queued"
    job = claim(second, "cost")
    planned = api.attributes(f"plans/{api.sibling(run, 'plan')}")
    assert planned["execution-details"]["agent-name"] == "worker-1"
    assert put(second, job, FINISHED) == 204
    assert api.status(run) == "cost_estimating" and estimate_of(api, run)["status"] == "queued"
    second.end(job)
    assert api.status(run) == "cost_estimated"
    shown = api.get(f"runs/{run}", include="cost_estimate,plan").json
    assert [i["type"] for i in shown["included"]] == ["plans", "cost-estimates"]
    estimate = shown["included"][1]["attributes"]
    assert estimate == estimate_of(api, run)
    assert estimate["status"] == "finished" and estimate["error-message"] is None and estimate["currency"] == "USD"
    assert [estimate[f"{side}-monthly-cost"] for side in ("prior", "proposed", "delta")] == ["8.392", "65.9860000001", "57.5940000001"]
    assert [r["address"] for r in estimate["resources"]["matched"]] == ["aws_instance.a"]
    assert [r["address"] for r in estimate["resources"]["unmatched"]] == ["terraform_data.b"]
    output = api.get(f"cost-estimates/{api.sibling(run, 'cost-estimate')}/output")
    assert output.headers["Content-Type"].startswith("text/plain") and "Total: 65.9860000001, was 8.392 (57.5940000001)" in output.text


def test_malformed_estimates_are_refused(api, new_worker):
    enable(api)
    worker = new_worker()
    run = new_run(api)
    planned = claim(worker, "plan")
    assert put(worker, planned, FINISHED) == 422
    worker.end(planned, **{"has-changes": True})
    job = claim(worker, "cost")
    wrong = [
        {}, {"status": "pending"}, {"status": "errored"}, {**FINISHED, "delta-monthly-cost": "a lot"}, {**FINISHED, "delta-monthly-cost": 1.5},
        {**FINISHED, "delta-monthly-cost": "1."}, {**FINISHED, "delta-monthly-cost": "NaN"}, {**FINISHED, "delta-monthly-cost": "1" * 80},
        {**FINISHED, "resources-count": -1}, {**FINISHED, "resources-count": "1"}, {**FINISHED, "currency": "dollars"}, {**FINISHED, "resources": {}},
    ]
    for document in wrong:
        assert put(worker, job, document) == 422, document
    assert put(worker, job, {"status": "errored", "error-message": "the books are closed"}) == 204
    worker.end(job, "errored", error="the books are closed, it seems")
    attributes = api.wait_status(run, "cost_estimated")
    assert attributes["error"] is None
    estimate = estimate_of(api, run)
    assert estimate["status"] == "errored" and estimate["error-message"] == "the books are closed"


RUN_KINDS = [
    ({}, True, "cost_estimated"),
    ({}, False, "planned_and_finished"),
    ({"plan_only": True}, True, "planned_and_finished"),
    ({"auto_apply": True}, True, "apply_queued"),
    ({"save_plan": True}, True, "planned_and_saved"),
]


@pytest.mark.parametrize("outcome", ["passed", "errored", "failed"])
def test_every_run_continues_after_any_outcome_of_the_estimate(api, new_worker, outcome):
    enable(api)
    worker = new_worker()
    for more, changes, end in RUN_KINDS:
        run = new_run(api, **more)
        plan(worker, changes)
        worker.end(claim(worker, "cost"), outcome, error="no reason" if outcome != "passed" else "")
        reached = api.attributes(f"runs/{run}")
        assert reached["status"] == end, more
        assert "cost-estimating-at" in reached["status-timestamps"] and "cost-estimated-at" in reached["status-timestamps"]
        estimate = estimate_of(api, run)
        assert estimate["status"] == ("finished" if outcome == "passed" else "errored")
        assert estimate["error-message"] == (None if outcome == "passed" else "no reason")
        if end == "apply_queued":
            api.act(run, "cancel")


def test_a_run_that_ends_before_its_estimate_has_none(api, new_worker):
    enable(api)
    worker = new_worker()
    workspace = api.workspace()
    first, second = new_run(api, workspace), new_run(api, workspace)
    api.act(second, "cancel")
    assert estimate_of(api, second)["status"] == "unreachable"
    plan(worker)
    api.act(first, "cancel")
    assert api.status(first) == "canceled" and estimate_of(api, first)["status"] == "canceled"
    third = new_run(api, workspace)
    worker.end(claim(worker, "plan"), "failed", error="no")
    assert api.status(third) == "errored" and estimate_of(api, third)["status"] == "unreachable"


@pytest.fixture
def short_leases(scheduler):
    return scheduler(lease_seconds=2)


def test_a_run_continues_if_workers_lose_its_estimate(short_leases, api, new_worker):
    enable(api)
    worker = new_worker()
    run = new_run(api)
    plan(worker)
    for attempt in (1, 2):
        assert claim(worker, "cost")["attempt"] == attempt  # and the job contains it no more
    api.wait_status(run, "cost_estimated")
    estimate = estimate_of(api, run)
    assert estimate["status"] == "errored" and "'cost' was lost with its worker twice (workers worker-1 and worker-1)" in estimate["error-message"]
