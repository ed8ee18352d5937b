# SPDX-License-Identifier: MPL-2.0
# label: extended
"""The disk of a worker's data folder is full: each job ends with a reason, no state is lost, and the worker continues
when there is space."""

import os
import re

import pytest

from support.disk import Disk
from support.engine import each_engine
from support.git_rows import GitRows
from support.process import worker_account
from support.wait import until

pytestmark = pytest.mark.skipif(worker_account() is None, reason="only root mounts file systems")

MIB = 1 << 20
ONE = 'resource "terraform_data" "one" {}\n'
# Longer than the block that the file already has.
WIDE = 'resource "terraform_data" "first" {\n  input = join("", formatlist("y%s", range(1000)))\n}\nresource "terraform_data" "second" {\n  depends_on = [terraform_data.first]\n}\n'
# Fills the job's disk before the command that a file of the configuration names.
ENGINE = """#!/bin/sh
if [ -e "fill-at-$1" ]; then
	head -c 1G /dev/zero >filling 2>/dev/null
fi
exec {engine} "$@"
"""


@pytest.fixture
def disk(folder):
    disk = Disk(folder / "disk", 64)
    yield disk
    disk.release()


@pytest.fixture
def start(folder, disk, worker, engine, gate):
    """start(option=value...): a worker on that disk, which fills it if a configuration requests it."""
    program = folder / "engine"
    program.write_text(ENGINE.format(engine=engine.path))
    program.chmod(0o755)

    def start(**options):
        more = {"min_free_disk": 0, "min_free_inodes": 0, **options}
        return worker(data_dir=disk.folder / "data", engine=program, sandbox_bind=f"{engine.folder},{gate.folder}", **more)

    yield start
    for one in worker.all:  # before its disk is unmounted
        one.stop()


def check_works_again(api, worker):
    """The same worker processes a run of another workspace."""
    api.wait_status(api.run_files(api.workspace(auto_apply=True), {"main.tf": ONE}), "applied")
    until(lambda: worker.metric("runyard_worker_states_pending") == 0, "the worker has no unsent state")
    assert worker.ready()


def large():
    """A configuration that is too large to come with a claim."""
    return {"main.tf": ONE, "large": os.urandom(8 * MIB)}


@pytest.mark.parametrize("leave", [0, 4 * MIB, pytest.param(16384, marks=pytest.mark.extended)])
def test_a_run_errors_if_its_configuration_can_not_be_written(api, start, disk, leave):
    one = start()
    disk.fill(leave)
    run = api.run_files(api.workspace(), large())
    assert api.wait_status(run, "errored")["error"] == "The worker can't get the configuration: No space left on device"
    disk.free()
    check_works_again(api, one)


def test_a_run_errors_if_its_configuration_can_not_be_unpacked(api, start, disk):
    one = start()
    disk.fill(leave=10 * MIB)
    error = api.wait_status(api.run_files(api.workspace(), large()), "errored")["error"]
    assert "the configuration can't be unpacked" in error and "No space left on device" in error
    disk.free()
    check_works_again(api, one)


def test_a_run_errors_if_the_configuration_of_its_claim_can_not_be_written(api, start, disk):
    one = start()
    disk.fill()
    error = api.wait_status(api.run_files(api.workspace(), {"main.tf": ONE}), "errored")["error"]
    assert "No space left on device" in error
    disk.free()
    check_works_again(api, one)


def test_a_run_errors_without_free_inodes(api, start, disk):
    one = start()
    disk.fill_inodes(leave=3)
    error = api.wait_status(api.run_files(api.workspace(), {"main.tf": ONE}), "errored")["error"]
    assert error.startswith("The worker can't make a folder for the job") and "No space left on device" in error
    disk.free()
    check_works_again(api, one)


@each_engine()
@pytest.mark.parametrize("command, words", [("init", "terraform init failed"),
                                            ("plan", "(The plan file was not written to the end|Failed to write plan file)"),  # OpenTofu reports it itself
                                            ("show", "terraform show failed: The plan as JSON was not written to the end: is the worker's disk full")])
def test_a_run_errors_if_the_engine_can_not_write(api, start, command, words):
    one = start()
    workspace = api.workspace()
    run = api.run_files(workspace, {"main.tf": WIDE, f"fill-at-{command}": ""})
    assert re.search(words, api.wait_status(run, "errored")["error"])
    check_works_again(api, one)


def apply_alone(api, disk, workspace, files):
    """A run whose apply has the disk to itself."""
    run = api.run_files(workspace, files, auto_apply=False)
    api.wait_status(run, "planned")
    until(lambda: not list((disk.folder / "data/jobs").iterdir()), "the plan's folder is removed")
    api.act(run, "apply")
    return run


@each_engine()
def test_no_state_is_lost_if_an_apply_can_not_write_it(api, start, disk):
    """The created resources are in the workspace's state, and no state is in the log."""
    one = start()
    workspace = api.workspace(auto_apply=True)
    run = apply_alone(api, disk, workspace, {"main.tf": WIDE, "fill-at-apply": ""})
    assert "terraform apply failed" in api.wait_status(run, "errored")["error"]
    log = api.log(run, "apply")
    assert "no space left on device" in log and "y998y999" not in log
    assert "terraform_data.first" in api.resources(workspace)
    assert api.attributes(f"workspaces/{workspace}")["locked"] is False
    again = api.run_files(workspace, {"main.tf": WIDE})
    api.wait_status(again, {"applied", "planned_and_finished"})  # OpenTofu may have kept both resources
    assert api.resources(workspace) == ["terraform_data.first", "terraform_data.second"]
    check_works_again(api, one)


@each_engine()
def test_no_state_is_lost_if_a_larger_one_can_not_be_written(api, start, disk):
    one = start()
    workspace = api.workspace(auto_apply=True)
    api.wait_status(api.run_files(workspace, {"main.tf": ONE}), "applied")
    lineage = api.state(workspace)["lineage"]
    run = apply_alone(api, disk, workspace, {"main.tf": ONE + WIDE, "fill-at-apply": ""})
    api.wait_status(run, "errored")
    assert {"terraform_data.first", "terraform_data.one"} <= set(api.resources(workspace))
    assert api.state(workspace)["lineage"] == lineage
    check_works_again(api, one)


def test_an_apply_does_not_start_without_space_for_its_state(api, start, disk):
    one = start()
    workspace = api.workspace(auto_apply=False)
    run = api.run_files(workspace, {"main.tf": ONE})
    api.wait_status(run, "planned")
    disk.fill(leave=2 * MIB)
    api.act(run, "apply")
    assert api.wait_status(run, "errored")["error"] == "The apply was not started: the worker can't allocate disk space for its last state, 4 MiB: No space left on device"
    assert api.state(workspace) is None and api.attributes(f"workspaces/{workspace}")["locked"] is False
    disk.free()
    check_works_again(api, one)


def test_the_result_of_an_apply_is_delivered_on_a_full_disk(api, start, disk, gate):
    """Its result can't be written to disk. It is delivered, and the job's folder is removed when there is space."""
    one = start()
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, {"main.tf": f'resource "terraform_data" "one" {{\n  provisioner "local-exec" {{\n    command = "{gate.command}"\n  }}\n}}\n'})
    gate.wait()
    disk.fill()
    gate.open()
    api.wait_status(run, {"applied", "errored"})
    disk.free()
    until(lambda: not list((disk.folder / "data/jobs").iterdir()), "the job's folder is removed")
    assert api.resources(workspace) == ["terraform_data.one"]
    check_works_again(api, one)


@pytest.mark.parametrize("stop", ["cancel", "SIGTERM"])
def test_a_stop_is_obeyed_while_a_download_fails(api, start, disk, stop):
    one = start()
    disk.fill()
    run = api.run_files(api.workspace(), large())
    if stop == "cancel":
        api.call("POST", f"runs/{run}/actions/cancel")
    until(lambda: api.status(run) in ("errored", "canceled"), "the run ends")
    assert one.stop() == 0


@pytest.mark.parametrize("what", ["blocks", "inodes"])
def test_a_worker_with_a_nearly_full_disk_claims_no_jobs(api, ask, start, disk, what):
    one = start(min_free_disk=16, min_free_inodes=1000)
    if what == "blocks":
        disk.fill(leave=12 * MIB)
    else:
        disk.fill_inodes(leave=900)
    until(lambda: one.metric("runyard_worker_disk_low") == 1, "the worker sees it")
    assert one.get("/readyz") == (503, "the disk of --data-dir is nearly full (--min-free-disk, --min-free-inodes)\n")
    claims = one.metric("runyard_worker_claims_total")
    run = api.run_files(api.workspace(auto_apply=True), {"main.tf": ONE})
    rows = GitRows(ask, ask("select id from organizations")[0][0])
    rows.job("look", rows.repository(rows.connection("http://127.0.0.1:1/git")))
    beats = one.metric("runyard_worker_heartbeats_total")
    until(lambda: one.metric("runyard_worker_heartbeats_total") > beats, "its heartbeats continue")
    assert api.status(run) in ("pending", "plan_queued") and one.metric("runyard_worker_claims_total") == claims
    assert rows.jobs() == [("look", "waiting", 0, None)]
    disk.free()
    api.wait_status(run, "applied")
    until(lambda: one.metric("runyard_worker_git_jobs_total", kind="look") == 1, lambda: f"it looks at the repository: {rows.jobs()}")
    until(one.ready, "it is ready again")
    logged = [line["msg"].split(":")[0] for line in one.log_lines() if "disk" in line["msg"]]
    assert logged == ["disk low", "disk has room again"]
