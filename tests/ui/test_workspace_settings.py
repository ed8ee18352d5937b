# SPDX-License-Identifier: MPL-2.0
"""The settings of a workspace: locking, general, and the objects that belong to it."""

import re

import psycopg
import pytest
from playwright.sync_api import expect

from support.people import People

ONE = {"main.tf": 'resource "terraform_data" "one" {\n  input = "first"\n}\n'}


@pytest.fixture(scope="module")
def workspace(site):
    return site.api.workspace("net-prod")


def settings(section, name="net-prod"):
    return f"/app/acme/workspaces/{name}/settings/{section}"


def press(page, button, dialog=None):
    """Clicks the button, and the one with the same name in the dialog that opens."""
    page.get_by_role("button", name=button, exact=True).click()
    if dialog:
        page.get_by_role("dialog").get_by_role("button", name=dialog, exact=True).click()
        expect(page.get_by_role("dialog")).to_have_count(0)


def test_a_pending_run_waits_for_the_unlock_and_then_starts(browser_page, site, workspace):
    page = browser_page(settings("locking"))
    expect(page.locator(".settings-body .mark", has_text="Unlocked")).to_be_visible()
    page.get_by_role("button", name="Lock", exact=True).click()
    dialog = page.get_by_role("dialog", name="Lock net-prod")
    dialog.get_by_label("Reason").fill("<b>audit</b>")
    dialog.get_by_role("button", name="Lock", exact=True).click()
    expect(page.locator(".facts")).to_contain_text("admin (you)")
    expect(page.locator(".facts")).to_contain_text("<b>audit</b>")
    expect(page.locator(".frame .lock")).to_contain_text("Locked by admin")
    run = site.api.run_files(workspace, ONE)
    assert site.api.status(run) == "pending"
    press(page, "Unlock", "Unlock")
    site.api.wait_status(run, "planned")
    expect(page.get_by_text("In use by")).to_be_visible()
    expect(page.get_by_role("link", name=run)).to_be_visible()
    expect(page.get_by_role("button", name="Lock")).to_have_attribute("title", "the run in progress holds the workspace")
    site.api.act(run, "discard")
    expect(page.locator(".settings-body .mark", has_text="Unlocked")).to_be_visible()


def test_general_settings_are_saved_and_errors_stand_at_their_field(browser_page, site, visitors):
    visitors.expect_console("422")
    visitors.expect_console("/workspaces/general")  # 404: the page may read it by its old name while it is renamed
    workspace = site.api.workspace("general")
    page = browser_page(settings("general", "general"))
    save = page.get_by_role("button", name="Save settings")
    expect(save).to_have_attribute("aria-disabled", "true")
    page.get_by_label("Working directory").fill("../up")
    save.click()
    expect(page.locator(".field", has_text="Working directory")).to_contain_text("must not lead out of the configuration")
    page.get_by_label("Working directory").fill("modules/net")
    page.get_by_label("Auto-apply", exact=False).first.check()
    page.get_by_label("Name").fill("renamed")
    save.click()
    expect(page).to_have_url(re.compile("/workspaces/renamed/settings/general$"))
    expect(page.get_by_role("heading", level=1)).to_contain_text("renamed")
    attributes = site.api.attributes(f"workspaces/{workspace}")
    assert (attributes["working-directory"], attributes["auto-apply"], attributes["name"]) == ("modules/net", True, "renamed")


@pytest.fixture
def held(site):
    """A workspace that waits for the last state of a lost apply; the id of its run."""
    workspace = site.api.workspace("held")
    run = site.api.run_files(workspace, ONE)
    site.api.wait_status(run, "planned")
    site.api.act(run, "discard")
    site.api.wait_status(run, "discarded")
    with psycopg.connect(site.database, autocommit=True) as connection:
        connection.execute("insert into workspace_holds (job_id, workspace_id, run_id, worker, token_hash, until) "
                           "values ('job-lost', %s, %s, 'machine-7', 'none', 'infinity')", [workspace, run])
        connection.execute("update workspaces set hold_job_id = 'job-lost' where id = %s", [workspace])
    return run


def test_force_unlock_of_a_held_workspace_warns_and_wants_a_reason(browser_page, held, axe):
    page = browser_page(settings("locking", "held"))
    facts = page.locator(".facts")
    expect(facts).to_contain_text("Held after a lost apply")
    expect(facts).to_contain_text("machine-7")
    expect(facts.get_by_role("link", name=held)).to_be_visible()
    page.get_by_role("button", name="Force-unlock").click()
    dialog = page.get_by_role("dialog", name="Force-unlock held")
    expect(dialog).to_contain_text("Terraform of the lost apply may still run on worker machine-7")
    confirm = dialog.get_by_role("button", name="Force-unlock")
    expect(confirm).to_have_attribute("title", "a reason is needed")
    dialog.get_by_label("Reason").fill("the machine is gone")
    axe(page)
    confirm.click()
    expect(page.locator(".settings-body .mark", has_text="Unlocked")).to_be_visible()


@pytest.fixture
def reader(site):
    """The name of a person with plan access to the workspace, whose password is the admin's."""
    people = People(site.api, site.database)
    team = people.team("readers")
    people.member("reader", team)
    people.give(team, "workspace", site.api.workspace("readable"), "plan")
    with psycopg.connect(site.database, autocommit=True) as connection:
        connection.execute("update users set password_hash = (select password_hash from users where username = 'admin') where username = 'reader'")
    return "reader"


def test_without_the_right_controls_are_disabled_and_say_why(browser_page, site, reader):
    page = browser_page(settings("locking", "readable"), user=(reader, site.tokens["password"]))
    expect(page.get_by_role("button", name="Lock")).to_have_attribute("title", re.compile("you need write access"))
    page.get_by_role("link", name="General").click()
    expect(page.get_by_label("Name")).to_be_disabled()
    expect(page.get_by_role("button", name="Save settings")).to_have_attribute("title", "you need admin access to this workspace")
