# SPDX-License-Identifier: MPL-2.0
"""The actions on a run: dialogs, two people at once, missing rights."""

import re

import pytest
from playwright.sync_api import expect

from support.configurations import resources
from support.wait import until


@pytest.fixture
def destroying(site):
    """A run that destroys two resources and replaces one: (workspace's name, run)."""
    api = site.api
    name = f"destroying-{next(api.names)}"
    workspace = api.workspace(name)
    first = api.run_files(workspace, resources("a", "b", "c"), auto_apply=True)
    api.wait_status(first, "applied")
    run = api.run_files(workspace, resources("a", more='  triggers_replace = ["x"]\n'), message="Drop two, replace one")
    api.wait_status(run, "planned")
    return name, run


def events(api, run, action):
    return len(api.events(run, action))


def test_an_apply_that_destroys_names_each_address(site, open_run, destroying, axe):
    name, run = destroying
    page = open_run(name, run)
    header = page.locator(".run-header")
    expect(header.locator(".counts")).to_contain_text("−/+1")
    assert header.bounding_box()["height"] <= 96
    apply = header.get_by_role("button", name="Apply, destroying 3")
    apply.click()
    dialog = page.get_by_role("dialog", name="Apply, destroying 3")
    listed = dialog.get_by_role("list", name="Addresses").get_by_role("listitem")
    expect(listed).to_have_text(["− destroy terraform_data.b", "− destroy terraform_data.c", "−/+ replace terraform_data.a"])
    axe(page)
    dialog.get_by_role("button", name="Apply, destroying 3").dblclick()
    expect(header.get_by_text("Applied")).to_be_visible()
    assert events(site.api, run, "confirmed") == 1
    expect(page.locator(".moment", has_text="confirmed the apply")).to_contain_text("admin")
    expect(page.locator("#apply")).not_to_have_attribute("open", "")


def test_of_two_people_who_confirm_one_wins_and_the_other_reads_who(site, open_run, destroying, visitors, colleague):
    name, run = destroying
    workspace = site.api.get(f"organizations/acme/workspaces/{name}").data["id"]
    mine, theirs = open_run(name, run), open_run(name, run, user=colleague(f"ada-{name}", workspace, "write"))
    for page in (mine, theirs):
        page.locator(".run-header").get_by_role("button", name="Apply, destroying 3").click()
        expect(page.get_by_role("dialog").get_by_role("listitem")).to_have_count(3)
    # This page does not hear of the other's click before its own one.
    visitors.expect_console("409")
    visitors.expect_console("net::ERR_FAILED")
    acted = []

    def until_it_acts(route):
        if route.request.method == "POST":
            acted.append(route)
        route.continue_() if acted else route.abort()

    mine.route(re.compile("/api/v2/(runs|workspaces|organizations)/"), until_it_acts)
    theirs.get_by_role("dialog").get_by_role("button", name="Apply, destroying 3").dblclick()
    until(lambda: events(site.api, run, "confirmed"), "the apply is confirmed")
    mine.get_by_role("dialog").get_by_role("button", name="Apply, destroying 3").click()
    expect(mine.get_by_role("dialog").get_by_role("alert").first).to_contain_text(f"confirmed by ada-{name}")
    expect(theirs.locator(".run-header").get_by_text("Applied")).to_be_visible()
    assert events(site.api, run, "confirmed") == 1


def test_run_now_names_the_runs_before_it(site, open_run, destroying):
    name, current = destroying
    workspace = site.api.get(f"organizations/acme/workspaces/{name}").data["id"]
    second = site.api.run(workspace, message="The second")
    third = site.api.run(workspace, message="The third")
    page = open_run(name, third)
    expect(page.locator(".waiting").get_by_role("link")).to_have_text(current)
    page.locator(".run-header").get_by_role("button", name="Run this plan now").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("listitem")).to_have_count(2)
    expect(dialog.get_by_role("link")).to_have_text(["The second", "Drop two, replace one"])
    dialog.get_by_role("button", name="Run this plan now").click()
    expect(page.locator(".run-header").get_by_text(re.compile("Planning|Needs Confirmation|Planned and"))).to_be_visible()
    assert [site.api.status(run) for run in (current, second)] == ["discarded", "discarded"]


def disabled(place, word):
    button = place.get_by_role("button", name=re.compile(f"^{word}"))
    expect(button).to_have_attribute("aria-disabled", "true")
    return button.get_attribute("title")


def test_without_the_right_buttons_say_why_and_comments_are_seen_by_others(site, open_run, destroying, colleague):
    name, run = destroying
    api = site.api
    workspace = api.get(f"organizations/acme/workspaces/{name}").data["id"]
    theirs = open_run(name, run, user=colleague(f"reader-{name}", workspace, "read"))
    header, footer = theirs.locator(".run-header"), theirs.locator(".run-footer")
    for place in (header, footer, theirs.locator("#confirm")):
        assert disabled(place, "Apply, destroying 3") == "you may not apply runs of this workspace"
        assert disabled(place, "Discard Plan") == "you may not discard runs of this workspace"
    header.get_by_role("button", name=re.compile("^Apply")).press("Enter")
    expect(theirs.get_by_role("dialog")).to_have_count(0)
    expect(theirs.locator("#confirm")).to_contain_text("You may not confirm this run")
    mine = open_run(name, run)
    mine.get_by_label("New comment").fill("Is this **right**?")
    mine.get_by_role("button", name="Add comment").click()
    expect(theirs.locator(".comment .markdown strong")).to_have_text("right")
    api.act(run, "discard")
    expect(header.get_by_text("Discarded")).to_be_visible()
    assert disabled(header, "Plan again") == "you may not queue runs in this workspace"
    assert disabled(footer, "Lock workspace") == "you may not lock this workspace"
