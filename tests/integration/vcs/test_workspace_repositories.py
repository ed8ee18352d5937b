# SPDX-License-Identifier: MPL-2.0
"""The repository of a workspace and of a policy set: what is shown, what changes it, and what is refused."""

import re

import pytest

from support.people import People
from support.vcs_connections import GIT, connect

EMPTY = {"branch": "", "tags-regex": None, "ingress-submodules": False, "github-app-installation-id": None}


def dashed(attributes):
    return {name.replace("_", "-"): value for name, value in attributes.items()}


def repo(token=None, **members):
    return {**({"oauth-token-id": token} if token else {}), **dashed(members)}


def create(org, vcs_repo, **attributes):
    body = {"data": {"type": "workspaces", "attributes": {"name": f"w{next(org.names)}", "vcs-repo": vcs_repo, **dashed(attributes)}}}
    return org.call("POST", f"organizations/{org.organization}/workspaces", body)


def created(org, vcs_repo, **attributes):
    answer = create(org, vcs_repo, **attributes)
    assert answer.status == 201, answer.text
    return answer.data["id"]


def patch(org, id, relations=None, kind="workspaces", **attributes):
    body = {"data": {"type": kind, "attributes": dashed(attributes)}}
    if relations:
        body["data"]["relationships"] = {name: {"data": link} for name, link in relations.items()}
    return org.call("PATCH", f"{kind}/{id}", body)


def shown(org, id, kind="workspaces"):
    return org.get(f"{kind}/{id}").data["attributes"]["vcs-repo"]


def refused(answer, attribute, detail=""):
    assert answer.status == 422, answer.text
    (error,) = answer.json["errors"]
    assert error["source"]["pointer"] == f"/data/attributes/{attribute}", error
    assert detail in error["detail"], error
    return True


@pytest.fixture
def token(org):
    return connect(org)[1]


# ---- what is shown ----


def test_a_connected_workspace_shows_its_repository(org, token, api_site):
    id = created(org, repo(token, identifier="acme/network", branch="main", ingress_submodules=True))
    attributes = org.get(f"workspaces/{id}").data["attributes"]
    hook = attributes["vcs-repo"].pop("webhook-url")
    assert re.fullmatch(rf"{re.escape(api_site.scheduler.url)}/webhooks/vcs/[a-f0-9]{{8}}-[a-f0-9]{{4}}-[a-f0-9]{{4}}-[a-f0-9]{{4}}-[a-f0-9]{{12}}", hook)
    repository = attributes["vcs-repo"].pop("repository-id")
    assert org.get(f"vcs-repositories/{repository}").data["attributes"]["webhook-url"] == hook
    assert attributes["vcs-repo"] == {
        "identifier": "acme/network", "display-identifier": "acme/network", "branch": "main", "ingress-submodules": True, "oauth-token-id": token,
        "github-app-installation-id": None, "tags-regex": None, "repository-http-url": "https://gitea.example.com/acme/network", "service-provider": "gitea"}
    assert attributes["vcs-repo-identifier"] == "acme/network"
    (listed,) = [item for item in org.get(f"organizations/{org.organization}/workspaces").data if item["id"] == id]
    assert listed["attributes"]["vcs-repo"] == attributes["vcs-repo"] | {"webhook-url": hook, "repository-id": repository}
    free = org.workspace()
    assert shown(org, free) is None and org.get(f"workspaces/{free}").data["attributes"]["vcs-repo-identifier"] is None


def test_all_workspaces_of_a_repository_share_one_hook(org, token):
    one, two = (shown(org, created(org, repo(token, identifier="acme/network", branch=branch))) for branch in ("", "main"))
    other = shown(org, created(org, repo(token, identifier="acme/Network")))
    assert one["webhook-url"] == two["webhook-url"] != other["webhook-url"]
    assert other["identifier"] == "acme/Network", "clients read the spelling that they sent"


def test_plain_git_has_no_pages_and_no_hooks(org):
    token = connect(org, GIT)[1]
    found = shown(org, created(org, repo(token, identifier="some/path.git")))
    assert found["webhook-url"] is None and found["repository-http-url"] is None and found["service-provider"] == "git"


def test_gitlab_keeps_subgroups(org):
    token = connect(org, service_provider="gitlab_hosted", http_url="https://gitlab.com", api_url="https://gitlab.com/api/v4")[1]
    found = shown(org, created(org, repo(token, identifier="a/b/c/d/e/network")))
    assert found["repository-http-url"] == "https://gitlab.com/a/b/c/d/e/network"


# ---- changes ----


def test_keys_that_are_sent_change(org, token, api_site):
    id = created(org, repo(token, identifier="acme/network", branch="main"))
    before = shown(org, id)
    assert patch(org, id, name="renamed").status == 200 and shown(org, id) == before
    assert patch(org, id, vcs_repo={"branch": "dev"}).data["attributes"]["vcs-repo"] == before | {"branch": "dev"}
    assert patch(org, id, vcs_repo={"branch": ""}).data["attributes"]["vcs-repo"] == before | {"branch": ""}
    assert patch(org, id, vcs_repo={"ingress-submodules": True, "branch": None}).data["attributes"]["vcs-repo"] == before | {"branch": "", "ingress-submodules": True}
    moved = patch(org, id, vcs_repo={"identifier": "acme/other"}).data["attributes"]["vcs-repo"]
    assert moved["identifier"] == "acme/other" and moved["webhook-url"] != before["webhook-url"]
    assert patch(org, id, vcs_repo={}).data["attributes"]["vcs-repo"] == moved
    other = connect(org)[1]
    assert patch(org, id, vcs_repo=repo(other, github_app_installation_id="")).data["attributes"]["vcs-repo"]["oauth-token-id"] == other
    assert patch(org, id, vcs_repo={"oauth-token-id": ""}).data["attributes"]["vcs-repo"]["oauth-token-id"] == other
    assert patch(org, id, vcs_repo=None).data["attributes"]["vcs-repo"] is None
    assert patch(org, id, vcs_repo=None).status == 200
    refused(patch(org, id, vcs_repo={"branch": "main"}), "vcs-repo/oauth-token-id")
    refused(patch(org, id, vcs_repo=repo(token)), "vcs-repo/identifier")
    assert patch(org, id, vcs_repo=repo(token, identifier="acme/network")).status == 200


def events(api_site, id):
    return api_site.ask("select found_by, kind, detail->>'subject' from vcs_events e join vcs_repositories r on r.id = e.repository_id "
                        "join workspaces w on w.organization_id = r.organization_id where w.id = %s order by e.sequence", id)


def test_a_new_repository_or_branch_is_looked_up_once(org, token, api_site):
    count = lambda: len(events(api_site, id))  # noqa: E731
    id = created(org, repo(token, identifier="acme/network"))
    assert count() == 1 and events(api_site, id)[0][:2] == ("request", "push")
    patch(org, id, vcs_repo=repo(token, identifier="acme/network", branch="", tags_regex="", ingress_submodules=False, github_app_installation_id=""))
    patch(org, id, vcs_repo={"ingress-submodules": True})
    patch(org, id, name="renamed", description="other")
    assert count() == 1, "the same again calls nobody"
    patch(org, id, vcs_repo={"branch": "dev"})
    assert count() == 2
    patch(org, id, vcs_repo=None)
    assert count() == 2
    patch(org, id, vcs_repo=repo(token, identifier="acme/network", branch="dev"))
    assert count() == 3


# ---- what is refused ----


@pytest.mark.parametrize("changes, member", [
    ({"identifier": ""}, "identifier"), ({"identifier": None}, "identifier"), ({"identifier": 7}, "identifier"), ({"identifier": "network"}, "identifier"),
    ({"identifier": "a/b/c"}, "identifier"), ({"identifier": "acme/../secret"}, "identifier"), ({"identifier": "--upload-pack=id"}, "identifier"),
    ({"identifier": "file:///etc/passwd"}, "identifier"), ({"identifier": "ext::sh -c id"}, "identifier"), ({"identifier": "acme/net work"}, "identifier"),
    ({"identifier": "acme/$(id)"}, "identifier"), ({"identifier": "a/" + "b" * 600}, "identifier"), ({"identifier": "acme/<b>"}, "identifier"),
    ({"branch": "-x"}, "branch"), ({"branch": "a b"}, "branch"), ({"branch": "a..b"}, "branch"), ({"branch": "$(id)\n"}, "branch"), ({"branch": "b" * 2000}, "branch"), ({"branch": ["a"]}, "branch"),
    ({"tags_regex": "("}, "tags-regex"), ({"tags_regex": "a" * 2000}, "tags-regex"), ({"tags_regex": 1}, "tags-regex"),
    ({"ingress_submodules": "yes"}, "ingress-submodules"), ({"oauth_token_id": "ot-none"}, "oauth-token-id"), ({"oauth_token_id": 7}, "oauth-token-id"),
    ({"github_app_installation_id": "ghain-x"}, "github-app-installation-id"), ({"oauth_token_id": "", "github_app_installation_id": "ghain-x"}, "github-app-installation-id"),
    ({"oauth_token_id": ""}, "oauth-token-id"),
])
def test_wrong_members_are_refused(org, token, changes, member):
    document = {**repo(token, identifier="acme/network"), **dashed(changes)}
    refused(create(org, document), f"vcs-repo/{member}")
    id = created(org, repo(token, identifier="acme/network"))
    before = shown(org, id)
    if changes.get("oauth_token_id") != "" and changes != {"identifier": None}:
        refused(patch(org, id, vcs_repo=dashed(changes)), f"vcs-repo/{member}")
    assert shown(org, id) == before


@pytest.mark.parametrize("value", ["acme/network", 7, [], True])
def test_the_attribute_must_be_an_object(org, value):
    refused(create(org, value), "vcs-repo")


def test_tokens_of_other_organizations_do_not_exist(org, api_site):
    strange = connect(api_site.organization())[1]
    refused(create(org, repo(strange, identifier="acme/network")), "vcs-repo/oauth-token-id", "must exist")


@pytest.mark.parametrize("attributes, attribute", [
    ({"trigger_patterns": ["a/**"]}, "tags-regex"), ({"trigger_prefixes": ["a"]}, "tags-regex"), ({"file_triggers_enabled": True}, "tags-regex"),
])
def test_a_tags_regex_excludes_file_triggers(org, token, attributes, attribute):
    tags = repo(token, identifier="acme/network", tags_regex=r"^v\d+$")
    refused(create(org, tags, **attributes), f"vcs-repo/{attribute}")
    id = created(org, tags)
    assert org.get(f"workspaces/{id}").data["attributes"]["file-triggers-enabled"] is False
    assert shown(org, id)["tags-regex"] == r"^v\d+$"
    refused(patch(org, id, **attributes), f"vcs-repo/{attribute}")
    assert patch(org, id, file_triggers_enabled=False, trigger_patterns=[], trigger_prefixes=[]).status == 200
    assert patch(org, id, vcs_repo={"tags-regex": ""}, **attributes).data["attributes"]["vcs-repo"]["tags-regex"] is None
    refused(patch(org, id, vcs_repo={"tags-regex": "x"}), f"vcs-repo/{attribute}")


@pytest.mark.parametrize("attribute, value", [
    ("trigger-patterns", ["../up"]), ("trigger-patterns", [""]), ("trigger-patterns", ["a\\"]), ("trigger-patterns", ["a\nb"]), ("trigger-patterns", ["x" * 2000]),
    ("trigger-patterns", ["a"] * 101), ("trigger-prefixes", ["../up"]), ("trigger-prefixes", [""]), ("trigger-patterns", [7]), ("trigger-prefixes", "a"),
])
def test_bad_globs_are_refused(org, token, attribute, value):
    answer = create(org, repo(token, identifier="acme/network"), **{attribute: value})
    assert answer.status == 422 and answer.json["errors"][0]["source"]["pointer"] in (f"/data/attributes/{attribute}", "/data/attributes/trigger-patterns"), answer.text


def test_settings_of_commits_are_kept(org):
    id = org.workspace(vcs_newest_only=True, vcs_skip_drafts=True, vcs_fork_plans=True, speculative_enabled=False, file_triggers_enabled=False)
    attributes = org.get(f"workspaces/{id}").data["attributes"]
    names = ["vcs-newest-only", "vcs-skip-drafts", "vcs-fork-plans", "speculative-enabled", "file-triggers-enabled"]
    assert [attributes[name] for name in names] == [True, True, True, False, False]
    plain = org.get(f"workspaces/{org.workspace()}").data["attributes"]
    assert [plain[name] for name in names] == [False, False, False, True, True]


# ---- projects ----


def test_a_connection_of_some_projects_is_refused_elsewhere(org, api_site):
    people = People(org, api_site.database)
    inside, outside = people.project("inside"), people.project("outside")
    client, token = connect(org, organization_scoped=False, relations={"projects": [{"type": "projects", "id": inside}]})
    link = lambda id: {"project": {"type": "projects", "id": id}}  # noqa: E731
    id = org.workspace()
    vcs_repo = repo(token, identifier="acme/network")
    refused(patch(org, id, vcs_repo=vcs_repo), "vcs-repo/oauth-token-id", "not available")
    assert patch(org, id, link(inside), vcs_repo=vcs_repo).status == 200
    answer = patch(org, id, link(outside))
    assert answer.status == 422 and answer.json["errors"][0]["source"]["pointer"] == "/data/relationships/project", answer.text
    answer = org.call("POST", f"projects/{outside}/relationships/workspaces", {"data": [{"type": "workspaces", "id": id}]})
    assert answer.status == 422 and org.get(f"workspaces/{id}").data["relationships"]["project"]["data"]["id"] == inside
    org.ask("POST", f"oauth-clients/{client}/relationships/projects", {"data": [{"type": "projects", "id": outside}]})
    assert patch(org, id, link(outside)).status == 200 and shown(org, id)["oauth-token-id"] == token
    assert patch(org, id, vcs_repo={"branch": "x"}).status == 200
    assert patch(org, id, link(inside), vcs_repo=None).data["attributes"]["vcs-repo"] is None


# ---- deletion ----


@pytest.mark.parametrize("gone", ["client", "token"])
def test_a_deleted_connection_leaves_workspaces_and_policy_sets_without_repository(org, gone):
    client, token = connect(org)
    id = created(org, repo(token, identifier="acme/network"))
    policies = policy_set(org, repo(token, identifier="acme/policies")).data["id"]
    org.delete(f"oauth-clients/{client}" if gone == "client" else f"oauth-tokens/{token}")
    assert shown(org, id) is None and shown(org, policies, "policy-sets") is None
    assert patch(org, id, name="still-here").status == 200
    org.delete(f"workspaces/{id}")


def test_a_connected_workspace_is_deleted(org, token):
    id = created(org, repo(token, identifier="acme/network"))
    org.delete(f"workspaces/{id}")
    assert org.call("GET", f"workspaces/{id}").status == 404


# ---- uploads ----


def test_uploads_into_a_connected_workspace_can_only_be_planned(org, token):
    id = created(org, repo(token, identifier="acme/network"))
    configuration = org.upload(id, {"main.tf": ""}, auto_queue_runs=False)
    assert org.get(f"configuration-versions/{configuration}").data["attributes"]["speculative"] is True
    run = org.run(id, configuration)
    assert org.get(f"runs/{run}").data["attributes"]["plan-only"] is True
    patch(org, id, vcs_repo=None)
    assert org.get(f"configuration-versions/{org.upload(id, {'main.tf': ''}, auto_queue_runs=False)}").data["attributes"]["speculative"] is False


# ---- policy sets ----


def policy_set(org, vcs_repo, relations=None, **attributes):
    body = {"data": {"type": "policy-sets", "attributes": {"name": f"p{next(org.names)}", "kind": "opa", "vcs-repo": vcs_repo, **dashed(attributes)},
                     "relationships": {name: {"data": link} for name, link in (relations or {}).items()}}}
    return org.call("POST", f"organizations/{org.organization}/policy-sets", body)


def test_a_policy_set_has_a_repository(org, token, api_site):
    answer = policy_set(org, repo(token, identifier="acme/policies", branch="main", ingress_submodules=True), policies_path="sets/a", policy_update_patterns=["lib/**"])
    assert answer.status == 201, answer.text
    id, found = answer.data["id"], answer.data["attributes"]["vcs-repo"]
    assert found | {"webhook-url": 0, "repository-id": 0} == {**EMPTY, "identifier": "acme/policies", "display-identifier": "acme/policies", "branch": "main", "ingress-submodules": True, "oauth-token-id": token,
                                          "repository-http-url": "https://gitea.example.com/acme/policies", "service-provider": "gitea", "webhook-url": 0, "repository-id": 0}
    row = lambda: api_site.ask("select policies_path, update_patterns from policy_set_repositories where policy_set_id = %s", id)  # noqa: E731
    assert row() == [("sets/a", ["lib/**"])]
    assert patch(org, id, kind="policy-sets", vcs_repo={"branch": ""}, policies_path="sets/b").data["attributes"]["vcs-repo"] == found | {"branch": ""}
    patch(org, id, kind="policy-sets", policy_update_patterns=["other/*"])
    assert row() == [("sets/b", ["other/*"])]
    assert shown(org, id, "policy-sets") == found | {"branch": ""}
    answer = org.call("POST", f"policy-sets/{id}/versions")
    assert answer.status == 422, answer.text
    bare = patch(org, id, kind="policy-sets", vcs_repo=None).data["attributes"]
    assert bare["vcs-repo"] is None and bare["policy-update-patterns"] == ["other/*"]
    assert row() == []


def test_a_repository_of_a_policy_set_excludes_policies(org, token):
    policy = org.policy("opa", "advisory", "package p\n")
    link = {"policies": [{"type": "policies", "id": policy}]}
    refused(policy_set(org, repo(token, identifier="acme/policies"), link), "vcs-repo")
    id = policy_set(org, repo(token, identifier="acme/policies")).data["id"]
    assert org.call("POST", f"policy-sets/{id}/relationships/policies", {"data": link["policies"]}).status == 422
    single = policy_set(org, None, link).data["id"]
    refused(patch(org, single, kind="policy-sets", vcs_repo=repo(token, identifier="acme/policies")), "vcs-repo")


def test_update_patterns_are_limited(org, token):
    refused(policy_set(org, repo(token, identifier="acme/p"), policy_update_patterns=["a"] * 101), "policy-update-patterns")
    refused(policy_set(org, repo(token, identifier="acme/p"), policy_update_patterns=["../a"]), "policy-update-patterns")
    assert policy_set(org, repo(token, identifier="acme/p"), policy_update_patterns=["a"] * 100).status == 201


def test_a_connection_of_some_projects_is_refused_for_policy_sets(org, api_site):
    project = People(org, api_site.database).project("inside")
    _, token = connect(org, organization_scoped=False, relations={"projects": [{"type": "projects", "id": project}]})
    refused(policy_set(org, repo(token, identifier="acme/policies")), "vcs-repo/oauth-token-id", "not available")


# ---- organizations ----


def test_the_organization_has_vcs_integrations(org):
    assert org.get(f"organizations/{org.organization}/entitlement-set").data["attributes"]["vcs-integrations"] is True


def test_passing_statuses_need_statuses_for_each_workspace(org):
    passing, aggregated = "send-passing-statuses-for-untriggered-speculative-plans", "aggregated-commit-status-enabled"
    change = lambda **attributes: org.call("PATCH", f"organizations/{org.organization}", {"data": {"type": "organizations", "attributes": dashed(attributes)}})  # noqa: E731
    refused(change(**{passing: True}), passing)
    assert change(**{passing: True, aggregated: False}).status == 200
    refused(change(**{aggregated: True}), passing)
    assert change(**{passing: False, aggregated: True}).status == 200
