# SPDX-License-Identifier: MPL-2.0
"""A plan's JSON that nothing waits for may arrive after the plan's result: once, and only from the worker that
planned. No other content may."""

import pytest

from support.fake_worker import FakeWorker

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


@pytest.fixture
def fake_worker(api, scheduler, tokens):
    return FakeWorker(scheduler.all[0].url, tokens["agent-token"], slots=8)


def planned(api, fake_worker, count):
    """Runs, each with its plan and the plan's job, which has passed without JSON."""
    runs = [api.run_files(api.workspace(auto_apply=True), ONE) for _ in range(count)]
    jobs = {job["run"]: job for job in fake_worker.claim(count)}
    for job in jobs.values():
        fake_worker.on(job, "PUT", "plan", b"a plan")
        assert fake_worker.result(job).status == 204
    return [(run, jobs[run], "plan-" + run.removeprefix("run-")) for run in runs]


def late(fake_worker, job, what, body, plan):
    sign = "&" if "?" in what else "?"
    return fake_worker.on(job, "PUT", f"{what}{sign}plan={plan}", body, check=False).status


def test_it_comes_once_and_from_who_made_the_plan(api, fake_worker):
    (run, job, plan), (other_run, other, other_plan) = planned(api, fake_worker, 2)
    assert api.status(run) == "apply_queued"
    assert api.call("GET", f"plans/{plan}/json-output").status == 204
    assert fake_worker.on(job, "PUT", "plan-json", b"{}", check=False).status == 404
    assert late(fake_worker, job, "plan-json", b"{}", other_plan) == late(fake_worker, other, "plan-json", b"{}", plan) == 404
    for what in ("log?offset=0", "plan", "init", "state"):
        assert late(fake_worker, job, what, b"{}", plan) == 404
    assert late(fake_worker, job, "plan-json", b'{"resource_changes":[]}', plan) == 204
    assert late(fake_worker, job, "plan-json", b'{"resource_changes":null}', plan) == 404
    assert api.get(f"plans/{plan}/json-output").json == {"resource_changes": []}
    assert api.call("GET", f"plans/{plan}/json-output-redacted").status == 204
    assert late(fake_worker, job, "schemas?digest=" + "0" * 64, b"", plan) == 404
    assert late(fake_worker, job, "schemas?digest=" + "0" * 64, b'{"provider_schemas":{}}', plan) == 204
    assert late(fake_worker, job, "schemas", b'{"provider_schemas":{}}', plan) == 404
    assert api.get(f"plans/{plan}/json-output-redacted").json["resource_changes"] == []
    assert api.call("GET", f"plans/{other_plan}/json-output").status == 204
    # The apply of the other run finds it missing, and uploads it.
    applies = {apply["run"]: apply for apply in fake_worker.claim(2)}
    assert (applies[run]["has-plan-json"], applies[other_run]["has-plan-json"]) == (True, False)
    assert fake_worker.on(applies[run], "PUT", "plan-json", b"").status == 204
    assert fake_worker.on(applies[other_run], "PUT", "plan-json", b"", check=False).status == 404
    assert fake_worker.on(applies[other_run], "PUT", "plan-json", b"{}").status == 204
    assert fake_worker.on(applies[other_run], "PUT", "plan-json", b"").status == 204


def test_a_plan_that_did_not_pass_gets_none(api, fake_worker):
    run = api.run_files(api.workspace(auto_apply=True), ONE)
    job = fake_worker.claim()[0]
    assert fake_worker.result(job, "failed", error="no").status == 204
    assert api.status(run) == "errored"
    assert late(fake_worker, job, "plan-json", b"{}", "plan-" + run.removeprefix("run-")) == 404


def test_only_where_nothing_reads_it_before_the_apply(api, fake_worker):
    def later(workspace, **attributes):
        run = api.run_files(workspace, ONE, **attributes)
        job = fake_worker.claim()[0]
        assert job["run"] == run
        return job["json-later"]

    assert later(api.workspace(auto_apply=True))
    assert not later(api.workspace())
    assert later(api.workspace(), auto_apply=True)
    assert not later(api.workspace(auto_apply=True), plan_only=True)
    assert not later(api.workspace(auto_apply=True), save_plan=True)
    api.patch(f"organizations/{api.organization}", {"data": {"type": "organizations", "attributes": {"cost-estimation-enabled": True}}})
    assert not later(api.workspace(auto_apply=True))
