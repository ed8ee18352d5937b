# SPDX-License-Identifier: MPL-2.0
"""Fixtures for tests of the web UI in a real browser."""

import pytest

from support import pages
from support.pages import Chromium, Visitors


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
