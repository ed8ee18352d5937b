# SPDX-License-Identifier: MPL-2.0
# label: extended
"""An init whose result would equal an earlier one is skipped, and every other init runs."""

import os
import shutil
import stat
import subprocess
import zipfile

import pytest

from support.engine import time_provider
from support.process import give_to_workers
from support.wait import until

ONE = {
    "main.tf": 'variable "word" {\n  default = "none"\n}\nmodule "inner" {\n  source = "./inner"\n  word   = var.word\n}\noutput "word" {\n  value = module.inner.word\n}\n',
    "inner/main.tf": 'variable "word" {}\nresource "terraform_data" "one" {\n  input = var.word\n}\noutput "word" {\n  value = terraform_data.one.output\n}\n',
}
TIME = {"main.tf": 'terraform {\n  required_providers {\n    time = {\n      source = "hashicorp/time"\n    }\n  }\n}\nresource "time_static" "now" {}\n'}


def pack(mirror, engine, number=None):
    """One version of the provider, as a registry serves it. `number` replaces the last part of the version."""
    binary = time_provider()
    version, platform = binary.parts[-3], binary.parts[-2]
    version = f"{version.rsplit('.', 1)[0]}.{number}" if number else version
    place = mirror / f"{engine.registry}/hashicorp/time"
    place.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(place / f"terraform-provider-time_{version}_{platform}.zip", "w") as packed:
        info = zipfile.ZipInfo(f"terraform-provider-time_v{version}")
        info.external_attr = (stat.S_IFREG | 0o755) << 16
        packed.writestr(info, binary.read_bytes())
    return version


@pytest.fixture
def mirror(folder, engine):
    pack(folder / "mirror", engine)
    return folder / "mirror"


def inits(worker):
    return worker.metric("runyard_worker_process_seconds_count", command="init")


def reused(worker):
    return worker.metric("runyard_worker_inits_reused_total", stage="plan")


def apply(api, files, workspace=None):
    workspace = workspace or api.workspace(auto_apply=True)
    run = api.run_files(workspace, files)
    api.wait_status(run, {"applied", "planned_and_finished"})
    return workspace


def outputs(api, workspace):
    return [item["attributes"]["value"] for item in api.get(f"workspaces/{workspace}/current-state-version-outputs").data]


def test_a_reused_init_reads_the_runs_variables_and_changed_files(api, worker):
    one = worker()
    workspace = api.workspace(auto_apply=True)
    variable = api.variable(workspace, "word", "first")
    apply(api, ONE, workspace)
    assert (inits(one), reused(one)) == (1, 0)
    api.patch(f"workspaces/{workspace}/vars/{variable}", {"data": {"type": "vars", "id": variable, "attributes": {"value": "second"}}})
    apply(api, ONE, workspace)
    assert outputs(api, workspace) == ["second"]
    assert (inits(one), reused(one)) == (1, 1)
    more = {**ONE, "inner/more.tf": 'module "deeper" {\n  source = "./deeper"\n}\n', "inner/deeper/main.tf": ""}
    apply(api, more, workspace)
    apply(api, {**more, "inner/deeper/main.tf": 'resource "terraform_data" "two" {}\n'}, workspace)
    assert (inits(one), reused(one)) == (3, 1)
    assert len(api.state(workspace)["resources"]) == 2


def test_an_init_runs_again_after_other_credentials_another_engine_or_damage(api, worker, folder, engine):
    program = folder / "engine"
    shutil.copy(engine.path, program)
    one = worker(engine=program)
    workspace = apply(api, ONE)
    token = api.variable(workspace, "TF_TOKEN_example_com", "secret", category="env", sensitive=True)
    apply(api, ONE, workspace)
    assert (inits(one), reused(one)) == (2, 0)
    api.delete(f"workspaces/{workspace}/vars/{token}")
    apply(api, ONE, workspace)
    assert (inits(one), reused(one)) == (2, 1)
    os.utime(program, (1, 1))
    apply(api, ONE, workspace)
    assert (inits(one), reused(one)) == (3, 1)
    for kept in (one.options["data_dir"] / "inits").iterdir():
        kept.write_bytes(kept.read_bytes()[:-9] + b"something")
    apply(api, ONE, workspace)
    apply(api, ONE, workspace)
    assert (inits(one), reused(one)) == (4, 2)


def test_an_init_runs_again_for_providers_that_are_not_locked(api, worker, mirror, engine):
    one = worker(provider_mirror=mirror, init_reuse_seconds=0)
    apply(api, TIME)
    newer = pack(mirror, engine, 999)
    apply(api, TIME)
    assert (inits(one), reused(one)) == (2, 0)
    cached = one.options["data_dir"] / f"providers/mirror/{engine.registry}/hashicorp/time"
    until(lambda: newer in [path.name for path in cached.glob("*")], "the newer one is verified")


def test_an_init_with_locked_providers_is_reused(api, worker, mirror, engine):
    one = worker(provider_mirror=mirror, init_reuse_seconds=0)
    version = pack(mirror, engine)
    lock = f'provider "{engine.registry}/hashicorp/time" {{\n  version = "{version}"\n}}\n'
    locked = {**TIME, ".terraform.lock.hcl": lock}
    apply(api, locked)
    apply(api, locked)
    assert (inits(one), reused(one)) == (1, 1)
    apply(api, {**TIME, ".terraform.lock.hcl": lock.replace(version, pack(mirror, engine, 999))})
    assert (inits(one), reused(one)) == (2, 1)


def test_a_deleted_package_is_downloaded_again(api, worker, mirror):
    one = worker(provider_mirror=mirror)
    apply(api, TIME)
    apply(api, TIME)
    assert (inits(one), reused(one)) == (1, 1)
    until(lambda: one.metric("runyard_worker_providers_adopted_total") == 1, "the package is verified")
    for place in ("providers/store/*", "organization-packages/*/*"):
        for package in one.options["data_dir"].glob(place):
            if package.is_dir():
                shutil.rmtree(package)
    apply(api, TIME)
    assert (inits(one), reused(one)) == (2, 1)
    apply(api, TIME)
    assert (inits(one), reused(one)) == (2, 2)


def test_providers_of_the_state_are_installed(api, worker, mirror):
    """A configuration that does not use a provider any more still needs it once, to destroy its resources."""
    one = worker(provider_mirror=mirror)
    workspace = apply(api, TIME)
    apply(api, ONE)
    assert inits(one) == 2
    apply(api, ONE, workspace)
    assert (inits(one), reused(one)) == (3, 0)
    assert [resource["type"] for resource in api.state(workspace)["resources"]] == ["terraform_data"]
    apply(api, ONE, workspace)
    assert (inits(one), reused(one)) == (3, 1)


def test_modules_of_a_branch_are_fetched_again_and_those_of_a_commit_are_not(api, worker, folder):
    repository = folder / "modules/one"

    def commit(word):
        repository.mkdir(parents=True, exist_ok=True)
        (repository / "main.tf").write_text(f'output "word" {{\n  value = "{word}"\n}}\n')
        git = ["git", "-C", repository, "-c", f"safe.directory={repository}", "-c", "user.name=a", "-c", "user.email=a@example.com"]
        for command in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", word]):
            subprocess.run([*git, *command], check=True)
        commit = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True).stdout.strip()
        give_to_workers(repository)  # git trusts only the repositories of its own user
        return commit

    def calling(ref):
        return {"main.tf": f'module "one" {{\n  source = "git::file://{repository}?ref={ref}"\n}}\noutput "word" {{\n  value = module.one.word\n}}\n'}

    one, first = worker(sandbox_bind=folder / "modules"), commit("first")
    pinned, moving = apply(api, calling(first)), apply(api, calling("main"))
    assert (inits(one), reused(one)) == (2, 0)
    commit("second")
    apply(api, calling(first), pinned)
    apply(api, calling("main"), moving)
    assert (inits(one), reused(one)) == (3, 1)
    assert (outputs(api, pinned), outputs(api, moving)) == (["first"], ["second"])


def test_another_worker_applies_a_plan_without_an_init(api, worker):
    first = worker()
    files = {"main.tf": 'resource "terraform_data" "one" {}\n'}  # with modules, an init of OpenTofu is reused in its workspace only
    apply(api, files)
    workspace = api.workspace()
    run = api.run_files(workspace, files)
    api.wait_status(run, "planned")
    assert reused(first) == 1
    assert first.stop() == 0
    second = worker()
    api.act(run, "apply")
    api.wait_status(run, "applied")
    until(lambda: second.metric("runyard_worker_inits_reused_total", stage="apply") == 1, "it reused the init of the plan")
    assert inits(second) == 0
