# SPDX-License-Identifier: MPL-2.0
"""GET /api/v2/events: what a client receives, from a real broker and with two schedulers."""

import uuid

import pytest

from support.api import Api
from support.browser import Browser
from support.event_stream import EventStream
from support.people import People
from support.wait import until

LIFE = ["plan_queued", "planning", "planned", "apply_queued", "applying", "applied"]


def statuses(stream, run):
    return [event.data["status"] for event in stream.of("run") if event.data["id"] == run and "status" in event.data]


@pytest.fixture
def pool(api_site, org):
    """A pool of the organization with a worker, and workspaces that use it."""
    return Pool(api_site, org)


class Pool:
    def __init__(self, api_site, org):
        self.org = org
        self.id, token = org.pool()
        self.worker = api_site.fake_worker(token)

    def workspace(self, **attributes):
        return self.org.workspace(execution_mode="agent", agent_pool_id=self.id, **attributes)

    def run(self, workspace, **attributes):
        return self.org.run_files(workspace, {"main.tf": ""}, **attributes)

    def apply(self, run):
        """The rest of the life of a run that is planned."""
        self.org.act(run, "apply")
        job = self.worker.take(run, "apply")
        self.worker.on(job, "POST", "started")
        self.worker.end(job)


@pytest.fixture
def streams(api_site):
    """streams(topics, ...) opens a stream at a scheduler, by default the first one."""
    opened = []

    def open_stream(topics, api, scheduler=None, **more):
        stream = EventStream((scheduler or api_site.scheduler).url, topics, api.token if api else None, **more)
        opened.append(stream)
        return stream

    yield open_stream
    for stream in opened:
        stream.close()


@pytest.fixture(scope="module")
def second(api_site):
    """Another scheduler of the same database and broker."""
    scheduler = api_site.new_scheduler("scheduler-2").start()
    yield scheduler
    scheduler.release()


def test_two_schedulers_send_the_life_of_a_run_in_order_with_the_same_ids(org, pool, streams, second):
    workspace = pool.workspace()
    both = [streams(f"workspace:{workspace}", org).online(), streams(f"workspace:{workspace}", org, second).online()]
    run = pool.run(workspace)
    pool.worker.plan(run)
    pool.apply(run)
    for stream in both:
        stream.wait("run", lambda data: data.get("status") == "applied")
        seen = statuses(stream, run)
        assert [status for at, status in enumerate(seen) if status not in seen[:at]] == LIFE
        stages = [(event.data["stage"], event.data["status"]) for event in stream.of("stage") if event.data["run"] == run]
        assert [status for stage, status in stages if stage == "apply"] == ["queued", "running", "finished"]
    last = [next(event.id for event in stream.of("run", "stage") if event.data.get("status") == "applied") for stream in both]
    assert last[0] == last[1]
    assert both[0].response.headers["X-Accel-Buffering"] == "no" and both[0].response.headers["Content-Type"] == "text/event-stream"


def test_a_stream_resumes_at_another_scheduler_without_loss_or_repetition(org, pool, streams, second):
    workspace = pool.workspace()
    first = streams(f"workspace:{workspace}", org).online()
    run = pool.run(workspace)
    first.wait("run", lambda data: data.get("status") == "plan_queued")
    cursor = first.last_id
    first.close()
    pool.worker.plan(run)
    resumed = streams(f"workspace:{workspace}", org, second, since=cursor)
    resumed.wait("run", lambda data: data.get("status") == "planned")
    pool.apply(run)
    resumed.wait("run", lambda data: data.get("status") == "applied")
    seen = statuses(first, run) + statuses(resumed, run)
    assert [status for status in LIFE if status in seen] == LIFE and len(seen) == len(set(seen)) and not resumed.of("reset")
    # The header that browsers send by themselves counts as well.
    again = streams(f"workspace:{workspace}", org, headers={"Last-Event-ID": cursor}).online()
    assert statuses(again, run) == statuses(resumed, run)


@pytest.mark.parametrize("cursor", ["0-0", "nonsense", "999999999999-0-0-0-0-0-0-0", "1" * 400])
def test_a_position_that_is_not_known_gives_a_reset(org, streams, cursor):
    stream = streams(f"org:{org.organization}", org, since=cursor)
    stream.wait("reset")
    assert stream.last_id != cursor


def test_topics_that_may_not_be_read_and_topics_that_do_not_exist_look_the_same(api_site, org, pool, streams):
    workspace = pool.workspace()
    run = pool.run(workspace)
    stranger = api_site.stranger()
    plan = run.replace("run-", "plan-")
    topics = [f"org:{org.organization}", f"workspace:{workspace}", f"run:{run}", f"log:{plan}@0", "site"]
    absent = ["org:nobody", "workspace:ws-aaaaaaaaaaaaaaaa", "run:run-aaaaaaaaaaaaaaaa", "log:plan-aaaaaaaaaaaaaaaa@0"]
    stream = streams(topics + absent, stranger)
    stream.wait("denied", count=len(topics) + len(absent))
    assert {event.data["topic"] for event in stream.of("denied")} == {topic.split("@")[0] for topic in topics + absent}
    assert len({event.data["reason"] for event in stream.of("denied")}) == 1
    own = streams(f"org:{stranger.organization}", stranger).online()
    pool.worker.plan(run)
    witness = streams(f"run:{run}", org).online()
    pool.apply(run)
    witness.wait("run", lambda data: data.get("status") == "applied")
    assert not stream.of("run", "stage", "workspace", "log") and not own.of("run", "stage", "workspace")


def test_a_site_admin_sees_every_organization(api_site, org, pool, streams):
    """By token and by session: without a second factor too, while the site needs none."""
    run = pool.run(pool.workspace())
    browser = Browser(api_site.scheduler.url).sign_in("admin", api_site.tokens["password"])
    topics = [f"org:{org.organization}", f"run:{run}", "site"]
    for stream in (streams(topics, Api(api_site.scheduler.url, api_site.tokens["token"])), streams(topics, None, headers={"Cookie": f"runyard_session={browser.cookie.value}"})):
        stream.online()
        assert stream.of("denied") == []


@pytest.mark.parametrize("topics, says", [("", "at least one topic"), ("run:nonsense", "topic 1"), ("site,org:a b", "topic 2"), ("log:run-aaaaaaaaaaaaaaaa@0", "topic 1"),
                                          (",".join(f"org:o{n}" for n in range(33)), "more than 32")])
def test_a_malformed_list_of_topics_is_refused(org, streams, topics, says):
    stream = streams(topics, org)
    assert stream.status == 400 and says in stream.response.read().decode()


def test_a_stream_needs_a_token(streams):
    assert streams("site", None).status == 401


def test_locks_comments_and_workers_are_events(api_site, org, pool, streams):
    workspace = pool.workspace()
    run = pool.run(workspace)
    stream = streams([f"org:{org.organization}"], org).online()
    other = pool.workspace()
    org.post(f"workspaces/{other}/actions/lock", {"reason": "by hand"})
    stream.wait("workspace", lambda data: data["id"] == other and data["action"] == "lock")
    org.post(f"runs/{run}/comments", {"data": {"type": "comments", "attributes": {"body": "looks good"}}})
    stream.wait("run", lambda data: data["id"] == run and data.get("comment", "").startswith("wsc-"))
    for draining in (True, True, False, False):
        pool.worker.heartbeat(draining=draining)
    pool.worker.leave()
    stream.wait("worker", lambda data: data == {"id": pool.worker.id, "pool": pool.id, "status": "left"})
    assert [event.data["status"] for event in stream.of("worker")] == ["draining", "ready", "left"]


def test_events_stop_when_the_permission_is_withdrawn(api_site, org, pool, streams):
    people = People(org, api_site.database)
    workspace = pool.workspace()
    team = people.team("watchers")
    member = people.member(f"w{uuid.uuid4().hex[:8]}", team)
    access = people.give(team, "workspace", workspace, "read")
    run = pool.run(workspace)
    plan = run.replace("run-", "plan-")
    topics = [f"run:{run}", f"org:{org.organization}", f"log:{plan}@0"]
    stream, witness = streams(topics, member).online(), streams(topics, org).online()
    job = pool.worker.take(run, "plan")
    pool.worker.on(job, "PUT", "log?offset=0", b"before\n")
    stream.wait("log", lambda data: "before" in data["text"])
    stream.wait("run", lambda data: data.get("status") == "planning")
    org.delete(f"team-workspaces/{access}")
    stream.wait("denied", lambda data: data["topic"] == f"run:{run}")
    stream.wait("denied", lambda data: data["topic"] == f"log:{plan}")
    pool.worker.on(job, "PUT", "log?offset=7", b"after\n")
    pool.worker.end(job, "passed", **{"has-changes": True, "additions": 1})
    witness.wait("run", lambda data: data.get("status") == "planned")
    witness.wait("log", lambda data: "after" in data.get("text", ""))
    assert "planned" not in statuses(stream, run) and not any("after" in str(event.data) for event in stream.of("log"))
    assert not stream.closed.is_set()


def test_a_stream_ends_with_its_token(api_site, org, streams):
    people = People(org, api_site.database)
    member = people.member(f"l{uuid.uuid4().hex[:8]}", people.team("leaving"))
    stream = streams(f"org:{org.organization}", member).online()
    api_site.change("delete from tokens where user_id = (select user_id from organization_memberships where id = %s)", member.membership)
    org.post(f"organizations/{org.organization}/teams", {"data": {"type": "teams", "attributes": {"name": "other"}}})  # permissions may have changed
    stream.wait("end", lambda data: "no longer valid" in data["reason"])
    until(stream.closed.is_set, "the stream is closed")


def test_a_stream_ends_with_its_session(api_site, streams):
    browser = Browser(api_site.scheduler.url).sign_in("admin", api_site.tokens["password"])
    stream = streams("org:acme", None, headers={"Cookie": f"runyard_session={browser.cookie.value}"}).online()
    csrf = browser.ask("/app/settings/tokens").form("/app/settings/tokens")["fields"]["csrf"]
    browser.ask("/app/logout", {"csrf": csrf})
    stream.wait("end")
    until(stream.closed.is_set, "the stream is closed")


def test_a_slow_client_gets_a_reset(api_site, org, pool, streams):
    """The client does not read until more waits for it than its buffer and the sockets' buffers hold."""
    workspace = pool.workspace()
    run = pool.run(workspace)
    topics = [f"workspace:{workspace}", f"log:{run.replace('run-', 'plan-')}@0"]
    job = pool.worker.take(run, "plan")
    slow = streams(topics, org, receive_buffer=4096, reads=False)
    witness = streams(topics, org).online()
    sent = 0

    def flooded():
        nonlocal sent
        pool.worker.on(job, "PUT", f"log?offset={sent}", b"z" * 32000)
        pool.worker.heartbeat(job)  # on a busy machine this takes longer than a lease
        sent += 32000
        return api_site.scheduler.metric("runyard_event_stream_resets_total", reason="slow")

    until(flooded, "a reset for a slow client")
    slow.start()
    slow.wait("reset")
    pool.worker.end(job, "passed", **{"has-changes": True, "additions": 1})
    slow.wait("run", lambda data: data.get("status") == "planned")
    assert not witness.of("reset")


def test_a_log_arrives_byte_for_byte_while_it_grows(org, pool, streams, second):
    workspace = pool.workspace()
    run = pool.run(workspace)
    plan = run.replace("run-", "plan-")
    both = [streams(f"log:{plan}@0", org).online(), streams(f"log:{plan}@0", org, second).online()]
    job = pool.worker.take(run, "plan")
    parts = ["Terraform ☕\n".encode(), b"\x1b[1mbold\x1b[0m \xff\xfe bytes\n", b"x" * 20000 + b"\n"] + [f"line {n}\n".encode() for n in range(60)]
    sent = 0
    for part in parts:
        pool.worker.on(job, "PUT", f"log?offset={sent}", part)
        sent += len(part)
    pool.worker.end(job, "passed", **{"has-changes": True, "additions": 1})
    for stream in both:
        stream.wait("log", lambda data: data.get("ended"))
    whole = org.call("GET", org.attributes(f"plans/{plan}")["log-read-url"] + "?limit=1000000").body
    assert b"".join(parts) in whole
    for stream in both:
        at = 0
        for event, bytes_ in stream.log(plan):
            assert event.data["offset"] == at and whole[at:at + len(bytes_)] == bytes_
            at += len(bytes_)
        assert at == len(whole)
    later = streams(f"log:{plan}@{len(whole) - 10}", org)
    later.wait("log", lambda data: data.get("ended"))
    assert b"".join(bytes_ for _, bytes_ in later.log(plan)) == whole[-10:]


def test_a_client_far_behind_gets_the_end_of_the_log_and_reads_the_gap_itself(org, pool, streams):
    workspace = pool.workspace()
    run = pool.run(workspace)
    plan = run.replace("run-", "plan-")
    job = pool.worker.take(run, "plan")
    pool.worker.on(job, "PUT", "log?offset=0", b"y" * 300000)
    stream = streams(f"log:{plan}@0", org)
    stream.wait("log")
    (event, bytes_), *_ = stream.log(plan)
    end = event.data["offset"] + len(bytes_)
    assert event.data["offset"] > 0 and len(bytes_) == 32768 and end >= 300001
    pool.worker.on(job, "PUT", "log?offset=300000", b"more")
    stream.wait("log", lambda data: data["offset"] == end and data["text"] == "more")


def test_a_rolling_restart_loses_no_event(api_site, org, pool, streams, second):
    workspace = pool.workspace()
    stream = streams(f"workspace:{workspace}", org, second).online()
    run = pool.run(workspace)
    stream.wait("run", lambda data: data.get("status") == "plan_queued")
    cursor = stream.last_id
    second.stop()
    until(stream.closed.is_set, "the stopping scheduler closes its streams")
    pool.worker.plan(run)
    second.start()
    again = streams(f"workspace:{workspace}", org, second, since=cursor)
    again.wait("run", lambda data: data.get("status") == "planned")
    assert not again.of("reset") and statuses(again, run) == ["planning", "planned"]


def test_streams_over_a_limit_end_with_a_reason_and_make_room_when_they_are_closed(api_site, org, streams):
    """Closed streams do not count, although the scheduler has not written to them since."""
    crowded = api_site.new_scheduler("scheduler-3", streams_per_user=2, max_streams=4).start()
    try:
        topic = f"org:{org.organization}"
        first, second = streams(topic, org, crowded).online(), streams(topic, org, crowded).online()
        streams(topic, org, crowded).wait("end", lambda data: "too many" in data["reason"])
        first.close()
        streams(topic, org, crowded).online()
        assert not second.closed.is_set()
        others = [streams("org:acme", api_site.stranger(), crowded) for _ in range(2)]
        assert [stream.status for stream in others] == [200, 200]
        refused = streams("org:acme", api_site.stranger(), crowded)
        assert refused.status == 503 and refused.response.headers["Retry-After"]
        others[0].close()
        until(lambda: streams("org:acme", api_site.stranger(), crowded).status == 200, "a closed stream makes room")
    finally:
        crowded.release()
