# SPDX-License-Identifier: MPL-2.0
"""Stacks that serve many tests: the processes of one site, started and stopped together."""

import shutil
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

from support.api import Api
from support.database import Database
from support.receiver import Receiver
from support.runyard import KEYS, Notifier, Scheduler, Worker
from support.servers import ROOT, Broker


def new_folder(name):
    # A short path that all accounts may search: PostgreSQL's account and the sandbox must reach it.
    path = Path(tempfile.mkdtemp(prefix=f"runyard-{name}."))
    path.chmod(0o755)
    return path


def sandbox_kind():
    """bwrap if it works: containers often forbid the namespaces that it needs."""
    script = f"source {ROOT}/deploy/local/lib.sh; source {ROOT}/deploy/local/servers.sh; sandbox_kind 2>/dev/null"
    return subprocess.run(["bash", "-c", script], check=True, capture_output=True, text=True).stdout.strip()


class Site:
    """One scheduler and one worker, which binds the gates below `gates` into its jobs. engine: the worker's --engine."""

    def __init__(self, folder, bus, postgres, sandbox, engine=None):
        self.folder = folder
        self.database, self.tokens = postgres.new_bootstrapped()
        self.statements = Database(self.database)
        self.gates = folder / "gates"
        self.gates.mkdir()
        self.scheduler = Scheduler("scheduler-1", folder, database_url=self.database, keys=KEYS, **bus.options)
        self.worker = Worker("worker-1", folder, agent_token=self.tokens["agent-token"], name="worker-1",
                             data_dir=folder / "worker-1", sandbox=sandbox, sandbox_bind=self.gates, engine=engine, **bus.options)

    def start(self):
        self.scheduler.start()
        self.worker.options["scheduler_url"] = self.scheduler.url
        self.worker.start()
        self.api = Api(self.scheduler.url, self.tokens["token"], trust=self.scheduler.trust)
        return self

    def ask(self, query, *values):
        """Runs the query in the database and returns its rows; None: it has none."""
        return self.statements.ask(query, *values)


INFRACOST = """#!/bin/bash
if grep -q "breaks the estimate" "$3"; then
	echo "there is no price for that" >&2
	exit 1
fi
cat <<END
{"version": "0.2", "currency": "USD", "totalMonthlyCost": "12.5", "pastTotalMonthlyCost": "2.5",
 "summary": {"totalDetectedResources": 1, "totalUnsupportedResources": 0}, "projects": [{"pastBreakdown": {"resources": []},
 "breakdown": {"resources": [{"name": "terraform_data.one", "resourceType": "terraform_data", "monthlyCost": "12.5", "costComponents": []}]}}]}
END
"""


class FullSite(Site):
    """With a notifier, services for run tasks, and replacements for commercial programs. Deadlines are short."""

    def __init__(self, folder, bus, postgres, sandbox, redis, engine=None):
        super().__init__(folder, bus, postgres, sandbox, engine)
        self.receiver = Receiver()
        self.scheduler.options.update(task_allow="127.0.0.1", vcs_allow="127.0.0.1", task_delivery_seconds=4, task_progress_seconds=4, task_total_seconds=16)
        self.worker.options.update(vcs_allow="127.0.0.1", infracost=self.program("infracost", INFRACOST))
        self.notifier = Notifier("notifier-1", folder, notifier_token=self.tokens["notifier-token"], redis_url=redis.url, allow="127.0.0.1",
                                 response_timeout_ms=3000, **bus.options)

    def program(self, name, script):
        path = self.folder / name
        path.write_text(script)
        path.chmod(0o755)
        return path

    def start(self):
        super().start()
        self.notifier.options["scheduler_url"] = self.scheduler.url
        self.notifier.start()
        self.receiver.start()
        return self

    def estimates(self, wanted):
        """Enables cost estimates for future runs, or disables them."""
        body = {"data": {"type": "organizations", "attributes": {"cost-estimation-enabled": wanted}}}
        self.api.patch(f"organizations/{self.api.organization}", body)


@contextmanager
def open_full_site(postgres, sandbox, redis, engine, log_level=None, **options):
    """A FullSite that is running, with a broker, a database and a folder of its own. The level of logs is all processes', the other
    options are the scheduler's."""
    folder = new_folder("site")
    bus = Broker(folder).start()
    redis.command("flushall")
    site = FullSite(folder, bus, postgres, sandbox, redis, engine.option)
    site.scheduler.options.update(options)
    for process in (site.scheduler, site.worker, site.notifier):
        process.options["log_level"] = log_level
    try:
        yield site.start()
    finally:
        site.statements.close()
        release_all([bus, site.scheduler, site.worker, site.notifier, site.receiver])
        shutil.rmtree(folder, ignore_errors=True)


def release_all(services):
    """Stops all of them, even if one fails, and then raises the first error."""
    wrong = []
    for service in reversed(services):
        try:
            service.release()
        except AssertionError as error:
            wrong.append(error)
    if wrong:
        raise wrong[0]
