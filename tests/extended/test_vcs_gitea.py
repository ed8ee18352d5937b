# SPDX-License-Identifier: MPL-2.0
"""Runs from commits in repositories of a real Gitea: its hooks, its API, its git, and the whole stack with terraform."""

import contextlib
import json
import re
import shutil
import time

import pytest

from support.browser import Browser
from support.documents import document
from support.gitea import Gitea
from support.modules import OUTPUT, TYPE, Modules
from support.site import new_folder
from support.vcs_flow import Repo, telling
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
def stack(full_site):
    return full_site


@pytest.fixture
def ask(stack):
    return stack.ask


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


def test_deliveries_that_are_replayed(stack, gitea, repo, repository, ask):
    """Each several times, and the newest first: every head has one run."""
    workspace = hooked(repo, repository, "replayed")
    heads = []
    for word in ("second", "third"):
        heads.append(repository.copy.commit_and_push(telling(word)))
        repo.run(workspace, heads[-1])
    repository.copy.branch("feature")
    heads.append(repository.copy.commit_and_push(telling("feature")))
    repository.pull("feature")
    plan_of(stack, repo, workspace, heads[-1])
    (hook,) = repository.hooks()
    browser, delivered = gitea.browser(), "select count(*) from vcs_deliveries d join vcs_repositories r on r.id = d.repository_id where r.identifier = %s and d.state = 'done'"
    before, replayed = ask(delivered, repository.identifier)[0][0], 0
    for _ in range(2):
        replayed += repository.deliver_again(hook, browser)
    assert replayed >= 10
    until(lambda: ask(delivered, repository.identifier)[0][0] == before + replayed, lambda: f"{replayed} deliveries are read: {ask(delivered, repository.identifier)} after {before}")
    repo.settled(ask)
    assert heads_of(repo, workspace)[:-1] == heads[::-1]


@contextlib.contextmanager
def down(stack):
    """No scheduler answers meanwhile, so Gitea's deliveries are lost."""
    stack.scheduler.stop()
    try:
        yield
    finally:
        stack.scheduler.start()


def heads_of(repo, workspace):
    """The commits of its runs."""
    return [repo.ingress(each["id"])["commit-sha"] for each in repo.runs(workspace)]


def test_a_receiver_that_was_down(stack, repo, repository, ask):
    """50 pushes to five branches while no scheduler answers: after one look each head has one run, and no older commit has any."""
    branches = ["main", "east", "west", "north", "south"]
    for branch in branches[1:]:
        repository.copy.branch(branch, "main")
        repository.copy.commit_and_push({f"{branch}.txt": ""})
    workspaces = {branch: repo.ready(f"down-{branch}", repo={"branch": branch}) for branch in branches}
    before, heads = {}, {}
    for branch in branches:
        before[branch] = heads_of(repo, workspaces[branch])
    with down(stack):
        for number in range(50):
            branch = branches[number % len(branches)]
            repository.copy.branch(branch)
            heads[branch] = repository.copy.commit_and_push({"notes.txt": f"{number}"})
    repo.check(workspaces["main"])
    for branch in branches:
        repo.run(workspaces[branch], heads[branch])
    repo.settled(ask)
    for branch in branches:
        assert heads_of(repo, workspaces[branch]) == [heads[branch], *before[branch]]
    assert ask("select distinct found_by from vcs_events where sha = any(%s)", list(heads.values())) == [("poll",)]


def test_pull_requests_while_the_receiver_was_down(stack, repo, repository, ask):
    """Opened, updated and closed meanwhile: after one look each open one's head has one plan."""
    workspace = hooked(repo, repository, "pulls-down")
    repository.copy.branch("known", "main")
    first = repository.copy.commit_and_push({"known.txt": ""})
    known = repository.pull("known")["number"]
    plan_of(stack, repo, workspace, first)
    heads = {}
    with down(stack):
        for number in range(5):
            repository.copy.branch(f"pull-{number}", "main")
            repository.copy.commit_and_push({f"pull-{number}.txt": ""})
            pull = repository.pull(f"pull-{number}")["number"]
            heads[pull] = repository.copy.commit_and_push({f"pull-{number}.txt": "two"})
        repository.change_pull(pull, state="closed")
        closed = heads.pop(pull)
        repository.copy.branch("known")
        heads[known] = repository.copy.commit_and_push({"known.txt": "two"})
    repo.check(workspace)
    for head in heads.values():
        repo.run(workspace, head, plan_only=True)
    repo.settled(ask)
    commits = heads_of(repo, workspace)
    assert len(commits) == len(set(commits)) and closed not in commits


def test_two_hundred_workspaces_share_a_repository(stack, repo, repository, ask):
    """One push: one fetch, one stored content, one context of statuses."""
    workspaces = [hooked(repo, repository, "shared-0")] + [repo.workspace(f"shared-{number}", queue_all_runs=False) for number in range(1, 200)]
    repo.settled(ask)
    ask("update workspaces set settings = settings || '{\"queue-all-runs\": true}' where name like 'shared-%%'")
    fetches = stack.worker.metric("runyard_worker_git_jobs_total", kind="fetch", outcome="done")
    sha = repository.copy.commit_and_push(EMPTY)
    found = "select count(*) from vcs_outcomes o join vcs_events e on e.id = o.event_id where e.sha = %s and o.run_id is not null"
    until(lambda: ask(found, sha) == [(200,)], lambda: f"every workspace has a run: {ask(found, sha)}")
    contents = "select state, count(*), count(blob_id) from vcs_contents where sha = %s group by state"
    until(lambda: ask(contents, sha) == [("stored", 1, 1)], lambda: f"the commit is fetched once: {ask(contents, sha)}")
    until(lambda: repository.status(sha, context(stack)), "the commit has a status")
    assert stack.worker.metric("runyard_worker_git_jobs_total", kind="fetch", outcome="done") == fetches + 1
    for workspace in workspaces:
        stack.api.delete(f"workspaces/{workspace}")
    assert {each["context"] for each in repository.statuses(sha)} == {context(stack)}


def found_by(ask, sha):
    """The found-by of the commit's push: webhook or poll."""
    return [found for found, in ask("select found_by from vcs_events where sha = %s and kind = 'push'", sha)]


def test_a_renamed_repository_is_followed(stack, gitea, repo, repository, ask):
    """By a payload, and by a poll whose look is redirected. Gitea sends no event of a renaming."""
    workspace = hooked(repo, repository, "renamed", auto_apply=True)

    def identifier():
        return stack.api.attributes(f"workspaces/{workspace}")["vcs-repo"]["identifier"]

    def pushed(name):
        before = repository.identifier
        repository.rename(name)
        sha = repository.copy.commit_and_push(telling(name))
        if not repository.hooks():
            repo.check(workspace)
        run = repo.run(workspace, sha)
        assert identifier() == repository.identifier == repo.ingress(run)["identifier"]
        assert f"The repository was renamed from {before} to {repository.identifier}." in repo.events()
        return sha

    sha = pushed("renamed-once")
    assert "webhook" in found_by(ask, sha)
    reported(stack, repository, sha, "success")
    repository.delete_hooks()
    assert found_by(ask, pushed("renamed-twice")) == ["poll"]
    other = gitea.repository("taken", EMPTY)
    second = stack.api.workspace("other", vcs_repo={**repo.link(), "identifier": other.identifier}, queue_all_runs=False)
    other.delete()
    repository.rename("taken")
    repo.check(workspace)
    until(lambda: any("the connection has another repository of that name" in message for message in repo.events()), lambda: f"an event about the collision: {repo.events()}")
    assert identifier() == "bot/renamed-twice"
    assert stack.api.attributes(f"workspaces/{second}")["vcs-repo"]["identifier"] == other.identifier


def test_a_new_default_branch_is_followed(stack, repo, repository, ask):
    """Workspaces without a branch follow the new one from the next push on. The old one is a branch like any other."""
    workspace = hooked(repo, repository, "default-branch")
    repository.copy.branch("trunk")
    repository.copy.push()
    repository.call("PATCH", body={"default_branch": "trunk"})
    sha = repository.copy.commit_and_push(telling("trunk"))
    ingress = repo.ingress(repo.run(workspace, sha))
    assert (ingress["branch"], ingress["on-default-branch"]) == ("trunk", True)
    repository.copy.branch("main")
    old = repository.copy.commit_and_push(telling("main"))
    until(lambda: ask("select 1 from vcs_events where sha = %s and state = 'done'", old), "the push to the old branch is an event")
    stack.api.post(f"workspaces/{workspace}/actions/vcs-run", {"data": {"attributes": {}}})
    repo.run(workspace, sha, count=2)
    assert repo.runs(workspace, old) == []


ASKED = {"Sec-Fetch-Site": "same-origin"}


def refused(browser, back):
    return browser.ask(back, follow=False).status == 422


def test_a_consent_in_the_browser(stack, gitea, repository, ask):
    """OAuth with PKCE: a wrong state and a replayed code are refused; the token is renewed before it expires, and may do all that a connection does."""
    application = gitea.application(f"{stack.scheduler.url}/not-known-yet")
    repo = Repo(stack.api, repository.identifier, {"service-provider": "gitea", "http-url": gitea.url, "api-url": gitea.api_url,
                                                   "key": application["client_id"], "secret": application["client_secret"]})
    shown = stack.api.attributes(f"oauth-clients/{repo.connection}")
    changed = gitea.application(shown["callback-url"], application)
    stack.api.patch(f"oauth-clients/{repo.connection}", {"data": {"type": "oauth-clients", "attributes": {"secret": changed["client_secret"]}}})
    browser, visitor = Browser(stack.scheduler.url).sign_in(stack.tokens["user"], stack.tokens["password"]), gitea.browser()

    def consent():
        browser.ask(shown["connect-path"], headers=ASKED, follow=False)
        assert browser.status == 303 and "code_challenge_method=S256" in browser.headers["Location"], browser.text
        return gitea.consent(visitor, browser.headers["Location"])

    back = consent()
    code = re.search("code=([^&]+)", back)[1]
    assert refused(browser, re.sub("state=[^&]+", "state=wrong", back))
    assert browser.ask(back, follow=False).status == 303, browser.text
    assert refused(browser, back), "a state is used once"
    assert refused(browser, re.sub("code=[^&]+", f"code={code}", consent())) and "refused with the error" in browser.text
    (token,) = stack.api.get(f"oauth-clients/{repo.connection}/oauth-tokens").data
    assert token["attributes"]["service-provider-user"] == "bot"
    repo.token = token["id"]
    workspace = hooked(repo, repository, "by-oauth", auto_apply=True)
    renewed = "select r.generation >= 2, state from vcs_renewals r join vcs_tokens t on t.id = r.token_id where t.id = %s"
    until(lambda: ask(renewed, repo.token) == [(True, "verified")], lambda: f"the first token has expired, and was renewed: {ask(renewed, repo.token)}")
    sha = repository.copy.commit_and_push(telling("second"))
    repo.run(workspace, sha)
    reported(stack, repository, sha, "success")
    repository.copy.branch("feature")
    repository.copy.commit_and_push(telling("feature"))
    number = repository.pull("feature")["number"]
    until(lambda: len(repository.comments(number)) == 1, "there is a comment")


def test_a_connection_whose_token_is_refused(stack, gitea, repository):
    answer = stack.api.call("POST", f"organizations/{stack.api.organization}/oauth-clients", {"data": {"type": "oauth-clients", "attributes": {
        "service-provider": "gitea", "http-url": gitea.url, "api-url": gitea.api_url, "oauth-token-string": "no-such-token"}}})
    assert answer.status == 422, answer.text
    assert "no-such-token" not in json.dumps(answer.json)


# ---- modules of the registry ----


class Module:
    """A module of a repository, and how its versions are."""

    def __init__(self, stack, gitea, name):
        self.modules, self.name = Modules(stack.api), name
        self.repository = gitea.repository(f"terraform-null-{name}", {"main.tf": OUTPUT % "first", "README.md": f"# {name}\n"})
        self.repo = Repo(stack.api, self.repository.identifier, {"service-provider": "gitea", "http-url": gitea.url, "api-url": gitea.api_url, "oauth-token-string": gitea.token})

    def connect(self, **more):
        self.modules.api.post(f"{self.modules.base}/vcs", document(TYPE, {"vcs-repo": self.repo.link(**more)}))
        until(lambda: [hook for hook in self.repository.hooks() if "/webhooks/vcs/" in hook["config"]["url"]], "the hook is there")

    def versions(self):
        return {item["version"]: item["status"] for item in self.modules.read(self.name)["attributes"]["version-statuses"]}

    def version(self, version):
        return self.modules.read(self.name, version)["attributes"]

    def description(self, version):
        path = f"registry-modules/{self.modules.read(self.name)['id']}/description?module_version={version}"
        return until(lambda: self.modules.api.get(path).data["attributes"]["root"], f"{version} is described")


def test_tags_are_versions_of_a_module_within_seconds(stack, gitea, ask):
    module = Module(stack, gitea, "tagged")
    module.connect()
    until(lambda: module.modules.read("tagged")["attributes"]["status"] == "no_version_tags", "the repository was looked at")
    sha = module.repository.copy.head
    begun = time.monotonic()
    module.repository.copy.tag("v1.0.0")
    until(lambda: module.versions() == {"1.0.0": "ok"}, lambda: f"the version is there: {module.versions()}")
    assert time.monotonic() - begun < 5
    assert module.version("1.0.0")["commit-sha"] == sha and module.description("1.0.0")["readme"] == "# tagged\n"
    moved = module.repository.copy.commit_and_push({"main.tf": OUTPUT % "second"})
    module.repository.copy.git("tag", "--force", "v1.0.0")
    module.repository.copy.git("push", "--quiet", "--force", "origin", "v1.0.0")
    until(lambda: module.version("1.0.0")["error"], "the moved tag is shown")
    assert f"The tag v1.0.0 was moved to the commit {moved[:12]}" in module.version("1.0.0")["error"] and module.version("1.0.0")["commit-sha"] == sha
    module.repository.copy.tag("v1.1.0")
    until(lambda: module.versions() == {"1.1.0": "ok", "1.0.0": "ok"}, "the next version is there")
    module.repository.copy.delete("refs/tags/v1.1.0")
    until(lambda: ask("select 1 from vcs_refs f join vcs_repositories r on r.id = f.repository_id where r.identifier = %s and f.name = 'refs/tags/v1.1.0' and f.sha = ''", module.repository.identifier)
          or not ask("select 1 from vcs_refs f join vcs_repositories r on r.id = f.repository_id where r.identifier = %s and f.name = 'refs/tags/v1.1.0'", module.repository.identifier), "the tag is gone")
    until(lambda: ask("select count(*) from registry_modules where tags_due") == [(0,)], "the tags were looked at")
    assert module.versions() == {"1.1.0": "ok", "1.0.0": "ok"} and module.description("1.1.0")


def test_a_branch_has_versions_of_a_module_by_the_api(stack, gitea):
    module = Module(stack, gitea, "branched")
    first = module.repository.copy.head
    module.connect(branch="main")
    until(lambda: module.versions() == {"0.0.0": "ok"}, lambda: f"the initial version is there: {module.modules.read('branched')}")
    second = module.repository.copy.commit_and_push({"main.tf": OUTPUT % "second"})
    module.repository.copy.commit_and_push({"main.tf": OUTPUT % "third"})
    module.repository.copy.tag("v9.0.0")
    module.modules.version("branched", "1.0.0", **{"commit-sha": second})
    until(lambda: module.versions() == {"1.0.0": "ok", "0.0.0": "ok"}, "the requested version is there")
    assert (module.version("0.0.0")["commit-sha"], module.version("1.0.0")["commit-sha"]) == (first, second)
    assert [item["name"] for item in module.description("1.0.0")["outputs"]] == ["word"]
