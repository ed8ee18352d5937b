# SPDX-License-Identifier: MPL-2.0
"""The scheduler's side of the worker contract (proto/README.md), as far as a worker's tests without a scheduler need
it."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz123456789"


class Job:
    """A job's inputs, and the worker's uploads."""

    def __init__(self, number, stage, files, contents, facts):
        letters = ALPHABET[number // len(ALPHABET)] * 8 + ALPHABET[number % len(ALPHABET)] * 8
        self.id, self.run, self.token = f"job-{letters}", f"run-{letters}", f"token-{letters}"
        self.stage = stage
        self.files = files  # the answers to GET, by name
        self.contents = contents  # the contents in the answer to the claim
        self.facts = facts  # members of the claim that differ from the default
        self.asked = []  # the names of GET requests
        self.sent = {}  # the bodies of PUT requests, by path
        self.result = None
        self.stop = "none"

    def claimed(self):
        return {"job": self.id, "attempt": 1, "token": self.token, "stage": self.stage, "run": self.run, "log": "plan-AAAAAAAAAAAAAAAA",
                "organization": "acme", "workspace": {"id": "ws-AAAAAAAAAAAAAAAA", "name": "network"}, "terraform-version": "",
                "working-directory": "", "variables": [], "has-state": False, "has-init": False, "stop": "none",
                "contents": self.contents, **self.facts}


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A worker that ends breaks its connections."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)


class FakeScheduler:
    """Hands jobs to one worker."""

    def __init__(self):
        self.jobs = []
        self.waiting = []
        self.lock = threading.Lock()
        self.changed = threading.Condition(self.lock)
        self.over = False
        fake_scheduler = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def serve(self):
                length = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(length) if length else b""
                status, answer = fake_scheduler.answer(self.command, self.path.removeprefix("/api/worker/v1/"), body)
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = do_PUT = serve

        self.server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def release(self):
        with self.lock:
            self.over = True
            self.changed.notify_all()
        self.server.shutdown()
        self.server.server_close()

    def answer(self, method, path, body):
        with self.lock:
            if path == "register":
                return 200, json.dumps({"worker": "agent-AAAAAAAAAAAAAAAA", "token": "own", "pool": "apool-AAAAAAAAAAAAAAAA",
                                        "topic": "runyard.jobs.apool-AAAAAAAAAAAAAAAA", "lease-seconds": 3}).encode()
            if path == "claim":
                free = json.loads(body)["slots"]
                taken, self.waiting = self.waiting[:free], self.waiting[free:]
                return 200, json.dumps({"lease-seconds": 3, "jobs": [job.claimed() for job in taken]}).encode()
            if path == "heartbeat":
                return 200, json.dumps({"jobs": [self.held(item) for item in json.loads(body)["jobs"]]}).encode()
            if path == "control":
                return 200, json.dumps({"stops": self.stops(json.loads(body)["told"])}).encode()
            if path == "leave":
                return 204, b""
            if path == "wait" or path.startswith("git/"):
                return 404, b"{}"
            return self.of_job(method, path, body)

    def stops(self, told):
        """The jobs to stop: answers when this differs from the last answer, and otherwise after a while or at the end."""
        wanted = lambda: [{"job": job.id, "attempt": 1, "stop": job.stop} for job in self.jobs if job.result is None and job.stop != "none"]
        self.changed.wait_for(lambda: self.over or any(stop not in told for stop in wanted()), 25)
        return wanted()

    def stop(self, job, how="cancel"):
        with self.lock:
            job.stop = how
            self.changed.notify_all()

    def held(self, item):
        job = next((job for job in self.jobs if job.id == item["job"]), None)
        return {**item, "held": bool(job and job.result is None), "stop": job.stop if job else "none"}

    def of_job(self, method, path, body):
        _, job_id, what = path.split("/", 2)
        job = next((job for job in self.jobs if job.id == job_id), None)
        if not job:
            return 404, b"{}"
        if what == "batch":
            return self.batch(job, body)
        if method == "GET":
            job.asked.append(what)
            file = job.files.get(what)
            return (file, b"{}") if isinstance(file, int) else (200, file) if file is not None else (204, b"")
        if method == "PUT":
            job.sent[what] = body
        elif what == "result":
            job.result = json.loads(body)
        return 204, b""

    def batch(self, job, body):
        head, _, rest = body.partition(b"\n")
        parts = json.loads(head)["parts"]
        for part in parts:
            job.sent[part["path"]], rest = rest[:part["size"]], rest[part["size"]:]
        return 200, json.dumps({"parts": [{"status": 204}] * len(parts)}).encode()

    def offer(self, stage, files, contents=None, **facts):
        with self.lock:
            job = Job(len(self.jobs), stage, {name: value if isinstance(value, (bytes, int)) else json.dumps(value).encode() for name, value in files.items()}, contents,
                      {name.replace("_", "-"): value for name, value in facts.items()})
            self.jobs.append(job)
            self.waiting.append(job)
        return job
