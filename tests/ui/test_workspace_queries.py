# SPDX-License-Identifier: MPL-2.0
"""The query runs of a workspace: their list, and the page of one while it runs and when it has ended."""

import re

import pytest
from playwright.sync_api import expect

from support import pages
from support.queried import Queries, found, line
from support.synthetic import NOTHING


@pytest.fixture(scope="module")
def site(fake_site, operations):
    """`colleague` and `browser_page` use it."""
    fake_site.api = operations.api
    return fake_site


@pytest.fixture(scope="module")
def queries(site, operations):
    return Queries(operations.api, operations.worker)


def workspace(queries, name):
    workspace = queries.api.workspace(name)
    queries.api.upload(workspace, NOTHING)
    return workspace


def rows(page, name):
    return page.get_by_role("table", name=name).locator("tbody tr")


def test_a_query_shows_what_it_finds_while_it_runs(queries, browser_page, axe):
    place = workspace(queries, "asked")
    page = browser_page("/app/acme/workspaces/asked/queries")
    expect(page.get_by_text("No query yet")).to_be_visible()
    query = queries.begin(place)
    expect(rows(page, "Queries")).to_have_count(1)
    rows(page, "Queries").get_by_role("link").focus()
    page.keyboard.press("Enter")
    expect(page).to_have_title("Query · asked · Runyard")
    expect(page.get_by_role("status").get_by_text("Waiting for a worker")).to_be_visible()
    job = queries.take(query)
    expect(page.get_by_role("status").get_by_text("Running")).to_be_visible()
    queries.write(job, found("one", "two", config='resource "folder_file" "one" {}'))
    expect(rows(page, "Resources")).to_have_count(2)
    expect(rows(page, "Resources").first.locator("td")).to_have_text(["folder_file", "one", "path=/srv/one, region=eu", "list.folder_file.all"])
    queries.end(query, job)
    expect(page.get_by_role("heading", level=2, name="2 resources")).to_be_visible()
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    page.locator("summary", has_text="Generated configuration").click()
    expect(page.get_by_text('resource "folder_file" "one" {}').first).to_be_visible()
    axe(page)
    pages.check_every_focus(page)
    pages.check_narrow(page)


def test_a_waiting_query_is_canceled_by_its_button(queries, browser_page):
    query = queries.begin(workspace(queries, "stopped"))
    page = browser_page(f"/app/acme/workspaces/stopped/queries/{query}")
    page.get_by_role("button", name="Cancel").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").get_by_text("Canceled")).to_be_visible()
    expect(page.locator("dt", has_text=re.compile("^Canceled by$"))).to_be_visible()
    assert queries.api.get(f"queries/{query}").data["attributes"]["status"] == "canceled"


def test_a_query_that_failed_says_why(queries, browser_page, axe):
    diagnostic = {"severity": "error", "summary": "The folder can't be listed", "detail": "no such folder"}
    log = line("diagnostic", "Error: The folder can't be listed", "error", diagnostic=diagnostic)
    query = queries.finished(workspace(queries, "failed"), log, "errored", error="terraform query failed: The folder can't be listed")
    page = browser_page(f"/app/acme/workspaces/failed/queries/{query}")
    expect(page.get_by_role("heading", level=3, name="Error: The folder can't be listed")).to_be_visible()
    expect(page.get_by_text("terraform query failed: The folder can't be listed")).to_be_visible()
    expect(page.get_by_text("The query has found no resource.")).to_be_visible()
    axe(page)


def test_the_address_that_the_cli_prints_leads_to_the_page(queries, browser_page):
    query = queries.finished(workspace(queries, "linked"), found())
    page = browser_page(f"/app/acme/linked/search/{query}")
    expect(page).to_have_url(re.compile(f"/app/acme/workspaces/linked/queries/{query}$"))
    expect(page.get_by_role("heading", level=2, name="0 resources")).to_be_visible()


def test_who_may_read_runs_sees_queries_and_does_not_cancel_them(queries, browser_page, colleague):
    place = workspace(queries, "watched")
    query = queries.begin(place)
    page = browser_page(f"/app/acme/workspaces/watched/queries/{query}", colleague("reader", place, "read"))
    button = page.get_by_role("button", name="Cancel")
    expect(button).to_be_visible()
    expect(page.get_by_text("you need plan access to this workspace").first).to_be_attached()
    assert button.get_attribute("aria-disabled") == "true" or button.is_disabled()
