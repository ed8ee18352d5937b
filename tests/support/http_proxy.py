# SPDX-License-Identifier: MPL-2.0
"""An HTTP proxy in front of a server that manipulates calls as a test needs."""

import http.client
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOP = {"connection", "keep-alive", "transfer-encoding"}


class HttpProxy:
    """fault(method) is None (the call passes unchanged), "fail" (500), "hold" (no answer until let_go), "lose" (the
    call passes, its answer is held) or "cut" (the call passes, half of its answer arrives). reply(method, path) is None or the (status, headers, body) that the proxy
    answers in the server's place; `replied` lists the paths of these requests. `calls` lists the methods of all
    calls."""

    def __init__(self, port):
        self.target = port
        self.fault = lambda method: None
        self.reply = lambda method, path: None
        self.replied = []
        self.calls = []
        self.going = threading.Event()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.server.daemon_threads = True
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def _handler(self):
        front = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def serve(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                front.calls.append(self.command)
                fault = front.fault(self.command)
                if fault == "hold":
                    front.going.wait()
                status, headers, answer = front.answer(fault, self.command, self.path, self.headers, body)
                if fault == "lose":
                    front.going.wait()
                self.send_response(status)
                for name, value in headers:
                    if name.lower() not in HOP | {"content-length"}:
                        self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                if fault == "cut":
                    self.wfile.write(answer[: len(answer) // 2])
                    self.close_connection = True
                    return
                self.wfile.write(answer)

            do_GET = do_PUT = do_POST = do_PATCH = do_DELETE = serve

            def log_message(self, *_):
                pass

        return Handler

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def answer(self, fault, method, path, headers, body):
        if fault == "fail":
            return 500, [], b""
        reply = self.reply(method, path)
        if reply is None:
            return self.forward(method, path, headers, body)
        self.replied.append(path)
        return reply

    def forward(self, method, path, headers, body):
        connection = http.client.HTTPConnection("127.0.0.1", self.target)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            for name, value in headers.items():
                if name.lower() not in HOP:
                    connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            return answer.status, answer.getheaders(), answer.read()
        finally:
            connection.close()

    def holds(self, *methods):
        self.going.clear()
        self.fault = lambda method: "hold" if method in methods else None

    def let_go(self):
        self.fault = lambda method: None
        self.going.set()

    def release(self):
        self.let_go()
        self.server.shutdown()
        self.server.server_close()
