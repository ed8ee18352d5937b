# SPDX-License-Identifier: MPL-2.0
"""The pages of site admins: organizations, users, engine versions, settings of the site, maintenance."""

import json
import re

import pytest
from playwright.sync_api import expect

from support.api import Api
from support.people import People
from support.runyard import KEYS, Scheduler
from support.scim import Scim

SECTIONS = ["Organizations", "Users", "OpenID providers", "SAML", "Provisioning", "Engine versions", "General", "Cost estimates", "Mail server", "Texts", "Maintenance", "Audit trail", "Queue and workers"]
HOSTILE = '<img src=x onerror="alert(1)">'


class Owner:
    """The owner of an organization, who is not a site admin. Both have the name."""

    def __init__(self, site, name):
        result = Scheduler.run_command("bootstrap", name, f"{name}@example.com", name, database_url=site.database, keys=KEYS)
        printed = json.loads(result.stdout)
        self.name, self.password = name, printed["password"]
        self.api = Api(site.scheduler.url, printed["token"], name)
        self.id = self.api.get("account/details").data["id"]
        site.api.post(f"admin/users/{self.id}/actions/revoke_admin")


@pytest.fixture(scope="module")
def owner(site):
    return Owner(site, "globex")


def dialog(page, button):
    """Opens the button's dialog."""
    page.get_by_role("button", name=button, exact=True).click()
    return page.get_by_role("dialog")


def confirm(page, button, word):
    dialog(page, button).get_by_role("button", name=word, exact=True).click()
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_each_page_opens_from_the_menu_and_is_accessible(browser_page, site, axe):
    page = browser_page("/app")
    page.get_by_text(site.tokens["user"], exact=True).click()
    page.get_by_role("link", name="Site administration").click()
    for section in SECTIONS:
        page.get_by_role("navigation", name="Site administration").get_by_role("link", name=section).click()
        expect(page.get_by_role("heading", name=section, exact=True)).to_be_visible()
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)
        expect(page).to_have_title(f"{section} · Site · Runyard")
        axe(page)


def test_others_do_not_see_the_pages(browser_page, site, owner):
    page = browser_page("/app/admin/users", user=(owner.name, owner.password))
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    expect(page.get_by_role("navigation", name="Site administration")).to_have_count(0)
    for section in ("organizations", "versions", "general", "saml", "scim", "maintenance", "queue"):
        page.goto(f"/app/admin/{section}")
        expect(page.get_by_role("heading", name="Not found")).to_be_visible()
    page.get_by_role("banner").get_by_text(owner.name, exact=True).last.click()
    expect(page.get_by_role("link", name="Keyboard")).to_be_visible()
    expect(page.get_by_role("link", name="Site administration")).to_have_count(0)


def test_an_organization_is_found_limited_disabled_and_deleted(browser_page, visitors, site, owner, axe):
    doomed = Owner(site, "initech")
    workspace = doomed.api.workspace("payroll")
    doomed.api.run_files(workspace, {"main.tf": ""}, message="waits")
    page = browser_page("/app/admin/organizations")
    page.get_by_label("Search organizations").fill("INITECH@")
    rows = page.get_by_role("table", name="Organizations").get_by_role("row")
    expect(rows).to_have_count(2)
    expect(page).to_have_url(re.compile("q=INITECH"))
    row = rows.nth(1)
    expect(row).to_contain_text("Active")
    expect(row.get_by_role("cell").nth(2)).to_have_text("1")
    expect(row).to_contain_text("initech")
    edit = dialog(page, "Edit initech")
    edit.get_by_label("Time limit of plans").fill("soon")
    visitors.expect_console("422")
    edit.get_by_role("button", name="Save").click()
    expect(edit.get_by_text("A timeout must be a duration such as 2h")).to_be_visible()
    edit.get_by_label("Time limit of plans").fill("1h")
    edit.get_by_label("Runs at the same time").fill("3")
    edit.get_by_label("Disabled").check()
    edit.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("Disabled")
    expect(row).to_contain_text("(limit 3)")
    assert doomed.api.call("GET", "organizations/initech").status == 404
    axe(page)
    remove = dialog(page, "Delete initech")
    expect(remove.get_by_role("button", name="Delete")).to_have_attribute("aria-disabled", "true")
    remove.get_by_label("Type initech to confirm").fill("initech")
    remove.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("No organization matches.")).to_be_visible()
    assert site.api.call("GET", "admin/organizations/initech").status == 404


def test_a_user_is_suspended_resumed_and_made_site_admin(browser_page, site, owner, axe):
    page = browser_page("/app/admin/users?q=globex")
    row = page.get_by_role("row", name=re.compile("globex"))
    confirm(page, "Suspend globex", "Suspend")
    expect(row).to_contain_text("Suspended")
    assert owner.api.call("GET", "account/details").status == 401
    page.get_by_role("navigation", name="Users").get_by_role("link", name="Suspended").click()
    expect(page).to_have_url(re.compile("show=suspended"))
    expect(row).to_contain_text("globex@example.com")
    confirm(page, "Resume globex", "Resume")
    expect(page.get_by_text("No user matches.")).to_be_visible()
    assert owner.api.call("GET", "account/details").status == 401
    owner.api.token = People(site.api, site.database).token(owner.id)
    page.get_by_role("navigation", name="Users").get_by_role("link", name="All").click()
    confirm(page, "Make site admin globex", "Make site admin")
    expect(row.get_by_role("cell").nth(3)).to_have_text("Site admin")
    assert owner.api.call("GET", "admin/users").status == 200
    confirm(page, "Revoke site admin globex", "Revoke site admin")
    expect(row.get_by_role("cell").nth(3)).to_have_text("–")
    page.get_by_role("link", name="Audit trail").click()
    expect(page.get_by_role("table", name="Audit trail")).to_contain_text("suspend")
    page.go_back()
    page.get_by_label("Search users").fill(site.tokens["user"])
    own = page.get_by_role("row", name=re.compile(site.tokens["user"]))
    expect(own.get_by_role("button", name=re.compile("Suspend.*another site admin"))).to_have_attribute("aria-disabled", "true")
    axe(page)


def test_a_version_is_listed_disabled_deprecated_and_deleted(browser_page, visitors, site, axe):
    page = browser_page("/app/admin/versions?tool=opa")
    add = dialog(page, "New version")
    add.get_by_label("Version", exact=True).fill("1.x")
    add.get_by_label("URL of the archive").fill("https://example.com/opa")
    add.get_by_label("SHA-256 of the archive").fill("0" * 64)
    visitors.expect_console("422")
    add.get_by_role("button", name="Create").click()
    expect(add.get_by_text("Version must be exact")).to_be_visible()
    add.get_by_label("Version", exact=True).fill("1.4.2")
    add.get_by_label("Deprecated", exact=False).check()
    add.get_by_label("Why it is deprecated").fill(HOSTILE)
    add.get_by_role("button", name="Create").click()
    row = page.get_by_role("table", name="Versions of OPA").get_by_role("row").nth(1)
    for text in ("1.4.2", "Enabled", "Custom", "Deprecated", HOSTILE):
        expect(row).to_contain_text(text)
    axe(page)
    row.get_by_role("button", name="Disable 1.4.2").click()
    expect(row).to_contain_text("Disabled")
    edit = dialog(page, "Edit 1.4.2")
    edit.get_by_label("Official").check()
    edit.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("Official")
    page.reload()
    expect(row).to_contain_text("Disabled")
    page.get_by_role("navigation", name="Program").get_by_role("link", name="Terraform").click()
    expect(page.get_by_role("region", name="Versions of Terraform")).to_be_visible()
    page.go_back()
    confirm(page, "Delete 1.4.2", "Delete")
    expect(page.get_by_text(re.compile("^No version matches"))).to_be_visible()


def test_maintenance_starts_with_a_reason_that_waiting_runs_show_and_ends(browser_page, site, owner, axe):
    page = browser_page("/app/admin/maintenance")
    start = dialog(page, "Start maintenance")
    expect(start.get_by_role("button", name="Start maintenance")).to_have_attribute("aria-disabled", "true")
    start.get_by_label("Reason").fill(f"a new database {HOSTILE}")
    start.get_by_role("button", name="Start maintenance").click()
    expect(page.get_by_text(f"a new database {HOSTILE}")).to_be_visible()
    axe(page)
    run = owner.api.run_files(owner.api.workspace("waits"), {"main.tf": ""})
    assert "a new database" in json.dumps(owner.api.get(f"runs/{run}/waiting").data["attributes"])
    confirm(page, "End maintenance", "End maintenance")
    expect(page.get_by_text("Runs start")).to_be_visible()
    owner.api.wait_status(run, "planned_and_finished")


def test_the_settings_of_the_site_are_kept(browser_page, visitors, site):
    page = browser_page("/app/admin/general")
    page.get_by_label("Only site admins create organizations").check()
    page.get_by_label("Time limit of plans").fill("a while")
    visitors.expect_console("422")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("A timeout must be a duration")).to_be_visible()
    page.get_by_label("Time limit of plans").fill("2h")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name=re.compile("nothing has changed"))).to_be_visible()
    page.reload()
    expect(page.get_by_label("Only site admins create organizations")).to_be_checked()
    assert site.api.attributes("admin/general-settings")["plan-timeout"] == "2h"


def save(page):
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("button", name=re.compile("nothing has changed"))).to_be_visible()


def test_passwords_are_needed_until_there_are_other_ways_to_sign_in(browser_page, visitors, site):
    page = browser_page("/app/admin/general")
    page.get_by_label("People sign in with passwords").uncheck()
    visitors.expect_console("422")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_text("Passwords are needed: no identity provider is enabled")).to_be_visible()
    page.get_by_role("button", name="Undo changes").click()
    expect(page.get_by_label("People sign in with passwords")).to_be_checked()


def test_the_mail_server_is_kept_and_its_password_is_not_shown(browser_page, visitors, site, axe):
    page = browser_page("/app/admin/mail")
    expect(page.get_by_label("Username")).to_have_count(0)
    page.get_by_label("Host").fill("mail server")
    page.get_by_label("Sender").fill("runyard@example.com")
    visitors.expect_console("422")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_label("Host")).to_have_attribute("aria-invalid", "true")
    page.get_by_label("Host").fill("mail.example.com")
    page.get_by_label("Port").fill("465")
    page.get_by_label("Login").select_option("plain")
    page.get_by_label("Username").fill("runyard")
    page.get_by_label("Password").fill("mail-password")
    axe(page)
    save(page)
    page.reload()
    expect(page.get_by_label("Host")).to_have_value("mail.example.com")
    expect(page.get_by_label("Username")).to_have_value("runyard")
    expect(page.get_by_label("Password")).to_have_value("")
    settings = site.api.attributes("admin/smtp-settings")
    assert (settings["port"], settings["sender"], settings["auth"], settings["enabled"]) == (465, "runyard@example.com", "plain", False)
    assert "mail-password" not in json.dumps(settings)


def test_cost_estimates_are_switched_off_and_on(browser_page, site):
    page = browser_page("/app/admin/costs")
    estimates = page.get_by_label("Organizations and workspaces can have cost estimates")
    expect(estimates).to_be_checked()
    for wanted in (False, True):
        estimates.set_checked(wanted)
        save(page)
        assert site.api.attributes("admin/cost-estimation-settings")["enabled"] is wanted


def test_texts_of_the_site_are_shown_without_what_is_not_allowed(browser_page, visitors, site):
    page = browser_page("/app/admin/texts")
    page.get_by_label("Address of the support").fill("help@example.com")
    page.get_by_label("Below the sign-in form").fill(f"<p>Ask the <strong>front desk</strong>. {HOSTILE}</p>")
    save(page)
    page.reload()
    expect(page.get_by_label("Address of the support")).to_have_value("help@example.com")
    sign_in = visitors(site.scheduler.url)
    sign_in.goto("/app/login")
    expect(sign_in.locator("strong", has_text="front desk")).to_be_visible()
    expect(sign_in.get_by_role("link", name="help@example.com")).to_have_attribute("href", "mailto:help@example.com")
    expect(sign_in.locator("img")).to_have_count(0)
    page.get_by_label("Address of the support").fill("")
    page.get_by_label("Below the sign-in form").fill("")
    save(page)


def test_provisioning_is_enabled_paused_and_mapped(browser_page, site, axe):
    site.ask("insert into identity_providers (id, kind, name, issuer) values ('idp-ui', 'oidc', 'ui', 'https://idp.example.com') on conflict do nothing")
    page = browser_page("/app/admin/scim")
    page.get_by_role("button", name="Enable", exact=True).click()
    expect(page.get_by_role("button", name="Pause", exact=True)).to_be_visible()
    page.get_by_role("button", name="New token").click()
    page.get_by_role("dialog").get_by_label("Description").fill("okta")
    page.get_by_role("dialog").get_by_role("button", name="Create").click()
    note = page.get_by_role("status").filter(has_text="copy it now")
    provider = Scim(site.scheduler.url, note.locator("code").inner_text())
    group = provider.group(provider.user()["id"], name=HOSTILE)
    site.api.post(f"organizations/{site.api.organization}/teams", {"data": {"type": "teams", "attributes": {"name": "followers"}}})
    page.reload()
    axe(page)
    page.get_by_role("button", name=f"Map a team to {HOSTILE}").click()
    page.get_by_role("dialog").get_by_label("Organization").fill(site.api.organization)
    page.get_by_role("dialog").get_by_role("button", name="Show its teams").click()
    page.get_by_role("dialog").get_by_label("Team", exact=True).select_option("followers")
    axe(page)
    page.get_by_role("dialog").get_by_role("button", name="Map team").click()
    expect(page.get_by_role("table", name="Groups")).to_contain_text(f"{site.api.organization} / followers")
    team = next(one for one in site.api.get(f"organizations/{site.api.organization}/teams").data if one["attributes"]["name"] == "followers")
    other = browser_page(f"/app/{site.api.organization}/settings/teams?id={team['id']}")
    expect(other.get_by_text("Members are those of the identity provider's group")).to_contain_text(HOSTILE)
    axe(other)
    page.get_by_role("button", name=f"Teams of {HOSTILE}").click()
    page.get_by_role("dialog").get_by_role("button", name=f"Unmap {site.api.organization} / followers").click()
    expect(page.get_by_role("table", name="Groups")).not_to_contain_text("followers")
    confirm(page, f"Make site admins by {HOSTILE}", "Confirm")
    expect(page.get_by_role("button", name=f"End site admins by {HOSTILE}")).to_be_visible()
    assert site.api.get("admin/scim-settings").data["attributes"]["site-admin-group-scim-id"] == group["id"]
    confirm(page, "Disable", "Disable provisioning")
    expect(page.get_by_role("button", name="Enable", exact=True)).to_be_visible()
