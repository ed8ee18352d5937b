# SPDX-License-Identifier: MPL-2.0
"""Private modules, found and installed by the engines: on a person's machine, and in a run."""

import itertools
import json

import pytest

from support.api import Api
from support.engine import each_engine
from support.modules import OUTPUT, Modules
from support.runyard import KEYS, Scheduler
from support.terraform import HOST

names = itertools.count(1)
pytestmark = each_engine()


def files(word):
    """A module that calls a module of its own, which is also used alone."""
    return {"main.tf": 'module "inner" {\n  source = "./modules/inner"\n}\noutput "word" {\n  value = module.inner.word\n}\n', "modules/inner/main.tf": OUTPUT % word}


def call(host, organization, name, constraint, inner=""):
    return f"""
module "used" {{
  source  = "{host}/{organization}/{name}/null{inner}"
  version = "{constraint}"
}}

output "word" {{
  value = module.used.word
}}
"""


@pytest.fixture
def published(site):
    """The name of a module with several versions, and the registry."""
    modules, name = Modules(site.api), f"network-{next(names)}"
    for version in ("1.0.0", "1.1.0", "1.2.0-rc.1", "2.0.0"):
        modules.publish(name, version, files(version))
    return modules, name


@pytest.fixture(scope="module")
def stranger(site):
    """A client of the owner of another organization."""
    made = Scheduler.run_command("bootstrap", "stranger", "stranger@example.com", "elsewhere", database_url=site.database, keys=KEYS)
    site.ask("update users set is_site_admin = false where username = 'stranger'")
    return Api(site.scheduler.url, json.loads(made.stdout)["token"], "elsewhere")


def chosen(user):
    """The version that init installed."""
    installed = json.loads((user.folder / ".terraform/modules/modules.json").read_text())["Modules"]
    return {module["Key"]: module.get("Version", "") for module in installed}["used"]


def word(user):
    user.pipe("apply", "-auto-approve")
    return json.loads(user.pipe("output", "-json"))["word"]["value"]


def test_init_installs_the_newest_version_that_fits(terraform, published):
    modules, name = published
    user = terraform(body=call(HOST, "acme", name, "~> 1.0"))
    user.init()
    assert chosen(user) == "1.1.0" and word(user) == "1.1.0"
    modules.publish(name, "1.3.0", files("1.3.0"))
    user.init()
    assert chosen(user) == "1.1.0"
    user.init("-upgrade")
    assert chosen(user) == "1.3.0" and word(user) == "1.3.0"


def test_init_installs_a_submodule(terraform, published):
    _, name = published
    user = terraform(body=call(HOST, "acme", name, "1.2.0-rc.1", "//modules/inner"))
    user.init()
    assert word(user) == "1.2.0-rc.1"


def test_init_fails_without_a_version_that_fits_without_a_token_and_for_another_organization(terraform, published, stranger):
    _, name = published
    assert "no available version" in terraform(body=call(HOST, "acme", name, "~> 3.0")).run("init", "-input=false", code=1).lower().replace("\n", " ")
    nobody = terraform(body=call(HOST, "acme", name, "~> 1.0"), signed_in=False, TF_CLI_CONFIG_FILE="")
    services = nobody.folder.with_name("services.rc")
    services.write_text(nobody.services())
    assert "401" in nobody.run("init", "-input=false", code=1, TF_CLI_CONFIG_FILE=str(services))
    for name in (name, "absent"):
        other = terraform(body=call(HOST, "acme", name, "~> 1.0"), token=stranger.token)
        assert "Module not found" in other.run("init", "-input=false", code=1)


def test_init_takes_no_revoked_version(terraform, published):
    modules, name = published
    api = modules.api
    for attributes in ({"deprecation": {"deprecated-status": "Deprecated", "reason": "Do not use it."}}, {"revocation": {"status": "Revoked"}}):
        api.patch(modules.path(name, "1.1.0"), {"data": {"type": "module-versions", "attributes": attributes}})
    user = terraform(body=call(HOST, "acme", name, "~> 1.0"))
    user.init()
    assert chosen(user) == "1.0.0"
    exact = terraform(body=call(HOST, "acme", name, "1.1.0"))
    assert "no available version" in exact.run("init", "-input=false", code=1).lower().replace("\n", " ")


def test_a_run_installs_modules_with_its_own_token(site, published):
    _, name = published
    host = site.scheduler.url.removeprefix("http://")
    for constraint, inner, expected in (("~> 1.0", "", "1.1.0"), ("2.0.0", "//modules/inner", "2.0.0")):
        workspace = site.api.workspace(auto_apply=True)
        run = site.api.run_files(workspace, {"main.tf": call(host, "acme", name, constraint, inner)})
        site.api.wait_status(run, "applied")
        (output,) = site.api.get(f"workspaces/{workspace}/current-state-version-outputs").data
        assert output["attributes"]["value"] == expected
        assert "ry_run_" not in site.api.log(run) and "/signed/" not in site.api.log(run)


def test_a_run_takes_a_version_that_was_published_after_the_last_run(site, published):
    modules, name = published
    host, workspace = site.scheduler.url.removeprefix("http://"), site.api.workspace(auto_apply=True)
    for version in ("1.1.0", "1.4.0"):
        if version == "1.4.0":
            modules.publish(name, version, files(version))
        site.api.wait_status(site.api.run_files(workspace, {"main.tf": call(host, "acme", name, "~> 1.0")}), "applied")
        (output,) = site.api.get(f"workspaces/{workspace}/current-state-version-outputs").data
        assert output["attributes"]["value"] == version


def test_a_run_of_another_organization_finds_no_module(site, published, stranger):
    _, name = published
    host = site.scheduler.url.removeprefix("http://")
    run = stranger.run_files(stranger.workspace(), {"main.tf": call(host, "acme", name, "~> 1.0")})
    stranger.wait_status(run, "errored")
    assert "Module not found" in stranger.log(run)
