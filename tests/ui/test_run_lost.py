# SPDX-License-Identifier: MPL-2.0
"""A run whose worker was killed during its apply."""

import re

from playwright.sync_api import expect

from support.configurations import applying, resources
from support.gate import Gate
from support.proc import processes_with
from support.wait import until


def test_a_killed_worker_leaves_a_held_workspace(site, open_run, axe, engine):
    api = site.api
    site.scheduler.options["lease_seconds"] = 3
    site.scheduler.restart()
    gate = Gate(site.folder)
    site.worker.options["sandbox_bind"] = gate.folder
    site.worker.restart()
    workspace = api.workspace("lost", auto_apply=True)
    run = api.run_files(workspace, applying(f"trap '' INT; {gate.command}"), message="Never ends")
    gate.wait()
    if engine.writes_at_once:
        until(lambda: site.worker.metric("runyard_worker_states_sent_total") >= 1, "a state is sent")
    page = open_run("lost", run)
    expect(page.locator("#apply")).to_contain_text("1 of 2 resources done, 1 in progress")
    site.worker.kill()
    until(lambda: not processes_with(gate.path), "nothing of the job is left")

    expect(page.locator(".run-header").get_by_text("Apply Errored")).to_be_visible()
    note = page.locator(".note", has_text="lost contact")
    expect(page.locator(".note")).to_have_count(1)  # the reason stands there once
    if engine.writes_at_once:
        serial = api.attributes(f"workspaces/{workspace}/current-state-version")["serial"]
        expect(note).to_contain_text(f"The state is saved at serial {serial}.")
    else:
        expect(note).to_contain_text("No state was saved.")
    expect(note).to_contain_text("worker-1")
    expect(note).to_contain_text("The workspace is held")
    expect(page.locator("#apply")).to_contain_text("1 of 2 resources done, 1 interrupted")
    axe(page)
    after = api.run_files(workspace, resources("first"))
    waits = open_run("lost", after)
    expect(waits.locator(".waiting")).to_contain_text(re.compile("worker-1|held|lost"))

    note.get_by_role("link", name="See the hold").click()
    expect(page.locator(".facts")).to_contain_text("Held after a lost apply")
    page.get_by_role("button", name="Force-unlock").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Terraform of the lost apply may still run on worker worker-1.")
    dialog.get_by_label("Reason").fill("The machine is off")
    dialog.get_by_role("button", name="Force-unlock").click()
    expect(page.get_by_text("Held after a lost apply")).to_have_count(0)
    page.go_back()
    expect(page.locator(".note", has_text="lost contact")).not_to_contain_text("The workspace is held")
