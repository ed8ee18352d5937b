# SPDX-License-Identifier: MPL-2.0
"""Event streams while the broker is away, and with Apache Kafka."""

import pytest

from support.event_stream import EventStream
from support.fake_worker import FakeWorker


@pytest.fixture
def streams(scheduler, api):
    """Streams of a workspace at two schedulers, and its client."""
    scheduler()
    opened = []

    def open_streams(topics, **more):
        opened.extend(EventStream(one.url, topics, api.token, **more).online() for one in scheduler.all)
        return opened[-2:]

    yield open_streams
    for stream in opened:
        stream.close()


def statuses(stream, run):
    return [event.data["status"] for event in stream.of("run") if event.data["id"] == run and "status" in event.data]


def plan(api, tokens, run):
    worker = FakeWorker(api.url, tokens["agent-token"], slots=10)
    worker.plan(run)
    worker.leave()


@pytest.mark.kafka
def test_with_apache_kafka_a_stream_resumes_at_another_scheduler(scheduler, api, tokens, streams):
    workspace = api.workspace()
    first, other = streams(f"workspace:{workspace}")
    run = api.run_files(workspace, {"main.tf": ""})
    first.wait("run", lambda data: data.get("status") == "plan_queued")
    cursor = first.last_id
    plan(api, tokens, run)
    other.wait("run", lambda data: data.get("status") == "planned")
    resumed = EventStream(scheduler.all[1].url, f"workspace:{workspace}", api.token, since=cursor).online()
    assert statuses(resumed, run) == ["planning", "planned"] and not resumed.of("reset")
    resumed.close()
    # A new scheduler has the recent events of the topic.
    third = scheduler()
    again = EventStream(third.url, f"workspace:{workspace}", api.token, since=cursor).online()
    assert statuses(again, run) == ["planning", "planned"] and not again.of("reset")
    again.close()


def test_streams_tell_that_the_broker_is_away_and_send_what_happened_meanwhile(bus, api, tokens, streams):
    """The embedded broker loses its messages, so streams get a reset. What committed while it was away arrives later."""
    workspace = api.workspace()
    both = streams(f"workspace:{workspace}")
    first = api.run_files(workspace, {"main.tf": ""})
    for stream in both:
        stream.wait("run", lambda data: data.get("status") == "plan_queued")
    bus.process.stop()
    for stream in both:
        stream.wait("offline")
    later = EventStream(api.url, f"workspace:{workspace}", api.token, since=both[0].last_id)
    later.wait("offline")
    plan(api, tokens, first)
    bus.start()
    for stream in (*both, later):
        stream.wait("reset")
        stream.wait("online", count=1 if stream is later else 2)
    second = api.run_files(api.workspace(), {"main.tf": ""})
    api.act(first, "discard")
    for stream in both:
        stream.wait("run", lambda data: data.get("status") == "discarded")
    assert second
    later.close()
