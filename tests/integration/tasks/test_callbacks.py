# SPDX-License-Identifier: MPL-2.0
"""Run tasks send callbacks to the API's own address, and a scheduler forwards them to a notifier."""

import json
import signal
import threading
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import pytest

from support.api import Answer
from support.pending_tasks import PendingTasks
from support.receiver import acknowledges
from support.wait import until

HUGE = "b" * 1_000_000


@pytest.fixture
def pending_tasks(database, api, bus):
    pending_tasks = PendingTasks(database, api, bus)
    yield pending_tasks
    pending_tasks.release()


@pytest.fixture
def request_task(receiver, pending_tasks):
    """request_task() waits for an acknowledged request of a task. Returns its id and the call."""
    service = receiver.service(acknowledges, key=None)

    def send():
        (id,) = pending_tasks.add(service.url)
        call = until(lambda: next((call for call in service.calls if call["task_result_id"] == id), None), "the request arrives")
        until(lambda: pending_tasks.column(id, "delivery") == "acknowledged", "the acknowledgement is stored")
        return id, call

    return send


def callback_url(call, base):
    """The callback's URL at another server."""
    return f"{base}/api/v2/task-results/{call['task_result_id']}/callback"


def document(status="passed", **attributes):
    return json.dumps({"data": {"type": "task-results", "attributes": {"status": status, **attributes}}}).encode()


def claim(scheduler, tokens, **body):
    """A notifier's claim, sent by the test."""
    return notifier_call(scheduler, tokens, "claim", {"notifier": "by-hand", "callback-url": "http://127.0.0.1:9", "max": 10, "ids": [], **body})


def notifier_call(scheduler, tokens, path, body):
    headers = {"Authorization": f"Bearer {tokens['notifier-token']}", "Content-Type": "application/json"}
    request = urllib.request.Request(f"{scheduler.url}/api/notifier/v1/{path}", data=json.dumps(body).encode(), headers=headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return Answer(answer.status, answer.headers, answer.read())
    except urllib.error.HTTPError as error:
        return Answer(error.code, error.headers, error.read())


def test_the_callback_url_has_the_apis_address(request_task, notifier, scheduler, pending_tasks):
    """Services derive the API's address from the callback URL."""
    notifier()
    id, call = request_task()
    base = scheduler.all[0].url
    assert call["task_result_callback_url"] == callback_url(call, base)
    assert call["configuration_version_download_url"].startswith(f"{base}/api/v2/")
    answer = call.back("running", "half of it")
    assert answer.status == 200 and answer.data["id"] == id and answer.headers["TFP-API-Version"] == "2.6"
    assert call.back("failed", "it is bad").status == 200
    assert pending_tasks.ended(id) == "failed" and pending_tasks.column(id, "message") == "it is bad"
    assert (call.back("failed", "it is bad").status, call.back("passed").status) == (200, 409)


@pytest.mark.parametrize("server", ["scheduler", "notifier"])
@pytest.mark.parametrize("end", ["", "/"])
def test_scheduler_and_notifier_accept_callbacks_with_or_without_a_slash(request_task, notifier, scheduler, pending_tasks, server, end):
    """Tasks requested before an upgrade have the notifier's address."""
    one = notifier()
    id, call = request_task()
    answer = call.ask("PATCH", callback_url(call, {"scheduler": scheduler.all[0], "notifier": one}[server].url) + end, document())
    assert answer.status == 200 and pending_tasks.ended(id) == "passed"


def test_large_callbacks_are_forwarded_complete(request_task, notifier, pending_tasks):
    notifier()
    id, call = request_task()
    outcomes = [{"type": "task-result-outcomes", "attributes": {"outcome-id": f"A-{n}", "description": "d", "body": HUGE}} for n in range(8)]
    assert call.back("passed", outcomes=outcomes).status == 200 and pending_tasks.ended(id) == "passed"
    assert pending_tasks.connection.execute("select count(*), min(length(body)) from task_result_outcomes where task_result_id = %s", [id]).fetchone() == (8, len(HUGE))


def test_a_result_has_a_bounded_number_of_outcomes_and_gets_none_after_its_end(request_task, notifier, pending_tasks):
    notifier()
    id, call = request_task()

    def back(status, first, count, description="d"):
        outcomes = [{"type": "task-result-outcomes", "attributes": {"outcome-id": f"A-{n}", "description": description}} for n in range(first, first + count)]
        return call.back(status, outcomes=outcomes).status

    def stored():
        return pending_tasks.connection.execute("select count(*), count(*) filter (where description = 'new') from task_result_outcomes where task_result_id = %s", [id]).fetchone()

    assert back("running", 0, 200) == 200
    assert back("running", 200, 51) == 422 and stored() == (200, 0)
    assert back("running", 150, 100) == 200 and stored() == (250, 0)
    assert back("running", 0, 1, "new") == 200 and stored() == (250, 1)
    assert back("passed", 250, 1) == 422 and pending_tasks.column(id, "status") == "running"
    assert back("passed", 1, 1, "new") == 200 and pending_tasks.ended(id) == "passed"
    assert back("passed", 2, 1, "new") == 200 and stored() == (250, 2)


def test_concurrent_callbacks_are_all_accepted(request_task, notifier, pending_tasks):
    """More callbacks at once than the connections that a notifier permits for one address."""
    notifier(connections_per_address=600)
    id, call = request_task()
    call.patience = 60
    with ThreadPoolExecutor(700) as pool:
        statuses = list(pool.map(lambda n: call.back("running", f"step {n}").status, range(700)))
    assert statuses == [200] * 700
    assert call.back("passed").status == 200 and pending_tasks.ended(id) == "passed"


def test_the_scheduler_refuses_invalid_callbacks_without_a_notifier(request_task, notifier, pending_tasks):
    one = notifier()
    id, call = request_task()
    before = one.metric("runyard_notifier_callbacks_total", status="401")
    assert call.back("passed", token="ry_task_wrong").status == 401
    assert call.back("passed", outcomes=[{"type": "x", "attributes": {"body": HUGE}}], token="ry_task_wrong").status == 401
    other = call["task_result_callback_url"].replace(id, "taskrs-aaaaaaaaaaaaaaaa")
    assert call.ask("PATCH", other, document()).status == 404
    for path in (other.replace("taskrs-aaaaaaaaaaaaaaaa", "..%2f..%2fx"), call["task_result_callback_url"] + "//"):
        assert call.ask("PATCH", path, document()).status == 404
    assert one.metric("runyard_notifier_callbacks_total", status="401") == before
    assert call.back("errored").status == 422 and pending_tasks.column(id, "status") == "running"


def test_callbacks_go_to_another_notifier_after_a_crash(request_task, notifier, scheduler, pending_tasks):
    first, second = notifier(), notifier()
    calls = [request_task() for _ in range(6)]
    first.kill()
    for id, call in calls:
        assert call.back("passed").status == 200 and pending_tasks.ended(id) == "passed"
    assert second.metric("runyard_notifier_callbacks_total", status="200") == 6


def test_a_stopped_notifier_is_skipped(request_task, notifier, pending_tasks):
    first, second = notifier(), notifier()
    calls = [request_task() for _ in range(4)]
    first.process.send(signal.SIGSTOP)
    try:
        for id, call in calls:
            assert call.back("passed").status == 200 and pending_tasks.ended(id) == "passed"
    finally:
        first.process.send(signal.SIGCONT)
    assert [pending_tasks.column(id, "status") for id, _ in calls] == ["passed"] * 4


def test_callbacks_get_503_without_a_notifier(request_task, notifier, pending_tasks):
    notifier_process = notifier()
    id, call = request_task()
    notifier_process.kill()
    answer = call.back("passed")
    assert answer.status == 503 and answer.headers["Retry-After"] and "notifier" in answer.text
    notifier_process.start()
    until(lambda: call.back("passed").status == 200, "the repeated callback is accepted")
    assert pending_tasks.ended(id) == "passed"


def test_a_stopping_scheduler_answers_waiting_callbacks(request_task, notifier, scheduler, pending_tasks):
    only = notifier()
    id, call = request_task()
    only.process.send(signal.SIGSTOP)
    try:
        statuses = []
        asking = threading.Thread(target=lambda: statuses.append(call.back("passed").status))
        asking.start()
        until(lambda: scheduler.all[0].metric("runyard_http_requests_total", method="PATCH", route="/api/v2/task-results/:result/callback", status="200") > 0, "the callback is forwarded")
        assert scheduler.all[0].stop() == 0
        asking.join()
    finally:
        only.process.send(signal.SIGCONT)
    assert statuses == [503]


def test_callback_urls_of_an_earlier_versions_notifier_name_the_notifier(api, scheduler, tokens, receiver, pending_tasks):
    """The notifier does not tell schedulers its address."""
    (id,) = pending_tasks.add("http://127.0.0.1:9/x", send=False)
    (request,) = claim(scheduler.all[0], tokens).json["requests"]
    assert request["id"] == id and json.loads(request["body"])["task_result_callback_url"] == f"http://127.0.0.1:9/api/v2/task-results/{id}/callback"


@pytest.mark.parametrize("given, stored", [("http://*:8081", "http://127.0.0.1:8081"), ("https://notifier-1.internal:8081", "https://notifier-1.internal:8081")])
def test_a_claim_stores_the_notifiers_internal_url(api, scheduler, tokens, pending_tasks, given, stored):
    assert claim(scheduler.all[0], tokens, **{"internal-url": given}).status == 200
    assert pending_tasks.connection.execute("select url from notifiers").fetchall() == [(stored,)]


@pytest.mark.parametrize("given", ["", "file:///etc/passwd", "http://" + "x" * 1100])
def test_an_invalid_internal_url_is_refused(api, scheduler, tokens, pending_tasks, given):
    assert claim(scheduler.all[0], tokens, **{"internal-url": given}).status == 422
    assert pending_tasks.connection.execute("select count(*) from notifiers").fetchone() == (0,)


def test_the_last_try_may_end_after_the_time_to_give_up(api, scheduler, tokens, pending_tasks):
    """It began in time, and its notifier renews the lease."""
    (id,) = pending_tasks.add("http://127.0.0.1:9/x", send=False)
    (request,) = claim(scheduler.all[0], tokens).json["requests"]
    (unsent,) = pending_tasks.add("http://127.0.0.1:9/x", send=False)
    pending_tasks.connection.execute("update task_results set give_up_at = now() - interval '1 minute'")
    assert pending_tasks.ended(unsent) == "unreachable" and pending_tasks.column(id, "status") == "pending"
    delivery = {"id": id, "attempt": request["attempt"], "status": 200, "seconds": 45, "answer": "", "error": None, "end": "acknowledged"}
    assert notifier_call(scheduler.all[0], tokens, "deliveries", {"deliveries": [delivery]}).status == 200
    assert pending_tasks.column(id, "status") == "running"


@pytest.mark.parametrize("redelivered", [False, True])
def test_a_running_task_whose_request_is_not_acknowledged_times_out(api, scheduler, tokens, pending_tasks, redelivered):
    """Its service calls back before it acknowledges, or a user has its request repeated, and then its notifier is lost."""
    (id,) = pending_tasks.add("http://127.0.0.1:9/x", send=False)
    (request,) = claim(scheduler.all[0], tokens).json["requests"]
    callback = {"task-result": id, "token": json.loads(request["body"])["access_token"], "status": "running", "outcomes": None}
    if redelivered:
        delivery = {"id": id, "attempt": request["attempt"], "status": 200, "seconds": 0.1, "answer": "", "error": None, "end": "acknowledged"}
        assert notifier_call(scheduler.all[0], tokens, "deliveries", {"deliveries": [delivery]}).status == 200
    assert notifier_call(scheduler.all[0], tokens, "callbacks", {"callbacks": [callback]}).json["callbacks"][0]["answer"] == 200
    if redelivered:
        api.post(f"task-results/{id}/actions/redeliver")
    assert (pending_tasks.column(id, "status"), pending_tasks.column(id, "due_at")) == ("running", None)
    pending_tasks.connection.execute("update task_results set give_up_at = now() - interval '1 minute', lease_until = now() where id = %s", [id])
    assert pending_tasks.ended(id) == "unreachable" and scheduler.all[0].ready()
