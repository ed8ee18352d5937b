# SPDX-License-Identifier: MPL-2.0
"""Fixtures for tests of the web UI in a real browser."""

import json

import pytest
from playwright.sync_api import expect

from support import pages
from support.pages import Chromium, Visitors
from support.people import Member, People
from support.runyard import KEYS, Scheduler


@pytest.fixture(scope="session")
def chromium():
    chromium = Chromium()
    yield chromium
    chromium.release()


@pytest.fixture
def visitors(chromium):
    """visitors(url) is a new browser window. At the end the console must be empty."""
    visitors = Visitors(chromium)
    yield visitors
    visitors.check()


@pytest.fixture
def browser_page(visitors, site):
    """browser_page(path="/app", user=(name, password)) is a signed-in page of the file's site."""

    def browser_page(path="/app", user=None, **options):
        page = visitors(site.scheduler.url, **options)
        return pages.sign_in(page, *(user or (site.tokens["user"], site.tokens["password"])), path)

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
        made = json.loads(Scheduler.run_command("add-user", name, f"{name}@example.com", database_url=site.database, keys=KEYS).stdout)
        people = People(site.api, site.database)
        team = people.team(f"team-of-{name}")
        people.give(team, "workspace", workspace, access)
        relations = {"teams": {"data": [{"type": "teams", "id": team}]}}
        body = {"data": {"type": "organization-memberships", "attributes": {"email": f"{name}@example.com"}, "relationships": relations}}
        membership = site.api.post("organizations/acme/organization-memberships", body).data["id"]
        Member(site.api, people.token(made["id"]), membership).accept()
        return name, made["password"]

    return colleague


@pytest.fixture
def axe():
    """axe(page) fails if the page is not accessible, in each theme and at 320 pixels."""

    def axe(page):
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            pages.check_accessible(page)
        page.emulate_media(color_scheme="null", forced_colors="active", reduced_motion="reduce")
        pages.check_narrow(page)
        page.emulate_media(forced_colors="null", reduced_motion="null")

    return axe
