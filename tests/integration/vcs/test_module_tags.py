# SPDX-License-Identifier: MPL-2.0
"""Tags of a provider's repository: its webhook makes a version of a module, and a failed fetch is shown."""

import io
import tarfile

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


class Folders:
    """Modules of a GitHub repository, each of a folder and with a prefix of its tags."""

    NAMES = ("network", "dns")

    def __init__(self, api_site, fake, git, notifier):
        self.site, self.git = api_site, git
        self.watched = Watched(api_site, api_site.organization(), fake, "acme/modules")
        self.repository, self.modules = self.watched.repository, Modules(self.watched.org)
        git.repositories[self.watched.identifier] = GitView(self.repository)
        notifier()
        self.made = [self.create(name, {"source-directory": f"modules/{name}", "tag-prefix": f"{name}-"}) for name in self.NAMES]
        until(lambda: self.repository.hooks, "the hook is made")
        until(lambda: all(self.read(name)["status"] == "no_version_tags" for name in self.NAMES), "the first look is done")

    def create(self, name, repo):
        repo = {"identifier": self.watched.identifier, "oauth-token-id": self.watched.token, **repo}
        return self.modules.api.post(f"{self.modules.base}/vcs", document(TYPE, {"name": name, "provider": "null", "vcs-repo": repo})).data["attributes"]

    def read(self, name, version=None):
        return self.modules.read(name, version)["attributes"]

    def versions(self, name):
        return {item["version"]: item["status"] for item in self.read(name)["version-statuses"]}

    def wait(self, name, expected):
        until(lambda: self.versions(name) == expected, lambda: f"{expected}: {self.read(name)}")

    def tag(self, name, word):
        """A tag of a new commit, which changes all folders. Its event is delivered, and done."""
        copy = self.repository.copy
        copy.commit({"main.tf": f"# root {word}", **{f"modules/{each}/{each}.tf": f"# {each} {word}" for each in self.NAMES}}, word)
        copy.git("tag", name)
        copy.git("push", "--quiet", "origin", "HEAD:main", name)
        sha = self.repository.sha("main")
        assert set(self.repository.deliver(*self.watched.fake.push(self.repository, f"refs/tags/{name}", ZERO, sha))) == {204}
        until(lambda: self.site.ask("select 1 from vcs_events where ref = %s and state = 'done'", f"refs/tags/{name}"), "the event is done")
        until(lambda: not self.site.ask("select 1 from registry_modules where tags_due"), "the modules have looked")
        return sha

    def files(self, name, version):
        api = self.modules.api
        path = f"{api.url}/api/registry/v1/modules/{api.organization}/{name}/null/{version}/download"
        with tarfile.open(fileobj=io.BytesIO(api.call("GET", api.call("GET", path).headers["X-Terraform-Get"]).body)) as archive:
            return {file.name: archive.extractfile(file).read().decode() for file in archive if file.isfile()}


@pytest.fixture
def folders(api_site, provider, git, notifier):
    return Folders(api_site, provider(GitHub), git, notifier)


def test_modules_of_one_repository_have_their_own_tags_and_folders(folders):
    assert [(each["name"], each["vcs-repo"]["source-directory"], each["vcs-repo"]["tag-prefix"]) for each in folders.made] == [("network", "modules/network", "network-"), ("dns", "modules/dns", "dns-")]
    sha = folders.tag("network-v1.0.0", "one")
    folders.wait("network", {"1.0.0": "ok"})
    assert folders.versions("dns") == {} and len(folders.repository.hooks) == 1
    assert (folders.read("network", "1.0.0")["commit-sha"], folders.read("network", "1.0.0")["tag"]) == (sha, "network-v1.0.0")
    assert folders.files("network", "1.0.0") == {"network.tf": "# network one"}
    for other in ("v7.0.0", "7.1.0", "network-7", "xnetwork-7.2.0", "network--7.3.0", "DNS-7.4.0"):
        folders.tag(other, other)
    folders.tag("dns-1.0.0", "two")
    folders.wait("dns", {"1.0.0": "ok"})
    assert folders.versions("network") == {"1.0.0": "ok"} and folders.files("dns", "1.0.0") == {"dns.tf": "# dns two"}
    folders.create("root", {})
    folders.wait("root", {"7.0.0": "ok", "7.1.0": "ok"})
    assert set(folders.files("root", "7.0.0")) == {"main.tf", "modules/network/network.tf", "modules/dns/dns.tf"}


def test_a_commit_of_two_modules_has_the_content_of_each(folders):
    copy = folders.repository.copy
    copy.git("tag", "dns-3.0.0")
    copy.git("push", "--quiet", "origin", "dns-3.0.0")
    sha = folders.tag("network-3.0.0", "three")
    copy.git("tag", "-f", "dns-3.0.1")
    copy.git("push", "--quiet", "origin", "dns-3.0.1")
    assert set(folders.repository.deliver(*folders.watched.fake.push(folders.repository, "refs/tags/dns-3.0.1", ZERO, sha))) == {204}
    until(lambda: folders.versions("dns").get("3.0.1") == "ok", lambda: f"the version is there: {folders.read('dns')}")
    folders.wait("network", {"3.0.0": "ok"})
    assert folders.files("network", "3.0.0") == {"network.tf": "# network three"} and folders.files("dns", "3.0.1") == {"dns.tf": "# dns three"}


def test_the_folder_and_the_prefix_are_changed_for_later_versions(folders):
    folders.tag("network-1.0.0", "one")
    folders.wait("network", {"1.0.0": "ok"})
    path = folders.modules.path("network")
    shown = folders.modules.api.patch(path, document(TYPE, {"vcs-repo": {"source-directory": "modules/dns", "tag-prefix": "v"}})).data["attributes"]["vcs-repo"]
    assert (shown["source-directory"], shown["tag-prefix"], shown["tags"]) == ("modules/dns", "v", True)
    folders.tag("v1.1.0", "two")
    folders.tag("network-1.2.0", "three")
    folders.wait("network", {"1.1.0": "ok", "1.0.0": "ok"})
    assert folders.files("network", "1.0.0") == {"network.tf": "# network one"} and folders.files("network", "1.1.0") == {"dns.tf": "# dns two"}
    shown = folders.modules.api.patch(path, document(TYPE, {"vcs-repo": {"source-directory": None, "tag-prefix": ""}})).data["attributes"]["vcs-repo"]
    assert (shown["source-directory"], shown["tag-prefix"]) == (None, None)


def test_a_worker_of_an_earlier_version_gets_no_folder(folders):
    folders.git.kinds = None
    sha = folders.tag("network-1.0.0", "one")
    until(lambda: folders.site.ask("select error from vcs_contents where sha = %s and directory = 'modules/network'", sha) == [("The worker is of an earlier version: it can't fetch a part of a commit.",)], "the job waits")
    assert folders.versions("network") == {"1.0.0": "cloning"}
    folders.git.kinds = ["fetch", "directory", "diff", "look"]
    folders.site.change("update git_jobs set due_at = now()")
    folders.wait("network", {"1.0.0": "ok"})
