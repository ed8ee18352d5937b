# SPDX-License-Identifier: MPL-2.0
"""The example of a run-task service answers every acknowledged request, also if Runyard or a client fails."""

import hashlib
import hmac
import json
import signal
import socket
import sys
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support.process import Process, answers, free_port
from support.servers import ROOT
from support.wait import until

KEY = "a key"
KEEP = {"address": "terraform_data.one", "change": {"actions": ["create"]}}
DESTROY = {"address": "terraform_data.two", "change": {"actions": ["delete"]}}


class Runyard:
    """Serves plans and accepts callbacks. plans and callbacks: the answers to the next requests, the last one
    repeated: a status, a plan, bytes, or None to close the connection."""

    def __init__(self):
        self.plans, self.callbacks = [{"resource_changes": [KEEP]}], [200]
        self.plan_requests, self.results = [], []
        self.gate = threading.Event()
        self.gate.set()
        runyard = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                runyard.plan_requests.append(self.headers["Authorization"])
                runyard.gate.wait()
                self.send(runyard.next(runyard.plans))

            def do_PATCH(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                given = runyard.next(runyard.callbacks)
                if given == 200:
                    runyard.results.append((self.path, json.loads(body)["data"]))
                self.send(given)

            def send(self, given):
                if given is None:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                self.send_response(given if isinstance(given, int) else 200)
                body = b"" if isinstance(given, int) else given if isinstance(given, bytes) else json.dumps(given).encode()
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @staticmethod
    def next(script):
        return script.pop(0) if len(script) > 1 else script[0]

    def task(self, number=1, **more):
        url = f"http://127.0.0.1:{self.server.server_port}"
        return {"stage": "post_plan", "run_id": f"run-{number}", "access_token": "token", "plan_json_api_url": f"{url}/plan",
                "task_result_callback_url": f"{url}/callback/{number}", **more}

    def result(self):
        """The status and the message of the only accepted callback."""
        until(lambda: self.results, "a callback")
        assert len(self.results) == 1
        return self.results[0][1]["attributes"]["status"], self.results[0][1]["attributes"]["message"]

    def release(self):
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()


@pytest.fixture
def runyard():
    runyard = Runyard()
    yield runyard
    runyard.release()


class Checker:
    def __init__(self, folder, patience=5):
        self.port = free_port()
        (folder / "key").write_text(KEY + "\n")
        command = [sys.executable, ROOT / "deploy/local/example/checker.py", "--port", self.port, "--key-file", folder / "key"]
        self.process = Process("checker", [*command, *(["--patience", patience] if patience else [])], folder)
        self.process.launch()
        self.process.wait_until(lambda: answers(self.port), "takes connections")

    def post(self, body, signature=None, **headers):
        """The status of the answer."""
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        signature = hmac.new(KEY.encode(), body, hashlib.sha512).hexdigest() if signature is None else signature
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/", data=body, headers={"X-TFC-Task-Signature": signature, **headers})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code


@pytest.fixture
def checker(folder):
    checker = Checker(folder)
    yield checker
    assert checker.process.stop() == 0
    assert "Traceback" not in checker.process.log()


@pytest.mark.parametrize("failures", [[500], [503, 503, 429], [None], [b'{"resource_changes": [', b""]])
def test_failed_requests_are_retried(checker, runyard, failures):
    runyard.plans = [*failures, {"resource_changes": [KEEP, DESTROY]}]
    runyard.callbacks = [503, None, 200]
    assert checker.post(runyard.task()) == 200
    assert runyard.result() == ("failed", "2 changes, 1 destroyed")
    assert len(runyard.plan_requests) == len(failures) + 1 and set(runyard.plan_requests) == {"Bearer token"}


@pytest.mark.parametrize("answer, message", [
    (404, "The plan can't be read: the answer was 404 Not Found"),
    ([], "The plan can't be read: it is no JSON object"),
    ({"resource_changes": [{}]}, "The check itself failed: KeyError"),
])
def test_an_unreadable_plan_fails_the_task(checker, runyard, answer, message):
    """The run is informed at once, and the service continues."""
    runyard.plans = [answer, {"resource_changes": [KEEP]}]
    assert checker.post(runyard.task()) == 200
    assert runyard.result() == ("failed", message) and len(runyard.plan_requests) == 1
    assert checker.post(runyard.task(2)) == 200
    until(lambda: len(runyard.results) == 2, "the next one's callback")
    assert runyard.results[1][0] == "/callback/2" and runyard.results[1][1]["attributes"]["status"] == "passed"


def test_retries_end_after_the_time_limit(checker, runyard):
    runyard.plans = [500]
    assert checker.post(runyard.task()) == 200
    status, message = runyard.result()
    assert status == "failed" and message.startswith("The plan can't be read: it was tried for") and "500" in message
    assert 3 <= len(runyard.plan_requests) <= 20


def test_a_refused_callback_is_logged(checker, runyard):
    runyard.callbacks = [404, 200]
    assert checker.post(runyard.task()) == 200
    until(lambda: "the callback failed" in checker.process.log(), "the failure is logged")
    assert checker.post(runyard.task(2)) == 200
    assert runyard.result() == ("passed", "1 changes, 0 destroyed")


def test_unsigned_and_malformed_requests_are_refused(checker, runyard):
    for signature in ("", "0" * 128, "\xe4"):
        assert checker.post(runyard.task(), signature) == 401
    for body in (b"", b"{", b"[]", b"7", b"{}", b'{"stage": "post_plan"}', json.dumps(runyard.task(access_token=7)).encode()):
        assert checker.post(body) == 400
    assert checker.post(b"", **{"Content-Length": (1 << 20) + 1}) == 413  # the body is not read
    for length in (b"x", b"-1", b"\xb2"):
        with socket.create_connection(("127.0.0.1", checker.port), timeout=30) as raw:
            raw.sendall(b"POST / HTTP/1.0\r\nContent-Length: " + length + b"\r\n\r\n")
            assert b" 411 " in raw.recv(1000)
    assert checker.post({"stage": "test"}) == 200
    assert not runyard.plan_requests and not runyard.results
    assert checker.post(runyard.task()) == 200
    assert runyard.result()[0] == "passed"


def test_requests_over_the_limit_get_503(checker, runyard):
    """Requests over the limit get 503, so that they are repeated. Acknowledged requests are answered."""
    runyard.gate.clear()
    statuses = [checker.post(runyard.task(number)) for number in range(110)]
    assert statuses == [200] * 100 + [503] * 10
    runyard.gate.set()
    until(lambda: len(runyard.results) == 100, "all callbacks")
    assert {path for path, _ in runyard.results} == {f"/callback/{number}" for number in range(100)}
    assert checker.post(runyard.task(200)) == 200


@pytest.mark.parametrize("plan", [{"resource_changes": []}, 503])
def test_a_stopping_service_answers_accepted_tasks(folder, runyard, plan):
    checker = Checker(folder, patience=None)
    runyard.gate.clear()
    runyard.plans = [plan]
    assert checker.post(runyard.task()) == 200
    until(lambda: runyard.plan_requests, "the plan is requested")
    checker.process.send(signal.SIGTERM)
    until(lambda: not answers(checker.port), "the service accepts no more connections")
    runyard.gate.set()
    assert checker.process.ended() == 0
    assert runyard.result()[0] == ("passed" if plan != 503 else "failed")


def test_an_empty_key_is_refused(folder):
    (folder / "key").write_text("\n")
    process = Process("checker", [sys.executable, ROOT / "deploy/local/example/checker.py", "--port", free_port(), "--key-file", folder / "key"], folder)
    process.launch()
    assert process.ended() == 1 and "has no key" in process.log()
