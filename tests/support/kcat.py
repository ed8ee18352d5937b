# SPDX-License-Identifier: MPL-2.0
"""Messages by hand."""

import json
import subprocess

from support.process import which


def kcat(address, *arguments, text=None):
    done = subprocess.run([which("kcat"), "-b", address, "-m", "10", *map(str, arguments)], input=text, capture_output=True, text=True, errors="surrogateescape")
    assert done.returncode == 0, done.stderr
    return done.stdout


def produce(bus, topic, *messages):
    """Each a text or bytes without line ends, or something that becomes JSON."""
    lines = [message if isinstance(message, (str, bytes)) else json.dumps(message) for message in messages]
    lines = [line.decode(errors="surrogateescape") if isinstance(line, bytes) else line for line in lines]
    kcat(bus.address, "-P", "-t", topic, "-D", "\n", text="\n".join(lines) + "\n")


def consume(bus, topic):
    """All messages of the topic."""
    return kcat(bus.address, "-C", "-e", "-q", "-o", "beginning", "-t", topic).splitlines()
