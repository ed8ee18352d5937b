# SPDX-License-Identifier: MPL-2.0
"""Workers' uploads are stored in batches: each has an answer of its own, and acknowledged content is never lost."""

import itertools
import signal
import threading
import urllib.error
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest

from support.fake_worker import FakeWorker, upload_batch
from support.wait import until

JOBS = 8
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


@pytest.fixture
def fake_worker(scheduler, tokens):
    return FakeWorker(scheduler().url, tokens["agent-token"], slots=JOBS)


@pytest.fixture
def jobs(fake_worker, api):
    """Plans of that many workspaces, claimed at once."""
    for _ in range(JOBS):
        api.run_files(api.workspace(), ONE)
    found = []
    until(lambda: found.extend(fake_worker.claim(JOBS)) or len(found) == JOBS, "all jobs are claimed")
    return found


def test_a_refused_upload_does_not_affect_others_of_its_batch(fake_worker, jobs, api, database):
    lengths = dict.fromkeys((job["job"] for job in jobs), 0)

    def uploads_of(job, number):
        """(request, expected answer): valid and invalid ones, for each job."""
        at = lengths[job["job"]]
        yield "PUT", f"log?offset={at}", f"line {number}\n".encode(), job, 204
        yield "PUT", f"log?offset={at + 999}", b"a gap\n", job, 409
        yield "PUT", f"log?offset={at}", b"not mine\n", {**job, "token": "job.wrong"}, 404
        yield "PUT", f"schemas?digest={'0' * 64}", b"", job, 404
        yield "PUT", "log?offset=x", b"no number\n", job, 422
        yield "PUT", "plan", b"a plan", job, 204
        yield "PUT", "init", b"the same of all", job, 204
        yield "POST", "batch", upload_batch(("plan", b"a plan"), (f"log?offset={at + 999}", b"a gap\n"), ("init", b"the same of all")), job, 200

    def one(case):
        method, what, body, job, wanted = case
        got = fake_worker.on(job, method, what, body, check=False)
        assert got.status == wanted, f"{what}: {got.status} {got.text}"
        return got

    numbers = itertools.count()

    def send_all():
        """Sends all at once. Returns whether one transaction wrote several of their lines."""
        number = next(numbers)
        with ThreadPoolExecutor(32) as pool:
            list(pool.map(one, (case for job in jobs for case in uploads_of(job, number))))
        for job in jobs:
            lengths[job["job"]] += len(f"line {number}\n")
        with psycopg.connect(database) as connection:
            return connection.execute("select count(*) > count(distinct xmin::text) from log_chunks").fetchone()[0]

    until(send_all, "one transaction has stored two lines")
    whole = "".join(f"line {number}\n" for number in range(next(numbers)))
    for job in jobs:
        assert api.log(job["run"], "plan").strip("\x02\x03") == whole
    gap = fake_worker.on(jobs[0], "PUT", "log?offset=99999", b"x", check=False)
    assert gap.json == {"length": len(whole)}
    with psycopg.connect(database) as connection:
        assert connection.execute("select count(*), count(distinct i.blob_id) from operation_blobs p join operation_blobs i using (operation_id) where p.kind = 'plan' and i.kind = 'init'").fetchone() == (JOBS, 1)
        assert connection.execute("select count(*) from operation_blobs where kind = 'schemas'").fetchone() == (0,)


def test_a_log_in_chunks_of_any_size_is_read_from_any_offset(fake_worker, jobs, api):
    job, stream, borders = jobs[0], b"\x02", {0}
    for number, size in enumerate((1, 70000, 65536, 200000, 9)):
        piece = (f"{number}, " * size).encode()[:size]
        fake_worker.on(job, "PUT", f"log?offset={len(stream) - 1}", piece)
        stream += piece
        borders.add(len(stream))
    url = api.attributes(f"plans/{api.sibling(job['run'], 'plan')}")["log-read-url"]
    for offset in sorted({max(border + by, 0) for border in borders for by in (-1, 0, 1)} | {150000}):
        for limit in (1, 2, 65536, 150000):
            assert api.ask("GET", f"{url}?limit={limit}&offset={offset}").body == stream[offset:offset + limit], (offset, limit)


def test_a_canceled_job_can_not_be_started_with_others_of_its_batch(fake_worker, jobs, database):
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("update jobs set stop = 1 where id = %s", [jobs[0]["job"]])
    with ThreadPoolExecutor(JOBS) as pool:
        answers = [got.status for got in pool.map(lambda job: fake_worker.on(job, "POST", "started", b"", check=False), jobs)]
    assert answers == [409] + [204] * (JOBS - 1)
    with psycopg.connect(database) as connection:
        assert connection.execute("select count(*) from jobs where started").fetchone() == (JOBS - 1,)


class Writer(threading.Thread):
    """Appends numbered lines to a job's log, and repeats each until it is acknowledged."""

    def __init__(self, fake_worker, job):
        super().__init__()
        self.fake_worker, self.job = fake_worker, job
        self.acknowledged = 0
        self.text = b""
        self.enough = threading.Event()
        self.wrong = None

    def run(self):
        while not self.enough.is_set() and not self.wrong:
            line = f"line {self.acknowledged}\n".encode()
            if self.sent(line):
                self.text += line
                self.acknowledged += 1

    def sent(self, line):
        try:
            got = self.fake_worker.on(self.job, "PUT", f"log?offset={len(self.text)}", line, check=False)
        except (urllib.error.URLError, OSError):
            return False
        if got.status not in (204, 503):
            self.wrong = f"{got.status} {got.text}"
        return got.status == 204


@pytest.mark.parametrize("victim", ["postgres", "scheduler"])
def test_acknowledged_uploads_are_never_lost(fake_worker, jobs, api, scheduler, postgres, victim):
    writers = [Writer(fake_worker, job) for job in jobs]
    for writer in writers:
        writer.start()

    def wait_further(lines):
        wanted = [writer.acknowledged + lines for writer in writers]
        until(lambda: any(writer.wrong for writer in writers) or all(w.acknowledged >= n for w, n in zip(writers, wanted)), "every log grows")

    for _ in range(2):
        wait_further(5)
        if victim == "postgres":
            postgres.restart(signal.SIGQUIT)
        else:
            scheduler.all[0].restart(kill=True)
    wait_further(5)
    for writer in writers:
        writer.enough.set()
    for writer in writers:
        writer.join()
    assert [writer.wrong for writer in writers if writer.wrong] == []
    for writer in writers:
        kept = api.log(writer.job["run"], "plan").strip("\x02\x03").encode()
        # The last line may have been stored without an answer.
        assert kept.startswith(writer.text) and len(kept) <= len(writer.text) + len(f"line {writer.acknowledged}\n")


def test_results_and_uploads_lock_operations_in_one_order(fake_worker, jobs, ask, database):
    """Otherwise each may wait for the other, until PostgreSQL detects the deadlock a second later."""
    by_plan = {"plan-" + job["run"].removeprefix("run-"): job for job in jobs}
    plans = [plan for (plan,) in ask("select id from operations where id = any(%s) order by id", list(by_plan))]

    def only_the_first_is_locked():
        """A transaction waits for the row, and has locked none that come after."""
        waits = ask("select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'")
        return waits and len(ask("select id from operations where id = any(%s) for no key update skip locked", plans)) == JOBS - 1

    with psycopg.connect(database) as holder, ThreadPoolExecutor(JOBS) as pool:
        holder.execute("select id from operations where id = %s for no key update", [plans[0]])
        answers = [pool.submit(fake_worker.result, by_plan[plan]) for plan in reversed(plans)]
        until(only_the_first_is_locked, "results wait for the first")
        holder.rollback()
        assert [answer.result().status for answer in answers] == [204] * JOBS
