# SPDX-License-Identifier: MPL-2.0
"""The embedded broker: topics, port, shutdown. Apache Kafka as the local stack sets it up: its account."""

import json
import select
import socket
import struct
import subprocess
import time
from pathlib import Path

import pytest

from support import mac
from support.api import Api
from support.fake_worker import FakeWorker
from support.process import Process, answers, program, which
from support.runyard import KEYS, Scheduler
from support.servers import Broker, Kafka
from support.wait import until

# Debian 13's librdkafka has other functions inside, so that broker.c can't replace them.
replaces = pytest.mark.skipif(b"__wrap_rd_kafka" not in Path(program("runyard-broker")).read_bytes(), reason="the broker is librdkafka's mock cluster as it is")


def kcat(address, *arguments, text=None):
    done = subprocess.run([which("kcat"), "-b", address, "-m", "5", *arguments], input=text, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_topics_have_the_partitions_of_the_table(broker):
    listed = kcat(broker.address, "-L")
    assert 'topic "runyard.results" with 8 partitions' in listed
    assert 'topic "runyard.control" with 1 partitions' in listed


def test_a_pool_topic_is_created_on_first_use(broker):
    kcat(broker.address, "-P", "-t", "runyard.jobs.apool-1", text="one\ntwo\n")
    assert sorted(kcat(broker.address, "-C", "-e", "-q", "-t", "runyard.jobs.apool-1").split()) == ["one", "two"]


def test_port_zero_picks_a_free_port_and_writes_it_to_the_file(folder):
    port_file = folder / "port"
    process = Process("broker-free", [program("runyard-broker"), "--port-file", port_file], folder).launch()
    process.wait_until(port_file.exists, "writes its port file")
    assert answers(int(port_file.read_text()))
    assert process.stop() == 0
    process.check_sanitizers()


def test_the_broker_restarts_on_its_port_without_its_messages(broker):
    kcat(broker.address, "-P", "-t", "runyard.results", "-p", "0", text="before\n")
    broker.restart()
    kcat(broker.address, "-P", "-t", "runyard.results", "-p", "0", text="after\n")
    assert kcat(broker.address, "-C", "-e", "-q", "-t", "runyard.results").split() == ["after"]


def fetch(connection, topic, offset):
    """Kafka's request Fetch, version 4, for partition 0. The answer may wait for 10 ms."""
    body = struct.pack(">iiiib", -1, 10, 1, 1 << 20, 0) + struct.pack(">ih", 1, len(topic)) + topic + struct.pack(">iiqi", 1, 0, offset, 1 << 20)
    request = struct.pack(">hhih", 1, 4, 1, -1) + body
    connection.sendall(struct.pack(">i", len(request)) + request)


def read_answer(connection):
    return connection.recv(struct.unpack(">i", connection.recv(4, socket.MSG_WAITALL))[0], socket.MSG_WAITALL)


def fetch_waits(connection, topic, offset):
    """Returns whether the answer waits. It is read otherwise."""
    fetch(connection, topic, offset)
    waits = not select.select([connection], [], [], 0.5)[0]
    return waits or not read_answer(connection)


@replaces
def test_a_message_ends_the_wait_of_a_fetch(broker):
    """The broker extends the wait of 10 ms to 5 s, a moment after the last message and the last new connection."""
    topic, rounds, began = b"runyard.results", 4, time.monotonic()
    with socket.create_connection(("127.0.0.1", broker.port), timeout=30) as connection:
        for offset in range(rounds):
            until(lambda offset=offset: fetch_waits(connection, topic, offset), "the fetch waits for a message")
            kcat(broker.address, "-P", "-t", topic.decode(), "-p", "0", text=f"message {offset}\n")
            assert b"message" not in read_answer(connection), "the client has to fetch again"
    assert time.monotonic() - began < rounds * 5, "a message does not end the wait"


def test_topics_keep_their_partitions_although_clients_ask_for_them_at_once(broker):
    """Producers with messages connect while the broker starts, and a request for a topic creates it."""
    command = [which("kcat"), "-b", broker.address, "-P", "-t", "runyard.events", "-X", "reconnect.backoff.ms=1", "-X", "reconnect.backoff.max.ms=1"]
    for _ in range(10):
        broker.process.stop()
        producers = [subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) for _ in range(16)]
        try:
            for producer in producers:
                producer.stdin.write(b"waits\n")
                producer.stdin.flush()
            assert all(producer.stderr.readline() for producer in producers), "each has failed to connect"
            broker.start()
            assert 'topic "runyard.events" with 8 partitions' in kcat(broker.address, "-L")
        finally:
            for producer in producers:
                producer.kill()
                producer.communicate()


def kafka_text(value):
    return struct.pack(">h", len(value)) + value.encode()


def join_group(port, group):
    """Joins a group as a new member, by a request of Kafka's protocol. Returns the name that the broker gives to the member."""
    body = kafka_text(group) + struct.pack(">i", 6000) + kafka_text("") + kafka_text("consumer") + struct.pack(">i", 1) + kafka_text("range") + struct.pack(">i", 0)
    request = struct.pack(">hhi", 11, 0, 1) + kafka_text("test") + body
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        connection.sendall(struct.pack(">i", len(request)) + request)
        stream = connection.makefile("rb")
        answer = stream.read(struct.unpack(">i", stream.read(4))[0])
    error, at = struct.unpack_from(">h", answer, 4)[0], 10
    assert error == 0, answer
    for _ in ("protocol", "leader", "member"):
        length = struct.unpack_from(">h", answer, at)[0]
        found, at = answer[at + 2:at + 2 + length].decode(), at + 2 + length
    return found


@replaces
def test_names_of_members_do_not_repeat_after_a_restart(broker):
    """A client comes back with its name; if a new member had it, too, the broker would end."""
    def named():
        return {join_group(broker.port, f"group-{number}") for number in range(20)}

    before = named()
    broker.restart()
    assert len(before) == 20 and not before & named()


def test_a_taken_port_ends_the_start_with_the_reason(broker, folder):
    second = Broker(folder)
    second.process.argv[-1] = str(broker.port)
    second.process.name = "broker-second"
    second.process.log_path = folder / "broker-second.log"
    second.process.launch()
    assert second.process.ended() == 1
    assert f"--port {broker.port} can't be used" in second.process.log()


def test_kafka_of_the_local_stack_accepts_only_its_configured_account(folder, database, tokens):
    password = "a password of 32 characters, say."
    kafka = Kafka(folder, password=password).start()
    scheduler = Scheduler("scheduler", folder, database_url=database, keys=KEYS, **kafka.options)
    try:
        api, fake_worker = Api(scheduler.start().url, tokens["token"]), FakeWorker(scheduler.url, tokens["agent-token"])
        run = api.run_files(api.workspace(), {"main.tf": 'resource "terraform_data" "one" {}\n'})
        (job,) = until(fake_worker.claim, "there is a job to claim")
        own = [option for given in kafka.options["broker_properties"].split(";") for option in ("-X", given)]
        wrong = ["sasl.password=another" if option.startswith("sasl.password") else option for option in own]
        result = json.dumps(mac.signed(mac.result(job, "failed", error="enough"), job["token"]))
        for stranger in ([], wrong):
            refused = subprocess.run([which("kcat"), "-b", kafka.address, "-m", "3", *stranger, "-L"], capture_output=True, text=True)
            assert refused.returncode != 0 and "runyard." not in refused.stdout
        kcat(kafka.address, *own, "-P", "-t", "runyard.results", text=result)
        assert api.wait_status(run, "errored")["error"] == "enough"
        assert scheduler.metric("runyard_kafka_up", client="intake") == 1
        assert password not in scheduler.process.log() + kafka.process.log()
    finally:
        scheduler.release()
        kafka.release()
