# SPDX-License-Identifier: MPL-2.0
"""Workers of several pools: which jobs each gets, and what happens to a worker whose token is revoked."""

import signal

import pytest

from support.kcat import kcat
from support.wait import until

pytestmark = pytest.mark.kafka
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


def pool(api, name):
    return api.post(f"organizations/{api.organization}/agent-pools", {"data": {"type": "agent-pools", "attributes": {"name": name}}}).data["id"]


def token(api, pool_id):
    body = {"data": {"type": "agent-tokens", "attributes": {"description": "a worker's"}}}
    token = api.post(f"agent-pools/{pool_id}/authentication-tokens", body).data
    return token["id"], token["attributes"]["token"]


def workspace_of(api, pool_id):
    return api.workspace(auto_apply=True, execution_mode="agent", agent_pool_id=pool_id)


def details(api, run, kind="plan"):
    return api.attributes(f"{'applies' if kind == 'apply' else 'plans'}/{run.replace('run-', kind + '-')}")["execution-details"]


def agents(api, pool_id):
    return {item["attributes"]["name"]: item["attributes"]["status"] for item in api.get(f"agent-pools/{pool_id}/agents").data}


def test_workers_run_only_jobs_of_their_pool(api, worker):
    """The pools are created while processes run. One pool's worker reads its topic, the other's only polls. The shared
    pool's worker runs the jobs of neither."""
    shared = worker()
    api.wait_status(api.run_files(api.workspace(auto_apply=True), ONE), "applied")
    edge, far = pool(api, "edge"), pool(api, "far")
    waiting = api.run_files(workspace_of(api, edge), ONE)
    workers = {edge: worker(agent_token=token(api, edge)[1]), far: worker(agent_token=token(api, far)[1], brokers="")}
    api.wait_status(waiting, "applied")
    runs = [(pool_id, api.run_files(workspace_of(api, pool_id), ONE)) for pool_id in (edge, far, edge, far)]
    for pool_id, run in runs:
        api.wait_status(run, "applied")
        for kind in ("plan", "apply"):
            shown = details(api, run, kind)
            assert (shown["mode"], shown["agent-name"], shown["agent-pool-id"]) == ("agent", workers[pool_id].name, pool_id)
    until(lambda: shared.metric("runyard_worker_jobs_total", stage="plan") == 1, "its jobs have ended")
    for pool_id, one in workers.items():
        until(lambda: agents(api, pool_id) == {one.name: "idle"}, lambda: agents(api, pool_id))
        one.stop()
        assert agents(api, pool_id) == {one.name: "exited"}


def test_a_job_waits_for_a_worker_of_its_pool(api, worker):
    edge, far = pool(api, "edge"), pool(api, "far")
    one = worker(agent_token=token(api, far)[1])
    run = api.run_files(workspace_of(api, edge), ONE)
    other = api.run_files(workspace_of(api, far), ONE)
    api.wait_status(other, "applied")
    assert api.status(run) == "plan_queued" and details(api, run)["agent-name"] is None
    until(lambda: one.metric("runyard_worker_jobs_total", stage="plan") == 1, "its jobs have ended")


@pytest.mark.parametrize("brokers", [True, False], ids=["broker", "polling"])
def test_a_worker_with_a_revoked_token_finishes_its_job_and_exits(request, scheduler, worker, gate, brokers):
    second = [scheduler(lease_seconds=4) for _ in range(2)][1]
    api = request.getfixturevalue("api")
    edge = pool(api, "edge")
    token_id, text = token(api, edge)
    one = worker(agent_token=text, slots=2, sandbox_bind=gate.folder, scheduler_url=second.url, **({} if brokers else {"brokers": ""}))
    workspace = workspace_of(api, edge)
    run = api.run_files(workspace, {"main.tf": f"""
resource "terraform_data" "one" {{
  provisioner "local-exec" {{
    command = "{gate.command}"
  }}
}}
"""})
    gate.wait()
    idle = worker(agent_token=text)
    assert agents(api, edge) == {one.name: "busy", idle.name: "idle"}
    api.delete(f"authentication-tokens/{token_id}")
    one.process.wait_until(lambda: "does not take this worker's agent token" in one.process.log(), "says that its token was revoked")
    assert idle.process.ended() == 1 and agents(api, edge)[idle.name] == "exited"
    later = api.run_files(workspace_of(api, edge), ONE)
    assert one.process.alive() and api.status(run) == "applying"
    # Its lease continues, with the other scheduler as well.
    earlier_heartbeats = one.metric("runyard_worker_heartbeats_total", outcome="ok")
    until(lambda: one.metric("runyard_worker_heartbeats_total", outcome="ok") > earlier_heartbeats, "its heartbeats are accepted")
    gate.open()
    assert one.process.ended() == 1
    api.wait_status(run, "applied")
    assert api.resources(workspace) == ["terraform_data.one"]
    assert api.status(later) == "plan_queued" and agents(api, edge)[one.name] == "exited"
    worker(agent_token=token(api, edge)[1])
    api.wait_status(later, "applied")
    assert text not in one.process.log()


def test_a_pools_topic_is_created_and_deleted_with_the_pool(bus, api, worker):
    """A worker that still reads a topic which is deleted asks the broker for it. This must not create it again."""
    def topics():
        return kcat(bus.address, "-L")

    edge = pool(api, "edge")
    one = worker(agent_token=token(api, edge)[1])
    assert f"runyard.jobs.{edge}" in topics()
    one.process.send(signal.SIGSTOP)
    api.delete(f"agent-pools/{edge}")
    until(lambda: f"runyard.jobs.{edge}" not in topics(), topics)
    one.process.send(signal.SIGCONT)
    assert one.process.ended() == 1
    assert f"runyard.jobs.{edge}" not in topics()
