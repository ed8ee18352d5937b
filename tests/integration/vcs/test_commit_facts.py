# SPDX-License-Identifier: MPL-2.0
"""What jobs, policies, run tasks, states and searches tell of the commit that a run plans."""

import json

import pytest

from support.fake_worker import FakeWorker
from support.receiver import says
from support.vcs_connections import GITEA, connect

SHA = "0123456789abcdef0123456789abcdef01234567"
OTHER = "0123456fffffffffffffffffffffffffffffffff"
WEB = "https://gitea.example.com/acme/network"
DETAIL = {"commit-url": f"{WEB}/commit/{SHA}", "pull-request-url": f"{WEB}/pulls/7", "sender-username": "Octocat", "identifier": "acme/network"}
STATE = {"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "3f1c", "outputs": {}, "resources": []}


@pytest.fixture
def fake_worker(api, scheduler, tokens):
    return FakeWorker(scheduler.all[0].url, tokens["agent-token"], slots=64)


@pytest.fixture
def connected(api, ask):
    """connected(workspace, ...) gives it a repository."""
    client = connect(api, GITEA)[0]
    organization = ask("select organization_id from vcs_connections where id = %s", client)[0][0]
    ask("insert into vcs_repositories (id, organization_id, connection_id, identifier, default_branch) values ('vr-0000000000000001', %s, %s, 'acme/network', 'trunk')", organization, client)

    def connected(workspace, branch=""):
        ask("insert into workspace_repositories (workspace_id, repository_id, branch, ingress_submodules) values (%s, 'vr-0000000000000001', %s, true)", workspace, branch)

    return connected


def comes_from(ask, configuration, sha=SHA, branch="feature", tag="", **detail):
    """As if the configuration version had been made by a commit."""
    ask("insert into configuration_commits (configuration_version_id, id, sha, branch, tag, detail) values (%s, %s, %s, %s, %s, %s)",
        configuration, f"ia-{configuration[3:]}", sha, branch, tag, json.dumps({**DETAIL, **detail}))


def example(api, receiver):
    """The body of a run task's request, made of the last run."""
    task = api.task(receiver.service(says("passed")))
    return api.get(f"tasks/{task}/example").data["attributes"]["payload"]


def commit_of(payload):
    return {name: value for name, value in payload.items() if name.startswith("vcs_")}


def test_a_run_tasks_request(api, ask, receiver, fake_worker, connected):
    workspace = api.workspace()
    configuration = api.upload(workspace, {"main.tf": ""})
    api.run(workspace, configuration)
    assert set(commit_of(example(api, receiver)).values()) == {None}
    connected(workspace)
    assert commit_of(example(api, receiver)) == {"vcs_branch": "trunk", "vcs_repo_url": WEB, "vcs_commit_hash": None, "vcs_commit_url": None, "vcs_pull_request_url": None}
    comes_from(ask, configuration)
    wanted = {"vcs_branch": "trunk", "vcs_repo_url": WEB, "vcs_commit_hash": SHA, "vcs_commit_url": DETAIL["commit-url"], "vcs_pull_request_url": DETAIL["pull-request-url"]}
    assert commit_of(example(api, receiver)) == wanted
    ask("update workspace_repositories set branch = 'stable'")
    ask("update configuration_commits set detail = detail || '{\"pull-request-url\": \"\"}'")
    ask("update vcs_repositories set web_url = 'https://elsewhere.example.com/network'")
    assert commit_of(example(api, receiver)) == {**wanted, "vcs_branch": "stable", "vcs_repo_url": "https://elsewhere.example.com/network", "vcs_pull_request_url": None}


def test_the_repository_of_plain_git_is_its_clone_url(api, ask, receiver, connected):
    workspace = api.workspace()
    connected(workspace)
    ask("update vcs_connections set provider = 'git', http_url = 'ssh://git@git.example.com', api_url = ''")
    api.run(workspace, api.upload(workspace, {"main.tf": ""}), plan_only=True)
    assert commit_of(example(api, receiver))["vcs_repo_url"].startswith("ssh://git@git.example.com/acme/network")


def test_jobs_name_the_commit(api, ask, fake_worker):
    workspace = api.workspace()
    uploaded, tagged = (api.upload(workspace, {"main.tf": f"# {number}\n"}) for number in range(2))
    comes_from(ask, tagged, branch="", tag="v1")
    api.run(workspace, uploaded, plan_only=True)
    run = api.run(workspace, tagged, plan_only=True)
    commits = {job["run"]: job["commit"] for job in fake_worker.claim(8)}
    assert commits.pop(run) == {"sha": SHA, "branch": "", "tag": "v1"}
    assert list(commits.values()) == [None]


def test_policies_see_the_commit_and_the_repository(api, ask, fake_worker, connected):
    workspace = api.workspace()
    configuration = api.upload(workspace, {"main.tf": ""})
    policy = api.policy("opa", "advisory", "package p\nimport rego.v1\ndeny contains 1 if false\n")
    api.policy_set("opa", [policy], workspace)

    def facts():
        run = api.run(workspace, configuration, plan_only=True)
        fake_worker.plan(run)
        bundle = fake_worker.evaluate(run, "opa", "passed", [])
        return bundle["run"]["commit-sha"], bundle["run"]["workspace"]["vcs-repo"]

    assert facts() == (None, None)
    comes_from(ask, configuration)
    connected(workspace, "stable")
    assert facts() == (SHA, {"identifier": "acme/network", "display-identifier": "acme/network", "branch": "stable", "ingress-submodules": True})


def test_states_name_the_commit_that_was_applied(api, ask, fake_worker):
    workspace = api.workspace(auto_apply=True)
    configuration = api.upload(workspace, {"main.tf": ""})
    run = api.run(workspace, configuration)
    fake_worker.plan(run)
    job = fake_worker.take(run, "apply")
    fake_worker.on(job, "POST", "started", b"")
    fake_worker.on(job, "PUT", "state", json.dumps(STATE).encode())
    fake_worker.end(job)
    state = api.get(f"workspaces/{workspace}/current-state-version").data
    assert (state["attributes"]["vcs-commit-sha"], state["attributes"]["vcs-commit-url"]) == (None, None)
    comes_from(ask, configuration)
    for path in (f"workspaces/{workspace}/current-state-version", f"state-versions/{state['id']}"):
        attributes = api.attributes(path)
        assert (attributes["vcs-commit-sha"], attributes["vcs-commit-url"]) == (SHA, DETAIL["commit-url"])


def test_runs_are_found_by_commit_and_sender(api, ask):
    workspace = api.workspace()
    runs = []
    for number, (sha, sender) in enumerate([(SHA, "Octocat"), (OTHER, "hubot"), (None, None)]):
        configuration = api.upload(workspace, {"main.tf": f"# {number}\n"})
        if sha:
            comes_from(ask, configuration, sha, **{"sender-username": sender})
        runs.append(api.run(workspace, configuration))
    one, other, none = runs

    def found(path=f"workspaces/{workspace}/runs", **search):
        return {run["id"] for run in api.get(path, **{f"search[{name}]": text for name, text in search.items()}).data}

    for path in (f"workspaces/{workspace}/runs", f"organizations/{api.organization}/runs"):
        assert found(path, commit=SHA) == {one}
        assert found(path, commit="0123456") == {one, other}
        assert found(path, commit=OTHER[:10].upper()) == {other}
        assert found(path, commit="f") == found(path, commit="'%") == set()
        assert found(path, user="octoCAT") == {one}
        assert found(path, user="admin") == {one, other, none}
        assert found(path, basic="hubot") == {other} == found(path, basic=OTHER[:9])
        assert found(path, commit=SHA, user="hubot") == set()
