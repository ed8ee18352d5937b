# SPDX-License-Identifier: MPL-2.0
"""Tags of a provider's repository: its webhook makes a version of a module, and a failed fetch is shown."""

import pytest

from support.api import Api
from support.documents import document
from support.modules import TYPE, Modules
from support.vcs_events import Watched
from support.vcs_fakes import GitHub, GitLab
from support.vcs_fakes.repository import ZERO, GitView
from support.wait import until


class Module:
    """A module of a fake provider's repository, whose hook is there."""

    def __init__(self, api_site, fake, git, notifier):
        self.site, self.git = api_site, git
        self.watched = Watched(api_site, api_site.organization(), fake, "acme/terraform-null-network")
        self.repository, self.modules = self.watched.repository, Modules(self.watched.org)
        git.repositories[self.watched.identifier] = GitView(self.repository)
        notifier()
        made = self.modules.api.post(f"{self.modules.base}/vcs", document(TYPE, {"vcs-repo": {"identifier": self.watched.identifier, "oauth-token-id": self.watched.token}}))
        assert made.data["attributes"]["vcs-repo"]["webhook-url"]
        until(lambda: self.repository.hooks, "the hook is made")
        until(lambda: self.read()["status"] == "no_version_tags", "the first look is done")

    def read(self, version=None):
        return self.modules.read("network", version)["attributes"]

    def versions(self):
        return {item["version"]: item["status"] for item in self.read()["version-statuses"]}

    def tag(self, name, deliver=True):
        """Makes a tag of a new commit, and delivers the event."""
        copy = self.repository.copy
        copy.commit({"main.tf": f"# {name}"}, name)
        copy.git("tag", name)
        copy.git("push", "--quiet", "origin", "HEAD:main", name)
        sha = self.repository.sha("main")
        if deliver:
            codes = self.repository.deliver(*self.watched.fake.push(self.repository, f"refs/tags/{name}", ZERO, sha))
            assert codes and set(codes) == {204}, codes
        return sha


@pytest.fixture(params=[GitHub, GitLab])
def module(request, api_site, provider, git, notifier):
    return Module(api_site, provider(request.param), git, notifier)


def test_the_webhook_of_a_tag_makes_a_version(module):
    sha = module.tag("v1.0.0")
    until(lambda: module.versions() == {"1.0.0": "ok"}, lambda: f"the version is there: {module.read()}")
    assert module.read("1.0.0")["commit-sha"] == sha
    module.git.outcomes[module.tag("v1.1.0", deliver=False)] = ("failed", "The commit has a file that can't be read.")
    module.repository.deliver(*module.watched.fake.push(module.repository, "refs/tags/v1.1.0", ZERO, module.repository.sha("main")))
    until(lambda: module.versions() == {"1.0.0": "ok", "1.1.0": "clone_failed"}, lambda: f"the fetch has failed: {module.read()}")
    assert "can't be read" in module.read("1.1.0")["error"]


def test_the_content_of_a_version_outlives_the_files_of_its_commit(module):
    site = module.site
    module.tag("v1.0.0")
    until(lambda: module.versions() == {"1.0.0": "ok"}, "the version is there")
    ((blob, content),) = site.ask("select v.blob_id, v.content_id from registry_module_versions v join registry_modules m on m.id = v.module_id where m.id = %s", module.modules.read("network")["id"])
    until(lambda: site.ask("select state, blob_id from vcs_contents where id = %s", content) == [("absent", None)], "no configuration needs the commit")
    site.change("update loose_blobs set look_at = now() where blob_id = %s", blob)
    until(lambda: not site.ask("select 1 from loose_blobs where blob_id = %s", blob), "the blob was looked at")
    assert site.ask("select count(*) from blobs where id = %s", blob) == [(1,)]
    path = f"{module.modules.api.url}/api/registry/v1/modules/{module.modules.api.organization}/network/null/1.0.0/download"
    assert module.modules.api.call("GET", module.modules.api.call("GET", path).headers["X-Terraform-Get"]).status == 200


def test_an_organization_with_which_a_module_is_shared_does_not_see_its_repository(module):
    admin, consumer = Api(module.site.scheduler.url, module.site.tokens["token"]), module.site.stranger()
    owner = module.modules.api.organization
    admin.patch(f"admin/organizations/{owner}/relationships/module-consumers", {"data": [{"type": "organizations", "id": consumer.organization}]})
    own = module.read()
    shown = consumer.get(f"organizations/{consumer.organization}/registry-modules/private/{owner}/network/null").data["attributes"]
    assert own["vcs-repo"]["oauth-token-id"] == module.watched.token and shown["vcs-repo"] is None
    assert own["publishing-mechanism"] == shown["publishing-mechanism"] == "git_tag"
