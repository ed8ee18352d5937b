# SPDX-License-Identifier: MPL-2.0
# label: quick
"""What one job may use. Meeting a limit ends it, in order, with a reason that says what to do; what an apply has made is in the state."""

import pytest

from support.proc import processes_with
from support.wait import until

MEMORY, PROCESSES, DISK, SECONDS = 200, 60, 40, 8


@pytest.fixture(scope="module")
def limited(site):
    """The file's site, with a worker that allows little."""
    site.worker.stop()
    site.worker.options.update(job_memory=MEMORY, job_processes=PROCESSES, job_disk=DISK, job_log=1)
    site.worker.start()
    return site


@pytest.fixture
def api(limited):
    return limited.api


def applying(command):
    """The second resource does what is too much, and would take its time."""
    return {"main.tf": f"""
resource "terraform_data" "first" {{}}
resource "terraform_data" "second" {{
  depends_on = [terraform_data.first]
  provisioner "local-exec" {{
    command = "{command}"
  }}
}}
"""}


def stopped(api, files, kind="apply"):
    """The error of a run whose apply was stopped, with the first resource made and nothing left behind."""
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, files)
    error = api.wait_status(run, "errored")["error"]
    if kind == "apply":
        assert "terraform_data.first" in api.resources(workspace)
    until(lambda: not processes_with(run), "nothing is left of the apply, nor of the showing of its plan")
    assert api.attributes(f"{'applies' if kind == 'apply' else 'plans'}/{api.sibling(run, kind)}")["status"] == "errored"
    return error, api.log(run, kind)


def test_memory(api):
    error, log = stopped(api, applying(f"python3 -c 'import time; a = [bytearray({MEMORY} << 18) for i in range(4)]; time.sleep(3600)'"))
    assert error == f"The apply used more than {MEMORY} MiB of memory (--job-memory of the worker) and was stopped. Split what it manages into more workspaces, or have the limit raised."
    assert error in log


def test_memory_of_a_plan(api):
    error, _ = stopped(api, {"main.tf": 'resource "terraform_data" "one" {\n  input = sha1(file("/dev/zero"))\n}\n'}, "plan")
    assert f"The plan used more than {MEMORY} MiB of memory (--job-memory" in error


def test_processes(limited, api):
    error, _ = stopped(api, applying("for i in $(seq 100); do setsid sleep 3600 & done; sleep 3600"))
    assert f"The apply had more than {PROCESSES} processes at a time (--job-processes" in error and "Look for what starts them" in error
    assert limited.worker.metric("runyard_worker_limits_met_total", limit="job-processes") == 1


def test_a_large_file(api):
    """The kernel stops its growing, before anybody has looked."""
    error, _ = stopped(api, applying(f"head -c {4 * DISK}M /dev/zero >large"))
    assert f"The apply used more than {DISK} MiB of disk (--job-disk" in error


def test_many_files(api):
    error, _ = stopped(api, applying(f"for i in $(seq {4 * DISK}); do head -c 1M /dev/zero >file.$i; done; sleep 3600"))
    assert f"The apply used more than {DISK} MiB of disk (--job-disk" in error


def test_log(api):
    error, log = stopped(api, applying("yes | head -c 3000000; sleep 3600"))
    assert "The apply wrote more than 1 MiB of log (--job-log" in error and "Let it print less" in error
    assert log.endswith("The log is too long: the rest of it is not kept.\n") and len(log) < 1100000


def test_memory_that_is_a_file(limited, api):
    """A sandbox's /tmp is in memory: no more than a job may have."""
    if limited.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox /tmp is the machine's")
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, applying("df --output=size -BM /tmp /dev/shm"))
    api.wait_status(run, "applied")
    assert f"{MEMORY}M" in api.log(run, "apply") and "64M" in api.log(run, "apply")


def test_a_job_within_its_limits(api):
    workspace = api.workspace(auto_apply=True)
    api.wait_status(api.run_files(workspace, applying("true")), "applied")


@pytest.mark.parametrize("stage", ["apply", "plan"])
def test_time(limited, api, gate, stage):
    files = applying("sleep 3600") if stage == "apply" else {"main.tf": f'resource "terraform_data" "one" {{\n  input = {gate.expression}\n}}\n'}
    worker = limited.worker
    worker.stop()
    before = dict(worker.options)
    worker.options.update({f"{stage}_seconds": SECONDS, "job_stop_seconds": 1, "sandbox_bind": gate.folder})
    worker.start()
    error, _ = stopped(api, files, stage)
    assert error.startswith(f"The {stage} took more than {SECONDS} s (--{stage}-seconds of the worker) and was stopped. Split what it manages")
    worker.stop()
    worker.options = before
    worker.start()
