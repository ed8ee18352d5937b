# SPDX-License-Identifier: MPL-2.0
"""Fixtures for tests of the web UI in a real browser."""

import pytest
from playwright.sync_api import expect

from support import pages
from support.api import Api
from support.api_site import open_api_site
from support.pages import Chromium, Sessions, Visitors
from support.people import People
from support.rich_site import RichSite
from support.site import open_full_site
from support.synthetic import Operations


@pytest.fixture(scope="session")
def chromium():
    chromium = Chromium()
    yield chromium
    chromium.release()


@pytest.fixture(scope="session")
def sessions():
    return Sessions()


@pytest.fixture
def visitors(chromium):
    """visitors(url) is a new browser window. At the end the console must be empty."""
    visitors = Visitors(chromium)
    yield visitors
    visitors.release()
    visitors.check()


@pytest.fixture
def browser_page(visitors, sessions, site):
    """browser_page(path="/app", user=(name, password)) is a signed-in page of the file's site."""

    def browser_page(path="/app", user=None, **options):
        user = user or (site.tokens["user"], site.tokens["password"])
        return sessions.page(visitors, site.scheduler.url, user, path, **options)

    return browser_page


@pytest.fixture
def open_run(browser_page):
    """open_run(workspace, run, fragment="", ...) is the signed-in page of the run."""

    def open_run(workspace, run, more="", **options):
        page = browser_page(f"/app/acme/workspaces/{workspace}/runs/{run}{more}", **options)
        expect(page.locator(".run-header")).to_be_visible()
        return page

    return open_run


@pytest.fixture
def colleague(site):
    """colleague(name, workspace, access) is the name and password of one more person, with that access to the workspace."""

    def colleague(name, workspace, access):
        people = People(site.api, site.database)
        team = people.team(f"team-of-{name}")
        people.give(team, "workspace", workspace, access)
        return people.with_password(name, team)

    return colleague


@pytest.fixture
def axe():
    """axe(page) fails if the page, as it is now, is not accessible in both themes and at 320 pixels. For dialogs and the
    like: test_every_page.py checks the pages themselves."""

    def axe(page):
        pages.check_themes(page, pages.WCAG)
        pages.check_narrow(page)

    return axe


@pytest.fixture(scope="module")
def rich_full_site(postgres, sandbox, redis, engine):
    """A full_site whose workers keep their jobs without heartbeats."""
    with open_full_site(postgres, sandbox, redis, engine, lease_seconds=3600) as site:
        yield site


@pytest.fixture(scope="module")
def fake_site(postgres):
    """A scheduler without workers: the test sends plans and logs itself. It keeps jobs without heartbeats."""
    with open_api_site(postgres, lease_seconds=3600) as site:
        yield site


@pytest.fixture(scope="module")
def operations(fake_site):
    """Runs of `acme` on the fake_site whose plans are what the test says."""
    return Operations(Api(fake_site.scheduler.url, fake_site.tokens["token"]), fake_site.scheduler.url, fake_site.tokens["agent-token"])


@pytest.fixture
def open_plan(visitors, sessions, fake_site, operations):
    """open_plan(run, fragment) is the signed-in page of a run of the operations."""

    def open_plan(run, fragment="", **options):
        workspace = operations.api.get(f"runs/{run}", include="workspace").json["included"][0]["attributes"]["name"]
        user = (fake_site.tokens["user"], fake_site.tokens["password"])
        page = sessions.page(visitors, fake_site.scheduler.url, user, f"/app/acme/workspaces/{workspace}/runs/{run}{fragment}", **options)
        page.context.grant_permissions(["clipboard-read", "clipboard-write"])
        return page

    return open_plan


@pytest.fixture(scope="module")
def rich(rich_full_site):
    return RichSite(rich_full_site)


@pytest.fixture(scope="module")
def tour(chromium, sessions, rich):
    """One window for the tests of a file that visit pages in turn, and what was wrong in it."""
    visitors = Visitors(chromium)
    site = rich.site
    page = sessions.page(visitors, site.scheduler.url, (site.tokens["user"], site.tokens["password"]), "/app")
    yield page, visitors
    visitors.release()


@pytest.fixture
def visit(tour, rich):
    """visit(pattern, text) is the page of the pattern, once it shows the text. The file's window follows a link to it."""
    page, visitors = tour

    def visit(pattern, text):
        pages.follow(page, rich.address(pattern))
        pages.wait_loaded(page, text)
        return page

    yield visit
    visitors.check()
