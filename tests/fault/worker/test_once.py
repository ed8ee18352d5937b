# SPDX-License-Identifier: MPL-2.0
"""Workers that take one job (--once 1), workers that only deliver what is left (--deliver 1), and their exit statuses."""

import signal

import pytest

from support.configurations import applying
from support.proc import processes_with
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
INVALID = {"main.tf": 'resource "terraform_data" "one" {\n  input = absent\n}\n'}


@pytest.mark.parametrize("files, status", [(ONE, "planned"), (INVALID, "errored")], ids=["the plan succeeds", "the plan fails"])
def test_a_worker_ends_after_one_job_whatever_its_outcome(api, worker, files, status):
    one = worker(once=1, slots=8)
    first, second = (api.run_files(api.workspace(), files) for _ in range(2))
    assert one.process.ended() == 0
    until(lambda: status in (api.status(first), api.status(second)), "the result, which the broker has, is decided")
    taken, left = (first, second) if api.status(first) == status else (second, first)
    assert api.status(left) == "plan_queued"
    if status == "planned":
        assert api.call("GET", f"plans/{api.sibling(taken, 'plan')}/json-output").status == 200
    one.process.check_sanitizers()


def test_each_stage_of_a_run_has_a_worker_of_its_own(api, worker):
    workspace = api.workspace(auto_apply=True)
    one, two = worker(once=1), worker(once=1)
    run = api.run_files(workspace, ONE)
    api.wait_status(run, "applied")
    assert one.process.ended() == two.process.ended() == 0
    assert api.resources(workspace) == ["terraform_data.one"]


def reads_messages(worker):
    return 'runyard_kafka_up{client="job messages"}' in worker.metrics()


def test_a_worker_without_a_job_ends_in_time_and_reads_no_job_messages(api, worker):
    lasting, waiting = worker(), worker(once=1, once_seconds=600)
    until(lambda: reads_messages(lasting), "a lasting worker reads job messages")
    assert not reads_messages(waiting)
    one = worker.launch(once=1, once_seconds=2)
    assert one.process.ended() == 0
    assert any("no job came" in line["msg"] for line in one.log_lines())


def test_a_signal_lets_the_only_job_finish(api, worker, gate):
    run = api.run_files(api.workspace(auto_apply=True), applying(gate.command))
    assert worker.launch(once=1).process.ended() == 0
    api.wait_status(run, "apply_queued")
    one = worker.launch(once=1, sandbox_bind=gate.folder)
    gate.wait()
    one.process.send(signal.SIGTERM)
    until(lambda: one.metric("runyard_worker_draining") == 1, "it drains")
    gate.open()
    assert one.process.ended() == 0
    api.wait_status(run, "applied")


def test_a_refused_worker_ends_with_1(api, worker):
    body = {"data": {"type": "agent-pools", "attributes": {"name": "edge"}}}
    pool = api.post(f"organizations/{api.organization}/agent-pools", body).data["id"]
    body = {"data": {"type": "agent-tokens", "attributes": {"description": "once"}}}
    made = api.post(f"agent-pools/{pool}/authentication-tokens", body).data
    one = worker(once=1, agent_token=made["attributes"]["token"])
    api.delete(f"authentication-tokens/{made['id']}")
    assert one.process.ended() == 1


def test_a_worker_that_must_end_leaves_its_states_to_the_next_one(request, scheduler, worker, gate):
    """The scheduler is away until the worker has ended."""
    first = scheduler(lease_seconds=3)
    api = request.getfixturevalue("api")
    one = worker(sandbox_bind=gate.folder, job_stop_seconds=1)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, applying(gate.command))
    gate.wait()
    first.kill()
    gate.open()
    until(lambda: not processes_with(gate.path), "the engine has ended")
    one.process.send(signal.SIGTERM)
    until(lambda: one.metric("runyard_worker_draining") == 1, "it drains")
    one.process.send(signal.SIGTERM)
    assert one.process.ended() == 3
    first.start()
    one.options["deliver"] = 1
    one.launch()
    assert one.process.ended() == 0
    api.wait_status(run, {"applied", "errored"})
    assert api.resources(workspace) == ["terraform_data.first", "terraform_data.second"]
    until(lambda: not api.attributes(f"workspaces/{workspace}")["locked"], "the workspace is free")


def test_once_and_deliver_exclude_each_other(worker):
    one = worker.launch(once=1, deliver=1)
    assert one.process.ended() == 2 and "exclude each other" in one.process.log()
