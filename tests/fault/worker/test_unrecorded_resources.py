# SPDX-License-Identifier: MPL-2.0
"""Resources that an engine reported and no state shows are listed on the run and hold the workspace, whichever process
was killed."""

import os
import signal

import pytest

from support.engine import each_engine, unrecorded
from support.gate import Gate
from support.proc import processes_with
from support.wait import until

LEASE = 3


@pytest.fixture
def short(scheduler):
    return scheduler(lease_seconds=LEASE)


@pytest.fixture
def before(folder):
    return Gate(folder, "before")


class Apply:
    """A run that has created the first resource and waits at the gate with the second, and a run that waits behind it."""

    def __init__(self, api, worker, gate, before=None):
        self.api, self.gate = api, gate
        self.workspace = api.workspace(auto_apply=True)
        self.worker = worker(sandbox_bind=f"{gate.folder},{before.folder}" if before else gate.folder)
        wait = f"""
  provisioner "local-exec" {{
    command = "{before.command}"
  }}""" if before else ""
        self.run = api.run_files(self.workspace, {"main.tf": f"""
resource "terraform_data" "zero" {{{wait}
}}
resource "terraform_data" "first" {{
  depends_on = [terraform_data.zero]
}}
resource "terraform_data" "second" {{
  depends_on = [terraform_data.first]
  provisioner "local-exec" {{
    command = "{gate.command}"
  }}
}}
"""})
        self.after = api.run(self.workspace, is_destroy=True)

    def wait_created(self):
        """Waits until the engine has created the first resource, and the worker has read its report."""
        self.gate.wait()
        outputs = self.worker.options["data_dir"]
        until(lambda: any("first: Creation complete" in path.read_text() for path in outputs.glob("jobs/*/output")), "the worker has the output")
        return self

    def kill_engine(self):
        for pid in processes_with(self.run):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        until(lambda: not processes_with(self.run), "no process of the job is left")

    def listed(self):
        return unrecorded(self.api, self.run)

    def held(self):
        return self.api.attributes(f"workspaces/{self.workspace}")["locked-reason"].startswith(f"Held after {self.run}")

    def check(self, engine):
        """The last state has arrived. With an engine that had not written it, both resources are listed; with the
        other, they are in the state."""
        lost = [] if engine.writes_at_once else ["terraform_data.first", "terraform_data.zero"]
        until(lambda: self.worker.metric("runyard_worker_states_pending") == 0, "the worker has no unsent state")
        assert self.api.status(self.run) == "errored" and self.listed() == lost
        if lost:
            assert self.held() and self.api.status(self.after) == "pending"
            assert self.api.get(f"runs/{self.run}/unrecorded-resources/import-blocks").text.count("import {") == 2
            self.api.post(f"runs/{self.run}/actions/dismiss-unrecorded-resources")
        self.api.wait_status(self.after, "planned_and_finished" if lost else "applied")
        assert self.api.resources(self.workspace) == [] and not self.held()


@each_engine()
def test_unrecorded_resources_are_listed_if_the_engine_is_killed(short, api, worker, gate, engine):
    apply = Apply(api, worker, gate).wait_created()
    apply.kill_engine()
    api.wait_status(apply.run, "errored")
    apply.check(engine)


@each_engine()
def test_unrecorded_resources_are_listed_if_engine_and_worker_are_killed(short, api, worker, gate, engine):
    apply = Apply(api, worker, gate).wait_created()
    apply.worker.process.send(signal.SIGSTOP)
    apply.kill_engine()
    apply.worker.kill()
    apply.worker.start()
    api.wait_status(apply.run, "errored")
    apply.check(engine)


@each_engine()
def test_unrecorded_resources_are_listed_if_the_scheduler_was_down(short, api, worker, gate, before, engine):
    """The scheduler's log has no line about them: they are recorded in the job's folder."""
    apply = Apply(api, worker, gate, before)
    before.wait()
    short.kill()
    before.open()
    apply.wait_created()
    apply.worker.process.send(signal.SIGSTOP)
    apply.kill_engine()
    apply.worker.kill()
    apply.worker.launch().start_waiting(ready=False)
    short.start()
    api.wait_status(apply.run, "errored")
    apply.check(engine)


@each_engine()
def test_unrecorded_resources_are_listed_until_the_worker_delivers_its_state(short, api, worker, gate, engine):
    """While the worker is away, the scheduler lists the reports in its own log. Then the engine's final state arrives."""
    apply = Apply(api, worker, gate).wait_created()
    until(lambda: "first: Creation complete" in api.log(apply.run, "apply"), "the log is sent")
    apply.worker.kill()
    api.wait_status(apply.run, "errored")
    if not engine.writes_at_once:
        until(lambda: apply.listed() == ["terraform_data.first", "terraform_data.zero"], "they are listed")
    assert apply.held() and api.status(apply.after) == "pending"
    apply.worker.start()
    api.wait_status(apply.after, "applied")
    assert apply.listed() == [] and api.resources(apply.workspace) == []


def test_a_failed_apply_does_not_hold_the_workspace(short, api, worker, engine):
    worker()
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, {"main.tf": """
resource "terraform_data" "counted" {
  count = 3
}
resource "terraform_data" "keyed" {
  for_each = toset(["a.b", "c\\"d", "$${e}"])
}
resource "terraform_data" "broken" {
  depends_on = [terraform_data.counted, terraform_data.keyed]
  provisioner "local-exec" {
    command = "exit 3"
  }
}
"""})
    assert api.wait_status(run, "errored")["error"]
    assert api.get(f"runs/{run}/unrecorded-resources").data == []
    assert not api.attributes(f"workspaces/{workspace}")["locked"]
    assert len(api.resources(workspace)) == 3
