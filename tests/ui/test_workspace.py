# SPDX-License-Identifier: MPL-2.0
"""The pages of one workspace: their frame, the overview."""

import re

import pytest
from playwright.sync_api import expect

ONE = {"main.tf": 'resource "terraform_data" "one" {\n  input = "first"\n}\n'}


@pytest.fixture(scope="module")
def applied(site):
    """A workspace with an applied run, and a newer run that waits for a person."""
    workspace = site.api.workspace("net-prod")
    first = site.api.run_files(workspace, ONE, message="Add one")
    site.api.wait_status(first, "planned")
    site.api.post(f"runs/{first}/actions/apply")
    site.api.wait_status(first, "applied")
    second = site.api.run_files(workspace, {"main.tf": ONE["main.tf"].replace("first", "second")}, message="Change one")
    site.api.wait_status(second, "planned")
    return workspace, first, second


def test_latest_run_is_the_completed_one_while_another_is_in_progress(browser_page, applied):
    _, first, second = applied
    page = browser_page("/app/acme/workspaces/net-prod")
    expect(page.get_by_role("heading", level=1, name="net-prod")).to_be_visible()
    links = page.get_by_role("navigation", name="Workspace").get_by_role("link")
    expect(links).to_have_text([re.compile(word) for word in ("Overview", "Runs", "Latest Run", "States", "Variables", "Health", "Change requests", "Queries", "Settings")])
    expect(page.locator(".current-run")).to_have_attribute("href", re.compile(f"{second}$"))
    expect(page).to_have_title("● Needs Confirmation · net-prod · Runyard")
    page.get_by_role("link", name="Latest Run (Applied)").click()
    expect(page).to_have_url(re.compile(f"/runs/{first}$"))


def test_each_mode_of_queue_plan_says_what_follows(browser_page, site, applied, axe):
    workspace, _, second = applied
    page = browser_page("/app/acme/workspaces/net-prod")
    page.get_by_role("button", name="Queue Plan").click()
    dialog = page.get_by_role("dialog", name="Queue Plan in net-prod")
    follows = dialog.get_by_role("region", name="What follows")
    expect(follows).to_contain_text("1 run before this one.")
    expect(follows).to_contain_text("Auto-apply is off")
    dialog.get_by_label(re.compile("^Destroy plan")).check()
    button = dialog.get_by_role("button", name=re.compile("^Queue Plan"))
    expect(button).to_have_attribute("aria-disabled", "true")
    dialog.get_by_label("Type net-prod to destroy it").fill("net-prod")
    expect(button).not_to_have_attribute("aria-disabled", "true")
    dialog.get_by_label(re.compile("^Plan only")).check()
    expect(follows).to_contain_text("never changes anything")
    dialog.locator("summary").click()
    dialog.get_by_role("combobox", name="Target addresses").fill("terraform_data.one")
    dialog.get_by_role("combobox", name="Target addresses").press("Enter")
    dialog.get_by_role("combobox", name="Replace addresses").fill("terraform_data.one")
    expect(follows).to_contain_text("The plan replaces terraform_data.one.")
    dialog.get_by_role("button", name="Add a variable").click()
    dialog.get_by_label("Value 1").fill("3")
    expect(button).to_have_attribute("aria-disabled", "true")
    dialog.get_by_label("Name 1").fill("size")
    dialog.get_by_label("Message").fill("Only look")
    axe(page)
    button.click()
    expect(page).to_have_url(re.compile("/workspaces/net-prod/runs/run-"))
    run = page.url.rsplit("/", 1)[1]
    made = site.api.attributes(f"runs/{run}")
    assert (made["plan-only"], made["message"], made["source"]) == (True, "Only look", "tfe-ui")
    assert made["target-addrs"] == made["replace-addrs"] == ["terraform_data.one"]
    assert made["variables"] == [{"key": "size", "value": "3"}]


def test_an_error_of_the_server_stands_in_the_dialog(browser_page, site, visitors):
    visitors.expect_console("/api/v2/runs")
    site.api.workspace("empty")
    page = browser_page("/app/acme/workspaces/empty")
    page.get_by_role("button", name="Queue Plan").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("button", name="Queue Plan").click()
    expect(dialog.get_by_role("alert")).to_have_text("Configuration version must exist: upload one first")


def test_a_lock_says_who_and_why_and_queue_plan_says_that_the_run_waits(browser_page, site):
    workspace = site.api.workspace("locked")
    page = browser_page("/app/acme/workspaces/locked")
    expect(page.get_by_role("heading", level=1, name="locked")).to_be_visible()
    site.api.post(f"workspaces/{workspace}/actions/lock", {"reason": "moving"})
    expect(page.get_by_role("link", name="Locked by admin: moving")).to_be_visible()
    page.get_by_role("button", name="Queue Plan").click()
    expect(page.get_by_role("region", name="What follows")).to_contain_text("Locked by admin: moving. The run will wait until it is unlocked.")


MADE = {"main.tf": """resource "terraform_data" "one" {
  input = "first"
}
output "address" {
  value = "10.0.0.1"
}
output "password" {
  value     = "hunter22"
  sensitive = true
}
""", "README.md": "# The network\n<script>alert(1)</script>\n"}


@pytest.fixture(scope="module")
def made(site):
    """A workspace with a state; one run waits for a person, two are behind it."""
    api = site.api
    workspace = api.workspace("made")
    first = api.run_files(workspace, MADE, message="Make it")
    api.wait_status(first, "planned")
    api.act(first, "apply")
    api.wait_status(first, "applied")
    current = api.run_files(workspace, {**MADE, "main.tf": MADE["main.tf"].replace("first", "second")}, message="Change it")
    api.wait_status(current, "planned")
    return workspace, current, [api.run(workspace, message=f"Later {number}") for number in (1, 2)]


def test_the_overview_shows_what_runs_and_what_the_workspace_made(browser_page, made):
    page = browser_page("/app/acme/workspaces/made")
    now = page.get_by_role("region", name="Current run")
    expect(now.get_by_role("link", name="Change it")).to_be_visible()
    expect(now.locator(".waiting")).to_contain_text("confirm")
    expect(now.get_by_role("listitem")).to_have_text([re.compile("Later 1"), re.compile("Later 2")])
    expect(now.get_by_role("link", name="Make it")).to_be_visible()
    outputs = page.get_by_role("table", name="Outputs")
    expect(outputs).to_contain_text("10.0.0.1")
    expect(outputs.get_by_role("row", name="password")).to_contain_text("(sensitive)")
    resources = page.get_by_role("table", name="Resources")
    expect(resources.get_by_role("row", name="terraform_data.one")).to_be_visible()
    expect(page.get_by_role("region", name="README")).to_contain_text("<script>alert(1)</script>")
    page.get_by_label("Filter resources").fill("aws_")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()
    assert "hunter22" not in page.content()


def test_the_overview_follows_the_run(browser_page, site, made):
    _, current, later = made
    page = browser_page("/app/acme/workspaces/made")
    expect(page.get_by_role("region", name="Current run").get_by_role("link", name="Change it")).to_be_visible()
    site.api.act(current, "discard")
    expect(page.get_by_role("region", name="Current run").get_by_role("link", name="Later 1")).to_be_visible()
    for run in later:
        site.api.wait_status(run, {"planned", "planned_and_finished"})
        if site.api.status(run) == "planned":
            site.api.act(run, "discard")
    expect(page.get_by_role("heading", name="Last run")).to_be_visible()


def test_tags_and_run_triggers_are_added_and_removed(browser_page, site, visitors):
    visitors.expect_console("/api/v2/organizations/acme/workspaces/nowhere")
    site.api.workspace("source")
    site.api.workspace("target")
    page = browser_page("/app/acme/workspaces/target")
    page.get_by_label("New tag").fill("prod")
    page.get_by_role("button", name="Add tag").click()
    expect(page.get_by_role("link", name="prod")).to_be_visible()
    page.get_by_role("combobox", name="Source workspace").fill("nowhere")
    page.get_by_role("button", name="Add source").click()
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_role("combobox", name="Source workspace")).to_have_value("nowhere")
    page.get_by_role("combobox", name="Source workspace").fill("source")
    page.get_by_role("button", name="Add source").click()
    expect(page.get_by_role("combobox", name="Source workspace")).to_have_value("")
    sources = page.get_by_role("list", name="Sources")
    expect(sources.get_by_role("link")).to_have_text(["source"])
    expect(page.get_by_role("alert")).to_have_count(0)
    page.get_by_role("button", name="Remove the source source").click()
    expect(sources.get_by_role("link")).to_have_count(0)
    page.get_by_role("button", name="Remove the tag prod").click()
    expect(page.get_by_text("No tags")).to_be_visible()


@pytest.fixture
def reader(colleague, applied):
    """The name and password of a person who may only read the workspace net-prod."""
    return colleague("rita", applied[0], "read")


def test_without_the_right_queue_plan_says_why_and_nothing_waits_for_the_person(browser_page, reader):
    page = browser_page("/app/acme/workspaces/net-prod", user=reader)
    button = page.get_by_role("button", name=re.compile("^Queue Plan"))
    expect(button).to_have_attribute("title", "you need plan access to this workspace")
    button.press("Enter")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(page.get_by_role("button", name="Add tag")).to_have_count(0)
    page.goto("/app/acme/runs")
    expect(page.get_by_text("No run waits for you.")).to_be_visible()
    expect(page.locator("table .row-link").first).to_be_visible()
    page.goto("/app/acme/workspaces")
    expect(page.locator("table .row-link")).to_have_text(["net-prod"])
    expect(page.get_by_role("button", name=re.compile("^New workspace"))).to_have_attribute("title", "you may not create workspaces in any project")


def test_pages_follow_a_workspace_to_its_new_name(browser_page, visitors, site):
    visitors.expect_console("/workspaces/before")  # 404 by the old name
    api = site.api
    workspace = api.workspace("before")
    run = api.run_files(workspace, {"main.tf": 'output "a" {\n  value = 1\n}\n'}, message="Add a\n\nIt has a reason.")
    api.wait_status(run, "planned")
    page = browser_page("/app/acme/workspaces/before/settings/locking?a=b")
    expect(page.get_by_role("heading", level=1)).to_contain_text("before")
    api.patch(f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {"name": "after"}}})
    expect(page).to_have_url(re.compile(r"/workspaces/after/settings/locking\?a=b$"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("after")
    expect(page.get_by_text("Not found")).to_have_count(0)
    # The address of a run is found by the run, whatever name it has.
    page.goto(f"/app/acme/workspaces/before/runs/{run}#plan")
    expect(page).to_have_url(re.compile(f"/workspaces/after/runs/{run}#plan$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Add a")
