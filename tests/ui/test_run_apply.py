# SPDX-License-Identifier: MPL-2.0
"""The apply of a run: its rows, errors and ends."""

import json
import re

import pytest
from playwright.sync_api import expect

from support.configurations import resources
from support.gate import Gate
from support.receiver import acknowledges
from support.synthetic import change, plan

FAILS = """
resource "terraform_data" "fine" {}
resource "terraform_data" "bad" {
  depends_on = [terraform_data.fine]
  provisioner "local-exec" {
    command = "exit 3"
  }
}
resource "terraform_data" "never" {
  input = terraform_data.bad.id
}
resource "terraform_data" "kept" {
  triggers_replace = [2]
  provisioner "local-exec" {
    when    = destroy
    command = "exit 4"
  }
}
"""


@pytest.fixture(scope="module")
def site(full_site):
    """A task runs until its run is canceled."""
    full_site.scheduler.options.update(task_progress_seconds=600, task_total_seconds=600)
    full_site.scheduler.restart()
    return full_site


def test_a_failed_apply_opens_at_its_first_error(site, open_run, axe):
    api = site.api
    workspace = api.workspace("failing", auto_apply=True)
    api.wait_status(api.run_files(workspace, resources("kept", more="  triggers_replace = [1]\n")), "applied")
    run = api.run_files(workspace, {"main.tf": FAILS}, message="Provision")
    api.wait_status(run, "errored")
    page = open_run("failing", run)
    apply = page.locator("#apply")
    problems = apply.locator("[data-problem]")
    expect(problems).to_have_count(2)
    expect(problems.first).to_be_in_viewport()
    provisioner = problems.filter(has_text="exit status 3")
    expect(provisioner).to_contain_text("main.tf:5")
    expect(provisioner.locator("mark")).to_have_text("{")
    rows = apply.locator(".event-rows tbody tr")
    expect(rows).to_have_text([re.compile("failed.*replace.*terraform_data.kept"), re.compile("tainted.*terraform_data.bad"),
                               re.compile("not started.*terraform_data.never"), re.compile("done.*terraform_data.fine")])
    expect(apply).to_contain_text("1 of 4 resources done, 2 failed, 1 not started. The state is saved at serial")
    expect(apply.get_by_role("region", name="Log of the apply")).to_have_count(0)
    for problem in problems.all():
        page.keyboard.press("n")
        expect(problem).to_be_focused()
        expect(problem).to_be_in_viewport()
    axe(page)
    apply.get_by_role("tab", name="Log").click()
    expect(apply.get_by_role("region", name="Log of the apply")).to_contain_text("provisioner error")


def test_a_resource_that_took_less_than_a_second_has_tenths(operations, open_plan):
    def line(type, at, **hook):
        return json.dumps({"@level": "info", "@message": type, "@timestamp": f"2026-11-23T05:00:0{at}Z", "type": type,
                           "hook": {"resource": {"addr": "terraform_data.quick"}, "action": "create", **hook}}, separators=(",", ":")) + "\n"

    workspace = operations.api.workspace("quick", auto_apply=True)
    run = operations.planned(workspace, document=plan([change("terraform_data.quick", ["create"], None, {})]))
    job = operations.worker.take(run, "apply")
    operations.write(job, (line("apply_start", "1.100000") + line("apply_complete", "1.520000")).encode())
    apply = open_plan(run).locator("#apply")
    apply.get_by_role("tab", name="Resources").click()
    expect(apply.locator(".event-rows tbody tr")).to_have_text([re.compile(r"done.*terraform_data\.quick.*0\.4 s")])


def test_output_is_open_while_its_command_runs_and_closed_afterwards(site, open_run):
    api = site.api
    gate = Gate(site.gates, "open-while-running")
    workspace = api.workspace("slow", auto_apply=True)
    run = api.run_files(workspace, {"main.tf": f'resource "terraform_data" "slow" {{\n  provisioner "local-exec" {{\n    command = "echo hello; {gate.command}"\n  }}\n}}\n'})
    gate.wait()
    page = open_run("slow", run)
    kept = open_run("slow", run)
    for one in (page, kept):
        expect(one.locator("#apply")).to_have_attribute("open", "")
        expect(one.locator("#plan")).not_to_have_attribute("open", "")
        expect(one.get_by_role("region", name="Log of the apply")).to_contain_text("hello")
    expect(page.locator("#apply")).to_contain_text("0 of 1 resource done, 1 in progress")
    expect(page).to_have_title(re.compile("^● Applying"))
    kept.locator("#apply > summary").click()
    kept.locator("#apply > summary").click()  # the user's own choice: open
    gate.open()
    for one in (page, kept):
        expect(one.locator(".run-header").get_by_text("Applied")).to_be_visible()
    expect(page.locator("#apply")).not_to_have_attribute("open", "")
    expect(kept.locator("#apply")).to_have_attribute("open", "")
    linked = open_run("slow", run, "#apply:L1")
    expect(linked.get_by_role("region", name="Log of the apply")).to_contain_text("hello")


def test_a_canceled_apply_says_who_and_what_remained(site, open_run):
    api = site.api
    gate = Gate(site.gates, "canceled")
    run = api.run_files(api.workspace("canceled", auto_apply=True),
                        {"main.tf": f'resource "terraform_data" "slow" {{\n  provisioner "local-exec" {{\n    command = "{gate.command}"\n  }}\n}}\n'})
    gate.wait()
    page = open_run("canceled", run)
    page.locator(".run-header").get_by_role("button", name="Cancel Run").click()
    page.get_by_role("dialog").get_by_label("Comment").fill("Wrong *account*")
    page.get_by_role("dialog").get_by_role("button", name="Cancel Run").click()
    note = page.locator(".note.neutral")
    expect(note).to_contain_text("Canceled by admin")
    expect(note).to_contain_text("Completed changes remain.")
    expect(note.locator("em")).to_have_text("account")
    gate.open()


def test_a_run_canceled_after_its_apply_says_that_the_apply_succeeded(site, open_run):
    api = site.api
    workspace = api.workspace("after-apply", auto_apply=True)
    silent = site.receiver.service(acknowledges)
    api.attach(workspace, api.task(silent, "silent"), "post_apply")
    run = api.run_files(workspace, resources("one"))
    page = open_run("after-apply", run)
    task = page.locator("#post_apply .task")
    expect(task).to_contain_text("running")
    expect(task.get_by_role("button", name="Redeliver")).to_be_visible()
    page.locator(".run-header").get_by_role("button", name="Cancel Run").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel Run").click()
    expect(page.locator(".note.neutral")).to_contain_text("The apply had succeeded before.")
