# SPDX-License-Identifier: MPL-2.0
# label: extended
"""Duplicated, late, replayed and foreign messages have no effect."""

import json

import psycopg
import pytest

from support import mac
from support.configurations import planning_at
from support.fake_worker import FakeWorker
from support.kcat import consume, produce
from support.runyard import KEYS, Scheduler
from support.wait import until

pytestmark = pytest.mark.kafka
RESULTS = "runyard.results"
CONTROL = "runyard.control"
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


def results_of(bus, run):
    return [message for message in map(json.loads, consume(bus, RESULTS)) if message["run"] == run]


def documents_of_run(api, run):
    """The run, its plan and its apply, as clients see them."""
    return [api.get(path).data for path in (f"runs/{run}", f"plans/{api.sibling(run, 'plan')}", f"applies/{api.sibling(run, 'apply')}")]


def wait_results(scheduler, count):
    """Waits until that many results of any kind were read."""
    first = scheduler.all[0]
    until(lambda: first.metric("runyard_results_total") >= count, lambda: f"{count} results are read, not {first.metric('runyard_results_total'):g}")


def test_duplicated_and_late_results_are_ignored(api, scheduler, worker, bus):
    worker()
    first = scheduler.all[0]
    workspace = api.workspace(auto_apply=True)
    # On a new broker the first result may be sent over HTTP, before the topic exists.
    api.wait_status(api.run_files(workspace, ONE), "applied")
    run = api.run(workspace, is_destroy=True)
    api.wait_status(run, "applied")
    before = documents_of_run(api, run)
    state = api.state(workspace)
    sent = until(lambda: results_of(bus, run), "a result is on the topic")
    read = first.metric("runyard_results_total")
    other = [{**message, "outcome": "errored", "error": "forged", "attempt": attempt} for message in sent for attempt in (1, 2, 9)]
    produce(bus, RESULTS, *sent, *reversed(sent), *sent, *other)
    wait_results(scheduler, read + 3 * len(sent) + len(other))
    assert documents_of_run(api, run) == before and api.state(workspace) == state
    assert first.metric("runyard_results_total", outcome="late") >= 3 * len(sent)


def test_a_result_of_another_attempt_does_not_end_the_job(api, scheduler, worker, gate, bus, database):
    worker(sandbox_bind=gate.folder)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, planning_at(gate))
    gate.wait()
    with psycopg.connect(database) as connection:
        job, attempt = connection.execute("select id, attempt from jobs where run_id = %s", (run,)).fetchone()
    message = mac.signed(mac.result({"job": job, "attempt": attempt + 1, "run": run}), "job.of an attempt that never existed")
    read = scheduler.all[0].metric("runyard_results_total")
    produce(bus, RESULTS, message, {**message, "job": "job-0000000000000000"}, {**message, "run": "run-0000000000000000"})
    wait_results(scheduler, read + 3)
    assert api.status(run) == "planning"
    gate.open()
    api.wait_status(run, "applied")


def test_messages_of_unknown_jobs_are_ignored(api, scheduler, worker, bus):
    one = worker()
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, ONE)
    api.wait_status(run, "applied")
    topic = next(line for line in one.log_lines() if line["msg"] == "registered")["pool"]
    job_messages = one.metric("runyard_worker_messages_total", kind="job")
    produce(bus, f"runyard.jobs.{topic}", *[{"v": 1, "job": f"job-{n:016}", "run": run} for n in range(50)])
    until(lambda: one.metric("runyard_worker_messages_total", kind="job") >= job_messages + 50, "the messages are read")
    api.wait_status(api.run(workspace, is_destroy=True), "applied")


def test_a_stop_of_another_attempt_is_ignored(api, scheduler, worker, gate, bus, database):
    one = worker(sandbox_bind=gate.folder)
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, planning_at(gate))
    gate.wait()
    with psycopg.connect(database) as connection:
        job, attempt = connection.execute("select id, attempt from jobs where run_id = %s", (run,)).fetchone()
    send_stops(one, bus, {"v": 1, "job": job, "attempt": attempt + 1, "stop": "force"}, STOP)
    gate.open()
    api.wait_status(run, "applied")


def test_a_long_dead_letter_is_kept_whole_or_marked_as_cut(api, scheduler, worker, bus, database):
    """A worker finds the message and reports it to the topic of dead letters, in one message."""
    one = worker()
    pool = next(line for line in one.log_lines() if line["msg"] == "registered")["pool"]
    topic = f"runyard.jobs.{pool}"
    api.wait_status(api.run_files(api.workspace(auto_apply=True), ONE), "applied")
    produce(bus, topic, "x" * (690 << 10))
    (whole,) = until(lambda: dead_letters(database), "there is a dead letter")
    assert whole["size"] == 690 << 10
    replay_letter = lambda letter: Scheduler.run_command("dead-letters", "replay", str(letter["id"]), check=False, database_url=database, keys=KEYS)
    assert replay_letter(whole).returncode == 0
    until(lambda: len(dead_letters(database)) == 2, "the replayed message is a dead letter again")
    produce(bus, topic, "y" * (720 << 10))
    cut = until(lambda: [letter for letter in dead_letters(database) if letter["size"] > 700 << 10], "there is a longer dead letter")[0]
    refused = replay_letter(cut)
    assert refused.returncode == 1 and f"of its {720 << 10} bytes only the first {700 << 10}" in refused.stderr
    until(lambda: "too long to be kept whole" in scheduler.all[0].process.log(), "the cut is logged")


STOP = {"v": 1, "job": "job-0000000000000000", "attempt": 1, "stop": "force"}


def send_stops(worker, bus, *stops):
    """Sends stops until the worker has read them: it reads from the topic's end, once it has a job and knows the topic,
    which these messages may create."""
    read = worker.metric("runyard_worker_messages_total", kind="control")

    def are_read():
        produce(bus, CONTROL, *stops)
        return worker.metric("runyard_worker_messages_total", kind="control") >= read + len(stops)

    until(are_read, "the stops are read")


def test_a_worker_without_a_job_reads_no_stops(api, worker, gate, bus):
    idle, busy = worker(sandbox_bind=gate.folder), worker(sandbox_bind=gate.folder)
    workspace = api.workspace(auto_apply=True)
    config = planning_at(gate)
    run = api.run_files(workspace, config)
    gate.wait()
    if idle.metric("runyard_worker_job_slots_busy"):
        idle, busy = busy, idle
    send_stops(busy, bus, STOP)
    assert idle.metric("runyard_worker_messages_total", kind="control") == 0
    gate.open()
    api.wait_status(run, "applied")


UNREADABLE = ["no json", "{}", "[]", "null", '{"v":2,"job":"job-1","attempt":1,"stop":"force"}', '{"v":1,"job":7,"attempt":"x","stop":[]}', b"\x00\xff\xfe"]


def dead_letters(database):
    done = Scheduler.run_command("dead-letters", "--json", database_url=database, keys=KEYS)
    return [json.loads(line) for line in done.stdout.splitlines()]


def wait_dead_letters(bus, database, topic, readers):
    """Invalid messages on that topic become dead letters, once each, from a process that read them."""
    produce(bus, topic, *UNREADABLE)
    own = lambda: [letter for letter in dead_letters(database) if letter["topic"] == topic]
    until(lambda: len(own()) >= len(UNREADABLE), lambda: f"the dead letters of {topic}: {own()}")
    kept = own()
    assert len(kept) == len(UNREADABLE) and {letter["reader"] for letter in kept} <= readers and all(letter["error"] for letter in kept)
    return kept


def test_unreadable_messages_become_dead_letters(api, scheduler, worker, notifier, gate, bus, database):
    workers, first = [worker(sandbox_bind=gate.folder), worker(sandbox_bind=gate.folder)], scheduler.all[0]
    notifier()
    workspace = api.workspace(auto_apply=True)
    api.wait_status(api.run_files(workspace, ONE), "applied")
    pool = next(line for line in workers[0].log_lines() if line["msg"] == "registered")["pool"]
    names = {"worker-1", "worker-2"}
    held = api.run_files(api.workspace(auto_apply=True), planning_at(gate))
    gate.wait()
    send_stops(next(one for one in workers if one.metric("runyard_worker_job_slots_busy")), bus, STOP)
    for topic, readers in (("runyard.results", {"scheduler"}), ("runyard.task-results", {"scheduler"}), (f"runyard.jobs.{pool}", names),
                           (CONTROL, names), ("runyard.tasks", {"notifier-1"}), ("runyard.dead-letters", {"scheduler"})):
        before = first.metric("runyard_dead_letters_total")
        kept = wait_dead_letters(bus, database, topic, readers)
        until(lambda: first.metric("runyard_dead_letters_total") == before + len(kept), "each is counted once")
    gate.open()
    for run in (held, api.run(workspace, is_destroy=True)):
        api.wait_status(run, "applied")


def test_a_replayed_dead_letter_is_processed(api, scheduler, bus, database, tokens):
    """A dead letter that a newer scheduler can decode: here one whose payload an operator has corrected."""
    first = scheduler.all[0]
    fake_worker = FakeWorker(first.url, tokens["agent-token"])
    run = api.run_files(api.workspace(), ONE)
    (job,) = until(fake_worker.claim, "there is a job to claim")
    result = mac.signed(mac.result(job, "failed", error="enough"), job["token"])
    produce(bus, RESULTS, {**result, "v": 2})
    # The previous test may have left dead letters uncommitted, so they are delivered again.
    (letter,) = until(lambda: [letter for letter in dead_letters(database) if letter["topic"] == RESULTS], "there is a dead letter")
    with psycopg.connect(database, autocommit=True) as connection:
        payload = json.dumps(result).encode()
        connection.execute("update dead_letters set payload = %s, size = %s where id = %s", (payload, len(payload), letter["id"]))
    Scheduler.run_command("dead-letters", "replay", str(letter["id"]), database_url=database, keys=KEYS)
    assert api.wait_status(run, "errored")["error"] == "enough"
