# SPDX-License-Identifier: MPL-2.0
"""Schedulers are killed at random moments while events arrive twice, in random order, or not at all: each head runs once, and no
commit behind a newer one."""

import random
import secrets
import threading
import time

import pytest

from integration.vcs.test_events import Vcs
from support.api_site import open_api_site
from support.fake_git import FakeGit
from support.wait import until

PUSHES, PULLS = 12, 3


def send(events, dice):
    for event in events:
        event()
        time.sleep(dice.uniform(0, 0.3))  # the moments are the test's subject: no condition is waited for


def commits_of(vcs, dice):
    """Commits of the branch and of pull requests, and their events in random order: each comes once, twice or never."""
    events, pushes, heads = [], [], {}
    for _ in range(PUSHES):
        before = vcs.repository.sha()
        sha = vcs.repository.commit({"main.tf": secrets.token_hex(4)})
        pushes.append(sha)
        events.append(lambda before=before, sha=sha: vcs.event("push", "refs/heads/main", before, sha, files=["main.tf"]))
    for number in range(1, PULLS + 1):
        branch = f"feature-{number}"
        parent = vcs.repository.sha()
        for kind in ("pr_open", "pr_update", "pr_update"):
            before = heads.get(number, "")
            heads[number] = vcs.repository.commit({"a.tf": secrets.token_hex(4)}, branch=branch, parent=before or parent)
            vcs.repository.refs[f"refs/pull/{number}/head"] = heads[number]
            events.append(lambda kind=kind, number=number, sha=heads[number], branch=branch: vcs.pull_request(kind, number, sha, branch))
    sent = [event for event in events for _ in range(dice.choice((0, 1, 1, 2)))]
    sent.append(events[-1])
    for number in range(PULLS):  # a pull request of which no event has come is not known
        sent.append(events[PUSHES + 3 * number])
    dice.shuffle(sent)
    return sent, pushes, heads


@pytest.mark.parametrize("seed", (1, 2, 3))
def test_each_head_runs_once_however_often_the_scheduler_dies(postgres, seed):
    dice = random.Random(seed)
    with open_api_site(postgres) as site:
        git = FakeGit(site)
        vcs = Vcs(site, site.organization(), git)
        workspaces = vcs.ready(*[vcs.workspace() for _ in range(3)])
        first = vcs.repository.sha()
        sent, pushes, heads = commits_of(vcs, dice)
        sender = threading.Thread(target=send, args=(sent, random.Random(seed)), daemon=True)
        sender.start()
        while sender.is_alive():  # in this thread: the kernel ends processes whose thread has ended
            time.sleep(dice.uniform(0.2, 0.9))  # as above
            site.scheduler.restart(kill=True)
        sender.join()
        open_events = "select e.state, e.kind, e.message, g.kind, g.state, g.tries, g.due_at - now() from vcs_events e left join git_jobs g " \
                      "on g.repository_id = e.repository_id where e.state not in ('done', 'approval')"
        until(lambda: not site.ask(open_events), lambda: f"all events are decided: {site.ask(open_events)}")
        vcs.look()
        order = {sha: place for place, sha in enumerate([first, *pushes])}
        for workspace in workspaces:
            runs = vcs.runs(workspace)
            pushed = [sha for _, sha, plan_only in runs if not plan_only]
            assert pushed[0] == first and pushed[-1] == pushes[-1], f"seed {seed}"
            assert [order[sha] for sha in pushed] == sorted({order[sha] for sha in pushed}), f"seed {seed}: {pushed}"
            planned = [sha for _, sha, plan_only in runs if plan_only]
            assert len(planned) == len(set(planned)), f"seed {seed}"
            assert set(heads.values()) <= set(planned), f"seed {seed}"
        left = site.ask("select count(*) from runs r where r.status = 'fetching'")
        until(lambda: site.ask("select count(*) from runs where status = 'fetching'") == [(0,)], f"all of {left} fetching runs have their files")
        git.stop()
