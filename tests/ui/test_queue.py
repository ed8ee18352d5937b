# SPDX-License-Identifier: MPL-2.0
"""The queue and its workers, of an organization and of the site."""

import re

import pytest
from playwright.sync_api import expect

OUTPUT = {"main.tf": 'output "one" {\n  value = 1\n}\n'}


@pytest.fixture(scope="module")
def locked(site):
    """A workspace that is locked, with a pending run."""
    workspace = site.api.workspace("net-prod")
    site.api.post(f"workspaces/{workspace}/actions/lock", {"reason": "a change of the network"})
    site.api.run_files(workspace, OUTPUT, message="<b>bold</b>")
    return workspace


def test_the_queue_of_an_organization_names_what_runs_wait_for(browser_page, site, locked):
    page = browser_page("/app/acme/queue")
    row = page.get_by_role("table", name="Pending runs").get_by_role("row").nth(1)
    expect(row).to_contain_text("a change of the network")
    expect(row).to_contain_text("<b>bold</b>")
    expect(page.get_by_text("The shared pool has 1 worker.")).to_be_visible()
    page.get_by_text("Runs and slots as a table").click()
    expect(page.get_by_role("table", name="Runs and slots")).to_be_visible()
    page.get_by_role("link", name="24 h").click()
    expect(page).to_have_url(re.compile("range=24h"))
    page.get_by_role("link", name="net-prod").click()
    expect(page).to_have_url(re.compile("/app/acme/workspaces/net-prod/runs/run-"))


def test_the_queue_of_the_site_drains_and_resumes_a_worker(browser_page, site, locked):
    page = browser_page("/app/acme/queue")
    page.get_by_role("link", name="Queue and workers of the site").click()
    row = page.get_by_role("row", name=re.compile("worker-1"))
    expect(row.get_by_text("Idle")).to_be_visible()
    row.get_by_role("button", name="Drain worker-1").click()
    expect(row.get_by_text("Draining")).to_be_visible()
    row.get_by_role("button", name="Resume worker-1").click()
    expect(row.get_by_text("Idle")).to_be_visible()
    row.get_by_role("button", name="Leave worker-1").click()
    expect(page.get_by_role("dialog", name="Leave: worker-1")).to_contain_text("Its process ends now.")
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    expect(row.get_by_role("button", name="Leave worker-1")).to_be_focused()
    expect(page.get_by_role("table", name="Pending runs")).to_contain_text("acme")


def test_without_a_worker_the_queue_says_how_to_start_one(browser_page, site, locked):
    page = browser_page("/app/acme/settings/agent-pools")
    page.get_by_role("button", name="New agent pool").click()
    page.get_by_role("dialog").get_by_label("Name").fill("edge")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_role("heading", name=re.compile("^edge"))).to_be_visible()
    expect(page.get_by_text("runyard-worker --scheduler-url")).to_be_visible()
