# SPDX-License-Identifier: MPL-2.0
"""The identity of a workspace: what its page shows, what it copies, and what it says is missing."""

import json
import shlex

import pytest
from playwright.sync_api import expect

from support.wait import until

AWS = {"TFC_AWS_PROVIDER_AUTH": "true", "TFC_AWS_RUN_ROLE_ARN": "arn:aws:iam::1:role/a"}


@pytest.fixture
def identity_page(browser_page, site):
    """identity_page(name, variables) is the page of a new workspace with these variables."""

    def identity_page(name, variables):
        workspace = site.api.workspace(name)
        for key, value in variables.items():
            sensitive, value = (True, value[0]) if isinstance(value, list) else (False, value)
            site.api.variable(workspace, key, value, category="env", sensitive=sensitive)
        page = browser_page(f"/app/acme/workspaces/{name}/settings/identity")
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        expect(page.get_by_role("heading", level=2, name="Identity")).to_be_visible()
        expect(page.get_by_text("Subject of applies")).to_be_visible()
        return page

    return identity_page


def subject(name, phase):
    return f"organization:acme:project:Default Project:workspace:{name}:run_phase:{phase}"


def copied(page, button):
    page.evaluate("navigator.clipboard.writeText('')")
    page.get_by_role("button", name=button, exact=True).click()
    return until(lambda: page.evaluate("navigator.clipboard.readText()"), f"{button} copies")


def opened(page, cloud):
    page.locator("summary", has_text=cloud).click()
    expect(page.get_by_role("table", name=f"Variables for {cloud}")).to_be_visible()


def rows(page, table):
    cells = page.get_by_role("table", name=table).locator("tbody tr")
    return [row.locator("td").all_inner_texts() for row in cells.all()]


def test_a_workspace_without_credentials_shows_its_identity(identity_page, site, axe):
    page = identity_page("plain", {})
    issuer = site.scheduler.url
    for text in (issuer, f"{issuer}/.well-known/jwks", subject("plain", "plan"), subject("plain", "apply")):
        assert copied(page, f"Copy {text}") == text
    expect(page.get_by_text("None. Variables of the category env")).to_be_visible()
    expect(page.get_by_text("The next run will fail")).to_have_count(0)
    expect(page.locator("details.cloud[open]")).to_have_count(0)
    expect(page.locator(".note")).to_have_text("AWS, Azure, Google Cloud, Kubernetes and HCP need an issuer with https that they can reach, and this site's address begins with http.")
    page.goto(page.url.replace("/identity", "/general"))
    page.get_by_role("navigation", name="Settings of the workspace").get_by_role("link", name="Identity").click()
    expect(page).to_have_title("Identity · plain · Runyard")
    axe(page)


def test_what_is_copied_has_the_values_of_the_workspace(identity_page, site, axe):
    page = identity_page("copied", {**AWS, "TFC_AWS_WORKLOAD_IDENTITY_AUDIENCE": "it's \"mine\" $(id)"})
    host = site.scheduler.url.removeprefix("http://")
    for phase, title in (("plan", "Trust policy of the role for plans"), ("apply", "Trust policy of the role for applies")):
        policy = json.loads(copied(page, f"Copy AWS: {title}"))
        assert policy["Statement"][0]["Condition"] == {"StringEquals": {f"{host}:aud": "it's \"mine\" $(id)", f"{host}:sub": subject("copied", phase)}}
    provider = shlex.split(copied(page, "Copy AWS: The identity provider, once in an account"))
    assert json.loads(provider[-1]) == {"Url": site.scheduler.url, "ClientIDList": ["it's \"mine\" $(id)"]}
    opened(page, "Vault or OpenBao")
    role = copied(page, "Copy Vault or OpenBao: Role for applies")
    workspace = site.api.get("organizations/acme/workspaces/copied").data["id"]
    assert json.loads("\n".join(role.splitlines()[1:-1]))["bound_claims"] == {"sub": subject("copied", "apply"), "terraform_workspace_id": workspace}
    axe(page)


def test_each_tag_has_its_audience_and_variables(identity_page):
    page = identity_page("tagged", {**AWS, "TFC_AWS_PROVIDER_AUTH_EAST": "true", "TFC_AWS_RUN_ROLE_ARN_EAST": "arn", "TFC_AWS_WORKLOAD_IDENTITY_AUDIENCE_EAST": "east",
                                    "TFC_AWS_PROVIDER_AUTH_W": "true", "TFC_AWS_RUN_ROLE_ARN_W": "arn", "TFC_AWS_WORKLOAD_IDENTITY_AUDIENCE_W": ["wine-dark"]})
    assert sorted(rows(page, "Credentials of this workspace")) == [
        ["AWS", "EAST", "TFC_AWS_PROVIDER_AUTH_EAST", "east"], ["AWS", "None", "TFC_AWS_PROVIDER_AUTH", "aws.workload.identity"],
        ["AWS", "W", "TFC_AWS_PROVIDER_AUTH_W", "(sensitive)"]]
    page.get_by_label("Tag for AWS").select_option("EAST")
    expect(page.get_by_role("table", name="Variables for AWS")).to_contain_text("TFC_AWS_PLAN_ROLE_ARN_EAST")
    assert '"east"' in copied(page, "Copy AWS: Trust policy of the role for plans")
    page.get_by_label("Tag for AWS").select_option("W")
    expect(page.get_by_text("The audience can't be shown here: write it in place of AUDIENCE.")).to_be_visible()
    assert '"AUDIENCE"' in copied(page, "Copy AWS: Trust policy of the role for plans")
    assert "wine-dark" not in page.content()


def test_the_problem_is_shown_and_goes_when_it_is_solved(identity_page, site):
    page = identity_page("broken", {"TFC_VAULT_PROVIDER_AUTH": "true", "TFC_VAULT_ADDR": "https://vault.example"})
    problem = page.locator(".note.failure")
    expect(problem).to_have_text("The next run will fail: TFC_VAULT_PROVIDER_AUTH is true, but TFC_VAULT_RUN_ROLE is not set.")
    workspace = site.api.get("organizations/acme/workspaces/broken").data["id"]
    site.api.variable(workspace, "TFC_VAULT_RUN_ROLE", "role", category="env")
    page.reload()
    expect(page.get_by_role("table", name="Credentials of this workspace")).to_contain_text("vault.workload.identity")
    expect(problem).to_have_count(0)


def test_who_may_not_read_variables_gets_an_error_and_no_identity(browser_page, site, colleague, visitors):
    workspace = site.api.workspace("closed")
    visitors.expect_console("/workload-identity")
    page = browser_page("/app/acme/workspaces/closed/settings/identity", user=colleague("noor", workspace, "custom"))
    expect(page.get_by_role("heading", level=2, name="Identity")).to_be_visible()
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    expect(page.get_by_text("Subject of applies")).to_have_count(0)
