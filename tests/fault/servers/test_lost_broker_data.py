# SPDX-License-Identifier: MPL-2.0
# label: extended
"""Apache Kafka loses all its data while jobs wait in a pool without workers: they are announced again."""

import time

import pytest

from support import kafka_tools
from support.servers import Kafka
from support.wait import until

WAITING = 5


@pytest.fixture
def bus(folder):
    path = folder / "kafka"
    path.mkdir()
    server = Kafka(path).start()
    yield server
    server.release()


def test_jobs_of_a_pool_without_workers_are_announced_again_within_a_minute(bus, scheduler, api, worker):
    first = scheduler.all[0]
    pool, token = api.pool("empty")
    topic, group = f"runyard.jobs.{pool}", f"runyard-worker-{pool}"
    workspace = api.workspace(execution_mode="agent", agent_pool_id=pool)
    configuration = api.upload(workspace, {"main.tf": 'output "one" {\n  value = 1\n}\n'})
    runs = [api.run(workspace, configuration, plan_only=True) for _ in range(WAITING)]
    ours = lambda: first.metric("runyard_kafka_topic_lag", topic=topic)
    theirs = lambda: kafka_tools.lag(bus, group)
    until(lambda: ours() == WAITING and theirs() == WAITING, "all are announced")
    bus.lose_data()
    lost = time.monotonic()
    until(lambda: theirs() == WAITING, lambda: kafka_tools.partitions(bus, group))
    assert time.monotonic() - lost < 60
    until(lambda: ours() == WAITING, "our metric shows that, too")
    worker(agent_token=token)
    for run in runs:
        api.wait_status(run, "planned_and_finished")
    until(lambda: ours() == 0 and theirs() == 0, "nothing waits")
