# SPDX-License-Identifier: MPL-2.0
"""What belongs to a workspace: run tasks, access of teams, notifications, remote state, its destruction."""

import re

import pytest
from playwright.sync_api import expect

from support.people import People
from support.receiver import acknowledges


@pytest.fixture(scope="module")
def site(full_site):
    return full_site


def settings(section, name):
    return f"/app/acme/workspaces/{name}/settings/{section}"


def confirm(page, word):
    page.get_by_role("dialog").get_by_role("button", name=word, exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_run_task_is_attached_changed_and_removed(browser_page, site, axe):
    workspace = site.api.workspace("tasks")
    site.api.task(site.receiver.service(acknowledges), name="scan")
    page = browser_page(settings("run-tasks", "tasks"))
    expect(page.get_by_text("Runs of this workspace call no service.")).to_be_visible()
    page.get_by_role("button", name="Attach run task").click()
    page.get_by_role("dialog").get_by_label("Pre-apply").check()
    axe(page)
    confirm(page, "Attach run task")
    row = page.locator("tbody tr", has_text="scan")
    expect(row).to_contain_text("Post-plan")
    expect(row).to_contain_text("Mandatory")
    page.get_by_role("button", name="Edit scan").click()
    page.get_by_role("dialog").get_by_label("Enforcement").select_option("advisory")
    confirm(page, "Save run task")
    expect(row).to_contain_text("Advisory")
    (attached,) = site.api.get(f"workspaces/{workspace}/tasks").data
    assert attached["attributes"]["stages"] == ["post_plan", "pre_apply"] and attached["attributes"]["enforcement-level"] == "advisory"
    page.get_by_role("button", name="Remove scan").click()
    confirm(page, "Remove run task")
    expect(row).to_have_count(0)


@pytest.mark.parametrize("section, listed, open_it, save_it, reason", [("run-tasks", "tasks", "Attach run task", "Attach run task", "the run tasks are not loaded yet"),
                                                                   ("team-access", "teams", "Give access", "Save access", "the teams are not loaded yet")])
def test_a_dialog_that_is_opened_before_its_list_has_come(browser_page, site, section, listed, open_it, save_it, reason):
    name = f"early-{listed}"
    site.api.workspace(name)
    site.api.task(site.receiver.service(acknowledges), name=f"task-of-{name}")
    People(site.api, site.database).team(f"team-of-{name}")
    page, held = browser_page(settings(section, name)), []
    expect(page.get_by_role("button", name=open_it)).to_be_visible()
    page.route(re.compile(f"/organizations/acme/{listed}"), lambda route: held.append(route))
    page.reload()
    page.get_by_role("button", name=open_it).click()
    expect(page.get_by_role("dialog").get_by_role("button", name=f"{save_it} (not possible: {reason})")).to_be_disabled()
    for request in held:
        request.continue_()
    confirm(page, save_it)
    expect(page.locator("tbody tr")).to_have_count(1)


def test_a_team_gets_access_with_details(browser_page, site, axe):
    workspace = site.api.workspace("access")
    People(site.api, site.database).team("network")
    page = browser_page(settings("team-access", "access"))
    page.get_by_role("button", name="Give access").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Team").select_option(label="network")
    dialog.get_by_label("Access", exact=True).select_option("custom")
    dialog.get_by_label("Variables").select_option("write")
    dialog.get_by_label("Lock the workspace").check()
    axe(page)
    confirm(page, "Save access")
    row = page.locator("tbody tr", has_text="network")
    expect(row).to_contain_text("runs: read, variables: write, lock the workspace")
    page.get_by_role("button", name="Edit network").click()
    page.get_by_role("dialog").get_by_label("Access", exact=True).select_option("plan")
    confirm(page, "Save access")
    expect(row).to_contain_text("Plan: also queue runs")
    (access,) = site.api.get("team-workspaces", **{"filter[workspace][id]": workspace}).data
    assert access["attributes"]["access"] == "plan"
    page.get_by_role("button", name="Remove network").click()
    confirm(page, "Remove access")
    expect(row).to_have_count(0)


def test_a_notification_is_verified_and_shows_its_deliveries(browser_page, site, hooks, visitors, axe):
    visitors.expect_console("422")
    site.api.workspace("notified")
    hook = hooks.hook(200, b"<b>thanks</b>")
    page = browser_page(settings("notifications", "notified"))
    page.get_by_role("button", name="Add notification").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("URL").fill(hook.url)
    dialog.get_by_role("button", name="Save notification").click()
    expect(dialog.locator(".field", has_text="Name").first).to_contain_text("Name can't be blank")
    axe(page)
    dialog.get_by_label("Name").fill("on call")
    dialog.get_by_label("Run completed").check()
    confirm(page, "Save notification")
    row = page.locator("tbody tr", has_text="on call")
    expect(row).to_contain_text("Run completed")
    expect(row).to_contain_text("Delivered")
    calls = len(hook.calls)
    row.get_by_role("button", name="Verify on call").click()
    expect(page.get_by_text("The test message has arrived")).to_be_visible()
    assert len(hook.calls) == calls + 1
    page.get_by_role("button", name="Delete on call").click()
    confirm(page, "Delete notification")
    expect(row).to_have_count(0)


def test_the_state_is_shared_with_a_workspace(browser_page, site):
    workspace, other = site.api.workspace("shares"), site.api.workspace("reads")
    page = browser_page(settings("remote-state", "shares"))
    page.get_by_role("combobox", name="Workspace").select_option(label="reads")
    page.get_by_role("button", name="Share", exact=True).click()
    expect(page.get_by_role("button", name="Remove reads")).to_be_visible()
    path = f"workspaces/{workspace}/relationships/remote-state-consumers"
    assert [item["id"] for item in site.api.get(path).data] == [other]
    page.get_by_role("button", name="Remove reads").click()
    expect(page.get_by_text("None.")).to_be_visible()
    page.get_by_label("Share with the whole organization").check()
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_role("heading", name="Share with single workspaces")).to_have_count(0)
    assert site.api.attributes(f"workspaces/{workspace}")["global-remote-state"] is True


def test_a_deletion_wants_the_name(browser_page, site, visitors, axe):
    visitors.expect_console("/workspaces/doomed")  # 404: the page may read it while it is deleted
    workspace = site.api.workspace("doomed")
    page = browser_page(settings("destruction", "doomed"))
    page.get_by_label("Destroy automatically after inactivity").fill("14d")
    page.get_by_role("button", name="Save settings").click()
    expect(page.get_by_role("button", name="Save settings")).to_have_attribute("title", "nothing has changed")
    assert site.api.attributes(f"workspaces/{workspace}")["auto-destroy-activity-duration"] == "14d"
    page.get_by_role("button", name="Delete workspace").click()
    dialog = page.get_by_role("dialog")
    delete = dialog.get_by_role("button", name="Delete workspace")
    expect(delete).to_have_attribute("title", "the name is not typed")
    dialog.get_by_label("Type doomed to confirm").fill("doomed")
    axe(page)
    delete.click()
    expect(page).to_have_url(re.compile("/app/acme/workspaces$"))
    assert site.api.call("GET", f"workspaces/{workspace}").status == 404
