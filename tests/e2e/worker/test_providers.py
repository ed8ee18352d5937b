# SPDX-License-Identifier: MPL-2.0
# label: extended
"""A real provider: a worker downloads and unpacks it once, even with concurrent jobs, and an apply runs init only if it
must."""

import os
import shutil
import stat
import subprocess
import zipfile

import pytest

from support.engine import time_provider
from support.process import clean_environment
from support.wait import until

TIME = {"main.tf": """
terraform {
  required_providers {
    time = {
      source = "hashicorp/time"
    }
  }
}

resource "time_static" "now" {}
"""}


def packed_mirror(folder, engine):
    """The provider as a registry serves it: a zip, which must be unpacked before use."""
    binary = time_provider()
    version, platform = binary.parts[-3], binary.parts[-2]
    place = folder / f"mirror/{engine.registry}/hashicorp/time"
    place.mkdir(parents=True)
    with zipfile.ZipFile(place / f"terraform-provider-time_{version}_{platform}.zip", "w") as packed:
        info = zipfile.ZipInfo(binary.name)
        info.external_attr = (stat.S_IFREG | 0o755) << 16
        packed.writestr(info, binary.read_bytes())
    return folder / "mirror"


@pytest.fixture
def mirror(folder, engine):
    return packed_mirror(folder, engine)


def kept(worker):
    """Every file that the worker keeps of providers, with attributes that change when it is rewritten."""
    found = {}
    for place, folders, files in os.walk(worker.options["data_dir"] / "providers"):
        for name in folders + files:
            status = os.lstat(os.path.join(place, name))
            if not stat.S_ISDIR(status.st_mode):
                found[os.path.join(place, name)] = (status.st_ino, status.st_mtime_ns, status.st_size)
    assert [path for path in found if "terraform-provider-time" in path]
    return found


def packages(worker):
    return [path for path in kept(worker) if "/store/" in path and os.path.basename(path).startswith("terraform-provider-time")]


def verified(worker):
    """True when the worker has verified a package, for until()."""
    return worker.metric("runyard_worker_providers_adopted_total") == 1


def apply(api, files=TIME):
    workspace = api.workspace(auto_apply=True)
    api.wait_status(api.run_files(workspace, files), "applied")
    assert len(api.state(workspace)["resources"]) == 1


def lock_file(folder, mirror, engine):
    """The lock file that `terraform init` writes for a developer of the configuration."""
    place, config = folder / "developer", folder / "developer.tfrc"
    place.mkdir()
    (place / "main.tf").write_text(TIME["main.tf"])
    config.write_text(f'provider_installation {{\n  filesystem_mirror {{\n    path = "{mirror}"\n  }}\n}}\n')
    subprocess.run([engine.path, "init", "-input=false"], cwd=place, check=True, capture_output=True,
                   env=clean_environment(TF_CLI_CONFIG_FILE=config, CHECKPOINT_DISABLE=1))
    return (place / ".terraform.lock.hcl").read_text()


def test_a_second_run_downloads_and_unpacks_nothing(api, worker, mirror):
    one = worker(provider_mirror=mirror)
    apply(api)
    until(lambda: verified(one), "the package is verified")
    before = kept(one)
    apply(api)
    assert kept(one) == before
    assert verified(one)


def test_downloaded_providers_are_kept_after_a_restart(api, worker, mirror):
    one = worker(provider_mirror=mirror)
    apply(api)
    until(lambda: verified(one), "the package is verified")
    before = kept(one)
    one.restart(kill=True)
    apply(api)
    assert kept(one) == before


def test_a_downloaded_provider_does_not_need_the_mirror(api, worker, mirror, folder, engine):
    one = worker(provider_mirror=mirror)
    locked = {**TIME, ".terraform.lock.hcl": lock_file(folder, mirror, engine)}
    apply(api, locked)
    until(lambda: verified(one), "the package is verified")
    shutil.rmtree(mirror / engine.registry)
    apply(api, locked)
    apply(api)
    assert len(packages(one)) == 1


def test_concurrent_first_runs_share_one_package(api, worker, mirror):
    one = worker(provider_mirror=mirror, slots=4)
    workspaces = [api.workspace(auto_apply=True) for _ in range(4)]
    configurations = [api.upload(workspace, TIME) for workspace in workspaces]
    runs = [api.run(workspace, configuration) for workspace, configuration in zip(workspaces, configurations)]
    for run in runs:
        api.wait_status(run, "applied")
    until(lambda: verified(one), "the package is verified")
    assert len(packages(one)) == 1


def test_an_apply_on_another_worker_that_has_the_provider_needs_no_init(api, worker, mirror):
    first, second = worker(provider_mirror=mirror), worker(provider_mirror=mirror, slots=1)
    until(lambda: apply(api) or all(verified(w) for w in (first, second)), "both have it")
    assert second.stop() == 0
    workspace = api.workspace()
    run = api.run_files(workspace, TIME)
    api.wait_status(run, "planned")
    assert first.stop() == 0
    second.start()
    api.act(run, "apply")
    api.wait_status(run, "applied")
    assert second.metric("runyard_worker_process_seconds_count", command="init") == 0
    assert second.metric("runyard_worker_inits_reused_total") == 1


def test_an_apply_on_a_worker_without_the_provider_downloads_it(api, worker, mirror):
    first = worker(provider_mirror=mirror)
    run = api.run_files(api.workspace(), TIME)
    api.wait_status(run, "planned")
    assert first.stop() == 0
    second = worker(provider_mirror=mirror)
    api.act(run, "apply")
    api.wait_status(run, "applied")
    assert second.metric("runyard_worker_process_seconds_count", command="init") == 1
    until(lambda: verified(second), "the package is verified")
    assert len(packages(second)) == 1


def test_a_package_with_another_checksum_than_the_lock_file_is_refused(api, worker, mirror, folder, engine):
    one = worker(provider_mirror=mirror)
    good = lock_file(folder, mirror, engine)
    wrong = "\n".join(line if "h1:" not in line and "zh:" not in line else '    "h1:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",' for line in good.splitlines())
    apply(api)
    run = api.run_files(api.workspace(), {**TIME, ".terraform.lock.hcl": wrong + "\n"})
    assert api.wait_status(run, "errored")["error"]
    assert "checksum" in api.log(run)
    apply(api, {**TIME, ".terraform.lock.hcl": good})
    until(lambda: verified(one), "the package is verified")
    assert len(packages(one)) == 1


def test_an_unknown_provider_is_named_in_the_error(api, worker, mirror):
    worker(provider_mirror=mirror)
    run = api.run_files(api.workspace(), {"main.tf": TIME["main.tf"].replace("hashicorp/time", "hashicorp/nowhere")})
    assert "hashicorp/nowhere" in api.wait_status(run, "errored")["error"] + api.log(run)


def test_jobs_can_not_write_to_shared_packages(api, worker, mirror, sandbox):
    if sandbox != "bwrap":
        pytest.skip("without a sandbox a job sees what the worker sees")
    one = worker(provider_mirror=mirror)
    apply(api)
    until(lambda: verified(one), "the package is verified")
    before = kept(one)
    writes = {"main.tf": TIME["main.tf"] + """
resource "terraform_data" "writes" {
  provisioner "local-exec" {
    command = "for f in $(find -L .terraform/providers -name 'terraform-provider*'); do echo x >> $f && echo do''ne; rm $f && echo do''ne; done; true"
  }
}
"""}
    workspace = api.workspace(auto_apply=True)
    run = api.run_files(workspace, writes)
    api.wait_status(run, "applied")
    assert "Read-only file system" in api.log(run, "apply") and "): done" not in api.log(run, "apply")
    assert kept(one) == before
