# SPDX-License-Identifier: MPL-2.0
"""What a user of an organization can't reach through connections, repositories and commits: other organizations', other projects' and forks'. A worker in memory answers the git
jobs; test_route_matrix.py tries the ids in paths."""

import hashlib
import hmac
import itertools
import json
import secrets

import pytest

from support.fake_git import FakeGit
from support.hostile_texts import CORPUS, SHORT
from support.people import People
from support.runyard import KEYS
from support.sealing import seal
from support.vcs_fakes.repository import post
from support.vcs_connections import GITEA, client_document, connect, create_client
from support.wait import until

NOBODYS_SHA = "5" * 40


@pytest.fixture(scope="module")
def git(api_site):
    git = FakeGit(api_site)
    yield git
    git.stop()


class Place:
    """An organization with a connection, and a repository of it."""

    names = itertools.count(1)

    def __init__(self, api_site, git):
        self.site, self.git, self.api = api_site, git, api_site.stranger()
        self.people = People(self.api, api_site.database)
        self.base = f"organizations/{self.api.organization}"
        pool, self.fork_token = self.api.pool("forks")
        self.client, self.token = connect(self.api, GITEA, relations={"fork-agent-pool": {"type": "agent-pools", "id": pool}})
        self.identifier = f"acme/{secrets.token_hex(4)}"
        self.repository = git.repository(self.identifier)

    def create(self, project=None, api=None, **repo):
        """The answer to the creation of a workspace with the repository, which queues runs for its commits."""
        vcs_repo = {"identifier": self.identifier, "oauth-token-id": self.token, **{name.replace("_", "-"): value for name, value in repo.items()}}
        data = {"type": "workspaces", "attributes": {"name": f"repo-{next(self.names)}", "queue-all-runs": True, "vcs-repo": vcs_repo, "vcs-fork-plans": True}}
        if project:
            data["relationships"] = {"project": {"data": {"type": "projects", "id": project}}}
        return (api or self.api).call("POST", f"{self.base}/workspaces", {"data": data})

    def workspace(self, project=None, **repo):
        answer = self.create(project, **repo)
        assert answer.status == 201, answer.text
        workspace = answer.data["id"]
        self.settled()
        return workspace

    def patch(self, workspace, **changes):
        return self.api.call("PATCH", f"workspaces/{workspace}", {"data": {"type": "workspaces", **changes}})

    @property
    def id(self):
        return self.site.ask("select r.id from vcs_repositories r where r.identifier = %s and r.connection_id = %s", self.identifier, self.client)[0][0]

    def event(self, kind="push", sha=None, ref="refs/heads/main", before="", number=None, **detail):
        """An event as the reader of deliveries makes it. Returns its id when it is decided."""
        event = f"ve-{secrets.token_hex(8)}"
        self.site.change(
            "with new as (insert into vcs_events (id, organization_id, connection_id, repository_id, kind, ref, before_sha, sha, pull_request, detail) "
            "select %s, organization_id, connection_id, id, %s, %s, %s, %s, %s, %s from vcs_repositories where id = %s returning id) "
            "select pg_notify('runyard_vcs', '') from new",
            event, kind, ref, before, sha or self.repository.sha(), number, json.dumps({"default_branch": "main", **detail}), self.id)
        self.settled()
        return event

    def push(self, **detail):
        before, sha = self.repository.sha(), self.repository.commit({"main.tf": secrets.token_hex(4)})
        return sha, self.event("push", sha, before=before, **detail)

    def asks_for(self, workspace, sha, api=None):
        """The event of a user's request to run a commit in the workspace."""
        answer = (api or self.api).call("POST", f"workspaces/{workspace}/actions/vcs-run", {"commit-sha": sha})
        assert answer.status == 202, answer.text
        self.settled()
        return answer.data["id"]

    def member(self, workspace, access):
        """A user who has that access to the workspace, and no other."""
        team = self.people.team(f"{access}-{secrets.token_hex(3)}")
        self.people.give(team, "workspace", workspace, access)
        return self.people.member(f"m{secrets.token_hex(4)}", team)

    def settled(self):
        query = "select id, state, message from vcs_events where repository_id = %s and state not in ('done', 'approval')"
        until(lambda: self.site.ask(query, self.id) == [], lambda: f"all events are decided: {self.site.ask(query, self.id)}")

    def message(self, event):
        return self.site.ask("select message from vcs_events where id = %s", event)[0][0]

    def reason(self, event, workspace):
        rows = self.site.ask("select reason from vcs_outcomes where event_id = %s and subject_id = %s", event, workspace)
        return rows[0][0] if rows else None

    def shas(self, workspace):
        return [sha for sha, in self.site.ask("select k.sha from runs r join run_inputs i on i.run_id = r.id join configuration_commits k "
                                              "on k.configuration_version_id = i.configuration_version_id where r.workspace_id = %s order by r.position", workspace)]


@pytest.fixture
def mine(api_site, git):
    return Place(api_site, git)


@pytest.fixture
def other(api_site, git):
    return Place(api_site, git)


def refused(answer, pointer):
    assert answer.status == 422, answer.text
    (error,) = answer.json["errors"]
    assert error["source"]["pointer"] == pointer, error
    return error["detail"]


# ---- other organizations ----


def test_tokens_and_installations_of_another_organization_do_not_exist(mine, other, api_site):
    """The answer is the one for ids that nobody has."""
    installation = f"ghain-{secrets.token_hex(8)}"
    owner = api_site.ask("select organization_id from vcs_connections where id = %s", other.client)[0][0]
    api_site.change("insert into vcs_installations (id, organization_id, installation_id, name, kind) values (%s, %s, 4711, 'acme', 'Organization')", installation, owner)
    workspace, used = mine.api.workspace(), mine.workspace()
    policies = mine.api.policy_set("opa", [], mine.api.workspace())
    for name, theirs, nobodys in (("oauth-token-id", other.token, "ot-0000000000000000"), ("github-app-installation-id", installation, "ghain-0000000000000000")):
        for kind, path in (("workspaces", f"workspaces/{workspace}"), ("workspaces", f"workspaces/{used}"), ("policy-sets", f"policy-sets/{policies}")):
            answers = []
            for id in (theirs, nobodys):
                repo = {"identifier": other.identifier, name: id}
                answers.append(refused(mine.api.call("PATCH", path, {"data": {"type": kind, "attributes": {"vcs-repo": repo}}}), f"/data/attributes/vcs-repo/{name}"))
            assert answers[0] == answers[1]
        repo = {"oauth_token_id": "", "github_app_installation_id": "", name.replace("-", "_"): theirs}
        assert refused(mine.create(**repo), f"/data/attributes/vcs-repo/{name}") == answers[0]
    assert api_site.ask("select count(*) from vcs_repositories where connection_id = %s and organization_id <> %s", other.client, owner) == [(0,)]


def test_connections_take_no_pool_and_no_project_of_another_organization(mine, other):
    project = other.people.project("theirs")
    pool = other.api.post(f"{other.base}/agent-pools", {"data": {"type": "agent-pools", "attributes": {"name": "theirs"}}}).data["id"]
    in_pool = {"agent-pool": {"type": "agent-pools", "id": pool}}
    assert refused(create_client(mine.api, relations=in_pool), "/data/relationships/agent-pool")
    assert refused(mine.api.call("PATCH", f"oauth-clients/{mine.client}", client_document(in_pool)), "/data/relationships/agent-pool")
    made = create_client(mine.api, relations={"projects": [{"type": "projects", "id": project}]}, organization_scoped=False)
    assert made.status == 422 or made.data["relationships"]["projects"]["data"] == []
    body = {"data": [{"type": "projects", "id": project}]}
    assert mine.api.call("POST", f"oauth-clients/{mine.client}/relationships/projects", body).status == 422
    for method in ("POST", "DELETE"):
        assert other.api.call(method, f"oauth-clients/{mine.client}/relationships/projects", body).status == 404


def test_a_configuration_of_another_organizations_commit_is_not_run(mine, other):
    theirs = other.workspace()
    (configuration,), = other.site.ask("select configuration_version_id from run_inputs i join runs r on r.id = i.run_id where r.workspace_id = %s", theirs)
    workspace = mine.workspace()
    relations = {"workspace": {"data": {"type": "workspaces", "id": workspace}}, "configuration-version": {"data": {"type": "configuration-versions", "id": configuration}}}
    answer = mine.api.call("POST", "runs", {"data": {"type": "runs", "attributes": {}, "relationships": relations}})
    assert answer.status in (404, 422), answer.text
    for path in ("", "/download", "/ingress-attributes"):
        assert mine.api.call("GET", f"configuration-versions/{configuration}{path}").status == 404


# ---- other projects ----


def test_a_connection_of_projects_serves_these_alone(mine):
    """In requests, when a workspace moves, and when the connection is narrowed under a workspace that uses it."""
    inside, outside = mine.people.project("inside"), mine.people.project("outside")
    stays, leaves = mine.workspace(inside), mine.workspace(outside)
    policies = mine.api.policy_set("opa", [], mine.api.workspace())
    narrowed = mine.api.call("PATCH", f"oauth-clients/{mine.client}", client_document(**{"organization-scoped": False}))
    assert narrowed.status == 200 and narrowed.data["attributes"]["organization-scoped"] is False
    mine.api.post(f"oauth-clients/{mine.client}/relationships/projects", {"data": [{"type": "projects", "id": inside}]})
    pointer = "/data/attributes/vcs-repo/oauth-token-id"
    assert refused(mine.create(outside), pointer) and refused(mine.create(), pointer) and mine.create(inside).status == 201
    repo = {"identifier": mine.identifier, "oauth-token-id": mine.token}
    assert refused(mine.api.call("PATCH", f"policy-sets/{policies}", {"data": {"type": "policy-sets", "attributes": {"vcs-repo": repo}}}), pointer)
    to_outside = {"project": {"data": {"type": "projects", "id": outside}}}
    assert mine.patch(stays, relationships=to_outside).status == 422
    assert mine.api.call("POST", f"projects/{outside}/relationships/workspaces", {"data": [{"type": "workspaces", "id": stays}]}).status == 422
    sha, event = mine.push()
    assert mine.reason(event, leaves) == "not_available" and sha not in mine.shas(leaves) and sha in mine.shas(stays)
    assert mine.reason(mine.asks_for(leaves, sha), leaves) == "not_available"
    mine.api.post(f"oauth-clients/{mine.client}/relationships/projects", {"data": [{"type": "projects", "id": outside}]})
    sha, event = mine.push()
    assert mine.reason(event, leaves) == "started" and sha in mine.shas(leaves), "it is available again"


# ---- who may do what ----


def test_only_managers_connect_and_members_see_no_secret(mine):
    workspace = mine.workspace()
    for access in ("read", "plan", "write"):
        member = mine.member(workspace, access)
        repo = {"vcs-repo": {"identifier": "acme/theirs", "oauth-token-id": mine.token}}
        for attributes in (repo, {"vcs-repo": None}, {"vcs-fork-plans": True}):
            answer = member.call("PATCH", f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": attributes}})
            assert answer.status in (403, 404), (access, attributes, answer.text)
        for method, path, body in (("PATCH", f"oauth-clients/{mine.client}", client_document(name="x")), ("DELETE", f"oauth-clients/{mine.client}", None),
                                   ("PATCH", f"oauth-tokens/{mine.token}", {"data": {"type": "oauth-tokens", "attributes": {"ssh-key": "x"}}}),
                                   ("DELETE", f"oauth-tokens/{mine.token}", None), ("POST", f"{mine.base}/oauth-clients", client_document(**GITEA))):
            assert member.call(method, path, body).status in (403, 404), (method, path)
        for path in (f"{mine.base}/oauth-clients", f"{mine.base}/oauth-tokens", f"oauth-clients/{mine.client}", f"oauth-tokens/{mine.token}", f"workspaces/{workspace}"):
            assert GITEA["oauth-token-string"] not in member.call("GET", path).text


def test_members_see_the_repositories_of_their_workspaces(mine):
    workspace = mine.workspace()
    sees, other = mine.member(workspace, "read"), mine.member(mine.api.workspace(), "admin")
    path = f"vcs-repositories/{mine.id}"
    for user, identifiers in ((mine.api, [mine.identifier]), (sees, [mine.identifier]), (other, [])):
        listed = user.get(f"{mine.base}/vcs-repositories")
        assert [item["attributes"]["identifier"] for item in listed.data] == identifiers and listed.json["meta"]["pagination"]["total-count"] == len(identifiers)
        assert user.call("GET", path).status == (200 if identifiers else 404)
    assert len(mine.api.get(path).data["attributes"]["webhook-secret"]) == 64 and sees.get(path).data["attributes"]["webhook-secret"] is None


# ---- commits that are not the repository's ----


def test_the_head_of_a_fork_is_not_run_by_its_sha(mine):
    """Servers give the commits of forks as if they were the repository's. Approved or not, they get no run with secrets that could be applied."""
    workspace = mine.workspace()
    first, fork = mine.repository.sha(), mine.repository.commit({"main.tf": "# evil"}, branch="of-the-fork")
    del mine.repository.refs["refs/heads/of-the-fork"]
    mine.repository.refs["refs/pull/7/head"] = fork
    waits = mine.event("pr_open", fork, "refs/heads/of-the-fork", number=7, base="main", fork="yes", title="Please")
    assert mine.reason(waits, workspace) == "fork_approval"
    for user in (mine.api, mine.member(workspace, "plan"), mine.api):
        refusal = mine.asks_for(workspace, fork, user)
        assert "No branch or tag has the commit" in mine.message(refusal) and mine.reason(refusal, workspace) is None
        mine.site.change("update vcs_pull_requests set approved_sha = %s where repository_id = %s", fork, mine.id)
    assert "No branch or tag" in mine.message(mine.asks_for(workspace, NOBODYS_SHA))
    assert mine.shas(workspace) == [first]


def secrets_of(place, run, worker):
    """The secrets that the run's job, in the pool of the worker, has: the keys of its variables, and whether it has the workspace's SSH key."""
    until(lambda: place.api.attributes(f"runs/{run}")["status"] in ("plan_queued", "planning"), f"{run} has its files")
    job = worker.take(run, "plan")
    return sorted(variable["key"] for variable in job["variables"]), bool(job["ssh-key"])


def test_an_approved_head_of_a_fork_is_planned_without_secrets(mine):
    """Managers of the workspace alone approve it. Its configuration gets no secrets in later runs either, and is never applied."""
    api, workspace = mine.api, mine.workspace()
    worker, of_forks = mine.site.fake_worker(), mine.site.fake_worker(mine.fork_token)
    api.variable(workspace, "plain", "visible", category="env")
    api.variable(workspace, "secret", "hidden", category="env", sensitive=True)
    key = api.post(f"{mine.base}/ssh-keys", {"data": {"type": "ssh-keys", "attributes": {"name": "modules", "value": "private"}}}).data["id"]
    api.call("PATCH", f"workspaces/{workspace}/relationships/ssh-key", {"data": {"type": "workspaces", "attributes": {"id": key}}})
    own = mine.repository.commit({"main.tf": "# own"}, branch="own")
    fork = mine.repository.commit({"main.tf": "# evil"}, branch="of-the-fork")
    mine.repository.refs["refs/pull/7/head"] = mine.repository.refs.pop("refs/heads/of-the-fork")
    waits = mine.event("pr_open", fork, "refs/heads/of-the-fork", number=7, base="main", fork="yes", title="Please")
    approve = f"vcs-events/{waits}/actions/approve"
    for stranger in (Place(mine.site, mine.git).api, *(mine.member(workspace, access) for access in ("read", "plan", "write"))):
        assert stranger.call("POST", approve).status in (403, 404)
    assert fork not in mine.shas(workspace)
    assert api.call("POST", approve).status == 202
    mine.settled()
    assert Place(mine.site, mine.git).api.call("POST", approve).status == 404
    mine.event("pr_open", own, "refs/heads/own", number=8, base="main", fork="no", title="Mine")
    runs = {sha: (run, configuration) for sha, run, configuration in mine.site.ask(
        "select k.sha, r.id, i.configuration_version_id from runs r join run_inputs i on i.run_id = r.id join configuration_commits k "
        "on k.configuration_version_id = i.configuration_version_id where r.workspace_id = %s and r.plan_only", workspace)}
    assert secrets_of(mine, runs[own][0], worker) == (["plain", "secret"], True)
    assert secrets_of(mine, runs[fork][0], of_forks) == (["plain"], False)
    assert secrets_of(mine, api.run(workspace, runs[fork][1]), of_forks) == (["plain"], False)
    body = {"data": {"type": "runs", "attributes": {"plan-only": False}, "relationships": {
        "workspace": {"data": {"type": "workspaces", "id": workspace}}, "configuration-version": {"data": {"type": "configuration-versions", "id": runs[fork][1]}}}}}
    assert api.call("POST", "runs", body).status == 422


def test_an_approval_holds_for_the_workspaces_that_its_user_manages(mine):
    """Other workspaces wait on, and so do those of another destination branch, which the same head reaches later."""
    first, second = mine.workspace(), mine.workspace()
    manager = mine.member(first, "admin")
    fork = mine.repository.commit({"main.tf": "# evil"}, branch="of-the-fork")
    mine.repository.refs["refs/pull/7/head"] = mine.repository.refs.pop("refs/heads/of-the-fork")
    waits = mine.event("pr_open", fork, "refs/heads/of-the-fork", number=7, base="main", fork="yes", title="Please")

    def approve(user, event):
        answer = user.call("POST", f"vcs-events/{event}/actions/approve")
        mine.settled()
        return answer.status

    def outcomes(event):
        return dict(mine.site.ask("select subject_id, reason from vcs_outcomes where event_id = %s", event))

    assert approve(mine.member(mine.api.workspace(), "admin"), waits) == 404
    assert approve(manager, waits) == 202 and outcomes(waits) == {first: "planned", second: "fork_approval"}
    assert fork in mine.shas(first) and fork not in mine.shas(second)
    assert mine.site.ask("select state from vcs_events where id = %s", waits) == [("approval",)]
    assert approve(manager, waits) == 404
    assert approve(mine.api, waits) == 202 and outcomes(waits) == {first: "planned", second: "planned"}
    assert mine.shas(first).count(fork) == mine.shas(second).count(fork) == 1
    assert mine.message(waits) == "2 of 2 workspaces and policy sets use the commit." and approve(mine.api, waits) == 404
    mine.repository.commit({"main.tf": "# release"}, branch="release")
    third = mine.workspace(branch="release")
    moved = mine.event("pr_open", fork, "refs/heads/of-the-fork", number=7, base="release", base_changed=True, fork="yes", title="Please")
    assert outcomes(moved)[third] == "fork_approval" and fork not in mine.shas(third)
    assert approve(manager, moved) == 404


def test_commits_of_branches_tags_and_own_pull_requests_run_by_their_sha(mine):
    """Also when the branch has gone on, or was deleted."""
    workspace = mine.workspace()
    old = mine.repository.sha()
    mine.push()
    tagged = mine.repository.commit({"main.tf": "# tagged"}, branch="release")
    del mine.repository.refs["refs/heads/release"]
    mine.repository.refs["refs/tags/v1"] = tagged
    own = mine.repository.commit({"main.tf": "# own"}, branch="feature")
    mine.event("pr_open", own, "refs/heads/feature", number=8, base="main", fork="no", title="Mine")
    del mine.repository.refs["refs/heads/feature"]
    for sha in (old, tagged, own):
        assert mine.reason(mine.asks_for(workspace, sha), workspace) == "started", sha
        assert mine.shas(workspace)[-1] == sha


def test_a_pull_request_that_does_not_say_where_it_comes_from_is_a_forks(mine):
    workspace = mine.workspace()
    sha = mine.repository.commit({"main.tf": "# x"}, branch="feature")
    for number, detail in ((21, {}), (22, {"fork": "unknown"}), (23, {"fork": None}), (24, {"fork": "NO"})):
        event = mine.event("pr_open", sha, "refs/heads/feature", number=number, base="main", title="x", **detail)
        assert mine.reason(event, workspace) == "fork_approval", detail
    assert sha not in mine.shas(workspace)


# ---- payloads ----


def send(place, name, payload):
    """Stores a delivery to the repository's hook, as the route of webhooks does. Returns its id."""
    delivery, key = secrets.token_hex(8), KEYS.split(":")[1]
    place.site.change("with new as (insert into vcs_deliveries (repository_id, delivery_id, event, body_sealed) values (%s, %s, %s, %s) returning 1) "
                      "select pg_notify('runyard_vcs', '') from new", place.id, delivery, name, seal(key, delivery, json.dumps(payload).encode()))
    return delivery


def deliver(place, name, payload):
    """The same. Returns when it was read."""
    delivery = send(place, name, payload)
    until(lambda: place.site.ask("select state from vcs_deliveries where delivery_id = %s", delivery) != [("waiting",)], "the delivery was read")
    place.settled()


def test_the_secret_of_one_hook_proves_nothing_at_another(mine, other):
    """Neither of another organization's, nor of another repository's of the same connection."""
    mine.workspace(), other.workspace()
    beside = mine.workspace(identifier=f"acme/{secrets.token_hex(4)}")
    shown = [place.api.get(f"vcs-repositories/{place.id}").data["attributes"] for place in (mine, other)]
    (repository,), = mine.site.ask("select repository_id from workspace_repositories where workspace_id = %s", beside)
    shown.append(mine.api.get(f"vcs-repositories/{repository}").data["attributes"])
    body = json.dumps({"ref": "refs/heads/main", "repository": {"full_name": "acme/x"}}).encode()
    for hook, signer in itertools.product(shown, shown):
        signature = hmac.new(signer["webhook-secret"].encode(), body, hashlib.sha256).hexdigest()
        headers = {"Content-Type": "application/json", "X-Gitea-Event": "push", "X-Gitea-Delivery": secrets.token_hex(8), "X-Gitea-Signature": signature}
        assert post(hook["webhook-url"], headers, body) == (204 if hook is signer else 401)


def messages(place):
    return [message for message, in place.site.ask("select message from vcs_events where repository_id = %s order by sequence", place.id)]


def test_a_payload_about_another_repository_of_the_connection_changes_nothing(mine):
    """Not even with a valid proof: neither runs, nor the repository's name, nor its default branch."""
    workspace = mine.workspace()
    before = mine.shas(workspace)
    foreign = {"repository": {"id": 99, "full_name": "acme/secrets", "default_branch": "evil"}, "sender": {"login": "eve"}}
    push = {"ref": "refs/heads/main", "before": mine.repository.sha(), "after": NOBODYS_SHA, "head_commit": {"id": NOBODYS_SHA}, **foreign}
    pull = {"action": "opened", "number": 3, "pull_request": {"title": "x", "head": {"ref": "x", "sha": NOBODYS_SHA, "repo_id": 99}, "base": {"ref": "main", "repo_id": 99}}, **foreign}
    for name, payload in (("push", push), ("pull_request", pull), ("repository", {"action": "renamed", **foreign})):
        deliver(mine, name, payload)
    row = mine.site.ask("select identifier, default_branch from vcs_repositories where id = %s", mine.id)
    assert row == [(mine.identifier, "main")] and mine.shas(workspace) == before
    assert any("another repository" in message for message in messages(mine))


def test_a_repository_can_not_be_renamed_to_what_is_no_identifier(mine):
    mine.workspace()
    for name in ("../../admin", "--upload-pack=touch /tmp/x", "acme/a b\nc", "acme", "acme/x?y#z", "acme/$(id)", SHORT):
        event = mine.event("rename", "", "", repository=name)
        assert mine.site.ask("select identifier from vcs_repositories where id = %s", mine.id) == [(mine.identifier,)], name
        assert mine.site.ask("select level from vcs_events where id = %s", event) == [("error",)], name


def test_a_repository_that_was_deleted_is_told(mine):
    mine.workspace()
    event = mine.event("rename", "", "", removed=True)
    assert mine.message(event) == "The repository was deleted at its provider."
    assert mine.site.ask("select level from vcs_events where id = %s", event) == [("error",)]


# ---- what one organization's work does to another's ----

POISON = """create function poison() returns trigger language plpgsql as $$ begin
if new.ref = 'refs/heads/poison' then raise exception 'poison'; end if; return new; end $$;
create trigger poison before insert on vcs_events for each row execute function poison()"""


def test_a_delivery_that_can_not_be_stored_stops_no_other(mine, other):
    mine.workspace(), other.workspace()
    site = mine.site
    site.change(POISON)
    try:
        bad, good = (send(place, "push", {"ref": f"refs/heads/{branch}", "before": "0" * 40, "after": NOBODYS_SHA, "repository": {"full_name": place.identifier}})
                     for place, branch in ((mine, "poison"), (other, "good")))
        until(lambda: site.ask("select state from vcs_deliveries where delivery_id = %s", good) == [("done",)], "the other's was read")
        ((state, tries, error),) = site.ask("select state, tries, error from vcs_deliveries where delivery_id = %s", bad)
        assert state == "waiting" and tries == 1 and "poison" in error
    finally:
        site.change("drop function poison cascade")
    site.change("update vcs_deliveries set due_at = now() where delivery_id = %s", bad)
    site.change("select pg_notify('runyard_vcs', '')")
    until(lambda: site.ask("select state from vcs_deliveries where delivery_id = %s", bad) == [("done",)], "it was read, too")


def test_a_flood_of_events_delays_no_other_organization(mine, other):
    mine.workspace(), other.workspace()
    site = mine.site
    site.change("insert into vcs_events (id, organization_id, connection_id, repository_id, kind, ref, sha, detail) select 've-flood-' || n, organization_id, connection_id, id, "
                "'push', 'refs/heads/b' || n, %s, '{\"looked\": true}' from vcs_repositories, generate_series(1, 500) n where id = %s", NOBODYS_SHA, mine.id)
    other.event("push")
    ((left,),) = site.ask("select count(*) from vcs_events where repository_id = %s and state = 'waiting'", mine.id)
    assert left > 100, "the other's event did not wait for all of them"
    mine.settled()


# ---- names ----

BAD_IDENTIFIERS = ["", "acme", "/acme/x", "acme/../x", "acme//x", "acme/x/", "-acme/x", "acme/-x", "--upload-pack=x/y", "acme/x\ny", "acme/$(id)", "acme/`id`", "acme/x;id", "acme/x\"",
                   "acme/'x", "acme/<b>", "ext::sh -c id/x", "file:///etc/passwd", "acme/x?y", "acme/x#y", "acme/x%2fy", "acme/x@y", "acme\\x", "acme/\u202egpj"]
BAD_BRANCHES = ["-x", "--upload-pack=x", "a..b", "a b", "a\nb", "a~1", "a^", "a:b", "a?", "a*", "a[", "a\\b", "/a", "a/", "a//b", "a.lock", ".a", "a/.b", "a@{1}", "a\x7f", "x" * 1100]


def test_identifiers_and_branches_that_are_none_are_refused(mine):
    """In GitHub's and Gitea's rules and in those of git. The refusal does not repeat them raw where a page would show it."""
    for identifier in BAD_IDENTIFIERS:
        assert refused(mine.create(identifier=identifier), "/data/attributes/vcs-repo/identifier"), identifier
    for branch in BAD_BRANCHES:
        assert refused(mine.create(branch=branch), "/data/attributes/vcs-repo/branch"), branch


def test_hostile_titles_and_messages_stay_texts(mine):
    """In the run's message, in its answers and pages: each is one JSON text, and pages are made of texts alone."""
    workspace = mine.workspace()
    for number, text in enumerate([SHORT, "$(touch /tmp/pwned)\n`id`", "-rf / --no-preserve-root", "\u202egpj.exe", "a\x00b".replace("\x00", "\x01"), *CORPUS[:6]], 100):
        sha, event = mine.push(message=text, sender=text, commit_url="javascript:pwned=1", sender_avatar_url="javascript:pwned=1")
        assert mine.reason(event, workspace) == "started"
        run = mine.api.get(f"workspaces/{workspace}/runs").data[0]
        message = run["attributes"]["message"]
        assert "\n" not in message and len(message) <= 500 and message.strip()[:20] == text.splitlines()[0].strip()[:20]
        page = mine.api.ask("GET", f"{mine.site.scheduler.url}/app/{mine.api.organization}/workspaces/{workspace}/runs/{run['id']}")
        assert "<svg onload" not in page.text and "<img src=x" not in page.text
