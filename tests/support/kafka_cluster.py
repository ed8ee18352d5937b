# SPDX-License-Identifier: MPL-2.0
"""Apache Kafka with several brokers, each of which is a controller, too."""

import re

from support.kafka_tools import tool
from support.process import free_port
from support.servers import Kafka
from support.wait import until

TOPICS = "org.apache.kafka.tools.TopicCommand"
LINE = re.compile(r"Partition: (\d+)\s+Leader: (\S+)\s+Replicas: (\S+)\s+Isr: (\S*)")
SETTINGS = """offsets.topic.replication.factor={brokers}
transaction.state.log.replication.factor={brokers}
default.replication.factor={brokers}
min.insync.replicas=2
broker.session.timeout.ms=4000
replica.lag.time.max.ms=5000
"""


class KafkaCluster:
    """It acknowledges what two brokers have. `nodes` are {number: Kafka}."""

    kind = "kafka"
    fetch_wait_ms = 500

    def __init__(self, folder, brokers=3):
        controllers = {number: free_port() for number in range(1, brokers + 1)}
        voters = ",".join(f"{number}@127.0.0.1:{port}" for number, port in controllers.items())
        identity = Kafka.new_identity()
        self.folder, self.nodes = folder, {}
        for number, port in controllers.items():
            path = folder / f"kafka-{number}"
            path.mkdir(parents=True)
            settings = f"node.id={number}\ncontroller.quorum.voters={voters}\n" + SETTINGS.format(brokers=brokers)
            self.nodes[number] = Kafka(path, controller=port, identity=identity, settings=settings)

    @property
    def address(self):
        return ",".join(node.address for node in self.nodes.values())

    @property
    def options(self):
        return {"brokers": self.address, "fetch_wait_ms": self.fetch_wait_ms}

    def java(self, *arguments):
        return self.nodes[1].java(*arguments)

    def start(self):
        for node in self.nodes.values():
            node.process.launch()
        for node in self.nodes.values():
            node.start_waiting()
        return self

    def release(self):
        for node in self.nodes.values():
            node.release()

    def topic(self, name):
        """{partition: (leader or None, replicas, replicas in sync)} and the text of its settings, by Kafka's own tool."""
        text = tool(self, TOPICS, "--describe", "--topic", name)
        numbers = lambda listed: {int(number) for number in listed.split(",") if number}
        partitions = {int(partition): (int(leader) if leader.isdigit() else None, numbers(replicas), numbers(synced))
                      for partition, leader, replicas, synced in LINE.findall(text)}
        return partitions, text

    def topics(self):
        return tool(self, TOPICS, "--list").split()

    def wait_in_sync(self):
        """Until no partition lacks a replica."""
        until(lambda: "Partition:" not in tool(self, TOPICS, "--describe", "--under-replicated-partitions"), "all replicas are in sync")
