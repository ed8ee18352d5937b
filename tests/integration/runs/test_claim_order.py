# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Jobs are claimed in the order that the simulator uses: compares PostgreSQL's order and the simulator's, on random
tables."""

import random
import subprocess

import psycopg

from support.fake_worker import FakeWorker
from support.process import program

JOBS = 48


def waiting(connection):
    """{id: (class, organization, created)} of the waiting jobs, and the number of running jobs by organization."""
    rows = connection.execute("select id, class, organization_id, (extract(epoch from created_at) * 1000000)::bigint, state from jobs").fetchall()
    busy = {}
    for _, _, organization, _, state in rows:
        busy[organization] = busy.get(organization, 0) + (state == "claimed")
    return {row[0]: row[1:4] for row in rows if row[4] == "waiting"}, busy


def expected(jobs, busy, slots):
    numbers = {organization: number for number, organization in enumerate(sorted(busy))}
    lines = [f"busy {numbers[organization]} {count}" for organization, count in busy.items()]
    lines += [f"job {kind} {numbers[organization]} {created} {job}" for job, (kind, organization, created) in jobs.items()]
    done = subprocess.run([program("runyard-sim"), "--order"], input="\n".join([*lines, f"slots {slots}\n"]), capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def shuffle(connection, chance, organizations):
    """Many of the same class and time, so that every part of the order matters. Later than now: a sweep locks jobs that have
    waited for 5 s to note it, and claims pass over locked jobs."""
    for (job,) in connection.execute("select id from jobs").fetchall():
        connection.execute("update jobs set class = %s, organization_id = %s, created_at = now() + make_interval(hours => 1, secs => %s) where id = %s",
                           (chance.randrange(4), chance.choice(organizations), chance.randrange(6), job))


def test_jobs_are_claimed_in_the_simulators_order(api, tokens, database):
    chance = random.Random(7)
    fake_worker = FakeWorker(api.url, tokens["agent-token"], slots=JOBS)
    workspace = api.workspace()
    configuration = api.upload(workspace, {"main.tf": ""})
    for _ in range(JOBS):
        api.run(workspace, configuration, plan_only=True)
    for name in ("one", "two", "three"):
        api.post("organizations", {"data": {"type": "organizations", "attributes": {"name": name, "email": "a@example.com"}}})
    with psycopg.connect(database, autocommit=True) as connection:
        shuffle(connection, chance, [row[0] for row in connection.execute("select id from organizations")])
        held = []
        while True:
            jobs, busy = waiting(connection)
            slots = chance.randrange(1, 9)
            claimed = fake_worker.claim(slots)
            assert {job["job"] for job in claimed} == expected(jobs, busy, slots)
            if not jobs:
                break
            assert claimed
            held += claimed
            fake_worker.heartbeat(*held)  # no lease ends on a slow machine
