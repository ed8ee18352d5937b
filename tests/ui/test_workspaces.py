# SPDX-License-Identifier: MPL-2.0
"""The list of workspaces: filters, search, order, keys."""

import re

import pytest
from playwright.sync_api import expect

from support.wait import until

FAILS = {"main.tf": 'resource "terraform_data" "one" {\n  input = var.missing\n}\n'}


@pytest.fixture(scope="module")
def workspaces(site):
    """Three workspaces; the run of one has failed."""
    ids = {name: site.api.workspace(name) for name in ("net-prod", "net-stage", "storage")}
    run = site.api.run_files(ids["storage"], FAILS)
    site.api.wait_status(run, "errored")
    return ids


def names(page):
    return page.locator("table .row-link").all_inner_texts()


def test_filters_search_and_order_are_in_the_address(browser_page, workspaces):
    page = browser_page("/app/acme/workspaces?sort=name")
    expect(page.locator("table .row-link")).to_have_text(["net-prod", "net-stage", "storage"])
    errored = page.get_by_role("link", name=re.compile("^Errored"))
    expect(errored).to_have_text(re.compile("1$"))
    errored.click()
    expect(page.locator("table .row-link")).to_have_text(["storage"])
    expect(page).to_have_url(re.compile("status=errored"))
    page.get_by_label("Search by name").fill("net")
    expect(page.get_by_role("heading", name="Nothing matches")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(page.locator("table .row-link")).to_have_count(3)
    page.get_by_role("link", name="Name", exact=True).click()
    expect(page.get_by_role("columnheader", name="Name")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("link", name="Name", exact=True).click()
    expect(page.locator("table .row-link")).to_have_text(["storage", "net-stage", "net-prod"])
    page.reload()
    expect(page.locator("table .row-link")).to_have_text(["storage", "net-stage", "net-prod"])


def test_the_state_of_a_workspace_leads_to_its_run(browser_page, workspaces):
    page = browser_page("/app/acme/workspaces?q=storage")
    page.get_by_role("link", name=re.compile("Errored.*ago|Errored now")).click()
    expect(page).to_have_url(re.compile("/app/acme/workspaces/storage/runs/run-"))
    expect(page.locator(".run-header").get_by_text("Errored")).to_be_visible()


def test_keys_search_move_and_go(browser_page, workspaces):
    page = browser_page("/app/acme/workspaces?sort=name")
    expect(page.locator("table .row-link")).to_have_count(3)
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.get_by_role("link", name="net-stage")).to_be_focused()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("/")
    page.keyboard.type("storage")
    expect(page.get_by_role("list", name="Workspaces found").get_by_role("link")).to_have_text(["storage"])
    page.goto("/app/acme/workspaces?q=nothing")
    expect(page.get_by_role("heading", name="Nothing matches")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("w")
    expect(page.locator("table .row-link")).to_have_count(3)


def test_markup_in_texts_of_users_is_shown_as_text(browser_page, site, workspaces):
    message = '<img src=x onerror="document.title=1"><script>alert(1)</script>'
    site.api.run_files(workspaces["net-prod"], FAILS, message=message)
    page = browser_page("/app/acme/workspaces")
    expect(page.get_by_role("cell", name=message)).to_be_visible()


def test_selected_workspaces_are_locked_together(browser_page, site, workspaces, axe):
    page = browser_page("/app/acme/workspaces?sort=name")
    page.get_by_role("checkbox", name="Select net-prod").check()
    page.get_by_role("checkbox", name="Select net-stage").check()
    page.get_by_role("button", name="Lock", exact=True).click()
    dialog = page.get_by_role("dialog", name="Lock: 2 workspaces")
    dialog.get_by_label("Reason").fill("moving to a new network")
    axe(page)
    dialog.get_by_role("button", name="Lock").click()
    expect(page.get_by_role("row", name="net-prod")).to_contain_text("Locked by admin")
    expect(dialog).to_have_count(0)
    assert site.api.attributes(f"workspaces/{workspaces['net-stage']}")["locked-reason"] == "moving to a new network"
    page.get_by_role("checkbox", name="Select net-prod").check()
    expect(page.get_by_role("button", name=re.compile("^Lock"))).to_have_attribute("title", "locked, or you may not lock: net-prod")
    for name in ("net-prod", "net-stage"):
        site.api.post(f"workspaces/{workspaces[name]}/actions/unlock")


def test_a_closed_dialog_sends_no_more_and_leaves_the_next_one_open(browser_page, site, workspaces):
    page = browser_page("/app/acme/workspaces?sort=name")
    page.get_by_role("checkbox", name="Select net-prod").check()
    page.get_by_role("checkbox", name="Select net-stage").check()
    page.get_by_role("button", name="Lock", exact=True).click()
    dialog = page.get_by_role("dialog", name="Lock: 2 workspaces")
    held = []
    page.route(re.compile("/actions/lock$"), lambda route: held.append(route) if not held else route.continue_())
    dialog.get_by_role("button", name="Lock").click()
    until(lambda: page.title() and held, "the first request is on its way")
    dialog.get_by_role("button", name="Cancel").click()
    expect(dialog).to_have_count(0)
    page.get_by_role("button", name="Queue Plan", exact=True).click()
    held[0].continue_()
    expect(page.get_by_role("row", name="net-prod")).to_contain_text("Locked by admin")
    expect(page.get_by_text("1 workspace locked")).to_be_attached()
    expect(page.get_by_role("dialog", name=re.compile("^Queue Plan"))).to_be_visible()
    assert not site.api.attributes(f"workspaces/{workspaces['net-stage']}")["locked"]
    site.api.post(f"workspaces/{workspaces['net-prod']}/actions/unlock")


def test_rows_keep_their_places_until_the_list_is_sorted_again(browser_page, site, workspaces):
    page = browser_page("/app/acme/workspaces?sort=-current-run.created-at")
    expect(page.locator("table .row-link")).to_have_count(3)
    before = names(page)
    last = before[-1]
    site.api.run_files(workspaces[last], FAILS, message="It is the newest run")
    expect(page.get_by_role("row", name=last)).to_contain_text("It is the newest run")
    assert names(page) == before
    page.get_by_role("button", name=re.compile("re-sort")).click()
    expect(page.locator("table .row-link").first).to_have_text(last)


def test_a_workspace_and_a_project_are_created(browser_page, site, visitors, axe):
    visitors.expect_console("/api/v2/organizations/acme/workspaces")
    page = browser_page("/app/acme/workspaces")
    page.get_by_role("button", name="New project").click()
    dialog = page.get_by_role("dialog", name="New project")
    dialog.get_by_label("Name").fill("Networks")
    axe(page)
    dialog.get_by_role("button", name="Create project").click()
    expect(page.get_by_role("heading", level=1, name="Networks")).to_be_visible()
    expect(page.get_by_role("heading", name="No workspaces in this project")).to_be_visible()
    page.get_by_role("button", name="New workspace").click()
    dialog = page.get_by_role("dialog", name="New workspace")
    dialog.get_by_label("Name").fill("not allowed!")
    dialog.get_by_role("button", name="Create workspace").click()
    expect(dialog.locator(".field-error")).to_be_visible()
    dialog.get_by_label("Name").fill("net-dev")
    dialog.get_by_role("button", name="Create workspace").click()
    expect(page.get_by_role("heading", level=1, name="net-dev")).to_be_visible()
    page.get_by_role("navigation", name="Breadcrumb").get_by_role("link", name="Networks").click()
    expect(page.locator("table .row-link")).to_have_text(["net-dev"])
    site.api.post("organizations/acme/projects", {"data": {"type": "projects", "attributes": {"name": "Archive"}}})
    page.goto("/app/acme/workspaces")
    page.get_by_role("button", name="New workspace").first.click()
    expect(dialog.get_by_label("Project").locator("option:checked")).to_have_text("Default Project")


def test_an_organization_is_created(browser_page, site, visitors, axe):
    visitors.expect_console("/api/v2/organizations")
    page = browser_page("/app")
    page.get_by_role("button", name="New organization").click()
    dialog = page.get_by_role("dialog", name="New organization")
    dialog.get_by_label("Name").fill("settings")
    dialog.get_by_label("E-mail").fill("ops@example.com")
    dialog.get_by_role("button", name="Create organization").click()
    expect(dialog.locator(".field-error")).to_be_visible()
    axe(page)
    dialog.get_by_label("Name").fill("other")
    dialog.get_by_role("button", name="Create organization").click()
    expect(page).to_have_url(re.compile("/app/other/workspaces$"))
    expect(page.get_by_text('organization = "other"')).to_be_visible()


def test_no_page_is_wider_than_its_window(browser_page, workspaces):
    page = browser_page("/app/acme/workspaces")
    for path in ("workspaces", "runs", "workspaces/storage", "workspaces/storage/runs"):
        page.goto(f"/app/acme/{path}")
        expect(page.get_by_text("Plan Errored").locator("visible=true").first).to_be_visible()
        for width in (1280, 1000, 760):
            page.set_viewport_size({"width": width, "height": 900})
            assert page.evaluate("() => document.documentElement.scrollWidth") <= width, (path, width)


def test_the_state_follows_the_run_and_stays_that_of_the_completed_one(browser_page, site):
    api = site.api
    workspace = api.workspace("followed")
    page = browser_page("/app/acme/workspaces?q=followed")
    row = page.get_by_role("row", name="followed")
    expect(row).to_contain_text("No run")
    run = api.run_files(workspace, {"main.tf": 'resource "terraform_data" "one" {}\n'})
    expect(row).to_contain_text("Needs Confirmation")
    api.act(run, "apply")
    expect(row).to_contain_text("Applied")
    expect(row.get_by_role("img", name="Last run: 1 Applied")).to_be_visible()
    looks = api.run(workspace, plan_only=True)
    api.wait_status(looks, "planned_and_finished")
    expect(row).to_contain_text("Applied")


def test_a_row_that_has_left_the_filter_stays_until_the_list_is_sorted_again(browser_page, site):
    api = site.api
    run = api.run_files(api.workspace("leaving"), {"main.tf": 'resource "terraform_data" "one" {}\n'})
    api.wait_status(run, "planned")
    page = browser_page("/app/acme/workspaces?status=attention&q=leaving")
    expect(page.locator("table .row-link")).to_have_text(["leaving"])
    api.act(run, "discard")
    page.get_by_role("button", name="1 row changed, re-sort").click()
    expect(page.get_by_role("heading", name="Nothing matches")).to_be_visible()
