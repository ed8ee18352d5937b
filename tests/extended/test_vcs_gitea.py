# SPDX-License-Identifier: MPL-2.0
"""Runs from commits in repositories of a real Gitea: its hooks, its API, its git, and the whole stack with terraform."""

import json
import shutil

import pytest

from support.database import Database
from support.gitea import Gitea
from support.servers import Broker
from support.site import new_folder, release_all
from support.vcs_flow import Repo, VcsSite, telling
from support.wait import until

SPECULATIVE = {"planned_and_finished", "errored", "canceled"}
EMPTY = {"main.tf": 'output "one" {\n  value = 1\n}\n'}


@pytest.fixture(scope="module")
def gitea():
    folder = new_folder("gitea")
    server = Gitea(folder).start()
    yield server
    server.release()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def stack(postgres, sandbox, redis, engine):
    folder = new_folder("site")
    bus = Broker(folder).start()
    redis.command("flushall")
    site = VcsSite(folder, bus, postgres, sandbox, redis, engine.option)
    try:
        yield site.start()
    finally:
        release_all([bus, site.scheduler, site.worker, site.notifier, site.receiver])
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def ask(stack):
    asked = Database(stack.database)
    yield asked.ask
    asked.close()


@pytest.fixture
def repository(gitea, request):
    return gitea.repository(request.node.name.removeprefix("test_")[:40], telling("first"))


@pytest.fixture
def repo(stack, gitea, repository):
    return Repo(stack.api, repository.identifier, {"service-provider": "gitea", "http-url": gitea.url, "api-url": gitea.api_url, "oauth-token-string": gitea.token})


def hooked(repo, repository, name, **attributes):
    """A workspace whose repository has a hook, so that the next push is delivered."""
    workspace = repo.ready(name, **attributes)
    until(lambda: [hook for hook in repository.hooks() if "/webhooks/vcs/" in hook["config"]["url"]], "the hook is there")
    return workspace


def context(stack):
    return f"Runyard/{stack.api.organization}"


def reported(stack, repository, sha, wanted):
    until(lambda: (repository.status(sha, context(stack)) or {}).get("status") == wanted,
          lambda: f"the status is {wanted}: {[(each['context'], each['status'], each['description']) for each in repository.statuses(sha)]}")
    return repository.status(sha, context(stack))


def test_a_push_runs_and_is_reported(stack, repo, repository, ask):
    """By the hook, not by a poll; the status links to the event's page; the hook is signed."""
    workspace = hooked(repo, repository, "push", auto_apply=True)
    sha = repository.copy.commit_and_push(telling("second"), "Say the second word")
    run = repo.run(workspace, sha)
    stack.api.wait_status(run, "applied")
    assert ask("select found_by from vcs_events where sha = %s", sha)[0] == ("webhook",)
    ingress = repo.ingress(run)
    assert (ingress["branch"], ingress["on-default-branch"], ingress["sender-username"], ingress["commit-url"]) == ("main", True, "bot", f"{repository.url}/commit/{sha}")
    assert reported(stack, repository, sha, "success")["target_url"].startswith(stack.scheduler.url)
    (hook,) = repository.hooks()
    assert hook["config"]["url"] == stack.api.attributes(f"workspaces/{workspace}")["vcs-repo"]["webhook-url"]


def test_tags(stack, repo, repository, ask):
    """Gitea sends both push and create for a tag: one run, and none where no regular expression is set."""
    pushed, tagged = hooked(repo, repository, "not-tagged"), repo.ready("tagged", repo={"tags_regex": "^v"})
    counts = len(repo.runs(pushed)), len(repo.runs(tagged))
    sha = repository.copy.head
    repository.copy.tag("other")
    repository.copy.tag("v1", "an annotated tag")
    until(lambda: len(repo.runs(tagged)) == counts[1] + 1, "the tag runs")
    repo.settled(ask)
    assert (len(repo.runs(pushed)), len(repo.runs(tagged))) == (counts[0], counts[1] + 1)
    ingress = repo.ingress(repo.runs(tagged)[0]["id"])
    assert (ingress["tag"], ingress["commit-sha"]) == ("v1", sha)


def plan_of(stack, repo, workspace, sha):
    run = repo.run(workspace, sha, plan_only=True)
    stack.api.wait_status(run, SPECULATIVE)
    return run


def test_pull_requests(stack, repo, repository, ask):
    """Opened, updated, closed, reopened, merged: a plan of each head, one status, one comment that is edited."""
    workspace = hooked(repo, repository, "pulls", speculative_enabled=True)
    repository.copy.branch("feature")
    first = repository.copy.commit_and_push(telling("feature"))
    number = repository.pull("feature", 'A "title" with <b>HTML</b> and $(date)')["number"]
    run = plan_of(stack, repo, workspace, first)
    ingress = repo.ingress(run)
    assert (ingress["is-pull-request"], ingress["pull-request-number"], ingress["branch"], ingress["commit-sha"]) == (True, number, "feature", first)
    reported(stack, repository, first, "success")
    until(lambda: len(repository.comments(number)) == 1, "there is a comment")
    comment = repository.comments(number)[0]["id"]
    second = repository.copy.commit_and_push(telling("feature two"))
    plan_of(stack, repo, workspace, second)
    reported(stack, repository, second, "success")
    until(lambda: second[:7] in repository.comments(number)[0]["body"], lambda: f"the comment is of the new head: {repository.comments(number)}")
    repository.change_pull(number, state="closed")
    until(lambda: ask("select 1 from vcs_events where kind = 'pr_close' and state = 'done' and pull_request = %s", number), "it is closed")
    third = repository.copy.commit_and_push(telling("feature three"))
    repository.change_pull(number, state="open")
    plan_of(stack, repo, workspace, third)
    repository.merge_pull(number)
    merged = repository.call("GET", "branches/main")["commit"]["id"]
    repo.run(workspace, merged, plan_only=False)
    repo.settled(ask)
    assert [each["id"] for each in repository.comments(number)] == [comment]
    assert len(repo.runs(workspace, first)) == len(repo.runs(workspace, second)) == len(repo.runs(workspace, third)) == 1


def test_pull_requests_to_other_branches_and_drafts(stack, repo, repository, ask):
    """A destination that no workspace is on passes at once; a changed base and a draft that is ready are planned."""
    workspace = hooked(repo, repository, "bases", vcs_skip_drafts=True)
    repository.copy.branch("stable")
    repository.copy.push()
    repository.copy.branch("feature")
    head = repository.copy.commit_and_push(telling("feature"))
    number = repository.pull("feature", base="stable")["number"]
    reported(stack, repository, head, "success")
    assert repo.runs(workspace, head) == []
    repository.change_pull(number, base="main")
    plan_of(stack, repo, workspace, head)
    repository.copy.branch("draft")
    draft = repository.copy.commit_and_push(telling("draft"))
    number = repository.pull("draft", draft=True)["number"]
    until(lambda: ask("select 1 from vcs_events where sha = %s and pull_request = %s and state = 'done'", draft, number), "the draft is an event")
    repo.settled(ask)
    assert repo.runs(workspace, draft) == []
    repository.change_pull(number, title="No draft")
    plan_of(stack, repo, workspace, draft)


def test_a_fork_is_never_planned_unasked(stack, gitea, repo, repository, ask):
    workspace = hooked(repo, repository, "forks")
    fork = repository.fork(gitea.user("mallory"))
    fork.copy.branch("evil")
    head = fork.copy.commit_and_push(telling("evil"))
    number = repository.pull("mallory:evil", user="mallory")["number"]
    until(lambda: ask("select 1 from vcs_events where pull_request = %s and sha = %s and state = 'done'", number, head), "the pull request is an event")
    repo.settled(ask)
    assert repo.runs(workspace, head) == []
    assert any("fork" in message for message in repo.events())


def test_force_pushes_and_deleted_branches(stack, repo, repository, ask):
    workspace = hooked(repo, repository, "forced")
    old = repository.copy.commit_and_push(telling("old"))
    pending = repo.run(workspace, old)
    repository.copy.git("reset", "--quiet", "--hard", "HEAD~1")
    repository.copy.commit(telling("new"))
    new = repository.copy.push(force=True)
    repo.run(workspace, new)
    assert repo.ingress(pending)["commit-sha"] == old
    repository.copy.branch("side")
    head = repository.copy.commit_and_push()
    side = repo.workspace("side", repo={"branch": "side"}, queue_all_runs=True)
    first = repo.run(side, head)
    repository.copy.delete("refs/heads/side")
    until(lambda: ask("select 1 from vcs_events where kind = 'branch_delete' and ref = 'refs/heads/side' and state = 'done'"), "the branch is deleted")
    again = repository.copy.commit_and_push(telling("made again"))
    run = repo.run(side, again)
    assert run != first


def test_a_receiver_that_was_down(stack, repo, repository, ask):
    """50 pushes and ten pull requests while no scheduler answers: one look later every head has one run, and no older commit has any behind it."""
    workspace = hooked(repo, repository, "down")
    branches = []
    stack.scheduler.stop()
    try:
        for number in range(50):
            last = repository.copy.commit_and_push({"notes.txt": f"{number}"})
        for number in range(10):
            repository.copy.branch(f"pull-{number}", "main")
            repository.copy.commit_and_push({f"pull-{number}.tf": ""})
            repository.pull(f"pull-{number}")
            branches.append(repository.copy.commit_and_push({f"pull-{number}.tf": "# two\n"}))
    finally:
        stack.scheduler.start()
    repo.check(workspace)
    repo.run(workspace, last)
    for head in branches:
        repo.run(workspace, head, plan_only=True)
    repo.settled(ask)
    commits = [repo.ingress(each["id"])["commit-sha"] for each in repo.runs(workspace)]
    assert len(commits) == len(set(commits)), "no head has two runs"
    assert commits.count(last) == 1 and all(commits.count(head) == 1 for head in branches)


def test_two_hundred_workspaces_share_a_repository(stack, gitea, ask):
    """One push: one fetch, one stored content, one status."""
    repository = gitea.repository("shared", EMPTY)
    repo = Repo(stack.api, repository.identifier, {"service-provider": "gitea", "http-url": gitea.url, "api-url": gitea.api_url, "oauth-token-string": gitea.token})
    workspaces = [hooked(repo, repository, "shared-0")] + [repo.workspace(f"shared-{number}", queue_all_runs=False) for number in range(1, 200)]
    repo.settled(ask)
    blobs = ask("select count(*) from vcs_contents where blob_id is not null")[0][0]
    ask("update workspaces set queue_all_runs = true where name like 'shared-%%'")
    sha = repository.copy.commit_and_push({"main.tf": 'output "one" {\n  value = 2\n}\n'})
    found = "select count(*) from vcs_outcomes o join vcs_events e on e.id = o.event_id where e.sha = %s and o.run_id is not null"
    until(lambda: ask(found, sha) == [(200,)], lambda: f"every workspace has a run: {ask(found, sha)}")
    until(lambda: ask("select state from vcs_contents where sha = %s", sha) == [("stored",)], "the commit is fetched once")
    assert ask("select count(*) from vcs_contents where blob_id is not null")[0][0] <= blobs + 1
    assert {each["context"] for each in repository.statuses(sha)} <= {context(stack)}
    for workspace in workspaces:
        stack.api.delete(f"workspaces/{workspace}")


def test_a_connection_whose_token_is_refused(stack, gitea, repository):
    answer = stack.api.call("POST", f"organizations/{stack.api.organization}/oauth-clients", {"data": {"type": "oauth-clients", "attributes": {
        "service-provider": "gitea", "http-url": gitea.url, "api-url": gitea.api_url, "oauth-token-string": "no-such-token"}}})
    assert answer.status == 422, answer.text
    assert "no-such-token" not in json.dumps(answer.json)
