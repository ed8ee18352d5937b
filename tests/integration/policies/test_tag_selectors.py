# SPDX-License-Identifier: MPL-2.0
"""Policy sets that apply to workspaces by their tags."""

import itertools

import pytest

from support.documents import refused

numbers = itertools.count()


@pytest.fixture
def worker(api_site):
    return api_site.fake_worker()


def selector(key, value=None, exclude=False):
    return {"tag-key": key, "tag-value": value, "is-exclude": exclude}


def policy_set(org, *selectors, **attributes):
    policy = org.policy("opa", "advisory", "package p\ndeny = []")
    attributes = {"name": f"set-{next(numbers)}", "kind": "opa", "tag-selectors": list(selectors), **attributes}
    relations = {"policies": {"data": [{"type": "policies", "id": policy}]}}
    return org.post(f"organizations/{org.organization}/policy-sets", {"data": {"type": "policy-sets", "attributes": attributes, "relationships": relations}}).data["id"]


def bind(org, path, **pairs):
    org.patch(f"{path}/tag-bindings", {"data": [{"type": "tag-bindings", "attributes": {"key": key, "value": value}} for key, value in pairs.items()]})


def sets_of_run(org, api_site, worker, workspace):
    """The ids of the sets that a new run evaluates."""
    run = org.run(workspace, org.upload(workspace, {"main.tf": ""}))
    worker.plan(run)
    bundles = api_site.ask("select bundle from policy_evaluations where run_id = %s", run)
    org.act(run, "cancel" if bundles else "discard")
    return {item["id"] for (bundle,) in bundles for item in bundle}


def test_selectors_are_shown_added_and_removed(org):
    id = policy_set(org, selector("env", "prod"), selector("team"))
    assert org.attributes(f"policy-sets/{id}")["tag-selectors"] == [selector("env", "prod"), selector("team")]
    org.post(f"policy-sets/{id}/tag-selectors", {"data": [selector("env", "prod", True), selector("region", "eu")]})
    assert org.attributes(f"policy-sets/{id}")["tag-selectors"] == [selector("env", "prod", True), selector("team"), selector("region", "eu")]
    org.ask("DELETE", f"policy-sets/{id}/tag-selectors", {"data": [selector("env", "prod", True), selector("nothing")]})
    assert org.attributes(f"policy-sets/{id}")["tag-selectors"] == [selector("team"), selector("region", "eu")]
    body = {"data": {"type": "policy-sets", "attributes": {"tag-selectors": [selector("only")]}}}
    org.patch(f"policy-sets/{id}", body)
    assert org.attributes(f"policy-sets/{id}")["tag-selectors"] == [selector("only")]
    org.patch(f"policy-sets/{id}", {"data": {"type": "policy-sets", "attributes": {"description": "as it is"}}})
    assert org.attributes(f"policy-sets/{id}")["tag-selectors"] == [selector("only")]
    refused(422, org.post, f"policy-sets/{id}/tag-selectors", {"data": [selector(f"k{number}") for number in range(101)]})


def test_a_set_applies_to_workspaces_with_the_tag(org, api_site, worker):
    by_value, by_key = policy_set(org, selector("env", "prod")), policy_set(org, selector("audited"))
    workspace = org.workspace("tagged")
    assert sets_of_run(org, api_site, worker, workspace) == set()
    bind(org, f"workspaces/{workspace}", env="prod")
    assert sets_of_run(org, api_site, worker, workspace) == {by_value}
    bind(org, f"workspaces/{workspace}", env="dev", audited="")
    assert sets_of_run(org, api_site, worker, workspace) == {by_key}


def test_a_set_does_not_apply_where_a_tag_is_excluded(org, api_site, worker):
    everywhere = policy_set(org, selector("env", "dev", True), **{"global": True})
    workspace = org.workspace("excluded")
    assert sets_of_run(org, api_site, worker, workspace) == {everywhere}
    bind(org, f"workspaces/{workspace}", env="dev")
    assert sets_of_run(org, api_site, worker, workspace) == set()


def test_inherited_tags_count(org, api_site, worker):
    included, excluded = policy_set(org, selector("env", "prod")), policy_set(org, selector("env", "prod", True), **{"global": True})
    base = f"organizations/{org.organization}"
    project = org.post(f"{base}/projects", {"data": {"type": "projects", "attributes": {"name": "tagged"}}}).data["id"]
    relations = {"project": {"data": {"type": "projects", "id": project}}}
    workspace = org.post(f"{base}/workspaces", {"data": {"type": "workspaces", "attributes": {"name": "inherits"}, "relationships": relations}}).data["id"]
    assert sets_of_run(org, api_site, worker, workspace) == {excluded}
    bind(org, f"projects/{project}", env="prod")
    assert sets_of_run(org, api_site, worker, workspace) == {included}
    bind(org, f"workspaces/{workspace}", env="dev")  # overrides the project's
    assert sets_of_run(org, api_site, worker, workspace) == {excluded}
