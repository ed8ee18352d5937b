# SPDX-License-Identifier: MPL-2.0
"""A worker is stopped for longer than its lease: no process of its plan runs when another plan begins, and the worker
changes nothing when it continues."""

import os
import signal
import threading

import pytest

from support.configurations import planning_at
from support.wait import until

LEASE = 3

# An engine with a background process that writes continuously during a plan, in a session of its own.
ENGINE = """#!/bin/sh
case $1 in plan)
	read id </proc/sys/kernel/random/uuid
	setsid sh -c "echo begin $id; while :; do echo alive $id; sleep 0.01; done" >{record} 2>/dev/null </dev/null &
esac
exec {engine} "$@"
"""


class Record:
    """The plans' messages, in order."""

    def __init__(self, folder):
        self.folder = folder / "record"
        self.folder.mkdir()
        self.path = self.folder / "messages"
        os.mkfifo(self.path)
        self.path.chmod(0o666)  # jobs run as the account of the workers
        # Opened for writing too, so that it has no end of file while there are no writers.
        self.fd = os.open(self.path, os.O_RDWR)
        self.lines = []
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        with os.fdopen(self.fd, "r") as file:
            for line in file:
                if line == "over\n":
                    return
                self.lines.append(line.split())

    def began(self):
        return [line[1] for line in self.lines if line[0] == "begin"]

    def overlaps(self):
        """The plans that were alive when another had begun."""
        latest, late = None, set()
        for what, who in list(self.lines):
            if what == "begin":
                latest = who
            elif who != latest:
                late.add(who)
        return late

    def close(self):
        with open(self.path, "w") as file:
            file.write("over\n")


@pytest.fixture
def record(folder):
    record = Record(folder)
    yield record
    record.close()


@pytest.fixture(autouse=True)
def short_leases(scheduler):
    return scheduler(lease_seconds=LEASE)


@pytest.fixture(params=["sandboxed", "bare"])
def start(request, record, gate, scheduler, worker, engine):
    """Starts a worker whose plans write. Stopped processes continue at the end."""
    program = record.folder / "engine"
    program.write_text(ENGINE.format(record=record.path, engine=engine.path))
    program.chmod(0o755)
    kind = {"sandbox": "none"} if request.param == "bare" else {}
    bind = f"{gate.folder},{record.folder},{engine.folder}"
    yield lambda: worker(sandbox_bind=bind, engine=program, **kind)
    for service in scheduler.all + worker.all:
        service.process.send(signal.SIGCONT)


def lost(worker):
    return worker.metric("runyard_worker_jobs_total", stage="plan", outcome="lost") == 1


def test_the_plan_of_a_stopped_worker_ends_before_another_begins(api, start, gate, record):
    workspace = api.workspace()
    first = start()
    run = api.run_files(workspace, planning_at(gate))
    gate.wait()
    first.process.send(signal.SIGSTOP)
    second = start()
    until(lambda: len(record.began()) == 2, "the plan is repeated")
    gate.left()
    gate.wait()
    gate.open()
    api.wait_status(run, "planned")
    assert not record.overlaps()
    log, plan = api.log(run), api.attributes(f"plans/{api.sibling(run, 'plan')}")
    first.process.send(signal.SIGCONT)
    until(lambda: lost(first), "it has abandoned the plan")
    until(first.ready, "it is back")
    assert api.status(run) == "planned" and api.log(run) == log
    assert api.attributes(f"plans/{api.sibling(run, 'plan')}") == plan
    until(lambda: second.metric("runyard_worker_jobs_total", stage="plan", outcome="passed") == 1, "its jobs have ended")
    api.act(run, "apply")
    api.wait_status(run, "applied")
    assert api.resources(workspace) == ["terraform_data.one"]


@pytest.mark.parametrize("start", ["bare"], indirect=True)
def test_a_plan_ends_if_its_lease_can_not_be_renewed(api, start, gate, record, scheduler):
    """The scheduler is stopped, and continues when the plan has ended."""
    first = start()
    run = api.run_files(api.workspace(), planning_at(gate))
    gate.wait()
    scheduler.all[0].process.send(signal.SIGSTOP)
    until(lambda: lost(first), "it has abandoned the plan")
    gate.left()
    scheduler.all[0].process.send(signal.SIGCONT)
    gate.wait()
    gate.open()
    api.wait_status(run, "planned")
    assert len(record.began()) == 2 and not record.overlaps()
