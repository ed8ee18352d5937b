# SPDX-License-Identifier: MPL-2.0
"""An HTTP server for policies, on the loopback. Its paths say how it answers."""

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class PolicyServer:
    """`seen` has the requests: (method, path with query, headers, body). With `certificate` (its file, and that of its key) it
    speaks TLS.

    /echo                   the request as JSON
    /status/N               the status N
    /statuses/A,B,C         the status A, then B, then C for each further request
    /to?url=URL&status=N    a redirect, 302 without a status
    /size/N                 a body of N bytes; /head/N: a header of N bytes
    /bytes                  a body that is no text; /twice: two headers of one name, and one that is folded
    /slow                   a body that never ends, a byte at a time
    /silent                 no answer
    /cut                    less than Content-Length says; /hang: no answer, and the connection is closed
    """

    def __init__(self, certificate=None, host="127.0.0.1", port=0):
        self.seen = []
        self.counts = {}
        self.over = threading.Event()
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def serve(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                server.seen.append((self.command, self.path, dict(self.headers), body))
                parts = urlsplit(self.path)
                name, _, rest = parts.path[1:].partition("/")
                self.close_connection = True
                try:
                    getattr(server, f"answer_{name}")(self, rest, {key: value[0] for key, value in parse_qs(parts.query).items()}, body)
                except (BrokenPipeError, ConnectionResetError):
                    pass

            do_GET = do_POST = serve

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):
                pass

        self.server = Server((host, port), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        self.port = self.server.server_port
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.port}"
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def release(self):
        self.over.set()
        self.server.shutdown()
        self.server.server_close()

    def send(self, handler, status, body=b"", headers=()):
        handler.send_response(status)
        for name, value in headers:
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def answer_echo(self, handler, rest, query, body):
        request = {"method": handler.command, "path": handler.path, "headers": dict(handler.headers), "body": body.decode()}
        self.send(handler, 200, json.dumps(request).encode(), [("content-TYPE", "application/json")])

    def answer_status(self, handler, rest, query, body):
        self.send(handler, int(rest), b"the body")

    def answer_statuses(self, handler, rest, query, body):
        statuses = rest.split(",")
        count = self.counts[rest] = self.counts.get(rest, 0) + 1
        self.send(handler, int(statuses[min(count, len(statuses)) - 1]))

    def answer_to(self, handler, rest, query, body):
        self.send(handler, int(query.get("status", 302)), b"redirected", [("Location", query["url"])])

    def answer_size(self, handler, rest, query, body):
        self.send(handler, 200, b"x" * int(rest))

    def answer_head(self, handler, rest, query, body):
        self.send(handler, 200, b"", [("X-Long", "x" * min(int(rest), 60000)), ("X-Longer", "x" * max(int(rest) - 60000, 0))])

    def answer_bytes(self, handler, rest, query, body):
        self.send(handler, 200, b"\0\xff\n")

    def answer_twice(self, handler, rest, query, body):
        self.send(handler, 200, b"", [("x-word", "one"), ("X-Word", "two"), ("X-Empty", ""), ("X-Folded", "one\r\n two: three")])

    def answer_slow(self, handler, rest, query, body):
        handler.send_response(200)
        handler.send_header("Content-Length", "1000000")
        handler.end_headers()
        while not self.over.wait(0.05):
            handler.wfile.write(b"x")

    def answer_silent(self, handler, rest, query, body):
        self.over.wait()

    def answer_cut(self, handler, rest, query, body):
        handler.send_response(200)
        handler.send_header("Content-Length", "100")
        handler.end_headers()
        handler.wfile.write(b"x")

    def answer_hang(self, handler, rest, query, body):
        pass
