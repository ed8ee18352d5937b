# SPDX-License-Identifier: MPL-2.0
# label: quick
"""What a job sees: its own folder and variables, and nothing of its worker or of other jobs."""

import json
import os
import re
import socket
import threading

import pytest

from support.runyard import Worker
from support.site import release_all


@pytest.fixture
def api(site):
    return site.api


def printed(api, run):
    """What the run's provisioners printed."""
    lines = [json.loads(line) for line in api.log(run, "apply").splitlines() if line.startswith("{")]
    return "\n".join(line["hook"]["output"] for line in lines if line["type"] == "provision_progress")


def says(api, script, **variables):
    """What a script prints that runs as a provisioner of a job."""
    workspace = api.workspace(auto_apply=True)
    for key, value in variables.items():
        api.variable(workspace, key, value, category="env")
    files = {"main.tf": 'resource "terraform_data" "says" {\n  provisioner "local-exec" {\n    command = "sh ${path.root}/script.sh 2>&1; true"\n  }\n}\n', "script.sh": script}
    run = api.run_files(workspace, files)
    api.wait_status(run, "applied")
    return printed(api, run)


def test_the_workers_secrets_are_out_of_sight(site, api):
    said = says(api, "env; for p in /proc/[0-9]*; do tr '\\0' '\\n' <$p/environ; tr '\\0' ' ' <$p/cmdline; echo; done\n")
    assert "TFC_RUN_ID=run-" in said
    assert site.tokens["agent-token"] not in said and "RUNYARD_" not in said and "agent-token" not in said


def test_the_attempts_token_is_out_of_sight(site, api):
    """Whoever has it sends the job's results and states. The job's own processes, files and those of the machine do not have it."""
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox a job reads what the worker reads")
    rotated = str.maketrans("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "NOPQRSTUVWXYZABCDEFGHIJKLMnopqrstuvwxyzabcdefghijklm")
    decoys = {f"job.{letter * 43}" for letter in "AB"}
    said = says(api, f"echo {min(decoys)} >here\n"
                     "{ cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline\n"
                     "  find / \\( -path /proc -o -path /sys -o -path /usr -o -path /dev \\) -prune -o -type f -readable -print0 | xargs -0 cat\n"
                     "} 2>/dev/null | grep -aoE 'job[.][A-Za-z0-9_-]{43}' | sort -u | tr 'A-Za-z' 'N-ZA-Mn-za-m'\n", OWN=max(decoys))
    assert {line.translate(rotated) for line in said.split() if line.startswith("wbo.")} == decoys, said


def test_the_environment_is_clean(api):
    names = set(re.findall(r"^(\w+)=", says(api, "env\n", OWN="yes"), re.M))
    assert "OWN" in names and {"PATH", "HOME"} <= names
    assert not [name for name in names if name.startswith(("RUNYARD", "ASAN", "UBSAN", "SSH", "LD_"))]


def test_the_workers_folder_and_other_jobs_are_out_of_sight(site, api):
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox a job sees what the worker sees")
    data = site.worker.options["data_dir"]
    said = says(api, f"ls {data} {data}/jobs /root /home /work; find / -xdev -name '*.tfplan' -o -xdev -name 'agent-token*' 2>/dev/null; ls /proc | grep -c '^[0-9]'; echo $$\n")
    assert said.count("No such file or directory") == 5 and "tfplan" not in said and "agent-token" not in said
    assert int(re.findall(r"^(\d+)$", said, re.M)[0]) < 20, "processes of others"


def test_what_a_job_writes_goes_no_further(site, api):
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox a job can write what the worker can")
    said = says(api, "for f in /usr/x /etc/x /engine /bin/x /etc/passwd /x /dev/x /providers/x; do echo x >>$f && echo wrote $f; done\n"
                     "for f in /dev/null /dev/shm/x /tmp/x ~/x; do echo x >>$f && echo may $f; done\n")
    assert said.count("cannot create") == 8 and "wrote" not in said and said.count("may ") == 4


def test_a_job_can_not_undo_its_sandbox(site, api):
    """Also where the worker is root."""
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox there is nothing to undo")
    said = says(api, """
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


def test_states_that_wait_are_out_of_sight(site, api):
    """What another job could not deliver lies in the worker's folder, as do the packages that all jobs run."""
    data = site.worker.options["data_dir"]
    said = says(api, f"ls {data}/unsent {data}/providers 2>&1; cat /proc/self/mountinfo\n")
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox a job sees what the worker sees")
    assert said.count("No such file or directory") == 2
    providers = [line.split() for line in said.splitlines() if line.split()[4:5] == ["/providers"]]
    assert providers and all("ro" in mount[5].split(",") for mount in providers)


# ---- what the machine allows ----


def warned(worker):
    return [line["why"] for line in worker.log_lines() if line["level"] == "warn" and "there is no sandbox" in line["msg"]]


@pytest.fixture
def without_bwrap(folder, monkeypatch):
    """A machine whose bwrap may make no namespaces."""
    program = folder / "bwrap"
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")


@pytest.fixture
def another(site, folder):
    """Starts one more worker for the file's site, without waiting for it."""
    made = []

    def make(**options):
        worker = Worker(f"worker-{len(made) + 2}", folder, **{**site.worker.options, "data_dir": folder / f"data-{len(made)}", **options})
        made.append(worker.launch())
        return worker

    yield make
    release_all(made)


def test_a_sandbox_is_what_there_is_by_itself(site, another):
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("there can be no sandbox here")
    worker = another(sandbox=None).start_waiting()
    assert not warned(worker) and any(line.get("sandbox") == "bwrap" for line in worker.log_lines())


def test_a_machine_that_allows_no_sandbox(another, without_bwrap):
    (why,) = warned(another(sandbox=None).start_waiting())
    assert "user namespaces" in why
    for options, what in (({"sandbox": "bwrap"}, "user namespaces"), ({"sandbox": "auto", "job_network": 0}, "user namespaces"),
                          ({"sandbox": "none", "job_network": 0}, "--sandbox is none")):
        refused = another(**options)
        assert refused.process.ended() in (1, 2) and what in refused.process.log()


def test_jobs_without_a_network(site, api):
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox jobs have the worker's network")
    site.worker.stop()
    site.worker.options["job_network"] = 0
    site.worker.start()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        script = f"(exec 3<>/dev/tcp/127.0.0.1/{listener.getsockname()[1]}) && echo connected\necho tried\ncat /proc/net/dev\n"
        said = says(api, f"bash -c '{script}'\n")
    site.worker.stop()
    del site.worker.options["job_network"]
    site.worker.start()
    assert "tried" in said and "connected" not in said
    assert re.findall(r"^\s*(\w+):\s+\d", said, re.M) == ["lo"]


def test_variables_that_would_hijack_the_engine(site, api):
    """They are the job's own business at most: the run ends, the worker goes on, nothing is written elsewhere."""
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


def test_a_plan_that_prints_much(api):
    """A log of some megabytes arrives whole and in order."""
    workspace = api.workspace(auto_apply=True)
    files = {"main.tf": 'resource "terraform_data" "says" {\n  provisioner "local-exec" {\n    command = "i=0; while [ $i -lt 20000 ]; do echo line $i; i=$((i+1)); done"\n  }\n}\n'}
    run = api.run_files(workspace, files)
    api.wait_status(run, "applied")
    numbers = [int(number) for number in re.findall(r"^line (\d+)$", printed(api, run), re.M)]
    assert numbers == list(range(20000))


def test_a_line_without_end(api):
    said = says(api, "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo after\n")
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
    """A host that hangs up on whoever speaks SSH to it; what they said first."""
    listener, heard = socket.create_server(("127.0.0.1", 0)), []

    def answer():
        while True:
            try:
                with listener.accept()[0] as caller:
                    heard.append(caller.recv(100))
            except OSError:
                return

    threading.Thread(target=answer, daemon=True).start()
    yield listener.getsockname()[1], heard
    listener.close()


def test_modules_are_fetched_with_the_workspaces_ssh_key(site, api, host):
    port, heard = host
    run = api.run_files(with_key(api), {"main.tf": f'module "m" {{\n  source = "git::ssh://git@127.0.0.1:{port}/modules.git"\n}}\n'})
    api.wait_status(run, "errored")
    assert heard and heard[0].startswith(b"SSH-2.0")
    assert "c2VjcmV0" not in api.log(run, "plan") and "c2VjcmV0" not in site.worker.process.log()


def test_the_ssh_key_is_gone_when_the_run_begins(api):
    script = "ls -A ~/.ssh 2>&1; env; true\n"
    files = {"main.tf": 'module "m" {\n  source = "./m"\n}\nresource "terraform_data" "says" {\n  provisioner "local-exec" {\n    command = "sh ${path.root}/script.sh"\n  }\n}\n',
             "m/main.tf": "", "script.sh": script}
    run = api.run_files(with_key(api, auto_apply=True), files)
    api.wait_status(run, "applied")
    said = printed(api, run)
    assert "key" not in said.split() and "GIT_SSH_COMMAND" not in said and "c2VjcmV0" not in said
