# SPDX-License-Identifier: MPL-2.0
"""The variables of a workspace: its own, those of variable sets, and which of them a run gets."""

import pytest
from playwright.sync_api import expect

PAGE = "/app/acme/workspaces/vars/variables"


@pytest.fixture(scope="module")
def workspace(site):
    """A workspace whose variable `region` is also in a variable set with priority."""
    workspace = site.api.workspace("vars")
    site.api.variable(workspace, "region", "own-region")
    body = {"data": {"type": "varsets", "attributes": {"name": "common", "global": True, "priority": True}}}
    varset = site.api.post("organizations/acme/varsets", body).data["id"]
    body = {"data": {"type": "vars", "attributes": {"key": "region", "value": "set-region", "category": "terraform"}}}
    site.api.post(f"varsets/{varset}/relationships/vars", body)
    return workspace


def row(page, *texts):
    found = page.locator("tbody tr")
    for text in texts:
        found = found.filter(has_text=text)
    return found


def test_the_winner_by_priority_is_marked(browser_page, workspace):
    page = browser_page(PAGE)
    expect(row(page, "own-region")).to_contain_text("Not used: variable set common wins")
    expect(row(page, "set-region")).to_contain_text("priority")
    expect(row(page, "set-region").get_by_role("button")).to_have_count(0)
    expect(page.get_by_text("later changes affect later runs only")).to_be_visible()


def test_a_sensitive_value_is_never_shown_again(browser_page, site, workspace, axe):
    page = browser_page(PAGE)
    page.get_by_role("button", name="Add variable (Environment variables)").click()
    dialog = page.get_by_role("dialog", name="Add variable")
    axe(page)
    dialog.get_by_label("Key").fill("TOKEN")
    dialog.get_by_role("textbox", name="Value").fill("wine-dark")
    dialog.get_by_label("Sensitive").check()
    dialog.get_by_role("button", name="Save variable").click()
    expect(row(page, "TOKEN")).to_contain_text("(sensitive, write only)")
    page.reload()
    expect(row(page, "TOKEN")).to_contain_text("Sensitive")
    assert "wine-dark" not in page.content()
    for path in ("vars", "all-vars", "varsets?include=vars"):
        assert "wine-dark" not in site.api.get(f"workspaces/{workspace}/{path}").text
    row(page, "TOKEN").get_by_role("button", name="Edit TOKEN").click()
    dialog = page.get_by_role("dialog", name="Edit variable")
    expect(dialog.get_by_role("textbox", name="Value")).to_have_value("")
    dialog.get_by_label("Description").fill("for the registry")
    dialog.get_by_role("button", name="Save variable").click()
    expect(row(page, "TOKEN")).to_contain_text("for the registry")
    page.get_by_role("button", name="Delete TOKEN").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete variable").click()
    expect(row(page, "TOKEN")).to_have_count(0)


def test_an_error_of_the_api_stands_at_its_field(browser_page, visitors, workspace):
    visitors.expect_console("422")
    page = browser_page(PAGE)
    page.get_by_role("button", name="Add variable (Terraform variables)").click()
    dialog = page.get_by_role("dialog", name="Add variable")
    dialog.get_by_label("Key").fill("not a name")
    dialog.get_by_role("button", name="Save variable").click()
    expect(dialog.locator(".field", has_text="Key").first).to_contain_text("may only contain letters")
    expect(dialog.get_by_label("Key")).to_have_attribute("aria-invalid", "true")
