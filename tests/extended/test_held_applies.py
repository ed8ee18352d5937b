# SPDX-License-Identifier: MPL-2.0
"""A lost apply whose terraform lives on: no other run works on its workspace before that terraform has ended or a person released it."""

import signal
import uuid

import psycopg
import pytest

from support.proc import engines, processes_with
from support.proxy import Proxy, Wires
from support.wait import until

LEASE = 4
ALERT = 3  # a hold that lasts longer is named in the log: that much time has passed, and more than many sweeps take
ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}

# It stands at the gate with one of two resources made: in a provisioner, which an interrupt ends, or where terraform itself waits for ever.
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
    """A word that only this test's jobs carry, in the environment of every process of theirs."""
    return f"marker-{uuid.uuid4().hex}"


@pytest.fixture
def short(scheduler):
    return scheduler(lease_seconds=LEASE, hold_alert_seconds=ALERT)


@pytest.fixture
def proxy(short):
    """Leads to the scheduler. Workers end before it does."""
    wires = Wires()
    proxy = Proxy(wires, short.port)
    yield proxy
    proxy.release()
    wires.release()


@pytest.fixture(autouse=True)
def goes_on_in_the_end(worker):
    """A worker that a failed test left stopped can end."""
    yield
    for one in worker.all:
        one.process.send(signal.SIGCONT)


class Apply:
    """A run whose apply stands at the gate, a run that waits behind it, and two workers."""

    def __init__(self, api, start, gate, marker, files=PROVISIONED):
        self.api, self.gate, self.marker = api, gate, marker
        self.workspace = api.workspace(auto_apply=True)
        api.variable(self.workspace, "MARKER", marker, category="env")
        self.worker = start()
        self.run = api.run_files(self.workspace, {"main.tf": files % gate.path})
        self.after = api.run_files(self.workspace, ONE)
        gate.wait()
        self.other = start()

    def loses_contact(self, cut):
        cut()
        assert "is held" in self.api.wait_status(self.run, "errored")["error"]

    def held(self):
        return self.api.attributes(f"workspaces/{self.workspace}")["locked-reason"].startswith(f"Held after {self.run}")

    def waits(self):
        """The next run has not begun, and the terraform of the first lives."""
        return self.held() and self.api.status(self.after) == "pending" and bool(processes_with(self.marker))

    def goes_on(self):
        """The next run ends as ordered. No terraform of the first is left when its plan begins."""

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
def test_no_time_ends_a_hold_while_terraform_lives(short, proxy, api, worker, gate, marker, how):
    """Its worker is away for longer than a lease, and comes back; then its terraform goes on for as long as it likes."""
    apply = Apply(api, lambda: worker(sandbox_bind=gate.folder, scheduler_url=f"http://127.0.0.1:{proxy.port}"), gate, marker)
    if how == "stopped":
        apply.loses_contact(lambda: apply.worker.process.send(signal.SIGSTOP))
    else:
        apply.loses_contact(lambda: proxy.break_as("cut"))
    until(lambda: alerted(short, apply), "the hold lasts long")
    assert apply.waits()
    if how == "stopped":
        apply.worker.process.send(signal.SIGCONT)
    else:
        proxy.heal()
    until(lambda: any("the attempt is over" in line["msg"] for line in apply.worker.log_lines()), "the worker hears of it")
    assert apply.waits()
    gate.open()
    apply.goes_on()
    assert api.status(apply.run) == "errored"


def test_the_keeper_ends_terraform_at_the_deadline_and_that_ends_the_hold(short, api, worker, gate, marker, database):
    """Its worker is stopped all the time, and terraform does not end when it is interrupted."""
    def start():
        return worker(sandbox_bind=gate.folder, apply_seconds=25, job_stop_seconds=2, slots=1)

    apply = Apply(api, start, gate, marker, STUBBORN)
    apply.loses_contact(lambda: apply.worker.process.send(signal.SIGSTOP))
    assert apply.waits()
    left, = ask(database, "select extract(epoch from until - now()) from workspace_holds where run_id = %s", apply.run)
    assert 0 < left < 25 + 2 + 6
    until(lambda: not processes_with(marker), "the keeper ends terraform")
    assert not ask(database, "select until < now() from workspace_holds where run_id = %s", apply.run)[0], "the keeper is late"
    apply.goes_on()
    ((_, told),) = api.events(apply.run, "workspace-released")
    assert "deadline" in told
    # What it wrote last comes late, and takes no newer state's place.
    before = api.resources(apply.workspace)
    apply.worker.process.send(signal.SIGCONT)
    until(lambda: any("nothing is left to be told" in line["msg"] for line in apply.worker.log_lines()), "its worker is told that it is late")
    (ended,) = [line for line in apply.worker.log_lines() if line["msg"] == "job ended" and line["stage"] == "apply"]
    assert ended["outcome"] == "lost" or "took more than 25 s (--apply-seconds" in ended["why"]  # whichever it hears of first
    assert api.resources(apply.workspace) == before == ["terraform_data.one"]


@pytest.mark.parametrize("options", [{}, {"brokers": None}], ids=["broker", "http"])
def test_a_cancel_interrupts_a_held_apply(short, api, worker, gate, marker, options):
    """It reaches a worker that lost its lease, and its terraform stops in order."""
    apply = Apply(api, lambda: worker(sandbox_bind=gate.folder, **options), gate, marker)
    apply.loses_contact(lambda: apply.worker.process.send(signal.SIGSTOP))
    apply.worker.process.send(signal.SIGCONT)
    until(lambda: any("the attempt is over" in line["msg"] for line in apply.worker.log_lines()), "the worker hears of it")
    assert apply.waits() and api.attributes(f"runs/{apply.run}")["actions"]["is-cancelable"]
    api.act(apply.run, "cancel")
    until(lambda: not processes_with(marker), "terraform stops")
    until(lambda: not apply.held(), "its last state has arrived")
    assert "terraform_data.first" in api.resources(apply.workspace)
    apply.goes_on()
    assert api.events(apply.run, "canceled") and api.status(apply.run) == "errored"


def test_a_cancel_that_was_ordered_while_the_worker_was_away_reaches_it(short, api, worker, gate, marker):
    apply = Apply(api, lambda: worker(sandbox_bind=gate.folder), gate, marker)
    apply.loses_contact(lambda: apply.worker.process.send(signal.SIGSTOP))
    api.act(apply.run, "cancel")
    assert apply.waits()
    apply.worker.process.send(signal.SIGCONT)
    until(lambda: not processes_with(marker), "terraform stops")
    apply.goes_on()


def test_a_force_cancel_kills_a_held_apply_that_will_not_stop(short, api, worker, gate, marker, database):
    apply = Apply(api, lambda: worker(sandbox_bind=gate.folder), gate, marker, STUBBORN)
    apply.loses_contact(lambda: apply.worker.process.send(signal.SIGSTOP))
    apply.worker.process.send(signal.SIGCONT)
    api.act(apply.run, "cancel")
    until(lambda: any("asked to stop" in line["msg"] for line in apply.worker.log_lines()), "the worker hears of it")
    assert apply.waits()
    ask(database, "update runs set force_cancel_available_at = now() where id = %s", apply.run)
    until(lambda: api.attributes(f"runs/{apply.run}")["actions"]["is-force-cancelable"], "it cooled off")
    api.act(apply.run, "force-cancel")
    until(lambda: not processes_with(marker), "terraform is killed")
    apply.goes_on()
    assert "last state" in api.events(apply.run, "workspace-released")[0][1]


def test_a_release_is_a_persons_risk(short, api, worker, gate, marker):
    """It lets the next run work beside a terraform that lives: that is what it says before and after."""
    apply = Apply(api, lambda: worker(sandbox_bind=gate.folder), gate, marker)
    apply.loses_contact(lambda: apply.worker.process.send(signal.SIGSTOP))
    assert "two of them can change the same resources" in api.attributes(f"workspaces/{apply.workspace}")["locked-reason"]
    api.post(f"workspaces/{apply.workspace}/actions/force-unlock", {"reason": "it must go on"})
    api.wait_status(apply.after, "applied")
    assert processes_with(marker)
    ((_, told),) = api.events(apply.run, "workspace-released")
    assert told.endswith("while its terraform could still run: it must go on")
    apply.worker.process.send(signal.SIGCONT)
    gate.open()
    until(lambda: apply.worker.metric("runyard_worker_states_pending") == 0, "nothing is left to be told")
    assert api.resources(apply.workspace) == ["terraform_data.one"]
