# SPDX-License-Identifier: MPL-2.0
# label: extended
"""Requests that workers send: which worker gets them, hostile services and workers, and losses."""

import base64
import json
import socket
import threading

import pytest

from support.api import Api, dashed
from support.documents import document, refused_at, send
from support.fake_worker import FakeWorker
from support.pending_tasks import PendingTasks
from support.receiver import acknowledges, says
from support.wait import until


@pytest.fixture
def pending_tasks(database, api, bus):
    pending_tasks = PendingTasks(database, api, bus)
    yield pending_tasks
    pending_tasks.release()


@pytest.fixture
def pool(api):
    """(id, agent token)"""
    return api.pool("far")


@pytest.fixture
def forwarder(worker, pool):
    """forwarder(option=value...) starts one more worker of the pool, which may send requests to this machine."""
    return lambda **options: worker(**{"agent_token": pool[1], "request_forwarding": 1, "vcs_allow": "127.0.0.1", "brokers": "", "engine": "/nonexistent", **options})


def fake(api, token, **more):
    return FakeWorker(api.url, token, **{"capabilities": ["forward"], **more})


def claim(worker, check=True):
    """One claim, which waits for a request or for the next claim of the same worker."""
    return worker.call("POST", "forwards/claim", {"worker": worker.id, "max": 16}, check=check)


def claimed(worker):
    """The one request that the worker gets."""
    (request,) = until(lambda: claim(worker).json["requests"], "a request comes")
    return request


def answer(worker, request, token=None, **members):
    body = {"status": 200, "seconds": 0.1, "error": None, "headers": {}, "body": "", "internal": False, "forbidden": False, "too-large": False, "retry-after": 0}
    return worker.call("POST", f"forwards/{request['id']}/answer", {"worker": worker.id, "answer": {**body, **members}}, token, check=False)


# ---- the pool of a task ----


def task_in(api, pool, url="https://tasks.example.com/", **attributes):
    relations = {"agent-pool": {"data": {"type": "agent-pools", "id": pool}}} if pool else {}
    return api.call("POST", f"organizations/{api.organization}/tasks", document("tasks", dashed({"url": url, "category": "task", "name": "private", **attributes}), **relations))


def test_a_task_has_an_agent_pool(api, pool, receiver):
    service = receiver.service(acknowledges)
    made = task_in(api, pool[0], service.url, hmac_key=service.key).data
    assert made["relationships"]["agent-pool"]["data"] == {"type": "agent-pools", "id": pool[0]}

    def shown():
        return api.get(f"tasks/{made['id']}").data["relationships"]["agent-pool"]["data"]

    assert send(api, "PATCH", f"tasks/{made['id']}", "tasks", description="the same pool").status == 200 and shown()["id"] == pool[0]
    answer = api.call("DELETE", f"agent-pools/{pool[0]}")
    assert answer.status == 409 and "run tasks" in answer.text
    # Without the pool, the scheduler sends the test request itself.
    cleared = {"data": {"type": "tasks", "attributes": {}, "relationships": {"agent-pool": {"data": None}}}}
    assert api.call("PATCH", f"tasks/{made['id']}", cleared).status == 200 and shown() is None
    assert len(service.tests) == 1
    api.delete(f"agent-pools/{pool[0]}")


def test_pools_of_others_are_refused(api, api_of_another, receiver, ask):
    strange, _ = api_of_another.pool("strange")
    ((shared,),) = ask("select id from agent_pools where organization_id is null")
    limited = send(api, "POST", f"organizations/{api.organization}/agent-pools", "agent-pools", name="limited", organization_scoped=False).data["id"]
    for id in (strange, shared, limited, "apool-none"):
        made = task_in(api, id)
        assert "The provided agent pool does not exist" in refused_at(made, "/data/relationships/agent-pool"), made.text


@pytest.fixture
def api_of_another(api):
    """A client of another organization."""
    name = api.post("organizations", {"data": {"type": "organizations", "attributes": {"name": "other", "email": "other@example.com"}}}).data["id"]
    return Api(api.url, api.token, organization=name)


def test_the_test_request_goes_through_the_pool(api, pool, forwarder, receiver):
    forwarder()
    service = receiver.service(acknowledges)
    service.test_code = 500
    made = task_in(api, pool[0], service.url, hmac_key=service.key)
    assert "it answered 500" in refused_at(made, "/data/attributes/url"), made.text
    assert len(service.tests) == 1
    for url in ("http://169.254.169.254/latest", "http://10.0.0.1/"):
        made = task_in(api, pool[0], url)
        assert "requests go to public addresses only" in refused_at(made, "/data/attributes/url"), made.text


# ---- which worker gets a request ----


def test_only_workers_of_the_pool_get_its_requests(api, pool, notifier, pending_tasks, tokens, ask):
    """What a request says is nowhere in plain text, and gone when its answer was read."""
    notifier()
    other = fake(api, api.pool("near")[1], name="other")
    shared = fake(api, tokens["agent-token"], name="shared")
    mine = fake(api, pool[1], name="mine")
    got = {}
    threads = [threading.Thread(target=lambda worker=worker: got.update({worker: claim(worker).json["requests"]})) for worker in (other, shared)]
    for thread in threads:
        thread.start()
    (id,) = pending_tasks.add("http://tasks.internal/check", pool=pool[0])
    request = claimed(mine)
    stored = ask("select request_sealed from forwards where id = %s", request["id"])[0][0]
    token = json.loads(request["request"]["body"])["access_token"]
    assert request["request"]["url"] == "http://tasks.internal/check" and token
    assert token.encode() not in bytes(stored) and b"internal" not in bytes(stored)
    for worker in (other, shared):
        assert answer(worker, request).status == 404
    for bearer in (other.token, shared.token, mine.own_token, tokens["notifier-token"], tokens["token"], "nonsense"):
        assert answer(mine, request, bearer).status in (401, 403, 404), "the pool's token and the worker must fit"
    assert answer(mine, request).status == 204
    assert answer(mine, request).status == 404, "a request has one answer"
    until(lambda: pending_tasks.column(id, "delivery") == "acknowledged", lambda: f"the answer arrives: {pending_tasks.row(id)}")
    until(lambda: ask("select count(*) from forwards") == [(0,)], "the request is deleted")
    for worker in (other, shared):  # another claim ends the one that waits
        threading.Thread(target=lambda worker=worker: claim(worker, check=False), daemon=True).start()
    for thread in threads:
        thread.join()
    assert list(got.values()) == [[], []]


def test_a_worker_that_does_not_forward_gets_none(api, pool, notifier, pending_tasks, worker):
    worker(agent_token=pool[1], brokers="")
    notifier()
    (id,) = pending_tasks.add("http://tasks.internal/check", pool=pool[0])
    until(lambda: pending_tasks.deliveries(id), "a try is reported")
    assert "with request forwarding" in pending_tasks.deliveries(id)[0][2]


def test_a_revoked_token_gets_none(api, pool, notifier, pending_tasks):
    mine = fake(api, pool[1])
    for token in api.get(f"agent-pools/{pool[0]}/authentication-tokens").data:
        api.delete(f"authentication-tokens/{token['id']}")
    assert claim(mine, check=False).status == 401


def test_a_notifier_of_the_release_before_gets_none(api, pool, pending_tasks, tokens):
    (id,) = pending_tasks.add("http://tasks.internal/check", pool=pool[0], send=False)
    old = Api(api.url, tokens["notifier-token"])
    body = {"notifier": "old", "callback-url": "http://127.0.0.1:9", "max": 200, "ids": [id], "calls": True}
    assert old.ask("POST", f"{api.url}/api/notifier/v1/claim", body).json["requests"] == []
    assert len(old.ask("POST", f"{api.url}/api/notifier/v1/claim", {**body, "forwards": True}).json["requests"]) == 1


@pytest.mark.parametrize("members", [{"status": 7}, {"status": "200"}, {"headers": []}, {"headers": {"link": 7}}, {"headers": {"link": [7]}}, {"body": 7}, {"body": "not base64!"}])
def test_a_worker_with_a_malformed_answer_harms_nobody(api, pool, notifier, pending_tasks, members):
    first = notifier()
    mine = fake(api, pool[1])
    (id,) = pending_tasks.add("http://tasks.internal/check", pool=pool[0])
    request = claimed(mine)
    if answer(mine, request, **members).status == 204:
        until(lambda: pending_tasks.deliveries(id), "the answer arrives")
    else:
        assert answer(mine, request).status == 204
        until(lambda: pending_tasks.column(id, "delivery") == "acknowledged", "a good answer is still possible")
    assert first.ready()


# ---- addresses ----


@pytest.mark.parametrize("url", ["http://127.0.0.2:1/", "http://10.0.0.1/", "http://[::1]/", "http://169.254.169.254/latest", "http://[::ffff:169.254.169.254]/", "http://localhost:1/", "ftp://example.com/", "file:///etc/passwd"])
def test_the_worker_refuses_addresses_that_its_operator_does_not_permit(notifier, pool, forwarder, pending_tasks, url):
    forwarder(vcs_allow="192.168.7.0/24")
    notifier()
    (id,) = pending_tasks.add(url, pool=pool[0])
    assert pending_tasks.ended(id) == "unreachable"
    assert len(pending_tasks.deliveries(id)) == 1, "no other try is made"


def test_redirects_are_not_followed(receiver, notifier, pool, forwarder, pending_tasks):
    elsewhere = receiver.service(says("passed"), key=None)
    service = receiver.service(lambda call: call.answer(302, location=elsewhere.url), key=None)
    forwarder()
    notifier()
    (id,) = pending_tasks.add(service.url, give_up=1, pool=pool[0])
    assert pending_tasks.ended(id) == "failed"
    assert not elsewhere.calls


# ---- services ----


class Endless:
    """Answers 200 with a body without end, or not at all."""

    def __init__(self, silent=False):
        self.sent = 0
        self.requests = 0
        self.silent = silent
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self.socket.getsockname()[1]}/"
        threading.Thread(target=self.serve, daemon=True).start()

    def serve(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            threading.Thread(target=self.answer, args=(connection,), daemon=True).start()

    def answer(self, connection):
        try:
            connection.recv(65536)
            self.requests += 1
            if self.silent:
                while connection.recv(65536):
                    pass
                return
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1073741824\r\n\r\n")
            while self.sent < 1 << 30:
                self.sent += connection.send(b"x" * 65536)
        except OSError:
            pass
        finally:
            connection.close()

    def release(self):
        self.socket.close()


@pytest.fixture
def endless():
    endless = Endless()
    yield endless
    endless.release()


@pytest.fixture
def silent():
    silent = Endless(silent=True)
    yield silent
    silent.release()


def test_an_answer_without_end_is_cut_off(endless, notifier, pool, forwarder, pending_tasks):
    forwarder()
    notifier()
    (id,) = pending_tasks.add(endless.url, pool=pool[0])
    until(lambda: pending_tasks.column(id, "delivery") == "acknowledged", lambda: f"its status counts: {pending_tasks.row(id)}")
    assert endless.sent < 32 << 20


def test_a_service_that_never_answers_delays_no_other(silent, notifier, pool, forwarder, pending_tasks, receiver):
    service = receiver.service(says("passed"), key=None)
    forwarder()
    notifier(response_timeout_ms=2000)
    slow = pending_tasks.add(*[silent.url] * 20, give_up=30, pool=pool[0])
    until(lambda: silent.requests, "a request is at the silent service")
    (id,) = pending_tasks.add(service.url, pool=pool[0])
    assert pending_tasks.ended(id) == "passed"
    reported = until(lambda: [row for each in slow for row in pending_tasks.deliveries(each)], "the others are reported")
    assert {status for status, _, _ in reported} == {0}, (reported, silent.requests, silent.sent, silent.url, service.url)


def test_the_same_address_in_two_networks_has_two_circuits(api, pool, notifier, pending_tasks):
    """The failures of one organization's service do not pause another's, which has the same private address."""
    first = notifier()
    mine, other_pool = fake(api, pool[1], name="mine"), api.pool("near")
    other = fake(api, other_pool[1], name="other")
    url = "http://10.0.0.9/check"
    (failing,) = pending_tasks.add(url, pool=pool[0])
    for _ in range(5):
        request = claimed(mine)
        assert answer(mine, request, status=500).status == 204
    until(lambda: first.metric("runyard_notifier_circuits", state="open") == 1, "the circuit is open")
    (id,) = pending_tasks.add(url, pool=other_pool[0])
    request = claimed(other)
    assert answer(other, request).status == 204
    until(lambda: pending_tasks.column(id, "delivery") == "acknowledged", "the other pool's request is sent")
    assert pending_tasks.column(failing, "delivery") == "claimed"


def test_users_do_not_see_answers_of_listed_addresses(receiver, notifier, pool, forwarder, pending_tasks):
    service = receiver.service(lambda call: call.answer(200, body=b"internal"), key=None)
    forwarder()
    notifier()
    (id,) = pending_tasks.add(service.url, pool=pool[0])
    until(lambda: pending_tasks.deliveries(id), "the try is reported")
    assert pending_tasks.deliveries(id)[0] == (200, None, None)


def test_the_token_of_a_request_is_redacted_in_what_users_see(api, notifier, pool, pending_tasks):
    notifier()
    mine = fake(api, pool[1])
    (id,) = pending_tasks.add("http://tasks.example.com/", pool=pool[0])
    request = claimed(mine)
    token = json.loads(request["request"]["body"])["access_token"]
    assert answer(mine, request, body=base64.b64encode(f"you sent {token}".encode()).decode()).status == 204
    until(lambda: pending_tasks.deliveries(id), "the try is reported")
    assert pending_tasks.deliveries(id)[0] == (200, "you sent ***", None)


def test_a_request_that_is_too_large_fails_alone(api, receiver, notifier, pool, forwarder, pending_tasks, ask):
    """The requests of one call to the scheduler are of many organizations."""
    service = receiver.service(says("passed"), key=None)
    forwarder()
    url = "http://127.0.0.1:9/" + "x" * (1 << 20)
    large, *others = pending_tasks.add(url, *[service.url] * 5, pool=pool[0], send=False)
    notifier()
    assert pending_tasks.ended(large) == "unreachable"
    assert "larger than 1 MiB" in pending_tasks.column(large, "message")
    for id in others:
        assert pending_tasks.ended(id) == "passed"


# ---- losses ----


def test_a_killed_workers_request_is_tried_by_another(receiver, notifier, pool, forwarder, pending_tasks):
    held = threading.Event()

    def act(call):
        if len(call.service.calls) == 1:
            held.wait()
            call.answer()
        else:
            says("passed")(call)

    service = receiver.service(act, key=None)
    first = forwarder()
    notifier(response_timeout_ms=3000, connect_timeout_ms=1000)
    (id,) = pending_tasks.add(service.url, pool=pool[0])
    service.got()
    first.kill()
    forwarder()
    try:
        assert pending_tasks.ended(id) == "passed"
    finally:
        held.set()
    assert len(service.calls) == 2
    until(lambda: len(pending_tasks.deliveries(id)) == 2, "both tries are reported")
    status, _, error = pending_tasks.deliveries(id)[0]
    assert status == 0 and "has not answered" in error


def test_a_notifier_and_a_worker_at_two_schedulers(scheduler, receiver, notifier, forwarder, pending_tasks, pool):
    second = scheduler()
    service = receiver.service(says("passed"), key=None)
    notifier()
    forwarder(scheduler_url=second.url)
    ids = [pending_tasks.add(service.url, pool=pool[0])[0] for _ in range(10)]
    for id in ids:
        assert pending_tasks.ended(id) == "passed"
    assert len(service.calls) == 10


def test_a_killed_notifiers_request_is_sent_by_another(scheduler, receiver, notifier, forwarder, pool, bus, database, api):
    scheduler_2 = scheduler(lease_seconds=4)
    pending = PendingTasks(database, api, bus)
    service = receiver.service(says("passed"), key=None)
    mine = fake(api, pool[1])
    first = notifier(scheduler_url=scheduler_2.url)
    (id,) = pending.add(service.url, pool=pool[0])
    request = claimed(mine)
    first.kill()
    assert answer(mine, request).status == 204, "nobody reads it"
    mine.leave()
    forwarder(scheduler_url=scheduler_2.url)  # it learns the lease, after which it would count as gone, from this scheduler
    notifier(scheduler_url=scheduler_2.url)
    assert pending.ended(id) == "passed"
    pending.release()


def test_a_draining_worker_finishes_its_requests(receiver, notifier, pool, forwarder, pending_tasks):
    service = receiver.service(says("passed"), key=None)
    held = threading.Event()
    service.act = lambda call: (held.wait(), says("passed")(call))
    first = forwarder()
    notifier()
    (id,) = pending_tasks.add(service.url, pool=pool[0])
    service.got()
    stopping = threading.Thread(target=first.stop)
    stopping.start()
    until(lambda: first.metric("runyard_worker_draining") == 1, "the worker drains")
    held.set()
    assert pending_tasks.ended(id) == "passed"
    stopping.join()
    assert len(service.calls) == 1


def test_requests_survive_a_restart_of_the_scheduler(scheduler, receiver, notifier, pool, forwarder, pending_tasks):
    service = receiver.service(says("passed"), key=None)
    held = threading.Event()
    service.act = lambda call: (held.wait(), says("passed")(call))
    forwarder()
    notifier()
    (id,) = pending_tasks.add(service.url, pool=pool[0])
    service.got()
    scheduler.all[0].restart(kill=True)
    held.set()
    assert pending_tasks.ended(id) == "passed"
