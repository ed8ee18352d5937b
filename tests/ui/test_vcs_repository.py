# SPDX-License-Identifier: MPL-2.0
"""The page of a workspace's repository: what is saved, and what the page says of hooks and looks."""

import re

import psycopg
import pytest
from playwright.sync_api import expect

from support.api import Api
from support.vcs_connections import connect


@pytest.fixture(scope="module")
def site(fake_site):
    """No page of these tests needs a worker."""
    fake_site.api = Api(fake_site.scheduler.url, fake_site.tokens["token"])
    return fake_site


def settings(name):
    return f"/app/acme/workspaces/{name}/settings/version-control"


@pytest.fixture(autouse=True)
def no_suggestions(visitors):
    """The provider does not exist, so it suggests no repositories."""
    visitors.expect_console("/repositories?")


@pytest.fixture(scope="module")
def token(site):
    return connect(site.api, name="Forge")[1]


def attributes(site, workspace):
    return site.api.attributes(f"workspaces/{workspace}")


def repository_is(site, workspace, **values):
    """What hooks and looks have found out about the workspace's repository."""
    names = ", ".join(f"{name} = %s" for name in values)
    with psycopg.connect(site.database, autocommit=True) as connection:
        connection.execute(f"update vcs_repositories set {names} where id = (select repository_id from workspace_repositories where workspace_id = %s)",
                           [*values.values(), workspace])


def connected(site, name, token, **repository):
    """The id of a new workspace with the repository."""
    workspace = site.api.workspace(name)
    repository = {"oauth-token-id": token, "identifier": f"acme/{name}", **repository}
    site.api.patch(f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {"vcs-repo": repository}}})
    return workspace


def test_a_workspace_is_connected_changed_and_disconnected(browser_page, visitors, site, token, axe):
    visitors.expect_console("422")
    workspace = site.api.workspace("net")
    page = browser_page(settings("net"))
    expect(page.get_by_text("Configurations of this workspace are uploaded")).to_be_visible()
    save = page.get_by_role("button", name="Connect repository")
    expect(save).to_have_attribute("title", "choose a connection")
    page.get_by_label("Connection", exact=True).select_option("Forge")
    page.get_by_label("Repository", exact=True).fill("network")
    axe(page)
    save.click()
    expect(page.get_by_role("alert")).to_contain_text("owner/repository")
    expect(page.get_by_label("Repository", exact=True)).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Repository", exact=True).fill("acme/network")
    page.get_by_label("Branch", exact=True).fill("next")
    save.click()
    panel = page.get_by_role("region", name="Repository")
    expect(panel.get_by_role("link", name="acme/network")).to_have_attribute("href", "https://gitea.example.com/acme/network")
    made = attributes(site, workspace)
    assert (made["vcs-repo"]["branch"], made["file-triggers-enabled"]) == ("next", False)

    page.get_by_label("Start runs for").select_option("Tags whose name matches, and no pushes")
    page.get_by_label("Tags", exact=True).fill("(")
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_label("Tags", exact=True)).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Tags", exact=True).fill(r"^v\d+$")
    page.get_by_label("Skip drafts").check()
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_role("button", name=re.compile("Save settings .*nothing has changed"))).to_be_visible()
    page.reload()
    expect(page.get_by_label("Tags", exact=True)).to_have_value(r"^v\d+$")
    expect(page.get_by_label("Skip drafts")).to_be_checked()
    page.get_by_label("Start runs for").select_option("Pushes that change files which match patterns")
    page.get_by_label("Patterns").fill("modules/**/*.tf\n*.tfvars\n")
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_role("button", name=re.compile("Save settings .*nothing has changed"))).to_be_visible()
    made = attributes(site, workspace)
    assert (made["vcs-repo"]["tags-regex"], made["trigger-patterns"], made["file-triggers-enabled"]) == (None, ["modules/**/*.tf", "*.tfvars"], True)

    page.get_by_role("button", name="Disconnect repository").click()
    page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
    expect(page.get_by_text("Configurations of this workspace are uploaded")).to_be_visible()
    assert attributes(site, workspace)["vcs-repo"] is None


def test_the_page_says_why_there_is_no_hook_and_how_to_make_one(browser_page, site, token, axe):
    workspace = connected(site, "hookless", token)
    repository_is(site, workspace, state="verified", hook_error="the token may not make <b>hooks</b>", look_error="connection refused", default_branch="trunk")
    page = browser_page(settings("hookless"))
    panel = page.get_by_role("region", name="Repository")
    repository_id = attributes(site, workspace)["vcs-repo"]["repository-id"]
    expect(panel).to_contain_text("trunk")
    expect(panel).to_contain_text("connection refused")
    expect(panel).to_contain_text("the token may not make <b>hooks</b>")
    expect(panel.get_by_text(attributes(site, workspace)["vcs-repo"]["webhook-url"])).to_be_visible()
    axe(page)
    secret = site.api.attributes(f"vcs-repositories/{repository_id}")["webhook-secret"]
    panel.get_by_role("button", name="Replace secret").click()
    dialog = page.get_by_role("dialog", name="Replace the webhook's secret")
    expect(dialog).to_contain_text("Enter the new secret at the provider within a day.")
    dialog.get_by_role("button", name="Replace").click()
    expect(panel).to_contain_text("The previous one is accepted until")
    assert site.api.attributes(f"vcs-repositories/{repository_id}")["webhook-secret"] != secret
    repository_is(site, workspace, hook_external_id="7", hook_error=None, look_error=None, looked_at="2026-11-01T00:00:00Z")
    page.reload()
    expect(panel.locator(".mark", has_text="Made")).to_be_visible()
    expect(panel).not_to_contain_text("connection refused")


def test_readers_may_not_change_the_repository(browser_page, site, token, colleague):
    workspace = connected(site, "read-only", token)
    page = browser_page(settings("read-only"), user=colleague("iris", workspace, "read"))
    expect(page.get_by_text("You may read these settings and not change them")).to_be_visible()
    expect(page.get_by_label("Branch", exact=True)).to_be_disabled()
    for name in ("Check now", "Run a commit", "Disconnect repository"):
        expect(page.get_by_role("button", name=name)).to_have_attribute("aria-disabled", "true")


def test_the_overview_names_the_repository(browser_page, site, token):
    connected(site, "seen", token, branch="main")
    page = browser_page("/app/acme/workspaces/seen")
    facts = page.get_by_role("complementary", name="About the workspace")
    expect(facts.get_by_role("link", name="acme/seen")).to_be_visible()
    expect(facts).to_contain_text("branch main")
    page.get_by_role("link", name="Run a commit now").click()
    expect(page.get_by_role("button", name="Run a commit")).to_be_visible()


def test_a_policy_set_takes_its_policies_from_a_repository(browser_page, site, token, axe):
    policies = site.api.policy_set("opa", [], site.api.workspace("guarded"), name="guardrails")
    page = browser_page(f"/app/acme/settings/policy-sets?id={policies}")
    page.get_by_role("button", name="Use a repository").click()
    dialog = page.get_by_role("dialog", name="Policies from a repository")
    dialog.get_by_label("Connection", exact=True).select_option("Forge")
    dialog.get_by_label("Repository").fill("acme/policies")
    dialog.get_by_label("Policies path").fill("opa")
    dialog.get_by_label("Update patterns").fill("opa/**\nlib/*.rego")
    axe(page)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    source = page.get_by_role("region", name="Source")
    expect(source).to_contain_text("The policies are in acme/policies, default branch, folder opa.")
    made = site.api.attributes(f"policy-sets/{policies}")
    assert (made["vcs-repo"]["identifier"], made["policy-update-patterns"]) == ("acme/policies", ["opa/**", "lib/*.rego"])
    page.get_by_role("button", name="Disconnect repository").click()
    page.get_by_role("dialog").get_by_role("button", name="Disconnect").click()
    expect(source).to_contain_text("The set has the single policies that are listed below.")
