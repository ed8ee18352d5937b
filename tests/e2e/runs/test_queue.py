# SPDX-License-Identifier: MPL-2.0
"""A workspace's runs are executed strictly in order, by any worker and with decisions of any user."""

import psycopg
import pytest

from support.wait import until

pytestmark = pytest.mark.kafka

ONE = {"main.tf": 'variable "number" {}\nresource "terraform_data" "one" {\n  input = var.number\n}\n'}
ACTIVE = {"plan_queued", "planning", "planned", "confirmed", "apply_queued", "applying"}


def numbered(api, workspace, configuration, number):
    return api.run(workspace, configuration, auto_apply=True, variables=[{"key": "number", "value": str(number)}])


def all_runs(api, organization="acme"):
    return api.get(f"organizations/{organization}/runs", **{"page[size]": 100}).data


def test_runs_stay_in_order_with_two_workers_and_two_schedulers(api, scheduler, worker, database):
    second = scheduler()
    worker(slots=2)
    worker(slots=2, scheduler_url=second.url)
    workspaces = [api.workspace() for _ in range(3)]
    configurations = [api.upload(workspace, ONE) for workspace in workspaces]
    other = type(api)(second.url, api.token)
    runs = {workspace: [] for workspace in workspaces}
    for number in range(10):
        for workspace, configuration in zip(workspaces, configurations):
            runs[workspace].append(numbered((api, other)[number % 2], workspace, configuration, number))

    def over():
        listed = all_runs(api)
        active = [run["relationships"]["workspace"]["data"]["id"] for run in listed if run["attributes"]["status"] in ACTIVE]
        assert len(active) == len(set(active)), "two active runs in one workspace"
        return {run["attributes"]["status"] for run in listed} == {"applied"}

    until(over, lambda: [(r["id"], r["attributes"]["status"]) for r in all_runs(api)])
    times = {run["id"]: run["attributes"]["status-timestamps"] for run in all_runs(api)}
    for workspace in workspaces:
        in_order = [times[run] for run in runs[workspace]]
        for before, after in zip(in_order, in_order[1:]):
            assert before["applied-at"] <= after["plan-queued-at"]
        assert api.state(workspace)["resources"][0]["instances"][0]["attributes"]["input"]["value"] == 9
    for one in worker.all:
        assert one.metric("runyard_worker_jobs_total", outcome="passed") > 0, one.name
    for one in scheduler.all:
        assert one.metric("runyard_run_transitions_total") > 0, one.name
    assert sum(one.metric("runyard_results_total", outcome="accepted") for one in scheduler.all) >= 60
    with psycopg.connect(database) as connection:
        assert connection.execute("select count(*) from jobs").fetchone() == (0,)
        until(lambda: connection.execute("select count(*) from outbox").fetchone() == (0,), "the outbox is empty")


def test_a_locked_workspace_starts_nothing_until_it_is_unlocked(api, worker):
    worker()
    locked, free = api.workspace(auto_apply=True), api.workspace(auto_apply=True)
    configuration = api.upload(locked, {"main.tf": 'resource "terraform_data" "one" {}\n'})
    api.post(f"workspaces/{locked}/actions/lock", {"reason": "hands off"})
    waiting = [api.run(locked, configuration) for _ in range(2)]
    # A run that starts at once in another workspace has finished by then, so the assertion that nothing started is
    # meaningful.
    api.wait_status(api.run_files(free, {"main.tf": 'resource "terraform_data" "one" {}\n'}), "applied")
    assert [api.status(run) for run in waiting] == ["pending", "pending"]
    assert api.wait_status(api.run(locked, configuration, plan_only=True), "planned_and_finished")
    api.post(f"workspaces/{locked}/actions/unlock")
    api.wait_status(waiting[0], "applied")
    api.wait_status(waiting[1], "planned_and_finished")


def test_a_workspace_is_locked_by_its_run(api, worker):
    worker()
    workspace = api.workspace()
    run = api.run_files(workspace, {"main.tf": 'resource "terraform_data" "one" {}\n'})
    api.wait_status(run, "planned")
    shown = api.get(f"workspaces/{workspace}").data
    assert shown["attributes"]["locked"] is True
    assert shown["relationships"]["locked-by"]["data"] == {"type": "runs", "id": run}
    assert shown["relationships"]["current-run"]["data"]["id"] == run
    refused = api.call("POST", f"workspaces/{workspace}/actions/unlock", b"")
    assert refused.status == 409 and "is locked by Run" in refused.text
    assert api.call("POST", f"workspaces/{workspace}/actions/lock", {}).status == 409
    api.act(run, "discard")
    assert api.attributes(f"workspaces/{workspace}")["locked"] is False


def test_applies_start_before_plans_and_plans_before_speculative_plans(api, worker):
    one = {"main.tf": 'resource "terraform_data" "one" {}\n'}
    first = worker(slots=1)
    workspace = api.workspace()
    apply = api.run_files(workspace, one)
    api.wait_status(apply, "planned")
    assert first.stop() == 0
    others = [api.workspace() for _ in range(2)]
    speculative = api.run_files(others[0], one, plan_only=True)
    plan = api.run_files(others[1], one)
    api.act(apply, "apply")
    worker(slots=1)
    ends = [(apply, "applying-at", "applied"), (plan, "planning-at", "planned"), (speculative, "planning-at", "planned_and_finished")]
    begun = [api.wait_status(run, status)["status-timestamps"][when] for run, when, status in ends]
    assert begun == sorted(begun)
