# SPDX-License-Identifier: MPL-2.0
"""The settings of an organization, and the user's choices for this browser."""

import re

import psycopg
from playwright.sync_api import expect

from support.people import People

SECTIONS = ["General", "Teams", "Members", "Agent pools", "Run tasks", "Policy sets", "Policies", "Variable sets", "SSH keys", "Tokens", "Notifications", "Audit trail"]


def create(page, button, **values):
    """Fills a dialog's fields, by their labels, and creates the object."""
    page.get_by_role("button", name=button).click()
    dialog = page.get_by_role("dialog")
    for label, value in values.items():
        dialog.get_by_label(label.replace("_", " "), exact=True).fill(value)
    dialog.get_by_role("button", name="Create").click()
    expect(dialog).to_have_count(0)


def test_each_page_opens_from_the_list(browser_page, visitors, site):
    page = browser_page("/app/acme/settings/general")
    for section in SECTIONS:
        page.get_by_role("navigation", name="Settings").get_by_role("link", name=section, exact=True).click()
        expect(page.get_by_role("heading", name=section, exact=True)).to_be_visible()
        expect(page.get_by_role("status", name="Loading")).to_have_count(0)


def test_the_short_address_leads_to_the_first_page_unless_a_workspace_has_its_name(browser_page, site, colleague):
    page = browser_page("/app/acme/runs")
    page.goto(f"{site.scheduler.url}/app/acme/settings")
    expect(page.get_by_role("heading", name="General", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("/app/acme/settings/general$"))
    page.go_back()
    expect(page).to_have_url(re.compile("/app/acme/runs$"))
    site.api.workspace("settings")
    other = site.api.workspace("other")
    page.goto(f"{site.scheduler.url}/app/acme/settings")
    expect(page.get_by_role("heading", name="settings", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile("/app/acme/workspaces/settings$"))
    # A workspace that the user may not see changes nothing.
    page = browser_page("/app/acme/settings", user=colleague("ola", other, "read"))
    expect(page).to_have_url(re.compile("/app/acme/settings/general$"))
    expect(page.get_by_role("heading", name="General", exact=True)).to_be_visible()


def test_an_error_of_the_api_stands_at_its_field_and_a_saved_value_stays(browser_page, visitors, site):
    visitors.expect_console("422")
    page = browser_page("/app/acme/settings/general")
    minutes = page.get_by_label("Idle sessions end after (minutes)")
    minutes.fill("0")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text(re.compile("Session timeout must be 1 to"))).to_be_visible()
    expect(minutes).to_have_attribute("aria-invalid", "true")
    minutes.fill("600")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name="Save (not possible: nothing has changed)")).to_be_visible()
    page.reload()
    expect(minutes).to_have_value("600")


def test_a_token_of_a_pool_is_shown_once(browser_page, site, axe):
    pool, _ = site.api.pool("edge-1")
    page = browser_page(f"/app/acme/settings/agent-pools?id={pool}")
    create(page, "New token", Description="rack 7")
    note = page.get_by_role("status").filter(has_text="It is not shown again")
    expect(note).to_be_visible()
    expect(page.get_by_role("table", name="Tokens")).to_contain_text("rack 7")
    axe(page)
    page.reload()
    expect(page.get_by_role("table", name="Tokens")).to_contain_text("Never used")
    expect(note).to_have_count(0)
    page.get_by_role("button", name="Revoke rack 7").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_role("row", name=re.compile("rack 7"))).to_have_count(0)


def test_a_member_is_invited_to_a_team_and_removed(browser_page, site):
    page = browser_page("/app/acme/settings/teams")
    create(page, "New team", Name="network")
    page.get_by_label("Read all workspaces").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("button", name=re.compile("nothing has changed"))).to_be_visible()
    page.get_by_role("link", name="Members", exact=True).click()
    page.get_by_role("button", name="Invite").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("E-mail").fill("eve@example.com")
    dialog.get_by_label("network").check()
    dialog.get_by_role("button", name="Invite").click()
    row = page.get_by_role("row", name=re.compile("eve@example.com"))
    expect(row).to_contain_text("Invited")
    expect(row).to_contain_text("network")
    row.get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(row).to_have_count(0)


def test_a_variable_set_has_variables_and_workspaces(browser_page, site):
    site.api.workspace("billing")
    page = browser_page("/app/acme/settings/variable-sets")
    create(page, "New variable set", Name="region")
    create(page, "New variable", Key="region", Value="<i>eu</i>")
    expect(page.get_by_role("table", name="Variables")).to_contain_text("<i>eu</i>")
    page.get_by_role("button", name="Add workspace").click()
    page.get_by_role("dialog").get_by_label("Workspaces").select_option(label="billing")
    page.get_by_role("dialog").get_by_role("button", name="Add").click()
    expect(page.get_by_role("button", name="Remove billing")).to_be_visible()
    page.get_by_role("button", name="Edit region").click()
    page.get_by_role("dialog").get_by_label(re.compile("^Sensitive")).check()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_text("Sensitive: it is never shown")).to_be_visible()
    page.get_by_role("button", name="Delete variable set").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page).to_have_url(re.compile("/variable-sets$"))
    expect(page.get_by_role("row", name=re.compile("region"))).to_have_count(0)


def test_a_policy_has_a_text_and_joins_a_set(browser_page, site):
    page = browser_page("/app/acme/settings/policies")
    create(page, "New policy", Name="no-public", Query="terraform.deny")
    page.get_by_label("Rego").fill("package terraform\n\ndeny := []\n")
    page.get_by_role("button", name="Save text").click()
    expect(page.get_by_role("button", name=re.compile("Save text .*nothing has changed"))).to_be_visible()
    page.reload()
    expect(page.get_by_label("Rego")).to_have_value(re.compile("package terraform"))
    page.get_by_role("link", name="Policy sets").click()
    create(page, "New policy set", Name="baseline")
    page.get_by_role("button", name="Add policy").click()
    page.get_by_role("dialog").get_by_label("Policies").select_option(label="no-public")
    page.get_by_role("dialog").get_by_role("button", name="Add").click()
    expect(page.get_by_role("button", name="Remove no-public")).to_be_visible()
    create(page, "New parameter", Key="limit", Value="3")
    expect(page.get_by_role("table", name="Parameters")).to_contain_text("limit")


def test_an_ssh_key_is_never_shown_and_a_workspace_chooses_it(browser_page, site):
    workspace = site.api.workspace("modules")
    page = browser_page("/app/acme/settings/ssh-keys")
    create(page, "New SSH key", Name="deploy", Private_key="-----BEGIN secret-of-the-key")
    row = page.get_by_role("row", name=re.compile("deploy"))
    expect(row).to_be_visible()
    row.get_by_role("button", name="Edit deploy").click()
    page.get_by_role("dialog").get_by_label("Name").fill("git")
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("row", name=re.compile("git"))).to_be_visible()
    assert "secret-of-the-key" not in page.content()
    page.goto("/app/acme/workspaces/modules/settings/general")
    page.get_by_label("SSH key for modules").select_option(label="git")
    page.get_by_role("button", name="Save SSH key").click()
    expect(page.get_by_role("button", name=re.compile("Save SSH key.*nothing has changed"))).to_be_visible()
    assert site.api.get(f"workspaces/{workspace}").data["relationships"]["ssh-key"]["data"]["id"]
    page.goto("/app/acme/settings/ssh-keys")
    page.get_by_role("button", name="Delete git").click()
    page.get_by_role("dialog").get_by_role("button", name="Delete").click()
    expect(page.get_by_text(re.compile("^No SSH keys"))).to_be_visible()


def test_a_project_is_renamed_shared_with_a_team_and_deleted(browser_page, site, axe):
    People(site.api, site.database).team("builders")
    project = site.api.post("organizations/acme/projects", {"data": {"type": "projects", "attributes": {"name": "lab"}}}).data["id"]
    page = browser_page(f"/app/acme/projects/{project}")
    page.get_by_role("link", name="Project settings").click()
    page.get_by_label("Name", exact=True).fill("laboratory")  # the list before it has "Search by name"
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("heading", name="Settings of laboratory")).to_be_visible()
    page.get_by_role("button", name="Give access").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Team").select_option(label="builders")
    dialog.get_by_label("Access", exact=True).select_option("maintain")
    dialog.get_by_role("button", name="Give access").click()
    row = page.get_by_role("row", name=re.compile("builders"))
    expect(row).to_contain_text("Maintain")
    axe(page)
    row.get_by_role("button", name="Edit builders").click()
    dialog.get_by_label("Access", exact=True).select_option("read")
    dialog.get_by_role("button", name="Save").click()
    expect(row).to_contain_text("Read: see its workspaces")
    row.get_by_role("button", name="Remove builders").click()
    dialog.get_by_role("button", name="Remove").click()
    expect(page.get_by_text(re.compile("^No team has access"))).to_be_visible()
    page.get_by_role("button", name="Delete project").click()
    dialog.get_by_role("button", name="Delete").click()
    expect(page).to_have_url(re.compile("/app/acme/workspaces$"))
    assert site.api.call("GET", f"projects/{project}").status == 404


def test_a_project_gets_a_notification(browser_page, site):
    page = browser_page("/app/acme/settings/notifications")
    page.get_by_role("button", name="New notification").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("pager")
    dialog.get_by_label("URL").fill("https://1.1.1.1/hook")
    dialog.get_by_label(re.compile("^Enabled")).uncheck()
    dialog.get_by_role("button", name="Create").click()
    expect(page.get_by_role("row", name=re.compile("pager"))).to_contain_text("Disabled")


def test_the_audit_trail_names_a_change_and_filters(browser_page, site):
    site.api.pool("audited")
    page = browser_page("/app/acme/settings/audit-trail", timezone_id="America/New_York")
    table = page.get_by_role("table", name="Audit trail")
    expect(table.get_by_text(re.compile("agent.pool.*create")).first).to_be_visible()
    page.get_by_label("Filter this page").fill("nothing like it")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()
    page.get_by_label("Filter this page").fill("")
    with page.expect_request(re.compile("since=2099-01-01T05%3A00")):  # a day of the zone that the rows show
        page.get_by_label("Since").fill("2099-01-01")
    expect(page.get_by_text("Nothing matches.")).to_be_visible()


def test_keys_and_theme_are_kept_in_the_browser(browser_page, site):
    page = browser_page("/app/settings/keyboard")
    page.get_by_label("Use keys").uncheck()
    page.get_by_role("heading", name="Keyboard").click()
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("link", name="Theme and times").click()
    page.get_by_label("Theme", exact=True).select_option("dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")


# ---- lifetimes of tokens ----


def test_the_longest_lifetimes_of_tokens_are_kept(browser_page, visitors, site, axe):
    page = browser_page("/app/acme/settings/tokens")
    limits = page.get_by_role("region", name="Longest lifetimes")
    expect(limits.get_by_text("They are not in force.")).to_be_visible()
    expect(limits.get_by_label("Tokens of teams (days)")).to_have_value("730.49")
    limits.get_by_label("Tokens of teams (days)").fill("30")
    limits.get_by_label("Tokens of people (days)").fill("0.5")
    limits.get_by_role("button", name="Save").click()
    expect(limits.get_by_role("button", name=re.compile("nothing has changed"))).to_be_visible()
    axe(page)
    found = {item["attributes"]["token-type"]: item["attributes"]["max-ttl-ms"] for item in site.api.get("organizations/acme/token-ttl-policies").data}
    assert found == {"organization": 63113904000, "team": 30 * 86400000, "user": 43200000, "audit_trails": 63113904000}
    page.reload()
    expect(limits.get_by_label("Tokens of people (days)")).to_have_value("0.5")
    limits.get_by_label("Tokens of people (days)").fill("")
    visitors.expect_console("422")
    limits.get_by_role("button", name="Save").click()
    expect(limits.get_by_text(re.compile("Max ttl ms must be 1000 to"))).to_be_visible()
    site.api.patch("organizations/acme", {"data": {"type": "organizations", "attributes": {"max-ttl-enabled": True}}})
    page.reload()
    expect(limits.get_by_text("They are in force.")).to_be_visible()
    site.api.patch("organizations/acme", {"data": {"type": "organizations", "attributes": {"max-ttl-enabled": False}}})


def test_unused_tokens_of_teams_are_listed_and_revoked(browser_page, site, axe):
    team = People(site.api, site.database).team("sleepers")
    make = lambda description: site.api.post(f"teams/{team}/authentication-tokens", {"data": {"type": "authentication-tokens", "attributes": {"description": description}}}).data["id"]  # noqa: E731
    old, _ = make("forgotten"), make("fresh")
    with psycopg.connect(site.database, autocommit=True) as connection:
        connection.execute("update tokens set created_at = now() - interval '100 days' where id = %s", [old])
    page = browser_page("/app/acme/settings/tokens")
    table = page.get_by_role("table", name="Unused tokens")
    expect(table.get_by_role("row")).to_have_count(2)
    expect(table).to_contain_text("forgotten")
    expect(table.get_by_role("link", name="sleepers")).to_have_attribute("href", f"/app/acme/settings/teams?id={team}")
    axe(page)
    page.get_by_role("navigation", name="Unused for").get_by_role("link", name="A year").click()
    expect(page.get_by_text("No team has a token that is unused for so long.")).to_be_visible()
    page.get_by_role("navigation", name="Unused for").get_by_role("link", name="90 days").click()
    page.get_by_role("button", name="Revoke forgotten").click()
    page.get_by_role("dialog").get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("No team has a token that is unused for so long.")).to_be_visible()
    assert [item["attributes"]["description"] for item in site.api.get("organizations/acme/team-tokens").data] == ["fresh"]
