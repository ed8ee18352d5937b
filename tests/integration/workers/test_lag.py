# SPDX-License-Identifier: MPL-2.0
# label: extended
"""The lag of job messages is the number of waiting jobs, as Apache Kafka's own tool shows it."""

import json
import time

import pytest

from support import kafka_tools
from support.configurations import planning_at
from support.kcat import delete_topics, produce
from support.runyard import KEYS, Scheduler
from support.wait import until

pytestmark = pytest.mark.kafka
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
SLOW = {"main.tf": 'resource "terraform_data" "one" {\n  provisioner "local-exec" {\n    command = "sleep 5"\n  }\n}\n'}


@pytest.fixture
def pool(ask, api):
    ((pool,),) = ask("select id from agent_pools")
    return pool


@pytest.fixture
def waiting(ask):
    return lambda: ask("select count(*) from jobs where state = 'waiting'")[0][0]


@pytest.fixture
def waiting_and_begun(ask):
    """How many jobs wait, and how many plans and applies have ever begun, at one moment."""
    return lambda: ask("""
        select (select count(*) from jobs where state = 'waiting'),
            count(*) filter (where status not in ('pending', 'plan_queued')) + count(*) filter (where status in ('applying', 'applied'))
        from runs""")[0]


@pytest.fixture
def lag(kafka, pool):
    return lambda: kafka_tools.lag(kafka, f"runyard-worker-{pool}")


def settled(lag, wanted):
    """Waits for that lag, at most 20 s."""
    end = time.monotonic() + 20
    until(lambda: lag() == wanted, lambda: f"lag {wanted}: it is {lag()}", timeout=20)
    assert time.monotonic() < end + 5


def test_a_hundred_jobs_for_two_slots(api, worker, gate, waiting, lag):
    workspace = api.workspace()
    configuration = api.upload(workspace, planning_at(gate))
    worker(slots=2, sandbox_bind=gate.folder)
    runs = [api.run(workspace, configuration, plan_only=True) for _ in range(100)]
    gate.wait()
    until(lambda: waiting() == 98, lambda: f"98 jobs wait: {waiting()}")
    settled(lag, 98)
    for run in runs[2:]:
        api.act(run, "cancel")
    settled(lag, 0)
    gate.open()
    for run in runs[:2]:
        api.wait_status(run, "planned_and_finished")
    settled(lag, 0)


def test_a_queue_that_moves(api, worker, waiting_and_begun, lag):
    """Applies are claimed before older plans. The lag is never less than what waits, and at most 8 more. A job that
    begins while the lag is read may count or not. Applies take long enough that few do."""
    workspaces = [api.workspace(auto_apply=True) for _ in range(20)]
    configurations = [api.upload(workspace, SLOW) for workspace in workspaces]
    for _ in range(3):
        worker(slots=2)
    runs = [api.run(workspace, configuration) for workspace, configuration in zip(workspaces, configurations)]
    looks = []
    while not looks or any(api.status(run) != "applied" for run in runs):
        (before, begun), shown, (after, begun_later) = waiting_and_begun(), lag(), waiting_and_begun()
        moved = begun_later - begun
        looks.append((before, shown, after, moved))
        assert before - moved <= shown <= after + moved + 8, looks
    assert any(before for before, *_ in looks)
    settled(lag, 0)


def test_messages_that_announce_nothing(api, worker, bus, pool, lag, waiting):
    """Messages of jobs that do not exist, or that can't be read, are passed."""
    one = worker()
    topic = f"runyard.jobs.{pool}"
    produce(bus, topic, *[{"v": 1, "job": f"job-{n:016}", "run": "run-0000000000000000"} for n in range(600)], "no message")
    until(lambda: one.metric("runyard_worker_messages_total", kind="malformed") == 1, "all are read")
    settled(lag, 0)
    api.wait_status(api.run_files(api.workspace(auto_apply=True), ONE), "applied")
    settled(lag, 0)


@pytest.fixture
def empty_pool(api):
    """A pool without workers: its id, and a function that starts runs in it."""
    pool = api.post(f"organizations/{api.organization}/agent-pools", {"data": {"type": "agent-pools", "attributes": {"name": "empty"}}}).data["id"]
    workspace = api.workspace(execution_mode="agent", agent_pool_id=pool)
    configuration = api.upload(workspace, ONE)
    return pool, lambda count: [api.run(workspace, configuration, plan_only=True) for _ in range(count)]


def shown(scheduler, pool):
    return scheduler.all[0].metric("runyard_kafka_topic_lag", topic=f"runyard.jobs.{pool}", pool="acme/empty")


def both_show(kafka, scheduler, pool, wanted):
    until(lambda: shown(scheduler, pool) == wanted, lambda: f"{wanted} in our metrics: {shown(scheduler, pool)}", timeout=40)
    group = f"runyard-worker-{pool}"
    until(lambda: kafka_tools.lag(kafka, group) == wanted, lambda: f"{wanted} in Kafka's tool: {kafka_tools.partitions(kafka, group)}", timeout=40)


def committed(scheduler, group):
    return {series: value for series, value in scheduler.all[0].metrics().items()
            if series.startswith("runyard_kafka_group_committed_offset") and group in series}


def test_a_pool_that_never_had_a_worker(kafka, scheduler, api, empty_pool, worker):
    pool, runs = empty_pool
    started = runs(5)
    both_show(kafka, scheduler, pool, 5)
    group = f"runyard-worker-{pool}"
    until(lambda: len(committed(scheduler, group)) == 8, lambda: f"8 partitions have an offset: {committed(scheduler, group)}")
    assert set(committed(scheduler, group).values()) == {0}
    assert scheduler.all[0].metrics()[f'runyard_kafka_group_members{{group="{group}"}}'] == 0
    until(lambda: scheduler.all[0].metric("runyard_kafka_group_stalled_seconds", pool="acme/empty") > 0, "nothing is committed while jobs wait")
    for run in started[:2]:
        api.act(run, "cancel")
    both_show(kafka, scheduler, pool, 3)
    for run in started[2:]:
        api.act(run, "cancel")
    both_show(kafka, scheduler, pool, 0)


def test_jobs_are_announced_again_if_the_broker_has_lost_them(kafka, scheduler, api, empty_pool, ask):
    pool, runs = empty_pool
    runs(3)
    both_show(kafka, scheduler, pool, 3)
    ask("update jobs set announced_at = now() - interval '1 minute'")
    delete_topics(kafka, f"runyard.jobs.{pool}")
    lost = time.monotonic()
    both_show(kafka, scheduler, pool, 3)
    assert time.monotonic() - lost < 60
    until(lambda: scheduler.all[0].metric("runyard_outbox_rows") == 0, "all are announced")


def test_the_settings_of_new_topics(request, kafka, scheduler, database):
    settings = {"job_partitions": 3, "topic_retention_hours": 5}
    scheduler(**settings)
    pool, runs = request.getfixturevalue("empty_pool")
    runs(2)
    both_show(kafka, scheduler, pool, 2)
    lines = Scheduler.run_command("topics", "--json", database_url=database, keys=KEYS, **kafka.options, **settings).stdout.splitlines()
    (shown_row,) = [row for row in map(json.loads, lines) if row["pool"] == "acme/empty"]
    expected = {"topic": f"runyard.jobs.{pool}", "group": f"runyard-worker-{pool}", "partitions": 3, "retention-hours": 5, "members": 0, "lag": 2, "waiting": 2, "failure": None}
    assert {name: shown_row[name] for name in expected} == expected
    assert shown_row["create"].endswith(f"--topic runyard.jobs.{pool} --partitions 3 --config retention.ms={5 * 3600000}")
