# SPDX-License-Identifier: MPL-2.0
"""Fixtures for tests with a scheduler only."""

import pytest

from support.api_site import open_api_site
from support.fake_scheduler import FakeScheduler


@pytest.fixture(scope="module")
def api_site(postgres):
    """One scheduler for all tests of a file, each with an organization of its own."""
    with open_api_site(postgres) as api_site:
        yield api_site


@pytest.fixture
def org(api_site):
    """A client of that scheduler, with an organization of this test's own."""
    return api_site.organization()


@pytest.fixture(scope="module")
def fake_scheduler():
    """A scheduler that the test controls, for tests of a worker."""
    fake_scheduler = FakeScheduler()
    yield fake_scheduler
    fake_scheduler.release()
