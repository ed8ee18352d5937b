# SPDX-License-Identifier: MPL-2.0
"""Topics that an operator deleted."""

import json

import pytest

from support.kcat import delete_topics, kcat
from support.wait import until

pytestmark = pytest.mark.kafka
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


def partitions(bus):
    """{name of a topic of ours: how many partitions it has}"""
    found = json.loads(kcat(bus.address, "-L", "-J"))["topics"]
    return {topic["topic"]: len(topic["partitions"]) for topic in found if topic["topic"].startswith("runyard.")}


def test_runs_continue_and_deleted_topics_are_created_again(bus, api, worker):
    def applied():
        api.wait_status(api.run_files(api.workspace(auto_apply=True), ONE), "applied")

    worker()
    applied()
    before = partitions(bus)
    delete_topics(bus, *before)
    for _ in range(3):
        applied()
    until(lambda: partitions(bus) == before, lambda: partitions(bus))  # within a minute
    applied()
