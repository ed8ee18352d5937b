# SPDX-License-Identifier: MPL-2.0
"""The health of a workspace: what its page shows of assessments, what its buttons do, and who may press them."""

import re

import pytest
from playwright.sync_api import expect

from support import pages
from support.assessed import Assessments, found

THREE = "one", "two", "three"


@pytest.fixture(scope="module")
def site(fake_site, operations):
    """`colleague` and `browser_page` use it."""
    fake_site.api = operations.api
    return fake_site


@pytest.fixture(scope="module")
def assessments(site, operations):
    return Assessments(site, operations.api, operations.worker)


@pytest.fixture
def open_health(browser_page):
    def open_health(name, **options):
        page = browser_page(f"/app/acme/workspaces/{name}/health", **options)
        expect(page.get_by_role("heading", level=2, name="Assessments")).to_be_visible()
        return page

    return open_health


def fact(page, word):
    return page.locator("dt", has_text=re.compile(f"^{word}$")).locator("xpath=following-sibling::dd")


def test_drift_and_checks_are_shown_apart_from_what_changes_nothing(assessments, open_health, axe):
    workspace = assessments.workspace("drifted", *THREE)
    assessments.assess(workspace, found())
    assessments.assess(workspace, found(["one"], ["two"], [("door", "the door is open")]))
    page = open_health("drifted")
    expect(page).to_have_title("Health · drifted · Runyard")
    expect(page.get_by_role("main").get_by_text("Drift, Checks failed").first).to_be_visible()
    assert fact(page, "Drift").inner_text() == "1 of 3 resources"
    assert fact(page, "Checks").first.inner_text() == "1 failed"
    drift = page.get_by_role("region", name="Drift", exact=True)
    expect(drift.locator(".row-link")).to_have_text(["terraform_data.one"])
    expect(page.get_by_role("region", name="Differences that change nothing").locator(".row-link")).to_have_text(["terraform_data.two"])
    expect(page.get_by_role("listitem").filter(has_text="check.door")).to_contain_text("the door is open")
    expect(page.get_by_role("img", name="Last 2 assessments: 1 Healthy; 1 Drift, Checks failed")).to_be_visible()
    axe(page)

    drift.locator(".row-link").focus()
    page.keyboard.press("Enter")
    expect(drift.locator(".drawer .attribute")).to_contain_text(["input"])
    expect(page).to_have_url(re.compile("/health#drift:terraform_data.one$"))
    page.locator("summary", has_text="2 assessments").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("table", name="Assessments").locator("tbody tr")).to_have_count(2)
    axe(page)
    pages.check_every_focus(page)
    page.reload()
    expect(drift.locator(".drawer .attribute")).to_contain_text(["input"])


@pytest.mark.parametrize("button, mode, message", [
    ("Queue a run that restores the configuration", "Plan and apply", "Restore 2 drifted resources: terraform_data.one, terraform_data.two"),
    ("Queue a refresh-only run that accepts it", "Refresh only", "Accept 2 drifted resources: terraform_data.one, terraform_data.two")])
def test_drift_is_restored_or_accepted_by_a_run(assessments, open_health, axe, button, mode, message):
    name = mode.replace(" ", "-").lower()
    workspace = assessments.workspace(name, *THREE)
    assessments.assess(workspace, found(["one", "two"]))
    page = open_health(name)
    page.get_by_role("button", name=button).click()
    dialog = page.get_by_role("dialog", name=f"Queue Plan in {name}")
    expect(dialog.get_by_role("radio", name=mode)).to_be_checked()
    expect(dialog.get_by_label("Message")).to_have_value(message)
    axe(page)
    dialog.get_by_role("button", name="Queue Plan").click()
    expect(page).to_have_url(re.compile("/runs/run-"))
    run = assessments.api.attributes(f"runs/{page.url.rpartition('/')[2]}")
    assert (run["message"], run["refresh-only"], run["plan-only"]) == (message, mode == "Refresh only", False)


def test_an_assessment_is_started_and_its_result_comes_by_itself(assessments, open_health):
    workspace = assessments.workspace("started", *THREE)
    page = open_health("started")
    expect(page.get_by_role("heading", name="No assessment yet")).to_be_visible()
    page.get_by_role("button", name="Start assessment").click()
    expect(page.locator(".mark", has_text="Underway")).to_be_visible()
    expect(page.get_by_role("button", name="Start assessment (not possible: an assessment is underway)")).to_be_visible()
    assessments.end(workspace, assessments.job(workspace), found(["three"]))
    expect(page.get_by_role("region", name="Drift", exact=True).locator(".row-link")).to_have_text(["terraform_data.three"])
    expect(page.locator(".mark", has_text="Underway")).to_have_count(0)
    assessments.assess(workspace, found())
    expect(page.get_by_text("No drift. The infrastructure matches the configuration.")).to_be_visible()


def test_a_second_assessment_within_a_minute_is_refused_with_the_reason(assessments, open_health, visitors):
    workspace = assessments.workspace("twice", *THREE)
    assessments.assess(workspace, found())
    visitors.expect_console("409")
    page = open_health("twice")
    page.get_by_role("button", name="Start assessment").click()
    expect(page.get_by_role("alert").filter(has_text="began within the last minute")).to_be_visible()


def test_a_workspace_that_is_not_assessed_says_why(assessments, open_health, axe):
    api = assessments.api
    workspace = api.workspace("off")
    page = open_health("off")
    expect(page.get_by_text("Health assessments are off.")).to_be_visible()
    expect(page.get_by_role("button", name="Start assessment (not possible: health assessments are off)")).to_be_visible()
    axe(page)
    page.get_by_role("link", name="The workspace's settings turn them on").click()
    page.get_by_label("Health assessments").check()
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_role("button", name="Save settings (not possible: nothing has changed)")).to_be_visible()
    assert api.attributes(f"workspaces/{workspace}")["assessments-enabled"] is True
    page.get_by_role("navigation", name="Workspace", exact=True).get_by_role("link", name="Health").click()
    expect(page.locator(".note", has_text="No run of the workspace was applied yet.")).to_be_visible()
    expect(fact(page, "Next")).to_have_text("None planned")


def test_a_failed_assessment_shows_its_error_as_it_is_written(assessments, open_health, axe):
    workspace = assessments.workspace("failed", *THREE)
    assessments.assess(workspace, outcome="failed", error="<b>no</b>\nprovider")
    page = open_health("failed")
    expect(page.locator(".note.failure")).to_have_text("The assessment failed: <b>no</b>\nprovider")
    expect(page.get_by_role("button", name=re.compile("Queue a"))).to_have_count(0)
    axe(page)


def test_a_reader_sees_the_health_and_changes_nothing(assessments, open_health, colleague):
    workspace = assessments.workspace("read", *THREE)
    assessments.assess(workspace, found(["one"]))
    page = open_health("read", user=colleague("rosa", workspace, "read"))
    expect(page.get_by_role("region", name="Drift", exact=True).locator(".row-link")).to_have_text(["terraform_data.one"])
    for button in ("Start assessment", "Queue a run that restores the configuration", "Queue a refresh-only run that accepts it"):
        expect(page.get_by_role("button", name=button)).to_have_attribute("aria-disabled", "true")
    expect(page.get_by_role("link", name=re.compile("^Log"))).to_have_count(0)


def test_the_overview_and_the_list_warn_of_drift(assessments, browser_page, axe):
    workspace = assessments.workspace("warned", *THREE)
    assessments.workspace("calm", *THREE)
    assessments.assess(workspace, found(["one", "two"]))
    page = browser_page("/app/acme/workspaces?q=warned")
    row = page.get_by_role("row", name=re.compile("warned"))
    row.get_by_role("link", name="Health warning (drift in 2 of 3 resources)").click()
    expect(page).to_have_url(re.compile("/app/acme/workspaces/warned/health$"))
    page.get_by_role("link", name="Overview").click()
    health = page.get_by_role("region", name="Health", exact=True)
    expect(health).to_contain_text("2 of 3 resources")
    axe(page)
    assessments.assess(workspace, found())
    expect(health).to_contain_text("Healthy")
    page.goto("/app/acme/workspaces?q=calm")
    expect(page.get_by_role("row", name=re.compile("calm"))).to_be_visible()
    expect(page.get_by_role("table").get_by_text("Health warning")).to_have_count(0)


def test_the_organization_enforces_assessments(assessments, browser_page, open_health):
    """The last test: it changes the organization."""
    api = assessments.api
    api.workspace("forced")
    page = browser_page("/app/acme/settings/general")
    page.get_by_label("Assess the health of every workspace").check()
    page.get_by_label("Hours between health assessments").fill("12")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Save (not possible: nothing has changed)")).to_be_visible()
    settings = api.attributes("organizations/acme")
    assert (settings["assessments-enforced"], settings["assessment-hours"]) == (True, 12)
    page.goto("/app/acme/workspaces/forced/settings/general")
    expect(page.get_by_label("Health assessments The organization enforces them in all workspaces.")).to_be_disabled()
    page.goto("/app/acme/workspaces/forced/health")
    expect(page.get_by_text("On: the organization enforces them")).to_be_visible()


def test_the_list_of_workspaces_is_filtered_by_health(assessments, browser_page, axe):
    for name, document in (("listed-fine", found()), ("listed-drifted", found(["one"])), ("listed-failing", found(failing=[("door", "the door is open")]))):
        assessments.assess(assessments.workspace(name, *THREE), document)
    page = browser_page("/app/acme/workspaces?sort=name&q=listed-")
    names = page.locator("table .row-link")
    expect(names).to_have_text(["listed-drifted", "listed-failing", "listed-fine"])
    chosen = page.get_by_label("Filter by health")
    for health, listed in (("Health warning", ["listed-drifted", "listed-failing"]), ("Drift", ["listed-drifted"]), ("Checks failed", ["listed-failing"]), ("Healthy", ["listed-fine"])):
        chosen.select_option(health)
        expect(names).to_have_text(listed)
    axe(page)
    page.reload()
    expect(names).to_have_text(["listed-fine"])
    chosen.select_option("Assessment failed")
    page.get_by_role("button", name="Clear filters").click()
    expect(page).to_have_url(re.compile("/app/acme/workspaces$"))


def test_the_run_of_an_assessment_says_so(assessments, browser_page):
    workspace = assessments.workspace("sourced", *THREE)
    result = assessments.assess(workspace, found())
    (run,) = assessments.site.ask("select run_id from assessment_results where id = %s", result["id"])[0]
    page = browser_page(f"/app/acme/workspaces/sourced/runs/{run}")
    expect(fact(page, "Queued")).to_contain_text("by a health assessment")


def test_notifications_offer_assessments_and_change_requests(assessments, browser_page):
    assessments.api.workspace("notified")
    page = browser_page("/app/acme/workspaces/notified/settings/notifications")
    page.get_by_role("button", name="Add notification").click()
    dialog = page.get_by_role("dialog")
    for word in ("Drift found", "Checks failed", "Health assessment failed", "Change request created"):
        expect(dialog.get_by_label(word)).not_to_be_checked()
    dialog.get_by_label("Name").fill("health")
    dialog.get_by_label("URL").fill("https://hooks.example/1")
    dialog.get_by_label("Drift found").check()
    dialog.get_by_label("Enabled").uncheck()
    dialog.get_by_role("button", name="Save notification").click()
    expect(page.get_by_role("row", name=re.compile("health"))).to_contain_text("Drift found")
