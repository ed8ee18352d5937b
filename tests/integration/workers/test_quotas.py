# SPDX-License-Identifier: MPL-2.0
"""Quotas: how many runs of an organization, and in a pool, are worked on at a time."""

import concurrent.futures

import pytest

from support.wait import until


def limit(org, path, type, runs):
    return org.patch(path, {"data": {"type": type, "attributes": {"concurrent-run-limit": runs}}}).data["attributes"]["concurrent-run-limit"]


@pytest.fixture
def pool(org):
    """The id of a pool of the organization, and the token of its workers."""
    return org.pool("edge")


def queued(org, pool=None, **attributes):
    chosen = {"execution_mode": "agent", "agent_pool_id": pool} if pool else {}
    return org.run_files(org.workspace(**chosen), {"main.tf": ""}, **attributes)


def of(jobs, runs):
    """The runs of these jobs that are among the given ones."""
    return {job["run"] for job in jobs} & set(runs)


def test_a_pool_runs_at_most_its_quota(api_site, org, pool):
    id, token = pool
    assert limit(org, f"agent-pools/{id}", "agent-pools", 2) == 2
    worker = api_site.fake_worker(token)
    runs = [queued(org, id) for _ in range(4)]
    first = worker.claim(10)
    assert [job["run"] for job in first] and of(first, runs) == set(runs[:2]) and worker.claim(10) == []
    waiting = org.attributes(f"runs/{runs[2]}/waiting")
    assert (waiting["code"], waiting["text"], waiting["position"]) == ("pool_limit", "The limit of pool edge is reached: 2 runs at a time.", 1)
    worker.end(first[0])
    (third,) = worker.claim(10)
    assert third["run"] == runs[2]
    # Without a quota the last one is claimed, too.
    assert limit(org, f"agent-pools/{id}", "agent-pools", 0) == 0
    assert [job["run"] for job in worker.claim(10)] == [runs[3]]


def test_an_organization_at_its_quota_does_not_block_others(api_site, org):
    owner, worker = api_site.organization(), api_site.fake_worker()
    assert limit(org, f"admin/organizations/{owner.organization}", "organizations", 1) == 1
    runs = [queued(owner) for _ in range(3)]
    others = [queued(org) for _ in range(2)]
    jobs = worker.claim(10)
    assert of(jobs, runs) == {runs[0]} and of(jobs, others) == set(others)
    waiting = owner.attributes(f"runs/{runs[1]}/waiting")
    assert (waiting["code"], waiting["text"]) == ("organization_limit", "The organization's limit is reached: 1 runs at a time.")
    told = until(lambda: owner.events(runs[1], "waiting-for-organization-quota"), "the run has an event")[0][1]
    assert f"Waiting: {told}" in owner.log(runs[1])
    for job in jobs:
        worker.end(job)
    assert of(worker.claim(10), runs) == {runs[1]}


def test_an_organizations_quota_counts_its_runs_in_all_pools(api_site, org, pool):
    owner = api_site.organization()
    id, token = owner.pool("own")
    limit(org, f"admin/organizations/{owner.organization}", "organizations", 2)
    own, shared = api_site.fake_worker(token), api_site.fake_worker()
    far, near = [queued(owner, id) for _ in range(2)], [queued(owner) for _ in range(2)]
    assert len(of(shared.claim(10), near)) == 2 and own.claim(10) == []
    assert owner.attributes(f"runs/{far[0]}/waiting")["code"] == "organization_limit"


def test_applies_are_claimed_before_plans_at_the_quota(api_site, org, pool):
    id, token = pool
    limit(org, f"agent-pools/{id}", "agent-pools", 1)
    worker = api_site.fake_worker(token)
    first, second, third = (queued(org, id) for _ in range(3))
    worker.plan(first)
    job = worker.take(second, "plan")
    org.act(first, "apply")
    assert org.attributes(f"runs/{first}/waiting")["position"] == 1 and worker.claim(10) == []
    worker.end(job)
    assert [(job["run"], job["stage"]) for job in worker.claim(10)] == [(first, "apply")]


def test_concurrent_claims_do_not_exceed_the_quota(api_site, org, pool):
    """Also if the jobs are of several classes, and more claims than the quota arrive at once."""
    id, token = pool
    limit(org, f"agent-pools/{id}", "agent-pools", 3)
    workers = [api_site.fake_worker(token) for _ in range(8)]
    runs = [queued(org, id, plan_only=number % 2 == 0) for number in range(16)]
    with concurrent.futures.ThreadPoolExecutor(8) as threads:
        while runs:
            claimed = [(worker, job) for worker, jobs in zip(workers, threads.map(lambda worker: worker.claim(4), workers)) for job in jobs]
            assert len(claimed) <= 3
            if not claimed:  # each claim gave way to another one
                claimed = [(worker, job) for worker in workers[:1] for job in worker.claim(4)]
                assert claimed
            for worker, job in claimed:
                runs.remove(job["run"])
                worker.end(job)


def test_quotas_are_validated_and_need_permissions(api_site, org, pool):
    id, _ = pool
    stranger = api_site.stranger()
    body = {"data": {"type": "organizations", "attributes": {"concurrent-run-limit": 5}}}
    assert stranger.call("PATCH", f"admin/organizations/{stranger.organization}", body).status == 404
    assert stranger.call("PATCH", f"agent-pools/{id}", {"data": {"type": "agent-pools", "attributes": {"concurrent-run-limit": 5}}}).status == 404
    for wrong in (-1, 1000001, "many"):
        refused = org.call("PATCH", f"agent-pools/{id}", {"data": {"type": "agent-pools", "attributes": {"concurrent-run-limit": wrong}}})
        assert refused.status == 422 and refused.json["errors"][0]["source"]["pointer"] == "/data/attributes/concurrent-run-limit"
    assert org.attributes(f"agent-pools/{id}")["concurrent-run-limit"] == 0


def test_an_autoscaler_sees_no_more_than_the_quota_or_the_drain_allows(api_site, org, pool):
    id, token = pool
    wanted = lambda: api_site.scheduler.metric("runyard_slots_wanted", pool=f"{org.organization}/edge")
    worker = api_site.fake_worker(token)
    runs = [queued(org, id) for _ in range(4)]
    until(lambda: wanted() == 4, "all are wanted")
    limit(org, f"agent-pools/{id}", "agent-pools", 2)
    until(lambda: wanted() == 2, "the quota is wanted")
    (job,) = worker.claim(1)
    org.post(f"agent-pools/{id}/actions/drain")
    until(lambda: wanted() == 1, "the running one alone counts")
    org.post(f"agent-pools/{id}/actions/resume")
    limit(org, f"agent-pools/{id}", "agent-pools", 0)
    until(lambda: wanted() == 4, "all are wanted again")
    worker.end(job)
