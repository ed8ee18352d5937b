# SPDX-License-Identifier: MPL-2.0
"""Runs from commits: what events make of workspaces, the stage of fetching, and the order of events. A worker in memory answers
the git jobs; events are inserted as the reader of deliveries inserts them."""

import json
import secrets

import pytest

from support.fake_git import FakeGit
from support.vcs_connections import GIT, GITEA, connect
from support.wait import until


def dashed(attributes):
    return {name.replace("_", "-"): value for name, value in attributes.items()}


class Vcs:
    """An organization with a connection, and one repository of it."""

    def __init__(self, api_site, org, git, base=GITEA):
        self.site, self.org, self.git = api_site, org, git
        self.connection, self.token = connect(org, base)
        self.identifier = f"acme/{secrets.token_hex(4)}"
        self.repository = git.repository(self.identifier)

    def workspace(self, branch="", queue_all_runs=True, **attributes):
        vcs_repo = {"identifier": self.identifier, "oauth-token-id": self.token, "branch": branch}
        vcs_repo.update({name.replace("_", "-"): attributes.pop(name) for name in ("tags_regex", "ingress_submodules") if name in attributes})
        body = {"data": {"type": "workspaces", "attributes": {"name": f"w{next(self.org.names)}", "vcs-repo": vcs_repo, "queue-all-runs": queue_all_runs,
                                                              **dashed(attributes)}}}
        return self.org.post(f"organizations/{self.org.organization}/workspaces", body).data["id"]

    @property
    def id(self):
        return self.site.ask("select id from vcs_repositories where identifier = %s and connection_id = %s", self.identifier, self.connection)[0][0]

    def settled(self):
        """All events of the repository are decided. Returns them: (kind, ref, sha, found_by, message)."""
        query = "select kind, ref, sha, found_by, message, state from vcs_events where repository_id = %s order by sequence"
        until(lambda: all(event[5] in ("done", "approval") for event in self.site.ask(query, self.id)), "all events are decided")
        return [event[:5] for event in self.site.ask(query, self.id)]

    def event(self, kind, ref, before="", sha="", number=None, files=None, **detail):
        """Inserts an event, as a delivery makes it."""
        id = f"ve-{secrets.token_hex(8)}"
        self.site.change(
            "with new as (insert into vcs_events (id, organization_id, connection_id, repository_id, kind, ref, before_sha, sha, pull_request, detail, files) "
            "select %s, organization_id, connection_id, id, %s, %s, %s, %s, %s, %s, %s from vcs_repositories where id = %s returning id) "
            "select pg_notify('runyard_vcs', '') from new",
            id, kind, ref, before, sha, number, json.dumps(detail), None if files is None else json.dumps(files), self.id)
        return id

    def push(self, files=None, branch="main", message="A change", event=True, **detail):
        """A commit on the branch and, unless it is missed, its event. Returns its sha."""
        before = self.repository.refs.get(f"refs/heads/{branch}", "")
        changed = files or {"main.tf": f"# {secrets.token_hex(4)}"}
        sha = self.repository.commit(changed, message, branch)
        if event:
            self.event("push", f"refs/heads/{branch}", before, sha, files=sorted(changed), message=message, default_branch="main", **detail)
        return sha

    def pull_request(self, kind, number, sha, branch="feature", base="main", before="", fork="no", files=("main.tf",), **detail):
        return self.event(kind, f"refs/heads/{branch}", before, sha, number, list(files), base=base, fork=fork, title=f"Pull {number}", default_branch="main",
                          **detail)

    def runs(self, workspace):
        """(run, sha, plan-only) of the workspace's runs, first to last."""
        return self.site.ask("select r.id, k.sha, r.plan_only from runs r join run_inputs i on i.run_id = r.id left join configuration_commits k "
                             "on k.configuration_version_id = i.configuration_version_id where r.workspace_id = %s order by r.position", workspace)

    def shas(self, workspace):
        return [sha for _, sha, _ in self.runs(workspace)]

    def reason(self, event, subject):
        rows = self.site.ask("select reason from vcs_outcomes where event_id = %s and subject_id = %s", event, subject)
        return rows[0][0] if rows else None

    def ready(self, *workspaces):
        """The first look and the events of the connections are done."""
        self.settled()
        until(lambda: self.site.ask("select looked_at is not null from vcs_repositories where id = %s", self.id)[0][0], "it was looked at")
        return workspaces


@pytest.fixture(scope="module")
def git(api_site):
    git = FakeGit(api_site)
    yield git
    git.stop()


@pytest.fixture
def vcs(api_site, org, git):
    return Vcs(api_site, org, git)


def status(org, run):
    return org.attributes(f"runs/{run}")["status"]


def reaches(org, run, *wanted):
    return until(lambda: status(org, run) in wanted, f"{run} is {wanted}")


def test_connecting_makes_the_head_the_configuration_and_queues_a_first_run(vcs, org):
    workspace = vcs.workspace()
    until(lambda: vcs.runs(workspace), "the first run is there")
    (run, sha, plan_only), = vcs.runs(workspace)
    assert sha == vcs.repository.sha() and not plan_only
    reaches(org, run, "plan_queued")
    times = org.attributes(f"runs/{run}")["status-timestamps"]
    assert times["fetching-at"] <= times["fetched-at"] <= times["plan-queued-at"]
    assert vcs.site.ask("select status, blob_id is not null, source from configuration_versions where workspace_id = %s", workspace) == [("uploaded", True, "gitea")]


def test_a_workspace_that_never_ran_gets_only_its_configuration(vcs, org):
    workspace = vcs.workspace(queue_all_runs=False)
    vcs.ready()
    assert not vcs.runs(workspace)
    first = org.get(f"workspaces/{workspace}").data["relationships"]["current-configuration-version"]["data"]["id"]
    vcs.push()
    vcs.settled()
    second = org.get(f"workspaces/{workspace}").data["relationships"]["current-configuration-version"]["data"]["id"]
    assert first != second and not vcs.runs(workspace)
    run = org.run(workspace)
    assert vcs.shas(workspace) == [vcs.repository.sha()]
    reaches(org, run, "plan_queued")
    sha = vcs.push()
    vcs.settled()
    assert vcs.shas(workspace)[1:] == [sha]


def test_a_push_makes_one_run_in_each_workspace_on_the_branch(vcs, org, git):
    default, main, other, moved = vcs.workspace(), vcs.workspace("main"), vcs.workspace("dev", queue_all_runs=False), vcs.workspace(file_triggers_enabled=True, working_directory="modules")
    vcs.ready()
    before = {workspace: len(vcs.runs(workspace)) for workspace in (default, main, other, moved)}
    sha = vcs.push({"live/main.tf": "x"}, message="One\ntwo", sender="ada", commit_url="https://gitea.example.com/c")
    events = vcs.settled()
    assert [len(vcs.runs(workspace)) - before[workspace] for workspace in (default, main, other, moved)] == [1, 1, 0, 0]
    assert events[-1][4] == "2 of 4 workspaces and policy sets use the commit."
    run = vcs.runs(default)[-1][0]
    assert org.attributes(f"runs/{run}")["message"] == "One" and org.attributes(f"runs/{run}")["source"] == "tfe-configuration-version"
    event = vcs.site.ask("select id from vcs_events where sha = %s and kind = 'push'", sha)[0][0]
    assert [vcs.reason(event, workspace) for workspace in (default, main, other, moved)] == ["started", "started", "branch", "path"]
    reaches(org, run, "pending", "plan_queued")
    assert git.count("fetch", sha) <= 1


def test_the_same_delivery_and_commit_again_make_nothing(vcs):
    workspace = vcs.workspace()
    vcs.ready()
    before = vcs.repository.sha()
    sha = vcs.push()
    for _ in range(10):
        vcs.event("push", "refs/heads/main", before, sha, files=["main.tf"])
    events = vcs.settled()
    assert vcs.shas(workspace).count(sha) == 1
    assert [event[4] for event in events if event[2] == sha][1:] == ["Processing skipped for duplicate commit SHA."] * 10


def test_pushes_in_reverse_order_run_the_head_alone(vcs):
    workspace = vcs.workspace()
    vcs.ready()
    first = vcs.repository.sha()
    middle, head = vcs.push(event=False), vcs.push(event=False)
    vcs.event("push", "refs/heads/main", middle, head, files=["main.tf"])
    vcs.event("push", "refs/heads/main", first, middle, files=["main.tf"])
    events = vcs.settled()
    assert vcs.shas(workspace) == [first, head]
    assert any(event[4].startswith("Superseded") for event in events if event[2] == middle)


def test_a_poll_finds_what_no_event_has_told(vcs):
    workspace = vcs.workspace()
    vcs.ready()
    first = vcs.repository.sha()
    for _ in range(5):
        head = vcs.push(event=False)
    other = vcs.repository.commit({"a": "b"}, branch="dev")
    vcs.site.change("update vcs_repositories set look_due = now() where id = %s", vcs.id)
    vcs.site.change("select pg_notify('runyard_vcs', '')")
    until(lambda: head in vcs.shas(workspace), "the head runs")
    events = vcs.settled()
    assert vcs.shas(workspace) == [first, head]
    assert {(event[1], event[2]) for event in events if event[3] == "poll"} == {("refs/heads/main", head), ("refs/heads/dev", other)}


def test_a_force_push_runs_the_new_head_and_keeps_the_commit_of_a_pending_run(vcs):
    workspace = vcs.workspace()
    vcs.ready()
    base = vcs.repository.sha()
    old = vcs.push()
    vcs.settled()
    new = vcs.repository.commit({"main.tf": "forced"}, parent=base)
    vcs.event("push", "refs/heads/main", old, new, files=None)
    vcs.settled()
    assert vcs.shas(workspace) == [base, old, new]


def test_a_branch_is_deleted_and_made_again(vcs):
    workspace = vcs.workspace("dev", queue_all_runs=True)
    vcs.ready()
    sha = vcs.push(branch="dev")
    vcs.settled()
    del vcs.repository.refs["refs/heads/dev"]
    vcs.event("branch_delete", "refs/heads/dev", sha, "")
    vcs.settled()
    again = vcs.repository.commit({"x": "y"}, branch="dev", parent="")
    vcs.event("push", "refs/heads/dev", "", again, files=None)
    vcs.settled()
    assert vcs.shas(workspace) == [sha, again]


def test_tags_run_only_where_a_regular_expression_matches(vcs):
    plain, releases, evil = vcs.workspace(), vcs.workspace(tags_regex=r"^v\d+$"), vcs.workspace(tags_regex="(a+)+$")
    vcs.ready()
    counts = [len(vcs.runs(workspace)) for workspace in (plain, releases, evil)]
    sha = vcs.repository.sha()
    for tag in ("v1", "nightly", "a" * 60 + "!"):
        vcs.repository.refs[f"refs/tags/{tag}"] = sha
        vcs.event("tag", f"refs/tags/{tag}", "", sha)
    head = vcs.push()
    vcs.settled()
    assert [len(vcs.runs(workspace)) - count for workspace, count in zip((plain, releases, evil), counts)] == [1, 1, 0]
    assert vcs.shas(plain)[-1] == head and vcs.shas(releases)[-1] == sha
    errors = vcs.site.ask("select level from vcs_events where repository_id = %s and ref like 'refs/tags/aaa%%'", vcs.id)
    assert errors == [("error",)]
