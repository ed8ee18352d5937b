# SPDX-License-Identifier: MPL-2.0
# label: quick
"""What the scheduler does with workers and pools that operators drained: claims, waits, heartbeats, rights."""

import pytest

from support.fake_worker import PendingRequest
from support.wait import until


@pytest.fixture
def pool(org):
    """The id of a pool of the organization, and the token of its workers."""
    return org.pool("edge")


def order(worker):
    body = {"free": 1, "slots": 1, "draining": False, "partitions": [], "jobs": []}
    return worker.call("POST", "heartbeat", body, worker.own_token).json["order"]


def queued(org, pool):
    return org.run_files(org.workspace(execution_mode="agent", agent_pool_id=pool), {"main.tf": ""})


def test_workers_of_a_drained_pool_claim_nothing(api_site, org, pool):
    id, token = pool
    old = api_site.fake_worker(token)
    assert order(old) == "none" and org.attributes(f"agent-pools/{id}")["drained-at"] is None
    drained = org.post(f"agent-pools/{id}/actions/drain").data["attributes"]["drained-at"]
    assert drained and org.post(f"agent-pools/{id}/actions/drain").data["attributes"]["drained-at"] == drained
    run = queued(org, id)
    new = api_site.fake_worker(token)
    for worker in (old, new):
        assert worker.claim() == [] and order(worker) == "drain"
    waited = PendingRequest(new.wait)
    assert org.attributes(f"runs/{run}/waiting")["text"].startswith("The pool edge is drained since ")
    org.post(f"agent-pools/{id}/actions/resume")
    assert order(old) == "none" and new.claim()[0]["run"] == run
    new.leave()
    waited.answer()


def test_a_drained_worker_keeps_its_jobs_and_claims_no_more(api_site, org, pool):
    id, token = pool
    one, two = api_site.fake_worker(token), api_site.fake_worker(token)
    run = queued(org, id)
    job = one.take(run, "plan")
    shown = org.post(f"agents/{one.id}/actions/drain").data["attributes"]
    assert shown["draining"] and shown["order"] == "drain" and shown["status"] == "busy"
    another = queued(org, id)
    assert one.claim() == [] and one.lease(job) == (True, "none") and order(one) == "drain"
    assert two.claim()[0]["run"] == another
    one.end(job)
    org.wait_status(run, "planned_and_finished")
    org.post(f"agents/{one.id}/actions/resume")
    assert order(one) == "none" and not org.attributes(f"agents/{one.id}")["draining"]


def test_an_order_to_leave_precedes_the_pools_drain(api_site, org, pool):
    id, token = pool
    worker = api_site.fake_worker(token)
    org.post(f"agent-pools/{id}/actions/drain")
    org.post(f"agents/{worker.id}/actions/leave")
    assert order(worker) == "leave"
    worker.leave()
    assert org.attributes(f"agents/{worker.id}")["status"] == "exited"
    for action in ("drain", "resume", "leave"):
        assert org.call("POST", f"agents/{worker.id}/actions/{action}").status == 409


def test_a_run_waits_for_the_drained_worker_that_alone_can_run_it(api_site, org, pool):
    id, token = pool
    able = api_site.fake_worker(token, capabilities=["terraform 1.11.4"])
    other = api_site.fake_worker(token, capabilities=["terraform 1.5.7"])
    org.post(f"agents/{able.id}/actions/drain")
    workspace = org.workspace(execution_mode="agent", agent_pool_id=id, terraform_version="1.11.4")
    run = org.run_files(workspace, {"main.tf": ""})
    assert other.claim() == [] and org.status(run) == "plan_queued"
    org.post(f"agents/{able.id}/actions/resume")
    assert able.claim()[0]["run"] == run


def test_draining_needs_the_permission_to_manage_the_pool(api_site, org, pool):
    id, token = pool
    worker, shared = api_site.fake_worker(token), api_site.fake_worker()
    stranger = api_site.stranger()
    for path in (f"agents/{worker.id}/actions/leave", f"agents/{shared.id}/actions/leave", f"agent-pools/{id}/actions/drain"):
        assert stranger.call("POST", path).status == 404, path
    assert order(worker) == order(shared) == "none"
    # A site admin orders the workers of the shared pool.
    org.post(f"agents/{shared.id}/actions/drain")
    assert order(shared) == "drain"
    org.post(f"agents/{shared.id}/actions/resume")
    events = until(lambda: [event["resource"] for event in org.get("admin/audit-trail").json["data"] if event["resource"]["id"] == shared.id], "it is audited")
    assert {event["action"] for event in events} == {"drain", "resume"}
