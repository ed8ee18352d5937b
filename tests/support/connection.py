# SPDX-License-Identifier: MPL-2.0
"""Many requests over one kept connection."""

import http.client
import json
import urllib.parse

from support.api import Answer, observed
from support.wait import PATIENCE


class Connection:
    def __init__(self, url):
        parts = urllib.parse.urlsplit(url)
        self.client = http.client.HTTPConnection(parts.hostname, parts.port, timeout=PATIENCE)

    def ask(self, method, path, body=None, headers=None):
        """One request. A dict or a list becomes JSON; bytes are sent as they are."""
        sent = json.dumps(body).encode() if isinstance(body, (dict, list)) else body
        content = {"Content-Type": "application/vnd.api+json"} if sent is not None else {}
        for last_try in (False, True):
            try:
                self.client.request(method, urllib.parse.quote(path, safe="/?&=%:[]"), sent, {**content, **(headers or {})})
                answer = self.client.getresponse()
                return observed(method, Answer(answer.status, answer.headers, answer.read(), path))
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                self.client.close()  # the server may close a connection between two requests
                if last_try:
                    raise
