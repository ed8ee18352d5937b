# SPDX-License-Identifier: MPL-2.0
"""Operators drain, resume and send away workers: by API and by command, while jobs run."""

import json

import pytest

from support.configurations import applying
from support.runyard import KEYS, Scheduler
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


@pytest.fixture
def quick(scheduler):
    """Workers send a heartbeat each second."""
    return scheduler(lease_seconds=4)


@pytest.fixture
def workers(database):
    """The command; with --json, its objects by the workers' names."""

    def run(*arguments, check=True):
        done = Scheduler.run_command("workers", *arguments, check=check, database_url=database, keys=KEYS)
        return {one["name"]: one for one in map(json.loads, done.stdout.splitlines())} if "--json" in arguments else done

    return run


def agent(api, name):
    (found,) = [one for one in api.get("admin/agents").data if one["attributes"]["name"] == name]
    return found["id"], found["attributes"]


def test_a_worker_told_to_leave_finishes_its_apply_and_exits(quick, api, worker, gate, workers):
    one = worker(sandbox_bind=gate.folder, slots=2)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, applying(gate.command))
    gate.wait()
    id, attributes = agent(api, one.name)
    assert (attributes["draining"], attributes["order"], attributes["status"]) == (False, "none", "busy")
    told = api.post(f"agents/{id}/actions/leave").data["attributes"]
    assert (told["draining"], told["order"]) == (True, "leave")
    until(lambda: one.metric("runyard_worker_draining") == 1, "it drains")
    assert one.get("/readyz")[0] == 503
    other = api.run_files(api.workspace(), ONE)
    two = worker()
    api.wait_status(other, "planned")
    assert until(lambda: two.metric("runyard_worker_jobs_total", stage="plan"), "its job has ended") == 1
    assert one.process.alive() and api.status(run) == "applying"
    gate.open()
    assert one.process.ended() == 0
    api.wait_status(run, "applied")
    assert api.resources(workspace) == ["terraform_data.first", "terraform_data.second"]
    assert agent(api, one.name)[1]["status"] == "exited" and workers("--json")[one.name]["order"] == "leave"
    assert api.call("POST", f"agents/{id}/actions/resume").status == 409
    trail = [event["resource"]["action"] for event in api.get("admin/audit-trail").json["data"] if event["resource"]["id"] == id]
    assert trail == ["leave"]
    one.process.check_sanitizers()


def test_a_drained_worker_waits_until_it_is_resumed(quick, api, worker, workers):
    one = worker()
    id, _ = agent(api, one.name)
    assert workers("--json")[one.name]["order"] == "none"
    workers("drain", id)
    run = api.run_files(api.workspace(), ONE)
    until(lambda: one.metric("runyard_worker_draining") == 1, "it knows")
    assert one.get("/readyz") == (503, "an operator has drained this worker or its pool: it takes no jobs until it is resumed\n")
    waiting = api.attributes(f"runs/{run}/waiting")
    assert (waiting["code"], waiting["text"]) == ("no_worker", "No worker in pool default takes jobs: all 1 are draining.")
    assert api.status(run) == "plan_queued"
    listed = workers().stdout.splitlines()
    assert listed[0].split()[:2] == ["ID", "NAME"] and listed[1].split()[:5] == [id, one.name, "default", "idle", "drain"]
    workers("resume", id)
    api.wait_status(run, "planned")
    until(lambda: one.metric("runyard_worker_draining") == 0 and one.get("/readyz")[0] == 200, "it is ready again")
    assert one.process.alive()


def test_a_drained_pool_drains_workers_that_come_later(quick, api, worker, workers, ask):
    one = worker()
    workers("drain", "--pool", "default")
    run = api.run_files(api.workspace(), ONE)
    two = worker()
    until(lambda: one.metric("runyard_worker_draining") == two.metric("runyard_worker_draining") == 1, "both know")
    assert api.attributes(f"runs/{run}/waiting")["code"] == "pool_drained" and api.status(run) == "plan_queued"
    assert {shown["order"] for shown in workers("--json", "--pool", "default").values()} == {"drain"}
    workers("resume", "--pool", "default")
    api.wait_status(run, "planned")
    workers("leave", "--pool", "default")
    assert one.process.ended() == two.process.ended() == 0
    assert [row[0] for row in ask("select action from audit_events where resource_type = 'agent_pool' and actor_type = 'system' order by position")] == ["drain", "resume", "leave"]


def test_wrong_names(workers):
    for arguments, wrong in ((("drain",), "usage"), (("drain", "agent-AAAAAAAAAAAAAAAA"), "agent not found"), (("fly", "x"), "usage"), (("drain", "x", "--pool", "default"), "usage"),
                             (("drain", "--pool", "nowhere"), "there is no agent pool 'nowhere'")):
        done = workers(*arguments, check=False)
        assert done.returncode == 1 and wrong in done.stderr, arguments


def test_a_run_that_waits_for_a_person_keeps_no_worker(quick, api, worker, workers):
    one = worker()
    run = api.run_files(api.workspace(), ONE)
    api.wait_status(run, "planned")
    assert api.attributes(f"runs/{run}/waiting")["code"] == "needs_confirmation"
    until(lambda: one.metric("runyard_worker_job_slots_busy") == 0 and quick.metric("runyard_slots_wanted", pool="default") == 0, "no slot is taken or wanted")
    workers("leave", agent(api, one.name)[0])
    assert one.process.ended() == 0
    assert api.status(run) == "planned"
    worker()
    api.act(run, "apply")
    api.wait_status(run, "applied")
