# SPDX-License-Identifier: MPL-2.0
"""Configurations of a hostile tenant, run as real jobs next to a job of another organization.

corpus/<case>/ is the configuration. A probe.py in it runs in the apply. It prints ESCAPED for each thing that it
reached, and PROBED when it has tried everything. After each job everything outside of its folder must be unchanged
(support/host_snapshot.py). A probe must do no harm if the product fails: sizes and times are bounded, targets are
canaries."""

import io
import json
import re
import socket
import subprocess
import tarfile
from pathlib import Path

import pytest

from support.api import Api, ApiError
from support.gate import Gate
from support.host_snapshot import HostSnapshot, changes
from support.proc import processes_with
from support.wait import until

CORPUS = Path(__file__).parent / "corpus"
MEMORY, PROCESSES, DISK = 300, 60, 100
PROBE = {"main.tf": 'resource "terraform_data" "probe" {\n  provisioner "local-exec" {\n    command = "python3 ${path.root}/probe.py"\n  }\n}\n'}
REMOVAL_SECONDS = 180  # beside other tests, 20,000 nested folders take over a minute
SECRET = "hostile-canary-secret"


@pytest.fixture(scope="module")
def canaries(site):
    """Files on the host: one that is writable by everybody, and one that only root may read."""
    folder = site.folder / "canaries"
    folder.mkdir()
    for name, mode in (("open", 0o666), ("closed", 0o600), ("program", 0o755)):
        (folder / name).write_text(SECRET)
        (folder / name).chmod(mode)
    folder.chmod(0o777)
    return folder


@pytest.fixture(scope="module")
def bystander(site):
    """Another organization's job, which runs all the time: its client, workspace and run."""
    site.worker.stop()
    gate = Gate(site.folder, "bystander")
    site.worker.options.update(job_memory=MEMORY, job_processes=PROCESSES, job_disk=DISK, job_log=8, job_stop_seconds=2, sandbox_bind=gate.folder)
    site.worker.start()
    api = Api(site.scheduler.url, site.tokens["token"], "bystander")
    api.post("organizations", {"data": {"type": "organizations", "attributes": {"name": api.organization, "email": "b@example.com"}}})
    workspace = api.workspace(auto_apply=True)
    command = f"{gate.command}; cat ${{path.root}}/own.txt"
    files = {"main.tf": f'resource "terraform_data" "own" {{\n  provisioner "local-exec" {{\n    command = "{command}"\n  }}\n}}\n', "own.txt": "own-file-intact"}
    run = api.run_files(workspace, files)
    gate.wait()
    yield api, workspace, run
    gate.open()
    api.wait_status(run, "applied")
    assert "own-file-intact" in api.log(run, "apply") and api.resources(workspace) == ["terraform_data.own"]


@pytest.fixture(scope="module")
def ports(site, canaries):
    """Ports of this machine that no job needs: the worker's own, one on all addresses, and one on the loopback address
    only."""
    with socket.create_server(("0.0.0.0", 0)) as everywhere, socket.create_server(("127.0.0.1", 0)) as loopback, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{canaries / 'closed'}")
        abstract.listen()
        yield [site.worker.port, everywhere.getsockname()[1], loopback.getsockname()[1]]


class Hostile:
    """Runs a case and compares the state of the host before and after."""

    def __init__(self, site, snapshot, bystander, canaries, ports):
        self.site, self.snapshot, self.api = site, snapshot, site.api
        self.bystander, self.canaries = bystander, canaries
        self.environment = {"CANARY": canaries / "closed", "WORKER_PID": site.worker.pid, "DATA_DIR": site.worker.options["data_dir"], "API": site.scheduler.url,
                            "PORTS": ",".join(map(str, ports)), "OTHER_WORKSPACE": bystander[1], "OTHER_RUN": bystander[2]}

    def folders(self):
        return set((self.snapshot.data / "jobs").iterdir())

    def run(self, files, environment=None):
        """Returns (attributes, log) of the run, once no process of its job is left. By default the environment is that
        of the probes."""
        folders, before = self.folders(), self.snapshot.taken()
        workspace = self.workspace = self.api.workspace(auto_apply=True)
        for key, value in (self.environment if environment is None else environment).items():
            self.api.variable(workspace, key, str(value), category="env")
        run = self.api.run_files(workspace, files)
        try:
            attributes = self.api.wait_status(run, {"applied", "errored", "planned_and_finished"})
            until(lambda: self.folders() == folders, "the job's folder is removed", REMOVAL_SECONDS)
            until(lambda: not processes_with(run), "no process is left of the job", REMOVAL_SECONDS)
            changed = changes(before, self.snapshot.taken())
        finally:
            self.snapshot.restore(before)
        assert not changed, "\n".join(changed)
        log = self.api.log(run, "plan") + self.api.log(run, "apply")
        assert SECRET not in log and SECRET not in json.dumps(self.api.state(workspace) or {})
        assert self.site.worker.ready() and self.bystander[0].status(self.bystander[2]) == "applying"
        return attributes, log


@pytest.fixture(scope="module")
def hostile(site, bystander, canaries, ports):
    if site.worker.options["sandbox"] != "bwrap":
        pytest.skip("without a sandbox a job sees and changes what the worker's account may (.github/SECURITY.md)")
    hostile = Hostile(site, HostSnapshot(site, canaries), bystander, canaries, ports)
    hostile.api.wait_status(hostile.api.run_files(hostile.api.workspace(auto_apply=True), {"main.tf": 'resource "terraform_data" "first" {}\n'}), "applied")
    until(lambda: len(hostile.folders()) == 1, "no folder is left but that of the other organization's job")
    return hostile


def corpus(case):
    files = {str(path.relative_to(CORPUS / case)): path.read_bytes() for path in (CORPUS / case).rglob("*") if path.is_file()}
    return {**PROBE, **files} if "probe.py" in files else files


def reached(log):
    """Returns the things that the probe reached."""
    return re.findall(r'"output":"(ESCAPED: [^"]*)', log)


# ---- probes ----


@pytest.mark.parametrize("case", ["devices", "links_out", "worker_process", "other_jobs", "terminal", "output", "run_token",
                                  "kernel_settings", "privileges", "network"])
def test_a_probe_reaches_nothing_outside_its_job(hostile, case):
    attributes, log = hostile.run(corpus(case))
    assert attributes["status"] == "applied", attributes
    assert reached(log) == [] and "PROBED" in log, log


def test_a_link_that_replaces_the_state_is_not_followed(hostile):
    attributes, _ = hostile.run(corpus("state_is_a_link"))
    assert attributes["status"] == "errored" or hostile.api.resources(hostile.workspace) == ["terraform_data.probe"], attributes


@pytest.mark.parametrize(("case", "limit"), [("fork_bomb", "--job-processes"), ("memory", "--job-memory"), ("disk_shallow", "--job-disk"),
                                             ("memory_in_a_file", "--job-memory"), ("disk_deep", "--job-disk"), ("disk_deleted", "--job-disk")])
def test_a_limit_ends_the_job(hostile, case, limit):
    attributes, log = hostile.run(corpus(case))
    assert attributes["status"] == "errored" and limit in (attributes["error"] or ""), attributes
    assert "PROBED" in log, log


# ---- the files of a configuration ----


def test_sensitive_values_are_in_the_state_only(hostile):
    """A sensitive value is in the state, and nowhere else."""
    files = {"main.tf": 'variable "given" {\n  sensitive = true\n}\nresource "terraform_data" "secret" {\n  input = var.given\n}\noutput "secret" {\n  value     = terraform_data.secret.output\n  sensitive = true\n}\n'}
    secret = "sensitive-of-this-case"
    attributes, log = hostile.run(files, {"TF_VAR_given": secret})
    assert attributes["status"] == "applied" and secret in json.dumps(hostile.api.state(hostile.workspace))
    assert secret not in log and secret not in hostile.site.worker.process.log() and secret not in hostile.site.scheduler.process.log()
    outputs = hostile.api.get(f"workspaces/{hostile.workspace}/current-state-version-outputs").data
    assert [output["attributes"]["value"] for output in outputs] == [None]


def entry(name, type=tarfile.REGTYPE, content=b"", **more):
    member = tarfile.TarInfo(name)
    member.type, member.size = type, len(content)
    for key, value in more.items():
        setattr(member, key, value)
    return member, content


def archive(*entries):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as packed:
        for member, content in [entry("main.tf", content=b'resource "terraform_data" "one" {}\n'), *entries]:
            packed.addfile(member, io.BytesIO(content))
    return out.getvalue()


ESCAPING_ARCHIVES = {
    "a path above the root": [entry("../../climbed", content=b"forged")],
    "an absolute path": [entry("/tmp/runyard-forged", content=b"forged")],
    "a path through a link": [entry("link", tarfile.SYMTYPE, linkname="/tmp"), entry("link/runyard-forged", content=b"forged")],
    "a link to a file outside": [entry("main.txt", tarfile.SYMTYPE, linkname="/etc/passwd")],
    "a link above the root": [entry("main.txt", tarfile.SYMTYPE, linkname="../../../../../etc/passwd")],
    "a hard link to a file outside": [entry("main.txt", tarfile.LNKTYPE, linkname="/etc/passwd")],
    "a character device": [entry("zero", tarfile.CHRTYPE, devmajor=1, devminor=5)],
    "a block device": [entry("disk", tarfile.BLKTYPE, devmajor=8, devminor=0)],
    "a FIFO": [entry("fifo", tarfile.FIFOTYPE)],
    "a configuration in the place of a folder": [entry(".terraform", tarfile.SYMTYPE, linkname="/providers")],
}


@pytest.mark.parametrize("case", ESCAPING_ARCHIVES)
def test_archives_with_entries_outside_the_folder_are_refused(hostile, case):
    with pytest.raises(ApiError) as refused:
        hostile.run(archive(*ESCAPING_ARCHIVES[case]))
    assert refused.value.status == 422 and "the archive's entry" in refused.value.answer.errors()
    assert not Path("/tmp/runyard-forged").exists() and not list(hostile.site.folder.rglob("climbed"))


def test_setuid_bits_of_an_archive_are_dropped(hostile):
    program = entry("program", content=b"#!/bin/sh\n", mode=0o6755)
    files = archive(program, entry("probe.py", content=b"import os\nmode = os.stat('program').st_mode\nprint('ESCAPED: setuid' if mode & 0o6000 else 'PROBED')\n"), entry("probe.tf", content=PROBE["main.tf"].encode()))
    attributes, log = hostile.run(files)
    assert attributes["status"] == "applied" and reached(log) == [] and "PROBED" in log, log


# Files that the engine reads after the worker's own override file.
OTHER_BACKEND = 'terraform {\n  backend "local" {\n    path = "/tmp/elsewhere.tfstate"\n  }\n}\n'
BACKENDS = {
    "zzz_override.tf": OTHER_BACKEND, "zzz_override.tf.json": '{"terraform": {"backend": {"local": {"path": "/tmp/elsewhere.tfstate"}}}}',
    "zz_runyard_override.tf.json": '{"terraform": {"backend": {"local": {"path": "/tmp/elsewhere.tfstate"}}}}', "zzzz_override.tf": 'terraform {\n  backend "inmem" {}\n}\n',
}


@pytest.mark.parametrize("name", list(BACKENDS))
def test_a_configuration_with_another_backend_is_refused(hostile, name):
    attributes, _ = hostile.run({"main.tf": 'resource "terraform_data" "one" {}\n', name: BACKENDS[name]})
    assert attributes["status"] == "errored" and "backend" in attributes["error"] and name in attributes["error"], attributes


@pytest.mark.parametrize("name", ["zz_runyard_override.tofu", "zzz_override.tofu", "zzz_override.tofu.json", "main.tofu"])
def test_files_of_the_other_engine_do_not_lose_state(hostile, name):
    """OpenTofu reads .tofu files instead of .tf files with the same name; Terraform ignores them."""
    content = BACKENDS["zzz_override.tf.json"] if name.endswith(".json") else OTHER_BACKEND
    attributes, _ = hostile.run({"one.tf": 'resource "terraform_data" "one" {}\n', name: content})
    assert attributes["status"] == "errored" or hostile.api.resources(hostile.workspace) == ["terraform_data.one"], attributes


PATH_VARIABLES = {"TF_DATA_DIR": "/providers/forged", "TF_PLUGIN_CACHE_DIR": "/providers/store", "TF_CLI_ARGS_init": "-plugin-dir=/job/config", "TF_CLI_ARGS_plan": "-out=/providers/forged",
          "TF_LOG_PATH": "/providers/forged", "GIT_DIR": "/providers/forged", "GIT_SSH_COMMAND": "touch /providers/forged", "GIT_TRACE": "/providers/forged",
          "GIT_CONFIG_COUNT": "1", "GIT_EXEC_PATH": "/job/config", "LD_PRELOAD": "/job/config/forged.so", "LD_LIBRARY_PATH": "/job/config", "TMPDIR": "/providers", "TF_REATTACH_PROVIDERS": "{}",
          "CHECKPOINT_DISABLE": "", "SSL_CERT_FILE": "/job/config/forged.pem", "https_proxy": "http://127.0.0.1:9",
          "TF_CLI_CONFIG_FILE": "/job/config/forged.tfrc", "TF_CLI_ARGS": "-chdir=/providers", "TF_CLI_ARGS_show": "-json=/providers/forged", "TF_LOG": "TRACE",
          "TF_ENCRYPTION": 'key_provider "external" "x" { command = ["touch", "/providers/forged"] }', "TF_REGISTRY_CLIENT_TIMEOUT": "1", "BASH_ENV": "/job/config/forged.sh", "ENV": "/job/config/forged.sh",
          "PATH": "/job/config", "HOME": "/providers", "XDG_CONFIG_HOME": "/job/config", "SSL_CERT_DIR": "/providers", "HTTP_PROXY": "http://127.0.0.1:9", "GIT_ASKPASS": "/job/config/forged.sh",
          "GIT_CONFIG_GLOBAL": "/providers/forged", "PYTHONPATH": "/job/config"}
FORGED = {"forged.sh": "touch /providers/forged $CANARY; echo ESCAPED", "forged.tfrc": 'provider_installation {\n  dev_overrides {\n    "hashicorp/time" = "/job/config"\n  }\n}\n'}


def test_variables_with_paths_write_nothing_outside_the_job(hostile):
    """The run ends, and writes nothing outside of its folder. test_sandbox.py of e2e tests the variables that change the
    engine's behaviour."""
    for key, value in PATH_VARIABLES.items():
        attributes, _ = hostile.run({**FORGED, "main.tf": 'resource "terraform_data" "one" {\n  provisioner "local-exec" {\n    command = "true"\n  }\n}\n'},
                                    {"CANARY": hostile.canaries / "open", key: value})
        assert attributes["status"] == "applied" and hostile.api.resources(hostile.workspace) == ["terraform_data.one"] or attributes["error"], (key, attributes)


CREDENTIALS = {
    "a path in a tag": {"TFC_AWS_PROVIDER_AUTH_../../x": "true", "TFC_AWS_RUN_ROLE_ARN_../../x": "arn:x"},
    "lines of a configuration": {"TFC_AWS_PROVIDER_AUTH": "true", "TFC_AWS_RUN_ROLE_ARN": "x\ncredential_process = touch /providers/forged\n"},
    "another program": {"TFC_GCP_PROVIDER_AUTH": "true", "TFC_GCP_RUN_SERVICE_ACCOUNT_EMAIL": 'a@b","credential_source":{"executable":{"command":"touch /providers/forged"}},"x":"', "TFC_GCP_WORKLOAD_PROVIDER_NAME": "p"},
    "a file as an address": {"TFC_VAULT_PROVIDER_AUTH": "true", "TFC_VAULT_ADDR": "file:///etc/passwd", "TFC_VAULT_RUN_ROLE": "r"},
    "a path above Vault's": {"TFC_VAULT_PROVIDER_AUTH": "true", "TFC_VAULT_ADDR": "http://127.0.0.1:9", "TFC_VAULT_RUN_ROLE": "r", "TFC_VAULT_AUTH_PATH": "../sys/seal#"},
    "no certificate": {"TFC_VAULT_PROVIDER_AUTH": "true", "TFC_VAULT_ADDR": "https://127.0.0.1:9", "TFC_VAULT_RUN_ROLE": "r", "TFC_VAULT_ENCODED_CACERT": "QUJD"},
}


@pytest.mark.parametrize("name", CREDENTIALS)
def test_hostile_values_of_credentials_end_the_run_before_terraform_starts(hostile, name):
    attributes, log = hostile.run({"main.tf": 'resource "terraform_data" "one" {}\n'}, CREDENTIALS[name])
    assert attributes["status"] == "errored" and attributes["error"] in log and "terraform.ui" not in log, (attributes, log)


@pytest.mark.parametrize("address", ["worker", "scheduler", "metadata"])
def test_a_vault_s_address_reaches_no_more_than_the_job(hostile, ports, address):
    """The login runs in the job's network, which has none of these."""
    url = {"worker": f"http://127.0.0.1:{ports[0]}", "scheduler": "http://localhost:1", "metadata": "http://169.254.169.254"}[address]
    attributes, _ = hostile.run({"main.tf": 'resource "terraform_data" "one" {}\n'},
                                {"TFC_VAULT_PROVIDER_AUTH": "true", "TFC_VAULT_ADDR": url, "TFC_VAULT_RUN_ROLE": "r"})
    assert attributes["status"] == "errored" and "connect" in attributes["error"].lower(), attributes


@pytest.mark.parametrize(("key", "value"), [("TF_CLI_ARGS_apply", "-state-out=/job/elsewhere"), ("TF_CLI_ARGS_apply", "-state=/tmp/elsewhere")])
def test_a_variable_that_moves_the_state_makes_the_run_errored(hostile, key, value):
    """The apply created something, but the worker found no state of it."""
    attributes, _ = hostile.run({"main.tf": 'resource "terraform_data" "one" {}\n'}, {key: value})
    assert attributes["status"] == "errored" and "state" in attributes["error"], attributes


# ---- after the job: a folder that is hard to remove ----


def test_nested_folders_are_removed(hostile):
    """20,000 nested folders, with 80 MiB of names: less than the job may use."""
    before = hostile.folders()
    try:
        attributes, log = hostile.run(corpus("nested_folders"))
        assert attributes["status"] == "applied" and "PROBED" in log
    finally:
        subprocess.run(["rm", "-rf", "--", *hostile.folders() - before], check=True)
