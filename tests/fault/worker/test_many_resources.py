# SPDX-License-Identifier: MPL-2.0
# label: extended
"""An apply of many resources, whose states are sent as differences: no sent state is lost, whichever process is killed."""

import json
import shutil

import pytest

from support.engine import ENGINES, written_states
from support.wait import until

LEASE, MANY = 3, 120

# OpenTofu writes states only every 20 s, so there are none to send in between.
writes_at_once = pytest.mark.skipif(not any(engine.writes_at_once for engine in ENGINES), reason="no engine here writes its state after each change")


class Apply:
    """A run whose apply waits at the gate with many resources created and one to go."""

    def __init__(self, api, worker, gate):
        self.api, self.gate = api, gate
        self.workspace = api.workspace(auto_apply=True)
        self.worker = worker(sandbox_bind=gate.folder)
        self.run = api.run_files(self.workspace, {"main.tf": f"""
resource "terraform_data" "first" {{
  count = {MANY}
  input = {{ name = "item-${{count.index}}", text = "{'x' * 300}" }}
}}
resource "terraform_data" "second" {{
  depends_on = [terraform_data.first]
  provisioner "local-exec" {{
    command = "{gate.command}"
  }}
}}
output "made" {{
  value = length(terraform_data.first)
}}
"""})
        gate.wait()
        assert self.worker.metric("runyard_worker_transfers_total", what="state-difference", status="204") > 5
        (self.written,) = [state for state in written_states(self.worker) if "second" not in state]
        until(lambda: self.download() == self.written, "the newest state is sent")

    def version(self):
        return self.api.get(f"workspaces/{self.workspace}/current-state-version").data

    def download(self):
        return self.api.call("GET", f"state-versions/{self.version()['id']}/download").text

    def resources(self):
        return self.api.get(f"workspaces/{self.workspace}/resources").json["meta"]["pagination"]["total-count"]


@pytest.fixture
def leases(scheduler):
    scheduler(lease_seconds=LEASE)


@pytest.fixture
def apply(leases, api, worker, gate):
    return Apply(api, worker, gate)


@writes_at_once
def test_the_last_state_is_complete(apply, api):
    assert apply.version()["attributes"]["intermediate"]
    apply.gate.open()
    api.wait_status(apply.run, "applied")
    shown = apply.version()["attributes"]
    assert apply.resources() == MANY + 1
    assert shown["md5"] and not shown["intermediate"] and sum(resource["count"] for resource in shown["resources"]) == MANY + 1
    (output,) = api.get(f"workspaces/{apply.workspace}/current-state-version-outputs").data
    assert output["attributes"]["value"] == MANY


@writes_at_once
def test_the_sent_state_is_kept_if_a_worker_and_its_disk_are_lost(apply, api):
    apply.worker.kill()
    shutil.rmtree(apply.worker.options["data_dir"])
    api.wait_status(apply.run, "errored")
    until(lambda: apply.version()["attributes"]["md5"], "a complete state")
    assert apply.download() == apply.written and apply.resources() == MANY
    shown = apply.version()["attributes"]
    assert shown["recovered"] and sum(resource["count"] for resource in shown["resources"]) == MANY


@writes_at_once
def test_a_killed_worker_delivers_the_complete_state(apply, api):
    apply.worker.kill()
    apply.worker.launch().start_waiting()
    api.wait_status(apply.run, "errored")
    until(lambda: not api.attributes(f"workspaces/{apply.workspace}")["locked"], "the workspace is not held any more")
    # The keeper has interrupted the engine, which has written a newer state.
    assert json.loads(apply.download())["serial"] >= json.loads(apply.written)["serial"] and apply.resources() >= MANY
    assert apply.version()["attributes"]["md5"]
