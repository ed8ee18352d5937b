# SPDX-License-Identifier: MPL-2.0
# label: extended
"""One allocation of a library fails while a process starts: it exits with a line that says so, or continues. The next
start is a normal one."""

import os
import signal

import pytest

from support.alloc_faults import OUT_OF_MEMORY, LIBRARIES, AllocationFaults
from support.runyard import KEYS, Scheduler
from support.wait import until

SEED = int(os.environ.get("RUNYARD_SEED", "1"))
DRAWN = int(os.environ.get("RUNYARD_ALLOCATIONS", "4"))  # starts of a process; 0 is one for every allocation
EVERY = -(1 << 62)  # an allocation that is never reached: all are counted
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


def launch(service):
    """Launches it and waits until it is ready or has exited. Returns whether it runs."""
    service.launch()
    until(lambda: not service.process.alive() or service.ready(), f"{service.name} is ready, or has ended")
    return service.process.alive()


def check_end(service, what):
    """Checks that its last line has the reason."""
    code, log = service.process.popen.returncode, service.process.log()
    last = (log.splitlines() or [""])[-1]
    if code == -signal.SIGABRT:
        assert OUT_OF_MEMORY in last, f"{what}: {log[-4000:]}"
    else:
        assert code in (1, 2) and ('"level":"error"' in last or last.startswith("runyard-")), f"{what}: it ended with {code}:\n{log[-4000:]}"
        assert "Sanitizer" not in log, f"{what}: {log[-6000:]}"


def draw(faults, make):
    """Starts a service of make() with one failing allocation, for allocations drawn from those of a start."""
    faults.set(EVERY)
    service = make()
    assert launch(service)
    calls = faults.calls
    assert service.stop() == 0
    step = max(1, calls // DRAWN) if DRAWN else 1
    ends = 0
    for number in range(1 + SEED % step, calls + 1, step):
        faults.set(0)
        service = make()
        faults.set(-number)
        if launch(service):
            faults.set(0)
            until(service.ready, f"{service.name} is ready")
            assert service.stop() == 0, service.process.log_end()
            service.process.check_sanitizers()
        else:
            faults.set(0)
            check_end(service, f"call {number} of {calls}")
            ends += 1
        service.process.log_path.unlink()
    print(f"\n{service.name}: {calls} calls, one in {step} failed, {ends} starts ended")


@pytest.mark.parametrize("libraries", [LIBRARIES, "program"])
def test_a_scheduler_starts_or_exits_with_a_reason(libraries, folder, authority, postgres, broker):
    """The scheduler migrates an empty database."""
    faults = AllocationFaults(folder, SEED, libraries)
    databases = []

    def make():
        databases.append(postgres.new_database())
        return Scheduler("scheduler", folder, database_url=databases[-1], keys=KEYS, **broker.options, **authority.serving(),
                         environment=faults.environment)

    draw(faults, make)
    for database in databases[1:]:
        Scheduler.run_command("migrate", database_url=database, keys=KEYS)


@pytest.mark.parametrize("libraries", [LIBRARIES, "program"])
@pytest.mark.parametrize("which", ["worker", "notifier"])
def test_a_worker_or_notifier_starts_or_exits_with_a_reason(which, libraries, scheduler, worker, notifier, authority, folder, request):
    faults = AllocationFaults(folder, SEED, libraries)
    scheduler(**authority.serving())
    api = request.getfixturevalue("api")
    starter = {"worker": worker, "notifier": notifier}[which]
    options = {"name": which, "ca_file": authority.file, "environment": faults.environment}
    if which == "worker":
        options["data_dir"] = folder / "data"

    draw(faults, lambda: starter.make(1, dict(options)))
    worker(**{**options, "name": "worker", "data_dir": folder / "data", "environment": {}})
    notifier(ca_file=authority.file)
    workspace = api.workspace(auto_apply=True)
    api.wait_status(api.run_files(workspace, ONE), "applied")
