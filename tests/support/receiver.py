# SPDX-License-Identifier: MPL-2.0
"""Run-task services in the test's own process. A function of the call determines what a service does."""

import hashlib
import hmac
import itertools
import json
import socket
import threading
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from support.api import Answer
from support.wait import PATIENCE, until


class Call:
    """One request to a service, and the service's possible reactions."""

    patience = PATIENCE  # seconds to wait for an answer
    trust = None  # ssl.SSLContext for the scheduler's address; None: the system's

    def __init__(self, service, headers, body):
        self.service = service
        self.headers = headers
        self.body = body
        self.document = json.loads(body)
        self.reply = None  # (status, headers, body); "hang up"
        self.decided = threading.Event()
        self.sent = threading.Event()

    def __getitem__(self, name):
        return self.document[name]

    # ---- the answer ----

    def answer(self, status=200, body=b"", **headers):
        """Answers the request. Returns once the answer is sent: answer(503, retry_after=1)."""
        self._decide((status, {name.replace("_", "-"): str(value) for name, value in headers.items()}, body))

    def hang_up(self):
        """Closes the connection without an answer."""
        self._decide("hang up")

    def give_up(self):
        """Closes a request that was never answered."""
        if not self.decided.is_set():
            self.reply = (500, {}, b"")
            self.decided.set()

    def _decide(self, reply):
        assert not self.decided.is_set(), "a request is answered once"
        self.reply = reply
        self.decided.set()
        assert self.sent.wait(PATIENCE), "the answer was not sent"

    # ---- the callback ----

    def back(self, status, message=None, url=None, outcomes=None, token=None):
        """Sends a callback. Returns the answer, whatever it is."""
        attributes = {"status": status, "message": message, "url": url}
        data = {"type": "task-results", "attributes": {name: value for name, value in attributes.items() if value is not None}}
        if outcomes is not None:
            data["relationships"] = {"outcomes": {"data": outcomes}}
        return self.back_with({"data": data}, token)

    def back_with(self, document, token=None):
        """Sends a callback with any document, or any bytes."""
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        answer = self.ask("PATCH", self["task_result_callback_url"], body, token)
        self.service.answers.append(answer.status)
        return answer

    def ask(self, method, url, body=None, token=None):
        """A request with this call's own token."""
        headers = {"Authorization": f"Bearer {token or self['access_token']}", "Content-Type": "application/vnd.api+json"}
        request = urllib.request.Request(url, data=body, method=method, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=self.patience, context=self.trust) as answer:
                return Answer(answer.status, answer.headers, answer.read())
        except urllib.error.HTTPError as error:
            return Answer(error.code, error.headers, error.read())


# ---- behaviours of services ----


def says(status, message=None, **more):
    """Acknowledges, then sends the callback."""

    def act(call):
        call.answer()
        call.back(status, message, **more)

    return act


def says_until_taken(status, message=None, **more):
    """Acknowledges, then repeats the callback while no notifier takes it (503 with Retry-After) and while the scheduler of its
    address restarts, as a service should."""

    def act(call):
        def taken():
            try:
                return call.back(status, message, **more).status != 503
            except OSError:
                return False

        call.answer()
        until(taken, "a notifier takes the result", every=0.5)

    return act


def says_first(status, message=None, code=200, **more):
    """Sends the callback before it acknowledges, as most services do."""

    def act(call):
        call.back(status, message, **more)
        call.answer(code)

    return act


def acknowledges(call):
    """Acknowledges, and never sends a callback by itself."""
    call.answer()


def answers(*codes, then=None, **headers):
    """Answers the first requests with these codes, and each further one as `then` does (or with the last code)."""
    rest = itertools.chain(codes)

    def act(call):
        code = next(rest, None)
        if code is not None:
            call.answer(code, **headers)
        elif then:
            then(call)
        else:
            call.answer(codes[-1], **headers)

    return act


class Service:
    """The service behind one run task."""

    def __init__(self, receiver, name, act, key="a key of this task"):
        self.name = name
        self.url = f"http://{receiver.address}:{receiver.port}/{name}"
        self.act = act
        self.key = key
        self.trust = None
        self.calls = []  # requests, in the order of their arrival
        self.tests = []  # Call: requests that verify the task
        self.test_code = 200
        self.answers = []  # the answers to its callbacks, in order
        self.wrong = []

    def got(self, count=1):
        """Waits until that many requests have arrived. Returns the last of these."""
        until(lambda: len(self.calls) >= count, lambda: f"{self.name} got {len(self.calls)} requests of {count}")
        return self.calls[count - 1]

    def receive(self, call):
        """Checks a request against proto/README.md."""
        self.check(call)
        if call["stage"] == "test":
            self.tests.append(call)
            call.answer(self.test_code)
            return
        self.calls.append(call)
        self.act(call)

    def check(self, call):
        signature = hmac.new(self.key.encode(), call.body, hashlib.sha512).hexdigest() if self.key else ""
        wanted = {"Content-Type": "application/json", "X-TFC-Task-Signature": signature}
        for name, value in wanted.items():
            if call.headers.get(name) != value:
                self.wrong.append(f"{name}: {call.headers.get(name)!r}, wanted {value!r}")
        if not (call.headers.get("User-Agent") or "").startswith("TFC/1.0 (+"):
            self.wrong.append(f"User-Agent: {call.headers.get('User-Agent')!r}")
        again = json.dumps(call.document, separators=(",", ":"), ensure_ascii=False)
        if again.encode() != call.body:
            self.wrong.append(f"not compact JSON: {call.body!r}")


class Receiver:
    """Serves any number of services, each below its own path."""

    def __init__(self, listener=None):
        """listener: a socket that listens, of another network for example."""
        self.services = {}
        self.threads = []
        self.server = Server(("127.0.0.1", 0), self.handler())
        if listener:
            self.server.socket.close()
            self.server.socket = listener
        self.address, self.port = self.server.socket.getsockname()
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    def start(self):
        self.thread.start()
        return self

    def service(self, act, name=None, key="a key of this task"):
        """Adds a service with the behaviour `act`."""
        name = name or f"service-{len(self.services) + 1}"
        self.services[name] = Service(self, name, act, key)
        return self.services[name]

    def forget(self):
        """Stops the services. Returns the violations so far."""
        services, self.services = self.services, {}
        for service in services.values():
            for call in service.calls:
                call.give_up()
        for thread in self.threads:
            thread.join()
        self.threads.clear()
        return [f"{service.name}: {wrong}" for service in services.values() for wrong in service.wrong]

    def release(self):
        wrong = self.forget()
        self.server.shutdown()
        self.server.server_close()
        assert not wrong, "\n".join(wrong)

    def handler(self):
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                service = receiver.services.get(urlsplit(self.path).path.strip("/"))  # a proxy gets the whole URL
                if service is None:
                    self.give(404, {}, b"")
                    return
                call = Call(service, self.headers, body)
                call.trust = service.trust
                # The service continues after its answer, while this connection takes the next request.
                thread = threading.Thread(target=receiver.serve, args=(service, call), daemon=True)
                receiver.threads.append(thread)
                thread.start()
                call.decided.wait()
                try:
                    if call.reply == "hang up":
                        self.close_connection = True
                        self.connection.shutdown(socket.SHUT_RDWR)
                    else:
                        self.give(*call.reply)
                except OSError:
                    self.close_connection = True  # the client closed it first
                call.sent.set()

            def give(self, status, headers, body):
                self.send_response(status)
                for name, value in {"Content-Length": len(body), **headers}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(body)
                self.wfile.flush()

            def log_message(self, *_):
                pass

        return Handler

    @staticmethod
    def serve(service, call):
        try:
            service.receive(call)
        except Exception as why:  # noqa: BLE001: fails the test at its end
            service.wrong.append(f"{type(why).__name__}: {why}")
        finally:
            call.give_up()


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        pass  # a client that disconnected
