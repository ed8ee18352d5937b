# SPDX-License-Identifier: MPL-2.0
"""A tenant's code plants a provider package during init. No job of another organization may run it."""

import base64
import hashlib
import subprocess
import zipfile

import pytest

from support.api import Api
from support.engine import ENGINES, time_provider

PLANTED = "planted-provider-ran"
PROGRAM = f"#!/bin/sh\necho {PLANTED}\n"
TIME = {"main.tf": 'terraform {\n  required_providers {\n    time = {\n      source = "hashicorp/time"\n    }\n  }\n}\nresource "time_static" "now" {}\n'}
BINARY = time_provider()
HOST, VERSION, TARGET = ENGINES[0].registry, BINARY.parts[-3], BINARY.parts[-2]
PACKAGE = f".terraform/providers/{HOST}/hashicorp/time/{VERSION}/{TARGET}"


def make_mirror(folder):
    """The operator's mirror: the genuine package, as a registry serves it."""
    provider_folder = folder / HOST / "hashicorp/time"
    provider_folder.mkdir(parents=True)
    with zipfile.ZipFile(provider_folder / f"terraform-provider-time_{VERSION}_{TARGET}.zip", "w") as packed:
        packed.write(BINARY, BINARY.name)


def lock_file():
    """A lock file that matches the planted package (the engine's h1 hash of a folder with one file)."""
    line = f"{hashlib.sha256(PROGRAM.encode()).hexdigest()}  {BINARY.name}\n"
    digest = base64.b64encode(hashlib.sha256(line.encode()).digest()).decode()
    return f'provider "{HOST}/hashicorp/time" {{\n  version = "{VERSION}"\n  hashes = [\n    "h1:{digest}",\n  ]\n}}\n'


PLANT = f"""#!/bin/sh
# Called by git in the place of a program. Plants the package, then serves the module as git asked.
mkdir -p {PACKAGE}
cp planted.sh {PACKAGE}/{BINARY.name}
chmod 755 {PACKAGE}/{BINARY.name}
git config --global core.sshCommand "sh $PWD/plant.sh"
exec git-upload-pack "$PWD"
"""


def bare_repository(folder):
    """The files of a bare git repository with one module, whose configuration names a program wherever git allows one."""
    work, bare = folder / "work", folder / "bare"
    work.mkdir()
    (work / "module.tf").write_text('output "one" {\n  value = 1\n}\n')
    settings = {"core.sshCommand": "sh ./plant.sh", "core.fsmonitor": "sh ./plant.sh", "core.hooksPath": ".", "core.gitProxy": "./plant.sh", "credential.helper": "!sh ./plant.sh", "gc.auto": "0"}
    for command in (["init", "-q", "-b", "main", "."], ["add", "."], ["-c", "user.name=t", "-c", "user.email=t@example.com", "commit", "-qm", "one"], ["clone", "-q", "--bare", ".", bare],
                    *(["--git-dir", bare, "config", key, value] for key, value in settings.items())):
        subprocess.run(["git", *command], cwd=work, check=True, capture_output=True)
    files = {str(path.relative_to(bare)): path.read_bytes() for path in bare.rglob("*") if path.is_file() and not path.name.endswith(".sample")}
    return {**files, "refs/keep": b"", "plant.sh": PLANT.encode(), "post-checkout": PLANT.encode(), "planted.sh": PROGRAM.encode(), ".terraform.lock.hcl": lock_file().encode(), "needs.tf": TIME["main.tf"].encode()}


# With a depth, git is run in the configuration's own folder to find the default branch.
MODULE = "git::ssh://git@127.0.0.1:9/module.git?depth=1"
MODULES = {
    "a module block": ({"main.tf": f'module "one" {{\n  source = "{MODULE}"\n}}\n'}, {}),
    "a module in JSON with an escape": ({"main.tf.json": f'{{"\\u006dodule": {{"one": {{"source": "{MODULE}"}}}}}}'}, {"ANY": "variable"}),
    "a module block between comments": ({"main.tf": f'/* */module /* */ "one" /* */{{\n  source = "{MODULE}"\n}}\n'}, {"ANY": "variable"}),
    "the worker's own SSH command": ({"main.tf": f'module "one" {{\n  source = "{MODULE}"\n}}\n'}, {"GIT_SSH_COMMAND": "sh ./plant.sh"}),
    "git's settings in variables": ({"main.tf": f'module "one" {{\n  source = "{MODULE}"\n}}\n'}, {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.sshCommand", "GIT_CONFIG_VALUE_0": "sh ./plant.sh"}),
}


@pytest.fixture
def others(api):
    """A client of another organization in the same pool."""
    client = Api(api.url, api.token, "others")
    api.post("organizations", {"data": {"type": "organizations", "attributes": {"name": client.organization, "email": "o@example.com"}}})
    return client


@pytest.mark.parametrize("case", list(MODULES))
def test_a_planted_provider_never_runs_in_other_organizations(api, others, worker, folder, tmp_path, case):
    make_mirror(folder / "mirror")
    worker(provider_mirror=folder / "mirror")
    files, environment = MODULES[case]
    hostile = api.workspace(auto_apply=True)
    for key, value in environment.items():
        api.variable(hostile, key, value, category="env")
    api.wait_status(api.run_files(hostile, {**bare_repository(tmp_path), **files}), {"applied", "errored"})
    # Without a lock file, and with the one that names the planted package.
    for lock, expected in (({}, {"applied"}), ({".terraform.lock.hcl": lock_file()}, {"applied", "errored"})):
        workspace = others.workspace(auto_apply=True)
        run = others.run_files(workspace, {**TIME, **lock})
        status = others.wait_status(run, {"applied", "errored"})["status"]
        assert PLANTED not in others.log(run), others.log(run)
        assert status in expected, others.log(run)
