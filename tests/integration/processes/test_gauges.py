# SPDX-License-Identifier: MPL-2.0
"""Metrics that the scheduler reads from PostgreSQL: complete, by pool, and never old."""

import pytest

from support.api import Api
from support.fake_worker import FakeWorker
from support.proxy import Proxy, Wires
from support.wait import until

POOLS = 2000


@pytest.fixture
def wires():
    wires = Wires()
    yield wires
    wires.release()


def series(metrics, name):
    """{labels: value} of the metric's series."""
    return {text[len(name):].strip("{}"): value for text, value in metrics.items() if text.split("{")[0] == name}


def all_shown(metrics, names):
    """The metrics, if each of these has a series for each pool."""
    return metrics if all(len(series(metrics, f"runyard_{name}")) >= POOLS for name in names) else None


def test_a_replica_without_postgresql_shows_nothing_old(wires, scheduler, api, database, postgres):
    proxy = Proxy(wires, postgres.port)
    second = scheduler(database_url=database.replace(f":{postgres.port}/", f":{proxy.port}/"))
    first = scheduler.all[0]
    runs = [api.run_files(api.workspace(), {"main.tf": 'output "one" {\n  value = 1\n}\n'}) for _ in range(2)]
    for each in (first, second):
        until(lambda each=each: each.metric("runyard_slots_wanted", pool="default") == 2, "both runs are wanted")
    assert second.metric("runyard_database_up") == 1
    proxy.break_as("cut")
    until(lambda: second.metric("runyard_database_up") == 0, "it does not reach PostgreSQL")
    api.act(runs[0], "cancel")
    until(lambda: first.metric("runyard_slots_wanted", pool="default") == 1, "the other replica counts on")
    sampled = ("slots_wanted", "jobs", "worker_slots", "oldest_waiting_seconds", "workers", "runs", "outbox_rows", "outbox_oldest_seconds", "workspaces_held")
    until(lambda: not any(text.split("{")[0].removeprefix("runyard_") in sampled for text in second.metrics()), "its old values are left out")
    assert second.get("/healthz")[0] == 200 and second.get("/readyz")[0] == 503
    assert series(first.metrics(), "runyard_slots_wanted") == {'pool="default"': 1}
    proxy.heal()
    until(lambda: second.metric("runyard_slots_wanted", pool="default") == 1 and second.metric("runyard_database_up") == 1, "it counts again")


def test_every_pool_has_its_series_until_it_is_deleted(scheduler, api, ask, tokens):
    first = scheduler.all[0]
    ask(f"insert into agent_pools (id, organization_id, name) select 'apool-' || lpad(n::text, 16, '0'), (select id from organizations limit 1), "
        f"'pool-' || n from generate_series(1, {POOLS}) n")
    names = ("slots_wanted", "jobs", "worker_slots", "oldest_waiting_seconds", "workers")
    metrics = until(lambda: all_shown(first.metrics(), names), "each pool is shown")
    organization = tokens["organization"]
    assert {f'pool="{organization}/pool-{n}"' for n in range(1, POOLS + 1)} <= series(metrics, "runyard_slots_wanted").keys()
    for state in ("all", "free", "draining"):
        assert len([labels for labels in series(metrics, "runyard_worker_slots") if f'state="{state}"' in labels]) >= POOLS
    assert metrics["runyard_metrics_dropped_total"] == 0

    pool = api.post(f"organizations/{organization}/agent-pools", {"data": {"type": "agent-pools", "attributes": {"name": "aaa"}}}).data["id"]
    own = f"{organization}/aaa"
    run = api.run_files(api.workspace(), {"main.tf": ""})
    ask("update jobs set pool_id = %s", pool)
    document = {"data": {"type": "authentication-tokens", "attributes": {"description": "d"}}}
    token = api.post(f"agent-pools/{pool}/authentication-tokens", document).data["attributes"]["token"]
    worker = FakeWorker(first.url, token)
    (job,) = worker.claim()
    assert job["run"] == run and first.metric("runyard_claimed_jobs_total", pool=own) == 1
    until(lambda: first.metric("runyard_workers", pool=own, state="live") == 1, "its worker is shown")
    worker.heartbeat(job)
    ask("update jobs set pool_id = (select id from agent_pools where name = 'default')")
    api.delete(f"agent-pools/{pool}")
    ask("delete from agent_pools where name = 'pool-7'")
    until(lambda: not any(f'"{own}"' in text or '/pool-7"' in text for text in first.metrics()), "the deleted pools are gone")
    assert len(series(first.metrics(), "runyard_slots_wanted")) == POOLS  # with the default pool


def test_workers_are_shown_by_state(scheduler, api, tokens, ask):
    first = scheduler.all[0]
    workers = [FakeWorker(first.url, tokens["agent-token"], name=f"worker-{n}", slots=2) for n in range(3)]
    shown = lambda metric, state: first.metric(f"runyard_{metric}", pool="default", state=state)
    until(lambda: shown("workers", "live") == 3, "three live workers")
    assert shown("worker_slots", "all") == shown("worker_slots", "free") == 6
    workers[0].call("POST", "heartbeat", {"free": 2, "slots": 2, "draining": True, "partitions": [], "jobs": []}, workers[0].own_token)
    until(lambda: shown("workers", "draining") == 1 and shown("worker_slots", "draining") == 2, "one drains")
    assert shown("worker_slots", "free") == 4 and shown("worker_slots", "all") == 6
    ask("update workers set seen_at = now() - interval '2 minutes' where id = %s", workers[1].id)
    until(lambda: shown("workers", "silent") == 1 and shown("worker_slots", "all") == 4, "one is silent")
    workers[2].leave()
    until(lambda: shown("workers", "live") == 0 and shown("worker_slots", "free") == 0, "one has left")


def test_slots_that_no_job_may_take_are_not_free(scheduler, api, tokens, ask):
    first = scheduler.all[0]
    FakeWorker(first.url, tokens["agent-token"], slots=2)
    api.run_files(api.workspace(), {"main.tf": ""})
    free = lambda: first.metric("runyard_worker_slots", pool="default", state="free")
    recorded = lambda: ask("select free_since is not null from pool_capacity")
    until(lambda: free() == 2 and recorded() == [(True,)], "both slots are free")
    ask("update agent_pools set drained_at = now()")
    until(lambda: free() == 0 and recorded() == [(False,)], "its pool is drained")
    assert first.metric("runyard_workers", state="draining") == 1 and first.metric("runyard_worker_slots", state="draining") == 2
    ask("update agent_pools set drained_at = null")
    until(lambda: free() == 2 and recorded() == [(True,)], "it is resumed")
    ask("insert into run_quotas (pool_id, runs) select id, 0 from agent_pools")
    until(lambda: free() == 0 and recorded() == [(False,)], "its quota is used up")
    assert first.metric("runyard_worker_slots", state="all") == 2 and first.metric("runyard_workers", state="live") == 1


def test_jobs_above_an_organizations_quota_want_no_slots(scheduler, api, tokens, ask):
    """In the shared pool, in which another organization has jobs, too."""
    first = scheduler.all[0]
    shown = lambda metric, **labels: first.metric(f"runyard_{metric}", pool="default", **labels)
    recorded = lambda: ask("select free_since is not null from pool_capacity")
    starts = lambda: {result: first.metric("runyard_job_starts_total", result=result) for result in ("prompt", "late", "no_slot")}
    worker = FakeWorker(first.url, tokens["agent-token"], slots=4)
    beat = lambda free: worker.call("POST", "heartbeat", {"free": free, "slots": 4, "draining": False, "partitions": [], "jobs": []}, worker.own_token)
    runs = [api.run_files(api.workspace(), {"main.tf": ""}) for _ in range(3)]
    until(lambda: shown("slots_wanted") == 3 and shown("oldest_waiting_seconds") > 0, "all are wanted")
    ask("insert into run_quotas (organization_id, runs) select id, 1 from organizations")
    until(lambda: shown("slots_wanted") == 1 and recorded() == [(True,)], "the quota leaves room for one")
    assert shown("oldest_waiting_seconds") > 0 and shown("worker_slots", state="free") == 4
    (job,) = worker.claim()
    beat(3)
    until(lambda: shown("oldest_waiting_seconds") == 0 and recorded() == [(False,)], "the quota is used up")
    assert shown("slots_wanted") == 1 and shown("worker_slots", state="free") == 0 and shown("worker_slots", state="all") == 4
    assert shown("jobs", state="waiting") == 2

    api.post("organizations", {"data": {"type": "organizations", "attributes": {"name": "other", "email": "admin@example.com"}}})
    other = Api(first.url, tokens["token"], "other")
    foreign = other.run_files(other.workspace(), {"main.tf": ""})
    until(lambda: shown("slots_wanted") == 2 and recorded() == [(True,)], "the other organization's job is wanted")
    assert shown("worker_slots", state="free") == 3 and 0 < shown("oldest_waiting_seconds") < 60
    ask("update jobs set created_at = now() - interval '5 minutes' where state = 'waiting'")
    ask("update pool_capacity set free_since = now() - interval '4 minutes'")
    assert [one["run"] for one in worker.claim()] == [foreign]
    beat(2)
    assert starts() == {"prompt": 1, "late": 1, "no_slot": 0}
    worker.end(job)
    until(lambda: recorded() == [(True,)], "its place is free")
    ask("update pool_capacity set free_since = now() - interval '4 minutes'")
    (next_job,) = worker.claim()
    assert next_job["run"] in runs[1:]
    assert starts() == {"prompt": 1, "late": 1, "no_slot": 1}  # it waited for the quota


def test_maintenance_and_backups_are_shown(scheduler, api, ask):
    first = scheduler.all[0]
    until(lambda: "runyard_maintenance" in first.metrics(), "the site is counted")
    assert first.metrics()["runyard_maintenance"] == 0 and "runyard_last_backup_timestamp_seconds" not in first.metrics()
    ask("update maintenance set reason = 'a new disk'")
    ask("update database_history set backup_at = now()")
    until(lambda: first.metric("runyard_maintenance") == 1, "it is under maintenance")
    until(lambda: first.metric("runyard_last_backup_timestamp_seconds") > 1.7e9, "the backup is shown")


def test_processes_are_shown_by_version(scheduler, api, tokens):
    first = scheduler.all[0]
    worker = FakeWorker(first.url, tokens["agent-token"])
    for n, version in enumerate(("1.2.3", "1.2.3", 'x"} 1\nrunyard_slots_wanted{pool="default')):
        worker.call("POST", "register", {"name": f"worker-{n}", "slots": 1, "version": version})
    until(lambda: first.metric("runyard_processes", kind="worker") == 4, "all workers")
    assert first.metric("runyard_processes", kind="worker", version="1.2.3") == 2
    assert first.metric("runyard_processes", kind="worker", version="other") == 1
    until(lambda: first.metric("runyard_processes", kind="scheduler", version=first.version) == 1, "the scheduler is one, too")
    assert first.metric("runyard_slots_wanted") == 0


def test_a_start_is_late_only_if_the_pool_had_a_free_slot(scheduler, api, tokens, ask):
    first = scheduler.all[0]
    starts = lambda: {result: first.metric("runyard_job_starts_total", result=result) for result in ("prompt", "late", "no_slot")}
    free = lambda: ask("select free_since is not null from pool_capacity")
    run = lambda: api.run_files(api.workspace(), {"main.tf": ""})
    assert starts() == {"prompt": 0, "late": 0, "no_slot": 0} and 'runyard_job_starts_total{result="late"}' in first.metrics()

    run()
    until(lambda: free() == [(False,)], "nobody has a slot for it")
    ask("update jobs set created_at = now() - interval '5 minutes'")
    worker = FakeWorker(first.url, tokens["agent-token"], slots=3)
    assert len(worker.claim()) == 1
    assert starts() == {"prompt": 0, "late": 0, "no_slot": 1}

    run()
    assert len(worker.claim()) == 1
    assert starts() == {"prompt": 1, "late": 0, "no_slot": 1}

    run()
    worker.call("POST", "heartbeat", {"free": 1, "slots": 3, "draining": False, "partitions": [], "jobs": []}, worker.own_token)
    until(lambda: free() == [(True,)], "the worker has a free slot")
    ask("update jobs set created_at = now() - interval '5 minutes' where state = 'waiting'")
    ask("update pool_capacity set free_since = now() - interval '40 seconds'")
    assert len(worker.claim()) == 1
    assert starts() == {"prompt": 1, "late": 1, "no_slot": 1}


def test_the_expiry_of_the_certificate_is_shown(scheduler, authority):
    server = scheduler(**authority.serving())
    assert server.metric("runyard_certificate_expiry_timestamp_seconds") > 1.7e9
