# SPDX-License-Identifier: MPL-2.0
"""Polls find pull requests whose webhooks were lost. A real scheduler and notifier, fakes of the providers."""

import pytest

from support.at_once import at_once
from support.vcs_fakes import FAKES, BitbucketCloud, GitHub
from support.wait import until


class Missed:
    """A connected workspace whose repository was looked at once. No webhook arrives."""

    def __init__(self, api_site, watched):
        self.site, self.watched, self.repository = api_site, watched, watched.repository

    def connect(self):
        self.workspace = self.watched.workspace("connected", queue_all_runs=True)
        until(lambda: self.site.ask("select 1 from vcs_pull_reads where repository_id = %s and read_at is not null", self.watched.id), "the first list was read")
        return self

    def branch(self, name, word):
        """A commit on a branch."""
        copy = self.repository.copy
        copy.git("checkout", "--quiet", "-B", name, "origin/main")
        copy.commit({"main.tf": f"# {word}"}, word)
        copy.git("push", "--quiet", "--force", "origin", name)
        return self.repository.sha(name)

    def poll(self):
        """Looks, and reads the pull requests although they were read a moment ago."""
        ((read,),) = self.site.ask("select read_at from vcs_pull_reads where repository_id = %s", self.watched.id)
        self.site.change("update vcs_repositories set look_due = now() where id = %s", self.watched.id)
        self.site.change("update vcs_pull_reads set read_at = read_at - interval '1 hour' where repository_id = %s", self.watched.id)
        self.site.change("select pg_notify('runyard_vcs', '')")
        self.read_after(read)

    def read_after(self, read):
        def left():
            return self.site.ask("select (select read_at <= %s or due_at is not null from vcs_pull_reads where repository_id = v.id), "
                                 "(select count(*) from vcs_calls where repository_id = v.id and purpose in ('pulls', 'commit')), "
                                 "(select count(*) from vcs_events where repository_id = v.id and state in ('waiting', 'looking', 'comparing')), "
                                 "(select count(*) from git_jobs where repository_id = v.id and kind <> 'fetch') from vcs_repositories v where id = %s", read, self.watched.id)[0]

        # A read that is not due at once begins in the thread's next round.
        def done():
            if left() == (False, 0, 0, 0):
                return True
            self.site.change("select pg_notify('runyard_vcs', '')")
            return False

        until(done, lambda: f"the poll is done: {left()}")

    def events(self):
        """(kind, found by) of the events of pull requests, the oldest first."""
        return self.site.ask("select kind, found_by from vcs_events where repository_id = %s and pull_request is not null order by sequence", self.watched.id)

    def plans(self):
        """(sha, status) of the plans of pull requests."""
        return self.site.ask("select k.sha, r.status from runs r join run_inputs i on i.run_id = r.id join configuration_commits k "
                             "on k.configuration_version_id = i.configuration_version_id where r.workspace_id = %s and r.plan_only order by r.position", self.workspace)

    def known(self, number):
        return self.site.ask("select state, detail ->> 'title', detail ->> 'base' from vcs_pull_requests where repository_id = %s and number = %s", self.watched.id, number)[0]


@pytest.fixture
def missed(api_site, watch_with_git, notifier):
    """missed(GitHub) is a new repository. A notifier runs."""
    notifier()
    return lambda kind: Missed(api_site, watch_with_git(kind))


def opened_and_closed(one):
    one.branch("old", "older than the connection")
    old = one.repository.pull("old", title="Old")
    one.connect()
    sha = one.branch("topic", "a change")
    pull = one.repository.pull("topic")
    one.poll()
    assert one.events() == [("pr_open", "poll")], "the older pull request is remembered, and starts nothing"
    assert one.known(old.number) == ("open", "Old", "main")
    assert [each for each, _ in one.plans()] == [sha]
    pull.state = "closed"
    one.poll()
    assert one.events() == [("pr_open", "poll"), ("pr_close", "poll")]
    assert one.plans() == [(sha, "canceled")]
    assert one.site.scheduler.metric("runyard_vcs_found_by_poll_total") >= 2
    assert [one.known(number)[0] for number in (old.number, pull.number)] == ["open", "closed"]


def test_polls_find_pull_requests_that_were_opened_and_closed(missed):
    at_once(lambda kind: opened_and_closed(missed(kind)), FAKES)


def test_polls_find_what_refs_do_not_tell(missed):
    """A draft, its title, ready, another base, closed and opened again, and a fork."""
    one = missed(GitHub)
    one.connect()
    one.branch("release", "for releases")
    sha = one.branch("topic", "a change")
    pull = one.repository.pull("topic", base="release", draft=True)
    one.poll()
    assert one.events() == [("pr_open", "poll")] and one.plans() == [], "the workspace follows main"
    pull.title = "A better title"
    one.poll()
    assert one.known(pull.number) == ("open", "A better title", "release") and len(one.events()) == 1
    pull.draft = False
    one.poll()
    assert one.events()[1:] == [("pr_open", "poll")] and one.plans() == []
    pull.base = "main"
    one.poll()
    assert one.events()[2:] == [("pr_open", "poll")] and [each for each, _ in one.plans()] == [sha]
    pull.state = "closed"
    one.poll()
    pull.state = "open"
    one.poll()
    assert one.events()[3:] == [("pr_close", "poll"), ("pr_open", "poll")]
    assert [each for each, _ in one.plans()] == [sha, sha] and one.plans()[0][1] == "canceled"
    fork = one.watched.fake.repository("bob/network", fork_of=one.repository)
    fork.copy.commit({"main.tf": "# of a fork"}, "of a fork")
    fork.copy.git("push", "--quiet", "origin", "HEAD:refs/heads/theirs")
    one.repository.pull("theirs", source=fork)
    one.poll()
    assert one.events()[5:] == [("pr_open", "poll")] and len(one.plans()) == 2
    assert one.site.ask("select o.reason from vcs_outcomes o join vcs_events e on e.id = o.event_id where e.repository_id = %s order by e.sequence desc limit 1", one.watched.id) == [("fork",)]


def test_a_list_in_pages_closes_only_what_is_closed(missed):
    """Bitbucket Cloud has no refs of pull requests, so all changes are found in its list, which has pages of 50."""
    one = missed(BitbucketCloud)
    one.branch("many", "many")
    pulls = [one.repository.pull("many", title=f"Number {number}") for number in range(55)]
    one.connect()
    assert one.site.ask("select count(*) from vcs_pull_requests where repository_id = %s and state = 'open'", one.watched.id) == [(55,)]
    pulls[3].state = "merged"
    pulls[52].state = "closed"
    one.poll()
    until(lambda: len(one.events()) == 2, "both are found")
    assert [each[0] for each in one.events()] == ["pr_close", "pr_close"]
    assert one.site.ask("select number from vcs_pull_requests where repository_id = %s and state = 'closed' order by number", one.watched.id) == [(pulls[3].number,), (pulls[52].number,)]
