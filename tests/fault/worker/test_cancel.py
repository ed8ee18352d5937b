# SPDX-License-Identifier: MPL-2.0
"""Cancel at every point of a run. The run becomes Canceled only when none of its processes is left."""

import uuid

import psycopg
import pytest

from support.configurations import planning_at
from support.proc import working_with
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


@pytest.fixture
def marker():
    """A marker in the environment of every process of this test's jobs."""
    return f"marker-{uuid.uuid4().hex}"


def provisioned(command, before=""):
    return {"main.tf": f"""
resource "terraform_data" "first" {{}}
resource "terraform_data" "second" {{
  depends_on = [terraform_data.first]
  provisioner "local-exec" {{
    command = <<-END
      {before}
      {command}
    END
  }}
}}
"""}


def applying(api, marker, files):
    """A workspace and its run, during an apply whose processes have the marker."""
    workspace = api.workspace(auto_apply=True)
    api.variable(workspace, "MARKER", marker, category="env")
    return workspace, api.run_files(workspace, files)


def check_ended_without_processes(api, run, marker, status="canceled"):
    """As soon as the run has ended, its processes are gone."""

    def over():
        left = working_with(marker)
        shown = api.status(run)
        if shown in ("applying", "planning", "plan_queued", "apply_queued"):
            return False
        assert shown == status, (shown, api.logs(run))
        # Processes listed before the request may have ended before its answer.
        still = set(left) & set(working_with(marker))
        assert not still, still
        return True

    until(over, lambda: f"{run} is {api.status(run)}; left {working_with(marker)}")
    assert not working_with(marker)


@pytest.mark.parametrize("kind", [{}, {"sandbox": "none"}], ids=["sandboxed", "bare"])
def test_a_cancel_stops_an_apply_with_a_sleeping_provisioner(api, worker, gate, marker, kind):
    worker(sandbox_bind=gate.folder, **kind)
    workspace, run = applying(api, marker, provisioned("exec sleep 3600", f"timeout 60 cat {gate.path}"))
    gate.wait()
    gate.open()
    assert working_with(marker)
    assert api.attributes(f"runs/{run}")["actions"]["is-cancelable"]
    api.act(run, "cancel", "enough")
    check_ended_without_processes(api, run, marker)
    attributes = api.attributes(f"runs/{run}")
    assert attributes["canceled-at"] and "canceled-at" in attributes["status-timestamps"]
    assert attributes["status-label"] == "Canceled, applied: 1 added, 0 changed, 0 destroyed"
    assert "terraform_data.first" in api.resources(workspace)
    assert api.attributes(f"applies/{api.sibling(run, 'apply')}")["status"] == "canceled"
    assert "enough" in [c["attributes"]["body"] for c in api.get(f"runs/{run}/comments").data]
    assert api.attributes(f"workspaces/{workspace}")["locked"] is False
    api.wait_status(api.run_files(workspace, ONE), "applied")


@pytest.mark.parametrize("stubborn", ["trap '' INT TERM; sleep 3600; sleep 3600", "setsid sh -c \"trap '' INT TERM; sleep 3600\"",
                                      "setsid sleep 3600 & trap '' INT; wait; sleep 3600"])
@pytest.mark.parametrize("kind", [{}, {"sandbox": "none"}], ids=["sandboxed", "bare"])
def test_a_cancel_kills_a_provisioner_that_ignores_signals(api, worker, gate, marker, stubborn, kind):
    worker(sandbox_bind=gate.folder, **kind)
    workspace, run = applying(api, marker, provisioned(stubborn, f"trap '' INT; cat {gate.path}"))
    gate.wait()
    gate.open()
    api.act(run, "cancel")
    check_ended_without_processes(api, run, marker)
    assert "terraform_data.first" in api.resources(workspace)
    api.wait_status(api.run_files(workspace, ONE), "applied")


def cancel_and_cool_off(api, run, database=None):
    """Between the cancel and the end of the cool-off time a force-cancel is refused; then it is permitted. With
    `database` the cool-off time is over at once."""
    before = api.call("POST", f"runs/{run}/actions/force-cancel", {})
    assert before.status == 409 and "transition not allowed" in before.text
    api.act(run, "cancel")
    shown = api.attributes(f"runs/{run}")
    assert shown["force-cancel-available-at"] > shown["canceled-at"]
    early = api.call("POST", f"runs/{run}/actions/force-cancel", {})
    assert early.status == 409 and "transition not allowed" in early.text
    if database:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("update runs set force_cancel_available_at = now() where id = %s", (run,))
    until(lambda: api.attributes(f"runs/{run}")["actions"]["is-force-cancelable"], "the cool-off time is over")


def test_a_force_cancel_kills_a_hanging_apply(api, worker, gate, marker):
    """terraform waits for the operation in progress, here for ever: the path is known only once the first resource is
    created."""
    worker(sandbox_bind=gate.folder)
    workspace, run = applying(api, marker, {"main.tf": f"""
resource "terraform_data" "first" {{}}
resource "terraform_data" "second" {{
  input = file(terraform_data.first.id == "" ? "" : "{gate.path}")
}}
"""})
    gate.wait()
    cancel_and_cool_off(api, run)
    assert api.status(run) == "applying" and working_with(marker)
    api.act(run, "force-cancel")
    check_ended_without_processes(api, run, marker, "force_canceled")
    assert api.resources(workspace) == ["terraform_data.first"]
    gate.open()
    api.wait_status(api.run_files(workspace, ONE), "applied")


def test_a_canceled_pending_run_is_skipped(api, worker):
    worker()
    workspace = api.workspace()
    first, second, third = api.run_files(workspace, ONE), api.run(workspace), api.run(workspace)
    api.wait_status(first, "planned")
    api.act(second, "cancel")
    assert api.status(second) == "canceled"
    api.act(first, "discard")
    api.wait_status(third, "planned")


def test_a_cancel_ends_a_plan_that_waits_for_a_worker(api, worker):
    workspace = api.workspace()
    run = api.run_files(workspace, ONE)
    assert api.status(run) == "plan_queued"
    api.act(run, "cancel")
    assert api.status(run) == "canceled"
    after = api.run(workspace)
    worker()
    api.wait_status(after, "planned")
    assert api.log(run) == ""


def test_a_cancel_ends_an_apply_that_waits_for_a_worker(api, worker):
    first = worker()
    workspace = api.workspace()
    run = api.run_files(workspace, ONE)
    api.wait_status(run, "planned")
    assert first.stop() == 0
    api.act(run, "apply")
    assert api.status(run) == "apply_queued"
    api.act(run, "cancel")
    assert api.status(run) == "canceled"
    assert api.state(workspace) is None


def planning(api, gate, marker):
    workspace = api.workspace()
    api.variable(workspace, "MARKER", marker, category="env")
    run = api.run_files(workspace, planning_at(gate))
    gate.wait()
    assert working_with(marker)
    return workspace, run


def test_a_cancel_interrupts_a_running_plan(api, worker, gate, marker):
    worker(sandbox_bind=gate.folder)
    workspace, run = planning(api, gate, marker)
    api.act(run, "cancel")
    assert api.attributes(f"runs/{run}")["actions"]["is-cancelable"] is False
    gate.open()
    check_ended_without_processes(api, run, marker)
    assert api.attributes(f"plans/{api.sibling(run, 'plan')}")["status"] == "canceled"
    api.wait_status(api.run_files(workspace, ONE), "planned")


def test_a_force_cancel_kills_a_hanging_plan(api, worker, gate, marker, database):
    worker(sandbox_bind=gate.folder)
    workspace, run = planning(api, gate, marker)
    cancel_and_cool_off(api, run, database)
    api.act(run, "force-cancel")
    check_ended_without_processes(api, run, marker, "force_canceled")
    api.wait_status(api.run_files(workspace, ONE), "planned")


def test_a_cancel_reaches_a_worker_without_the_broker(scheduler, worker, gate, marker, request):
    scheduler(lease_seconds=3)
    api = request.getfixturevalue("api")
    worker(sandbox_bind=gate.folder, brokers="")
    workspace, run = applying(api, marker, provisioned("exec sleep 3600", f"cat {gate.path}"))
    gate.wait()
    gate.open()
    api.act(run, "cancel")
    check_ended_without_processes(api, run, marker)


@pytest.mark.parametrize("kind", [{}, {"sandbox": "none"}], ids=["sandboxed", "bare"])
def test_background_processes_of_a_job_are_killed_at_its_end(api, worker, marker, kind):
    """This includes processes in a session of their own whose parents have exited."""
    worker(**kind)
    _, run = applying(api, marker, provisioned("setsid sh -c 'setsid sleep 3600 & exit' >/dev/null 2>&1 </dev/null & :"))
    api.wait_status(run, "applied")
    assert not working_with(marker)
