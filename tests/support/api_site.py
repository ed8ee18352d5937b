# SPDX-License-Identifier: MPL-2.0
"""A scheduler without workers and notifiers: only the test itself sends requests to it."""

import json
import shutil
import tempfile
import uuid
from contextlib import contextmanager
from pathlib import Path

from support.api import Api
from support.database import Database
from support.fake_worker import FakeWorker
from support.runyard import KEYS, Scheduler
from support.servers import Broker


class ApiSite:
    def __init__(self, folder, bus, postgres, **options):
        self.folder = folder
        self.bus = bus
        self.database, self.tokens = postgres.new_bootstrapped()
        self.statements = Database(self.database)
        self.scheduler = self.new_scheduler("scheduler-1", **options)

    def new_scheduler(self, name, **options):
        """A scheduler on this database, not started yet."""
        options = {"lease_seconds": 20,  # for half of that after its start a scheduler does not expire leases
                   "task_allow": "127.0.0.1", "vcs_allow": "127.0.0.1", "identity_allow": "127.0.0.1", "trusted_proxies": "127.0.0.1", **self.bus.options, **options}
        return Scheduler(name, self.folder, database_url=self.database, keys=KEYS, **options)

    def bootstrap(self, user, organization):
        result = Scheduler.run_command("bootstrap", user, f"{user}@example.com", organization, database_url=self.database, keys=KEYS)
        return json.loads(result.stdout)

    def organization(self):
        """A client that works on a new organization."""
        api = Api(self.scheduler.url, self.tokens["token"], f"o-{uuid.uuid4()}")
        attributes = {"name": api.organization, "email": "admin@example.com"}
        api.post("organizations", {"data": {"type": "organizations", "attributes": attributes}})
        return api

    def stranger(self, name=None):
        """A client of the owner of a new organization, who is not a site admin. Both have that name."""
        name = name or f"u-{uuid.uuid4()}"
        token = self.bootstrap(name, name)["token"]
        self.change("update users set is_site_admin = false where username = %s", name)
        return Api(self.scheduler.url, token, name)

    def fake_worker(self, token=None, **options):
        """A worker of the pool with that token, by default the one of the first organization."""
        return FakeWorker(self.scheduler.url, token or self.tokens["agent-token"], slots=100, **options)

    def ask(self, query, *values):
        """The rows that the query returns."""
        return self.statements.ask(query, *values)

    def change(self, statement, *values):
        self.statements.ask(statement, *values)

    def release(self):
        self.statements.close()
        self.scheduler.release()


@contextmanager
def open_api_site(postgres, **options):
    """An api_site whose scheduler is running, with a broker and a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="runyard-api_site."))
    bus = Broker(folder).start()
    api_site = ApiSite(folder, bus, postgres, **options)
    try:
        api_site.scheduler.start()
        yield api_site
    finally:
        api_site.release()
        bus.release()
        shutil.rmtree(folder, ignore_errors=True)
