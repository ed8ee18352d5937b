# SPDX-License-Identifier: MPL-2.0
"""Modules published from the tags of a real repository: git, a worker's fetch, and terraform's installation."""

import hashlib
import io
import json
import tarfile

import pytest

from support.documents import document, refused_at
from support.modules import OUTPUT, TYPE, VERSION, ModuleTests, Modules
from support.terraform import HOST
from support.vcs_connections import connect
from support.wait import until


class Published:
    """A module and its repository."""

    def __init__(self, stack, http, name):
        self.stack, self.api, self.name = stack, stack.api, name
        self.modules = Modules(stack.api)
        self.repository = http.repository(f"acme/terraform-null-{name}")
        _, self.token = connect(stack.api, {"service-provider": "git", "http-url": http.url, "key": http.user, "oauth-token-string": http.password})

    def tag(self, name, word, force=False):
        """Commits the files and tags the commit. Returns its sha."""
        sha = self.repository.commit({"main.tf": OUTPUT % word, "modules/inner/main.tf": OUTPUT % f"inner {word}"})
        self.repository.git("tag", *(["-f"] if force else []), name)
        self.repository.push(f"refs/tags/{name}")
        return sha

    def connect(self, attributes={}, **more):
        repo = {"identifier": f"{self.repository.name}.git", "oauth-token-id": self.token, **more}
        return self.api.call("POST", f"{self.modules.base}/vcs", document(TYPE, {"vcs-repo": repo, **attributes}))

    def commit(self, word):
        return self.repository.commit({"main.tf": OUTPUT % word})

    def request(self, version, **attributes):
        return self.api.call("POST", self.modules.path(self.name, "versions"), document(VERSION, {"version": version, **attributes}))

    def update(self, **repo):
        return self.api.call("PATCH", self.modules.path(self.name), document(TYPE, {"vcs-repo": repo}))

    def content(self, version):
        """The files of a version that engines download."""
        path = f"{self.api.url}/api/registry/v1/modules/acme/{self.name}/null/{version}/download"
        with tarfile.open(fileobj=io.BytesIO(self.api.call("GET", self.api.call("GET", path).headers["X-Terraform-Get"]).body)) as archive:
            return archive.extractfile("main.tf").read().decode()

    def look(self):
        """Looks at the repository now. Returns once the look and everything after it is done."""
        self.stack.ask("update vcs_repositories set look_due = now(), looked_at = '2000-01-01' where identifier = %s", f"{self.repository.name}.git")
        self.stack.ask("select pg_notify('runyard_vcs', '')")
        until(lambda: self.stack.ask("select 1 from vcs_repositories where identifier = %s and looked_at > '2000-01-02'", f"{self.repository.name}.git"), "the look is done")
        until(lambda: self.stack.ask("select (select count(*) from registry_modules where tags_due), (select count(*) from git_jobs)") == [(0, 0)], "the tags were looked at")

    def versions(self):
        return {item["version"]: item["status"] for item in self.modules.read(self.name)["attributes"]["version-statuses"]}

    def wait(self, expected):
        until(lambda: self.versions() == expected, lambda: f"{expected}: {self.modules.read(self.name)['attributes']}")


@pytest.fixture
def published(stack, http, request):
    return Published(stack, http, request.node.name.removeprefix("test_").replace("_", "-"))


def test_tags_become_versions_that_init_installs(published, terraform):
    first = published.tag("v1.0.0", "one")
    published.tag("1.1.0-rc.1", "two")
    for name in ("latest", "v1", "v01.0.0", "release-1.0.0"):
        published.tag(name, "no version")
    made = published.connect()
    assert made.status == 201, made.text
    shown = made.data["attributes"]
    assert (shown["name"], shown["provider"], shown["publishing-mechanism"], shown["status"]) == (published.name, "null", "git_tag", "pending")
    assert shown["vcs-repo"]["identifier"] == f"{published.repository.name}.git" and shown["vcs-repo"]["oauth-token-id"] == published.token
    published.wait({"1.1.0-rc.1": "ok", "1.0.0": "ok"})
    assert published.modules.read(published.name)["attributes"]["status"] == "setup_complete"
    version = published.modules.read(published.name, "1.0.0")
    assert (version["attributes"]["commit-sha"], version["attributes"]["tag"], version["attributes"]["error"]) == (first, "v1.0.0", None) and version["links"]["upload"] is None
    path = f"{published.api.url}/api/registry/v1/modules/acme/{published.name}/null/1.0.0/download"
    content = published.api.call("GET", published.api.call("GET", path).headers["X-Terraform-Get"]).body
    assert version["attributes"]["sha256"] == hashlib.sha256(content).hexdigest()
    user = terraform(body=f'module "used" {{\n  source  = "{HOST}/acme/{published.name}/null//modules/inner"\n  version = "~> 1.0"\n}}\noutput "word" {{\n  value = module.used.word\n}}\n')
    user.init()
    user.pipe("apply", "-auto-approve")
    assert json.loads(user.pipe("output", "-json"))["word"]["value"] == "inner one"
    refused = published.api.call("POST", published.modules.path(published.name, "versions"), document("registry-module-versions", {"version": "9.0.0"}))
    assert refused.status == 422


def test_new_tags_are_found_moved_ones_are_refused_and_deleted_ones_stay(published):
    first = published.tag("v1.0.0", "one")
    assert published.connect().status == 201
    published.wait({"1.0.0": "ok"})
    digest = published.modules.read(published.name, "1.0.0")["attributes"]["sha256"]
    published.tag("v1.1.0", "two")
    published.look()
    published.wait({"1.1.0": "ok", "1.0.0": "ok"})
    moved = published.tag("v1.0.0", "another one", force=True)
    published.repository.push(":refs/tags/v1.1.0")
    published.look()
    version = published.modules.read(published.name, "1.0.0")["attributes"]
    assert (version["status"], version["commit-sha"], version["sha256"]) == ("ok", first, digest)
    assert f"The tag v1.0.0 was moved to the commit {moved[:12]}" in version["error"]
    assert [item["error"] for item in published.modules.read(published.name)["attributes"]["version-statuses"]] == ["", version["error"]]
    assert published.versions() == {"1.1.0": "ok", "1.0.0": "ok"}
    published.repository.git("tag", "-f", "v1.0.0", first)
    published.repository.push("refs/tags/v1.0.0")
    published.look()
    assert published.modules.read(published.name, "1.0.0")["attributes"]["error"] is None


def test_a_deleted_version_does_not_come_back(published):
    published.tag("v1.0.0", "one")
    published.tag("v1.1.0", "two")
    assert published.connect().status == 201
    published.wait({"1.1.0": "ok", "1.0.0": "ok"})
    published.api.delete(published.modules.path(published.name, "1.0.0"))
    published.tag("v1.2.0", "three")
    published.look()
    published.wait({"1.2.0": "ok", "1.1.0": "ok"})


def test_a_repository_without_version_tags_says_so(published):
    published.tag("latest", "no version")
    assert published.connect().status == 201
    until(lambda: published.modules.read(published.name)["attributes"]["status"] == "no_version_tags", "the module says that there are no versions")
    published.tag("v0.1.0", "one")
    published.look()
    published.wait({"0.1.0": "ok"})


def test_a_repository_that_is_not_there_says_so(published, http):
    published.repository.name = "acme/terraform-null-absent"
    assert published.connect().status == 201
    until(lambda: published.modules.api.get(f"{published.modules.base}/private/acme/absent/null").data["attributes"]["status"] == "setup_failed", "the setup has failed")


def test_the_connection_is_checked(published):
    published.tag("v1.0.0", "one")
    repo = "/data/attributes/vcs-repo"
    refused_at(published.connect(identifier="acme/network"), f"{repo}/identifier")
    refused_at(published.connect(identifier="acme/terraform-null"), f"{repo}/identifier")
    refused_at(published.connect(identifier="acme/terraform-AWS-network"), f"{repo}/identifier")
    refused_at(published.connect(branch="main", tags=True), f"{repo}/branch")
    refused_at(published.connect(tags=False), f"{repo}/branch")
    refused_at(published.connect(tags="no"), f"{repo}/tags")
    for folder in ("/network", "network/", "a//b", ".", "a/../b", "..", ".git", "a/.GIT", "a\\b", "a\nb", "x" * 513, 7):
        refused_at(published.connect(**{"source-directory": folder}), f"{repo}/source-directory")
    for prefix in ("-app", "app..", "a b", "/", "a//", "a~", "x" * 129, ["a"]):
        refused_at(published.connect(**{"tag-prefix": prefix}), f"{repo}/tag-prefix")
    refused_at(published.connect({"name": "mine"}, identifier="acme/network"), f"{repo}/identifier")
    refused_at(published.connect({"name": "-", "provider": "null"}, identifier="acme/network"), "/data/attributes/name")
    refused_at(published.connect({"name": "mine", "provider": "NULL"}, identifier="acme/network"), "/data/attributes/provider")
    refused_at(published.connect(**{"oauth-token-id": "ot-nonsense"}), f"{repo}/oauth-token-id")
    refused_at(published.connect(**{"oauth-token-id": None}), f"{repo}/oauth-token-id")
    assert published.connect().status == 201
    assert "already been taken" in refused_at(published.connect(), f"{repo}/identifier")
    older = published.api.call("POST", "registry-modules", document(TYPE, {"vcs-repo": {"identifier": "acme/terraform-null-older.git", "oauth-token-id": published.token}}))
    assert older.status == 201 and older.data["attributes"]["name"] == "older"


def test_a_module_outlives_its_connection(published):
    published.tag("v1.0.0", "one")
    assert published.connect().status == 201
    published.wait({"1.0.0": "ok"})
    client = published.api.get(f"oauth-tokens/{published.token}").data["relationships"]["oauth-client"]["data"]["id"]
    published.api.delete(f"oauth-clients/{client}")
    assert published.versions() == {"1.0.0": "ok"} and published.modules.read(published.name)["attributes"]["vcs-repo"] is None


def test_a_branch_has_the_versions_that_users_request(published):
    first = published.commit("one")
    published.repository.push("HEAD:refs/tags/v5.0.0")
    made = published.connect({"initial-version": "1.0.0"}, branch="main", tags=False)
    assert made.status == 201, made.text
    shown = made.data["attributes"]
    assert (shown["publishing-mechanism"], shown["vcs-repo"]["branch"], shown["vcs-repo"]["tags"], shown["status"]) == ("branch", "main", False, "pending")
    published.wait({"1.0.0": "ok"})
    second, third = published.commit("two"), published.commit("three")
    asked = published.request("1.1.0", **{"commit-sha": second})
    assert asked.status == 201 and asked.data["links"]["upload"] is None and asked.data["attributes"]["commit-sha"] == second
    published.wait({"1.1.0": "ok", "1.0.0": "ok"})
    assert published.request("1.2.0").status == 201
    published.wait({"1.2.0": "ok", "1.1.0": "ok", "1.0.0": "ok"})
    commits = {version: published.modules.read(published.name, version)["attributes"]["commit-sha"] for version in published.versions()}
    assert commits == {"1.0.0": first, "1.1.0": second, "1.2.0": third}
    assert [published.content(version) for version in ("1.0.0", "1.1.0", "1.2.0")] == [OUTPUT % word for word in ("one", "two", "three")]
    published.commit("four")
    published.look()
    assert set(published.versions()) == {"1.0.0", "1.1.0", "1.2.0"}


def test_a_module_changes_between_tags_and_a_branch(published):
    published.tag("v1.0.0", "one")
    assert published.connect().data["attributes"]["vcs-repo"]["tags"]
    published.wait({"1.0.0": "ok"})
    repo = "/data/attributes/vcs-repo"
    refused_at(published.request("9.0.0"), "/data")
    refused_at(published.update(branch="main", tags=True), f"{repo}/branch")
    refused_at(published.update(branch="a..b"), f"{repo}/branch")
    refused_at(published.update(tags=False), f"{repo}/branch")
    shown = published.update(branch="main").data["attributes"]
    assert (shown["publishing-mechanism"], shown["vcs-repo"]["branch"], shown["vcs-repo"]["tags"]) == ("branch", "main", False)
    published.tag("v1.1.0", "two")
    published.look()
    assert published.request("2.0.0").status == 201
    published.wait({"2.0.0": "ok", "1.0.0": "ok"})
    shown = published.update(branch="", tags=True).data["attributes"]
    assert (shown["publishing-mechanism"], shown["vcs-repo"]["branch"], shown["vcs-repo"]["tags"]) == ("git_tag", "", True)
    published.wait({"2.0.0": "ok", "1.1.0": "ok", "1.0.0": "ok"})
    assert published.update().status == 200
    published.modules.create("uploaded")
    answer = published.api.call("PATCH", published.modules.path("uploaded"), document(TYPE, {"vcs-repo": {"branch": "main"}}))
    refused_at(answer, repo)


def test_a_version_needs_a_branch_and_a_commit_that_are_there(published):
    published.commit("one")
    refused_at(published.connect({"initial-version": "one"}, branch="main"), "/data/attributes/initial-version")
    assert published.connect(branch="absent").status == 201
    published.wait({"0.0.0": "clone_failed"})
    assert published.modules.read(published.name, "0.0.0")["attributes"]["error"] == "The repository has no branch absent."
    refused_at(published.request("1.0.0", **{"commit-sha": "abc"}), "/data/attributes/commit-sha")
    refused_at(published.request("x"), "/data/attributes/version")
    refused_at(published.request("0.0.0"), "/data/attributes/version")
    assert published.request("1.0.0", **{"commit-sha": "a" * 40}).status == 201
    published.wait({"1.0.0": "clone_failed", "0.0.0": "clone_failed"})
    assert published.modules.read(published.name)["attributes"]["status"] == "setup_failed"


def test_each_commit_of_a_branch_is_tested(published):
    tests = {"main.tf": OUTPUT % "one", "tests/a.tftest.hcl": 'run "a" {\n  assert {\n    condition = output.word == "one"\n    error_message = "wrong word"\n  }\n}\n'}
    published.repository.commit(tests)
    assert published.connect({"initial-version": "1.0.0"}, branch="main", tags=False).status == 201
    published.wait({"1.0.0": "ok"})
    runs = ModuleTests(published.modules, published.name)
    assert published.api.patch(published.modules.path(published.name), document(TYPE, {"test-config": {"tests-enabled": True}})).data["attributes"]["test-config"]["tests-enabled"]

    def results():
        return [(run["attributes"]["status"], run["attributes"]["test-status"]) for run in published.api.get(runs.path("test-runs")).data]

    for word, expected in (("two", [("finished", "fail")]), ("one", [("finished", "pass"), ("finished", "fail")])):
        published.repository.commit({"main.tf": OUTPUT % word, "note": f"{word} again"})
        published.look()
        until(lambda: results() == expected, lambda: f"the commit is tested: {results()}")


def test_a_folder_of_a_repository_is_a_module_that_init_installs(published, terraform):
    """Of the tags with its prefix, and of a branch whose commits are tested."""
    published.tag("inner-v1.0.0", "one")
    published.tag("v2.0.0", "two")
    made = published.connect({"name": published.name, "provider": "null"}, **{"source-directory": "modules/inner", "tag-prefix": "inner-"})
    assert made.status == 201, made.text
    published.wait({"1.0.0": "ok"})
    assert published.content("1.0.0") == OUTPUT % "inner one"
    user = terraform(body=f'module "used" {{\n  source  = "{HOST}/acme/{published.name}/null"\n  version = "~> 1.0"\n}}\noutput "word" {{\n  value = module.used.word\n}}\n')
    user.init()
    user.pipe("apply", "-auto-approve")
    assert json.loads(user.pipe("output", "-json"))["word"]["value"] == "inner one"
    assert not (user.folder / ".terraform/modules/used/modules").exists()
    published.update(branch="main")
    assert published.api.patch(published.modules.path(published.name), document(TYPE, {"test-config": {"tests-enabled": True}})).data["attributes"]["vcs-repo"]["source-directory"] == "modules/inner"
    published.repository.commit({"modules/inner/tests/a.tftest.hcl": 'run "a" {\n  assert {\n    condition = output.word == "inner two"\n    error_message = "wrong word"\n  }\n}\n'})
    published.look()
    runs = ModuleTests(published.modules, published.name)
    until(lambda: [run["attributes"]["test-status"] for run in published.api.get(runs.path("test-runs")).data] == ["pass"], "the commit is tested")
    assert published.update(**{"source-directory": "modules/absent"}).status == 200
    assert published.request("3.0.0").status == 201
    published.wait({"3.0.0": "clone_failed", "1.0.0": "ok"})
    assert published.modules.read(published.name, "3.0.0")["attributes"]["error"] == "The commit has no folder modules/absent."


def test_a_tag_is_published_after_its_tests_have_passed(published, terraform):
    """A tag without tests, one whose tests fail, and one whose tests pass: `init` finds the last one only, until the failed one is tested again."""
    runs_word = 'variable "word" {\n  default = "%s"\n}\noutput "word" {\n  value = var.word\n}\n'
    asserts = 'run "a" {\n  assert {\n    condition = output.word == "right"\n    error_message = "wrong word"\n  }\n}\n'

    def push(tag, files):
        published.repository.commit(files)
        published.repository.git("tag", tag)
        published.repository.push(f"refs/tags/{tag}")

    push("v1.0.0", {"main.tf": runs_word % "right"})
    assert published.connect({"test-config": {"tests-required": True}}).status == 201
    published.wait({"1.0.0": "reg_ingress_failed"})
    assert "the module requires tests, and has none." in published.modules.read(published.name, "1.0.0")["attributes"]["error"]
    push("v1.1.0", {"main.tf": runs_word % "right", "tests/a.tftest.hcl": asserts})
    published.look()
    published.wait({"1.1.0": "ok", "1.0.0": "reg_ingress_failed"})
    push("v1.2.0", {"main.tf": runs_word % "wrong"})
    published.look()
    published.wait({"1.2.0": "reg_ingress_failed", "1.1.0": "ok", "1.0.0": "reg_ingress_failed"})
    shown = published.modules.read(published.name, "1.2.0")
    run = shown["relationships"]["test-run"]["data"]["id"]
    assert shown["attributes"]["error"] == f"The tests did not pass in the test run {run}: 0 passed, 1 failed, 0 errored."
    user = terraform(body=f'module "used" {{\n  source  = "{HOST}/acme/{published.name}/null"\n  version = "~> 1.0"\n}}\noutput "word" {{\n  value = module.used.word\n}}\n')
    user.init()
    assert '"Version":"1.1.0"' in (user.folder / ".terraform/modules/modules.json").read_text()
    tests = ModuleTests(published.modules, published.name)
    tests.variable("word", "right", "terraform")
    assert published.api.call("POST", published.modules.path(published.name, "1.2.0", "actions", "test")).status == 200
    published.wait({"1.2.0": "ok", "1.1.0": "ok", "1.0.0": "reg_ingress_failed"})
    user.init("-upgrade")
    assert '"Version":"1.2.0"' in (user.folder / ".terraform/modules/modules.json").read_text()
    assert published.content("1.2.0") == runs_word % "wrong"


def test_a_failed_tag_may_be_moved_when_its_version_is_deleted(published):
    published.tag("v1.0.0", "one")
    assert published.connect({"test-config": {"tests-required": True}}).status == 201
    published.wait({"1.0.0": "reg_ingress_failed"})
    mended = published.repository.commit({"tests/a.tftest.hcl": 'run "a" {}\n'})
    published.repository.git("tag", "-f", "v1.0.0")
    published.repository.push("refs/tags/v1.0.0")
    published.look()
    published.tag("v0.9.0", "another version, so that the module stays")
    published.look()
    published.wait({"1.0.0": "reg_ingress_failed", "0.9.0": "ok"})
    published.api.delete(published.modules.path(published.name, "1.0.0"))
    published.wait({"1.0.0": "ok", "0.9.0": "ok"})
    assert published.modules.read(published.name, "1.0.0")["attributes"]["commit-sha"] == mended
