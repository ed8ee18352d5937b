# SPDX-License-Identifier: MPL-2.0
"""A scheduler alone, for tests of what it keeps."""

import shutil
import tempfile
from pathlib import Path

import pytest

from support.desk import Desk
from support.office import Office
from support.servers import Broker


@pytest.fixture(scope="module")
def office(postgres):
    """One scheduler for all tests of a file, each with an organization of its own."""
    folder = Path(tempfile.mkdtemp(prefix="runyard-office."))
    bus = Broker(folder).start()
    office = Office(folder, bus, postgres.new_database())
    try:
        office.scheduler.start()
        yield office
    finally:
        office.scheduler.release()
        bus.release()
        shutil.rmtree(folder, ignore_errors=True)


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
