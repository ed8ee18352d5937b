# SPDX-License-Identifier: MPL-2.0
"""Log lines while servers are unavailable: each names its event, none is an error, and repetitions are counted."""

import re
import signal
from collections import defaultdict
from datetime import datetime

from support.wait import until


def causes(lines):
    """When each warning or error of a kind was written, in seconds."""
    found = defaultdict(list)
    for line in lines:
        if line["level"] in ("warn", "error"):
            cause = next((line[name] for name in ("why", "error", "reason") if name in line), None)
            found[line["msg"], cause].append(datetime.fromisoformat(line["ts"].replace("Z", "+00:00")).timestamp())
    return found


def test_log_lines_while_servers_are_unavailable(services, servers):
    scheduler, worker, notifier = services
    servers.send(signal.SIGKILL)

    def repeated():
        """The scheduler gets the same causes several times."""
        return sum(len(times) > 3 for times in causes(scheduler.log_lines()).values()) > 2

    until(repeated, "the scheduler logs it several times")
    until(lambda: worker.metric("runyard_worker_heartbeats_total", outcome="failed") > 1, "the worker's heartbeats fail")
    until(lambda: any(line["level"] == "warn" for line in notifier.log_lines()), "the notifier logs it")
    for service, name in ((scheduler, None), (worker, "east-7"), (notifier, "west-2")):
        lines = service.log_lines()
        assert len(lines) == len(service.process.log().splitlines()), "each line is JSON"
        assert name is None or {line["name"] for line in lines} == {name}
        assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", line["event"]) for line in lines)
        assert [line for line in lines if line["level"] == "error"] == []
        for cause, times in causes(lines).items():
            pauses = [later - earlier for earlier, later in zip(times, times[1:])]
            assert all(pause > 0.95 for pause in pauses), f"{cause}: {pauses}"
    assert any(int(line.get("count", 1)) > 1 for line in scheduler.log_lines()), "omitted lines are counted"
