# SPDX-License-Identifier: MPL-2.0
"""The tools of the fault suite: the proxy simulates its faults, and the record detects violations."""

import socket
import socketserver
import threading

import pytest

from support.process import free_port
from support.proxy import Proxy, Wires
from support.record import Line, alive, applied_twice, overlaps


@pytest.fixture
def wires():
    wires = Wires()
    yield wires
    wires.release()


class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        try:
            while data := self.request.recv(65536):
                self.request.sendall(data)
        except OSError:
            pass  # the proxy closed it


@pytest.fixture
def proxy(wires):
    """Leads to an echo server, after a port on which nothing listens."""
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        proxy = Proxy(wires, free_port(), server.server_address[1])
        yield proxy
        proxy.release()
        server.shutdown()


@pytest.fixture
def client(proxy):
    with socket.create_connection(("127.0.0.1", proxy.port)) as client:
        assert echoed(client) == b"hello"
        yield client


def echoed(client, word=b"hello"):
    client.sendall(word)
    back = b""
    while len(back) < len(word):
        data = client.recv(len(word))
        if not data:
            raise ConnectionResetError
        back += data
    return back


@pytest.mark.parametrize("fault", ["latency", "slow"])
def test_latency_and_slow_faults_lose_no_data(proxy, client, fault):
    proxy.break_as(fault)
    word = bytes(range(256)) * 16
    assert echoed(client, word) == word
    proxy.heal()
    assert echoed(client) == b"hello"


def test_a_half_open_fault_answers_nothing(proxy, client):
    proxy.break_as("half-open")
    client.settimeout(0.3)
    with pytest.raises(TimeoutError):
        echoed(client)
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=0.3) as late, pytest.raises(TimeoutError):
        echoed(late)
    client.settimeout(None)
    proxy.heal()
    with pytest.raises(ConnectionResetError):
        echoed(client)


@pytest.mark.parametrize("fault", ["reset", "cut"])
def test_reset_and_cut_faults_break_connections(proxy, client, fault):
    proxy.break_as(fault)
    with pytest.raises((ConnectionResetError, BrokenPipeError)):
        echoed(client)
    with pytest.raises((ConnectionResetError, ConnectionRefusedError, BrokenPipeError)):
        with socket.create_connection(("127.0.0.1", proxy.port)) as late:
            echoed(late)
    proxy.heal()
    with socket.create_connection(("127.0.0.1", proxy.port)) as again:
        assert echoed(again) == b"hello"


# ---- the record ----


def lines(*texts):
    return [Line(*one.split(), None) if len(one.split()) == 3 else Line(*one.split()) for one in texts]


GOOD = ("begin a w", "created a w 1", "begin x v", "end a w", "destroyed b w 1", "begin b w", "created b w 2", "end x v", "end b w")


def test_a_correct_record_has_no_violation():
    good = lines(*GOOD)
    assert not overlaps(good) and not applied_twice(good)
    assert alive(good, "w") == {"2"} and alive(good, "v") == set()


def test_overlapping_applies_are_detected():
    assert overlaps(lines(*GOOD, "end a w")) == ["a went on in w after b had begun"]


def test_a_repeated_apply_is_detected():
    assert applied_twice(lines(*GOOD, "begin b w")) == ["b was applied 2 times"]
