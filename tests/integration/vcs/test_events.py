# SPDX-License-Identifier: MPL-2.0
"""Runs from commits: what events make of workspaces, the stage of fetching, and the order of events. A worker in memory answers
the git jobs; events are inserted as the reader of deliveries inserts them."""

import json
import secrets

import pytest

from support.api import FINAL
from support.documents import refused, refused_at, send
from support.people import People
from support.vcs_connections import GIT, GITEA, client_document, connect
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

    def finish(self, *workspaces):
        """Discards and cancels the runs that have not ended."""
        for workspace in workspaces:
            for run, _, _ in self.runs(workspace):
                for action in ("cancel", "discard", "force-cancel"):
                    if status(self.org, run) not in FINAL:
                        self.org.call("POST", f"runs/{run}/actions/{action}")

    def plans_forks(self, pool):
        """Names the agent pool for plans of forks, or none."""
        relation = {"fork-agent-pool": pool and {"type": "agent-pools", "id": pool}}
        assert self.org.call("PATCH", f"oauth-clients/{self.connection}", client_document(relation)).status == 200

    def look(self):
        """Has the repository looked at, as its next poll would, and waits for the result."""
        before = self.site.ask("select looked_at from vcs_repositories where id = %s", self.id)
        self.site.change("update vcs_repositories set look_due = now() where id = %s", self.id)
        self.site.change("select pg_notify('runyard_vcs', '')")
        until(lambda: self.site.ask("select looked_at from vcs_repositories where id = %s", self.id) != before, "it was looked at")
        return self.settled()

    def statuses(self, workspace):
        return [status(self.org, run) for run, _, _ in self.runs(workspace)]

    def ready(self, *workspaces):
        """The events of the connections are done, and no look is under way or due: it would find what a test is about to push."""
        self.settled()
        query = "select looked_at is not null and look_due > now() and not exists (select 1 from git_jobs g where g.kind = 'look' and g.repository_id = r.id) " \
                "from vcs_repositories r where id = %s"
        until(lambda: self.site.ask(query, self.id)[0][0], "it was looked at")
        return workspaces


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
    until(lambda: head in vcs.shas(workspace), "the newer push was looked up, and runs")
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


# ---- pull requests ----


def test_a_pull_request_is_planned_and_its_older_head_is_canceled(vcs, org):
    workspace, other = vcs.ready(vcs.workspace(), vcs.workspace("dev", queue_all_runs=False))
    count = len(vcs.runs(workspace))
    first = vcs.repository.commit({"a.tf": "1"}, branch="feature", parent=vcs.repository.sha())
    vcs.pull_request("pr_open", 1, first)
    vcs.settled()
    (run, sha, plan_only), = vcs.runs(workspace)[count:]
    assert sha == first and plan_only and not vcs.runs(other)
    current = org.get(f"workspaces/{workspace}").data["relationships"]["current-configuration-version"]["data"]["id"]
    assert vcs.site.ask("select sha from configuration_commits where configuration_version_id = %s", current) == [(vcs.repository.sha(),)]
    second = vcs.repository.commit({"a.tf": "2"}, branch="feature")
    vcs.pull_request("pr_update", 1, second, before=first)
    vcs.settled()
    assert vcs.shas(workspace)[count:] == [first, second]
    assert status(org, run) == "canceled"
    vcs.pull_request("pr_close", 1, second)
    vcs.settled()
    assert vcs.statuses(workspace)[count:] == ["canceled", "canceled"]
    vcs.pull_request("pr_open", 1, second)
    vcs.settled()
    assert vcs.shas(workspace)[count:] == [first, second, second], "its closing had canceled the run"


def test_late_events_of_a_pull_request_change_nothing(vcs):
    (workspace,) = vcs.ready(vcs.workspace())
    count = len(vcs.runs(workspace))
    sha = vcs.repository.commit({"a.tf": "1"}, branch="feature", parent=vcs.repository.sha())
    late = "Superseded: the pull request has changed since."
    vcs.pull_request("pr_close", 8, sha)
    vcs.settled()
    vcs.pull_request("pr_open", 8, sha, is_new=True)
    assert vcs.settled()[-1][4] == late, "the creation arrived after the end"
    vcs.pull_request("pr_open", 8, sha, changed_at=3000)
    vcs.settled()
    assert len(vcs.runs(workspace)) == count + 1, "it was opened again"
    vcs.pull_request("pr_close", 8, sha, changed_at=2000)
    assert vcs.settled()[-1][4] == late and "canceled" not in vcs.statuses(workspace)[count:]
    vcs.pull_request("pr_close", 8, sha, changed_at=4000)
    vcs.settled()
    vcs.pull_request("pr_open", 8, sha, changed_at=3500)
    assert vcs.settled()[-1][4] == late and vcs.statuses(workspace)[count:] == ["canceled"]


def test_older_heads_stay_without_the_organizations_setting(vcs, org):
    org.patch(f"organizations/{org.organization}", {"data": {"type": "organizations", "attributes": {"speculative-plan-management-enabled": False}}})
    (workspace,) = vcs.ready(vcs.workspace())
    count = len(vcs.runs(workspace))
    first = vcs.repository.commit({"a.tf": "1"}, branch="feature", parent=vcs.repository.sha())
    vcs.pull_request("pr_open", 7, first)
    second = vcs.repository.commit({"a.tf": "2"}, branch="feature")
    vcs.pull_request("pr_update", 7, second, before=first)
    vcs.settled()
    assert vcs.shas(workspace)[count:] == [first, second] and "canceled" not in vcs.statuses(workspace)[count:]


def test_drafts_are_planned_unless_the_workspace_skips_them(vcs):
    every, ready_ones, none = vcs.ready(vcs.workspace(), vcs.workspace(vcs_skip_drafts=True), vcs.workspace(speculative_enabled=False))
    counts = [len(vcs.runs(workspace)) for workspace in (every, ready_ones, none)]
    sha = vcs.repository.commit({"a.tf": "1"}, branch="feature", parent=vcs.repository.sha())
    draft = vcs.pull_request("pr_open", 2, sha, draft=True)
    vcs.settled()
    assert [vcs.reason(draft, workspace) for workspace in (every, ready_ones, none)] == ["planned", "draft", "speculative_off"]
    vcs.pull_request("pr_open", 2, sha)
    vcs.settled()
    assert [len(vcs.runs(workspace)) - count for workspace, count in zip((every, ready_ones, none), counts)] == [1, 1, 0]


def test_a_changed_base_is_planned_in_the_workspaces_of_the_new_one(vcs):
    vcs.repository.commit({"b.tf": "1"}, branch="dev")
    main, dev = vcs.ready(vcs.workspace("main"), vcs.workspace("dev"))
    counts = [len(vcs.runs(workspace)) for workspace in (main, dev)]
    sha = vcs.repository.commit({"a.tf": "1"}, branch="feature", parent=vcs.repository.sha())
    vcs.pull_request("pr_open", 3, sha, base="main")
    vcs.settled()
    vcs.pull_request("pr_open", 3, sha, base="dev", base_changed=True)
    vcs.settled()
    assert [len(vcs.runs(workspace)) - count for workspace, count in zip((main, dev), counts)] == [1, 1]


def test_a_fork_is_planned_only_where_allowed_and_after_each_head_is_approved(vcs, org, api_site):
    closed, allowed = vcs.ready(vcs.workspace(), vcs.workspace(vcs_fork_plans=True))
    org.variable(allowed, "secret", "hidden", sensitive=True)
    org.variable(allowed, "plain", "shown")
    counts = [len(vcs.runs(workspace)) for workspace in (closed, allowed)]
    first = vcs.repository.commit({"a.tf": "1"}, branch="theirs", parent=vcs.repository.sha())
    event = vcs.pull_request("pr_open", 4, first, fork="yes")
    vcs.settled()
    assert [vcs.reason(event, workspace) for workspace in (closed, allowed)] == ["fork", "fork_pool"]
    pool, token = org.pool("forks")
    vcs.plans_forks(pool)
    event = vcs.pull_request("pr_open", 4, first, fork="yes")
    vcs.settled()
    assert [vcs.reason(event, workspace) for workspace in (closed, allowed)] == ["fork", "fork_approval"]
    stranger = api_site.stranger()
    assert stranger.call("POST", f"vcs-events/{event}/actions/approve").status == 404
    assert org.call("POST", f"vcs-events/{event}/actions/approve").status == 202
    vcs.settled()
    assert [len(vcs.runs(workspace)) - count for workspace, count in zip((closed, allowed), counts)] == [0, 1]
    run = vcs.runs(allowed)[-1][0]
    reaches(org, run, "plan_queued")
    assert api_site.ask("select pool_id from jobs where run_id = %s", run) == [(pool,)]
    assert run not in [job["run"] for job in api_site.fake_worker().claim(slots=100)]
    job = api_site.fake_worker(token).take(run, "plan")
    assert [variable["key"] for variable in job["variables"]] == ["plain"]
    assert org.call("POST", f"vcs-events/{event}/actions/approve").status == 404
    second = vcs.repository.commit({"a.tf": "2"}, branch="theirs")
    newer = vcs.pull_request("pr_update", 4, second, fork="yes", before=first)
    vcs.settled()
    assert vcs.reason(newer, allowed) == "fork_approval" and len(vcs.runs(allowed)) == counts[1] + 1
    # The configuration of a fork's commit never runs in the workspace's pool, even if a user queues the run.
    version = org.get(f"runs/{run}").data["relationships"]["configuration-version"]["data"]["id"]
    assert api_site.ask("select i.pool_id from run_inputs i where i.run_id = %s", org.run(allowed, version)) == [(pool,)]
    assert send(org, "PATCH", f"workspaces/{allowed}", "workspaces", execution_mode="agent", agent_pool_id=pool).status == 200
    assert "comes from a fork" in refused_at(refused(422, org.run, allowed, version), "/data/relationships/workspace")
    vcs.plans_forks(None)
    assert send(org, "PATCH", f"workspaces/{allowed}", "workspaces", execution_mode="remote").status == 200
    assert "comes from a fork" in refused_at(refused(422, org.run, allowed, version), "/data/relationships/workspace")


# ---- auto-apply ----


def test_a_commit_applies_by_itself_and_a_users_run_needs_the_right_to_apply(vcs, org, api_site):
    (workspace,) = vcs.ready(vcs.workspace(auto_apply=True))
    people = People(org, api_site.database)
    team = people.team("planners")
    people.give(team, "workspace", workspace, "custom", runs="plan", variables="none", state_versions="none")
    planner = people.member(f"planner-{secrets.token_hex(4)}", team)
    count = len(vcs.runs(workspace))
    pushed = vcs.push()
    vcs.settled()
    for client in (planner, org):
        assert client.call("POST", f"workspaces/{workspace}/actions/vcs-run", {"commit-sha": pushed}).status == 202
        vcs.look()
    runs = [run for run, sha, _ in vcs.runs(workspace)[count:] if sha == pushed]
    assert [org.attributes(f"runs/{run}")["auto-apply"] for run in runs] == [True, False, True]
    assert [org.attributes(f"runs/{run}")["plan-only"] for run in runs] == [False, False, False]


# ---- the stage of fetching, and archived contents ----


def test_one_fetch_serves_all_workspaces(vcs, org, git):
    workspaces = vcs.ready(*[vcs.workspace() for _ in range(20)])
    vcs.finish(*workspaces)
    git.hold("fetch")
    try:
        sha = vcs.push()
        vcs.settled()
        runs = [vcs.runs(workspace)[-1][0] for workspace in workspaces]
        assert {status(org, run) for run in runs} == {"fetching"}
        assert org.call("POST", f"runs/{runs[0]}/actions/cancel").status == 202
        assert status(org, runs[0]) == "canceled"
        git.claimed("fetch")
    finally:
        git.release("fetch")
    for run in runs[1:]:
        reaches(org, run, "plan_queued")
    assert git.count("fetch", sha) == 1 and status(org, runs[0]) == "canceled"
    assert vcs.site.ask("select count(distinct blob_id) from configuration_versions c join configuration_commits k on k.configuration_version_id = c.id "
                        "where k.sha = %s and c.blob_id is not null", sha) == [(1,)]


@pytest.mark.parametrize("deleted, what", [("oauth-clients", "connection"), ("oauth-tokens", "token of the connection")])
def test_all_that_wait_for_commits_of_a_deleted_connection_end(vcs, org, git, deleted, what):
    (workspace,) = vcs.ready(vcs.workspace())
    vcs.finish(workspace)
    git.hold("fetch")
    try:
        before = len(vcs.runs(workspace))
        sha = vcs.push()
        vcs.settled()
        git.claimed("fetch")
        vcs.push()
        vcs.settled()
        runs = [run for run, _, _ in vcs.runs(workspace)[before:]]
        assert [status(org, run) for run in runs] == ["fetching", "pending"]
        policies, version = (f"{prefix}-{secrets.token_hex(8)}" for prefix in ("polset", "polsetver"))
        vcs.site.change("insert into policy_sets (id, organization_id, name, kind) select %s, id, %s, 'opa' from organizations where name = %s", policies, policies, org.organization)
        vcs.site.change("insert into policy_set_versions (id, policy_set_id, status) values (%s, %s, 'ingressing')", version, policies)
        vcs.site.change("insert into policy_set_version_commits (policy_set_version_id, content_id, sha) select %s, id, sha from vcs_contents where sha = %s", version, sha)
        assert org.call("DELETE", f"{deleted}/{vcs.connection if deleted == 'oauth-clients' else vcs.token}").status == 204
    finally:
        git.release("fetch")
    error = f"The {what} to the repository was deleted."
    for run in runs:
        assert (status(org, run), org.attributes(f"runs/{run}")["error"]) == ("errored", error)
    assert vcs.site.ask("select distinct c.status, c.error_message from configuration_versions c join run_inputs i on i.configuration_version_id = c.id "
                        "where i.run_id = any(%s)", runs) == [("errored", error)]
    assert vcs.site.ask("select status, error_message from policy_set_versions where id = %s", version) == [("errored", error)]
    reaches(org, org.run_files(workspace, {"main.tf": ""}), "plan_queued")


def test_a_fetch_that_nobody_waits_for_is_given_up(vcs, org, git):
    (workspace,) = vcs.ready(vcs.workspace())
    vcs.finish(workspace)
    git.hold("fetch")
    try:
        sha = vcs.push()
        vcs.settled()
        git.claimed("fetch")
        org.call("POST", f"runs/{vcs.runs(workspace)[-1][0]}/actions/cancel")
        until(lambda: not vcs.site.ask("select 1 from git_jobs g join vcs_contents v on v.id = g.content_id where v.sha = %s", sha), "the job is given up")
        assert vcs.site.ask("select c.status from configuration_versions c join configuration_commits k on k.configuration_version_id = c.id where k.sha = %s", sha) == [("pending",)]
    finally:
        git.release("fetch")


def test_a_content_is_archived_after_its_last_run_and_fetched_again(vcs, org, git, api_site):
    (workspace,) = vcs.ready(vcs.workspace())
    run, sha, _ = vcs.runs(workspace)[0]
    reaches(org, run, "plan_queued")
    version = org.get(f"runs/{run}").data["relationships"]["configuration-version"]["data"]["id"]
    path = f"configuration-versions/{version}"
    assert org.get(f"{path}/download").status == 200
    for change in ("archive", "soft_delete_backing_data"):
        assert org.call("POST", f"{path}/actions/{change}").status == 409
    blob = api_site.ask("select blob_id from vcs_contents where sha = %s", sha)[0][0]
    vcs.finish(workspace)
    until(lambda: org.attributes(path)["status"] == "archived", "it is archived")
    until(lambda: not api_site.ask("select 1 from blobs where id = %s", blob), "its files are deleted")
    assert org.call("GET", f"{path}/download").status == 404
    again = org.run(workspace)
    reaches(org, again, "plan_queued")
    assert org.get(f"runs/{again}").data["relationships"]["configuration-version"]["data"]["id"] == version
    assert git.count("fetch", sha) == 2
    assert api_site.ask("select blob_id, hash = first_hash from vcs_contents where sha = %s", sha) == [(blob, True)]
    assert org.get(f"{path}/download").status == 200


def test_other_files_of_the_same_commit_are_flagged(vcs, org, git):
    (workspace,) = vcs.ready(vcs.workspace())
    run, sha, _ = vcs.runs(workspace)[0]
    reaches(org, run, "plan_queued")
    vcs.finish(workspace)
    until(lambda: vcs.site.ask("select state from vcs_contents where sha = %s", sha) == [("absent",)], "it is archived")
    git.changes[sha] = {"main.tf": "moved"}
    again = org.run(workspace)
    reaches(org, again, "plan_queued")
    assert org.events(again, "content-changed")


def test_a_commit_that_is_gone_ends_its_runs(vcs, org, git):
    (workspace,) = vcs.ready(vcs.workspace())
    run, sha, _ = vcs.runs(workspace)[0]
    reaches(org, run, "plan_queued")
    vcs.finish(workspace)
    until(lambda: vcs.site.ask("select state from vcs_contents where sha = %s", sha) == [("absent",)], "it is archived")
    git.outcomes[sha] = ("failed", f"commit {sha} no longer exists in {vcs.identifier}")
    again = org.run(workspace)
    reaches(org, again, "errored")
    shown = org.get(f"runs/{again}").data["attributes"]
    assert shown["error"] == f"commit {sha} no longer exists in {vcs.identifier}" and shown["status-label"] == "Plan Errored"
    version = org.get(f"runs/{again}").data["relationships"]["configuration-version"]["data"]["id"]
    assert org.attributes(f"configuration-versions/{version}")["status"] == "errored"
    del git.outcomes[sha]
    reaches(org, org.run(workspace), "plan_queued")


def test_a_fetch_that_failed_is_tried_again_and_says_why(vcs, org, git):
    (workspace,) = vcs.ready(vcs.workspace())
    vcs.finish(workspace)
    sha = vcs.push(event=False)
    git.outcomes[sha] = ("retry", "the server does not answer")
    vcs.look()
    run = vcs.runs(workspace)[-1][0]
    text = 'The commit\'s files could not be fetched, and are tried again: "the server does not answer".'
    waits = until(lambda: next((shown for shown in [org.get(f"runs/{run}/waiting").data["attributes"]] if shown["text"] == text), None), "it says why it waits")
    assert waits["code"] == "fetch"
    del git.outcomes[sha]
    reaches(org, run, "plan_queued")


# ---- what the API shows and asks ----


def test_a_commit_is_shown_with_its_run(vcs, org):
    (workspace,) = vcs.ready(vcs.workspace())
    sha = vcs.push(message="Subject\n\nBody", sender="ada", sender_url="https://gitea.example.com/ada", commit_url="https://gitea.example.com/c", compare_url="https://gitea.example.com/d")
    vcs.settled()
    run = vcs.runs(workspace)[-1][0]
    document = org.get(f"runs/{run}", include="configuration_version.ingress_attributes").json
    (ingress,) = [item for item in document["included"] if item["type"] == "ingress-attributes"]
    assert ingress["attributes"] == {
        "branch": "main", "clone-url": f"https://gitea.example.com/{vcs.identifier}.git", "commit-message": "Subject\n\nBody", "commit-sha": sha, "commit-url": "https://gitea.example.com/c",
        "compare-url": "https://gitea.example.com/d", "identifier": vcs.identifier, "is-pull-request": False, "on-default-branch": True, "pull-request-number": None,
        "pull-request-url": None, "pull-request-title": None, "pull-request-body": None, "tag": None, "sender-username": "ada", "sender-avatar-url": None,
        "sender-html-url": "https://gitea.example.com/ada"}
    event = ingress["relationships"]["vcs-event"]["data"]["id"]
    assert org.get(f"vcs-events/{event}").data["attributes"]["commit-sha"] == sha
    version = document["data"]["relationships"]["configuration-version"]["data"]["id"]
    assert org.get(f"configuration-versions/{version}/ingress-attributes").data == ingress
    assert org.get(f"configuration-versions/{version}").data["relationships"]["ingress-attributes"]["data"]["id"] == ingress["id"]
    assert org.attributes(f"runs/{run}")["message"] == "Subject"


def test_a_user_runs_a_commit_again_and_looks_now(vcs, org):
    (workspace,) = vcs.ready(vcs.workspace())
    first = vcs.repository.sha()
    assert org.call("POST", f"workspaces/{workspace}/actions/vcs-run", {"commit-sha": first}).status == 202
    vcs.settled()
    assert vcs.shas(workspace) == [first, first]
    head = vcs.push(event=False)
    assert org.call("POST", f"workspaces/{workspace}/actions/vcs-check").status == 202
    until(lambda: head in vcs.shas(workspace), "the head runs")
    assert org.call("POST", f"workspaces/{workspace}/actions/vcs-run", {}).status == 202
    vcs.settled()
    assert vcs.shas(workspace) == [first, first, head, head]
    assert org.call("POST", f"workspaces/{workspace}/actions/vcs-run", {"commit-sha": "--upload-pack"}).status == 422
    assert org.call("POST", f"workspaces/{org.workspace()}/actions/vcs-check").status == 409


def test_uploads_in_a_connected_workspace_are_only_planned(vcs, org):
    (workspace,) = vcs.ready(vcs.workspace())
    version = org.upload(workspace, {"main.tf": ""})
    run = org.run(workspace, version)
    assert org.attributes(f"runs/{run}")["plan-only"]
    assert vcs.shas(workspace)[-1] is None
    manual = org.run(workspace)
    assert vcs.shas(workspace)[-1] == vcs.repository.sha() and not org.attributes(f"runs/{manual}")["plan-only"]


def test_runs_of_a_locked_workspace_wait_and_go_on(vcs, org, git):
    (workspace,) = vcs.ready(vcs.workspace())
    vcs.finish(workspace)
    org.post(f"workspaces/{workspace}/actions/lock", {})
    sha = vcs.push()
    vcs.settled()
    run = vcs.runs(workspace)[-1][0]
    until(lambda: git.count("fetch", sha), "it is fetched before its turn")
    assert status(org, run) == "pending"
    org.post(f"workspaces/{workspace}/actions/unlock")
    reaches(org, run, "plan_queued")
    assert git.count("fetch", sha) == 1


def test_a_commit_changes_no_run_that_awaits_its_apply(vcs, org, api_site):
    (workspace,) = vcs.ready(vcs.workspace(auto_apply=False))
    run, sha, _ = vcs.runs(workspace)[0]
    reaches(org, run, "plan_queued")
    api_site.fake_worker().plan(run)
    reaches(org, run, "planned")
    vcs.push()
    vcs.settled()
    assert status(org, run) == "planned" and vcs.shas(workspace)[0] == sha and vcs.statuses(workspace)[1] == "pending"


def test_newest_only_discards_pending_runs_of_earlier_commits(vcs, org, api_site):
    (workspace,) = vcs.ready(vcs.workspace(vcs_newest_only=True))
    reaches(org, vcs.runs(workspace)[0][0], "plan_queued")
    shas = [vcs.push() for _ in range(3)]
    vcs.settled()
    assert vcs.shas(workspace)[1:] == shas
    assert vcs.statuses(workspace) == ["plan_queued", "discarded", "discarded", "pending"]


def test_a_policy_set_gets_a_version_and_keeps_it_when_the_next_one_fails(vcs, org, git):
    vcs.ready(vcs.workspace())
    body = {"data": {"type": "policy-sets", "attributes": {"name": "checks", "kind": "opa", "vcs-repo": {"identifier": vcs.identifier, "oauth-token-id": vcs.token}}}}
    policy_set = org.post(f"organizations/{org.organization}/policy-sets", body).data["id"]
    row = "select s.current_version_id, s.newest_version_id, v.status, k.sha from policy_sets s left join policy_set_versions v on v.id = s.newest_version_id " \
          "left join policy_set_version_commits k on k.policy_set_version_id = v.id where s.id = %s"
    until(lambda: vcs.site.ask(row, policy_set)[0][2] == "ready", "the first version is ready")
    first = vcs.site.ask(row, policy_set)[0]
    assert first[0] == first[1] and first[3] == vcs.repository.sha()
    shown = org.attributes(f"policy-set-versions/{first[0]}")
    assert shown["ingress-attributes"] == {"commit-sha": first[3], "commit-url": f"{GITEA['http-url']}/{vcs.identifier}/commit/{first[3]}", "identifier": vcs.identifier} and shown["source"] == "gitea"
    git.hold("fetch")
    sha = vcs.push()
    vcs.settled()
    assert vcs.site.ask(row, policy_set)[0][2] == "ingressing"
    git.outcomes[sha] = ("failed", "too large")
    git.release("fetch")
    until(lambda: vcs.site.ask(row, policy_set)[0][2] == "errored", "the second version errs")
    assert vcs.site.ask(row, policy_set)[0][0] == first[0]


def test_a_new_default_branch_is_followed(vcs):
    (workspace,) = vcs.ready(vcs.workspace())
    first = vcs.repository.sha()
    trunk = vcs.repository.commit({"a": "b"}, branch="trunk", parent=first)
    vcs.repository.head = "trunk"
    vcs.look()
    assert vcs.site.ask("select default_branch from vcs_repositories where id = %s", vcs.id) == [("trunk",)]
    vcs.push(event=False)
    head = vcs.repository.commit({"a": "c"}, branch="trunk")
    vcs.look()
    assert vcs.shas(workspace)[1:] in ([trunk, head], [head])


def test_eight_commits_and_301_files(vcs, git):
    """A list of files that is not whole is replaced by git's own."""
    net, rest = vcs.ready(vcs.workspace(working_directory="net"), vcs.workspace(working_directory="rest"))
    before = vcs.repository.sha()
    for number in range(8):
        head = vcs.push({f"net/{number}.tf": "x"}, event=False)
    vcs.event("push", "refs/heads/main", before, head)
    vcs.settled()
    assert vcs.shas(net)[1:] == [head] and vcs.shas(rest)[1:] == []
    before, head = head, vcs.push({f"rest/{number}.tf": "x" for number in range(301)}, event=False)
    vcs.event("push", "refs/heads/main", before, head)
    vcs.settled()
    assert len(vcs.runs(net)) == 2 and vcs.shas(rest)[1:] == [head]
    assert git.count("diff") >= 2
