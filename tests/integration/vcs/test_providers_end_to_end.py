# SPDX-License-Identifier: MPL-2.0
"""From the delivery to the run and back to the provider: a real scheduler and notifier, fakes of the providers, and workers in memory."""

import pytest

from support.at_once import at_once
from support.vcs_fakes import Azure, BitbucketCloud, BitbucketServer, GitHub
from support.vcs_fakes.repository import ZERO
from support.wait import until

OPENED = {BitbucketCloud: "created", BitbucketServer: "opened", Azure: "created"}


class Whole:
    """A workspace that follows main of a repository whose hook is at the provider."""

    def __init__(self, api_site, watched, view):
        self.site, self.watched, self.repository, self.view = api_site, watched, watched.repository, view
        self.context = f"Runyard/{watched.org.organization}"

    def connect(self, **attributes):
        self.workspace = self.watched.workspace("connected", queue_all_runs=True, **attributes)
        until(lambda: self.repository.hooks and not self.site.ask("select 1 from vcs_calls where repository_id = %s and purpose in ('hook', 'lookup', 'pulls')", self.watched.id),
              "the hook is made")
        until(lambda: self.site.ask("select 1 from vcs_repositories where id = %s and looked_at is not null", self.watched.id), "the first look is done")
        return self

    def commit(self, path, word, branch="main", lost=False, force=False):
        """A commit on a branch that starts at main: the shas before and after."""
        copy, before = self.repository.copy, self.repository.sha(branch)
        if branch != "main":
            copy.git("checkout", "--quiet", "-B", branch, "origin/main")
        copy.commit({path: f"# {word}"}, word)
        if lost:
            self.view.lost.add(copy.git("rev-parse", "HEAD"))
        copy.git("push", "--quiet", *(["--force"] if force else []), "origin", f"HEAD:{branch}")
        return before or ZERO, self.repository.sha(branch)

    def push(self, *words, **options):
        """A commit on main and its delivery. Returns its sha."""
        before, after = self.commit(*words, **options)
        self.deliver(*self.watched.fake.push(self.repository, "refs/heads/main", before, after))
        return after

    def deliver(self, event, document):
        codes = self.repository.deliver(event, document)
        assert codes and set(codes) == {204}, codes

    def run(self, sha):
        def found():
            return self.site.ask("select r.id, r.plan_only from runs r join run_inputs i on i.run_id = r.id join configuration_commits k "
                                 "on k.configuration_version_id = i.configuration_version_id where r.workspace_id = %s and k.sha = %s", self.workspace, sha)

        (made,) = until(found, lambda: f"{sha} has a run: {self.outcomes()}")
        return made

    def outcomes(self):
        """(kind, sha, reason, the event's message) of all events, the oldest first."""
        return self.site.ask("select e.kind, e.sha, o.reason, e.message from vcs_events e left join vcs_outcomes o on o.event_id = e.id where e.repository_id = %s order by e.sequence",
                             self.watched.id)

    def outcome(self, kind, sha):
        """Waits for the reason of the newest event of that kind and commit."""
        def found():
            return [reason for its, commit, reason, _ in self.outcomes() if (its, commit) == (kind, sha) and reason][-1:]

        return until(found, lambda: f"{kind} {sha}: {self.outcomes()}")[0]

    def states(self, sha):
        return [each["state"] for each in self.repository.statuses if each["context"] == self.context and each["sha"] == sha]


@pytest.fixture
def whole(api_site, watch_with_git, notifier, git):
    """whole(GitHub) is a new repository. A notifier runs."""
    def make(kind):
        watched = watch_with_git(kind)
        return Whole(api_site, watched, git.repositories[watched.identifier])

    notifier()
    return make


def push_pull_request_and_fork(one, opened, worker):
    sha = one.push("main.tf", "pushed")
    run, plan_only = one.run(sha)
    assert not plan_only
    until(lambda: one.states(sha), "its status is there")
    one.watched.org.call("POST", f"runs/{run}/actions/cancel")
    _, head = one.commit("main.tf", "topic", branch="topic")
    pull = one.repository.pull("topic")
    one.deliver(*one.watched.fake.pull_event(pull, opened))
    run, plan_only = one.run(head)
    assert plan_only
    until(lambda: one.site.ask("select status from runs where id = %s", run) == [("plan_queued",)], "its files were fetched")
    worker.plan(run)
    until(lambda: any("+1 ~0 -0" in each["text"] for each in pull.comments), "its comment shows the plan")
    one.watched.quiet()
    assert len(pull.comments) == 1 and one.states(head)[-1].lower().startswith("succe")
    fork = one.watched.fake.repository(f"{one.watched.identifier}-fork", fork_of=one.repository)
    fork.copy.commit({"main.tf": "# theirs"}, "theirs")
    fork.copy.git("push", "--quiet", "origin", "HEAD:refs/heads/theirs")
    theirs = one.repository.pull("theirs", source=fork)
    one.deliver(*one.watched.fake.pull_event(theirs, opened))
    assert one.outcome("pr_open", theirs.head) == "fork"
    one.watched.quiet()
    assert not theirs.comments


def test_push_pull_request_and_fork(whole, api_site):
    worker = api_site.fake_worker()
    at_once(lambda kind: push_pull_request_and_fork(whole(kind).connect(), OPENED[kind], worker), OPENED)


def test_the_provider_tells_the_changed_files_if_git_cannot(whole):
    one = whole(GitHub).connect(trigger_patterns=["/modules/**"])
    sha = one.push("README.md", "no module", lost=True)
    assert one.outcome("push", sha) == "path"
    assert one.watched.fake.calls("GET", "/compare/")
    sha = one.push("modules/a.tf", "a module", lost=True)
    assert one.outcome("push", sha) == "started"
    # The provider's list lacks the files of commits that a forced push removed, so it is not used.
    before = one.repository.sha("main")
    one.repository.copy.git("reset", "--quiet", "--hard", "HEAD~1")
    _, sha = one.commit("README.md", "forced", lost=True, force=True)
    one.deliver(*one.watched.fake.push(one.repository, "refs/heads/main", before, sha, forced=True))
    assert one.outcome("push", sha) == "files_unknown"
    one.watched.fake.fault("GET", "/compare/", 404)
    sha = one.push("README.md", "no answer", lost=True)
    assert one.outcome("push", sha) == "files_unknown"
    ((note,),) = one.site.ask("select files_note from vcs_events where repository_id = %s and sha = %s", one.watched.id, sha)
    assert "no such commit" in note and "404" in note


def test_statuses_arrive_late_over_limits_and_none_is_lost(whole):
    """Of four commits whose runs end while the provider refuses: each gets its newest status after the pause."""
    one = whole(GitHub).connect()
    fake = one.watched.fake
    fake.fault("POST", "/statuses/", *[fake.limited_secondary(4)] * 2)
    shas = [one.push("main.tf", f"number {number}") for number in range(4)]
    runs = [one.run(sha)[0] for sha in shas]
    until(lambda: fake.calls("POST", "/statuses/"), "the first try")
    for run in runs:
        one.watched.org.call("POST", f"runs/{run}/actions/cancel")
    until(lambda: all(one.states(sha) for sha in shas), lambda: f"each commit has a status: {[one.states(sha) for sha in shas]}")
    one.watched.quiet()
    calls = fake.calls("POST", "/statuses/")
    refused = [each.at for each in calls if each.status == 403]
    # One second is left for calls that the notifier had claimed before the refusal.
    assert len(refused) == 2 and not [each for each in calls if refused[-1] + 1 < each.at < refused[-1] + 4]
    for sha, run in zip(shas, runs):
        assert one.site.ask("select status from runs where id = %s", run) == [("canceled",)]
        assert one.states(sha) in (["failure"], ["pending", "failure"]), "the newest, and nothing twice"
