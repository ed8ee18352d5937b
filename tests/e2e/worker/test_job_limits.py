# SPDX-License-Identifier: MPL-2.0
"""The resource limits of a job. A job at a limit ends regularly, with a reason that says what to do, and with the
created resources in the state."""

import contextlib
import os
import re
import subprocess

import pytest

from support.configurations import applying, planning_at
from support.engine import unrecorded
from support.proc import processes_with
from support.wait import until

MEMORY, PROCESSES, DISK, SECONDS = 200, 60, 40, 8
REMOVAL_SECONDS = 600  # beside other tests, 30,000 nested folders take minutes


@pytest.fixture(scope="module")
def limited(site):
    """The file's site, with a worker with low limits."""
    site.worker.stop()
    site.worker.options.update(job_memory=MEMORY, job_processes=PROCESSES, job_disk=DISK, job_log=1)
    site.worker.start()
    return site


@pytest.fixture
def api(limited):
    return limited.api


def stopped(api, files, kind="apply"):
    """The error of a run whose apply was stopped, with the first resource created and no process left."""
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, files)
    error = api.wait_status(run, "errored")["error"]
    # A limit may kill the engine before OpenTofu has written the first resource: then it is listed.
    if kind == "apply":
        until(lambda: "terraform_data.first" in api.resources(workspace) + unrecorded(api, run), "the first resource is known")
    until(lambda: not processes_with(run), "nothing is left of the apply, nor of the showing of its plan")
    assert api.attributes(f"{'applies' if kind == 'apply' else 'plans'}/{api.sibling(run, kind)}")["status"] == "errored"
    return error, api.log(run, kind)


def test_an_apply_above_the_memory_limit_is_stopped(api):
    error, log = stopped(api, applying(f"python3 -c 'import time; a = [bytearray({MEMORY} << 18) for i in range(4)]; time.sleep(3600)'"))
    assert error == f"The apply used more than {MEMORY} MiB of memory (--job-memory of the worker) and was stopped. Split what it manages into more workspaces, or have the limit raised."
    assert error in log


def test_a_plan_above_the_memory_limit_is_stopped(api):
    error, _ = stopped(api, {"main.tf": 'resource "terraform_data" "one" {\n  input = sha1(file("/dev/zero"))\n}\n'}, "plan")
    assert f"The plan used more than {MEMORY} MiB of memory (--job-memory" in error


def test_an_apply_above_the_process_limit_is_stopped(limited, api):
    error, _ = stopped(api, applying("for i in $(seq 100); do setsid sleep 3600 & done; sleep 3600"))
    assert f"The apply had more than {PROCESSES} processes at a time (--job-processes" in error and "Look for what starts them" in error
    assert limited.worker.metric("runyard_worker_limits_met_total", limit="job-processes") == 1


def test_a_file_above_the_disk_limit_stops_the_apply(api):
    """The kernel stops the growth before any measurement."""
    error, _ = stopped(api, applying(f"head -c {4 * DISK}M /dev/zero >large"))
    assert f"The apply used more than {DISK} MiB of disk (--job-disk" in error


def test_many_files_above_the_disk_limit_stop_the_apply(api):
    error, _ = stopped(api, applying(f"for i in $(seq {4 * DISK}); do head -c 1M /dev/zero >file.$i; done; sleep 3600"))
    assert f"The apply used more than {DISK} MiB of disk (--job-disk" in error


def test_files_in_deep_folders_count_against_the_disk_limit(api):
    """More levels than the walk has descriptors, with links out of the folder on the path."""
    script = (f"import os; [(os.mkdir('d'), os.symlink('/usr', 'out'), os.chdir('d')) for i in range(3000)]; "
              f"[open(str(i), 'wb').write(bytes(1 << 20)) for i in range({2 * DISK})]; import time; time.sleep(3600)")
    error, _ = stopped(api, applying(f'python3 -c \\"{script}\\"'))
    assert f"The apply used more than {DISK} MiB of disk (--job-disk" in error


def test_files_in_unreadable_folders_count_against_the_disk_limit(api):
    script = (f"import os; os.mkdir('d'); os.chdir('d'); [open(str(i), 'wb').write(bytes(1 << 20)) for i in range({2 * DISK})]; "
              "os.chmod('.', 0); import time; time.sleep(3600)")
    error, _ = stopped(api, applying(f'python3 -c \\"{script}\\"'))
    assert f"The apply used more than {DISK} MiB of disk (--job-disk" in error


def test_open_deleted_files_count_against_the_disk_limit(api):
    script = (f"import tempfile, time; f = [tempfile.TemporaryFile(dir='.') for i in range({2 * DISK})]; "
              "[(g.write(bytes(1 << 20)), g.flush()) for g in f]; time.sleep(3600)")
    error, _ = stopped(api, applying(f'python3 -c \\"{script}\\"'))
    assert f"The apply used more than {DISK} MiB of disk (--job-disk" in error


# No file exceeds the disk limit.
FILES_IN_MEMORY = {
    "memfd": "f = [os.memfd_create('x') for i in range(300)]; [os.write(fd, b'x' * (1 << 20)) for fd in f]",
    "memfd of a child": "f = [os.memfd_create('x') for i in range(300)]; [os.write(fd, b'x' * (1 << 20)) for fd in f]; os.fork() and [os.close(fd) for fd in f]",
    "/tmp and a process": "[open('/tmp/%d' % i, 'wb').write(b'x' * (1 << 20)) for i in range(150)]; a = bytearray(b'x' * (100 << 20))",
    "deleted in /dev/shm": "f = [tempfile.TemporaryFile(dir='/dev/shm') for i in range(50)]; [(g.write(b'x' * (1 << 20)), g.flush()) for g in f]; a = bytearray(b'x' * (170 << 20))",
}


@pytest.mark.parametrize("how", FILES_IN_MEMORY)
def test_files_in_memory_count_against_the_memory_limit(limited, api, how):
    if limited.worker.options["sandbox"] != "bwrap" and "memfd" not in FILES_IN_MEMORY[how]:
        pytest.skip("without a sandbox /tmp is the machine's")
    script = "import os, tempfile, time; " + FILES_IN_MEMORY[how] + "; time.sleep(3600)"
    error, _ = stopped(api, applying(f'python3 -c \\"{script}\\"'))
    assert f"The apply used more than {MEMORY} MiB of memory (--job-memory" in error


def test_deep_folders_are_removed_without_delaying_jobs(limited, api):
    """30,000 nested folders: the job ends, the next one does not wait, and the folders are removed."""
    script = "import os; [(os.mkdir('d'), os.chdir('d')) for i in range(30000)]"
    with limited.worker.changed(job_disk=4 * 1024):
        api.wait_status(api.run_files(api.workspace(auto_apply=True), applying(f'python3 -c \\"{script}\\"')), "applied")
        api.wait_status(api.run_files(api.workspace(auto_apply=True), applying("true")), "applied")
        jobs = limited.worker.options["data_dir"] / "jobs"
        until(lambda: not list(jobs.iterdir()), "the folders of the jobs are removed", REMOVAL_SECONDS)


def test_an_apply_above_the_log_limit_is_stopped(api):
    error, log = stopped(api, applying("yes | head -c 3000000; sleep 3600"))
    assert "The apply wrote more than 1 MiB of log (--job-log" in error and "Let it print less" in error
    assert log.endswith("The log is too long: the rest of it is not kept.\n") and len(log) < 1100000


def test_tmp_and_shm_have_the_size_of_the_memory_limit(limited, api):
    """A sandbox's /tmp is in memory and counts against the job's limit."""
    if limited.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox /tmp is the machine's")
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, applying("df --output=size -BM /tmp /dev/shm"))
    api.wait_status(run, "applied")
    assert f"{MEMORY}M" in api.log(run, "apply") and "64M" in api.log(run, "apply")


def started(worker):
    return [line for line in worker.log_lines() if line["msg"] == "worker started"][-1]


def test_the_start_line_names_hard_and_best_effort_limits(limited):
    line = started(limited.worker)
    listed = sorted(f"{line['hard-limits']}, {line['best-effort-limits']}".split(", "))
    assert listed == sorted(["time", "log", "size of a file", "disk", "memory", "processes"])


def test_the_kernel_enforces_the_memory_limit(limited, api):
    """The job allocates faster than its processes are measured."""
    if "memory" not in started(limited.worker)["hard-limits"]:
        pytest.skip("no cgroup v2 with the controllers memory and pids is delegated to the tests")
    error, _ = stopped(api, applying(f"python3 -c 'a = bytearray({4 * MEMORY} << 20)'"))
    assert f"The apply used more than {MEMORY} MiB of memory" in error


def test_a_job_below_its_limits_is_applied(api):
    workspace = api.workspace(auto_apply=True)
    api.wait_status(api.run_files(workspace, applying("true")), "applied")


@pytest.mark.parametrize("stage", ["apply", "plan"])
def test_a_job_above_the_workers_time_limit_is_stopped(limited, api, gate, stage):
    files = applying("sleep 3600") if stage == "apply" else planning_at(gate)
    with limited.worker.changed(**{f"{stage}_seconds": SECONDS, "job_stop_seconds": 1, "sandbox_bind": gate.folder}):
        error, _ = stopped(api, files, stage)
    assert error.startswith(f"The {stage} took more than {SECONDS} s (--{stage}-seconds of the worker) and was stopped. Split what it manages")


@contextlib.contextmanager
def timeout(api, stage, text):
    """Sets the limits of the organization's jobs as a site admin, for a while."""
    def give(value):
        api.patch(f"admin/organizations/{api.organization}", {"data": {"type": "organizations", "attributes": {f"{stage}-timeout": value}}})

    give(text)
    yield
    give("")


@pytest.mark.parametrize("stage", ["apply", "plan"])
def test_a_job_above_the_organizations_time_limit_is_stopped(limited, api, gate, stage):
    files = applying("sleep 3600") if stage == "apply" else planning_at(gate)
    with timeout(api, stage, f"{SECONDS}s"), limited.worker.changed(job_stop_seconds=1, sandbox_bind=gate.folder):
        error, _ = stopped(api, files, stage)
    assert error.startswith(f"The {stage} took more than {SECONDS} s ({stage}-timeout of the organization) and was stopped. Split what it manages")


@pytest.fixture
def quota_disk(folder):
    """A file system with project quotas."""
    if os.geteuid() != 0:
        pytest.skip("only root mounts a file system")
    image, place = folder / "image", folder / "disk"
    place.mkdir()
    image.touch()
    os.truncate(image, 512 << 20)
    for command in (["mkfs.ext4", "-q", "-O", "quota,project", "-E", "quotatype=prjquota", image], ["mount", "-o", "loop,prjquota", image, place]):
        try:
            subprocess.run(command, check=True, capture_output=True, text=True)
        except FileNotFoundError:
            pytest.skip(f"there is no {command[0]} here")
        except subprocess.CalledProcessError as failed:
            pytest.skip(f"this machine mounts no ext4 with project quotas: {failed.stderr.strip().splitlines()[0]}")
    yield place
    subprocess.run(["umount", place], check=True)


# Allocates that many files of 1 MiB, which takes less time than writing them.
FILL = """
import os, sys
space = os.statvfs(".")
print("free:", space.f_bavail * space.f_frsize >> 20)
count = 0
try:
    while count < int(sys.argv[1]):
        os.posix_fallocate(os.open(f"file.{count}", os.O_CREAT | os.O_WRONLY), 0, 1 << 20)
        count += 1
except OSError as error:
    sys.exit(f"allocated: {count}, then {error.strerror}")
"""


def filling(count, then="true"):
    return {**applying(f"python3 fill.py {count} && {then}"), "fill.py": FILL}


def number(word, log):
    return int(re.search(rf"{word}: (\d+)", log)[1])


def test_the_file_system_enforces_the_disk_limit(limited, api, gate, quota_disk):
    """The job allocates faster than its folder is measured. The usage of other jobs, present or past, does not count."""
    worker, limit = limited.worker, DISK * 5 // 4
    with worker.changed(data_dir=quota_disk / "worker", sandbox_bind=gate.folder):
        assert "disk" in started(worker)["hard-limits"].split(", ")
        beside = api.run_files(api.workspace(auto_apply=True), filling(DISK * 3 // 4, gate.command))
        gate.wait()
        for _ in range(2):
            error, log = stopped(api, filling(4 * DISK))
            assert f"The apply used more than {DISK} MiB of disk (--job-disk" in error
            assert "Disk quota exceeded" in log and DISK < number("allocated", log) <= limit
            assert limit - 2 <= number("free", log) <= limit
            until(lambda: len(list((quota_disk / "worker/jobs").iterdir())) == 1, "the folder of the job is removed")
        gate.open()
        api.wait_status(beside, "applied")
