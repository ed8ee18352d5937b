# SPDX-License-Identifier: MPL-2.0
"""Inspections of module versions: their jobs, what a worker finds, and what the registry answers of it."""

import pytest

from support.api import tar_gz
from support.fake_worker import FakeWorker, description
from support.git_rows import GitRows
from support.modules import Modules
from support.wait import until

GIT = ["fetch", "diff", "look"]
MODULE = {
    "README.md": "# A network\n", "main.tf": 'variable "cidr" {\n  type = string\n}\nresource "null_resource" "x" {}\noutput "id" {\n  value = 1\n}\nmodule "inner" {\n  source = "./modules/inner"\n}\n',
    "modules/inner/main.tf": 'variable "zone" {\n  default = "a"\n}\n', "examples/full/main.tf": 'module "it" {\n  source = "../.."\n}\n',
}


def describe(modules, name, version=None):
    """The description, once it is there."""
    path = f"registry-modules/{modules.read(name)['id']}/description"
    asked = f"{path}?module_version={version}" if version else path
    until(lambda: modules.api.get(asked).data["attributes"]["root"], lambda: f"the module is inspected: {modules.read(name)}")
    return modules.api.get(asked).data["attributes"]


def undescribed(modules, name):
    shown = modules.api.get(f"registry-modules/{modules.read(name)['id']}/description").data["attributes"]
    return (shown["root"], shown["submodules"], shown["examples"]) == (None, [], [])


# ---- with a worker ----


def test_an_uploaded_version_is_described(site):
    modules = Modules(site.api)
    modules.publish("described", "1.0.0", MODULE)
    shown = describe(modules, "described")
    assert (shown["version"], shown["error"], shown["cut"], shown["root"]["readme"]) == ("1.0.0", None, False, "# A network\n")
    assert [item["name"] for item in shown["root"]["inputs"]] == ["cidr"] and [item["path"] for item in shown["submodules"]] == ["modules/inner"]
    assert modules.read("described", "1.0.0")["attributes"]["error"] is None
    engines = site.api.call("GET", f"{site.api.url}/api/registry/v1/modules/{site.api.organization}/described/null/1.0.0").json
    assert engines["root"] == {**shown["root"], "name": "described"} and engines["submodules"] == shown["submodules"] and engines["examples"] == shown["examples"]
    assert engines["providers"] == ["null"]
    latest = site.api.call("GET", f"{site.api.url}/api/registry/v1/modules/{site.api.organization}/described/null").json
    assert latest["root"] == engines["root"]


def test_a_broken_version_has_an_error_until_it_is_replaced(site):
    modules = Modules(site.api)
    modules.create("broken")
    version = modules.version("broken", "1.0.0")
    assert modules.upload(version, {"README.md": "Hello", "main.tf": 'variable "a" {}\n\nvariable "a" {}\n'}).status == 200
    shown = describe(modules, "broken", "1.0.0")
    assert shown["error"] == 'main.tf:3: variable "a" is declared twice' and shown["root"]["readme"] == "Hello"
    assert modules.read("broken", "1.0.0")["attributes"]["error"] == shown["error"]
    (status,) = modules.read("broken")["attributes"]["version-statuses"]
    assert (status["status"], status["error"]) == ("ok", shown["error"])
    assert modules.upload(version, {"main.tf": 'variable "b" {}\n'}).status == 200
    until(lambda: [item["name"] for item in describe(modules, "broken")["root"]["inputs"]] == ["b"], "the new content is described")
    assert modules.read("broken", "1.0.0")["attributes"]["error"] is None


HOSTILE = {
    "markup": {"README.md": "<script>alert(1)</script>", "main.tf": 'variable "<b>" {}'}, "brackets": {"main.tf": "x {\n" * 100_000},
    "many": {f"v{n}.tf": "".join(f'variable "v{n}_{m}" {{}}\n' for m in range(1000)) for n in range(100)}, "bytes": {"main.tf": bytes(range(256)) * 1000},
}


def test_hostile_modules_disturb_nothing(site):
    modules = Modules(site.api)
    for what, files in HOSTILE.items():
        modules.publish(f"hostile-{what}", "1.0.0", files)
    modules.publish("innocent", "1.0.0", MODULE)
    assert describe(modules, "innocent")["root"]["readme"] == "# A network\n"
    shown = {what: describe(modules, f"hostile-{what}") for what in HOSTILE}
    assert shown["markup"]["root"]["readme"] == "<script>alert(1)</script>" and shown["many"]["cut"]
    assert shown["brackets"]["error"].startswith("main.tf:") and shown["bytes"]["error"].startswith("main.tf:1:")


# ---- jobs ----


@pytest.fixture
def worker(api_site):
    return FakeWorker(api_site.scheduler.url, api_site.tokens["agent-token"])


@pytest.fixture
def modules(org, api_site):
    api_site.change("delete from git_jobs")
    return Modules(org)


def claim(worker, kinds=(*GIT, "module")):
    body = {"worker": worker.id, "slots": 8, **({} if kinds is None else {"kinds": list(kinds)})}
    return worker.call("POST", "git/claim", body, worker.token).json["jobs"]


def on(worker, job, method, path, body=None, token=None):
    return worker.call(method, f"git/jobs/{job['job']}/{path}", body, token or job["token"], check=False)


def due(api_site):
    api_site.change("update git_jobs set due_at = now()")


def test_a_job_has_the_archive_and_its_own_token(worker, modules, api_site):
    archive = tar_gz(MODULE)
    id = modules.publish("network", "1.0.0", archive)
    assert api_site.ask("select kind, state from git_jobs where module_version_id = %s", id) == [("module", "waiting")]
    (job,) = claim(worker, ["module"])
    assert set(job) == {"job", "attempt", "token", "kind"} and job["kind"] == "module"
    assert on(worker, job, "GET", "module").body == archive
    for token in (worker.token, worker.own_token, "git.nonsense"):
        assert on(worker, job, "GET", "module", token=token).status in (401, 404)
    assert undescribed(modules, "network")
    assert on(worker, job, "POST", "result", {"outcome": "done"}).status == 422
    assert on(worker, job, "POST", "result", {"outcome": "done", "module": {"root": 7}}).status == 422
    assert on(worker, job, "POST", "result", {"outcome": "done", "module": description("x" * (1 << 20))}).status == 422
    assert on(worker, job, "POST", "result", {"outcome": "done", "module": description("one")}).status == 204
    assert describe(modules, "network")["root"]["readme"] == "one"
    assert on(worker, job, "GET", "module").status == on(worker, job, "POST", "result", {"outcome": "done"}).status == 404
    assert api_site.ask("select 1 from git_jobs where module_version_id = %s", id) == []


def test_content_that_is_replaced_is_inspected_again(worker, modules):
    modules.create("network")
    version = modules.version("network", "1.0.0")
    modules.upload(version, {"main.tf": "# one"})
    (job,) = claim(worker, ["module"])
    modules.upload(version, {"main.tf": "# two"})
    assert on(worker, job, "POST", "result", {"outcome": "done", "module": description("one")}).status == 204
    assert undescribed(modules, "network")
    (job,) = claim(worker, ["module"])
    assert on(worker, job, "POST", "result", {"outcome": "done", "module": description("two")}).status == 204
    assert describe(modules, "network")["root"]["readme"] == "two"


def test_a_lost_job_is_repeated_and_the_fifth_failure_is_the_last(worker, modules, api_site):
    id = modules.publish("network", "1.0.0")
    (job,) = claim(worker, ["module"])
    api_site.change("update git_jobs set lease_until = now() - interval '1 second'")
    until(lambda: api_site.ask("select state, tries from git_jobs") == [("waiting", 1)], "the job waits again")
    assert on(worker, job, "POST", "result", {"outcome": "done", "module": description("late")}).status == 404
    for attempt in range(4):
        due(api_site)
        (job,) = claim(worker, ["module"])
        assert on(worker, job, "POST", "result", {"outcome": "retry", "error": f"try {attempt}"}).status == 204
    assert api_site.ask("select count(*) from git_jobs") == [(0,)]
    assert modules.read("network", "1.0.0")["attributes"]["error"] == "try 3" and modules.read("network")["attributes"]["status"] == "setup_complete"
    assert api_site.ask("select inspected from registry_module_versions where id = %s", id) == [(True,)]


def test_workers_of_an_earlier_version_get_none(worker, modules, api_site):
    modules.publish("network", "1.0.0")
    ((organization,),) = api_site.ask("select id from organizations where name = %s", modules.api.organization)
    rows = GitRows(api_site.ask, organization)
    for kinds in (None, GIT):
        rows.job("look", rows.repository(rows.connection("https://git.example.com"), f"{kinds}"))
        assert [job["kind"] for job in claim(worker, kinds)] == ["look"]
    assert [job["kind"] for job in claim(worker, ["module"])] == ["module"]


def test_a_deleted_version_has_no_job_and_its_description_is_collected(worker, modules, api_site):
    modules.publish("network", "1.0.0")
    modules.publish("network", "1.1.0")
    first, second = claim(worker, ["module"])
    assert on(worker, first, "POST", "result", {"outcome": "done", "module": description("one")}).status == 204
    ((blob,),) = api_site.ask("select i.blob_id from registry_module_inspections i join registry_module_versions v on v.id = i.version_id "
                              "join registry_modules m on m.id = v.module_id join organizations o on o.id = m.organization_id where o.name = %s", modules.api.organization)
    modules.api.delete(modules.path("network"))
    assert on(worker, second, "POST", "result", {"outcome": "done", "module": description("late")}).status == 404
    # The collector looks at it, or has deleted it already.
    assert api_site.ask("select exists (select 1 from loose_blobs where blob_id = %s) or not exists (select 1 from blobs where id = %s)",
                        blob, blob) == [(True,)]
