# SPDX-License-Identifier: MPL-2.0
"""Commands that measure lags while the broker fails: librdkafka can end a process that measures, and the command goes on."""

import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from support.process import clean_environment, program
from support.runyard import KEYS, arguments
from support.servers import children
from support.wait import until

REPETITIONS = 12
COMMANDS = [("status",), ("topics",), ("topics", "--create")]


@pytest.fixture
def launch(database, broker, scheduler):
    """launch(argument...) starts a command. A scheduler has made the topics."""
    first = scheduler()
    until(lambda: first.metric("runyard_kafka_topic_lag", topic="runyard.results") == 0, "the topics exist", timeout=60)

    def launch(*command):
        argv, environment = arguments({"database_url": database, "keys": KEYS, **broker.options})
        return subprocess.Popen([program("runyard-scheduler"), *argv, *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                env=clean_environment(**environment))

    return launch


def end(process):
    """What it printed. It must have exited with status 0."""
    out, errors = process.communicate(timeout=60)
    assert process.returncode == 0, (process.returncode, out, errors)
    return out


def measuring(process):
    """The process that measures for the command, or None."""
    return next((pid for pid in children(process.pid) if b"\0--measure\0" in Path(f"/proc/{pid}/cmdline").read_bytes()), None)


@pytest.mark.parametrize("number, reason", [(signal.SIGABRT, "it was ended by signal 6 (Aborted)"), (signal.SIGKILL, "it was ended by signal 9 (Killed)")])
def test_a_command_says_why_nothing_was_measured(launch, broker, number, reason):
    """SIGABRT is how an assertion of librdkafka ends a process."""
    why = f"not measured: the process that asks the brokers failed: {reason}"
    broker.process.send(signal.SIGSTOP)
    for command in COMMANDS:
        process = launch(*command)
        os.kill(until(lambda: measuring(process), "it measures"), number)
        out = end(process)
        if "--create" in command:
            assert "--topic runyard.results" in out
        else:
            assert out.count(why) == len([line for line in out.splitlines() if "runyard." in line]) > 3
    broker.process.send(signal.SIGCONT)
    process = launch("status")
    assert "OUTBOX" in (out := end(process)) and "not measured" not in out and "No run waits" in out


def test_a_command_ends_while_the_broker_does_not_answer(launch, broker):
    broker.process.send(signal.SIGSTOP)
    began = time.monotonic()
    shown = json.loads(end(launch("status", "--json")))
    broker.process.send(signal.SIGCONT)
    assert time.monotonic() - began < 40
    assert {topic["lag"] for topic in shown["topics"]} == {None} and all(topic["failure"] for topic in shown["topics"])
    assert shown["outbox"] == 0 and shown["oldest-waiting"] is None


def test_commands_while_the_broker_is_killed_and_restarted(launch, broker):
    """At any moment of the measurement."""
    draw = random.Random(7)
    for n in range(REPETITIONS):
        process = launch(*COMMANDS[n % 2], "--json")
        time.sleep(draw.uniform(0, 0.3))  # the moment of the fault is random: no condition names it
        broker.restart()
        rows = [json.loads(line) for line in end(process).splitlines()]
        topics = rows[0]["topics"] if n % 2 == 0 else rows
        assert len(topics) > 3
        for topic in topics:
            assert topic["failure"] or topic["lag"] is not None or "group" in topic and topic["group"] is None, topic
