# SPDX-License-Identifier: MPL-2.0
"""A plain client of GET /api/v2/events."""

import base64
import http.client
import json
import socket
import threading
from urllib.parse import urlencode, urlsplit

from support.wait import until


class Event:
    def __init__(self, name, id, data):
        self.name, self.id, self.data = name, id, data

    def __repr__(self):
        return f"{self.name} {self.data}"


class EventStream:
    """Reads a stream in a thread. `events` has what came, in order; `closed` is set at its end."""

    def __init__(self, url, topics, token=None, since=None, headers=None, receive_buffer=None, reads=True):
        query = {"topics": topics if isinstance(topics, str) else ",".join(topics), **({"since": since} if since else {})}
        parts = urlsplit(url)
        self.connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=120)
        if receive_buffer:
            self.connection.sock = socket.socket()
            self.connection.sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            self.connection.sock.connect((parts.hostname, parts.port))
        self.connection.request("GET", f"/api/v2/events?{urlencode(query)}",
                                headers={**({"Authorization": f"Bearer {token}"} if token else {}), **(headers or {})})
        self.response = self.connection.getresponse()
        self.status = self.response.status
        self.events, self.comments = [], 0
        self.closed = threading.Event()
        self.socket = self.connection.sock or self.response.fp.raw._sock
        self.thread = threading.Thread(target=self._read, daemon=True)
        if self.status == 200 and reads:
            self.thread.start()

    def start(self):
        self.thread.start()

    def _read(self):
        name, id, data = "message", None, []
        try:
            for line in iter(self.response.readline, b""):
                line = line.decode().rstrip("\n")
                if line.startswith(":"):
                    self.comments += 1
                elif line:
                    field, _, value = line.partition(": ")
                    name, id, data = (value if field == "event" else name), (value if field == "id" else id), data + ([value] if field == "data" else [])
                else:
                    if data:
                        self.events.append(Event(name, id, json.loads("\n".join(data))))
                    name, id, data = "message", None, []
        except (OSError, ValueError, http.client.HTTPException, AttributeError):
            pass
        self.closed.set()

    def names(self):
        return [event.name for event in self.events]

    def of(self, *names):
        return [event for event in self.events if event.name in names]

    def wait(self, name, matches=lambda data: True, count=1):
        """The count-th event of that name whose data matches."""
        return until(lambda: [event for event in self.events if event.name == name and matches(event.data)][count - 1:], lambda: f"an event {name} in {self.events}")[0]

    def online(self):
        self.wait("online")
        return self

    @property
    def last_id(self):
        return next(event.id for event in reversed(self.events) if event.id)

    def log(self, operation):
        """The events of a log with bytes, and those bytes."""
        events = [event for event in self.of("log") if event.data["id"] == operation and ("text" in event.data or "base64" in event.data)]
        return [(event, event.data["text"].encode() if "text" in event.data else base64.b64decode(event.data["base64"])) for event in events]

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.connection.close()
