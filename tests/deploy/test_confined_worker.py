# SPDX-License-Identifier: MPL-2.0
"""A worker with the restrictions of its systemd unit can create the sandboxes of its jobs."""

import os
import re
import sys

import pytest

from support.process import give_to_workers, worker_account
from support.release import ROOT

JOB = """
resource "terraform_data" "one" {
  provisioner "local-exec" {
    command = "tr '\\t' ' ' < /proc/self/status"
  }
}
"""
pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can confine a process as systemd does")


def confined(worker, installed, folder, monkeypatch, change=lambda unit: unit, **options):
    """worker(), started through support/confine.py with the unit after a change."""
    unit = folder / "worker.service"
    unit.write_text(change((installed / "usr/lib/systemd/system/runyard-worker@.service").read_text()))
    programs, data = folder / "programs", folder / "data"
    programs.mkdir()
    data.mkdir()
    give_to_workers(data)
    wrapper = programs / "runyard-worker"
    confine = ROOT / "tests/support/confine.py"
    wrapper.write_text(f'#!/bin/sh\nexec {sys.executable} {confine} {unit} {worker_account().pw_name} {folder} {installed}/usr/bin/runyard-worker "$@"\n')
    wrapper.chmod(0o755)
    with monkeypatch.context() as changed:  # for this program alone
        changed.setenv("RUNYARD_BIN", str(programs))
        return worker.launch(data_dir=data, sandbox="bwrap", **options)


def test_a_confined_worker_runs_jobs_in_a_sandbox(installed, api, worker, folder, monkeypatch):
    one = confined(worker, installed, folder, monkeypatch).start_waiting()
    run = api.run_files(api.workspace(auto_apply=True), {"main.tf": JOB})
    api.wait_status(run, "applied")
    log = api.log(run, "apply")
    assert re.search(r"NoNewPrivs:\s+1", log) and re.search(r"CapEff:\s+0{16}", log) and re.search(r"Seccomp:\s+2", log), log
    # The worker's own filters, and that of the sandbox.
    assert int(re.search(r"Seccomp_filters:\s+(\d+)", log)[1]) >= 4, log
    assert one.stop() == 0


def test_a_confined_worker_evaluates_policies(installed, api, worker, folder, monkeypatch):
    """By the installed runyard-policy, which needs the distribution's packages alone."""
    one = confined(worker, installed, folder, monkeypatch).start_waiting()
    workspace = api.workspace()
    source = 'import "tfplan/v2" as tfplan\nimport "decimal"\nprint(decimal.new("0.1").add("0.2").string)\nmain = rule { "terraform_data.one" not matches "^terraform_(data|x)[.]one$" }\n'
    api.policy_set("sentinel", [api.policy("sentinel", "soft-mandatory", source, "names")], workspace)
    run = api.run_files(workspace, {"main.tf": JOB})
    api.wait_status(run, "policy_override")
    output = api.get(f"policy-checks/{api.policy_check(run)['id']}/output").text
    assert "names: failed (soft-mandatory)" in output and "0.3" in output, output
    assert one.stop() == 0


@pytest.mark.parametrize("change", [lambda unit: unit.replace(" @mount ", " "), lambda unit: unit + "RestrictSUIDSGID=yes\n"], ids=["mount", "openat2"])
def test_a_worker_without_a_system_call_that_it_needs_does_not_start(installed, api, worker, folder, monkeypatch, change):
    """This shows that the test's confinement is in effect."""
    one = confined(worker, installed, folder, monkeypatch, change)
    assert one.process.ended() == 1
    assert "can't start" in one.process.log()
