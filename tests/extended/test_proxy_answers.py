# SPDX-License-Identifier: MPL-2.0
"""A proxy in front of the scheduler answers in its place: workers and notifiers ignore answers that are not the
scheduler's."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg
import pytest

from support.configurations import planning_at
from support.http_proxy import HttpProxy
from support.receiver import acknowledges
from support.wait import until

LEASE = 60
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
HTML = [("Content-Type", "text/html")]
ERROR = json.dumps({"errors": [{"status": "404", "title": "not found", "detail": "worker not found"}]}).encode()
REPLIES = {
    "404": (404, [("Content-Type", "application/vnd.api+json")], ERROR),
    "401": (401, [("WWW-Authenticate", "Basic")], b"who is there?"),
    "409": (409, [], b'{"length":1}'),
    "html": (200, HTML, b"<html>sign in first</html>"),
    "large": (200, HTML, b" " * (2 << 20)),
    "502": (502, HTML, b"<html>bad gateway</html>"),
    "another": (404, [("Runyard-Installation", "inst-0123456789abcdef")], ERROR),
}


@pytest.fixture
def front(scheduler):
    front = HttpProxy(scheduler(lease_seconds=LEASE).port)
    yield front
    front.release()


@pytest.fixture
def elsewhere():
    """Another server, which lists the requests that it gets."""
    seen = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            seen.append(self.headers)
            self.send_response(204)
            self.end_headers()

        do_POST = do_PUT = do_GET

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    server.seen = seen
    server.url = f"http://127.0.0.1:{server.server_port}/"
    yield server
    server.shutdown()
    server.server_close()


def lines(process, message):
    return [line for line in process.log_lines() if line.get("msg") == message]


def waits_in(stage, gate):
    if stage == "plan":
        return planning_at(gate)
    return {"main.tf": f"""
resource "terraform_data" "one" {{
  provisioner "local-exec" {{
    command = "{gate.command}"
  }}
}}
"""}


@pytest.mark.parametrize("stage", ["plan", "apply"])
@pytest.mark.parametrize("kind", [*REPLIES, "redirect"])
def test_a_job_continues_after_answers_of_a_proxy(api, front, worker, gate, elsewhere, stage, kind):
    workspace = api.workspace(auto_apply=True)
    one = worker(scheduler_url=front.url, sandbox_bind=gate.folder, brokers=None)
    run = api.run_files(workspace, waits_in(stage, gate))
    gate.wait()
    reply = REPLIES.get(kind) or (302, [("Location", elsewhere.url)], b"")
    front.reply = lambda method, path: reply
    until(lambda: sum(path.endswith("/heartbeat") for path in front.replied) >= 3, "heartbeats get the proxy's answer")
    gate.open()
    uploads = lambda: [path for path in front.replied if "/jobs/" in path]
    until(lambda: len(uploads()) >= 6, "uploads get the proxy's answer")
    front.reply = lambda method, path: None
    api.wait_status(run, "applied")
    assert api.resources(workspace) == ["terraform_data.one"]
    assert api.log(run, stage).strip("\x02\x03").count("terraform_data.one") > 0, "the log is complete"
    assert len(lines(one, "registered")) == 1
    # The scheduler may have the result before the worker knows, and answers so when the worker repeats it.
    until(lambda: one.metric("runyard_worker_jobs_total", stage=stage) == 1, "the worker knows that the job ended")
    assert one.metric("runyard_worker_jobs_total", outcome="lost") == 0
    status = {"html": 200, "large": 200, "redirect": 302, "another": 404}.get(kind) or int(kind)
    (logged,) = lines(one, "the scheduler can't be reached; trying again")
    assert f"status {status}," in logged["why"] and "Runyard-Installation" in logged["why"], logged
    assert not elsewhere.seen


@pytest.mark.parametrize("kind", ["401", "404", "html"])
def test_a_worker_that_starts_waits_for_an_answer_of_the_scheduler(api, front, worker, kind):
    front.reply = lambda method, path: REPLIES[kind]
    one = worker.launch(scheduler_url=front.url, brokers=None)
    until(lambda: len(front.replied) >= 3, "the worker repeats its request")
    front.reply = lambda method, path: None
    one.start_waiting()
    api.wait_status(api.run_files(api.workspace(auto_apply=True), ONE), "applied")


@pytest.mark.parametrize("kind", ["404", "401", "html"])
def test_the_last_state_of_a_killed_worker_is_delivered(api, front, worker, gate, kind):
    """The restarted worker has not registered yet, and ignores the proxy's answers, too."""
    workspace = api.workspace(auto_apply=True)
    one = worker(scheduler_url=front.url, sandbox_bind=gate.folder, brokers=None)
    run = api.run_files(workspace, waits_in("apply", gate))
    gate.wait()
    one.kill()
    front.reply = lambda method, path: REPLIES[kind]
    one.launch()
    until(lambda: sum("/jobs/" in path for path in front.replied) >= 3, "the worker reports its apply")
    front.reply = lambda method, path: None
    one.start_waiting()
    api.wait_status(run, "errored")
    gate.open()
    api.wait_status(api.run_files(workspace, ONE), "applied")
    until(lambda: not list((one.options["data_dir"] / "unsent").iterdir()), "the worker knows that the scheduler has everything")


@pytest.fixture
def short_front(scheduler):
    front = HttpProxy(scheduler(lease_seconds=4).port)
    yield front
    front.release()


def refuses(front, what, status):
    """The proxy refuses that upload, also as a part of another request."""
    front.reply = lambda method, path: (status, HTML, b"<html>no</html>") if path.endswith((f"/{what}", "/batch")) else None


def test_a_plan_that_a_proxy_always_refuses_errors_with_the_proxys_status(api, short_front, worker):
    one = worker(scheduler_url=short_front.url)
    refuses(short_front, "plan", 413)
    run = api.run_files(api.workspace(auto_apply=True), ONE)
    error = api.wait_status(run, "errored")["error"]
    assert "plan" in error and "status 413" in error and "proxy" in error, error
    assert sum(path.endswith("/plan") for path in short_front.replied) >= 12
    assert lines(one, "a proxy answered in the scheduler's place; the request is sent again")
    short_front.reply = lambda method, path: None
    api.wait_status(api.run_files(api.workspace(auto_apply=True), ONE), "applied")


def test_a_state_that_a_proxy_refuses_is_delivered_later(api, short_front, worker):
    worker(scheduler_url=short_front.url)
    refuses(short_front, "state", 403)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, ONE)
    error = api.wait_status(run, "errored")["error"]
    assert "state" in error and "status 403" in error, error
    after = api.run_files(workspace, {"main.tf": ONE["main.tf"] + 'resource "terraform_data" "two" {}\n'})
    assert api.status(after) == "pending", "the workspace is held"
    short_front.reply = lambda method, path: None
    api.wait_status(after, "applied")
    assert api.resources(workspace) == ["terraform_data.one", "terraform_data.two"]
    assert "1 to add" in api.log(after), "the first resource was not created again"


@pytest.mark.parametrize("stage", ["plan", "apply"])
def test_a_worker_whose_registration_was_deleted_keeps_its_attempts(api, scheduler, worker, gate, database, stage):
    scheduler(lease_seconds=8)
    workspace = api.workspace(auto_apply=True)
    one = worker(sandbox_bind=gate.folder, brokers=None)
    run = api.run_files(workspace, waits_in(stage, gate))
    gate.wait()
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("delete from workers")
        until(lambda: len(lines(one, "registered")) == 2, "it registers again")
        until(lambda: connection.execute("select 1 from jobs j join workers w on w.id = j.worker_id where attempt = 1 and j.lease_until > w.created_at + interval '9 seconds'").fetchone(),
              "a heartbeat renews the lease")
    gate.open()
    api.wait_status(run, "applied")
    # The JSON of a plan is uploaded after its result, so the plan's job may end after the run.
    until(lambda: one.metric("runyard_worker_jobs_total") == 2, "both jobs end")
    assert one.metric("runyard_worker_jobs_total", stage=stage, outcome="passed") == 1


@pytest.mark.parametrize("kind", ["404", "401", "422", "html"])
def test_a_notifier_repeats_reports_until_the_scheduler_answers(api, front, worker, notifier, receiver, kind):
    reply = REPLIES.get(kind) or (422, HTML, b"<html>no</html>")
    worker()
    notifier(scheduler_url=front.url)
    service = receiver.service(acknowledges)
    workspace = api.workspace(auto_apply=True)
    api.attach(workspace, api.task(service), "pre_plan")
    front.reply = lambda method, path: reply if path.endswith(("/deliveries", "/callbacks")) else None
    run = api.run_files(workspace, ONE)
    until(lambda: len(front.replied) >= 3, "the proxy answers the notifier's reports")
    assert api.task_result(run, "pre_plan")["attributes"]["status"] == "pending"
    front.reply = lambda method, path: None
    until(lambda: api.task_result(run, "pre_plan")["attributes"]["status"] == "running", "the scheduler learns that the service acknowledged")
    (call,) = service.calls
    call.back("passed")
    api.wait_status(run, "applied")
