# SPDX-License-Identifier: MPL-2.0
"""The notifier with a real scheduler, PostgreSQL, Redis and broker, and typical services."""

import http.server
import json
import socket
import ssl
import subprocess
import threading
import urllib.request
from urllib.parse import urlsplit

import pytest
from support.pending_tasks import PendingTasks
from support.receiver import acknowledges, answers, says, says_first
from support.wait import until


@pytest.fixture
def pending_tasks(database, api, bus):
    pending_tasks = PendingTasks(database, api, bus)
    yield pending_tasks
    pending_tasks.release()


def circuits(notifier):
    return json.loads(notifier.get("/circuits")[1])["circuits"]


def as_public(service):
    """The service's URL with a public name, for a notifier whose proxy is the receiver."""
    return f"http://service.example.com/{service.name}"


def unkeyed(receiver, act):
    return receiver.service(act, key=None)


# ---- requests and callbacks ----


def test_a_callback_before_the_answer_ends_the_task(receiver, notifier, pending_tasks):
    service = unkeyed(receiver, says_first("passed", "all is well"))
    notifier()
    (id,) = pending_tasks.add(service.url)
    assert pending_tasks.ended(id) == "passed"
    until(lambda: pending_tasks.deliveries(id), "the delivery is in the log")
    assert pending_tasks.column(id, "message") == "all is well"
    assert pending_tasks.column(id, "attempt") == 1
    assert service.answers == [200]


def test_callbacks_after_the_answer_update_and_end_the_task(receiver, notifier, pending_tasks):
    service = unkeyed(receiver, acknowledges)
    notifier()
    (id,) = pending_tasks.add(service.url)
    call = service.got()
    until(lambda: pending_tasks.column(id, "delivery") == "acknowledged", "the acknowledgement is stored")
    assert call.back("running", "half of it").status == 200
    assert pending_tasks.row(id)[:2] == ("running", "half of it")
    answer = call.back("failed", "it is bad", url="https://example.com/why", outcomes=[
        {"type": "task-result-outcomes", "attributes": {"outcome-id": "A-1", "description": "bad", "tags": {"Cost Centre": [{"label": "IT"}]}}}])
    assert answer.status == 200
    assert answer.data["id"] == id
    assert pending_tasks.ended(id) == "failed"
    assert call.back("failed", "it is bad").status == 200
    assert call.back("passed").status == 409
    assert call.back("running").status == 409


def test_requests_are_delivered_without_kafka(receiver, notifier, pending_tasks):
    service = unkeyed(receiver, says("passed"))
    notifier(brokers=None)
    (id,) = pending_tasks.add(service.url, send=False)
    assert pending_tasks.ended(id) == "passed"


def test_server_errors_are_retried_after_retry_after(receiver, notifier, pending_tasks):
    service = unkeyed(receiver, answers(503, 500, then=says("passed"), retry_after=1))
    notifier()
    (id,) = pending_tasks.add(service.url)
    assert pending_tasks.ended(id) == "passed"
    until(lambda: len(pending_tasks.deliveries(id)) == 3, "all attempts are in the log")
    assert [status for status, _, _ in pending_tasks.deliveries(id)] == [503, 500, 200]


def test_a_callback_ends_the_retries(receiver, notifier, pending_tasks):
    service = unkeyed(receiver, says_first("failed", "no", code=500))
    first = notifier()
    (id,) = pending_tasks.add(service.url)
    assert pending_tasks.ended(id) == "failed"
    until(lambda: first.metric("runyard_notifier_deliveries") == 0, "no delivery is pending")
    assert pending_tasks.column(id, "message") == "no"
    assert len(service.calls) == 1


def test_an_unacknowledged_request_fails_after_its_deadline(receiver, notifier, pending_tasks):
    service = unkeyed(receiver, answers(404))
    notifier()
    (id,) = pending_tasks.add(service.url, give_up=6)
    until(lambda: pending_tasks.column(id, "delivery") == "over", "the delivery ends")
    assert pending_tasks.ended(id) == "failed"
    assert len(service.calls) > 1


def test_a_task_of_an_unreachable_service_ends_unreachable(notifier, pending_tasks, receiver):
    notifier()
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        (id,) = pending_tasks.add(f"http://127.0.0.1:{taken.getsockname()[1]}/", give_up=1)
        assert pending_tasks.ended(id) == "unreachable"


@pytest.mark.parametrize("url", ["http://127.0.0.2:1/", "http://10.0.0.1/", "http://[::1]/", "http://[::ffff:169.254.169.254]/latest", "http://0x7f.2/", "http://localhost:1/"])
def test_private_addresses_are_refused(notifier, pending_tasks, url):
    notifier(allow="192.168.7.0/24")
    (id,) = pending_tasks.add(url)
    assert pending_tasks.ended(id) == "unreachable"
    assert len(pending_tasks.deliveries(id)) == 1


def test_redirects_are_not_followed(receiver, notifier, pending_tasks):
    elsewhere = unkeyed(receiver, says("passed"))
    service = unkeyed(receiver, answers(302, location=elsewhere.url))
    notifier()
    (id,) = pending_tasks.add(service.url, give_up=1)
    assert pending_tasks.ended(id) == "failed"
    assert not elsewhere.calls


def test_an_untrusted_certificate_is_refused(notifier, pending_tasks, folder):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", folder / "key", "-out", folder / "certificate", "-days", "2",
                    "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "certificate", folder / "key")
    server = http.server.HTTPServer(("127.0.0.1", 0), http.server.BaseHTTPRequestHandler)
    server.handle_error = lambda *_: None
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    notifier()
    (id,) = pending_tasks.add(f"https://127.0.0.1:{server.server_port}/", give_up=1)
    assert pending_tasks.ended(id) == "unreachable"
    assert "certificate" in pending_tasks.deliveries(id)[0][2]
    server.shutdown()
    server.server_close()


def test_a_long_answer_is_truncated(receiver, notifier, pending_tasks):
    service = unkeyed(receiver, lambda call: call.answer(200, b"x" * 1_000_000))
    notifier(allow="", proxy=f"http://127.0.0.1:{receiver.port}")
    (id,) = pending_tasks.add(as_public(service))
    until(lambda: pending_tasks.column(id, "delivery") == "acknowledged", "the request is acknowledged")
    assert pending_tasks.deliveries(id)[0][1] == "x" * 1024


def test_the_answer_of_a_service_on_the_allow_list_is_not_logged(receiver, notifier, pending_tasks):
    services = [unkeyed(receiver, lambda call, code=code: call.answer(code, b"a page of the inside")) for code in (200, 404)]
    notifier()
    ids = pending_tasks.add(*[service.url for service in services], give_up=2)
    for id, code in zip(ids, (200, 404)):
        until(lambda: pending_tasks.deliveries(id), "the delivery is in the log")
        assert pending_tasks.deliveries(id)[0][:2] == (code, None)


@pytest.mark.parametrize("padding", [10, 900, 940])
def test_the_access_token_is_not_logged(receiver, notifier, pending_tasks, padding):
    service = unkeyed(receiver, lambda call: call.answer(200, b"got\0 \xff" + call["access_token"].encode() + b"x" * padding + call["access_token"].encode()))
    notifier(allow="", proxy=f"http://127.0.0.1:{receiver.port}")
    (id,) = pending_tasks.add(as_public(service))
    until(lambda: pending_tasks.deliveries(id), "the delivery is in the log")
    answer = pending_tasks.deliveries(id)[0][1]
    assert answer.startswith("got? ?***xx") and service.calls[0]["access_token"][:8] not in answer


def test_a_failing_service_opens_its_circuit(receiver, notifier, pending_tasks):
    service = unkeyed(receiver, answers(500))
    first = notifier()
    pending_tasks.add(*[service.url] * 8)
    until(lambda: [c["state"] for c in circuits(first)] == ["open"], "the circuit opens")
    assert circuits(first)[0]["url"] == service.url
    assert circuits(first)[0]["probe-in-ms"] > 0
    (later,) = pending_tasks.add(service.url)
    until(lambda: pending_tasks.column(later, "delivery") == "claimed", "the request is claimed")
    assert later not in [call["task_result_id"] for call in service.calls]


# ---- the form of callbacks ----

INVALID_CALLBACKS = [
    (b"{", ""),
    ({"data": []}, "/data"),
    ({"data": {"type": "runs"}}, "/data/type"),
    ({"data": {"type": "task-results"}}, "/data/attributes"),
    ({"data": {"type": "task-results", "attributes": {"status": "errored"}}}, "/data/attributes/status"),
    ({"data": {"type": "task-results", "attributes": {"status": "passed", "message": "é" * 1001}}}, "/data/attributes/message"),
]


def test_a_slow_host_does_not_take_the_room_of_others(receiver, notifier, pending_tasks):
    """Most of its requests can't be sent yet."""
    held = threading.Event()
    slow, other = unkeyed(receiver, lambda call: held.wait()), unkeyed(receiver, says_first("passed"))
    try:
        notifier(max_in_flight=10, per_host=2)
        pending_tasks.add(*[slow.url] * 30)
        until(lambda: pending_tasks.count(task_url=slow.url, delivery="claimed") >= 10, "the notifier has as many as may be in flight")
        (id,) = pending_tasks.add(other.url.replace("127.0.0.1", "localhost"))
        assert pending_tasks.ended(id) == "passed"
    finally:
        held.set()


def test_invalid_callbacks_are_refused(receiver, notifier, pending_tasks):
    service = unkeyed(receiver, acknowledges)
    first = notifier()
    (id,) = pending_tasks.add(service.url)
    call = service.got()
    for document, pointer in INVALID_CALLBACKS:
        answer = call.back_with(document)
        assert answer.status == 422, document
        assert answer.json["errors"][0].get("source", {}).get("pointer", "") == pointer
    assert call.back("passed", token="wrong").status == 401
    other = call["task_result_callback_url"].replace(id, "taskrs-aaaaaaaaaaaaaaaa")
    assert call.ask("PATCH", other, json.dumps({"data": {"type": "task-results", "attributes": {"status": "passed"}}}).encode()).status == 404
    request = urllib.request.Request(call["task_result_callback_url"], method="PATCH", data=b"{}")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(request)
    assert call.back("passed", "é" * 1000).status == 200
    assert first.metric("runyard_notifier_callbacks_total", status="422") == len(INVALID_CALLBACKS)


def test_connection_close_is_honored(receiver, notifier, pending_tasks):
    service = unkeyed(receiver, acknowledges)
    first = notifier()
    pending_tasks.add(service.url)
    call = service.got()
    path = urlsplit(call["task_result_callback_url"]).path
    body = json.dumps({"data": {"type": "task-results", "attributes": {"status": "passed"}}})
    head = f"PATCH {path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {call['access_token']}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    with socket.create_connection(("127.0.0.1", first.port)) as connection:
        connection.sendall((head + body).encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b"")).decode()
    assert answer.startswith("HTTP/1.1 200") and "connection: close" in answer.lower()


# ---- time ----


def test_a_task_without_progress_fails(receiver, notifier, scheduler, pending_tasks):
    scheduler.all[0].options["task_progress_seconds"] = 1
    scheduler.all[0].restart()
    service = unkeyed(receiver, acknowledges)
    notifier()
    (id,) = pending_tasks.add(service.url)
    assert pending_tasks.ended(id) == "failed"
    assert "No answer" in pending_tasks.column(id, "message")
    assert service.got().back("passed").status == 409
    assert scheduler.all[0].metric("runyard_run_task_deadline_late_seconds_count") == 1
    assert scheduler.all[0].metric("runyard_run_task_deadline_late_seconds_sum") < 30


def test_an_unreported_deadline_fires_again(notifier, redis):
    first = notifier()
    redis.command("zadd", "{runyard.deadlines}:fired", "1", "taskrs-aaaaaaaaaaaaaaaa")
    redis.command("zadd", "{runyard.deadlines}:waiting", "1", "taskrs-bbbbbbbbbbbbbbbb")
    until(lambda: first.metric("runyard_notifier_deadlines_fired_total", outcome="over") == 2, "both fire, and the scheduler knows neither task")
    until(lambda: redis.command("exists", "{runyard.deadlines}:fired", "{runyard.deadlines}:waiting") == "0", "both are removed")


# ---- start and stop of notifiers ----


def test_a_draining_notifier_returns_waiting_requests(receiver, notifier, pending_tasks):
    service = unkeyed(receiver, answers(503, then=says("passed"), retry_after=300))
    first = notifier()
    (id,) = pending_tasks.add(service.url)
    until(lambda: pending_tasks.deliveries(id), "the request is sent once")
    assert first.stop() == 0
    assert pending_tasks.column(id, "delivery") == "waiting"
    notifier()
    assert pending_tasks.ended(id) == "passed"


def test_a_second_signal_ends_the_notifier_at_once(receiver, notifier, pending_tasks):
    over = threading.Event()
    service = unkeyed(receiver, lambda call: over.wait())
    first = notifier()
    pending_tasks.add(service.url)
    service.got()
    first.process.send(15)
    until(lambda: "draining" in first.process.log(), "the notifier drains")
    assert first.ready() is False
    first.process.send(15)
    assert first.process.ended() == 0
    over.set()


def test_two_notifiers_send_each_request_once(receiver, notifier, pending_tasks):
    service = unkeyed(receiver, says_first("passed"))
    notifier(), notifier()
    ids = pending_tasks.add(*[service.url] * 60)
    for id in ids:
        assert pending_tasks.ended(id) == "passed"
    assert len(service.calls) == 60


def test_callbacks_get_503_until_the_broker_is_back(receiver, notifier, pending_tasks, bus):
    service = unkeyed(receiver, acknowledges)
    notifier()
    (id,) = pending_tasks.add(service.url)
    call = service.got()
    bus.process.stop(9)
    assert call.back("passed").status == 503
    bus.start()
    until(lambda: call.back("passed").status == 200, "the repeated callback is accepted")
    assert pending_tasks.ended(id) == "passed"
