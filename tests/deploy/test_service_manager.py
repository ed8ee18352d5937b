# SPDX-License-Identifier: MPL-2.0
"""Notifications of the processes to systemd, received on a real socket."""

import os
import signal
import socket
import time

import pytest

from support.wait import until

WATCHDOG_MS = 600


class Manager:
    """A service manager's socket, at a path or at an abstract name."""

    def __init__(self, folder, abstract=False):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.name = f"@runyard-test-{os.getpid()}-{id(self)}" if abstract else str(folder / "notify")
        self.socket.bind(self.name.replace("@", "\0"))
        if not abstract:
            os.chmod(self.name, 0o777)
        self.socket.setblocking(False)
        self.received = []  # (time, state)

    @property
    def environment(self):
        return {"NOTIFY_SOCKET": self.name, "WATCHDOG_USEC": str(WATCHDOG_MS * 1000)}

    def states(self):
        while True:
            try:
                self.received.append((time.monotonic(), self.socket.recv(4096).decode()))
            except BlockingIOError:
                return [state for _, state in self.received]

    def watchdogs(self):
        return self.states().count("WATCHDOG=1")


@pytest.fixture(params=[False, True], ids=["path", "abstract"])
def manager(request, folder):
    manager = Manager(folder, request.param)
    yield manager
    manager.socket.close()


def start(request, process, manager):
    if process == "notifier":
        request.getfixturevalue("scheduler")
    return request.getfixturevalue(process)(environment=manager.environment)


@pytest.mark.parametrize("process", ["scheduler", "worker", "notifier"])
def test_a_process_notifies_ready_watchdog_and_stopping(request, manager, process):
    if process == "worker":
        request.getfixturevalue("api")
    one = start(request, process, manager)
    until(lambda: manager.watchdogs() >= 4, "several watchdog notifications arrive")
    assert manager.states()[0] == "READY=1" and manager.states().count("READY=1") == 1
    assert one.process.stop() == 0
    assert set(manager.states()) == {"READY=1", "WATCHDOG=1", "STOPPING=1"}


def test_a_stopped_process_sends_no_watchdog_notification(request, folder, scheduler):
    manager = Manager(folder)
    one = request.getfixturevalue("notifier")(environment=manager.environment)
    until(lambda: manager.watchdogs() >= 2, "watchdog notifications arrive")
    one.process.send(signal.SIGSTOP)
    before = manager.watchdogs()
    time.sleep(WATCHDOG_MS * 2 / 1000)
    assert manager.watchdogs() == before
    one.process.send(signal.SIGCONT)
    until(lambda: manager.watchdogs() > before, "watchdog notifications arrive again")


def test_a_manager_that_reads_nothing_stops_no_process(folder, scheduler):
    """Its queue is full after a dozen notifications."""
    one = scheduler(environment=Manager(folder).environment)
    until(lambda: [line for line in one.log_lines() if "can't be notified" in line["msg"]], "the queue is full")
    assert one.ready() and one.process.stop() == 0


def test_jobs_have_no_variables_of_the_service_manager(api, worker, folder):
    manager = Manager(folder)
    worker(environment=manager.environment, sandbox="none")
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, {"main.tf": """
resource "terraform_data" "one" {
  provisioner "local-exec" {
    command = "env | sort"
  }
}
"""})
    api.wait_status(run, "applied")
    log = api.log(run, "apply")
    assert "PATH=" in log
    assert "NOTIFY_SOCKET" not in log and "WATCHDOG_USEC" not in log and "CREDENTIALS_DIRECTORY" not in log
