#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""checker.py --port N --key-file PATH: a run-task service as small as one can be.

It acknowledges a request at once, then reads the plan with the request's own token, counts what would be destroyed, and
calls back: passed, or failed if anything would be. Start from it for a service of your own.
"""

import argparse
import hashlib
import hmac
import json
import sys
import threading
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def ask(method, url, token, body=None):
    request = urllib.request.Request(url, method=method, data=json.dumps(body).encode() if body else None)
    request.add_header("Authorization", f"Bearer {token}")
    request.add_header("Content-Type", "application/vnd.api+json")
    with urllib.request.urlopen(request, timeout=30) as answer:
        text = answer.read()
        return json.loads(text) if text else None


def check(task):
    """The verdict on a plan: status, message, outcomes."""
    plan = ask("GET", task["plan_json_api_url"], task["access_token"])
    changes = [change for change in plan.get("resource_changes", []) if change["change"]["actions"] != ["no-op"]]
    destroyed = [change["address"] for change in changes if "delete" in change["change"]["actions"]]
    outcomes = [
        {
            "type": "task-result-outcomes",
            "attributes": {
                "outcome-id": f"DESTROYS-{number}",
                "description": f"{address} would be destroyed",
                "body": f"# {address}\n\nThe plan **destroys** it.",
                "tags": {"Status": [{"label": "Failed", "level": "error"}]},
            },
        }
        for number, address in enumerate(destroyed, 1)
    ]
    return "failed" if destroyed else "passed", f"{len(changes)} changes, {len(destroyed)} destroyed", outcomes


def answer(task):
    if task["stage"] == "test":
        return
    status, message, outcomes = check(task) if task.get("plan_json_api_url") else ("passed", "nothing to look at yet", [])
    ask("PATCH", task["task_result_callback_url"], task["access_token"], {
        "data": {"type": "task-results", "attributes": {"status": status, "message": message},
                 "relationships": {"outcomes": {"data": outcomes}}}})
    print(f"{task['run_id']}: {status}: {message}", flush=True)


class Checker(BaseHTTPRequestHandler):
    key = b""

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        signature = hmac.new(self.key, body, hashlib.sha512).hexdigest()
        if not hmac.compare_digest(signature, self.headers.get("X-TFC-Task-Signature", "")):
            self.send_error(401, "the signature is not ours")
            return
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()
        threading.Thread(target=answer, args=(json.loads(body),), daemon=True).start()

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--port", type=int, required=True)
    options.add_argument("--key-file", required=True, help="the HMAC key that the run task was made with")
    asked = options.parse_args()
    with open(asked.key_file, encoding="utf-8") as file:
        Checker.key = file.read().strip().encode()
    try:
        ThreadingHTTPServer(("127.0.0.1", asked.port), Checker).serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


main()
