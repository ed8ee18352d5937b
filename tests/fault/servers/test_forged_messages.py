# SPDX-License-Identifier: MPL-2.0
# label: extended
"""A tenant's process with access to the broker forges, replays and floods messages: they have no effect, and genuine
messages are processed."""

import json

import psycopg
import pytest

from support import mac
from support.configurations import planning_at
from support.fake_worker import FakeWorker
from support.kcat import consume, produce
from support.runyard import KEYS, Scheduler
from support.wait import until

RESULTS, CONTROL, LETTERS = "runyard.results", "runyard.control", "runyard.dead-letters"
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}
KEPT_A_MINUTE, READ_A_MINUTE = 10, 120  # scheduler/intake/intake.h
LEASE = 4
WRONG = "v1:" + "0" * 64


def dead_letters(database):
    done = Scheduler.run_command("dead-letters", "--json", database_url=database, keys=KEYS)
    return [json.loads(line) for line in done.stdout.splitlines()]


def of_database(database, query, *values):
    with psycopg.connect(database, autocommit=True) as connection:
        cursor = connection.execute(query, values)
        return cursor.fetchall() if cursor.description else None


def results(scheduler, outcome):
    return scheduler.metric("runyard_results_total", outcome=outcome)


def security_events(process, topic):
    return process.metric("runyard_security_events_total", event="unproven-message", topic=topic)


def announced(bus, pool, job):
    """The job message, which any reader of the pool's topic can read."""
    return next(message for message in map(json.loads, consume(bus, f"runyard.jobs.{pool}")) if message["job"] == job)


def pool_of(worker):
    return next(line for line in worker.log_lines() if line["msg"] == "registered")["pool"]


def forge(bus, scheduler, *messages):
    """All messages are refused as unproven."""
    before = results(scheduler, "unproven")
    produce(bus, RESULTS, *messages)
    until(lambda: results(scheduler, "unproven") == before + len(messages), lambda: f"all messages are refused, not {results(scheduler, 'unproven') - before:g}")


@pytest.fixture
def short_leases(scheduler):
    """The first scheduler's, for tests that name this fixture before others."""
    return scheduler(lease_seconds=LEASE)


@pytest.fixture
def first(api, scheduler):
    return scheduler.all[0]


@pytest.fixture
def fake_worker(first, tokens):
    return FakeWorker(first.url, tokens["agent-token"], slots=2)


def test_a_forged_result_does_not_end_another_tenants_apply(api, first, worker, gate, bus, database):
    one = worker(sandbox_bind=gate.folder)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, {"main.tf": f'resource "terraform_data" "one" {{\n  provisioner "local-exec" {{\n    command = "{gate.command}"\n  }}\n}}\n'})
    gate.wait()
    assert api.status(run) == "applying"
    ((job,),) = of_database(database, "select id from jobs where run_id = %s and state = 'claimed'", run)
    known = announced(bus, pool_of(one), job)
    passed = mac.result({**known, "attempt": 1})
    codes = [None, "", WRONG, WRONG.upper(), "v2" + WRONG[2:], WRONG[3:], 7, [WRONG], {"v1": WRONG}]
    guessed = [mac.signed(passed, token)["mac"] for token in ("", "job.", known["job"], run)]
    accepted = results(first, "accepted")
    forge(bus, first, passed, *[{**passed, "mac": code} for code in codes + guessed])
    assert (api.status(run), results(first, "accepted")) == ("applying", accepted)
    count = 1 + len(codes) + len(guessed)
    assert security_events(first, RESULTS) == count
    kept = dead_letters(database)
    assert len(kept) == KEPT_A_MINUTE and all(letter["topic"] == RESULTS and "MAC" in letter["error"] for letter in kept)
    lines = [line for line in first.log_lines() if line.get("security-event") == "unproven-message"]
    assert lines and lines[0]["job"] == known["job"] and sum(int(line["count"]) for line in lines) <= count
    # Republished by an operator, it is refused again.
    Scheduler.run_command("dead-letters", "replay", str(kept[0]["id"]), database_url=database, keys=KEYS)
    until(lambda: security_events(first, RESULTS) == count + 1, "the message that was put back is refused")
    gate.open()
    api.wait_status(run, "applied")
    assert [resource["name"] for resource in api.state(workspace)["resources"]] == ["one"]


def test_a_forged_stop_does_not_stop_another_tenants_plan(api, first, worker, gate, bus, database):
    one = worker(sandbox_bind=gate.folder)
    run = api.run_files(api.workspace(auto_apply=True), planning_at(gate))
    gate.wait()
    ((job, attempt, token_hash),) = of_database(database, "select id, attempt, token_hash from jobs where run_id = %s", run)
    stop = {"v": 1, "job": job, "attempt": attempt, "stop": "force"}
    result_code = mac.signed_by_hash(mac.result({"job": job, "attempt": attempt, "run": run}), token_hash)["mac"]
    cancel_code = mac.signed_by_hash({**stop, "stop": "cancel"}, token_hash)["mac"]
    earlier_code = mac.signed_by_hash({**stop, "attempt": attempt + 1}, token_hash)["mac"]
    forged = [stop, {**stop, "mac": WRONG}, {**stop, "mac": 7}, mac.signed(stop, "job.guessed"),
              *({**stop, "mac": code} for code in (result_code, cancel_code, earlier_code, token_hash, f"v1:{token_hash}"))]

    def are_read():
        produce(bus, CONTROL, *forged)  # it reads the topic from its end
        return security_events(one, CONTROL) >= len(forged)

    until(are_read, "the forged stops are counted")
    assert one.metric("runyard_worker_stops_total") == 0 and api.status(run) == "planning"
    assert any(line.get("security-event") == "unproven-message" and line["job"] == job for line in one.log_lines())
    produce(bus, CONTROL, mac.signed_by_hash({**stop, "stop": "cancel"}, token_hash))
    until(lambda: one.metric("runyard_worker_stops_total", way="kafka") == 1, "a stop with the scheduler's own code is obeyed")
    gate.open()


def test_a_flood_of_forged_and_unreadable_messages_does_not_stop_a_worker(api, first, worker, gate, bus, database):
    one = worker(sandbox_bind=gate.folder)
    run = api.run_files(api.workspace(auto_apply=True), planning_at(gate))
    gate.wait()
    ((job, attempt),) = of_database(database, "select id, attempt from jobs where run_id = %s", run)
    stop = {"v": 1, "job": job, "attempt": attempt, "stop": "force", "mac": WRONG}

    def are_read():
        produce(bus, CONTROL, stop)  # it reads the topic from its end
        return security_events(one, CONTROL)

    until(are_read, "a stop is read")
    produce(bus, CONTROL, *[stop if number % 2 else f"no json {number}" for number in range(10000)])
    produce(bus, f"runyard.jobs.{pool_of(one)}", *[f"no json {number}" for number in range(5000)])
    until(lambda: security_events(one, CONTROL) >= 5000, "all stops are counted")
    gate.open()
    api.wait_status(run, "applied")
    malformed = lambda: one.metric("runyard_worker_messages_total", kind="malformed")
    until(lambda: malformed() >= 10000, lambda: f"all unreadable messages are read, not {malformed():g}")
    ((rows,),) = of_database(database, "select count(*) from dead_letters")
    minutes = 1 + len({line["ts"][:16] for line in one.log_lines()})
    assert rows <= 60 * minutes and one.metric("runyard_worker_dead_letters_total", outcome="dropped") >= 10000 - 60 * minutes
    assert one.metric("runyard_worker_stops_total") == 0


def test_the_scheduler_signs_its_stops(api, first, fake_worker, bus, database):
    run = api.run_files(api.workspace(), ONE)
    (job,) = until(fake_worker.claim, "there is a job to claim")
    api.act(run, "cancel")
    (stop,) = until(lambda: [message for message in map(json.loads, consume(bus, CONTROL)) if message["job"] == job["job"]], "the stop is on the topic")
    assert stop == mac.signed({"v": 1, "job": job["job"], "attempt": 1, "stop": "cancel"}, job["token"])
    assert job["token"] not in json.dumps(stop)


def test_every_field_of_a_result_is_authenticated(api, first, fake_worker, bus, database):
    run = api.run_files(api.workspace(), ONE)
    (job,) = until(fake_worker.claim, "there is a job to claim")
    result = mac.signed(mac.result(job, "failed", error="enough"), job["token"])
    changes = {"outcome": "passed", "has-changes": False, "state-owed": True, "additions": 2, "changes": 1, "destructions": 1, "imports": 1,
               "terraform-version": "9.9.9", "error": "forged"}
    forge(bus, first, *[{**result, name: value} for name, value in changes.items()])
    late = results(first, "late")
    others = [{**result, "job": "job-0000000000000000"}, {**result, "run": "run-0000000000000000"}, {**result, "attempt": 2}]
    produce(bus, RESULTS, *others)
    until(lambda: results(first, "late") == late + len(others), "those of no current attempt are late")
    assert api.status(run) == "planning"
    assert security_events(first, RESULTS) == len(changes)
    produce(bus, RESULTS, {**result, "member": "unknown"})
    ended = api.wait_status(run, "errored")
    assert ended["error"] == "enough"


def test_a_result_of_an_older_attempt_is_not_replayed(short_leases, api, first, fake_worker, bus, database):
    run = api.run_files(api.workspace(), ONE)
    (old,) = until(fake_worker.claim, "there is a job to claim")
    passed = mac.signed(mac.result(old), old["token"])
    (new,) = until(fake_worker.claim, "the job waits again")
    assert (new["job"], new["attempt"]) == (old["job"], 2)
    late = results(first, "late")
    produce(bus, RESULTS, passed)
    until(lambda: results(first, "late") == late + 1, "it is late")
    assert security_events(first, RESULTS) == 0 and dead_letters(database) == []  # a genuine late result is not a security event
    forge(bus, first, {**passed, "attempt": 2}, mac.signed({**passed, "attempt": 2}, old["token"]))
    assert api.status(run) == "planning"
    produce(bus, RESULTS, mac.signed(mac.result(new, "failed", error="enough"), new["token"]))
    api.wait_status(run, "errored")


def test_a_requeued_job_accepts_no_result(short_leases, api, first, fake_worker, bus, database):
    """Between two attempts no valid token exists: even the number of the next attempt does not help."""
    run = api.run_files(api.workspace(), ONE)
    (old,) = until(fake_worker.claim, "there is a job to claim")
    until(lambda: of_database(database, "select 1 from jobs where id = %s and state = 'waiting'", old["job"]), "the job waits again")
    ((attempt,),) = of_database(database, "select attempt from jobs where id = %s", old["job"])
    next_one = mac.result({**old, "attempt": attempt})
    forge(bus, first, mac.signed(next_one, old["token"]), mac.signed_by_hash(next_one, ""), {**next_one, "mac": WRONG})
    (new,) = until(fake_worker.claim, "it is claimed")
    assert fake_worker.result(new, "errored", error="enough").status == 204
    api.wait_status(run, "errored")


def test_a_result_with_the_code_of_another_job_is_refused(api, first, fake_worker, bus):
    mine, theirs = api.run_files(api.workspace(), ONE), api.run_files(api.workspace(), ONE)
    jobs = {}
    until(lambda: jobs.update({job["run"]: job for job in fake_worker.claim(2)}) or len(jobs) == 2, "both are claimed")
    own, other = jobs[mine], jobs[theirs]
    passed = mac.result(other)
    own_code = mac.signed(mac.result(own), own["token"])["mac"]
    forge(bus, first, mac.signed(passed, own["token"]), {**passed, "mac": own_code}, mac.signed(passed, own["run-token"]), mac.signed(passed, other["run-token"]))
    assert {api.status(mine), api.status(theirs)} == {"planning"}
    produce(bus, RESULTS, *[mac.signed(mac.result(job, "failed", error="enough"), job["token"]) for job in (own, other)])
    for run in (mine, theirs):
        api.wait_status(run, "errored")


def test_a_flood_causes_few_rows_and_does_not_delay_genuine_results(api, first, fake_worker, bus, database):
    """10,000 forged messages cause a bounded number of rows and lines, and the genuine result after them counts."""
    run = api.run_files(api.workspace(), ONE)
    (job,) = until(fake_worker.claim, "there is a job to claim")
    passed = mac.result(job)
    shapes = [passed, {**passed, "mac": WRONG}, {**passed, "job": "job-0000000000000000", "mac": WRONG}, "no json"]
    produce(bus, RESULTS, *[{**shape, "imports": number} if isinstance(shape, dict) else f"{shape} {number}" for number in range(2500) for shape in shapes])
    genuine_result = mac.signed(mac.result(job, "failed", error="enough"), job["token"])
    produce(bus, RESULTS, *[{**genuine_result, "key": number} for number in range(64)])  # some for each partition
    assert api.wait_status(run, "errored")["error"] == "enough"
    until(lambda: results(first, "unproven") + results(first, "late") + results(first, "malformed") >= 10000, "all are read")
    ((rows,),) = of_database(database, "select count(*) from dead_letters")
    ((outbox,),) = of_database(database, "select count(*) from outbox where topic = %s", LETTERS)
    minutes = 1 + len({line["ts"][:16] for line in first.log_lines()})
    assert KEPT_A_MINUTE <= rows <= (KEPT_A_MINUTE + READ_A_MINUTE) * minutes and outbox <= rows
    assert first.metric("runyard_dead_letters_dropped_total", topic=RESULTS) >= 2500 - READ_A_MINUTE * minutes
    seconds = {line["ts"][:19] for line in first.log_lines()}
    assert len([line for line in first.log_lines() if "security-event" in line]) <= len(seconds) + 1


def test_forged_dead_letters_are_bounded_and_shown_escaped(api, first, bus, database):
    letter = {"v": 1, "topic": RESULTS, "partition": 0, "offset": 0, "reader": "scheduler", "error": "none", "size": 2, "payload": "e30="}
    produce(bus, LETTERS, {**letter, "error": "it is \x1b[2K\rhidden"}, {**letter, "reader": "a\x1b[8mname", "offset": 1})
    until(lambda: len(dead_letters(database)) == 2, "both are kept")
    table = Scheduler.run_command("dead-letters", database_url=database, keys=KEYS).stdout
    assert "\x1b" not in table and "\r" not in table and len(table.splitlines()) == 3
    # Our processes do not read events. A dead letter for one would be a way to publish a forged event.
    produce(bus, LETTERS, {**letter, "topic": "runyard.events"}, {**letter, "topic": "runyard.jobs.elsewhere"})
    until(lambda: sum(letter["topic"] == LETTERS for letter in dead_letters(database)) == 2, "they are dead letters themselves")
    produce(bus, LETTERS, *[{**letter, "offset": number} for number in range(2, 1000)])
    until(lambda: first.metric("runyard_dead_letters_dropped_total", topic=LETTERS) > 800, "the rest is dropped")
    assert len(dead_letters(database)) <= 2 * READ_A_MINUTE
    Scheduler.run_command("dead-letters", "replay", "all", database_url=database, keys=KEYS)
    assert api.status(api.run_files(api.workspace(), ONE)) in ("pending", "plan_queued")
