# SPDX-License-Identifier: MPL-2.0
"""Run tasks, policies and costs of a run."""

import json
import re
import shutil
import threading

import pytest
from playwright.sync_api import expect

from support import hostile_texts
from support.api import tar_gz
from support.configurations import resources
from support.receiver import acknowledges, says

FORBIDS = 'package p\nimport rego.v1\ndeny contains msg if { some c in input.plan.resource_changes; msg := sprintf("%s is not allowed", [c.address]) }\n'
HOSTILE = """# A public bucket
It **allows** everyone. ![a picture](https://pictures.example/x.png)
<script>document.title = "owned"</script><img src=x onerror="document.title = 'owned'"><a id="stages" href="javascript:document.title=1">bad</a>
[good](https://docs.example/fix) <iframe src="https://docs.example"></iframe> <p style="position:fixed">styled</p>
"""
OUTCOMES = [{"type": "task-result-outcomes", "attributes": {
    "outcome-id": "CC-127", "description": "A bucket <b>is</b> public", "body": HOSTILE, "url": "https://docs.example/127",
    "tags": {"Cost Centre": [{"label": "IT"}], "Severity": [{"label": "High", "level": "error"}], "Status": [{"label": "Open", "level": "warning"}]}}}]


@pytest.fixture(scope="module")
def site(full_site):
    full_site.scheduler.options.update(task_total_seconds=600, task_delivery_seconds=600)
    full_site.scheduler.restart()
    return full_site


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


FAILS = """# All names are short.
import "tfplan/v2" as tfplan
long = filter tfplan.resource_changes as address, _ { length(address) > 3 }
short = rule { long is empty }
print("the long names:", keys(long))
main = rule { short }
"""


def test_sentinel_policies_show_their_verdicts_and_traces(site, open_run, axe):
    """Failed ones come first. Traces are closed, the reason of an errored one is not. What a policy prints stays text."""
    api = site.api
    workspace = api.workspace("judged")
    shouts = "\n".join(f"print({json.dumps(text, ensure_ascii=False)})" for text in hostile_texts.CORPUS)
    policies = [api.policy("sentinel", *policy) for policy in (
        ("advisory", f"{shouts}\nmain = true\n", "shouts"), ("advisory", "x = {}\nmain = x.y\n", "nothing-known"), ("soft-mandatory", FAILS, "short-names"),
        ("hard-mandatory", 'for range(20000) as i {\n\tprint("line", i)\n}\nmain = true\n', "talks"))]
    api.patch(f"policies/{policies[2]}", {"data": {"type": "policies", "attributes": {"description": "Names are short <b>and</b> good"}}})
    api.policy_set("sentinel", policies, workspace, name="naming", description="For all names")
    run = api.run_files(workspace, resources("one"))
    api.wait_status(run, "policy_override")
    page = open_run("judged", run)
    box = page.locator("#sentinel .policy-set")
    expect(box.get_by_role("heading")).to_have_text("naming: 2 of 4 policies failed")
    lines = box.get_by_role("listitem")
    expect(lines.locator("strong")).to_have_text(["short-names", "nothing-known", "shouts", "talks"])
    expect(lines.locator(".mark")).to_have_text([re.compile("failed"), re.compile("errored"), re.compile("passed"), re.compile("passed")])
    expect(lines.locator(".chip")).to_have_text(["soft-mandatory", "advisory", "advisory", "hard-mandatory"])
    expect(lines.nth(0)).to_contain_text("Names are short <b>and</b> good")
    expect(lines.nth(1).locator(".policy-reason")).to_contain_text("nothing-known.sentinel:2:")
    expect(box.locator("pre")).to_have_count(0)
    axe(page)
    for line in lines.all():
        line.get_by_text("Trace", exact=True).click()
    traces = box.locator("pre")
    expect(traces).to_have_count(4)
    for text in ("Fail - ", "All names are short.", 'Rule "short"', 'the long names: ["terraform_data.one"]'):
        expect(traces.nth(0)).to_contain_text(text)
    for text in hostile_texts.CORPUS:
        (line,) = [line for line in text.splitlines() if line.strip()][:1]
        expect(traces.nth(2)).to_contain_text(line.strip())
    expect(traces.nth(3)).to_contain_text("the rest of what this policy said is not kept: it is more than 64 KiB")
    assert max(trace.bounding_box()["height"] for trace in traces.all()) < 600
    assert page.evaluate("self.pwned === undefined")
    expect(box.locator("img, script, iframe, svg, a")).to_have_count(0)
    axe(page)
    page.locator("#sentinel").get_by_role("button", name="Override Policy").click()
    expect(page.get_by_role("dialog", name="Override Policy").get_by_role("listitem")).to_have_text(["short-names"])


def test_a_set_that_cant_be_evaluated_says_why(site, open_run, axe):
    api = site.api
    workspace = api.workspace("broken-set")
    made = api.policy_set("sentinel", [], workspace, name="broken")
    version = api.post(f"policy-sets/{made}/versions").data
    api.ask("PUT", version["links"]["upload"], tar_gz({"sentinel.hcl": 'policy "a" {\n  enforcement_level = var.x\n}\n'}), headers={"Content-Type": "application/octet-stream"})
    run = api.run_files(workspace, resources("one"))
    api.wait_status(run, "errored")
    page = open_run("broken-set", run)
    box = page.locator("#sentinel .policy-set")
    expect(box.get_by_role("heading")).to_have_text("broken: could not be evaluated")
    expect(box.locator(".note.failure")).to_contain_text("enforcement level")
    axe(page)


def test_a_task_shows_that_it_runs_and_a_mandatory_failure_ends_the_run(site, open_run):
    api = site.api
    workspace = api.workspace("tasked")
    done = threading.Event()

    def scan(call):
        call.answer()
        while not done.wait(0.5):
            call.back("running", "2 of 9 files")
        call.back("failed", "a secret in a file")

    api.attach(workspace, api.task(site.receiver.service(scan), "slow"), "pre_plan")
    run = api.run_files(workspace, resources("one"))
    page = open_run("tasked", run)
    task = page.locator("#pre_plan .task")
    expect(page.locator("#pre_plan")).to_have_attribute("open", "")
    expect(task).to_contain_text("running")
    expect(task).to_contain_text("2 of 9 files")
    done.set()
    expect(page.locator(".run-header").get_by_text("Plan Errored")).to_be_visible()
    note = page.locator(".note.failure").first
    expect(note).to_contain_text("Pre-plan tasks failed.")
    expect(note).to_contain_text("Nothing was changed. A mandatory run task did not pass.")
    expect(task).to_contain_text("a secret in a file")
    expect(page.locator("#plan .stage-state")).to_have_text("not started: Pre-plan tasks failed")


def test_a_task_that_never_calls_back_fails_without_an_answer(site, open_run):
    api = site.api
    workspace = api.workspace("silent")
    api.attach(workspace, api.task(site.receiver.service(acknowledges), "never-answers"), "post_plan")
    page = open_run("silent", api.run_files(workspace, resources("one")))
    task = page.locator("#post_plan .task")
    expect(task).to_contain_text("failed")
    expect(task.locator(".as-written")).to_contain_text("No answer")
    expect(page.locator(".note.failure").first).to_contain_text("Post-plan tasks failed.")


def test_a_task_shows_that_it_waits_for_a_worker_of_its_pool(site, open_run):
    api = site.api
    pool, _ = api.pool("far")
    workspace = api.workspace("private-checks")
    api.attach(workspace, api.task(site.receiver.service(says("passed")), "private-scan", agent_pool=pool), "pre_plan")
    run = api.run_files(workspace, resources("one"))
    page = open_run("private-checks", run)
    task = page.locator("#pre_plan .task")
    expect(task).to_contain_text('Not delivered yet: no worker of the agent pool "far" with request forwarding is there. The request is sent again.')
    task.get_by_text("Delivery log").click()
    expect(task.get_by_role("cell", name=re.compile("^none no worker of the agent pool")).first).to_be_visible()  # one for each try
    api.act(run, "cancel")
