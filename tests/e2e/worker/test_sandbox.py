# SPDX-License-Identifier: MPL-2.0
"""A job has access to its own folder and variables, and to none of its worker or of other jobs."""

import json
import os
import re
import socket
import threading
from pathlib import Path

import pytest

from support.gate import Gate
from support.proc import processes_with
from support.runyard import Worker
from support.site import release_all
from support.wait import until


@pytest.fixture
def api(site):
    return site.api


def printed(api, run):
    """The output of the run's provisioners."""
    lines = [json.loads(line) for line in api.log(run, "apply").splitlines() if line.startswith("{")]
    return "\n".join(line["hook"]["output"] for line in lines if line["type"] == "provision_progress")


def run_script(api, script, shell="sh", **variables):
    """The output of a script that runs as a provisioner of a job."""
    workspace = api.workspace(auto_apply=True)
    for key, value in variables.items():
        api.variable(workspace, key, value, category="env")
    files = {"main.tf": 'resource "terraform_data" "script" {\n  provisioner "local-exec" {\n    command = "SHELL ${path.root}/script.sh 2>&1; true"\n  }\n}\n'.replace("SHELL", shell), "script.sh": script}
    run = api.run_files(workspace, files)
    api.wait_status(run, "applied")
    return printed(api, run)


def test_a_job_can_not_read_the_workers_secrets(site, api):
    said = run_script(api, "env; for p in /proc/[0-9]*; do tr '\\0' '\\n' <$p/environ; tr '\\0' ' ' <$p/cmdline; echo; done\n")
    assert "TFC_RUN_ID=run-" in said
    assert site.tokens["agent-token"] not in said and "RUNYARD_" not in said and "agent-token" not in said


def test_a_job_can_not_read_its_attempts_token(site, api):
    """With the job's token, results and states can be sent. The job's own processes and files and those of the machine
    do not contain it."""
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox a job reads what the worker reads")
    rotated = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm")
    decoys = {f"job.{letter * 43}" for letter in "AB"}
    said = run_script(api, f"echo {min(decoys)} >here\n"
                     "{ cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline\n"
                     "  find / \\( -path /proc -o -path /sys -o -path /usr -o -path /dev \\) -prune -o -type f -readable -print0 | xargs -0 cat\n"
                     "} 2>/dev/null | grep -aoE 'job[.][A-Za-z0-9_-]{43}' | sort -u | tr 'A-Za-z' 'N-ZA-Mn-za-m'\n", OWN=max(decoys))
    assert {line.translate(rotated) for line in said.split() if line.startswith("wbo.")} == decoys, said


def test_a_jobs_environment_has_none_of_the_workers_variables(api):
    names = set(re.findall(r"^(\w+)=", run_script(api, "env\n", OWN="yes"), re.M))
    assert "OWN" in names and {"PATH", "HOME"} <= names
    assert not [name for name in names if name.startswith(("RUNYARD", "ASAN", "UBSAN", "SSH", "LD_"))]


def test_a_job_can_not_see_the_workers_folder_or_other_jobs(site, api):
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox a job sees what the worker sees")
    data = site.worker.options["data_dir"]
    said = run_script(api, f"ls {data} {data}/jobs /root /home /work; find / -xdev -name '*.tfplan' -o -xdev -name 'agent-token*' 2>/dev/null; ls /proc | grep -c '^[0-9]'; echo $$\n")
    assert said.count("No such file or directory") == 5 and "tfplan" not in said and "agent-token" not in said
    assert int(re.findall(r"^(\d+)$", said, re.M)[0]) < 20, "processes of others"


def test_a_job_writes_only_to_its_own_folders(site, api):
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox a job can write what the worker can")
    said = run_script(api, "for f in /usr/x /etc/x /engine /bin/x /etc/passwd /x /dev/x /providers/x; do echo x >>$f && echo wrote $f; done\n"
                     "for f in /dev/null /dev/shm/x /tmp/x ~/x; do echo x >>$f && echo may $f; done\n")
    assert said.count("cannot create") == 8 and "wrote" not in said and said.count("may ") == 4


def test_programs_of_jobs_share_nothing_but_a_jobs_folder(site, api):
    """What a program writes outside of its job's folder is gone when the next one starts, also in the same organization."""
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox programs share the machine's folders")
    script = ("ls -A /tmp /dev/shm /dev/pts /.host/*; ipcs -m | grep -q runyard && echo segment\n"
              "for f in /tmp/left /dev/shm/left; do echo x >$f && echo may $f; done; ipcmk -M 4096\n"
              "python3 -c 'import os; os.openpty(); print(sorted(os.listdir(\"/dev/pts\")))'\n")
    for _ in range(2):
        said = run_script(api, script)
        assert said.count("may ") == 2 and "['0', 'ptmx']" in said, said
        assert not re.search(r"^(left|0|segment|jobs|providers|unsent)$", said, re.M), said


def test_a_job_can_not_break_out_of_its_sandbox(site, api):
    """Also if the worker runs as root."""
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox there is nothing to undo")
    said = run_script(api, """
grep CapEff /proc/self/status
mount -o remount,rw /usr && echo broke remount
mount -t tmpfs none /usr && echo broke mount
mknod /tmp/disk b 254 0 && head -c 1 /tmp/disk && echo broke device
umount -l /etc && echo broke umount
chroot /proc/1/root true && echo broke chroot
kill -9 1 && echo sent
echo survived
""")
    assert "broke" not in said and "survived" in said
    assert re.search(r"CapEff:\s*0+$", said, re.M), said


# It writes the existing values, so that nothing changes even if the sandbox permits it.
SETTINGS = """
import os
for name in ("kernel/core_pattern", "kernel/hostname", "kernel/sysrq", "vm/overcommit_memory", "vm/swappiness", "fs/file-max", "net/ipv4/ip_forward"):
    try:
        with open("/proc/sys/" + name, "r+") as setting:
            value = setting.read()
            setting.seek(0)
            setting.write(value)
        print("wrote", name)
    except OSError:
        pass
seen = 0
for folder, folders, files in os.walk("/proc"):
    folders[:] = [name for name in folders if not (folder == "/proc" and name.isdigit())]
    for name in files:
        path = os.path.join(folder, name)
        seen += 1
        try:
            if not os.path.islink(path):
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                print("opened", path)
        except OSError:
            pass
for path in ("/proc/keys", "/proc/kcore", "/proc/timer_list"):
    try:
        print("read", path, len(open(path, "rb").read(1)))
    except OSError:
        pass
print("sysfs", os.path.exists("/sys/kernel"))
print("seen", seen)
"""


def test_kernel_settings_can_not_be_written(site, api):
    """Also if root started the worker."""
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox the permissions of /proc are all there is")
    pattern = Path("/proc/sys/kernel/core_pattern").read_text()
    said = run_script(api, SETTINGS, "python3")
    assert Path("/proc/sys/kernel/core_pattern").read_text() == pattern
    assert "wrote" not in said and "opened" not in said and "read" not in said, said
    assert "sysfs False" in said and int(re.search(r"^seen (\d+)$", said, re.M).group(1)) > 100


CALLS = """
import ctypes, errno, fcntl, os, pty, socket, termios
libc = ctypes.CDLL(None, use_errno=True)

def call(name, number, *arguments):
    ctypes.set_errno(0)
    got = libc.syscall(ctypes.c_long(number), *[ctypes.c_long(argument) for argument in arguments])
    print(name, "worked" if got >= 0 else errno.errorcode[ctypes.get_errno()])

call("unshare", 272, 0x10000000)
call("clone", 56, 0x10000000 | 17, 0)
call("keyctl", 250, 0, -3, 1)
call("ptrace", 101, 0, 0, 0, 0)
call("bpf", 321, 0, 0, 0)
call("io_uring_setup", 425, 1, 0)
call("userfaultfd", 323, 1)
call("perf_event_open", 298, 0, 0, -1, -1, 0)
call("personality", 135, 0x40000)
call("memfd_secret", 447, 0)
call("x32", 0x40000000 + 39)
pid, terminal = pty.fork()
if pid == 0:
    try:
        fcntl.ioctl(0, termios.TIOCSTI, b"x")
        os._exit(0)
    except OSError as error:
        os._exit(error.errno)
print("TIOCSTI", errno.errorcode.get(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), "worked"))
for family in (15, 17, 38, 40):
    try:
        socket.socket(family, socket.SOCK_RAW)
        print("family", family, "worked")
    except OSError as error:
        print("family", family, errno.errorcode[error.errno])
try:
    os.open("/dev/tty", os.O_RDWR)
    print("terminal worked")
except OSError as error:
    print("terminal", errno.errorcode[error.errno])
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers of the system calls are x86_64's")
def test_dangerous_system_calls_fail(site, api):
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox there is no filter")
    said = dict(line.rsplit(" ", 1) for line in run_script(api, CALLS, "python3").splitlines() if line.count(" "))
    wanted = {**dict.fromkeys(("unshare", "clone", "keyctl", "ptrace", "bpf", "userfaultfd", "perf_event_open", "personality", "TIOCSTI"), "EPERM"),
              **dict.fromkeys(("io_uring_setup", "memfd_secret", "x32"), "ENOSYS"),
              **{f"family {family}": "EAFNOSUPPORT" for family in (15, 17, 38, 40)}, "terminal": "ENXIO"}
    assert {name: said.get(name) for name in wanted} == wanted


def test_ordinary_tools_work_in_a_job(api):
    said = run_script(api, """
cd ~ && git init -q repository && cd repository && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && git log --format=git:%s
curl -s file:///etc/hosts >/dev/null && echo curl:works
python3 -c 'import threading, subprocess, socket, ssl; t = threading.Thread(target=lambda: print("python:" + subprocess.check_output(["echo", "works"], text=True).strip())); t.start(); t.join()'
ssh -G localhost >/dev/null 2>&1; echo ssh:$?
! command -v node >/dev/null || node -e 'require("child_process").execSync("true"); require("fs").readFile("/etc/hosts", () => console.log("node:works"))'
! command -v go >/dev/null || (go version >/dev/null && echo go:works)
echo works | tee /dev/stderr >/dev/stdout 2>/dev/null; echo end
""")
    assert "git:x" in said and "curl:works" in said and "python:works" in said and "end" in said, said
    for tool in ("node", "go"):
        assert f"{tool}:" not in said or f"{tool}:works" in said


@pytest.mark.parametrize("kind", ["bwrap", "none"])
def test_no_job_runs_as_root(site, api, folder, kind):
    """The processes as the machine sees them, whichever account started the worker."""
    if site.worker.options["sandbox"] != "bwrap" and kind == "bwrap":
        pytest.skip("there can be no sandbox here")
    gate = Gate(folder)
    before = dict(site.worker.options)
    site.worker.stop()
    site.worker.options.update(sandbox=kind, sandbox_bind=gate.folder)
    site.worker.start()
    try:
        run = api.run_files(api.workspace(auto_apply=True), {"main.tf": f'resource "terraform_data" "waits" {{\n  provisioner "local-exec" {{\n    command = "{gate.command}"\n  }}\n}}\n'})
        gate.wait()
        statuses = [Path(f"/proc/{pid}/status").read_text() for pid in [site.worker.pid, *processes_with(run)]]
        assert len(statuses) > 2
        for status in statuses:
            users, groups = (re.search(rf"^{line}:\s*(.*)$", status, re.M).group(1).split() for line in ("Uid", "Gid"))
            assert "0" not in users and "0" not in groups, status
        gate.open()
        api.wait_status(run, "applied")
    finally:
        gate.open()
        site.worker.stop()
        site.worker.options = before
        site.worker.start()


def test_a_job_can_not_see_unsent_states_or_write_packages(site, api):
    """The worker's folder contains states of other jobs that were not delivered, and the packages that all jobs run."""
    data = site.worker.options["data_dir"]
    said = run_script(api, f"ls {data}/unsent {data}/providers 2>&1; cat /proc/self/mountinfo\n")
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox a job sees what the worker sees")
    assert said.count("No such file or directory") == 2
    providers = [line.split() for line in said.splitlines() if line.split()[4:5] == ["/providers"]]
    assert providers and all("ro" in mount[5].split(",") for mount in providers)


# ---- machines with restrictions ----


def warned(worker):
    return [line["why"] for line in worker.log_lines() if line["level"] == "warn" and "there is no sandbox" in line["msg"]]


@pytest.fixture
def without_bwrap(folder, monkeypatch):
    """A machine on which bwrap can't create namespaces."""
    program = folder / "bwrap"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.fixture
def another(site, folder):
    """Starts another worker for the file's site, without waiting for it."""
    created = []

    def make(**options):
        worker = Worker(f"worker-{len(created) + 2}", folder, **{**site.worker.options, "data_dir": folder / f"data-{len(created)}", **options})
        created.append(worker.launch())
        return worker

    yield make
    release_all(created)


def test_jobs_run_in_a_sandbox_by_default(site, another):
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("there can be no sandbox here")
    worker = another(sandbox=None).start_waiting()
    assert not warned(worker) and any(line.get("sandbox") == "bwrap" for line in worker.log_lines())


def test_a_worker_warns_without_a_sandbox_and_refuses_to_require_one(another, without_bwrap):
    (why,) = warned(another(sandbox=None).start_waiting())
    assert "user namespaces" in why
    for options, what in (({"sandbox": "bwrap"}, "user namespaces"), ({"sandbox": "auto", "job_network": "none"}, "user namespaces"),
                          ({"sandbox": "none", "job_network": "none"}, "--sandbox is none"),
                          ({"job_network": "none", "policy_network": 1}, "--job-network is none")):
        refused = another(**options)
        assert refused.process.ended() in (1, 2) and what in refused.process.log()


def test_a_job_without_a_network_has_only_its_loopback(site, api):
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox jobs have the worker's network")
    site.worker.stop()
    site.worker.options["job_network"] = "none"
    site.worker.start()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        script = f"(exec 3<>/dev/tcp/127.0.0.1/{listener.getsockname()[1]}) && echo connected\necho tried\ncat /proc/net/dev\n"
        said = run_script(api, f"bash -c '{script}'\n")
    site.worker.stop()
    del site.worker.options["job_network"]
    site.worker.start()
    assert "tried" in said and "connected" not in said
    assert re.findall(r"^\s*(\w+):\s+\d", said, re.M) == ["lo"]


def test_variables_for_the_engine_do_not_affect_the_worker(site, api):
    """Such variables affect at most the job itself: the run ends, the worker continues, nothing is written elsewhere."""
    for key, value in (("LD_PRELOAD", "/nonexistent.so"), ("PATH", "/nowhere"), ("HOME", "/nowhere"), ("TF_CLI_CONFIG_FILE", "/nowhere"), ("TF_DATA_DIR", "/tmp/elsewhere"),
                       ("TF_CLI_ARGS", "-help"), ("TF_CLI_ARGS_apply", "-destroy"), ("TF_LOG", "trace"), ("TF_WORKSPACE", "other"), ("TF_PLUGIN_CACHE_DIR", "/nowhere"),
                       ("GODEBUG", "x=y"), ("TF_INPUT", "1"), ("TF_REATTACH_PROVIDERS", "{}")):
        workspace = api.workspace(auto_apply=True)
        api.variable(workspace, key, value, category="env")
        run = api.run_files(workspace, {"main.tf": 'resource "terraform_data" "one" {}\n'})
        if api.wait_status(run, {"applied", "errored"})["status"] == "applied":
            assert api.resources(workspace) == ["terraform_data.one"], key
        else:
            assert api.attributes(f"runs/{run}")["error"], key
    assert site.worker.ready()


def test_an_error_that_quotes_a_sensitive_value_is_redacted(site, api):
    """The engine's error is the run's error and a line of the worker's log."""
    secret = "sensitive-of-an-error"
    workspace = api.workspace()
    api.variable(workspace, "given", secret, sensitive=True)
    api.variable(workspace, "TF_CLI_ARGS_plan", f"-target={secret}", category="env")
    run = api.run_files(workspace, {"main.tf": 'variable "given" {}\n'})
    attributes = api.wait_status(run, "errored")
    assert 'Invalid target "(sensitive value)"' in attributes["error"], attributes
    assert secret not in api.log(run, "plan")
    until(lambda: [line for line in site.worker.log_lines() if line["msg"] == "job ended" and line["run"] == run], "the worker logs the job's end")
    assert secret not in site.worker.process.log() and secret not in site.scheduler.process.log()


def test_the_worker_sets_the_interval_of_states(api):
    """A longer interval would lose more, and OpenTofu panics with a shorter one."""
    workspace = api.workspace(auto_apply=True)
    api.variable(workspace, "TF_STATE_PERSIST_INTERVAL", "1", category="env")
    run = api.run_files(workspace, {"main.tf": 'resource "terraform_data" "script" {\n  provisioner "local-exec" {\n    command = "echo interval $TF_STATE_PERSIST_INTERVAL"\n  }\n}\n'})
    api.wait_status(run, "applied")
    assert "interval 20" in printed(api, run)


def test_a_log_of_many_lines_is_complete(api):
    """A log of some megabytes arrives whole and in order."""
    workspace = api.workspace(auto_apply=True)
    files = {"main.tf": 'resource "terraform_data" "script" {\n  provisioner "local-exec" {\n    command = "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done"\n  }\n}\n'}
    run = api.run_files(workspace, files)
    api.wait_status(run, "applied")
    numbers = [int(number) for number in re.findall(r"^line (\d+)$", printed(api, run), re.M)]
    assert numbers == list(range(20000))


def test_a_very_long_line_does_not_end_the_log(api):
    said = run_script(api, "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo after\n")
    assert "after" in said


# ---- the workspace's SSH key ----

SECRET = "-----BEGIN OPENSSH PRIVATE KEY-----\nc2VjcmV0LXNzaC1rZXk=\n-----END OPENSSH PRIVATE KEY-----"


def with_key(api, **attributes):
    """A workspace that uses an SSH key."""
    body = {"data": {"type": "ssh-keys", "attributes": {"name": f"key-{next(api.names)}", "value": SECRET}}}
    key = api.post(f"organizations/{api.organization}/ssh-keys", body).data["id"]
    workspace = api.workspace(**attributes)
    api.patch(f"workspaces/{workspace}/relationships/ssh-key", {"data": {"type": "workspaces", "attributes": {"id": key}}})
    return workspace


@pytest.fixture
def host():
    """A host that closes any SSH connection. Returns the clients' first lines."""
    listener, first_lines = socket.create_server(("127.0.0.1", 0)), []

    def answer():
        while True:
            try:
                with listener.accept()[0] as caller:
                    first_lines.append(caller.recv(100))
            except OSError:
                return

    threading.Thread(target=answer, daemon=True).start()
    yield listener.getsockname()[1], first_lines
    listener.close()


def test_modules_are_fetched_with_the_workspaces_ssh_key(site, api, host):
    port, first_lines = host
    site.worker.stop()
    site.worker.options["job_network_allow"] = f"127.0.0.1:{port}"
    site.worker.start()
    run = api.run_files(with_key(api), {"main.tf": f'module "m" {{\n  source = "git::ssh://git@127.0.0.1:{port}/modules.git"\n}}\n'})
    api.wait_status(run, "errored")
    assert first_lines and first_lines[0].startswith(b"SSH-2.0")
    assert "c2VjcmV0" not in api.log(run, "plan") and "c2VjcmV0" not in site.worker.process.log()


def test_the_ssh_key_is_removed_before_the_plan(api):
    script = "ls -A ~/.ssh 2>&1; env; true\n"
    files = {"main.tf": 'module "m" {\n  source = "./m"\n}\nresource "terraform_data" "script" {\n  provisioner "local-exec" {\n    command = "sh ${path.root}/script.sh"\n  }\n}\n',
             "m/main.tf": "", "script.sh": script}
    run = api.run_files(with_key(api, auto_apply=True), files)
    api.wait_status(run, "applied")
    said = printed(api, run)
    assert "key" not in said.split() and "GIT_SSH_COMMAND" not in said and "c2VjcmV0" not in said


# ---- the worker's account ----


@pytest.mark.skipif(os.geteuid() != 0, reason="only a worker of root changes its account")
def test_a_worker_of_root_without_an_account_is_refused(another, folder):
    for user, what in (("runyard-nobody-made-this", "useradd --system"), ("root", "name another account")):
        refused = another(user=user)
        assert refused.process.ended() == 2 and what in refused.process.log()
    unrelated = folder / "unrelated"
    unrelated.mkdir()
    (unrelated / "file").touch()
    refused = another(data_dir=unrelated)
    assert refused.process.ended() == 2 and "neither empty nor the data folder" in refused.process.log()
    assert (unrelated / "file").stat().st_uid == 0 and unrelated.stat().st_uid == 0
    private = folder / "private"
    private.mkdir(mode=0o700)
    refused = another(data_dir=private / "data")
    assert refused.process.ended() == 2 and "look through the folders above" in refused.process.log()


@pytest.mark.skipif(os.geteuid() != 0, reason="only a worker of root changes its account")
def test_the_data_folder_of_a_worker_that_ran_as_root_gets_its_account(another, folder):
    """Targets of its symbolic links keep their owners."""
    data, outside = folder / "earlier", folder / "outside"
    (data / "jobs/job-1/root").mkdir(parents=True)
    outside.touch()
    (data / "lock").touch()
    (data / "jobs/job-1/root/link").symlink_to(outside)
    (data / "providers").mkdir()
    another(data_dir=data).start_waiting()
    account = (folder / "earlier").stat().st_uid
    assert account != 0 and {path.lstat().st_uid for path in data.rglob("*")} == {account}
    assert outside.stat().st_uid == 0
