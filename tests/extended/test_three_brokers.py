# SPDX-License-Identifier: MPL-2.0
"""A cluster of three brokers of Apache Kafka, each with every partition. Brokers are killed one by one while runs are in progress."""

import shutil
from collections import Counter

import pytest

from support import kafka_tools
from support.kafka_cluster import KafkaCluster
from support.record import Record, applied_twice, configuration, ended, overlaps
from support.site import new_folder
from support.wait import until

RUNS = 4  # for each fault, before it and during it
WAITING = 3  # runs in a pool without workers


@pytest.fixture(scope="module")
def cluster():
    cluster = KafkaCluster(new_folder("cluster"))
    try:
        yield cluster.start()
    finally:
        cluster.release()
        shutil.rmtree(cluster.folder, ignore_errors=True)


@pytest.fixture
def bus(cluster):
    cluster.wait_in_sync()
    return cluster


@pytest.fixture
def record(folder):
    record = Record(folder / "record")
    yield record
    record.release()


@pytest.fixture
def work(api, record):
    return Work(api, record)


class Work:
    """Workspaces whose applies write a record (support/record.py)."""

    def __init__(self, api, record):
        self.api, self.record, self.runs = api, record, []
        self.workspaces = [api.workspace(auto_apply=True) for _ in range(RUNS)]
        self.configurations = [api.upload(workspace, configuration(record.port, size=1, pause=0)) for workspace in self.workspaces]

    def start(self):
        """A run in each workspace."""
        turn = [{"key": "turn", "value": str(len(self.runs))}]
        self.runs += [self.api.run(*pair, variables=turn) for pair in zip(self.workspaces, self.configurations)]

    def check(self):
        """Each run was applied, once."""
        for run in self.runs:
            self.api.wait_status(run, "applied")
        lines = self.record.lines
        assert ended(lines) == set(self.runs) and not applied_twice(lines) and not overlaps(lines)


def shared_topics(cluster):
    return [name for name in cluster.topics() if name.startswith("runyard.") and not name.startswith("runyard.jobs.")]


def pool_with_runs(api, name, runs=1):
    """The id of a new pool without workers in which runs wait."""
    id, _ = api.pool(name)
    for _ in range(runs):
        api.run_files(api.workspace(execution_mode="agent", agent_pool_id=id), {"main.tf": ""})
    return id


@pytest.mark.parametrize("options, partitions, replicas, retention", [
    ({}, 8, 3, 24),
    ({"topic_replication": 3, "job_partitions": 3, "topic_retention_hours": 5}, 3, 3, 5),
    ({"topic_replication": 2, "job_partitions": 6}, 6, 2, 24)])
def test_new_topics_have_the_settings(bus, scheduler, request, options, partitions, replicas, retention):
    """As Kafka's own tool shows them."""
    scheduler(**options)
    name = "runyard.jobs." + pool_with_runs(request.getfixturevalue("api"), f"pool-{replicas}-{partitions}")
    until(lambda: name in bus.topics(), "the pool's topic exists")
    placed, text = bus.topic(name)
    assert len(placed) == partitions, text
    assert {len(held) for _, held, _ in placed.values()} == {replicas}, text
    assert f"retention.ms={retention * 3600000}" in text
    if not options:
        until(lambda: len(shared_topics(bus)) == 6, lambda: shared_topics(bus))
        for shared in shared_topics(bus):
            assert {len(held) for _, held, _ in bus.topic(shared)[0].values()} == {3}, shared


def names_a_broker(process, bus):
    """Whether the log says which broker was lost."""
    addresses = [node.address for node in bus.nodes.values()]
    return any(line["event"] == "broker-trouble" and any(address in line["detail"] for address in addresses) for line in process.log_lines())


def leaders(bus, topic):
    return Counter(leader for leader, _, _ in bus.topic(topic)[0].values())


def test_runs_go_on_while_each_broker_is_killed_and_restarted(bus, scheduler, api, worker, record, work, ask):
    """The leader of most partitions of the job topic first. No run is lost or applied twice."""
    first, second = scheduler.all[0], scheduler()
    workers = [worker(slots=2, job_network_allow=f"127.0.0.1:{record.port}") for _ in range(2)]
    ((pool,),) = ask("select id from agent_pools")
    topic, group = f"runyard.jobs.{pool}", f"runyard-worker-{pool}"
    empty = pool_with_runs(api, "empty", WAITING)
    work.start()
    work.check()
    order = [number for number, _ in leaders(bus, topic).most_common()]
    order += [number for number in bus.nodes if number not in order]
    for number in order:
        work.start()
        bus.nodes[number].process.kill()
        until(lambda: number not in leaders(bus, topic), "the others lead its partitions")
        work.start()
        work.check()
        for process in (first, second, *workers):
            assert process.get("/healthz")[0] == 200 and process.get("/readyz")[0] == 200, process.name
        assert first.metric("runyard_kafka_up", client="publisher") == 1, "two brokers are enough"
        until(lambda: kafka_tools.lag(bus, f"runyard-worker-{empty}") == WAITING, "the other pool's lag is right")
        until(lambda: first.metric("runyard_kafka_topic_lag", topic=f"runyard.jobs.{empty}") == WAITING, "our metric shows that, too")
        bus.nodes[number].start()
        bus.wait_in_sync()
    until(lambda: kafka_tools.lag(bus, group) == 0, lambda: kafka_tools.partitions(bus, group))
    until(lambda: first.metric("runyard_kafka_topic_lag", topic=topic) == 0, "our metric shows that, too")
    until(lambda: first.metric("runyard_outbox_rows") == 0, "everything is announced")
    assert ask("select count(*) from jobs") == [(WAITING,)] and first.metric("runyard_leases_expired_total") == 0
    for process in (first, second, *workers):
        assert names_a_broker(process, bus), process.name


def test_runs_go_on_with_fewer_replicas_than_the_brokers_ask_for(bus, scheduler, api, worker, record, work, ask):
    """min.insync.replicas is 2, and one broker is left: nothing can be announced. Workers claim over HTTP."""
    first = scheduler.all[0]
    worker(slots=2, job_network_allow=f"127.0.0.1:{record.port}")
    ((pool,),) = ask("select id from agent_pools")
    work.start()
    work.check()
    for number in (1, 2):
        bus.nodes[number].process.kill()
    work.start()
    work.check()
    assert first.get("/readyz")[0] == 200
    until(lambda: names_a_broker(first, bus), "the log says which broker is lost")
    until(lambda: first.metric("runyard_outbox_rows") > 0, "messages wait")
    for number in (1, 2):
        bus.nodes[number].start()
    bus.wait_in_sync()
    until(lambda: first.metric("runyard_outbox_rows") == 0, "they are sent")
    until(lambda: kafka_tools.lag(bus, f"runyard-worker-{pool}") == 0, "none is left to read")
    work.start()
    work.check()
