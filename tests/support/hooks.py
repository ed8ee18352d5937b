# SPDX-License-Identifier: MPL-2.0
"""Receivers of notifications in the test's own process. Each answers with a code, and keeps its requests."""

import hashlib
import hmac
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from support.wait import PATIENCE, until


class Call:
    """One request to a hook."""

    def __init__(self, headers, body):
        self.headers = headers
        self.body = body

    @property
    def document(self):
        return json.loads(self.body)

    @property
    def trigger(self):
        return self.document["notifications"][0]["trigger"]

    def signed_with(self, key):
        return self.headers["X-TFE-Notification-Signature"] == hmac.new(key.encode(), self.body, hashlib.sha512).hexdigest()


class Hook:
    """`code` may be changed at any time; `codes` are the answers to the first calls."""

    def __init__(self, url, code, body, codes):
        self.url = url
        self.code = code
        self.body = body
        self.codes = list(codes)
        self.calls = []
        self.open = threading.Event()  # while it is not set, requests are not answered
        self.open.set()

    def next_code(self):
        return self.codes.pop(0) if self.codes else self.code

    def got(self, *triggers):
        """Waits for a call for each of these triggers. Returns the calls, in the order of the triggers."""
        def of(trigger):
            return next((call for call in self.calls if call.trigger == trigger), None)

        until(lambda: all(of(trigger) for trigger in triggers), lambda: f"{self.url} got {[call.trigger for call in self.calls]}")
        return [of(trigger) for trigger in triggers]


class Hooks:
    """Serves any number of hooks, each at its own path."""

    def __init__(self):
        self.hooks = {}
        hooks = self.hooks

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                hook = hooks[urlsplit(self.path).path]  # a proxy gets the whole URL
                hook.calls.append(Call(self.headers, body))
                hook.open.wait(PATIENCE)
                code = hook.next_code()
                try:
                    self.send_response(code)
                    for name, value in (("X-Hook", "yes"), ("x-hook", "indeed"), ("Content-Length", len(hook.body) if code != 204 else 0)):
                        self.send_header(name, str(value))
                    self.end_headers()
                    if code != 204:
                        self.wfile.write(hook.body)
                except OSError:
                    self.close_connection = True  # the client has disconnected

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    @property
    def address(self):
        """The address of the hooks. As a notifier's proxy, it maps http://ANY-HOST/PATH to the hook with that path."""
        return f"http://127.0.0.1:{self.server.server_port}"

    def hook(self, code=200, body=b"ok", codes=()):
        path = f"/hook-{len(self.hooks) + 1}"
        self.hooks[path] = Hook(self.address + path, code, body, codes)
        return self.hooks[path]

    def release(self):
        for hook in self.hooks.values():
            hook.open.set()
        self.server.shutdown()
        self.server.server_close()
