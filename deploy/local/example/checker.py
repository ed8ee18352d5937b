#!/usr/bin/env python3
# SPDX-License-Identifier: MPL-2.0
"""checker.py --port N --key-file PATH: an example of a run-task service.

It acknowledges a request at once, reads the plan with the request's own token, counts the resources to be
destroyed, and calls back: passed, or failed if there are any. To make a service of your own, replace check().

- A request without the key's signature is refused with 401. If the service is at its limit or stopping, it answers
  503, and the request is sent again.
- A request for the plan and a callback are repeated for --patience seconds if they get no answer, 429 or 5xx.
- Every acknowledged request gets a callback. If there is no verdict, its message says what failed.
- SIGTERM: requests in progress are finished, with a patience of 5 s.
"""

import argparse
import hashlib
import hmac
import http.client
import json
import signal
import sys
import threading
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

MAX_REQUEST = 1 << 20  # bytes of a run task's request
MAX_ANSWER = 256 << 20  # bytes of a plan as JSON
MAX_TASKS = 100  # acknowledged and not answered yet
STOP_SECONDS = 5


class Failed(Exception):
    """There is no verdict; the message is a sentence for users."""


# ---- the verdict ----


def check(plan):
    """Returns the verdict on a plan: status, message, outcomes."""
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


# ---- requests to Runyard ----


class Client:
    """Repeats requests for `patience` seconds, and for STOP_SECONDS after stop()."""

    def __init__(self, patience):
        self.patience = patience
        self.stopping = threading.Event()
        self.stopped_at = 0.0

    def stop(self):
        self.stopped_at = time.monotonic()
        self.stopping.set()

    def seconds_left(self, begun):
        now = time.monotonic()
        left = begun + self.patience - now
        return min(left, self.stopped_at + STOP_SECONDS - now) if self.stopping.is_set() else left

    def ask(self, method, url, token, body=None):
        """Returns the answer's JSON; None if a callback's answer has no body."""
        begun, pause = time.monotonic(), 0.25
        while True:
            try:
                return self.once(method, url, token, body, max(1, min(30, self.seconds_left(begun))))
            except urllib.error.HTTPError as error:
                if error.code != 429 and error.code < 500:
                    raise Failed(f"the answer was {error.code} {error.reason}") from error
                why = f"the answer was {error.code} {error.reason}"
            except (OSError, http.client.HTTPException, ValueError) as error:
                why = str(error) or type(error).__name__
            pause = min(pause * 2, 15)
            if self.seconds_left(begun) < pause:
                raise Failed(f"it was tried for {time.monotonic() - begun:.0f} s; the last time {why}")
            if self.stopping.is_set():
                time.sleep(pause)
            else:
                self.stopping.wait(pause)

    @staticmethod
    def once(method, url, token, body, timeout):
        request = urllib.request.Request(url, method=method, data=json.dumps(body).encode() if body else None)
        request.add_unredirected_header("Authorization", f"Bearer {token}")  # not sent to the host of a redirect
        request.add_header("Content-Type", "application/vnd.api+json")
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            text = answer.read(MAX_ANSWER + 1)
        if len(text) > MAX_ANSWER:
            raise Failed(f"the answer has more than {MAX_ANSWER} bytes")
        if not text and method == "GET":
            raise ValueError("the answer had no body")
        return json.loads(text) if text else None


# ---- one run task ----


def judge(client, task):
    if not task.get("plan_json_api_url"):
        return "passed", "nothing to look at yet", []
    try:
        plan = client.ask("GET", task["plan_json_api_url"], task["access_token"])
        if not isinstance(plan, dict):
            raise Failed("it is no JSON object")
        return check(plan)
    except Failed as why:
        return "failed", f"The plan can't be read: {why}", []
    except Exception as why:  # check() failed: the run gets an answer, and the service continues
        say(f"{task.get('run_id')}: check: {type(why).__name__}: {why}")
        return "failed", f"The check itself failed: {type(why).__name__}", []


def answer(client, task):
    status, message, outcomes = judge(client, task)
    body = {"data": {"type": "task-results", "attributes": {"status": status, "message": message}, "relationships": {"outcomes": {"data": outcomes}}}}
    try:
        client.ask("PATCH", task["task_result_callback_url"], task["access_token"], body)
        say(f"{task.get('run_id')}: {status}: {message}")
    except Failed as why:
        say(f"{task.get('run_id')}: {status}: {message}; the callback failed: {why}")


def say(text):
    print(text, flush=True)


# ---- the service ----


class Service(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, port, key, client):
        super().__init__(("127.0.0.1", port), Handler)
        self.key, self.client = key, client
        self.pool = ThreadPoolExecutor(8)
        self.room = threading.BoundedSemaphore(MAX_TASKS)

    def take(self, task):
        """Returns False if the service is at its limit or stopping."""
        if self.client.stopping.is_set() or not self.room.acquire(blocking=False):
            return False
        self.pool.submit(answer, self.client, task).add_done_callback(lambda _: self.room.release())
        return True

    def handle_error(self, request, client_address):
        say(f"a connection ended: {sys.exc_info()[1]}")


class Handler(BaseHTTPRequestHandler):
    timeout = 30  # seconds without data from a client

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            return self.reply(411)
        if int(length) > MAX_REQUEST:
            return self.reply(413)
        body = self.rfile.read(int(length))
        signature = hmac.new(self.server.key, body, hashlib.sha512).hexdigest()
        if not hmac.compare_digest(signature.encode(), self.headers.get("X-TFC-Task-Signature", "").encode()):
            return self.reply(401)
        try:
            task = json.loads(body)
            test = task["stage"] == "test"  # sent when a task is created or changed: no run waits for it
            wanted = [] if test else [task["access_token"], task["task_result_callback_url"]]
        except (ValueError, KeyError, TypeError):
            return self.reply(400)
        if not all(isinstance(text, str) for text in wanted):
            return self.reply(400)
        return self.reply(200 if test or self.server.take(task) else 503)

    def do_GET(self):
        self.reply(200)

    def reply(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def arguments():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--port", type=int, required=True)
    options.add_argument("--key-file", required=True, help="the HMAC key that the run task was made with")
    options.add_argument("--patience", type=float, default=240, help="how many seconds a request to Runyard is repeated")
    return options.parse_args()


def main():
    asked = arguments()
    with open(asked.key_file, encoding="utf-8") as file:
        key = file.read().strip().encode()
    if not key:
        sys.exit(f"checker.py: {asked.key_file} has no key: anybody could sign")
    client = Client(asked.patience)
    service = Service(asked.port, key, client)

    def stop(*_):
        client.stop()
        threading.Thread(target=service.shutdown).start()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, stop)
    service.serve_forever()
    service.pool.shutdown()


main()
