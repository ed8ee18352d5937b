# SPDX-License-Identifier: MPL-2.0
"""The module registry protocol: who finds which modules, and how their content is downloaded."""

import json
import time
import urllib.parse

import pytest

from support.api import Api, tar_gz
from support.documents import document
from support.modules import Modules
from support.people import People

MODULES = "/api/registry/v1/modules"


@pytest.fixture
def modules(org):
    return Modules(org)


class Registry:
    """The registry as an engine with that token asks for a namespace's modules."""

    def __init__(self, url, token, namespace):
        self.api, self.namespace = Api(url, token), namespace

    def ask(self, *path):
        return self.api.call("GET", "/".join((self.api.url + MODULES, self.namespace, *path)))

    def versions(self, name):
        return [item["version"] for item in self.ask(name, "null", "versions").json["modules"][0]["versions"]]

    def source(self, name, version):
        """The address of the content."""
        answer = self.ask(name, "null", version, "download")
        assert (answer.status, answer.body) == (204, b""), answer.text
        return answer.headers["X-Terraform-Get"]

    def fetch(self, name, version):
        return Api(self.api.url, None).call("GET", self.source(name, version))


@pytest.fixture
def registry(org):
    return Registry(org.url, org.token, org.organization)


def test_discovery_names_the_registry(org):
    assert org.call("GET", f"{org.url}/.well-known/terraform.json").json["modules.v1"] == f"{MODULES}/"


def test_usable_versions_are_listed_and_downloaded(modules, registry):
    archive = tar_gz({"main.tf": "# the content"})
    for version in ("1.0.0", "1.10.0", "1.9.0", "2.0.0-rc.1"):
        modules.publish("network", version, archive)
    modules.version("network", "3.0.0")
    assert registry.versions("network") == ["2.0.0-rc.1", "1.10.0", "1.9.0", "1.0.0"]
    assert registry.ask("network", "null", "versions").json["modules"][0]["source"] == f"{registry.namespace}/network/null"
    fetched = registry.fetch("network", "1.9.0")
    assert (fetched.status, fetched.body, fetched.headers["Content-Type"]) == (200, archive, "application/gzip")
    for version in ("3.0.0", "1.9", "nonsense"):
        assert registry.ask("network", "null", version, "download").status == 404
        assert registry.ask("network", "null", version).status == 404
    assert registry.ask("absent", "null", "versions").status == 404 and registry.ask("network", "aws", "versions").status == 404


def test_descriptions_name_the_latest_version_that_is_no_prerelease(modules, registry):
    for version in ("1.0.0", "1.1.0+build-1", "2.0.0-rc.1"):
        modules.publish("network", version)
    modules.create("empty")
    shown = registry.ask("network", "null").json
    assert (shown["id"], shown["version"]) == (f"{registry.namespace}/network/null/1.1.0+build-1", "1.1.0+build-1")
    assert shown["versions"] == ["2.0.0-rc.1", "1.1.0+build-1", "1.0.0"]
    assert registry.ask("network", "null", "2.0.0-rc.1").json["version"] == "2.0.0-rc.1"
    latest = registry.ask("network", "null", "download")
    assert latest.status == 204 and latest.headers["X-Terraform-Get"] and latest.url.endswith("/network/null/1.1.0+build-1/download")
    assert registry.ask("empty", "null").status == 404 and registry.ask("empty", "null", "download").status == 404


def test_modules_of_a_namespace_are_listed(modules, registry):
    for name in ("a", "b", "c"):
        modules.publish(name, "1.0.0")
    everything = registry.ask().json
    assert [module["name"] for module in everything["modules"]] == ["a", "b", "c"] and "next_offset" not in everything["meta"]
    part = registry.api.call("GET", f"{registry.api.url}{MODULES}/{registry.namespace}?limit=2").json
    assert [module["name"] for module in part["modules"]] == ["a", "b"] and part["meta"] == {"limit": 2, "current_offset": 0, "next_offset": 2}
    assert [module["name"] for module in registry.ask("b").json["modules"]] == ["b"]


def test_the_address_of_content_is_signed_for_one_version_and_some_minutes(modules, registry):
    one, other = modules.publish("network", "1.0.0"), modules.publish("network", "2.0.0")
    source = registry.source("network", "1.0.0")
    path = urllib.parse.urlsplit(source).path
    assert path.endswith(f"/object/{one}/module.tar.gz")
    expiry = int(path.split("/")[2].partition("-")[0])
    assert 0 < expiry - time.time() <= 600
    assert Api(registry.api.url, None).call("GET", source.replace(one, other)).status == 404
    assert Api(registry.api.url, None).call("GET", source.replace(str(expiry), str(expiry + 1))).status == 404
    assert Api(registry.api.url, None).call("PUT", source.replace("/module.tar.gz", ""), tar_gz({"main.tf": ""})).status == 404


def test_downloaded_content_is_never_replaced(modules, registry):
    modules.create("network")
    made = modules.version("network", "1.0.0")
    assert modules.upload(made, {"main.tf": "# one"}).status == 200
    registry.source("network", "1.0.0")
    assert modules.upload(made, {"main.tf": "# two"}).status == 409
    assert registry.fetch("network", "1.0.0").body == tar_gz({"main.tf": "# one"})


def test_a_deleted_version_is_gone_with_its_addresses(modules, registry):
    modules.publish("network", "1.0.0")
    modules.publish("network", "1.1.0")
    source = registry.source("network", "1.0.0")
    modules.api.delete(modules.path("network", "1.0.0"))
    assert registry.versions("network") == ["1.1.0"]
    assert Api(registry.api.url, None).call("GET", source).status == 404


def test_deprecated_versions_say_so_and_revoked_ones_are_neither_listed_nor_downloaded(modules, registry):
    for version in ("1.0.0", "1.1.0"):
        modules.publish("network", version)

    def mark(**attributes):
        modules.api.patch(modules.path("network", "1.1.0"), document("module-versions", attributes))

    def deprecations():
        return {item["version"]: item["deprecation"] for item in registry.ask("network", "null", "versions").json["modules"][0]["versions"]}

    source = registry.source("network", "1.1.0")
    mark(deprecation={"deprecated-status": "Deprecated", "reason": "Use 1.0.0.", "link": "https://example.com"})
    assert deprecations() == {"1.1.0": {"reason": "Use 1.0.0.", "link": "https://example.com"}, "1.0.0": None}
    assert registry.ask("network", "null", "1.1.0").json["deprecation"]["reason"] == "Use 1.0.0."
    assert registry.fetch("network", "1.1.0").status == 200
    mark(revocation={"status": "Revoked", "message": "It deletes data."})
    assert deprecations() == {"1.0.0": None} and registry.ask("network", "null").json["version"] == "1.0.0"
    refused = registry.ask("network", "null", "1.1.0", "download")
    assert refused.status == 403 and "It deletes data." in refused.errors()
    assert Api(registry.api.url, None).call("GET", source).status == 404
    mark(revocation={"status": "Unrevoked"})
    assert registry.fetch("network", "1.1.0").status == 200


# ---- organizations ----


def every_answer(registry):
    return [(answer.status, answer.body) for answer in (registry.ask(), registry.ask("network"), registry.ask("network", "null"), registry.ask("network", "null", "versions"),
                                                        registry.ask("network", "null", "1.0.0"), registry.ask("network", "null", "1.0.0", "download"), registry.ask("network", "null", "download"))]


def test_other_organizations_get_the_answer_for_a_missing_module(api_site):
    owner, other = api_site.stranger(), api_site.stranger()
    Modules(owner).publish("network", "1.0.0")
    found, missing = every_answer(Registry(other.url, other.token, owner.organization)), every_answer(Registry(other.url, other.token, "nobody"))
    assert found == missing and {status for status, _ in found} == {404}
    assert every_answer(Registry(other.url, other.token, other.organization)) != missing  # its own namespace has an empty list
    assert {status for status, _ in every_answer(Registry(owner.url, "nonsense", owner.organization))} == {401}
    assert other.call("GET", Modules(owner).path("network")).status == 404
    foreign = f"organizations/{other.organization}/registry-modules/private/{owner.organization}/network/null"
    assert other.call("GET", foreign).status == 404 and other.call("GET", f"registry-modules/{Modules(owner).read('network')['id']}").status == 404


@pytest.mark.parametrize("how", ("consumers", "everybody"))
def test_an_organization_shares_its_modules(api_site, how):
    admin = Api(api_site.scheduler.url, api_site.tokens["token"])
    owner, consumer, other = api_site.stranger(), api_site.stranger(), api_site.stranger()
    Modules(owner).publish("network", "1.0.0")
    failed = Modules(owner).version("network", "1.1.0", **{"commit-sha": "a" * 40})
    api_site.change("update registry_module_versions set status = 'clone_failed', error = 'git.internal did not answer' where id = %s", failed["id"])
    theirs = Registry(consumer.url, consumer.token, owner.organization)
    assert theirs.ask("network", "null", "versions").status == 404

    def share(shared):
        if how == "everybody":
            admin.patch(f"admin/organizations/{owner.organization}", document("organizations", {"global-module-sharing": shared}))
        else:
            admin.patch(f"admin/organizations/{owner.organization}/relationships/module-consumers", {"data": [{"type": "organizations", "id": consumer.organization}] if shared else []})

    share(True)
    assert theirs.versions("network") == ["1.0.0"] and theirs.fetch("network", "1.0.0").status == 200
    assert [module["name"] for module in theirs.ask().json["modules"]] == ["network"]
    assert Registry(other.url, other.token, owner.organization).ask("network", "null", "versions").status == (200 if how == "everybody" else 404)
    seen = Modules(consumer)
    assert seen.names() == ["network"] and seen.names(**{"filter[organization_name]": owner.organization}) == ["network"]
    path = f"{seen.base}/private/{owner.organization}/network/null"
    shown = consumer.get(path).data
    assert shown["attributes"]["namespace"] == owner.organization and not shown["attributes"]["permissions"]["can-delete"]
    assert consumer.get(f"registry-modules/{shown['id']}").data == shown
    version = consumer.get(f"{path}/version", module_version="1.1.0").data["attributes"]
    assert [version[name] for name in ("status", "error", "commit-sha", "tag")] == ["clone_failed", None, None, None]
    assert "git.internal" not in json.dumps(shown) and "git.internal" in json.dumps(Modules(owner).read("network"))
    for method, target, body in (("DELETE", path, None), ("DELETE", f"{path}/1.0.0", None), ("POST", f"{path}/versions", document("registry-module-versions", {"version": "2.0.0"})),
                                 ("DELETE", path.rpartition("/")[0], None)):
        assert consumer.call(method, target, body).status == 404
    admin.patch(f"admin/organizations/{owner.organization}", document("organizations", {"is-disabled": True}))
    assert theirs.ask("network", "null", "versions").status == 404 and seen.names() == []
    admin.patch(f"admin/organizations/{owner.organization}", document("organizations", {"is-disabled": False}))
    share(False)
    assert theirs.ask("network", "null", "versions").status == 404 and seen.names() == []
    assert consumer.call("GET", f"registry-modules/{shown['id']}").status == 404


def test_tokens_of_teams_and_organizations_find_modules(org, modules, api_site):
    people = People(org, api_site.database)
    modules.publish("network", "1.0.0")
    team = people.team("readers")
    tokens = (org.post(f"teams/{team}/authentication-token").data["attributes"]["token"], org.post(f"organizations/{org.organization}/authentication-token").data["attributes"]["token"],
              people.member("reader", team).token)
    for token in tokens:
        assert Registry(org.url, token, org.organization).fetch("network", "1.0.0").status == 200


def test_the_token_of_a_run_finds_modules_of_its_organization_until_the_attempt_ends(api_site):
    admin = Api(api_site.scheduler.url, api_site.tokens["token"])
    owner, other = api_site.stranger(), api_site.stranger()
    Modules(owner).publish("network", "1.0.0")

    def job(api):
        pool, token = api.pool()
        worker = api_site.fake_worker(token)
        workspace = api.workspace(execution_mode="agent", agent_pool_id=pool)
        return worker, worker.take(api.run_files(workspace, {"main.tf": ""}), "plan")

    (worker, own), (_, foreign) = job(owner), job(other)
    registry = Registry(owner.url, own["run-token"], owner.organization)
    assert registry.versions("network") == ["1.0.0"] and registry.fetch("network", "1.0.0").status == 200
    assert registry.ask().status == 404
    stranger = Registry(owner.url, foreign["run-token"], owner.organization)
    assert every_answer(stranger) == every_answer(Registry(owner.url, foreign["run-token"], "nobody")) and stranger.ask("network", "null", "versions").status == 404
    admin.patch(f"admin/organizations/{owner.organization}/relationships/module-consumers", {"data": [{"type": "organizations", "id": other.organization}]})
    assert stranger.versions("network") == ["1.0.0"]
    worker.result(own, "passed")
    assert registry.ask("network", "null", "versions").status == 401
