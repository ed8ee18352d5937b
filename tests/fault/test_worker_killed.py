# SPDX-License-Identifier: MPL-2.0
"""kill -9 of a worker: a plan is made again, an apply never, and nothing that was written is lost."""

import pytest

from support.proc import processes_with
from support.wait import until

LEASE = 3
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


def planning_at(gate):
    return {"main.tf": f'resource "terraform_data" "one" {{\n  input = {gate.expression}\n}}\n'}


def applying_at(gate):
    """The first resource is there when the second comes to the gate."""
    return {"main.tf": f"""
resource "terraform_data" "first" {{}}
resource "terraform_data" "second" {{
  depends_on = [terraform_data.first]
  provisioner "local-exec" {{
    command = "{gate.command}"
  }}
}}
"""}


@pytest.fixture(autouse=True)
def short_leases(scheduler):
    return scheduler(lease_seconds=LEASE)


@pytest.mark.parametrize("came_back", ["another", "itself"])
def test_during_a_plan_the_run_is_applied_elsewhere(api, scheduler, worker, gate, came_back):
    workspace = api.workspace(auto_apply=True)
    first = worker(sandbox_bind=gate.folder)
    run = api.run_files(workspace, planning_at(gate))
    gate.wait()
    assert api.status(run) == "planning"
    first.kill()
    gate.open()
    if came_back == "another":
        worker(sandbox_bind=gate.folder)
    else:
        first.start()
    api.wait_status(run, "applied")
    assert api.resources(workspace) == ["terraform_data.one"]
    log = api.log(run)
    assert log.count("Initializing plugins and modules...") >= 1 and log.rstrip().splitlines()[-1].startswith("{")


def test_during_an_apply_the_run_is_errored_and_its_state_kept(api, scheduler, worker, gate):
    workspace = api.workspace(auto_apply=True)
    first = worker(sandbox_bind=gate.folder)
    run = api.run_files(workspace, applying_at(gate))
    gate.wait()
    until(lambda: first.metric("runyard_worker_states_sent_total") >= 1, "a state is sent")
    assert api.status(run) == "applying"
    first.kill()
    until(lambda: not processes_with(gate.path), "nothing of the job is left")
    second = worker(sandbox_bind=gate.folder)
    attributes = api.wait_status(run, "errored")
    assert "Contact with worker worker-1 was lost" in attributes["error"] and "never tried again" in attributes["error"]
    assert "terraform_data.first" in api.resources(workspace)
    current = api.get(f"workspaces/{workspace}/current-state-version").data
    assert current["relationships"]["run"]["data"]["id"] == run
    assert api.attributes(f"applies/{api.sibling(run, 'apply')}")["status"] in ("errored", "unreachable")
    after = api.run_files(workspace, {"main.tf": applying_at(gate)["main.tf"].replace(gate.command, "true")})
    api.wait_status(after, "applied")
    assert api.resources(workspace) == ["terraform_data.first", "terraform_data.second"]
    assert second.metric("runyard_worker_jobs_total", stage="apply") == 1


def test_a_worker_that_comes_back_delivers_the_state_it_still_has(api, scheduler, worker, gate):
    """The worker's folder outlives it: what was written after the last state sent arrives when it is back."""
    workspace = api.workspace(auto_apply=True)
    first = worker(sandbox_bind=gate.folder)
    run = api.run_files(workspace, applying_at(gate))
    gate.wait()
    first.kill()
    first.start()
    api.wait_status(run, "errored")
    until(lambda: "terraform_data.first" in api.resources(workspace), "its state arrived")
    until(lambda: first.metric("runyard_worker_states_pending") == 0, "nothing waits to be delivered")


def test_a_plan_is_not_tried_for_ever(api, scheduler, worker, gate):
    workspace = api.workspace()
    first = worker(sandbox_bind=gate.folder)
    run = api.run_files(workspace, planning_at(gate))
    attempts = 0
    while until(lambda: gate.reached() or api.status(run) == "errored", "it is tried again or given up") and api.status(run) != "errored":
        first.kill()
        gate.left()
        attempts += 1
        first.start()
    assert "tried as often as it may be" in api.attributes(f"runs/{run}")["error"]
    assert 2 <= attempts <= 10
    api.wait_status(api.run_files(workspace, ONE), "planned")
