# SPDX-License-Identifier: MPL-2.0
"""After a slow answer of PostgreSQL, a connection has all of its statements planned again: a plan may be of a time when
a table was empty (scheduler/db/db.c, plans_refresh)."""

import threading

import psycopg

from support.wait import until

WAITS = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and now() - query_start > interval '0.2 s'"


def test_plans_are_discarded_after_a_slow_answer(office, org, postgres):
    workspace = org.workspace()
    postgres.set("log_statement", "all")
    try:
        with psycopg.connect(office.database) as holder:
            holder.execute("select 1 from workspaces where id = %s for update", [workspace])
            locks = threading.Thread(target=lambda: org.post(f"workspaces/{workspace}/actions/lock", {}))
            locks.start()
            until(lambda: office.ask(WAITS) == [(1,)], "the request waits for the row")
        locks.join()
        until(lambda: org.get(f"workspaces/{workspace}") and "discard plans" in postgres.process.log(), "its connection discards its plans")
    finally:
        postgres.set("log_statement", "none")
