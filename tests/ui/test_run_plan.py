# SPDX-License-Identifier: MPL-2.0
"""The plan of a run: while it runs, its tabs, and plans of every mode."""

import re

import pytest
from playwright.sync_api import expect

from support.configurations import resources
from support.gate import Gate


CHECK = 'check "age" {\n  assert {\n    condition     = terraform_data.a.input == "young"\n    error_message = "It is old"\n  }\n}\n'


@pytest.fixture(scope="module")
def site(full_site, engine):
    """Its engine waits after a plan while the folder `planned` has a closed gate."""
    path = full_site.gates / "planned/closed"
    program = full_site.program("engine", f'#!/bin/sh\n{engine.path} "$@"\ncode=$?\n[ "$1" != plan ] || [ ! -p {path} ] || cat {path}\nexit $code\n')
    full_site.worker.options.update(engine=program, sandbox_bind=f"{full_site.gates},{engine.folder}")
    full_site.worker.restart()
    return full_site


@pytest.fixture
def applied(site):
    """A workspace with resources a, b and c, and its applied run."""

    def applied(name):
        workspace = site.api.workspace(name)
        run = site.api.run_files(workspace, resources("a", "b", "c"), auto_apply=True)
        site.api.wait_status(run, "applied")
        return workspace, run

    return applied


def test_a_plan_shows_its_changes_and_warnings_while_it_runs(site, open_run, applied, axe, colleague, visitors):
    api = site.api
    workspace, before = applied("planning")
    gate = Gate(site.gates, "planned")
    files = resources("a", "new", more='  triggers_replace = ["x"]\n')
    run = api.run_files(workspace, {"main.tf": files["main.tf"] + CHECK}, message="Replace one")
    gate.wait()
    page = open_run("planning", run)
    plan = page.locator("#plan")
    expect(plan.get_by_role("table", name="Changes found so far").locator("tbody tr")).to_have_text([
        re.compile("destroy.*terraform_data.b.*not in the configuration"), re.compile("destroy.*terraform_data.c"),
        re.compile("replace.*terraform_data.a"), re.compile("create.*terraform_data.new")])
    expect(plan).to_contain_text(re.compile(r"Planning for \d+s: 3 resources refreshed, 4 changes found"))
    expect(plan.locator(".problem")).to_contain_text("It is old")
    expect(plan.get_by_role("region", name="Log of the plan")).to_contain_text("terraform_data.new")
    axe(page)
    assert api.status(run) == "planning"
    page.goto("/app/acme/workspaces/planning")
    page.get_by_role("link", name="Latest Run (Applied)").click()
    expect(page).to_have_url(re.compile(f"/runs/{before}$"))
    page.goto(f"/app/acme/workspaces/planning/runs/{run}")
    gate.open()
    expect(page.locator(".run-header .counts")).to_contain_text("−/+1")
    expect(plan).not_to_have_attribute("open", "")
    plan.locator(":scope > summary").click()
    tabs = plan.get_by_role("tab")
    expect(tabs).to_have_text(["Changes", "Log", "JSON"])
    expect(plan.get_by_role("region", name="Changes", exact=True)).to_contain_text("terraform_data.new")
    tabs.nth(2).click()
    shown = plan.get_by_role("region", name="Changes as JSON")
    expect(shown).to_contain_text('"address": "terraform_data.new"')
    axe(page)
    with page.expect_download() as download:
        plan.get_by_role("link", name="Download the whole plan").click()
    identity = api.sibling(run, "plan")
    assert download.value.path().read_bytes() == api.get(f"plans/{identity}/json-output").body
    with page.expect_download() as download:
        plan.get_by_role("link", name="Download these changes").click()
    assert b"terraform_data.new" in download.value.path().read_bytes()
    theirs = open_run("planning", run, user=colleague("plana", workspace, "plan"))
    theirs.locator("#plan > summary").click()
    theirs.locator("#plan").get_by_role("tab", name="JSON").click()
    expect(theirs.get_by_role("region", name="Changes as JSON")).to_contain_text("terraform_data.new")
    expect(theirs.locator("#plan")).to_contain_text("you need admin access to this workspace")
    expect(theirs.get_by_role("link", name="Download the whole plan")).to_have_count(0)


def test_a_plan_reads_as_its_mode(site, open_run, applied):
    api = site.api
    workspace, _ = applied("modes")
    page = open_run("modes", api.run(workspace))
    note = page.locator(".note.neutral")
    expect(note).to_contain_text("No changes. Infrastructure matches the configuration.")
    expect(page.locator("#apply")).to_contain_text("skipped: there is nothing to apply")
    expect(page.locator("#confirm")).to_have_count(0)
    facts = page.locator(".run-facts")

    def show(status, **attributes):
        run = api.run_files(workspace, resources("a", "b", "c", "d"), **attributes)
        api.wait_status(run, status)
        page.goto(f"/app/acme/workspaces/modes/runs/{run}")
        expect(page.locator(".run-facts")).to_contain_text(run)
        return run

    show("planned_and_finished", plan_only=True)
    expect(facts.locator(".chip")).to_have_text(["plan-only"])
    expect(note).to_contain_text("A plan-only run is never applied.")
    expect(page.locator("#apply")).to_contain_text("skipped: a plan-only run is never applied")
    expect(page.get_by_role("button", name=re.compile("Apply"))).to_have_count(0)

    show("planned_and_finished", refresh_only=True)
    expect(facts.locator(".chip")).to_have_text(["refresh-only"])
    expect(note).to_contain_text("No changes outside of Terraform")

    more = {"main.tf": resources("a", "b", "c")["main.tf"] + 'output "a" {\n  value = terraform_data.a.output\n}\n'}
    api.wait_status(api.run_files(workspace, more, refresh_only=True), "planned")
    page.goto("/app/acme/workspaces/modes/runs")
    page.locator("table .row-link").first.click()
    expect(note).to_contain_text("A refresh-only run changes no infrastructure.")
    page.locator(".run-header").get_by_role("button", name="Discard Plan").click()
    page.get_by_role("dialog").get_by_role("button", name="Discard Plan").click()
    expect(page.locator(".run-header").get_by_text("Discarded")).to_be_visible()

    saved = show("planned_and_saved", save_plan=True)
    expect(facts.locator(".chip")).to_have_text(["saved"])
    expect(note).to_contain_text("The plan is saved")
    expect(page.locator(".run-header").get_by_role("button", name="Confirm & Apply")).to_be_visible()
    expect(page.locator(".run-header").get_by_role("button", name="Discard Plan")).to_be_visible()

    destroy = show("planned", is_destroy=True)
    expect(facts.locator(".chip")).to_have_text(["destroy"])
    page.locator(".run-header").get_by_role("button", name="Apply, destroying 3").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("list", name="Addresses").get_by_role("listitem")).to_have_count(3)
    apply = dialog.get_by_role("button", name=re.compile("^Apply, destroying 3"))
    expect(apply).to_have_attribute("title", "type the workspace's name")
    dialog.get_by_label("Type modes to go on").fill("modes")
    apply.click()
    expect(page.locator(".run-header").get_by_text("Applied")).to_be_visible()
    assert api.status(destroy) == "applied" and api.resources(workspace) == []

    page.goto(f"/app/acme/workspaces/modes/runs/{saved}")
    expect(page.locator(".note").first).to_contain_text("another run has changed the state since the plan")
