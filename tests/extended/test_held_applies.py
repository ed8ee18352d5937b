# SPDX-License-Identifier: MPL-2.0
"""A lost apply whose terraform is still running: no other run of its workspace starts before that terraform has ended or
a person has released the hold."""

import signal
import uuid

import psycopg
import pytest

from support.proc import engines, processes_with
from support.proxy import Proxy, Wires
from support.wait import until

LEASE = 4
ALERT = 3  # a hold that lasts longer is logged. Many sweeps take less time
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}

# The apply waits at the gate with one of two resources created: in a provisioner, which an interrupt ends, or in terraform
# itself, for ever.
PROVISIONED = """
resource "terraform_data" "first" {}
resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
  provisioner "local-exec" {
    command = "cat %s"
  }
}
"""
STUBBORN = """
resource "terraform_data" "first" {}
resource "terraform_data" "second" {
  input = file(terraform_data.first.id == "" ? "" : "%s")
}
"""


@pytest.fixture
def marker():
    """A marker in the environment of every process of this test's jobs."""
    return f"marker-{uuid.uuid4().hex}"


@pytest.fixture
def short(scheduler):
    return scheduler(lease_seconds=LEASE, hold_alert_seconds=ALERT)


@pytest.fixture
def proxy(short):
    """A proxy in front of the scheduler. Workers end before it does."""
    wires = Wires()
    proxy = Proxy(wires, short.port)
    yield proxy
    proxy.release()
    wires.release()


@pytest.fixture(autouse=True)
def continue_stopped_workers(worker):
    """Lets workers that a failed test has stopped end."""
    yield
    for one in worker.all:
        one.process.send(signal.SIGCONT)


class Apply:
    """A run whose apply waits at the gate, a pending run behind it, and two workers."""

    def __init__(self, api, start, gate, marker, files=PROVISIONED):
        self.api, self.gate, self.marker = api, gate, marker
        self.workspace = api.workspace(auto_apply=True)
        api.variable(self.workspace, "MARKER", marker, category="env")
        self.worker = start()
        self.run = api.run_files(self.workspace, {"main.tf": files % gate.path})
        self.after = api.run_files(self.workspace, ONE)
        gate.wait()
        self.other = start()

    def lose_contact(self, cut):
        cut()
        assert "is held" in self.api.wait_status(self.run, "errored")["error"]

    def held(self):
        return self.api.attributes(f"workspaces/{self.workspace}")["locked-reason"].startswith(f"Held after {self.run}")

    def holds_next_run(self):
        """True if the next run has not begun and the terraform of the first is running."""
        return self.held() and self.api.status(self.after) == "pending" and bool(processes_with(self.marker))

    def check_next_run(self):
        """The next run is applied. No terraform of the first is left when its plan begins."""

        def begun():
            left = {engine[1] for engine in engines([self.worker.pid, self.other.pid])}
            return self.api.status(self.after) != "pending" and self.run not in left

        until(begun, "the next run begins")
        self.api.wait_status(self.after, "applied")


def alerted(scheduler, apply):
    return any(line["msg"].startswith("a workspace is held for long") and line["workspace"] == apply.workspace for line in scheduler.log_lines())


def ask(database, query, *values):
    with psycopg.connect(database, autocommit=True) as connection:
        done = connection.execute(query, values)
        return done.fetchone() if done.description else None


@pytest.mark.parametrize("how", ["stopped", "cut"])
def test_a_hold_lasts_as_long_as_terraform_runs(short, proxy, api, worker, gate, marker, how):
    """Its worker is away for longer than a lease and comes back. Its terraform continues without a time limit."""
    apply = Apply(api, lambda: worker(sandbox_bind=gate.folder, scheduler_url=f"http://127.0.0.1:{proxy.port}"), gate, marker)
    if how == "stopped":
        apply.lose_contact(lambda: apply.worker.process.send(signal.SIGSTOP))
    else:
        apply.lose_contact(lambda: proxy.break_as("cut"))
    until(lambda: alerted(short, apply), "the hold lasts long")
    assert apply.holds_next_run()
    if how == "stopped":
        apply.worker.process.send(signal.SIGCONT)
    else:
        proxy.heal()
    until(lambda: any("the attempt is over" in line["msg"] for line in apply.worker.log_lines()), "the worker hears of it")
    assert apply.holds_next_run()
    gate.open()
    apply.check_next_run()
    assert api.status(apply.run) == "errored"


def test_the_keeper_kills_terraform_at_the_deadline_which_ends_the_hold(short, api, worker, gate, marker, database):
    """The worker stays stopped, and terraform ignores interrupts."""
    def start():
        return worker(sandbox_bind=gate.folder, apply_seconds=25, job_stop_seconds=2, slots=1)

    apply = Apply(api, start, gate, marker, STUBBORN)
    apply.lose_contact(lambda: apply.worker.process.send(signal.SIGSTOP))
    assert apply.holds_next_run()
    left, = ask(database, "select extract(epoch from until - now()) from workspace_holds where run_id = %s", apply.run)
    assert 0 < left < 25 + 2 + 6
    until(lambda: not processes_with(marker), "the keeper ends terraform")
    assert not ask(database, "select until < now() from workspace_holds where run_id = %s", apply.run)[0], "the keeper is late"
    apply.check_next_run()
    ((_, text),) = api.events(apply.run, "workspace-released")
    assert "deadline" in text
    # Its last state arrives late, and does not replace a newer state.
    before = api.resources(apply.workspace)
    apply.worker.process.send(signal.SIGCONT)
    until(lambda: any("everything of an earlier apply is delivered" in line["msg"] for line in apply.worker.log_lines()), "the worker has no unsent state")
    (ended,) = [line for line in apply.worker.log_lines() if line["msg"] == "job ended" and line["stage"] == "apply"]
    assert ended["outcome"] == "lost" or "took more than 25 s (--apply-seconds" in ended["why"]  # whichever it detects first
    assert api.resources(apply.workspace) == before == ["terraform_data.one"]


@pytest.mark.parametrize("options", [{}, {"brokers": None}], ids=["broker", "http"])
def test_a_cancel_interrupts_the_terraform_of_a_held_apply(short, api, worker, gate, marker, options):
    """The cancel reaches a worker that lost its lease, and its terraform stops in order."""
    apply = Apply(api, lambda: worker(sandbox_bind=gate.folder, **options), gate, marker)
    apply.lose_contact(lambda: apply.worker.process.send(signal.SIGSTOP))
    apply.worker.process.send(signal.SIGCONT)
    until(lambda: any("the attempt is over" in line["msg"] for line in apply.worker.log_lines()), "the worker hears of it")
    assert apply.holds_next_run() and api.attributes(f"runs/{apply.run}")["actions"]["is-cancelable"]
    api.act(apply.run, "cancel")
    until(lambda: not processes_with(marker), "terraform stops")
    until(lambda: not apply.held(), "its last state has arrived")
    assert "terraform_data.first" in api.resources(apply.workspace)
    apply.check_next_run()
    assert api.events(apply.run, "canceled") and api.status(apply.run) == "errored"


def test_a_cancel_reaches_a_worker_that_was_away(short, api, worker, gate, marker):
    apply = Apply(api, lambda: worker(sandbox_bind=gate.folder), gate, marker)
    apply.lose_contact(lambda: apply.worker.process.send(signal.SIGSTOP))
    api.act(apply.run, "cancel")
    assert apply.holds_next_run()
    apply.worker.process.send(signal.SIGCONT)
    until(lambda: not processes_with(marker), "terraform stops")
    apply.check_next_run()


def test_a_force_cancel_kills_the_terraform_of_a_held_apply(short, api, worker, gate, marker, database):
    apply = Apply(api, lambda: worker(sandbox_bind=gate.folder), gate, marker, STUBBORN)
    apply.lose_contact(lambda: apply.worker.process.send(signal.SIGSTOP))
    apply.worker.process.send(signal.SIGCONT)
    api.act(apply.run, "cancel")
    until(lambda: any("asked to stop" in line["msg"] for line in apply.worker.log_lines()), "the worker hears of it")
    assert apply.holds_next_run()
    ask(database, "update runs set force_cancel_available_at = now() where id = %s", apply.run)
    until(lambda: api.attributes(f"runs/{apply.run}")["actions"]["is-force-cancelable"], "the cool-off time is over")
    api.act(apply.run, "force-cancel")
    until(lambda: not processes_with(marker), "terraform is killed")
    apply.check_next_run()
    assert "last state" in api.events(apply.run, "workspace-released")[0][1]


def test_a_forced_unlock_warns_of_a_running_terraform(short, api, worker, gate, marker):
    """The next run then works concurrently with the running terraform: the lock's reason and the event say so."""
    apply = Apply(api, lambda: worker(sandbox_bind=gate.folder), gate, marker)
    apply.lose_contact(lambda: apply.worker.process.send(signal.SIGSTOP))
    assert "two of them can change the same resources" in api.attributes(f"workspaces/{apply.workspace}")["locked-reason"]
    api.post(f"workspaces/{apply.workspace}/actions/force-unlock", {"reason": "it must go on"})
    api.wait_status(apply.after, "applied")
    assert processes_with(marker)
    ((_, text),) = api.events(apply.run, "workspace-released")
    assert text.endswith("while its terraform could still run: it must go on")
    apply.worker.process.send(signal.SIGCONT)
    gate.open()
    until(lambda: apply.worker.metric("runyard_worker_states_pending") == 0, "the worker has no unsent state")
    assert api.resources(apply.workspace) == ["terraform_data.one"]
