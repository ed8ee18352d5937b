# SPDX-License-Identifier: MPL-2.0
"""The states of a workspace: versions, the difference of two, outputs, download, rollback."""

import re

import pytest
from playwright.sync_api import expect

from support.api import Api

PAGE = "/app/acme/workspaces/states/states"


def files(value, secret):
    return {"main.tf": f'resource "terraform_data" "one" {{\n  input = "{value}"\n}}\n'
                       f'output "plain" {{\n  value = terraform_data.one.output\n}}\n'
                       f'output "secret" {{\n  value = "{secret}"\n  sensitive = true\n}}\n'}


@pytest.fixture(scope="module")
def workspace(site):
    """A workspace with two applied runs."""
    workspace = site.api.workspace("states", auto_apply=True)
    for value, secret in (("first", "wine-dark"), ("second", "rosy-fingered")):
        run = site.api.run_files(workspace, files(value, secret), message=f"Write {value}")
        site.api.wait_status(run, "applied")
    return workspace


def test_two_versions_are_compared_without_secrets(browser_page, workspace):
    page = browser_page(PAGE)
    rows = page.get_by_role("table", name="Versions of the state").locator("tbody tr")
    expect(rows.first).to_contain_text("Current")
    expect(rows.first).to_contain_text("Write second")
    expect(rows.first).to_contain_text("admin")
    rows.first.locator(".row-link").click()
    expect(page).to_have_url(re.compile("/states/sv-"))
    fold = page.locator("details", has_text="terraform_data.one")
    expect(fold).to_contain_text("changed")
    fold.locator("summary").click()
    expect(fold).to_contain_text("second")
    secret = page.locator("details", has_text="output secret")
    secret.locator("summary").click()
    expect(secret).to_contain_text("(sensitive, changed)")
    expect(page.get_by_role("table", name="Outputs")).to_contain_text("(sensitive)")
    for text in ("wine-dark", "rosy-fingered"):
        expect(page.locator("body")).not_to_contain_text(text)
    page.get_by_label("Compared with").select_option(index=0)
    expect(page).to_have_url(re.compile(r"\?with=sv-"))


def test_another_organization_does_not_show_the_workspace_s_run_and_state(browser_page, site, workspace):
    site.api.post("organizations", {"data": {"type": "organizations", "attributes": {"name": "staging", "email": "staging@example.com"}}})
    Api(site.api.url, site.api.token, "staging").workspace("states")
    run = site.api.get(f"workspaces/{workspace}/runs").data[0]["id"]
    state = site.api.get(f"workspaces/{workspace}/current-state-version").data["id"]
    page = browser_page(f"/app/acme/workspaces/states/runs/{run}")
    expect(page.locator(".run-header")).to_be_visible()
    for path in (f"runs/{run}", f"states/{state}"):
        page.goto(page.url.split("/app/")[0] + f"/app/staging/workspaces/states/{path}")
        expect(page.get_by_role("heading", name="Not found")).to_be_visible()
        expect(page.locator(".run-header, .facts")).to_have_count(0)


def test_a_state_is_downloaded_and_rolled_back(browser_page, site, workspace, axe):
    page = browser_page(PAGE)
    rows = page.get_by_role("table", name="Versions of the state").locator("tbody tr")
    old = rows.filter(has_text="Write first").first
    old.locator(".row-link").click()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download", exact=True).click()
    assert '"first"' in download.value.path().read_text()
    serial = site.api.attributes(f"workspaces/{workspace}/current-state-version")["serial"]
    page.get_by_role("button", name="Roll back to this state").click()
    axe(page)
    page.get_by_role("dialog").get_by_role("button", name="Roll back").click()
    expect(page.locator(".facts").get_by_text("Current")).to_be_visible()
    now = site.api.attributes(f"workspaces/{workspace}/current-state-version")
    assert now["serial"] > serial
    assert site.api.attributes(f"workspaces/{workspace}")["locked"] is False
