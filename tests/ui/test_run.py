# SPDX-License-Identifier: MPL-2.0
"""A run from its queue to its end, by clicks."""

import re

from playwright.sync_api import expect

CHANGES = {"main.tf": 'resource "terraform_data" "one" {\n  input = "first"\n}\n'}


def open_run(page, name):
    page.get_by_label("Search by name").fill(name)
    expect(page.locator("table .row-link")).to_have_text([name])
    page.locator("table a[href*='/runs/']").click()
    expect(page).to_have_url(re.compile(f"/app/acme/workspaces/{name}/runs/run-"))


def test_a_run_is_confirmed_and_applied(browser_page, site, axe):
    api = site.api
    run = api.run_files(api.workspace("confirmed"), CHANGES, message="Add one")
    page = browser_page("/app/acme/workspaces")
    open_run(page, "confirmed")
    header = page.locator(".run-header")
    expect(header.get_by_text("Needs Confirmation")).to_be_visible()
    expect(page.get_by_role("heading", name="Add one")).to_be_visible()
    expect(page.locator(".waiting")).to_contain_text("confirm")
    expect(page).to_have_title(re.compile("^● "))
    page.locator("#plan > summary").click()
    page.locator("#plan").get_by_role("tab", name="Log").click()
    expect(page.get_by_role("region", name="Log of the plan")).to_contain_text("terraform_data.one")
    page.keyboard.press("a")
    confirm = header.get_by_role("button", name="Confirm & Apply")
    expect(confirm).to_be_focused()
    confirm.click()
    dialog = page.get_by_role("dialog", name="Confirm & Apply")
    expect(dialog).to_contain_text("1 to add")
    dialog.get_by_label("Comment").fill("It is tested")
    axe(page)
    dialog.get_by_role("button", name="Confirm & Apply").click()
    expect(header.get_by_text("Applied")).to_be_visible()
    expect(page.locator("#apply")).to_contain_text("finished")
    expect(page.locator(".comment .markdown")).to_have_text(["It is tested"])
    expect(header.get_by_role("button", name="Plan again")).to_be_visible()
    expect(header.get_by_role("button", name="Confirm & Apply")).to_have_count(0)
    assert api.attributes(f"runs/{run}")["status"] == "applied"


def test_a_run_is_discarded_and_planned_again(browser_page, site):
    api = site.api
    workspace = api.workspace("discarded")
    first = api.run_files(workspace, CHANGES)
    api.wait_status(first, "planned")
    page = browser_page(f"/app/acme/discarded/runs/{first}")
    header = page.locator(".run-header")
    header.get_by_role("button", name="Discard Plan").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard Plan").click()
    expect(header.get_by_text("Discarded")).to_be_visible()
    header.get_by_role("button", name="Plan again").click()
    page.get_by_role("dialog").get_by_role("button", name="Plan again").click()
    expect(page).not_to_have_url(re.compile(first))
    expect(header.get_by_text("Needs Confirmation")).to_be_visible()
    header.get_by_role("button", name="Discard Plan").click()
    page.get_by_role("dialog").get_by_label("Comment").fill("<b>not now</b>")
    page.get_by_role("dialog").get_by_role("button", name="Discard Plan").click()
    expect(page.locator(".comment .markdown")).to_have_text(["<b>not now</b>"])
    expect(page.locator(".note.neutral")).to_contain_text("Discarded by admin")
    expect(page.locator(".note.neutral")).to_contain_text("Nothing was changed")


def test_a_run_says_how_when_and_by_whom_it_was_triggered(browser_page, site, terraform, colleague):
    api = site.api
    user = terraform("origins")
    user.run("plan", "-input=false")
    workspace = api.get("organizations/acme/workspaces/origins").data["id"]
    by_cli = api.get(f"workspaces/{workspace}/runs", **{"filter[operation]": "plan_only"}).data[0]["id"]
    by_api = api.run_files(workspace, CHANGES, message="From a script")
    api.wait_status(by_api, "planned")
    page = browser_page("/app/acme/workspaces/origins", user=colleague("olga", workspace, "write"))
    page.get_by_role("button", name="Queue Plan").click()
    page.get_by_role("dialog").get_by_label("Message").fill("By hand")
    page.get_by_role("dialog").get_by_role("button", name="Queue Plan").click()
    expect(page.get_by_role("heading", name="By hand")).to_be_visible()
    queued = page.locator(".run-facts div").filter(has=page.get_by_text("Queued", exact=True))
    for run, fact, message in ((None, "by olga in the web UI", "By hand"), (by_api, "by admin by API", "From a script"), (by_cli, "by admin by CLI", "CLI run by admin")):
        if run:
            page.goto(f"/app/acme/workspaces/origins/runs/{run}")
        expect(page.get_by_role("heading", level=1)).to_have_text(message)
        expect(queued).to_contain_text(fact)
        expect(queued.locator("time")).to_have_attribute("title", re.compile(r"^20\d\d-"))


def test_a_pending_run_is_discarded(browser_page, site):
    api = site.api
    workspace = api.workspace("queued")
    first = api.run_files(workspace, CHANGES)
    api.wait_status(first, "planned")
    pending = api.run(workspace, message="And one more")
    page = browser_page(f"/app/acme/workspaces/queued/runs/{pending}")
    header = page.locator(".run-header")
    expect(header.get_by_text("Pending")).to_be_visible()
    header.get_by_role("button", name="Discard run").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard run").click()
    expect(header.get_by_text("Discarded")).to_be_visible()
    assert (api.status(pending), api.status(first)) == ("discarded", "planned")
