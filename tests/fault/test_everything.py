# SPDX-License-Identifier: MPL-2.0
"""Everything is killed in turn while runs are processed. Each run ends, in order, and has a reason if it was not
applied."""

import itertools
import signal

import psycopg

from support.chaos_checks import REASONS
from support.proc import processes_with
from support.wait import until

LEASE = 3
WORKSPACES, RUNS = 3, 8
FILES = {"main.tf": """
variable "number" {
  default = 0
}
resource "terraform_data" "one" {
  input = var.number
  provisioner "local-exec" {
    command = "sleep 0.2"
  }
}
resource "terraform_data" "two" {
  input = terraform_data.one.id
}
"""}
ENDED = {"applied", "errored"}


def test_each_run_ends_in_order_while_all_processes_are_killed_in_turn(scheduler, worker, bus, postgres, database, request):
    schedulers = [scheduler(lease_seconds=LEASE) for _ in range(2)]
    api = request.getfixturevalue("api")
    workers = [worker(scheduler_url=one.url) for one in schedulers]
    workspaces = [api.workspace(auto_apply=True) for _ in range(WORKSPACES)]
    configurations = [api.upload(workspace, FILES) for workspace in workspaces]
    runs = {workspace: [] for workspace in workspaces}
    for number in range(RUNS):
        for workspace, configuration in zip(workspaces, configurations):
            runs[workspace].append(api.run(workspace, configuration, variables=[{"key": "number", "value": str(number)}]))

    connection = None

    def count(condition):
        nonlocal connection
        try:
            if connection is None or connection.closed:
                connection = psycopg.connect(database, autocommit=True)
            return connection.execute(f"select count(*) from runs where {condition}").fetchone()[0]
        except psycopg.OperationalError:
            connection = None
            return -1

    def ended():
        return count("ended")

    def kill(service):
        service.restart(kill=True)

    faults = itertools.cycle([lambda: kill(workers[0]), lambda: kill(schedulers[0]), lambda: postgres.restart(signal.SIGQUIT),
                              lambda: kill(workers[1]), bus.restart, lambda: kill(schedulers[1])])
    for step in range(2, WORKSPACES * RUNS, 2):
        until(lambda: ended() >= step, lambda: f"{step} runs have ended: {ended()}")
        next(faults)()
    until(lambda: ended() == WORKSPACES * RUNS, lambda: f"all runs have ended: {ended()}")
    until(schedulers[0].ready, "the scheduler answers")

    for workspace, order in runs.items():
        shown = [api.attributes(f"runs/{run}") for run in order]
        assert {run["status"] for run in shown} <= ENDED
        for run in shown:
            if run["status"] == "errored":
                assert REASONS.search(run["error"]), run["error"]
        for before, after in zip(shown, shown[1:]):
            assert before["status-timestamps"][f"{before['status']}-at"] <= after["status-timestamps"]["plan-queued-at"]
        last = max((n for n, run in enumerate(shown) if run["status"] == "applied"), default=None)
        if last == RUNS - 1:
            values = {r["name"]: r["instances"][0]["attributes"]["input"] for r in api.state(workspace)["resources"]}
            assert values["one"]["value"] == RUNS - 1
        assert api.attributes(f"workspaces/{workspace}")["locked"] is False
    # The site works normally afterwards.
    for workspace in workspaces:
        api.wait_status(api.run(workspace, is_destroy=True), "applied")
        assert api.resources(workspace) == []
    assert count("holds") == 0
    until(lambda: not processes_with("sleep 0.2"), "no process is left")
    with psycopg.connect(database) as last:
        assert last.execute("select count(*) from jobs").fetchone() == (0,)
