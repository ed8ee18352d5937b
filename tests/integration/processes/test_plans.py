# SPDX-License-Identifier: MPL-2.0
# label: quick
"""After a slow answer of PostgreSQL, a connection has all of its statements planned again: a plan may be of a time when
a table was empty (scheduler/db/connection.c, plans_refresh)."""

import threading

import psycopg

from support.connection import Connection
from support.wait import until

LOCK_WAITS = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and now() - query_start > interval '0.2 s'"


def hold_row(api_site, workspace, locked):
    """Keeps the workspace's row locked until a request has waited for it for 0.2 s."""
    with psycopg.connect(api_site.database) as holder:
        holder.execute("select 1 from workspaces where id = %s for update", [workspace])
        locked.set()
        until(lambda: api_site.ask(LOCK_WAITS)[0][0] > 0, "the request waits for the row")


def test_plans_are_discarded_after_a_slow_answer(api_site, org, postgres):
    # One thread of the scheduler serves all requests of a connection, with its own connection to PostgreSQL.
    kept, headers = Connection(org.url), {"Authorization": f"Bearer {org.token}"}
    path = f"/api/v2/workspaces/{org.workspace()}"
    postgres.set("log_statement", "all")
    try:
        locked = threading.Event()
        holder = threading.Thread(target=hold_row, args=(api_site, path.rpartition("/")[2], locked))
        holder.start()
        locked.wait()
        assert kept.ask("POST", f"{path}/actions/lock", {}, headers).status == 200
        holder.join()
        until(lambda: kept.ask("GET", path, headers=headers).status == 200 and "discard plans" in postgres.process.log(), "its plans are discarded")
    finally:
        postgres.set("log_statement", "none")
