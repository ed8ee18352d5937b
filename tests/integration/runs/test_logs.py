# SPDX-License-Identifier: MPL-2.0
"""Whole logs: GET plans/:id/log and applies/:id/log, sent in pieces to clients of any speed."""

import contextlib
import hashlib
import http.client
import json
import socket
import threading
from urllib.parse import urlsplit

import pytest

from support.wait import until

PART = 1 << 20
LINE = b"terraform_data.many[%07d]: Creation complete after 0s\n"
TO_READ = 8 << 20


class Log:
    """A plan's log of `size` bytes, which its worker has written."""

    def __init__(self, org, worker, size, tail=b""):
        self.org = org
        run = org.run_files(org.workspace(), {"main.tf": ""})
        job = worker.take(run, "plan")
        content = b"".join(LINE % number for number in range(size // len(LINE % 0))) + tail
        for at in range(0, len(content), PART):
            worker.on(job, "PUT", f"log?offset={at}", content[at:at + PART])
        worker.end(job, "passed")
        self.content, self.plan, self.operation = content, org.sibling(run, "plan"), f"plan{run[3:]}"

    def open(self, receive=None, **headers):
        """An answer whose head was read. receive: bytes of the client's buffer."""
        server = urlsplit(self.org.url)
        connection = http.client.HTTPConnection(server.hostname, server.port, timeout=60)
        connection.sock = socket.socket()
        if receive:
            connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        connection.sock.connect((server.hostname, server.port))
        connection.request("GET", f"/api/v2/plans/{self.plan}/log", headers={"Authorization": f"Bearer {self.org.token}", **headers})
        return connection, connection.getresponse()


@pytest.fixture(scope="module")
def shared(api_site):
    """An organization of the file, with a worker that finds each of its jobs."""
    org = api_site.organization()
    return org, api_site.fake_worker()


@pytest.fixture(scope="module")
def log(shared):
    return Log(*shared, TO_READ)


def test_a_long_log_is_sent_whole_with_its_length(log, contract):
    answer = log.org.call("GET", f"plans/{log.plan}/log")
    assert answer.headers["Content-Length"] == str(len(log.content)) and answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert hashlib.sha256(answer.body).digest() == hashlib.sha256(log.content).digest()
    part = log.org.call("GET", f"plans/{log.plan}/log", headers={"Range": "bytes=1000000-2999999"})
    assert (part.status, part.headers["Content-Length"], part.body) == (206, "2000000", log.content[1000000:3000000])
    head = log.org.call("HEAD", f"plans/{log.plan}/log")
    assert (head.status, head.headers["Content-Length"], head.body) == (200, str(len(log.content)), b"")


def test_a_long_log_as_json_has_an_object_for_each_line(shared, contract):
    line = b'{"@level":"info","@message":"ready"}'
    log = Log(*shared, 1 << 20, tail=line + b"\n\xff\n" + b"x" * (3 << 20) + b"\n\x01 last")
    answer = log.org.get(f"plans/{log.plan}/log", format="json")
    lines = [json.loads(one) for one in answer.body.splitlines()]
    first = log.content.index(line)
    assert [one["@message"] for one in lines[:len(log.content[:first].splitlines())]] == log.content[:first].decode().splitlines()
    rest = lines[len(log.content[:first].splitlines()):]
    assert rest[0] == {"@level": "info", "@message": "ready"} and rest[1] == {"@message": "\ufffd"} and rest[-1] == {"@message": "\x01 last"}
    assert "".join(one["@message"] for one in rest[2:-1]) == "x" * (3 << 20) and len(rest) <= 6


def test_slow_clients_get_the_whole_log_and_hold_up_nobody(log):
    slow = [log.open(receive=4096) for _ in range(7)]
    quick = log.org.call("GET", f"plans/{log.plan}/log")
    assert quick.body == log.content
    for connection, answer in slow:
        with contextlib.closing(connection), contextlib.closing(answer):
            assert answer.read(100000) == log.content[:100000]
    connection, answer = log.open(receive=4096)
    with contextlib.closing(connection), contextlib.closing(answer):
        assert answer.read() == log.content


def test_a_user_has_a_limited_number_of_logs_at_a_time(log):
    opened = [log.open(receive=4096) for _ in range(8)]
    assert [answer.status for _, answer in opened] == [200] * 8
    refused = log.org.call("GET", f"plans/{log.plan}/log")
    assert refused.status == 503 and refused.headers["Retry-After"] and "too many logs or archives are being sent" in refused.errors()
    assert log.org.call("GET", f"plans/{log.plan}/log", headers={"Range": "bytes=0-99"}).body == log.content[:100]
    for connection, answer in opened:
        answer.close()
        connection.close()
    until(lambda: log.org.call("GET", f"plans/{log.plan}/log").status == 200, "the closed connections are noticed")


def test_a_log_that_is_deleted_while_it_is_sent_breaks_off(api_site, shared):
    log = Log(*shared, 8 << 20)
    connection, answer = log.open(receive=4096)
    with contextlib.closing(connection), contextlib.closing(answer):
        assert answer.read(1000) == log.content[:1000]
        api_site.change("delete from log_chunks where operation_id = %s", log.operation)
        with pytest.raises((http.client.IncompleteRead, ConnectionError)):
            answer.read()
    until(lambda: "a log or an archive is broken off" in api_site.scheduler.process.log(), "the log says so")


def test_a_stopping_scheduler_breaks_off_what_it_sends(api_site, log):
    second = api_site.new_scheduler("scheduler-2")
    second.start()
    try:
        other = Log.__new__(Log)
        other.__dict__ = {**log.__dict__, "org": type(log.org)(second.url, log.org.token, log.org.organization)}
        connection, answer = other.open(receive=4096)
        with contextlib.closing(connection), contextlib.closing(answer):
            stopping = threading.Thread(target=second.stop)
            stopping.start()
            with pytest.raises((http.client.IncompleteRead, ConnectionError)):
                answer.read()
            stopping.join()
    finally:
        second.release()
