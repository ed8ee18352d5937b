# SPDX-License-Identifier: MPL-2.0
"""The lists of runs: filters in the address, and what needs the user."""

import re

import pytest
from playwright.sync_api import expect

ONE = {"main.tf": 'resource "terraform_data" "one" {\n  input = "first"\n}\n'}
FAILS = {"main.tf": 'resource "terraform_data" "one" {\n  input = var.missing\n}\n'}


@pytest.fixture(scope="module")
def runs(site):
    """A run that waits for a person, a failed run, a plan-only run."""
    api = site.api
    waits = api.run_files(api.workspace("net"), ONE, message="Add one")
    other = api.workspace("storage")
    fails = api.run_files(other, FAILS, message="Break it")
    api.wait_status(fails, "errored")
    looks = api.run_files(other, ONE, message="Only look", plan_only=True)
    api.wait_status(looks, "planned_and_finished")
    api.wait_status(waits, "planned")
    return waits, fails, looks


def test_runs_of_the_organization_begin_with_those_that_need_the_user(browser_page, runs):
    waits, _, _ = runs
    page = browser_page("/app/acme/runs")
    needs = page.get_by_role("region", name="Needs you (1)")
    expect(needs.locator(".row-link")).to_have_text(["Add one"])
    expect(needs).to_contain_text("Confirm or discard")
    everything = page.get_by_role("table", name="Runs", exact=True)
    expect(everything.locator(".row-link")).to_have_text(["Only look", "Break it", "Add one"])
    page.get_by_role("navigation", name="Filter by status").get_by_role("link", name="Errored").click()
    expect(everything.locator(".row-link")).to_have_text(["Break it"])
    page.get_by_label("Operation").select_option("Plan only")
    expect(page.get_by_role("heading", name="Nothing matches")).to_be_visible()
    page.go_back()
    expect(everything.locator(".row-link")).to_have_text(["Break it"])
    page.reload()
    expect(everything.locator(".row-link")).to_have_text(["Break it"])
    needs.locator(".row-link").click()
    expect(page).to_have_url(re.compile(f"/app/acme/workspaces/net/runs/{waits}$"))


def test_runs_of_a_workspace_are_searched_and_opened(browser_page, site, runs):
    page = browser_page("/app/acme/workspaces/storage/runs")
    rows = page.locator("table .row-link")
    expect(rows).to_have_text(["Only look", "Break it"])
    page.get_by_label("Search runs").fill("break")
    expect(rows).to_have_text(["Break it"])
    page.get_by_label("Search runs").fill("user:nobody")
    expect(page.get_by_role("heading", name="Nothing matches")).to_be_visible()
    page.get_by_role("button", name="Clear filters").click()
    expect(rows).to_have_count(2)
    site.api.run_files(site.api.get("organizations/acme/workspaces/storage").data["id"], FAILS, message="Newer")
    page.get_by_role("button", name=re.compile("changed, show")).click()
    expect(rows.first).to_have_text("Newer")
