# SPDX-License-Identifier: MPL-2.0
# label: extended
"""Run tasks during faults: each ends correctly, once."""

import signal
from urllib.parse import urlsplit, urlunsplit

import pytest

from support.receiver import acknowledges, says
from support.wait import until

CHANGES = {"main.tf": 'resource "terraform_data" "one" {\n  input = "hello"\n}\n'}
MANY, FEW = 12, 4


class Case:
    """Runs that wait in their pre_plan stage, each for its own task."""

    def __init__(self, api, receiver, act, count=MANY):
        self.api = api
        self.service = receiver.service(act)
        self.task = api.task(self.service)
        self.runs = [self.start() for _ in range(count)]

    def start(self):
        workspace = self.api.workspace(auto_apply=True)
        self.api.attach(workspace, self.task, "pre_plan")
        return self.api.run_files(workspace, CHANGES)

    def wait_acknowledged(self):
        """Waits until every request is answered, and the scheduler has the reports."""
        until(lambda: len(self.first_calls()) == len(self.runs), lambda: f"{len(self.first_calls())} of {len(self.runs)} were called")
        until(lambda: all(self.result(run)["status"] == "running" for run in self.runs), "all are known to be acknowledged")

    def first_calls(self):
        """The first call of each run."""
        calls = {}
        for call in list(self.service.calls):
            calls.setdefault(call["run_id"], call)
        return calls

    def result(self, run):
        return self.api.task_result(run, "pre_plan")["attributes"]

    def back(self, call, status="passed", notifier=None):
        """Repeats a callback until it has a final answer, as a persistent service does. If `notifier` is given, sends
        it through that one, as a load balancer would. Returns the answer's status."""
        if notifier:
            url = urlsplit(call["task_result_callback_url"])
            call.document["task_result_callback_url"] = urlunsplit(url._replace(netloc=f"127.0.0.1:{notifier.port}"))

        def answered():
            try:
                answer = call.back(status)
            except OSError:
                return None
            return answer.status if answer.status < 500 else None

        return until(answered, "an answer to the callback")

    def end(self, status):
        """Every run ends, with one report of its stage."""
        for run in self.runs:
            self.api.wait_status(run, "applied" if status == "passed" else "errored")
            result = self.result(run)
            assert result["status"] == status, result
            ends = [action for action, _ in self.api.events(run) if action in ("passed", "failed", "warned")]
            assert ends == (["passed", "passed", "passed"] if status == "passed" else ["failed"]), ends


@pytest.fixture
def private_redis(redis):
    """Redis. It is restarted for the next test."""
    yield redis
    if not redis.process.alive():
        redis.start()


@pytest.fixture
def waiting(scheduler, worker, notifier, receiver, api):
    """waiting(act) creates a case. Deadlines are long enough for faults and short enough to wait for."""

    def make(act=acknowledges, count=MANY):
        return Case(api, receiver, act, count)

    return make


@pytest.fixture
def quick(scheduler):
    """The first scheduler, with short leases, and with deadlines that tests wait for."""
    return scheduler(lease_seconds=3, task_delivery_seconds=60, task_progress_seconds=10, task_total_seconds=60)


@pytest.fixture
def lasting(scheduler):
    """The first scheduler, with short leases, and with deadlines that are never reached."""
    return scheduler(lease_seconds=3, task_delivery_seconds=300, task_progress_seconds=300, task_total_seconds=300)


# ---- Redis ----


def lose_redis(redis, how):
    if how == "emptied":
        assert redis.command("flushall") == "OK"
    else:
        redis.restart(signal.SIGKILL)


@pytest.mark.parametrize("how", ["emptied", pytest.param("killed", marks=pytest.mark.extended)])
def test_callbacks_are_accepted_after_redis_lost_its_data(lasting, private_redis, notifier, worker, waiting, how):
    worker()
    notifier()
    case = waiting()
    case.wait_acknowledged()
    lose_redis(private_redis, how)
    assert {case.back(call) for call in case.first_calls().values()} == {200}
    case.end("passed")
    assert len(case.service.calls) == MANY


@pytest.mark.parametrize("how", ["emptied", pytest.param("killed", marks=pytest.mark.extended)])
def test_deadlines_are_kept_after_redis_lost_its_data(quick, private_redis, notifier, worker, waiting, how):
    worker()
    notifier()
    case = waiting(count=FEW)
    case.wait_acknowledged()
    lose_redis(private_redis, how)
    case.end("failed")
    assert all("No answer" in case.result(run)["message"] for run in case.runs)
    assert {case.back(call) for call in case.first_calls().values()} == {409}


def test_the_sweeper_ends_silent_tasks_without_redis(quick, private_redis, notifier, worker, waiting):
    worker()
    notifier()
    case = waiting(count=3)
    case.wait_acknowledged()
    private_redis.process.kill()
    assert case.back(case.first_calls()[case.runs[0]]) == 200
    case.api.wait_status(case.runs.pop(0), "applied")
    case.end("failed")


# ---- the notifier ----


def sent_by(call, notifier):
    return f"(+{notifier.url};" in call.headers["User-Agent"]


def test_another_notifier_repeats_the_requests_of_a_killed_one(lasting, notifier, worker, waiting):
    """The killed notifier's requests are in flight. They are repeated when the lease has expired, and no task is counted
    twice."""
    worker()
    notifier()
    notifier()
    case = waiting(act=hold)
    until(lambda: len(case.service.calls) == MANY, lambda: f"{len(case.service.calls)} requests came")
    by = {notifier: [call for call in case.service.calls if sent_by(call, notifier)] for notifier in notifier.all}
    dead, other = sorted(notifier.all, key=lambda one: len(by[one]), reverse=True)
    assert by[dead]
    dead.kill()
    case.service.act = says("passed")
    for call in by[other]:
        call.answer()
        assert case.back(call) == 200
    case.end("passed")
    again = [call["run_id"] for call in case.service.calls[MANY:]]
    assert sorted(again) == sorted(call["run_id"] for call in by[dead])
    # The callbacks of the first requests' services are late, or repetitions.
    assert case.back(by[dead][0], "failed", notifier=other) in (401, 409)
    case.end("passed")


def hold(call):
    """Neither answers nor sends a callback by itself."""
    call.decided.wait()


def test_another_notifier_accepts_callbacks_and_watches_deadlines(quick, notifier, worker, waiting):
    """The notifier that sent the requests is killed after the services have acknowledged them."""
    worker()
    first, second = notifier(), notifier()
    case = waiting(count=FEW)
    case.wait_acknowledged()
    first.kill()
    late = case.runs[FEW // 2:]
    for run in case.runs[: FEW // 2]:
        assert case.back(case.first_calls()[run], notifier=second) == 200
    case.runs = case.runs[: FEW // 2]
    case.end("passed")
    case.runs = late
    case.end("failed")
    assert len(case.service.calls) == FEW


def test_tasks_pass_after_the_only_notifier_was_restarted(lasting, notifier, worker, waiting):
    worker()
    only = notifier()
    case = waiting()
    case.wait_acknowledged()
    only.kill()
    more = [case.start() for _ in range(3)]
    only.start()
    case.runs += more
    until(lambda: len(case.first_calls()) == len(case.runs), "the new runs' tasks are called")
    assert {case.back(call) for call in case.first_calls().values()} == {200}
    case.end("passed")


def test_a_stopping_notifier_hands_its_requests_over(lasting, notifier, worker, waiting):
    worker()
    first = notifier()
    case = waiting(act=hold, count=4)
    until(lambda: len(case.service.calls) == 4, "all requests came")
    case.service.act = says("passed")
    second = notifier()
    first.process.send(signal.SIGTERM)
    case.end("passed")
    for call in case.service.calls[:4]:
        if not call.decided.is_set():
            call.answer()
    assert first.process.ended() == 0
    assert len(case.service.calls) > 4 and all(sent_by(call, second) for call in case.service.calls[4:])


# ---- the broker ----


@pytest.mark.parametrize("kind", ["embedded", pytest.param("kafka", marks=[pytest.mark.kafka, pytest.mark.extended])])
def test_tasks_pass_after_the_broker_was_restarted(lasting, bus, notifier, worker, waiting, kind):
    assert bus.kind == kind
    worker()
    notifier()
    case = waiting()
    case.wait_acknowledged()
    bus.process.kill()
    more = [case.start() for _ in range(3)]
    bus.start()
    calls = list(case.first_calls().values())
    assert {case.back(call) for call in calls} == {200}
    case.runs += more
    until(lambda: len(case.first_calls()) == len(case.runs), "the new runs' tasks are called")
    for run in more:
        assert case.back(case.first_calls()[run]) == 200
    case.end("passed")


# ---- the scheduler ----


def test_tasks_pass_after_the_scheduler_was_restarted(lasting, notifier, worker, waiting):
    worker()
    notifier()
    case = waiting()
    case.wait_acknowledged()
    lasting.kill()
    lasting.start()
    assert {case.back(call) for call in case.first_calls().values()} == {200}
    case.end("passed")
    assert len(case.service.calls) == MANY
