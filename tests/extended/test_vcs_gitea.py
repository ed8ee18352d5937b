# SPDX-License-Identifier: MPL-2.0
"""Repositories of a real Gitea."""

import hashlib
import hmac
import json
import shutil
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support.gitea import Gitea
from support.site import new_folder
from support.wait import until

SECRET = "secret-of-the-hook"
EVENTS = ["push", "create", "delete", "pull_request", "repository"]


@pytest.fixture(scope="module")
def gitea():
    folder = new_folder("gitea")
    server = Gitea(folder).start()
    yield server
    server.release()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def deliveries():
    """A receiver of hooks, and the list of what it received: (headers, document)."""
    received = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            assert self.headers["X-Gitea-Signature"] == hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
            received.append((self.headers, json.loads(body)))
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    received_at = f"http://127.0.0.1:{server.server_port}/"
    yield received_at, received
    server.shutdown()
    server.server_close()


def test_deliveries(gitea, deliveries):
    """What the fakes and the parsers' tests say of Gitea is what it sends: signed, and synchronized with the head."""
    address, received = deliveries
    repository = gitea.repository("deliveries", {"main.tf": "# one\n"})
    repository.call("POST", "hooks", {"type": "gitea", "active": True, "events": EVENTS, "config": {"url": address, "content_type": "json", "secret": SECRET}})
    before = repository.copy.head
    after = repository.copy.commit_and_push()

    def seen(event, **members):
        return [body for headers, body in received if headers["X-Gitea-Event"] == event and all(body.get(name) == value for name, value in members.items())]

    until(lambda: seen("push", before=before, after=after, ref="refs/heads/main", total_commits=1), "the push is delivered")
    repository.copy.branch("feature")
    repository.copy.commit_and_push()
    number = repository.pull("feature", "A title")["number"]
    until(lambda: seen("pull_request", action="opened", number=number), "the pull request is delivered")
    head = repository.copy.commit_and_push()
    until(lambda: [body for body in seen("pull_request", action="synchronized") if body["pull_request"]["head"]["sha"] == head], "the new head is delivered")
