# SPDX-License-Identifier: MPL-2.0
"""The lists of runs: filters in the address, and what needs the user."""

import re

import pytest
from playwright.sync_api import expect

from support.pages import Chromium
from support.wait import until

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
    expect(everything.locator(".run-wait")).to_have_text(["Awaiting confirmation, which you may give."])
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


def test_an_error_shows_the_id_of_the_request(browser_page, visitors, runs):
    visitors.expect_console("/api/v2/organizations/acme/runs?")
    page = browser_page("/app/acme/runs")
    refused = []  # the page may read it again
    page.on("response", lambda answer: "page%5Bnumber%5D=x" in answer.url and refused.append(answer.headers["x-request-id"]))
    page.goto("/app/acme/runs?page=x")
    panel = page.get_by_role("region", name="Error")
    expect(panel.get_by_role("alert")).to_contain_text("page[number]")
    assert re.search(r"Request (req-\w+?)Retry", panel.text_content())[1] in refused


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


# Records the real notifications. Playwright's pages always have the focus.
RECORD = """
window.shown = [];
const Real = Notification;
window.Notification = class extends Real {
    constructor(title, options) {
        super(title, options);
        window.shown.push(this);
    }
};
document.hasFocus = () => false;
"""


@pytest.fixture(scope="module")
def chromium():
    """The whole browser, because the headless shell shows no notifications."""
    chromium = Chromium(["chromium"])
    yield chromium
    chromium.release()


def test_a_run_that_comes_to_wait_notifies_who_wants_it(browser_page, site, runs):
    page = browser_page("/app/acme/runs")
    page.context.grant_permissions(["notifications"])
    page.add_init_script(RECORD)
    page.reload()
    page.get_by_role("button", name="Notify me here").click()
    expect(page.get_by_role("button", name="Stop notifying me")).to_be_visible()
    page.goto("/app/acme/workspaces")  # any page of the organization
    with page.expect_response(re.compile("size%5D=50")):
        page.reload()
    workspace = site.api.workspace("notified")
    run = site.api.run_files(workspace, ONE, message="<b>Look</b>")
    until(lambda: page.evaluate("shown.length") == 1, "one notification is shown")
    assert page.evaluate("[shown[0].title, shown[0].body, shown[0].tag]") == ["notified needs you", "Confirm or discard: <b>Look</b>", run]
    page.evaluate("shown[0].dispatchEvent(new Event('click'))")
    expect(page).to_have_url(re.compile(f"/app/acme/workspaces/notified/runs/{run}$"))
    page.goto("/app/acme/runs")
    page.get_by_role("button", name="Stop notifying me").click()
    expect(page.get_by_role("button", name="Notify me here")).to_be_visible()
    site.api.act(run, "discard")


def test_without_permission_nobody_is_notified_and_nothing_breaks(browser_page, site, runs):
    page = browser_page("/app/acme/runs")
    page.evaluate("localStorage.setItem('runyard.notify', 'on')")  # allowed once, and withdrawn
    page.add_init_script(RECORD)
    page.reload()
    assert page.evaluate("Notification.permission") != "granted"
    expect(page.get_by_role("button", name="Stop notifying me")).to_have_count(0)
    run = site.api.run_files(site.api.workspace("quiet"), ONE, message="Quiet")
    expect(page.get_by_role("region", name=re.compile("Needs you"))).to_contain_text("Quiet")
    assert page.evaluate("shown.length") == 0
    site.api.act(run, "discard")


def test_runs_beyond_the_first_page_need_the_user_too(browser_page, site, runs):
    more = site.api.run_files(site.api.workspace("more"), ONE, message="Add another")
    site.api.wait_status(more, "planned")
    page = browser_page("/app")
    page.route(re.compile("/organizations/acme/runs"), lambda route: route.continue_(url=re.sub("size%5D=[0-9]+", "size%5D=1", route.request.url)))
    page.goto("/app/acme/runs")
    needs = page.get_by_role("region", name=re.compile("Needs you"))
    expect(needs.locator(".row-link", has_text="Add one")).to_be_visible()
    expect(needs.locator(".row-link", has_text="Add another")).to_be_visible()
