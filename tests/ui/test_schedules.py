# SPDX-License-Identifier: MPL-2.0
"""Schedules among the settings of a workspace."""

import re
from datetime import datetime, timedelta, timezone

import pytest
from playwright.sync_api import expect

ONE = {"main.tf": 'resource "terraform_data" "one" {}\n'}


@pytest.fixture(scope="module")
def site(full_site):
    return full_site


def settings(name):
    return f"/app/acme/workspaces/{name}/settings/schedules"


def save(page, word):
    page.get_by_role("dialog").get_by_role("button", name=word, exact=True).click()


def test_a_schedule_is_made_changed_and_deleted(browser_page, site, visitors, axe):
    visitors.expect_console("/schedules")  # 422: the day that no month has
    workspace = site.api.workspace("scheduled")
    page = browser_page(settings("scheduled"))
    expect(page.get_by_text("No schedules. Runs start when somebody asks for them")).to_be_visible()
    page.get_by_role("button", name="New schedule").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("nightly")
    dialog.get_by_label("Run", exact=True).select_option("plan-and-apply")
    expect(dialog.get_by_label("Apply without confirmation")).to_be_checked()
    dialog.get_by_label("Repeat (cron)").fill("0 0 30 2 *")
    expect(dialog.get_by_label("Once at")).to_have_count(0)
    dialog.get_by_label("Time zone").fill("Asia/Kathmandu")
    axe(page)
    save(page, "Create")
    expect(dialog.get_by_text("Cron names a day that no month has")).to_be_visible()
    dialog.get_by_label("Repeat (cron)").fill("30 3 * * mon-fri")
    save(page, "Create")
    row = page.locator("tbody tr", has_text="nightly")
    expect(row).to_contain_text("Plan and apply")
    expect(row).to_contain_text("as admin")
    expect(row).to_contain_text("Never")
    times = row.get_by_role("list", name="Next times of nightly").get_by_role("listitem")
    expect(times).to_have_count(3)
    expect(times.first).to_have_text(re.compile(r"^\d{4}-\d\d-\d\d \d\d:15:00 (UTC|\+00:00) \((Mon|Tue|Wed|Thu|Fri) \d{4}-\d\d-\d\d 03:30 Asia/Kathmandu\)$|^\d{4}-"))
    axe(page)
    page.get_by_role("button", name="Edit nightly").click()
    dialog.get_by_label("Repeat (cron)").fill("")
    dialog.get_by_label("Once at").fill("2100-01-01T12:00")
    save(page, "Save")
    expect(row).to_contain_text("Once")
    expect(times).to_have_count(1)
    (schedule,) = site.api.get(f"workspaces/{workspace}/schedules").data
    assert schedule["attributes"]["cron"] is None and schedule["attributes"]["at"].startswith("2100-01-01") or schedule["attributes"]["at"].startswith("2099-12-31")
    page.get_by_role("button", name="Edit nightly").click()
    dialog.get_by_label("Enabled").uncheck()
    save(page, "Save")
    expect(row).to_contain_text("Disabled")
    page.get_by_role("button", name="Delete nightly").click()
    save(page, "Delete")
    expect(page.get_by_text("No schedules.")).to_be_visible()


def test_the_page_shows_what_came_of_a_schedule_while_it_is_open(browser_page, site):
    workspace = site.api.workspace("observed", auto_destroy_at="2100-01-01T00:00:00Z")
    make = lambda name: site.api.post(f"workspaces/{workspace}/schedules", {"data": {"type": "schedules", "attributes": {"name": name, "kind": "plan", "cron": "0 0 1 1 *"}}}).data["id"]
    schedule, due = make("yearly"), "update schedules set next_at = now(), check_at = now() where id = %s"
    page = browser_page(settings("observed"))
    row = page.locator("tbody tr", has_text="yearly")
    expect(row).to_contain_text("Never")
    expect(page.get_by_text("The workspace is destroyed automatically at")).to_be_visible()
    site.ask(due, schedule)
    expect(row).to_contain_text("Skipped")
    expect(row).to_contain_text("Configuration version must exist: upload one first.")
    site.api.upload(workspace, ONE)
    site.ask(due, schedule)
    expect(row).to_contain_text("Run queued")
    run = site.api.get(f"schedules/{schedule}").data["relationships"]["last-run"]["data"]["id"]
    row.get_by_role("link", name=run).click()
    expect(page.get_by_text("by a schedule")).to_be_visible()


def test_a_reader_sees_schedules_and_changes_none(browser_page, site, colleague, axe):
    workspace = site.api.workspace("looked-at")
    site.api.post(f"workspaces/{workspace}/schedules", {"data": {"type": "schedules", "attributes": {"name": "weekly", "kind": "plan", "cron": "0 0 * * 0"}}})
    page = browser_page(settings("looked-at"), user=colleague("looker", workspace, "read"))
    expect(page.locator("tbody tr", has_text="weekly")).to_be_visible()
    expect(page.get_by_text("You may read schedules and not change them")).to_be_visible()
    expect(page.get_by_role("button", name="New schedule")).to_be_disabled()
    expect(page.get_by_role("button", name="Edit weekly")).to_have_count(0)
    axe(page)


# ---- maintenance windows ----

@pytest.mark.parametrize("place, path", [("workspace", "/app/acme/workspaces/windowed/settings/schedules"), ("project", "/app/acme/projects/{project}/settings"), ("organization", "/app/acme/settings/maintenance-windows")])
def test_a_window_is_made_and_deleted(browser_page, site, axe, place, path):
    if place == "workspace":
        site.api.workspace("windowed")
    project = site.api.get("organizations/acme/projects").data[0]["id"]
    page = browser_page(path.format(project=project))
    expect(page.get_by_text("No maintenance windows here.")).to_be_visible()
    page.get_by_role("button", name="New maintenance window").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("nights")
    dialog.get_by_label("Friday").uncheck()
    dialog.get_by_label("Time zone").fill("Asia/Kathmandu")
    axe(page)
    save(page, "Create")
    row = page.locator("tbody tr", has_text="nights")
    expect(row).to_contain_text("Mon, Tue, Wed, Thu")
    expect(row).to_contain_text("22:00 to 00:00 of the next day")
    axe(page)
    page.get_by_role("button", name="Delete nights").click()
    save(page, "Delete")
    expect(page.get_by_text("No maintenance windows here.")).to_be_visible()


def test_the_page_of_a_run_shows_the_wait_and_overrides_it(open_run, site, axe):
    workspace = site.api.workspace("waits-for-window")
    day = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"][(datetime.now(timezone.utc) + timedelta(days=3)).isoweekday() % 7]
    site.api.post(f"workspaces/{workspace}/maintenance-windows", {"data": {"type": "maintenance-windows", "attributes": {"name": "rare", "days": [day], "start": "12:00", "duration-minutes": 1}}})
    run = site.api.run_files(workspace, ONE)
    site.api.wait_status(run, "planned")
    page = open_run("waits-for-window", run)
    page.get_by_role("button", name="Confirm & Apply").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Confirm & Apply").click()
    expect(page.get_by_text("Applies start only in maintenance windows").first).to_be_visible()
    axe(page)
    page.get_by_role("button", name="Apply outside of the window").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Apply outside of the window").click()
    site.api.wait_status(run, "applied")
