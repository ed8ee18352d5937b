# SPDX-License-Identifier: MPL-2.0
"""Reads and writes messages of topics."""

import json
import socket
import struct
import subprocess

from support.process import which


def kcat(address, *arguments, text=None):
    done = subprocess.run([which("kcat"), "-b", address, "-m", "10", *map(str, arguments)], input=text, capture_output=True, text=True, errors="surrogateescape")
    assert done.returncode == 0, done.stderr
    return done.stdout


def produce(bus, topic, *messages):
    """Each message is a text or bytes without line ends, or a value to be encoded as JSON."""
    lines = [message if isinstance(message, (str, bytes)) else json.dumps(message) for message in messages]
    lines = [line.decode(errors="surrogateescape") if isinstance(line, bytes) else line for line in lines]
    kcat(bus.address, "-P", "-t", topic, "-D", "\n", text="\n".join(lines) + "\n")


def consume(bus, topic):
    """All messages of the topic."""
    return kcat(bus.address, "-C", "-e", "-q", "-o", "beginning", "-t", topic).splitlines()


def every_message(address):
    """The keys, headers and values of all messages of all topics, as one text."""
    topics = [topic["topic"] for topic in json.loads(kcat(address, "-L", "-J"))["topics"]]
    return "".join(kcat(address, "-C", "-e", "-q", "-o", "beginning", "-f", "%k %h %s\n", "-t", topic) for topic in topics)


def text_field(text):
    return struct.pack(">h", len(text)) + text.encode()


def delete_topics(bus, *topics):
    """Kafka's request DeleteTopics, version 1."""
    body = struct.pack(">i", len(topics)) + b"".join(map(text_field, topics)) + struct.pack(">i", 10_000)
    request = struct.pack(">hhi", 20, 1, 1) + text_field("tests") + body
    with socket.create_connection(("127.0.0.1", bus.port), timeout=30) as connection, connection.makefile("rb") as answer:
        connection.sendall(struct.pack(">i", len(request)) + request)
        response = answer.read(struct.unpack(">i", answer.read(4))[0])[12:]  # after the correlation, the throttle time and the count
    for topic in topics:
        size = struct.unpack(">h", response[:2])[0]
        code, response = struct.unpack(">h", response[2 + size:4 + size])[0], response[4 + size:]
        assert code in (0, 3), f"{topic} is not deleted: error {code}"  # 3: there is none
