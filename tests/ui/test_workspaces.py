# SPDX-License-Identifier: MPL-2.0
"""The list of workspaces: filters, search, order, keys."""

import re

import pytest
from playwright.sync_api import expect

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


def test_filters_search_and_order_are_in_the_address(browser_page, workspaces, axe):
    page = browser_page("/app/acme/workspaces?sort=name")
    expect(page.locator("table .row-link")).to_have_text(["net-prod", "net-stage", "storage"])
    errored = page.get_by_role("link", name=re.compile("^Errored"))
    expect(errored).to_have_text(re.compile("1$"))
    axe(page)
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
