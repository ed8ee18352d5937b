# SPDX-License-Identifier: MPL-2.0
"""The last state of an apply is delivered, whichever process was down when it was written, and no plan begins before
that."""

import signal

import pytest

from support.configurations import applying
from support.engine import each_engine, written_states
from support.wait import until

LEASE = 3
BOTH = ["terraform_data.first", "terraform_data.second"]
UNSAVED = """
resource "terraform_data" "first" {
  provisioner "local-exec" {
    command = "mkdir $(dirname %s)/state/terraform.tfstate"
  }
}
resource "terraform_data" "second" {
  depends_on = [terraform_data.first]
}
"""


@pytest.fixture
def short(scheduler):
    return scheduler(lease_seconds=LEASE)


class Apply:
    """A run whose apply waits at the gate with one of two resources created, and a run that waits behind it."""

    def __init__(self, api, worker, gate, engine):
        self.api, self.gate = api, gate
        self.workspace = api.workspace(auto_apply=True)
        self.worker = worker(sandbox_bind=gate.folder)
        self.run = api.run_files(self.workspace, applying(gate.command))
        self.after = api.run(self.workspace, is_destroy=True, auto_apply=False)
        gate.wait()
        if engine.writes_at_once:
            until(lambda: self.worker.metric("runyard_worker_states_sent_total") >= 1, "a state is sent")

    def held(self):
        return self.api.attributes(f"workspaces/{self.workspace}")["locked-reason"].startswith(f"Held after {self.run}")

    def check_next_run(self):
        """The next run plans from the complete state."""
        self.api.wait_status(self.after, "planned")
        assert self.api.resources(self.workspace) == BOTH
        assert not self.held()
        until(lambda: self.worker.metric("runyard_worker_states_pending") == 0, "the worker has no unsent state")
        assert self.api.attributes(f"plans/{self.api.sibling(self.after, 'plan')}")["resource-destructions"] == 2


@pytest.fixture
def apply(short, api, worker, gate, engine):
    return Apply(api, worker, gate, engine)


@each_engine()
def test_a_worker_that_was_stopped_delivers_its_state_and_no_result(apply, api):
    apply.worker.process.send(signal.SIGSTOP)
    error = api.wait_status(apply.run, "errored")["error"]
    assert "is held" in error and apply.held() and api.status(apply.after) == "pending"
    apply.worker.process.send(signal.SIGCONT)
    until(lambda: any("the attempt is over" in line["msg"] for line in apply.worker.log_lines()), "the worker knows that its lease expired")
    assert apply.held() and api.status(apply.after) == "pending", "terraform still runs"
    apply.gate.open()
    apply.check_next_run()
    assert api.status(apply.run) == "errored"


@each_engine()
def test_a_worker_killed_during_an_outage_of_the_scheduler_delivers_its_state(apply, api, short):
    """States that terraform wrote in between were never sent."""
    short.kill()
    apply.gate.open()
    until(lambda: any("terraform_data" in state and "second" in state for state in written_states(apply.worker)), "terraform has written it")
    apply.worker.kill()
    apply.worker.launch().start_waiting(ready=False)
    short.start()
    assert api.wait_status(apply.run, "errored")["error"]
    apply.check_next_run()


@each_engine()
def test_an_apply_during_a_long_outage_of_the_scheduler_is_applied(apply, api, short):
    failed = apply.worker.metric("runyard_worker_heartbeats_total", outcome="failed")
    short.kill()
    until(lambda: apply.worker.metric("runyard_worker_heartbeats_total", outcome="failed") >= failed + 3, "heartbeats fail")
    apply.gate.open()
    short.start()
    api.wait_status(apply.run, "applied")
    apply.check_next_run()


@each_engine()
def test_an_errored_state_file_is_delivered(short, api, worker, gate):
    """The state's file can't be written: terraform ends with an error, and leaves errored.tfstate in the working
    directory."""
    one = worker()
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, {"main.tf": UNSAVED % "$PWD"})
    assert "state" in api.wait_status(run, "errored")["error"]
    assert "errored.tfstate" in api.log(run, "apply")
    state = api.state(workspace)
    assert [r["name"] for r in state["resources"]] == ["first"] and len(state["lineage"]) == 32
    # An errored.tfstate that came with a configuration is not from its apply.
    again = api.run_files(workspace, {"main.tf": UNSAVED.replace("mkdir", "echo"), "errored.tfstate": '{"version":4,"serial":99,"lineage":"x"}'})
    api.wait_status(again, "applied")
    assert api.resources(workspace) == BOTH and api.state(workspace)["lineage"] == state["lineage"]
    assert one.metric("runyard_worker_states_pending") == 0
