# SPDX-License-Identifier: MPL-2.0
# label: quick
"""What a job sees: its own folder and variables, and nothing of its worker or of other jobs."""

import json
import re

import pytest


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
    said = says(api, "for f in /usr/x /etc/x /engine /bin/x /etc/passwd; do echo x >>$f && echo wrote $f; done\n")
    assert said.count("cannot create") == 5 and "wrote" not in said


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
