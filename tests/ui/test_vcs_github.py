# SPDX-License-Identifier: MPL-2.0
"""Pages that need an answer of the provider, or the site's GitHub App: suggestions of repositories, and accounts at GitHub."""

import pytest
from playwright.sync_api import expect

from support.api import Api
from support.api_site import open_api_site
from support.site import new_folder
from support.vcs_connections import connect
from support.vcs_fakes import GitHub
from support.wait import until


@pytest.fixture(scope="module")
def github():
    fake = GitHub(new_folder("github"))
    yield fake
    fake.release()
    fake.check()


@pytest.fixture(scope="module")
def site(postgres, github):
    options = {"github_app_id": "4711", "github_app_key": github.app().read_text(), "github_app_client_id": "id", "github_app_client_secret": "secret",
               "github_app_url": github.url}
    with open_api_site(postgres, **options) as site:
        site.api = Api(site.scheduler.url, site.tokens["token"])
        yield site


@pytest.fixture(scope="module")
def account(site, github):
    """The id of an installation of the App."""
    github.repository("octo/infra", {"main.tf": ""})
    github.repository("octo/policies", {"main.tf": ""})
    number = github.installation("octo", ["octo/infra", "octo/policies"], kind="User")
    site.change("insert into vcs_installations (id, installation_id, organization_id, name, kind, web_url) select 'ghain-octo', %s, id, 'octo', 'User', "
                "'https://github.com/settings/installations/7' from organizations where name = 'acme'", number)
    site.change("insert into vcs_renewals (installation_id, due_at) values ('ghain-octo', now())")
    site.change("select pg_notify('runyard_renewals', '')")
    until(lambda: site.ask("select 1 from vcs_installations where token_sealed is not null"), "a token of the installation")
    return "ghain-octo"


@pytest.fixture(scope="module")
def connection(site, github):
    return connect(site.api, {"service-provider": "github", "http-url": github.url, "api-url": github.api_url, "oauth-token-string": "good-token"}, name="Forge")[0]


def blocked(site, owner, error):
    site.change("insert into vcs_limits (owner_id, minute_left, hour_left, blocked_until, error) values (%s, 0, 0, now() + interval '1 hour', %s)", owner, error)


def test_the_chooser_suggests_what_the_token_sees(browser_page, site, github, connection, account):
    for identifier in ("acme/network", "acme/network-tests", "acme/storage"):
        github.repository(identifier, {"main.tf": ""})
    workspace = site.api.workspace("net")
    page = browser_page("/app/acme/workspaces/net/settings/version-control")
    repository = page.get_by_label("Repository", exact=True)
    suggested = page.locator("datalist option")
    page.get_by_label("Connection", exact=True).select_option("Forge")
    expect(suggested).to_have_count(0)
    repository.fill("WORK")
    expect(suggested).to_have_count(2)
    assert [option.get_attribute("value") for option in suggested.all()] == ["acme/network", "acme/network-tests"]
    repository.fill("acme/st")
    expect(suggested).to_have_count(1)
    page.get_by_label("Connection", exact=True).select_option("GitHub App: octo")
    repository.fill("octo/")
    expect(suggested).to_have_count(2)
    repository.fill("octo/infra")
    expect(suggested).to_have_count(1)
    page.get_by_role("button", name="Connect repository").click()
    panel = page.get_by_role("region", name="Repository")
    expect(panel).to_contain_text("The GitHub App sends each push, tag and pull request to this site.")
    used = site.api.attributes(f"workspaces/{workspace}")["vcs-repo"]
    assert (used["identifier"], used["github-app-installation-id"], used["oauth-token-id"]) == ("octo/infra", account, None)
    page.reload()
    expect(page.get_by_label("Connection", exact=True)).to_have_value(account)


def test_a_policy_set_uses_the_app(browser_page, site, account):
    policies = site.api.policy_set("opa", [], site.api.workspace("guarded"), name="guardrails")
    page = browser_page(f"/app/acme/settings/policy-sets?id={policies}")
    page.get_by_role("button", name="Use a repository").click()
    dialog = page.get_by_role("dialog", name="Policies from a repository")
    dialog.get_by_label("Connection", exact=True).select_option("GitHub App: octo")
    dialog.get_by_label("Repository").fill("octo/policies")
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    assert site.api.attributes(f"policy-sets/{policies}")["vcs-repo"]["github-app-installation-id"] == account


def test_the_pools_of_an_account_are_set(browser_page, site, account, axe):
    pool = site.api.pool("of-forks")[0]
    page = browser_page("/app/acme/settings/vcs-connections")
    app = page.get_by_role("region", name="GitHub App")
    app.get_by_text("Workers of octo").click()
    axe(page)
    app.get_by_label("Agent pool for plans of forks").select_option("of-forks")
    app.get_by_role("button", name="Save forks' pool").click()
    expect(page.get_by_text("The agent pool is saved")).to_be_visible()
    assert site.api.get(f"github-app/installation/{account}").data["relationships"]["fork-agent-pool"]["data"]["id"] == pool


def test_connections_show_the_app_and_why_calls_wait(browser_page, site, connection, account, axe):
    blocked(site, connection, "GitHub limits the <b>rate</b>")
    blocked(site, account, "no answer in 10 s")
    page = browser_page("/app/acme/settings/vcs-connections")
    app = page.get_by_role("region", name="GitHub App")
    expect(app.get_by_role("link", name="Connect a GitHub account")).to_have_attribute("href", "/github-app/connect/acme")
    row = app.get_by_role("row", name="octo")
    expect(row.get_by_role("link", name="Open")).to_have_attribute("href", "https://github.com/settings/installations/7")
    expect(row).to_contain_text("The last call to the provider failed: no answer in 10 s")
    axe(page)
    page.get_by_role("link", name="Forge").click()
    expect(page.get_by_text("The last call to the provider failed: GitHub limits the <b>rate</b>")).to_be_visible()
    expect(page.get_by_text("The provider requested a pause. Calls continue")).to_be_visible()
    axe(page)
