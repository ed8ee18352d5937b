# SPDX-License-Identifier: MPL-2.0
"""The pages of one workspace: their frame, the overview."""

import re

import pytest
from playwright.sync_api import expect

ONE = {"main.tf": 'resource "terraform_data" "one" {\n  input = "first"\n}\n'}


@pytest.fixture(scope="module")
def applied(site):
    """A workspace with an applied run, and a newer run that waits for a person."""
    workspace = site.api.workspace("net-prod")
    first = site.api.run_files(workspace, ONE, message="Add one")
    site.api.wait_status(first, "planned")
    site.api.post(f"runs/{first}/actions/apply")
    site.api.wait_status(first, "applied")
    second = site.api.run_files(workspace, {"main.tf": ONE["main.tf"].replace("first", "second")}, message="Change one")
    site.api.wait_status(second, "planned")
    return workspace, first, second


def test_latest_run_is_the_completed_one_while_another_is_in_progress(browser_page, applied, axe):
    _, first, second = applied
    page = browser_page("/app/acme/workspaces/net-prod")
    expect(page.get_by_role("heading", level=1, name="net-prod")).to_be_visible()
    links = page.get_by_role("navigation", name="Workspace").get_by_role("link")
    expect(links).to_have_text([re.compile(word) for word in ("Overview", "Runs", "Latest Run", "States", "Variables", "Settings")])
    expect(page.locator(".current-run")).to_have_attribute("href", re.compile(f"{second}$"))
    expect(page).to_have_title("● Needs Confirmation · net-prod · Runyard")
    axe(page)
    page.get_by_role("link", name="Latest Run (Applied)").click()
    expect(page).to_have_url(re.compile(f"/runs/{first}$"))
