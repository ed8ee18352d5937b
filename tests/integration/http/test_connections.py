# SPDX-License-Identifier: MPL-2.0
"""No client can exhaust the server: connections, time and memory of bodies are limited for each."""

import array
import contextlib
import fcntl
import http.client
import json
import resource
import select
import socket
import termios
import time

import pytest

from support.api import Api
from support.wait import until

FLOOD = 10050  # the server takes 10,000 connections
INCOMPLETE = b"GET /api/v2/ping HTTP/1.1\r\nHost: localhost\r\nX-Half: "
PING = b"GET /api/v2/ping HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.fixture
def opened():
    """opened(server, first bytes, source address): a connection, closed at the end of the test."""
    with contextlib.ExitStack() as stack:
        def open_one(server, sent, address="127.0.0.1"):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30, source_address=(address, 0)))
            connection.sendall(sent)
            return connection

        yield open_one


def post(path, length, token="wrong", **headers):
    """The header of a request with a body."""
    lines = [f"POST {path} HTTP/1.1", "Host: localhost", f"Authorization: Bearer {token}", "Content-Type: application/vnd.api+json",
             f"Content-Length: {length}" if length else "Transfer-Encoding: chunked", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def is_closed(connection):
    """Whether the server has closed the connection. Reads its answer first."""
    if not select.select([connection], [], [], 0)[0]:
        return False
    try:
        return connection.recv(65536) == b""
    except ConnectionError:
        return True


def is_read(server, *connections):
    """Whether the server has read all data sent on them: the kernel's buffers are empty."""
    unsent = array.array("i", [0])
    for one in connections:
        fcntl.ioctl(one, termios.TIOCOUTQ, unsent)
        if unsent[0]:
            return False
    with open("/proc/net/tcp", encoding="ascii") as file:
        sockets = [line.split()[1:5] for line in file if f":{server.port:04X} " in line]
    ports = {f"{one.getsockname()[1]:04X}" for one in connections}
    unread = {remote.split(":")[1] for local, remote, _, queues in sockets
              if local.endswith(f":{server.port:04X}") and not queues.endswith(":00000000")}
    return not unread & ports


def status_of(connection):
    """The status of the answer, whose body is read, too."""
    answer = http.client.HTTPResponse(connection)
    answer.begin()
    answer.read()
    return answer.status


def ping(server, address):
    """The seconds until a client of that address is answered."""
    began = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60, source_address=(address, 0))
    with contextlib.closing(connection):
        connection.request("GET", "/api/v2/ping")
        assert connection.getresponse().status == 204
    return time.monotonic() - began


def peak_memory(server):
    """The server's peak memory in bytes."""
    with open(f"/proc/{server.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) << 10 for line in file if line.startswith("VmHWM"))


# ---- connections ----


def test_incomplete_requests_from_one_address_do_not_block_other_clients(scheduler, opened):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard < FLOOD + 1000:
        pytest.skip(f"this process may open {hard} files only")
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    try:
        server = scheduler()
        kept = opened(server, PING, "127.0.0.2")
        assert status_of(kept) == 204
        for _ in range(FLOOD):
            with contextlib.suppress(ConnectionError):
                opened(server, INCOMPLETE)
        assert ping(server, "127.0.0.3") < 1
        kept.sendall(PING)
        assert status_of(kept) == 204
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_connections_per_address_are_limited(scheduler, opened):
    server = scheduler(connections_per_address=20)
    held = [opened(server, INCOMPLETE, "127.0.0.5") for _ in range(20)]
    until(lambda: is_read(server, *held), "each connection is accepted: the server's threads accept them in no order")
    with pytest.raises(OSError):
        ping(server, "127.0.0.5")
    assert server.metric("runyard_http_connections_refused_total", reason="address") == 1
    (line,) = [line for line in server.log_lines() if line["msg"] == "a connection is refused"]
    assert line["address"] == "127.0.0.5" and "--connections-per-address" in line["why"]
    assert ping(server, "127.0.0.6") < 60
    held.pop().close()

    def served():
        with contextlib.suppress(OSError):
            return ping(server, "127.0.0.5") < 60
        return False

    until(served, "another connection is accepted")


def test_clients_behind_a_trusted_proxy_are_limited_by_their_own_address(scheduler, opened):
    """The proxy's connections are not limited. The address that the proxy appends identifies a client; addresses that
    the client sends do not."""
    server = scheduler(connections_per_address=3, trusted_proxies="127.0.0.1")

    def begin(client):
        return opened(server, post("/api/v2/organizations", 10, **{"X-Forwarded-For": client}))

    held = [begin("203.0.113.7") for _ in range(3)]
    idle = [opened(server, PING) for _ in range(20)]
    assert {status_of(one) for one in idle} == {204}

    def refused(client):
        one = begin(client)
        one.sendall(b"0123456789")
        return status_of(one) == 503

    until(lambda: refused("203.0.113.7"), "the fourth request is refused")
    assert refused("198.51.100.1, 203.0.113.7")
    assert not refused("203.0.113.8") and not refused("203.0.113.7, 203.0.113.9")
    for one in held:
        one.sendall(b"0123456789")
        assert status_of(one) == 401
    assert not refused("203.0.113.7")


# ---- time ----


def test_headers_and_bodies_have_a_deadline_and_waiting_requests_have_none(scheduler, opened, tokens):
    server = scheduler(request_seconds=1)
    worker = Api(server.url, tokens["agent-token"])
    registered = worker.ask("POST", f"{server.url}/api/worker/v1/register", {"name": "w", "slots": 1, "version": "1"}).json
    body = json.dumps({"worker": registered["worker"], "slots": 1, "seconds": 30}).encode()
    waiting = opened(server, post("/api/worker/v1/wait", len(body), tokens["agent-token"]) + body)
    idle = opened(server, PING)
    assert status_of(idle) == 204
    silent, incomplete, second_request = opened(server, b""), opened(server, INCOMPLETE), opened(server, PING)
    assert status_of(second_request) == 204
    second_request.sendall(INCOMPLETE)
    upload = opened(server, post("/api/v2/organizations", 60000) + b"x")
    refused = opened(server, post("/api/v2/organizations", 600000) + b"x")
    late = {"silent": silent, "incomplete": incomplete, "a second header": second_request, "a body": upload, "a refused body": refused}

    def ended():
        """Silence alone closes no connection: each byte that can be sent is sent."""
        for one in late.values():
            with contextlib.suppress(OSError):
                one.send(b"x") if one is not silent else None
        return [name for name, one in late.items() if not is_closed(one)] == []

    until(ended, lambda: f"all of {late} are closed")
    idle.sendall(PING)
    assert status_of(idle) == 204
    assert not is_closed(waiting)


def test_a_slow_body_above_the_minimum_rate_is_read(scheduler, opened, tokens):
    server = scheduler(request_seconds=1)
    slow = opened(server, post("/api/v2/organizations", 100000, tokens["token"]))
    dead = opened(server, post("/api/v2/organizations", 100000, tokens["token"]) + b" ")
    sent = 0
    while not is_closed(dead):
        time.sleep(0.05)
        slow.sendall(b" " * 1000)
        sent += 1000
    assert sent < 100000
    slow.sendall(b" " * (100000 - sent))
    assert status_of(slow) == 400


# ---- memory ----

LARGE = 900 << 10


@pytest.mark.parametrize("length", [LARGE, None], ids=["announced", "chunked"])
def test_bodies_with_an_invalid_token_take_little_memory(scheduler, opened, length):
    """Of a body with an invalid token, at most 64 KiB are kept, however large the route's limit is."""
    server = scheduler()
    ping(server, "127.0.0.1")
    before = peak_memory(server)
    part = bytes(60 << 10)
    held = []
    for number in range(200):
        held.append(opened(server, post("/api/v2/organizations", length), f"127.0.1.{number + 1}"))
        for _ in range(14):
            held[-1].sendall(part if length else b"%x\r\n" % len(part) + part + b"\r\n")
    until(lambda: is_read(server, *held), "all bodies are read")
    assert peak_memory(server) - before < 200 * LARGE // 2
    if length:
        held[0].sendall(bytes(LARGE - 14 * len(part)))
    else:
        held[0].sendall(b"0\r\n\r\n")
    assert status_of(held[0]) == 401


def test_routes_with_small_body_limits_refuse_large_bodies(scheduler, opened):
    """A route without a token, and a worker's own, accept no large body, announced or not."""
    server = scheduler()
    for path in ("/app/login", "/api/worker/v1/heartbeat"):
        announced, chunked = opened(server, post(path, 70000)), opened(server, post(path, None))
        announced.sendall(bytes(70000))
        chunked.sendall(b"%x\r\n" % 70000 + bytes(70000) + b"\r\n0\r\n\r\n")
        assert status_of(announced) == status_of(chunked) == 413, path


def test_each_kind_of_body_has_its_own_memory_budget(scheduler, opened, tokens, request):
    server = scheduler(body_memory=2, trusted_proxies="127.0.0.1")
    api = request.getfixturevalue("api")
    workspace = api.workspace("w")

    def upload_path():
        created = api.post(f"workspaces/{workspace}/configuration-versions", {"data": {"type": "configuration-versions", "attributes": {}}}).data
        return created["attributes"]["upload-url"].removeprefix(server.url)

    def begin(path, client, method=b"PUT", token="none"):
        """Sends 900 KiB of a body of 1 MiB."""
        header = post(path, 1 << 20, token, **{"X-Forwarded-For": client}).replace(b"POST", method, 1)
        one = opened(server, header + b" " * LARGE)
        until(lambda: is_read(server, one), "the body is read")
        return one

    def end(one):
        one.sendall(b" " * ((1 << 20) - LARGE))
        return status_of(one)

    def exchange(*arguments, **more):
        return end(begin(*arguments, **more))

    links = [begin(upload_path(), f"203.0.113.{n}") for n in range(2)]
    assert exchange(upload_path(), "203.0.113.9") == 503
    path = f"/api/v2/workspaces/{workspace}/state-versions"
    assert exchange(path, "203.0.113.9", b"POST", tokens["token"]) == 400  # not JSON, but read
    clients = [begin(path, f"203.0.113.{n}", b"POST", tokens["token"]) for n in range(2)]
    assert exchange(path, "203.0.113.9", b"POST", tokens["token"]) == 503
    assert api.call("GET", "account/details").status == 200
    assert api.call("POST", "organizations", b"{}").status == 400
    assert {end(one) for one in clients} == {400}
    assert exchange(path, "203.0.113.9", b"POST", tokens["token"]) == 400
    assert 503 not in {end(one) for one in links}
    assert exchange(upload_path(), "203.0.113.9") != 503


def test_one_address_gets_at_most_half_of_a_memory_budget(scheduler, opened, tokens, request):
    scheduler(body_memory=4, trusted_proxies="127.0.0.1")
    api = request.getfixturevalue("api")
    path = f"/api/v2/workspaces/{api.workspace('w')}/state-versions"
    server = scheduler.all[0]

    def begin(client):
        one = opened(server, post(path, 1 << 20, tokens["token"], **{"X-Forwarded-For": client}) + b" " * LARGE)
        until(lambda: is_read(server, one), "the body is read")
        return one

    def exchange(client):
        one = begin(client)
        one.sendall(b" " * ((1 << 20) - LARGE))
        return status_of(one)

    held = [begin("203.0.113.7") for _ in range(2)]
    assert exchange("203.0.113.7") == 503
    assert exchange("203.0.113.8") == 400
    assert held


def test_malformed_requests_do_not_stop_the_scheduler(api):
    for sent in (b"\x00\x01\x02\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"POST /api/v2/runs HTTP/1.1\r\nContent-Length: -5\r\n\r\n",
                 b"GET " + b"a" * 100000, b"GET /api/v2/ping HTTP/1.1\r\n" + b"X: y\r\n" * 20000):
        with socket.create_connection(("127.0.0.1", int(api.url.rsplit(":", 1)[1]))) as connection:
            try:
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
                connection.recv(4096)
            except OSError:
                pass
    assert api.call("GET", "ping").status == 204
