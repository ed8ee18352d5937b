# SPDX-License-Identifier: MPL-2.0
"""A scheduler alone, for tests of what it keeps."""

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
    """A client of that scheduler, with an organization that is this test's alone."""
    return office.organization()


@pytest.fixture(scope="module")
def desk():
    """The scheduler's side of a worker, played by the test."""
    desk = Desk()
    yield desk
    desk.release()
