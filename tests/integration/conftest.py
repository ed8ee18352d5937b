# SPDX-License-Identifier: MPL-2.0
"""Fixtures for tests with a scheduler only."""

import pytest

from support.desk import Desk
from support.office import open_office


@pytest.fixture(scope="module")
def office(postgres):
    """One scheduler for all tests of a file, each with an organization of its own."""
    with open_office(postgres) as office:
        yield office


@pytest.fixture
def org(office):
    """A client of that scheduler, with an organization of this test's own."""
    return office.organization()


@pytest.fixture(scope="module")
def desk():
    """A worker that the test controls."""
    desk = Desk()
    yield desk
    desk.release()
