# SPDX-License-Identifier: MPL-2.0
"""The page of an organization's connections to VCS providers. Their hosts do not exist: nothing here needs an answer."""

import re

import psycopg
import pytest
from playwright.sync_api import expect

from support.api import Api
from support.git_rows import GitRows
from support.vcs_connections import GITEA, connect, ssh_key

PAGE = "/app/acme/settings/vcs-connections"


@pytest.fixture(scope="module")
def site(fake_site):
    """No page of these tests needs a worker."""
    fake_site.api = Api(fake_site.scheduler.url, fake_site.tokens["token"])
    return fake_site


def open_connection(browser_page, connection):
    page = browser_page(f"{PAGE}?id={connection}")
    expect(page.get_by_role("heading", level=3, name="Settings")).to_be_visible()
    return page


def token_is(site, token, **values):
    """What the provider said about the token."""
    names = ", ".join(f"{name} = %s" for name in values)
    with psycopg.connect(site.database, autocommit=True) as connection:
        connection.execute(f"update vcs_tokens set {names} where id = %s", [*values.values(), token])


def test_each_provider_has_its_own_fields_and_no_secret_returns(browser_page, visitors, site, axe):
    visitors.expect_console("422")
    page = browser_page(PAGE)
    page.get_by_role("button", name="New connection").click()
    dialog = page.get_by_role("dialog", name="New connection")
    create = dialog.get_by_role("button", name="Create")
    expect(create).to_have_attribute("title", "choose a provider")
    dialog.get_by_label("Provider").select_option("GitHub")
    expect(dialog.get_by_label("Address of the server")).to_have_count(0)
    expect(dialog.get_by_label("Personal access token")).to_be_visible()
    dialog.get_by_label("Provider").select_option("Gitea")
    dialog.get_by_label("Address of the server").fill("https://gitea.example.com/")
    expect(dialog.get_by_label("Address of its API")).to_have_value("https://gitea.example.com/api/v1")
    axe(page)
    create.click()
    expect(dialog.locator(".field", has_text="Access token")).to_contain_text("can't be blank")
    dialog.get_by_label("Access token").fill("rosy-fingered")
    dialog.get_by_label("Name").fill("<b>Forge</b>")
    create.click()
    expect(dialog).to_have_count(0)
    expect(page).to_have_url(re.compile(r"\?id=oc-"))
    expect(page.get_by_role("heading", level=2)).to_contain_text("<b>Forge</b>")
    expect(page.locator(".settings-body")).to_contain_text("Unverified. The provider has not answered yet.")
    assert "rosy-fingered" not in page.content()
    page.get_by_role("link", name="All VCS connections").click()
    row = page.get_by_role("row", name=re.compile("Forge"))
    expect(row).to_contain_text("https://gitea.example.com")
    axe(page)


def test_the_page_says_what_the_provider_said_and_takes_a_new_token(browser_page, site, axe):
    connection, token = connect(site.api, name="Refusing")
    token_is(site, token, state="refused", error="the provider answered 401: <i>bad</i> credentials")
    page = open_connection(browser_page, connection)
    expect(page.locator(".note.failure")).to_have_text("the provider answered 401: <i>bad</i> credentials")
    page.goto(PAGE)
    expect(page.get_by_role("row", name=re.compile("Refusing"))).to_contain_text("Refused")
    page.goto(f"{PAGE}?id={connection}")
    page.get_by_label("New access token").fill("another")
    page.get_by_role("button", name="Save", exact=True).first.click()
    expect(page.get_by_label("New access token")).to_have_value("")
    token_is(site, token, state="verified", error=None, user_name="bot")
    page.reload()
    expect(page.locator(".settings-body")).to_contain_text("Verified as bot")
    axe(page)


def test_an_oauth_application_shows_its_callback_and_connects(browser_page, site):
    page = browser_page(PAGE)
    page.get_by_role("button", name="New connection").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Provider").select_option("GitLab.com")
    dialog.get_by_label("Signs in with").select_option("An OAuth application")
    dialog.get_by_label("Client id").fill("app-1")
    dialog.get_by_label("Client secret").fill("winged words")
    dialog.get_by_role("button", name="Create").click()
    expect(page.locator(".settings-body")).to_contain_text("Not connected")
    made = site.api.get("organizations/acme/oauth-clients").data[-1]["attributes"]
    expect(page.get_by_text(made["callback-url"])).to_be_visible()
    expect(page.get_by_role("link", name="Connect", exact=True)).to_have_attribute("href", made["connect-path"])
    assert "winged words" not in page.content()


def test_keys_are_set_and_removed(browser_page, visitors, site):
    visitors.expect_console("422")
    connection, token = connect(site.api, name="Keys")
    page = open_connection(browser_page, connection)
    expect(page.get_by_text("It has no SSH key.")).to_be_visible()
    key, save = page.get_by_label("Private key"), page.get_by_role("button", name="Save", exact=True).last
    key.fill("no key")
    save.click()
    expect(page.locator(".field", has_text="Private key")).to_contain_text("Ssh key is invalid")
    key.fill(ssh_key("-t", "ed25519"))
    save.click()
    expect(page.get_by_text("It has an SSH key.")).to_be_visible()
    assert "BEGIN OPENSSH" not in page.content()
    token_is(site, token, host_keys="gitea.example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPq0")
    page.reload()
    expect(page.get_by_label("Host keys")).to_have_value(re.compile("^gitea.example.com ssh-ed25519"))
    page.get_by_label("Host keys").fill("")
    save.click()
    expect(page.get_by_role("button", name=re.compile("nothing has changed")).last).to_be_visible()
    assert site.api.attributes(f"oauth-tokens/{token}")["host-keys"] == ""
    page.get_by_role("button", name="Remove SSH key").click()
    expect(page.get_by_text("It has no SSH key.")).to_be_visible()


def test_projects_and_the_pools_of_a_connection(browser_page, site):
    pool, _ = site.api.pool("behind-the-wall")
    forks, _ = site.api.pool("of-forks")
    body = {"data": {"type": "projects", "attributes": {"name": "Networks"}}}
    site.api.post("organizations/acme/projects", body)
    connection, _ = connect(site.api, name="Scoped")
    page = open_connection(browser_page, connection)
    page.get_by_label("All projects may use it").uncheck()
    page.get_by_role("button", name="Save", exact=True).first.click()
    page.get_by_role("button", name="Add project").click()
    page.get_by_role("dialog").get_by_label("Projects").select_option(label="Networks")
    page.get_by_role("dialog").get_by_role("button", name="Add").click()
    expect(page.get_by_role("button", name="Remove Networks")).to_be_visible()
    page.get_by_label("Agent pool that reads the repositories").select_option(label="behind-the-wall")
    page.get_by_role("button", name="Save pool").click()
    expect(page.get_by_role("button", name=re.compile("Save pool .*nothing has changed"))).to_be_visible()
    page.get_by_label("Agent pool for plans of forks").select_option(label="of-forks")
    page.get_by_role("button", name="Save forks' pool").click()
    expect(page.get_by_role("button", name=re.compile("Save forks' pool .*nothing has changed"))).to_be_visible()
    relations = site.api.get(f"oauth-clients/{connection}").data["relationships"]
    assert relations["agent-pool"]["data"]["id"] == pool and relations["fork-agent-pool"]["data"]["id"] == forks
    assert len(relations["projects"]["data"]) == 1


def test_a_connection_is_deleted(browser_page, site):
    connection, _ = connect(site.api, name="Gone soon")
    page = open_connection(browser_page, connection)
    page.get_by_role("button", name="Delete connection").click()
    dialog = page.get_by_role("dialog", name="Delete connection Gone soon")
    expect(dialog).to_contain_text("No workspace and no policy set uses it.")
    dialog.get_by_role("button", name="Delete", exact=True).click()
    expect(page).to_have_url(re.compile("/vcs-connections$"))
    expect(page.get_by_role("row", name=re.compile("Gone soon"))).to_have_count(0)


def test_a_connection_in_use_says_so_behind_many_repositories(browser_page, site):
    with psycopg.connect(site.database, autocommit=True) as connection:
        rows = GitRows(lambda query, *values: connection.execute(query, values), site.api.get("organizations/acme").data["attributes"]["external-id"])
        busy, other = rows.connection("https://busy.example.com"), rows.connection("https://other.example.com")
        for number in range(100):
            rows.repository(other, f"a/{number}.git")
        used, workspace = rows.repository(busy, "z/used.git"), site.api.workspace("behind-many")
        connection.execute("insert into workspace_repositories (workspace_id, repository_id) values (%s, %s)", (workspace, used))
    page = open_connection(browser_page, busy)
    expect(page.get_by_role("region", name="Repositories").get_by_role("link", name="behind-many")).to_be_visible()
    page.get_by_role("button", name="Delete connection").click()
    expect(page.get_by_role("dialog")).to_contain_text("1 workspace and 0 policy sets are disconnected.")


def test_members_read_connections_and_can_not_change_them(browser_page, site, colleague):
    connection, _ = connect(site.api, GITEA, name="Read only")
    user = colleague("rita", site.api.workspace("read-only"), "read")
    page = browser_page(PAGE, user=user)
    expect(page.get_by_role("button", name="New connection")).to_have_attribute("title", "you need the permission to manage VCS settings")
    page.goto(f"{PAGE}?id={connection}")
    expect(page.get_by_role("button", name="Delete connection")).to_have_attribute("aria-disabled", "true")
    expect(page.get_by_label("New access token")).to_be_disabled()


def test_the_status_of_applies_is_switched_on(browser_page, site, axe):
    page = browser_page(PAGE)
    statuses = page.get_by_role("region", name="Commit statuses")
    wanted = statuses.get_by_label("Send a status for applies")
    expect(wanted).not_to_be_checked()
    wanted.check()
    axe(page)
    statuses.get_by_role("button", name="Save").click()
    expect(statuses.get_by_role("button", name="Save")).to_have_attribute("title", "nothing has changed")
    assert site.api.attributes("organizations/acme")["vcs-apply-status-enabled"] is True
    page.reload()
    expect(wanted).to_be_checked()
