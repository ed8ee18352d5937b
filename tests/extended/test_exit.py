# SPDX-License-Identifier: MPL-2.0
"""A process that gets SIGTERM exits in bounded time, whatever its servers and libraries do."""

import json
import signal

import pytest

from support.kcat import delete_topics, kcat
from support.wait import until

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
SECONDS = 25  # a scheduler whose database does not answer takes 13, and the machine may be slow


def stop_all(services):
    """Each ends with 0."""
    for service in services:
        assert service.process.stop(timeout=SECONDS) == 0


def topics_of(kafka):
    return {topic["topic"] for topic in json.loads(kcat(kafka.address, "-L", "-J"))["topics"] if topic["topic"].startswith("runyard.")}


@pytest.mark.kafka
@pytest.mark.parametrize("when", ["at once", "after the errors"])
def test_processes_exit_after_topics_were_deleted(scheduler, worker, notifier, kafka, api, when):
    """The scheduler creates the topics again within a minute. A client may not have noticed that they were deleted."""
    services = [worker(), notifier(), *scheduler.all]
    api.wait_status(api.run_files(api.workspace(auto_apply=True), ONE), "applied")
    before = topics_of(kafka)
    delete_topics(kafka, *before)
    if when == "after the errors":
        for service in services:
            until(lambda: "desired partition is no longer available" in service.process.log() or topics_of(kafka) >= before, f"{service.name} has the error")
    stop_all(services)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
@pytest.mark.parametrize("scheduler_first", [True, False])
def test_processes_exit_after_their_servers(services, servers, number, scheduler_first):
    """Killed servers refuse connections; stopped ones accept them and do not answer."""
    servers.send(number)
    if number == signal.SIGKILL:
        until(lambda: services[0].metric("runyard_kafka_errors_total") > 0, "the scheduler has lost the broker")
    stop_all(services if scheduler_first else reversed(services))
