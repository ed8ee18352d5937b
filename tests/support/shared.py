# SPDX-License-Identifier: MPL-2.0
"""One scheduler for the tests of a file, each in an organization of its own. For tests that change nothing outside of
it:

    from support.shared import api, database, folder, scheduler, stack  # noqa: F401
"""

import itertools
import json
import shutil
import tempfile
from pathlib import Path

import pytest

from support.api import Api
from support.runyard import KEYS, Scheduler
from support.servers import Broker


class Stack:
    def __init__(self, postgres):
        self.folder = Path(tempfile.mkdtemp(prefix="runyard-shared."))
        self.folder.chmod(0o755)
        self.database = postgres.new_database()
        self.numbers = itertools.count(1)
        self.broker = Broker(self.folder).start()
        settings = {"database_url": self.database, "keys": KEYS}
        made = Scheduler.run_command("bootstrap", "admin", "admin@example.com", "acme", **settings)
        self.tokens = json.loads(made.stdout)
        self.scheduler = Scheduler("scheduler-1", self.folder, **self.broker.options, **settings).start()

    def release(self):
        try:
            self.scheduler.release()
        finally:
            self.broker.release()
            shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def stack(postgres):
    made = Stack(postgres)
    yield made
    made.release()


@pytest.fixture
def folder(stack):
    return stack.folder


@pytest.fixture
def database(stack):
    return stack.database


@pytest.fixture
def scheduler(stack):
    return stack.scheduler


@pytest.fixture
def api(stack):
    """A client that works in a new organization."""
    client = Api(stack.scheduler.url, stack.tokens["token"], f"org-{next(stack.numbers)}")
    attributes = {"name": client.organization, "email": "admin@example.com"}
    client.post("organizations", {"data": {"type": "organizations", "attributes": attributes}})
    return client
