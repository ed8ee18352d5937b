# SPDX-License-Identifier: MPL-2.0
"""A site without internet: engines install providers of the public registry from the scheduler's folder, on a person's
machine and in a run whose network reaches nothing else."""

import shutil
from types import SimpleNamespace

import pytest

from support import packages
from support.engine import each_engine, time_provider
from support.terraform import Terraform
from support.wait import until

pytestmark = each_engine()

TIME = """
terraform {
  required_providers {
    time = {
      source = "hashicorp/time"
    }
  }
}

resource "time_static" "now" {}
"""


@pytest.fixture(params=["packed", "unpacked"])
def folder_of_mirror(request, folder, engine):
    """The provider under the name of the engine's public registry."""
    binary = time_provider()
    version, platform = binary.parts[-3], binary.parts[-2]
    place = folder / f"providers/{engine.registry}/hashicorp/time"
    if request.param == "packed":
        place.mkdir(parents=True)
        (place / f"terraform-provider-time_{version}_{platform}.zip").write_bytes(packages.packed(binary.name, binary.read_bytes()))
    else:
        shutil.copytree(binary.parent, place / version / platform)
    return folder / "providers"


@pytest.fixture
def server(scheduler, authority, folder_of_mirror):
    return scheduler(provider_mirror_dir=folder_of_mirror, **authority.serving())


@pytest.fixture
def user(server, engine, tmp_path, authority, request):
    """A user whose CLI configuration has the lines of deploy/README.md."""
    host = f"localhost:{server.port}"
    # No proxy answers: what does not come from the mirror can't be installed.
    one = Terraform(SimpleNamespace(scheduler=server, api=request.getfixturevalue("api")), engine, tmp_path / "user", body=TIME, host=host,
                    signed_in=True, SSL_CERT_FILE=authority.file, HTTPS_PROXY="http://127.0.0.1:9", NO_PROXY="localhost")
    config = tmp_path / "user.home/terraformrc"
    config.write_text(config.read_text() + f"""
provider_installation {{
  network_mirror {{
    url     = "https://{host}/api/registry/v1/mirror/"
    exclude = ["{host}/*/*"]
  }}
  direct {{
    include = ["{host}/*/*"]
  }}
}}
""")
    yield one
    one.release()


def test_init_on_a_laptop(user):
    user.init()
    assert user.run("apply", "-auto-approve").count("1 added") == 1
    assert 'provider "' + f"{user.engine.registry}/hashicorp/time" in (user.folder / ".terraform.lock.hcl").read_text()


def test_a_changed_package_is_refused(user, folder_of_mirror, engine):
    user.init()
    program = next(path for path in folder_of_mirror.rglob("terraform-provider-time*") if path.is_file())
    shutil.rmtree(user.folder / ".terraform")
    if program.suffix == ".zip":
        program.write_bytes(packages.packed(time_provider().name, b"#!/bin/sh\nexit 1\n"))
    else:
        program.write_bytes(b"#!/bin/sh\nexit 1\n")
    assert "checksum" in user.run("init", "-input=false", code=1)


def test_a_run_installs_from_the_mirror_and_the_worker_verifies_the_package(server, request, worker, authority):
    api = request.getfixturevalue("api")
    one = worker(ca_file=authority.file, provider_mirror=None)
    workspace = api.workspace(auto_apply=True)
    api.wait_status(api.run_files(workspace, {"main.tf": TIME}), "applied")
    assert len(api.state(workspace)["resources"]) == 1
    until(lambda: one.metric("runyard_worker_providers_adopted_total") == 1, "the package is verified")
    assert not one.metric("runyard_worker_providers_unverified_total")
