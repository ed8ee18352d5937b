# SPDX-License-Identifier: MPL-2.0
"""Task results with pending requests, inserted into the database without the runs that would lead to them."""

import json
import random
import string

import psycopg

from support.kcat import produce
from support.wait import until


def new_id(prefix):
    return prefix + "-" + "".join(random.choices(string.ascii_letters + string.digits, k=16))


class PendingTasks:
    """Task results of one run that never progresses. `bus` gets their messages; without one the scheduler sends them
    from its outbox."""

    def __init__(self, database, api, bus=None):
        self.bus = bus
        self.connection = psycopg.connect(database, autocommit=True)
        workspace = api.workspace()
        self.run = api.run(workspace, api.upload(workspace, {"main.tf": ""}))
        self.stage = new_id("ts")
        self.connection.execute("insert into task_stages (id, run_id, stage, status) values (%s, %s, 'pre_plan', 'running')", [self.stage, self.run])

    def add(self, *urls, give_up=60, send=True, pool=None):
        """Adds one for each URL, with its message. Returns their ids. pool: the agent pool whose workers send the requests."""
        ids = [new_id("taskrs") for _ in urls]
        with self.connection.transaction(), self.connection.cursor() as cursor:
            cursor.executemany(
                "insert into task_results (id, task_stage_id, run_id, stage, task_id, task_name, task_url, enforcement, delivery, pool_id, give_up_at) "
                "values (%s, %s, %s, 'pre_plan', 'task-gone', 'a task', %s, 'mandatory', 'waiting', %s, now() + make_interval(secs => %s))",
                [(id, self.stage, self.run, url, pool, give_up) for id, url in zip(ids, urls)],
            )
            messages = [{"v": 1, "task-result": id, "run": self.run} for id in ids]
            if send and not self.bus:
                cursor.executemany("insert into outbox (topic, payload) values ('runyard.tasks', %s)", [[json.dumps(message)] for message in messages])
        if send and self.bus:
            produce(self.bus, "runyard.tasks", *messages)
        return ids

    def column(self, id, name):
        return self.connection.execute(f"select {name} from task_results where id = %s", [id]).fetchone()[0]

    def count(self, **columns):
        """The number of those with these values."""
        where = " and ".join(f"{name} = %s" for name in columns)
        return self.connection.execute(f"select count(*) from task_results where {where}", list(columns.values())).fetchone()[0]

    def ended(self, id):
        """Waits for the final status."""
        until(lambda: self.column(id, "status") not in ("pending", "running"), lambda: f"{id} ends: {self.row(id)}")
        return self.column(id, "status")

    def row(self, id):
        return self.connection.execute("select status, message, delivery, attempt, reported, due_at from task_results where id = %s", [id]).fetchone()

    def deliveries(self, id):
        """[(status, answer, error)], oldest first."""
        return self.connection.execute("select status, answer, error from task_deliveries where task_result_id = %s order by id", [id]).fetchall()

    def release(self):
        self.connection.close()
