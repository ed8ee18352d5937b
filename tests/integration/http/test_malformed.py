# SPDX-License-Identifier: MPL-2.0
"""Malformed requests: they are answered 400, the connection is closed, and a smuggled request is never executed."""

import contextlib
import socket
import ssl
import uuid

import pytest

from support.authority import Authority
from support.wait import PATIENCE


@pytest.fixture(scope="module", params=["plain", "tls"])
def raw_server(request, api_site, tmp_path_factory):
    """The scheduler's port, a function to connect to it, and a client."""
    if request.param == "plain":
        yield RawServer(api_site, api_site.scheduler, None)
        return
    authority = Authority(tmp_path_factory.mktemp("authority"))
    server = type(api_site.scheduler)("scheduler-tls", api_site.folder, **{**api_site.scheduler.options, **authority.serving()})
    server.start()
    try:
        yield RawServer(api_site, server, authority.context())
    finally:
        server.release()


class RawServer:
    def __init__(self, api_site, scheduler, context):
        self.api_site, self.scheduler, self.context = api_site, scheduler, context

    def workspaces(self, name):
        return self.api_site.ask("select 1 from workspaces where name = %s", name)

    def connect(self):
        plain = socket.create_connection(("127.0.0.1", self.scheduler.port), timeout=PATIENCE)
        return self.context.wrap_socket(plain, server_hostname="localhost") if self.context else plain

    def exchange(self, sent):
        """All answers until the server closes the connection."""
        received = b""
        with self.connect() as connection, contextlib.suppress(ConnectionError, ssl.SSLError):
            connection.sendall(sent)
            while part := connection.recv(65536):
                received += part
        return received


def head(*lines, line="GET /api/v2/ping HTTP/1.1", end=b"\r\n"):
    return end.join(part if isinstance(part, bytes) else part.encode() for part in (line, *lines, "", ""))


HOST = "Host: localhost"

MALFORMED = {
    "two lengths": head(HOST, "Content-Length: 0", "Content-Length: 5", line="POST /api/v2/ping HTTP/1.1"),
    "two equal lengths": head(HOST, "Content-Length: 0", "content-length: 0"),
    "a list of lengths": head(HOST, "Content-Length: 0, 0"),
    "a length with a sign": head(HOST, "Content-Length: +0"),
    "a negative length": head(HOST, "Content-Length: -1"),
    "a hexadecimal length": head(HOST, "Content-Length: 0x0"),
    "an empty length": head(HOST, "Content-Length:"),
    "a length of too many digits": head(HOST, "Content-Length: " + "0" * 10 + "9" * 30),
    "length and chunked": head(HOST, "Content-Length: 5", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
    "chunked and length": head(HOST, "Transfer-Encoding: chunked", "Content-Length: 5") + b"0\r\n\r\n",
    "two encodings": head(HOST, "Transfer-Encoding: chunked", "Transfer-Encoding: chunked") + b"0\r\n\r\n",
    "an encoding before chunked": head(HOST, "Transfer-Encoding: gzip, chunked") + b"0\r\n\r\n",
    "an unknown encoding": head(HOST, "Transfer-Encoding: identity"),
    "an encoding with a tab": head(HOST, "Transfer-Encoding: \tchunked\t") + b"0\r\n\r\n",
    "an encoding in HTTP/1.0": head("Transfer-Encoding: chunked", line="GET /api/v2/ping HTTP/1.0") + b"0\r\n\r\n",
    "a space before the colon": head(HOST, "Transfer-Encoding : chunked") + b"0\r\n\r\n",
    "a tab before the colon": head(HOST, "Transfer-Encoding\t: chunked") + b"0\r\n\r\n",
    "a space before the colon of the length": head(HOST, "Content-Length : 5") + b"hello",
    "a folded field": head(HOST, "X-One: a", " b"),
    "a field folded by a tab": head(HOST, "X-One: a", "\tb"),
    "a folded first line": head(" folded", HOST),
    "a folded length": head(HOST, "Content-Length:", " 5") + b"hello",
    "bare line feeds": head(HOST, end=b"\n"),
    "a bare line feed between fields": head(b"X-One: a\nX-Two: b", HOST),
    "a bare line feed after the request line": head(line=b"GET /api/v2/ping HTTP/1.1\n" + HOST.encode()),
    "a bare line feed that ends the header": b"GET /api/v2/ping HTTP/1.1\r\nHost: localhost\r\n\n",
    "a bare carriage return": head(HOST, b"X-One: a\rX-Two: b"),
    "an extra carriage return": head(HOST, b"X-One: a\r"),
    "a NUL in a value": head(HOST, b"X-One: a\0b"),
    "a NUL in a name": head(HOST, b"X-O\0ne: a"),
    "a NUL that begins a line": head(HOST, b"\0X-One: a"),
    "a NUL in the path": head(HOST, line=b"GET /api/v2/ping\0/x HTTP/1.1"),
    "a NUL in the method": head(HOST, line=b"GE\0T /api/v2/ping HTTP/1.1"),
    "a control character in a value": head(HOST, b"X-One: a\x01b"),
    "a DEL in a value": head(HOST, b"X-One: a\x7fb"),
    "a control character in a name": head(HOST, b"X\x02: a"),
    "a control character in the path": head(HOST, line=b"GET /api/v2/pi\x1fng HTTP/1.1"),
    "a tab in the path": head(HOST, line=b"GET /api/v2/pi\tng HTTP/1.1"),
    "a byte beyond ASCII in the path": head(HOST, line=b"GET /api/v2/p\xc3\xafng HTTP/1.1"),
    "a field without a name": head(HOST, ": a"),
    "a field without a colon": head(HOST, "X-One"),
    "a name with a slash": head(HOST, "X/One: a"),
    "no host": head(),
    "two hosts": head(HOST, HOST),
    "two hosts that differ": head(HOST, "host: evil.test"),
    "a host with a space": head("Host: local host"),
    "a host with a path": head("Host: localhost/x"),
    "a host with a name": head("Host: user@localhost"),
    "two authorizations": head(HOST, "Authorization: Bearer a", "Authorization: Bearer b"),
    "absolute form": head(HOST, line="GET http://localhost/api/v2/ping HTTP/1.1"),
    "absolute form of another host": head(HOST, line="GET http://evil.test/api/v2/ping HTTP/1.1"),
    "authority form": head(HOST, line="CONNECT localhost:443 HTTP/1.1"),
    "asterisk form": head(HOST, line="OPTIONS * HTTP/1.1"),
    "a relative target": head(HOST, line="GET api/v2/ping HTTP/1.1"),
    "a fragment": head(HOST, line="GET /api/v2/ping#x HTTP/1.1"),
    "%00 in the path": head(HOST, line="GET /api/v2/ping%00 HTTP/1.1"),
    "%00 within the path": head(HOST, line="GET /api/v2/runs/run-%00x HTTP/1.1"),
    "%00 in the query": head(HOST, line="GET /api/v2/ping?a=b%00c HTTP/1.1"),
    "%00 in a name of the query": head(HOST, line="GET /api/v2/ping?%00 HTTP/1.1"),
    "two spaces in the request line": head(HOST, line="GET  /api/v2/ping HTTP/1.1"),
    "two spaces before the version": head(HOST, line="GET /api/v2/ping  HTTP/1.1"),
    "a space after the version": head(HOST, line="GET /api/v2/ping HTTP/1.1 "),
    "a space in the target": head(HOST, line="GET /api/v2/ping x HTTP/1.1"),
    "a space before the method": head(HOST, line=" GET /api/v2/ping HTTP/1.1"),
    "a method with a parenthesis": head(HOST, line="G(T /api/v2/ping HTTP/1.1"),
    "another version": head(HOST, line="GET /api/v2/ping HTTP/1.2"),
    "a version in small letters": head(HOST, line="GET /api/v2/ping http/1.1"),
    "an invalid chunk size": head(HOST, "Transfer-Encoding: chunked", line="POST /api/v2/runs HTTP/1.1") + b"x\r\n\r\n",
    "a chunk longer than its size": head(HOST, "Transfer-Encoding: chunked", line="POST /api/v2/runs HTTP/1.1") + b"1\r\nabc\r\n0\r\n\r\n",
}

# libmicrohttpd 1.0 closes their connection without an answer.
SILENT = "a NUL in the path", "a NUL in the method"

WELL_FORMED = {
    "a usual request": head(HOST, "Connection: close"),
    "a port": head("Host: localhost:8080", "Connection: close"),
    "an IPv6 host": head("Host: [::1]:8080", "Connection: close"),
    "no spaces after colons": head("Host:localhost", "Connection:close"),
    "many spaces and tabs": head("Host: \t localhost", "X-One: a \t b \t", "Connection:  close"),
    "an empty value": head(HOST, "X-One:", "Connection: close"),
    "bytes beyond ASCII in a value": head(HOST, b"X-One: \xc3\xa9", "Connection: close"),
    "a cookie": head(HOST, "Cookie: a=b; c=d", "Cookie: e=f", "Connection: close"),
    "a query": head(HOST, "Connection: close", line="GET /api/v2/ping?a=%41&b[c]=d%20e+f&&g HTTP/1.1"),
    "HTTP/1.0": head(line="GET /api/v2/ping HTTP/1.0"),
    "HTTP/1.0 with a host": head(HOST, line="GET /api/v2/ping HTTP/1.0"),
    "many fields in HTTP/1.0": head(*(f"X-{n}: {n}" for n in range(100)), line="GET /api/v2/ping HTTP/1.0"),
    "a long header": head(HOST, "X-Long: " + "a" * 12000, "Connection: close"),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_requests_close_their_connection(raw_server, name):
    """Later bytes on the connection are not parsed as a request."""
    answer = raw_server.exchange(MALFORMED[name] + head(HOST))
    assert b"HTTP/1.1 2" not in answer, answer
    if not answer and name in SILENT:
        return
    if name not in ("a space before the method", "a method with a parenthesis", "a length of too many digits"):
        assert answer.startswith(b"HTTP/1.1 400 "), answer
        assert b"\r\nconnection: close\r\n" in answer.lower()
        # libmicrohttpd answers some of them itself, with a page.
        assert b"\r\nX-Request-Id: req-" in answer or b"<html>" in answer


@pytest.mark.parametrize("name", WELL_FORMED)
def test_well_formed_requests_are_served(raw_server, name):
    assert raw_server.exchange(WELL_FORMED[name]).startswith(b"HTTP/1.1 204 "), name


def test_a_header_may_arrive_byte_by_byte(raw_server):
    """A header that arrives byte by byte is checked like one that arrives at once."""
    with raw_server.connect() as connection:
        for byte in head(HOST, "X-One: two words", "Connection: close"):
            connection.sendall(bytes([byte]))
        assert connection.recv(1000).startswith(b"HTTP/1.1 204 ")


def test_pipelined_requests_are_served(raw_server):
    answer = raw_server.exchange(head(HOST) * 3 + head(HOST, "Connection: close"))
    assert answer.count(b"HTTP/1.1 204 ") == 4


def smuggled(raw_server, name):
    """The smuggled request: it creates a workspace."""
    body = b'{"data":{"type":"workspaces","attributes":{"name":"%s"}}}' % name.encode()
    return head(HOST, f"Authorization: Bearer {raw_server.api_site.tokens['token']}", "Content-Type: application/vnd.api+json", f"Content-Length: {len(body)}",
                line="POST /api/v2/organizations/acme/workspaces HTTP/1.1") + body


def outer(*lines):
    return head(HOST, *lines, line="POST /api/v2/organizations/nobody/workspaces HTTP/1.1")


SMUGGLING = {
    "CL.TE": lambda hidden: outer(f"Content-Length: {len(hidden) + 5}", "Transfer-Encoding: chunked") + b"0\r\n\r\n" + hidden,
    "TE.CL": lambda hidden: outer("Transfer-Encoding: chunked", "Content-Length: 4") + b"%x\r\n%s\r\n0\r\n\r\n" % (len(hidden), hidden),
    "TE.TE": lambda hidden: outer("Transfer-Encoding: chunked", "Transfer-Encoding: x") + b"0\r\n\r\n" + hidden,
    "hidden by a space": lambda hidden: outer(f"Content-Length: {len(hidden) + 5}", "Transfer-Encoding : chunked") + b"0\r\n\r\n" + hidden,
    "ignored by a space": lambda hidden: outer("Transfer-Encoding : chunked") + hidden,
    "CL.CL": lambda hidden: outer("Content-Length: 0", f"Content-Length: {len(hidden)}") + hidden,
    "CL.0": lambda hidden: outer(f"Content-Length : {len(hidden)}") + hidden,
    "folded": lambda hidden: outer("X-One: a", f" Content-Length: {len(hidden)}") + hidden,
    "bare line feed": lambda hidden: b"POST /api/v2/runs HTTP/1.1\nHost: localhost\n\n" + hidden,
    "a line feed in a value": lambda hidden: outer(b"X-One: a\n\n" + hidden),
    "a NUL ends the header": lambda hidden: outer(b"\0X: a") + hidden,
    "after a chunked body": lambda hidden: outer("Transfer-Encoding: chunked") + b"0\r\n\r\n" + hidden,
    "after a chunk with a bare line feed": lambda hidden: outer("Transfer-Encoding: chunked") + b"2;\nxx\r\n0\r\n\r\n" + hidden,
    "after a trailer": lambda hidden: outer("Transfer-Encoding: chunked") + b"0\r\nX: a\r\n\r\n" + hidden,
    "after HTTP/0.9": lambda hidden: b"GET /api/v2/ping\r\n" + hidden,
    "after a refused body": lambda hidden: outer("Content-Length: 5000000000000000") + hidden,
}


@pytest.mark.parametrize("case", SMUGGLING)
def test_a_smuggled_request_is_never_executed(raw_server, case):
    name = f"w-{uuid.uuid4().hex}"
    sent = SMUGGLING[case](smuggled(raw_server, name))
    with raw_server.connect() as connection, contextlib.suppress(ConnectionError, ssl.SSLError):
        connection.sendall(sent)
        if case == "after a refused body":
            connection.close()  # the rest of the body is never sent
        while connection.fileno() >= 0 and connection.recv(65536):
            pass
    assert raw_server.workspaces(name) == []


def test_the_smuggled_request_is_valid_by_itself(raw_server):
    """Sent as a request of their own, the same bytes are executed."""
    name = f"w-{uuid.uuid4().hex}"
    assert raw_server.exchange(smuggled(raw_server, name).replace(b"\r\nContent-Type", b"\r\nConnection: close\r\nContent-Type")).startswith(b"HTTP/1.1 201 ")
    assert len(raw_server.workspaces(name)) == 1
