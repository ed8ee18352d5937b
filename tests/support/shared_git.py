# SPDX-License-Identifier: MPL-2.0
"""The fixtures of support/shared.py, and `git_worker` on a worker that all tests of a file share:

    from support.shared_git import api, database, git_worker, scheduler, shared_worker  # noqa: F401
"""

import shutil

import pytest

from support.runyard import Worker
from support.shared import api, database, scheduler  # noqa: F401
from support.site import new_folder, release_all


class GitWorkers:
    """Workers of an api_site whose git may connect to this machine."""

    def __init__(self, api_site, sandbox, engine):
        self.api_site = api_site
        self.settings = {**api_site.bus.options, "sandbox": sandbox, "engine": engine.option, "vcs_allow": "127.0.0.1"}
        self.folder = new_folder("git")
        self.started = []

    def start(self, token, **options):
        name = f"worker-{len(self.started) + 1}"
        settings = {"scheduler_url": self.api_site.scheduler.url, "agent_token": token, "name": name, "data_dir": self.folder / name, **self.settings, **options}
        self.started.append(Worker(name, self.folder, **settings).start())
        return self.started[-1]

    def release(self):
        release_all(self.started)
        shutil.rmtree(self.folder, ignore_errors=True)


@pytest.fixture(scope="module")
def shared_worker(api_site, sandbox, engine):
    workers = GitWorkers(api_site, sandbox, engine)
    yield workers.start(api_site.tokens["agent-token"])
    workers.release()


@pytest.fixture
def git_worker(api_site, sandbox, engine, api, rows, request):  # noqa: F811
    """git_worker() is the shared worker. git_worker(option=value...) starts one in a pool of this test, to which its
    later connections belong."""
    workers = GitWorkers(api_site, sandbox, engine)

    def start(**options):
        if not options:
            return request.getfixturevalue("shared_worker")
        rows.pool, token = api.pool(f"pool-{len(workers.started) + 1}")
        return workers.start(token, **options)

    yield start
    workers.release()
