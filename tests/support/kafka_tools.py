# SPDX-License-Identifier: MPL-2.0
"""Apache Kafka's command line tools."""

import subprocess

GROUPS = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"


def tool(kafka, name, *arguments, check=True):
    """The output of the program with that class."""
    command = kafka.java(name, "--bootstrap-server", kafka.address, *map(str, arguments))
    done = subprocess.run(command, capture_output=True, text=True)
    assert not check or done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def partitions(kafka, group):
    """{partition: (committed offset, end, lag)} as kafka-consumer-groups.sh shows them. None: "-"."""
    shown = {}
    for line in tool(kafka, GROUPS, "--describe", "--group", group).splitlines():
        words = line.split()
        if len(words) >= 6 and words[0] == group:
            shown[int(words[2])] = tuple(None if word == "-" else int(word) for word in words[3:6])
    return shown


def lag(kafka, group):
    """The sum of the column LAG. None without a group, and while nothing was committed for a partition."""
    lags = [lag for _, _, lag in partitions(kafka, group).values()]
    return sum(lags) if lags and None not in lags else None
