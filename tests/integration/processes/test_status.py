# SPDX-License-Identifier: MPL-2.0
# label: quick
"""runyard-scheduler status: the installation on one screen, and as JSON."""

import json

import pytest

from support.runyard import KEYS, Scheduler
from support.wait import until


@pytest.fixture
def status(api_site):
    def run(*arguments):
        done = Scheduler.run_command("status", *arguments, database_url=api_site.database, keys=KEYS, **api_site.bus.options)
        return json.loads(done.stdout) if arguments else done.stdout

    return run


def of_pool(shown, org):
    (found,) = [pool for pool in shown["pools"] if pool["pool"] == f"{org.organization}/edge"] or [None]
    return found


def test_the_status_shows_processes_pools_and_the_oldest_waiting_run(api_site, org, status):
    (process,) = until(lambda: [one for one in status("--json")["processes"] if one["kind"] == "scheduler"], "the scheduler is registered")
    assert process["count"] == 1 and process["version"] and process["seen-at"]
    id, token = org.pool("edge")
    assert of_pool(status("--json"), org) is None
    runs = [org.run_files(org.workspace(execution_mode="agent", agent_pool_id=id), {"main.tf": ""}) for _ in range(2)]
    shown = status("--json")
    pool = of_pool(shown, org)
    assert (pool["waiting"], pool["running"], pool["workers"], pool["slots"]) == (2, 0, 0, 0) and pool["oldest-seconds"] is not None
    assert shown["oldest-waiting"]["run"] == runs[0] and shown["oldest-waiting"]["text"] == "No worker in pool edge."
    worker = api_site.fake_worker(token)
    job = worker.take(runs[0], "plan")
    org.post(f"agent-pools/{id}/actions/drain")
    org.patch(f"agent-pools/{id}", {"data": {"type": "agent-pools", "attributes": {"concurrent-run-limit": 7}}})
    pool = of_pool(status("--json"), org)
    assert (pool["running"], pool["workers"], pool["slots"], pool["concurrent-run-limit"]) == (2, 1, 100, 7) and pool["drained-at"]
    lags = {topic["topic"]: topic["lag"] for topic in status("--json")["topics"]}
    assert lags["runyard.results"] == 0 and f"runyard.jobs.{id}" in lags
    table = status()
    assert f"{org.organization}/edge" in table and "PROCESS" in table and "DEAD LETTERS" in table and "No run waits" in table
    worker.end(job)
    worker.end(worker.jobs_by_run.pop(runs[1]))


def test_the_status_shows_dead_letters_and_maintenance(api_site, org, status):
    before = status("--json")
    assert before["maintenance"] is None and before["holds"] == 0
    api_site.change("insert into dead_letters (topic, partition, \"offset\", payload, error, size) values ('runyard.results', 0, 0, 'x', 'wrong', 1)")
    Scheduler.run_command("maintenance", "on", "new disks", database_url=api_site.database, keys=KEYS)
    run = org.run_files(org.workspace(), {"main.tf": ""})
    shown = status("--json")
    assert shown["dead-letters"] == before["dead-letters"] + 1 and shown["maintenance"] == "new disks"
    assert shown["oldest-waiting"]["run"] == run and shown["oldest-waiting"]["code"] == "maintenance"
    assert f"The oldest waiting run is {run}, since " in status()
    Scheduler.run_command("maintenance", "off", database_url=api_site.database, keys=KEYS)
