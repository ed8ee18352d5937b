# SPDX-License-Identifier: MPL-2.0
"""The JSON of an auto-applied plan is made beside its apply, when a slot is free or after some seconds. It is available
even if the worker that planned is lost."""

import signal

import pytest

from support.configurations import applying
from support.gate import Gate
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {\n  input = "x"\n}\n'}


def shown(api, run):
    plan = "plan-" + run.removeprefix("run-")
    answers = [api.call("GET", f"plans/{plan}/{what}") for what in ("json-output", "json-output-redacted", "json-schema")]
    if any(answer.status == 204 for answer in answers):
        return None
    assert [answer.status for answer in answers] == [200, 200, 200]
    return [change["address"] for change in answers[0].json["resource_changes"]]


@pytest.fixture
def gated(folder, gate, engine):
    """An engine whose `show` waits until the gate is open."""
    program = folder / "engine"
    program.write_text(f'#!/bin/sh\n[ "$1" != show ] || cat {gate.path}\nexec {engine.path} "$@"\n')
    program.chmod(0o755)
    return {"engine": program, "sandbox_bind": f"{gate.folder},{engine.folder}"}


def test_the_apply_starts_before_the_json_of_the_plan_is_ready(api, worker, gate, gated):
    one = worker(slots=1, **gated)
    run = api.run_files(api.workspace(auto_apply=True), ONE)
    until(lambda: one.metric("runyard_worker_process_seconds_count", command="apply") == 1, "the apply runs while the plan is not shown yet")
    gate.wait()
    assert shown(api, run) is None
    gate.open()
    api.wait_status(run, "applied")
    assert until(lambda: shown(api, run), "it is shown") == ["terraform_data.one"]
    until(lambda: one.metric("runyard_worker_job_slots_busy") == 0, "nothing runs any more")
    unapplied = api.run_files(api.workspace(), ONE)
    api.wait_status(unapplied, "planned")
    assert shown(api, unapplied) == ["terraform_data.one"]


def test_the_worker_of_the_apply_creates_a_missing_json(api, worker, folder, gate, gated):
    planning = Gate(folder, "planning")
    gated["sandbox_bind"] += f",{planning.folder}"
    first = worker(**gated)
    run = api.run_files(api.workspace(auto_apply=True), {"main.tf": ONE["main.tf"].replace('"x"', planning.expression)})
    planning.wait()
    first.process.send(signal.SIGTERM)
    planning.open()
    gate.wait()
    api.wait_status(run, "apply_queued")
    assert shown(api, run) is None
    second = worker(sandbox_bind=gated["sandbox_bind"])
    first.kill()
    api.wait_status(run, "applied")
    assert shown(api, run) == ["terraform_data.one"]
    assert second.metric("runyard_worker_process_seconds_count", command="show") == 1


def test_a_plan_is_shown_beside_a_long_apply(api, worker, gate):
    """Other runs get the only slot first, but do not keep it for long."""
    one = worker(slots=1, sandbox_bind=gate.folder)
    run = api.run_files(api.workspace(auto_apply=True), applying(gate.command))
    gate.wait()
    assert until(lambda: shown(api, run), "it is shown") == ["terraform_data.first", "terraform_data.second"]
    assert api.status(run) == "applying" and one.metric("runyard_worker_job_slots_busy") == 1
    gate.open()
    api.wait_status(run, "applied")


def test_a_plan_that_has_reported_is_shown_without_a_network(api, worker, folder, engine):
    """Its network may already be the apply's."""
    program = folder / "engine"
    program.write_text(f'#!/bin/sh\n[ "$1" != show ] || [ "$(grep -c : /proc/net/dev)" = 1 ] || exit 9\nexec {engine.path} "$@"\n')
    program.chmod(0o755)
    one = worker(slots=2, engine=program, sandbox_bind=engine.folder)
    (started,) = [line for line in one.log_lines() if line["msg"] == "worker started"]
    if started["job-network"] != "isolated":
        pytest.skip("jobs have no networks of their own here")
    run = api.run_files(api.workspace(auto_apply=True), ONE)
    api.wait_status(run, "applied")
    assert until(lambda: shown(api, run), "it is shown") == ["terraform_data.one"]
