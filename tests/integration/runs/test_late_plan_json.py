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


def upload_late(fake_worker, job, what, body, plan):
    sign = "&" if "?" in what else "?"
    return fake_worker.on(job, "PUT", f"{what}{sign}plan={plan}", body, check=False).status


def test_late_plan_json_is_accepted_once_from_the_planning_worker(api, fake_worker):
    (run, job, plan), (other_run, other, other_plan) = planned(api, fake_worker, 2)
    assert api.status(run) == "apply_queued"
    assert api.call("GET", f"plans/{plan}/json-output").status == 204
    assert fake_worker.on(job, "PUT", "plan-json", b"{}", check=False).status == 404
    assert upload_late(fake_worker, job, "plan-json", b"{}", other_plan) == upload_late(fake_worker, other, "plan-json", b"{}", plan) == 404
    for what in ("log?offset=0", "plan", "init", "state"):
        assert upload_late(fake_worker, job, what, b"{}", plan) == 404
    assert upload_late(fake_worker, job, "plan-json", b'{"resource_changes":[]}', plan) == 204
    assert upload_late(fake_worker, job, "plan-json", b'{"resource_changes":null}', plan) == 404
    assert api.get(f"plans/{plan}/json-output").json == {"resource_changes": []}
    assert api.call("GET", f"plans/{plan}/json-output-redacted").status == 204
    assert upload_late(fake_worker, job, "schemas?digest=" + "0" * 64, b"", plan) == 404
    assert upload_late(fake_worker, job, "schemas?digest=" + "0" * 64, b'{"provider_schemas":{}}', plan) == 204
    assert upload_late(fake_worker, job, "schemas", b'{"provider_schemas":{}}', plan) == 404
    assert api.get(f"plans/{plan}/json-output-redacted").json["resource_changes"] == []
    assert api.call("GET", f"plans/{other_plan}/json-output").status == 204
    # The apply of the other run finds it missing, and uploads it.
    applies = {apply["run"]: apply for apply in fake_worker.claim(2)}
    assert (applies[run]["has-plan-json"], applies[other_run]["has-plan-json"]) == (True, False)
    assert fake_worker.on(applies[run], "PUT", "plan-json", b"").status == 204
    assert fake_worker.on(applies[other_run], "PUT", "plan-json", b"", check=False).status == 404
    assert fake_worker.on(applies[other_run], "PUT", "plan-json", b"{}").status == 204
    assert fake_worker.on(applies[other_run], "PUT", "plan-json", b"").status == 204


def test_late_plan_json_of_a_failed_plan_is_refused(api, fake_worker):
    run = api.run_files(api.workspace(auto_apply=True), ONE)
    job = fake_worker.claim()[0]
    assert fake_worker.result(job, "failed", error="no").status == 204
    assert api.status(run) == "errored"
    assert upload_late(fake_worker, job, "plan-json", b"{}", "plan-" + run.removeprefix("run-")) == 404


def test_plan_json_may_be_late_only_if_nothing_reads_it_before_the_apply(api, fake_worker):
    def may_be_late(workspace, **attributes):
        run = api.run_files(workspace, ONE, **attributes)
        job = fake_worker.claim()[0]
        assert job["run"] == run
        return job["json-later"]

    assert may_be_late(api.workspace(auto_apply=True))
    assert not may_be_late(api.workspace())
    assert may_be_late(api.workspace(), auto_apply=True)
    assert not may_be_late(api.workspace(auto_apply=True), plan_only=True)
    assert not may_be_late(api.workspace(auto_apply=True), save_plan=True)
    api.patch(f"organizations/{api.organization}", {"data": {"type": "organizations", "attributes": {"cost-estimation-enabled": True}}})
    assert not may_be_late(api.workspace(auto_apply=True))
