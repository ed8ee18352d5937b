# SPDX-License-Identifier: MPL-2.0
# label: full
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
        assert heard(client) == b"hello"
        yield client


def heard(client, word=b"hello"):
    client.sendall(word)
    back = b""
    while len(back) < len(word):
        data = client.recv(len(word))
        if not data:
            raise ConnectionResetError
        back += data
    return back


@pytest.mark.parametrize("fault", ["latency", "slow"])
def test_late_but_whole(proxy, client, fault):
    proxy.break_as(fault)
    word = bytes(range(256)) * 16
    assert heard(client, word) == word
    proxy.heal()
    assert heard(client) == b"hello"


def test_half_open(proxy, client):
    proxy.break_as("half-open")
    client.settimeout(0.3)
    with pytest.raises(TimeoutError):
        heard(client)
    with socket.create_connection(("127.0.0.1", proxy.port), timeout=0.3) as late, pytest.raises(TimeoutError):
        heard(late)
    client.settimeout(None)
    proxy.heal()
    with pytest.raises(ConnectionResetError):
        heard(client)


@pytest.mark.parametrize("fault", ["reset", "cut"])
def test_broken_off(proxy, client, fault):
    proxy.break_as(fault)
    with pytest.raises((ConnectionResetError, BrokenPipeError)):
        heard(client)
    with pytest.raises((ConnectionResetError, ConnectionRefusedError, BrokenPipeError)):
        with socket.create_connection(("127.0.0.1", proxy.port)) as late:
            heard(late)
    proxy.heal()
    with socket.create_connection(("127.0.0.1", proxy.port)) as again:
        assert heard(again) == b"hello"


# ---- the record ----


def lines(*told):
    return [Line(*one.split(), None) if len(one.split()) == 3 else Line(*one.split()) for one in told]


GOOD = ("begin a w", "created a w 1", "begin x v", "end a w", "destroyed b w 1", "begin b w", "created b w 2", "end x v", "end b w")


def test_a_good_record():
    good = lines(*GOOD)
    assert not overlaps(good) and not applied_twice(good)
    assert alive(good, "w") == {"2"} and alive(good, "v") == set()


def test_an_apply_that_goes_on_after_the_next_began():
    assert overlaps(lines(*GOOD, "end a w")) == ["a went on in w after b had begun"]


def test_an_apply_that_comes_twice():
    assert applied_twice(lines(*GOOD, "begin b w")) == ["b was applied 2 times"]
