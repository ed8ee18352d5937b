# SPDX-License-Identifier: MPL-2.0
"""A private provider, built from its Go module, found, verified and installed by the engines: on a person's machine, and
in a run."""

import itertools
import json

import pytest

from support.api import Api
from support.engine import each_engine, time_provider
from support.openpgp import signer
from support.providers import Providers, zip_of
from support.runyard import KEYS, Scheduler
from support.terraform import HOST

names = itertools.count(1)
pytestmark = each_engine()
OTHER = "darwin_arm64"


@pytest.fixture(scope="module")
def archives():
    """The real provider for this machine, and a file for another one."""
    program = time_provider()
    return {program.parts[-2]: zip_of({program.name: program.read_bytes()}), OTHER: zip_of({"terraform-provider-time_v1": b"a program for another system"})}


@pytest.fixture
def published(site, archives):
    """The registry, and the name of a provider with two versions."""
    providers, name = Providers(site.api), f"time{next(names)}"
    for version in ("1.0.0", "1.1.0"):
        providers.publish(name, version, {platform: rename(content, name) for platform, content in archives.items()})
    return providers, name


def rename(archive, name):
    """The archive of a provider of that name: engines look for its program by name."""
    import io
    import zipfile
    with zipfile.ZipFile(io.BytesIO(archive)) as packed:
        (program,) = packed.namelist()
        return zip_of({program.replace("-time_", f"-{name}_"): packed.read(program)})


@pytest.fixture(scope="module")
def stranger(site):
    """A client of the owner of another organization."""
    made = Scheduler.run_command("bootstrap", "stranger", "stranger@example.com", "elsewhere", database_url=site.database, keys=KEYS)
    site.ask("update users set is_site_admin = false where username = 'stranger'")
    return Api(site.scheduler.url, json.loads(made.stdout)["token"], "elsewhere")


def use(host, name, constraint="~> 1.0", organization="acme"):
    return f"""
terraform {{
  required_providers {{
    time = {{
      source  = "{host}/{organization}/{name}"
      version = "{constraint}"
    }}
  }}
}}

resource "time_static" "now" {{}}

output "at" {{
  value = time_static.now.unix
}}
"""


def lock(user):
    return (user.folder / ".terraform.lock.hcl").read_text()


def flat(text):
    return " ".join(text.replace("│", " ").replace("╷", " ").split())


def test_init_installs_and_locks_a_private_provider(terraform, published):
    providers, name = published
    user = terraform(body=use(HOST, name, "1.0.0"))
    user.init()
    assert f'provider "{HOST}/acme/{name}"' in lock(user) and lock(user).count("zh:") == 2, "SHA256SUMS is signed: all its checksums are locked"
    user.pipe("apply", "-auto-approve")
    assert int(json.loads(user.pipe("output", "-json"))["at"]["value"]) > 0
    user.pipe("providers", "lock", *(f"-platform={platform}" for platform in (time_provider().parts[-2], OTHER)))
    assert lock(user).count("h1:") == 2
    user.write("main.tf", use(HOST, name))
    user.init("-upgrade")
    assert '"1.1.0"' in lock(user)


def test_init_without_a_token_and_for_another_organization_fails(terraform, published, stranger):
    _, name = published
    nobody = terraform(body=use(HOST, name), signed_in=False, TF_CLI_CONFIG_FILE="")
    services = nobody.folder.with_name("services.rc")
    services.write_text(nobody.services())
    assert "authentication credentials" in flat(nobody.run("init", "-input=false", code=1, TF_CLI_CONFIG_FILE=str(services)))
    outputs = {flat(terraform(body=use(HOST, wanted), token=stranger.token).run("init", "-input=false", code=1)).replace(wanted, "NAME") for wanted in (name, "absent9")}
    assert len(outputs) == 1 and "does not have a provider named" in outputs.pop()


def test_the_engine_refuses_what_was_changed_behind_the_scheduler(site, terraform, published):
    """What an attacker of the database could do: the engine verifies the signature and the checksums itself."""
    providers, name = published
    version = providers.read(name, "versions", "1.0.0")["id"]
    user = terraform(body=use(HOST, name, "1.0.0"))
    ((mine, theirs),) = [[row[0] for row in site.ask("select blob_id from registry_provider_platforms where version_id = %s order by os = 'linux' desc", version)]]

    def swap(one, other):
        for blob, os in ((one, "linux"), (other, "darwin")):
            site.ask("update registry_provider_platforms set blob_id = %s, size = (select size from blobs where id = %s) where version_id = %s and os = %s", blob, blob, version, os)

    swap(theirs, mine)
    assert "checksum" in flat(user.run("init", "-input=false", code=1)).lower()
    swap(mine, theirs)
    armor = providers.key.armor
    site.ask("update registry_gpg_keys set ascii_armor = %s", signer("another").armor)
    try:
        assert "sign" in flat(user.run("init", "-input=false", code=1)).lower()
    finally:
        site.ask("update registry_gpg_keys set ascii_armor = %s", armor)
    user.init()


def test_a_run_installs_a_private_provider_with_its_own_token(site, published):
    _, name = published
    host = site.scheduler.url.removeprefix("http://")
    workspace = site.api.workspace(auto_apply=True)
    for constraint in ("1.0.0", "~> 1.0"):
        run = site.api.run_files(workspace, {"main.tf": use(host, name, constraint)})
        site.api.wait_status(run, {"applied", "planned_and_finished"})
        assert "ry_run_" not in site.api.log(run) and "/signed/" not in site.api.log(run)
    (output,) = site.api.get(f"workspaces/{workspace}/current-state-version-outputs").data
    assert int(output["attributes"]["value"]) > 0


def test_a_run_of_another_organization_never_gets_the_provider(site, terraform, published, stranger):
    """Not with the lock file of a run that has it either: the worker that ran the job keeps its package."""
    _, name = published
    host = site.scheduler.url.removeprefix("http://")
    user = terraform(body=use(HOST, name, "1.0.0"))
    user.init()
    files = {"main.tf": use(host, name, "1.0.0"), ".terraform.lock.hcl": lock(user).replace(HOST, host)}
    workspace = site.api.workspace(auto_apply=True)
    for _ in range(2):
        site.api.wait_status(site.api.run_files(workspace, files), {"applied", "planned_and_finished"})
    run = stranger.run_files(stranger.workspace(), files)
    stranger.wait_status(run, "errored")
    assert "does not have a provider named" in flat(stranger.log(run))
    shared = site.worker.options["data_dir"] / "providers"
    assert not [path for path in shared.rglob("*") if name in path.name], "the shared store has no private provider"
