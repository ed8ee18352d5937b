# SPDX-License-Identifier: MPL-2.0
"""Tests of a module for each commit of its branch: which commits start them, and what the repository is told."""

import pytest

from support.documents import document
from support.modules import TYPE, ModuleTests, Modules
from support.vcs_events import Watched
from support.vcs_fakes import GitHub
from support.vcs_fakes.repository import GitView
from support.wait import until

NAME = "acme/terraform-null-network"


class Commits:
    """A module of a fake provider's branch, whose hook is there, and a worker without an engine."""

    def __init__(self, api_site, fake, git, notifier):
        self.site = api_site
        self.watched = Watched(api_site, api_site.organization(), fake, NAME)
        self.org, self.repository, self.modules = self.watched.org, self.watched.repository, Modules(self.watched.org)
        git.repositories[NAME] = GitView(self.repository)
        notifier()
        repo = {"identifier": NAME, "oauth-token-id": self.watched.token, "branch": "main", "tags": False}
        self.org.post(f"{self.modules.base}/vcs", document(TYPE, {"vcs-repo": repo}))
        until(lambda: self.repository.hooks, "the hook is made")
        self.tests = ModuleTests(self.modules, "network")
        self.worker = api_site.fake_worker(capabilities=["terraform 1.11.4", "test", "identity"])

    def change(self, tested, **repo):
        attributes = {"test-config": {"tests-enabled": tested}, **({"vcs-repo": repo} if repo else {})}
        return self.org.patch(self.modules.path("network"), document(TYPE, attributes)).data["attributes"]

    def push(self, word, branch="main"):
        """Commits to the branch, and delivers the event. Returns the commit's sha once the event is done."""
        before = self.repository.sha("main")
        self.repository.copy.commit({"main.tf": f"# {word}"}, word)
        self.repository.copy.git("push", "--quiet", "origin", f"HEAD:{branch}")
        sha = self.repository.copy.git("rev-parse", "HEAD").strip()
        assert self.repository.deliver(*self.watched.fake.push(self.repository, f"refs/heads/{branch}", before, sha)) == [204]
        until(lambda: self.site.ask("select 1 from vcs_events where sha = %s and state = 'done'", sha), "the event is done")
        return sha

    def runs(self):
        return self.org.get(self.tests.path("test-runs")).data

    def take(self, run):
        """The job of the test run, once its commit is fetched."""
        id = run["id"].replace("trun-", "run-")
        until(lambda: self.site.ask("select status from runs where id = %s", id) == [("plan_queued",)], "the commit is fetched")
        return self.worker.take(id, "plan")

    def outcomes(self, sha):
        ((event,),) = self.site.ask("select id from vcs_events where sha = %s and kind = 'push'", sha)
        return self.org.attributes(f"vcs-events/{event}")["outcomes"]

    def statuses(self, sha):
        return [(each["state"], each["description"]) for each in self.repository.statuses if each["sha"] == sha]


@pytest.fixture
def tested(api_site, provider, git, notifier):
    return Commits(api_site, provider(GitHub), git, notifier)


def test_each_commit_is_tested_and_the_repository_told(tested):
    tested.push("not tested")
    assert tested.runs() == []
    assert tested.change(True)["test-config"]["tests-enabled"]
    sha = tested.push("tested")
    (run,) = tested.runs()
    assert run["attributes"]["message"] == "tested" and run["attributes"]["test-directory"] == "tests"
    (outcome,) = tested.outcomes(sha)
    assert (outcome["subject-id"], outcome["name"], outcome["run-id"]) == (tested.tests.module, "network/null", run["id"])
    job = tested.take(run)
    assert job["test"]["test-directory"] == "tests" and job["workspace"]["name"] == "network-null"
    tested.worker.end(job, additions=1, changes=1)
    until(lambda: ("failure", "The plan failed: tests of network/null") in tested.statuses(sha), lambda: f"the failure is told: {tested.statuses(sha)}")
    sha = tested.push("mended")
    tested.worker.end(tested.take(tested.runs()[0]), additions=2)
    until(lambda: ("success", "The plan passed: tests of network/null") in tested.statuses(sha), lambda: f"the success is told: {tested.statuses(sha)}")
    assert [each["attributes"]["test-status"] for each in tested.runs()] == ["pass", "fail"]
    assert tested.org.get(f"organizations/{tested.org.organization}/workspaces").data == []


def test_other_branches_and_modules_whose_commits_are_not_tested_start_nothing(tested):
    tested.change(True)
    (outcome,) = tested.outcomes(tested.push("elsewhere", branch="other"))
    assert outcome["reason"] == "branch" and tested.runs() == []
    tested.change(True, branch="other")
    tested.push("another", branch="other")
    assert [run["attributes"]["message"] for run in tested.runs()] == ["another"]
    assert not tested.change(False)["test-config"]["tests-enabled"]
    assert tested.outcomes(tested.push("no longer", branch="other")) == [] and len(tested.runs()) == 1


def test_a_module_that_is_a_folder_is_tested_as_its_versions_are(tested):
    """The files of its folder alone are the configuration of the test run."""
    changed = tested.change(True, **{"source-directory": "modules/a"})
    assert changed["vcs-repo"]["source-directory"] == "modules/a" and changed["vcs-repo"]["branch"] == "main"
    tested.repository.copy.commit({"modules/a/main.tf": "# a"}, "a folder")
    sha = tested.push("with a folder")
    (run,) = tested.runs()
    assert tested.take(run)["test"]["test-directory"] == "tests"
    assert tested.site.ask("select directory, state from vcs_contents where sha = %s", sha) == [("modules/a", "stored")]


def test_a_module_that_publishes_tags_again_tests_no_commit(tested):
    tested.change(True)
    answer = tested.org.patch(tested.modules.path("network"), document(TYPE, {"vcs-repo": {"branch": "", "tags": True}}))
    assert not answer.data["attributes"]["test-config"]["tests-enabled"]
    assert tested.outcomes(tested.push("no longer")) == [] and tested.runs() == []
