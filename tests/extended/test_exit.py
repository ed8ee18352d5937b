# SPDX-License-Identifier: MPL-2.0
"""A process that is asked to end does so in bounded time, whatever its servers and libraries do."""

import json
import signal

import pytest

from support.kcat import delete_topics, kcat
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
SECONDS = 25  # a scheduler whose database says nothing takes 13, and the machine may be slow


def stop_all(services):
    """Each ends with 0."""
    for service in services:
        assert service.process.stop(timeout=SECONDS) == 0


def topics_of(kafka):
    return {topic["topic"] for topic in json.loads(kcat(kafka.address, "-L", "-J"))["topics"] if topic["topic"].startswith("runyard.")}


@pytest.mark.kafka
@pytest.mark.parametrize("when", ["at once", "when they know"])
def test_after_topics_were_deleted(scheduler, worker, notifier, kafka, api, when):
    """The scheduler makes the topics again within a minute. A client may then not have noticed that they were away."""
    services = [worker(), notifier(), *scheduler.all]
    api.wait_status(api.run_files(api.workspace(auto_apply=True), ONE), "applied")
    there = topics_of(kafka)
    delete_topics(kafka, *there)
    if when == "when they know":
        for service in services:
            until(lambda: "desired partition is no longer available" in service.process.log() or topics_of(kafka) >= there, f"{service.name} knows")
    stop_all(services)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("scheduler_first", [True, False])
def test_after_their_servers(services, servers, number, scheduler_first):
    """Killed servers refuse connections; stopped ones take them and say nothing."""
    servers.send(number)
    if number == signal.SIGKILL:
        until(lambda: services[0].metric("runyard_kafka_errors_total") > 0, "the scheduler misses the broker")
    stop_all(services if scheduler_first else reversed(services))
