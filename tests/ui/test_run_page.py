# SPDX-License-Identifier: MPL-2.0
"""The run page with terraform, run tasks, policies and other people."""

import re
import shutil

import psycopg
import pytest
from playwright.sync_api import expect

from support.gate import Gate
from support.people import People
from support.receiver import acknowledges, says
from support.wait import until

FORBIDS = 'package p\nimport rego.v1\ndeny contains msg if { some c in input.plan.resource_changes; msg := sprintf("%s is not allowed", [c.address]) }\n'
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
"""
HOSTILE = """# A public bucket
It **allows** everyone. ![a picture](https://pictures.example/x.png)
<script>document.title = "owned"</script><img src=x onerror="document.title = 'owned'"><a id="stages" href="javascript:document.title=1">bad</a>
[good](https://docs.example/fix) <iframe src="https://docs.example"></iframe> <p style="position:fixed">styled</p>
"""
OUTCOMES = [{"type": "task-result-outcomes", "attributes": {
    "outcome-id": "CC-127", "description": "A bucket <b>is</b> public", "body": HOSTILE, "url": "https://docs.example/127",
    "tags": {"Cost Centre": [{"label": "IT"}], "Severity": [{"label": "High", "level": "error"}], "Status": [{"label": "Open", "level": "warning"}]}}}]


def resources(*names, more=""):
    return {"main.tf": "\n".join(f'resource "terraform_data" "{name}" {{\n  input = "{name}"\n{more}}}\n' for name in names)}


@pytest.fixture(scope="module")
def site(full_site):
    return full_site


@pytest.fixture
def open_run(browser_page):
    """open_run(workspace, run, fragment="", ...) is the signed-in page of the run."""

    def open_run(workspace, run, more="", **options):
        page = browser_page(f"/app/acme/workspaces/{workspace}/runs/{run}{more}", **options)
        expect(page.locator(".run-header")).to_be_visible()
        return page

    return open_run


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
    expect(header.locator(".counts")).to_contain_text("−/+ 1")
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


def test_the_slower_of_two_people_reads_who_was_faster(site, open_run, destroying, visitors):
    name, run = destroying
    slow = open_run(name, run)
    slow.locator(".run-header").get_by_role("button", name="Discard Plan").click()
    dialog = slow.get_by_role("dialog", name="Discard Plan")
    expect(dialog).to_be_visible()
    visitors.expect_console("409")
    # The other page acts between this page's last update and its click: the server refuses, and the page says why.
    acted = []

    def until_it_acts(route):
        if route.request.method == "POST":
            acted.append(route)
        route.continue_() if acted else route.abort()

    slow.route(re.compile("/api/v2/runs/"), until_it_acts)
    visitors.expect_console("net::ERR_FAILED")
    site.api.act(run, "apply")
    until(lambda: events(site.api, run, "confirmed"), "the apply is confirmed")
    dialog.get_by_role("button", name="Discard Plan").click()
    expect(dialog.get_by_role("alert").first).to_contain_text(re.compile(r"confirmed by admin"))
    assert events(site.api, run, "discarded") == 0


def test_a_failed_apply_opens_at_its_first_error(site, open_run, axe):
    run = site.api.run_files(site.api.workspace("failing", auto_apply=True), {"main.tf": FAILS}, message="Provision")
    site.api.wait_status(run, "errored")
    page = open_run("failing", run)
    apply = page.locator("#apply")
    problem = apply.locator("[data-problem]")
    expect(problem).to_contain_text("Error: local-exec provisioner error")
    expect(problem).to_be_in_viewport()
    expect(problem).to_contain_text("main.tf:5")
    expect(problem.locator("mark")).to_have_text("{")
    rows = apply.locator(".apply-rows tbody tr")
    expect(rows).to_have_text([re.compile("tainted.*terraform_data.bad"), re.compile("not started.*terraform_data.never"), re.compile("done.*terraform_data.fine")])
    expect(apply).to_contain_text("1 of 3 resources done, 1 failed, 1 not started. The state is saved at serial")
    expect(apply.get_by_role("region", name="Log of the apply")).to_have_count(0)
    page.keyboard.press("n")
    expect(problem).to_be_focused()
    axe(page)
    apply.get_by_role("tab", name="Log").click()
    expect(apply.get_by_role("region", name="Log of the apply")).to_contain_text("provisioner error")


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
    expect(note).to_contain_text("What was done stays.")
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


@pytest.mark.skipif(not shutil.which("opa"), reason="opa is not installed")
def test_tasks_policies_and_costs_stand_in_their_stages(site, open_run, axe):
    api = site.api
    workspace = api.workspace("checked")
    scan = site.receiver.service(says("failed", "1 finding", url="https://scan.example/1", outcomes=OUTCOMES))
    api.attach(workspace, api.task(scan, "security-scan"), "post_plan", "advisory")
    api.attach(workspace, api.task(site.receiver.service(says("passed", "fine")), "naming"), "pre_plan")
    api.policy_set("opa", [api.policy("opa", "mandatory", FORBIDS, "no-data")], workspace, name="guardrails")
    site.estimates(True)
    run = api.run_files(workspace, resources("one"), message="Behind checks")
    api.wait_status(run, "policy_override")
    site.estimates(False)
    page = open_run("checked", run)
    expect(page.locator(".run-header .warning-link")).to_have_text("! security-scan failed (advisory)")
    page.locator("#post_plan > summary").click()
    task = page.locator("#post_plan .task")
    expect(task).to_contain_text("The task is advisory: the run goes on.")
    outcome = task.locator(".outcome")
    expect(outcome.locator(".chip")).to_have_text(["✕ Severity: High", "! Status: Open", "Cost Centre: IT"])
    outcome.locator("summary").click()
    body = outcome.locator(".markdown")
    expect(body.get_by_role("heading", name="A public bucket", level=4)).to_be_visible()
    expect(body.get_by_role("link")).to_have_text(["a picture", "good"])
    expect(body.locator("script, img, iframe, [style], [id], [onerror]")).to_have_count(0)
    expect(body.get_by_role("link", name="good")).to_have_attribute("rel", "noopener noreferrer")
    expect(body).to_contain_text("<script>")
    expect(outcome.get_by_role("link", name="Details of CC-127")).to_be_visible()
    task.get_by_text("Delivery log").click()
    expect(task.get_by_role("cell", name=re.compile("^200"))).to_be_visible()
    expect(page.locator("#opa")).to_contain_text("terraform_data.one is not allowed")
    axe(page)
    assert page.title() != "owned"
    page.locator("#opa").get_by_role("button", name="Override Policy").click()
    dialog = page.get_by_role("dialog", name="Override Policy")
    expect(dialog.get_by_role("listitem")).to_have_text(["no-data"])
    override = dialog.get_by_role("button", name=re.compile("^Override Policy"))
    expect(override).to_have_attribute("aria-disabled", "true")
    dialog.get_by_label("Comment").fill("Agreed with security")
    override.click()
    expect(page.locator("#confirm")).to_contain_text("You may confirm this run.")
    expect(page.locator("#opa .stage-state")).to_contain_text("overridden")
    expect(page.locator(".run-header .cost-delta")).to_have_text("+$10.00 a month")
    page.locator("#cost > summary").click()
    expect(page.locator("#cost")).to_contain_text("from $2.50 to $12.50")
    for view in ("Waterfall", "Raw events", "Reader view"):
        page.get_by_role("link", name=view, exact=True).click()
        axe(page)
    expect(page.locator(".run-header button")).to_have_count(0)


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


def test_without_the_right_buttons_say_why_and_comments_are_seen_by_others(site, open_run, destroying):
    name, run = destroying
    api = site.api
    people = People(api, site.database)
    team = people.team(f"readers-{name}")
    workspace = api.get(f"organizations/acme/workspaces/{name}").data["id"]
    api.post("team-workspaces", {"data": {"type": "team-workspaces", "attributes": {"access": "plan"}, "relationships": {
        "team": {"data": {"type": "teams", "id": team}}, "workspace": {"data": {"type": "workspaces", "id": workspace}}}}})
    reader = f"reader-{name}"
    people.member(reader, team)
    with psycopg.connect(site.database, autocommit=True) as connection:
        connection.execute("update users set password_hash = (select password_hash from users where username = 'admin') where username = %s", [reader])
    theirs = open_run(name, run, user=(reader, site.tokens["password"]))
    apply = theirs.locator(".run-header").get_by_role("button", name=re.compile("^Apply, destroying 3"))
    expect(apply).to_have_attribute("aria-disabled", "true")
    expect(apply).to_have_attribute("title", "you may not apply runs of this workspace")
    expect(theirs.locator("#confirm")).to_contain_text("You may not confirm this run")
    mine = open_run(name, run)
    mine.get_by_label("New comment").fill("Is this **right**?")
    mine.get_by_role("button", name="Add comment").click()
    expect(theirs.locator(".comment .markdown strong")).to_have_text("right")


def test_plans_without_changes_and_plan_only_runs_read_so(site, open_run):
    api = site.api
    workspace = api.workspace("quiet", auto_apply=True)
    api.wait_status(api.run_files(workspace, resources("one")), "applied")
    same = api.run(workspace)
    api.wait_status(same, "planned_and_finished")
    page = open_run("quiet", same)
    expect(page.locator(".note.neutral")).to_contain_text("No changes. Infrastructure matches the configuration.")
    expect(page.locator("#apply")).to_contain_text("skipped: there is nothing to apply")
    only = api.run_files(workspace, resources("one", "two"), plan_only=True)
    api.wait_status(only, "planned_and_finished")
    page.goto(f"/app/acme/workspaces/quiet/runs/{only}")
    expect(page.locator(".note.neutral")).to_contain_text("A plan-only run is never applied.")
    expect(page.locator(".run-facts .chip")).to_have_text(["plan-only"])
