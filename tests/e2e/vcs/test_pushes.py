# SPDX-License-Identifier: MPL-2.0
"""Runs from pushes to plain git servers, which tell nobody: a poll finds them. Everything is real: servers, git, terraform."""

import shutil
import subprocess

import pytest

from support.receiver import says
from support.vcs_flow import Repo, telling
from support.wait import until


@pytest.fixture
def repository(http, request):
    """A repository of this test's own, with one commit on main."""
    made = http.repository(f"acme/{request.node.name}")
    made.commit(telling("first"))
    return made


@pytest.fixture
def repo(stack, http, repository):
    return Repo(stack.api, f"{repository.name}.git", {"service-provider": "git", "http-url": http.url, "key": http.user, "oauth-token-string": http.password})


@pytest.fixture
def ask(stack):
    return stack.ask


def outputs(api, workspace):
    state = api.get(f"workspaces/{workspace}/current-state-version", include="outputs").json
    return {each["attributes"]["name"]: each["attributes"]["value"] for each in state["included"]}


def ended(api, run):
    return api.wait_status(run, {"applied", "planned_and_finished"})


def test_a_push_is_planned_and_applied(stack, repo, repository):
    """The run knows its commit, in the API, in its variables and in the state."""
    api, workspace = stack.api, repo.ready("pushed", auto_apply=True)
    first = repo.run(workspace, repository.git("rev-parse", "HEAD"))
    ended(api, first)
    sha = repository.commit(telling("second"), message="Say the second word\n\nAnd why.")
    repo.check(workspace)
    run = repo.run(workspace, sha)
    ended(api, run)
    attributes = api.attributes(f"runs/{run}")
    assert attributes["status"] == "applied" and attributes["message"].startswith("Say the second word") and attributes["source"] == "tfe-configuration-version"
    ingress = repo.ingress(run)
    assert (ingress["commit-sha"], ingress["branch"], ingress["is-pull-request"], ingress["identifier"]) == (sha, "main", False, repo.identifier)
    assert outputs(api, workspace)["commit"] == f"main {sha} "
    assert api.attributes(f"workspaces/{workspace}/current-state-version")["vcs-commit-sha"] == sha


def test_a_workspace_without_runs_waits_for_the_first_one(stack, repo, repository, ask):
    """With queue-all-runs off, pushes change the current configuration only, until a run was queued by hand."""
    api, workspace = stack.api, repo.workspace("never-run", queue_all_runs=False)
    until(lambda: api.get(f"workspaces/{workspace}").data["relationships"]["current-configuration-version"].get("data"), "connecting makes a configuration")
    sha = repository.commit(telling("second"))
    repo.check(workspace)
    until(lambda: any("never" in message or "first" in message for message in repo.events()) or
          ask("select 1 from vcs_outcomes where subject_id = %s", workspace), "the push was looked at")
    repo.settled(ask)
    assert repo.runs(workspace) == []
    manual = api.run(workspace)
    api.wait_status(manual, {"planned", "planned_and_finished"})
    assert repo.ingress(manual)["commit-sha"] == sha
    api.act(manual, "discard")
    later = repository.commit(telling("third"))
    repo.check(workspace)
    repo.run(workspace, later)


def test_another_branch_and_a_deleted_one_make_no_run(stack, repo, repository, ask):
    workspace = repo.ready("branches")
    before = len(repo.runs(workspace))
    repository.branch("feature")
    sha = repository.commit({"other.tf": ""})
    repo.check(workspace)
    until(lambda: ask("select 1 from vcs_events where sha = %s and state = 'done'", sha), "the other branch's push is an event")
    repository.push(":refs/heads/feature")
    repo.check(workspace)
    until(lambda: ask("select 1 from vcs_events where kind = 'branch_delete' and ref = 'refs/heads/feature'"), "the deletion is an event")
    repo.settled(ask)
    assert len(repo.runs(workspace)) == before


def test_tags_start_runs_where_a_regular_expression_matches(stack, repo, repository, ask):
    api, tagged = stack.api, repo.ready("tagged", repo={"tags_regex": r"^v\d+$"}, auto_apply=True)
    pushed = repo.ready("not-tagged")
    before = [len(repo.runs(each)) for each in (tagged, pushed)]
    sha = repository.commit(telling("second"))
    repo.check(pushed)
    repo.run(pushed, sha)
    repo.settled(ask)
    assert len(repo.runs(tagged)) == before[0], "a push starts nothing where tags do"
    repository.git("tag", "v1")
    repository.git("tag", "other")
    repository.push("refs/tags/v1", "refs/tags/other")
    repo.check(tagged)
    run = repo.run(tagged, sha)
    ended(api, run)
    assert repo.ingress(run)["tag"] == "v1"
    assert outputs(api, tagged)["commit"].endswith(f"{sha} v1")
    assert len(repo.runs(pushed)) == before[1] + 1


def test_a_new_commit_does_not_change_a_run_that_waits(stack, repo, repository):
    """It queues behind; a locked workspace's run pends until it is unlocked."""
    api, workspace = stack.api, repo.ready("waiting")
    first = repo.run(workspace, repository.git("rev-parse", "HEAD"))
    api.wait_status(first, "planned")
    sha = repository.commit(telling("second"))
    repo.check(workspace)
    second = repo.run(workspace, sha)
    assert api.status(first) == "planned" and api.status(second) == "pending"
    api.act(first, "discard")
    api.wait_status(second, "planned")
    api.act(second, "discard")
    api.post(f"workspaces/{workspace}/actions/lock", {})
    third = repo.run(workspace, _pushed(repo, repository, workspace, "third"))
    assert api.status(third) == "pending"
    api.post(f"workspaces/{workspace}/actions/unlock")
    api.wait_status(third, "planned")
    assert repo.ingress(first)["commit-sha"] != sha == repo.ingress(second)["commit-sha"]


def _pushed(repo, repository, workspace, word):
    sha = repository.commit(telling(word))
    repo.check(workspace)
    return sha


def test_a_commit_runs_once_unless_it_is_asked_for(stack, repo, repository, ask):
    api, workspace = stack.api, repo.ready("again")
    sha = _pushed(repo, repository, workspace, "second")
    repo.run(workspace, sha)
    repo.check(workspace)
    repo.settled(ask)
    assert len(repo.runs(workspace, sha)) == 1
    api.post(f"workspaces/{workspace}/actions/vcs-run", {"data": {"attributes": {"commit-sha": sha}}})
    assert repo.ingress(repo.run(workspace, sha, count=2))["commit-sha"] == sha


def test_a_force_push_runs_the_new_head(stack, repo, repository):
    api, workspace = stack.api, repo.ready("forced")
    api.wait_status(repo.run(workspace, repository.git("rev-parse", "HEAD")), "planned")
    old = _pushed(repo, repository, workspace, "old")
    pending = repo.run(workspace, old)
    repository.git("reset", "-q", "--hard", "HEAD~1")
    new = _pushed(repo, repository, workspace, "new")
    run = repo.run(workspace, new)
    assert api.status(run) == api.status(pending) == "pending"
    assert repo.ingress(pending)["commit-sha"] == old


def test_paths_decide_which_workspaces_run(stack, repo, repository, ask):
    everything = repo.ready("all-paths", file_triggers_enabled=False)
    prefixes = repo.ready("prefixes", trigger_prefixes=["modules/net"], working_directory="live")
    patterns = repo.ready("patterns", trigger_patterns=["/modules/**/*.tf"], working_directory="live")
    counts = {each: len(repo.runs(each)) for each in (everything, prefixes, patterns)}

    def touched(files):
        sha = repository.commit(files)
        repo.check(everything)
        repo.run(everything, sha)
        repo.settled(ask)
        now = {each: len(repo.runs(each)) for each in counts}
        found = [name for name, each in (("prefixes", prefixes), ("patterns", patterns)) if now[each] > counts[each]]
        counts.update(now)
        return found

    assert touched({"README.md": "one"}) == []
    assert touched({"modules/network/a.tf": ""}) == ["patterns"], "a prefix matches whole folder names"
    assert touched({"modules/net/a.tf": ""}) == ["prefixes", "patterns"]
    assert touched({"live/.hidden": ""}) == ["prefixes"], "the working directory counts with prefixes"
    for number in range(7):
        repository.commit({f"docs/{number}": ""}, push=False)
    assert touched({"modules/net/b.txt": ""}) == ["prefixes"], "eight commits of one push"


def test_content_is_archived_and_fetched_again(stack, repo, repository, ask):
    """Once its run has ended a commit's content goes; a later run fetches it again, the same; and says so if it is gone."""
    api, workspace = stack.api, repo.ready("archived", auto_apply=True)
    sha = _pushed(repo, repository, workspace, "kept")
    run = repo.run(workspace, sha)
    ended(api, run)
    version = api.get(f"runs/{run}").data["relationships"]["configuration-version"]["data"]["id"]
    until(lambda: api.attributes(f"configuration-versions/{version}")["status"] == "archived", "its configuration is archived")
    until(lambda: ask("select 1 from vcs_contents where sha = %s and blob_id is null", sha), "its content is deleted")
    (hash_before,), = ask("select first_hash from vcs_contents where sha = %s", sha)
    again = api.run(workspace, version, plan_only=True)
    api.wait_status(again, "planned_and_finished")
    assert ask("select first_hash, hash from vcs_contents where sha = %s", sha) == [(hash_before, hash_before)]
    until(lambda: ask("select 1 from vcs_contents where sha = %s and blob_id is null", sha), "its content is deleted again")
    repository.git("reset", "-q", "--hard", "HEAD~1")
    repository.commit(telling("other"))
    shutil.rmtree(repository.bare / "logs", ignore_errors=True)
    repository_gc(repository)
    gone = api.run(workspace, version, plan_only=True)
    api.wait_status(gone, "errored")
    assert f"{sha} no longer exists" in str(ask("select error from vcs_contents where sha = %s", sha)) + str(api.get(f"runs/{gone}").json)


def repository_gc(repository):
    """Removes the commits of the server that no branch has."""
    for words in (["reflog", "expire", "--expire=now", "--all"], ["gc", "-q", "--prune=now"]):
        subprocess.run(["git", "-C", str(repository.bare), *words], check=True, capture_output=True)


def test_run_tasks_get_the_commit(stack, repo, repository):
    api, workspace = stack.api, repo.ready("tasks")
    first = repo.run(workspace, repository.git("rev-parse", "HEAD"))
    api.wait_status(first, "planned")
    api.act(first, "discard")
    downloads = []

    def downloads_it(call):
        downloads.append(call.ask("GET", call["configuration_version_download_url"]).status)
        says("passed")(call)

    service = stack.receiver.service(downloads_it)
    api.attach(workspace, api.task(service), "pre_plan")
    sha = _pushed(repo, repository, workspace, "second")
    run = repo.run(workspace, sha)
    api.wait_status(run, "planned")
    call = service.got()
    assert (call["vcs_commit_hash"], call["vcs_branch"], call["vcs_pull_request_url"]) == (sha, "main", None)
    assert call["vcs_repo_url"].endswith(repo.identifier)
    assert downloads == [200]


def test_a_policy_set_takes_its_versions_from_pushes(stack, repo, repository, ask):
    api = stack.api
    policies = {"policies/policies.hcl": 'policy "one" {\n  query = "data.p.deny"\n  enforcement_level = "mandatory"\n}\n', "policies/one.rego": "package p\nimport rego.v1\ndeny contains 1 if false\n"}
    first = repository.commit(policies)
    body = {"data": {"type": "policy-sets", "attributes": {"name": "from-git", "kind": "opa", "policies-path": "policies", "vcs-repo": repo.link()}}}
    made = api.post(f"organizations/{api.organization}/policy-sets", body).data["id"]

    def current():
        relation = api.get(f"policy-sets/{made}", include="current_version").json
        version = next((each for each in relation.get("included", []) if each["type"] == "policy-set-versions"), None)
        return version and version["attributes"]["ingress-attributes"]["commit-sha"]

    until(lambda: current() == first, lambda: f"the first commit is the current version: {current()} {repo.events()}")
    second = repository.commit({"policies/one.rego": "package p\nimport rego.v1\ndeny contains \"no\" if true\n"})
    ask("update vcs_repositories set look_due = now() where identifier = %s", repo.identifier)
    until(lambda: current() == second, lambda: f"the second commit is the current version: {current()} {repo.events()}")
    repository.commit({"README.md": "not below policies-path"})
    ask("update vcs_repositories set look_due = now() where identifier = %s", repo.identifier)
    repo.settled(ask)
    assert current() == second


def test_wrong_credentials_are_one_clear_error_until_they_are_right(stack, http, repository, ask):
    repo = Repo(stack.api, f"{repository.name}.git", {"service-provider": "git", "http-url": http.url, "key": http.user, "oauth-token-string": "wrong-password"})
    workspace = repo.workspace("wrong", queue_all_runs=True)
    until(lambda: ask("select look_error from vcs_repositories where identifier = %s and look_error is not null", repo.identifier), "the refusal is kept")
    assert not any("wrong-password" in str(row) for row in ask("select row_to_json(r)::text from vcs_repositories r") + ask("select row_to_json(e)::text from vcs_events e"))
    assert "wrong-password" not in stack.worker.process.log() + stack.scheduler.process.log()
    stack.api.patch(f"oauth-clients/{repo.connection}", {"data": {"type": "oauth-clients", "attributes": {"oauth-token-string": http.password}}})
    repo.check(workspace)
    repo.run(workspace, repository.git("rev-parse", "HEAD"))
