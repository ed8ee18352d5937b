# SPDX-License-Identifier: MPL-2.0
"""Git jobs of a real scheduler and a real worker, with rows that the tests write."""

import pytest

from support.git_rows import GitRows
from support.git_servers import Daemon, HttpServer, SshServer
from support.vcs_events import Watched, start_notifier
from support.vcs_fakes import FAKES


@pytest.fixture
def rows(ask, api):
    rows = GitRows(ask, ask("select id from organizations where name = %s", api.organization)[0][0])
    yield rows
    rows.release()


@pytest.fixture
def http(folder):
    server = HttpServer(folder / "http").start()
    yield server
    server.release()


@pytest.fixture
def daemon(folder):
    server = Daemon(folder / "daemon").start()
    yield server
    server.release()


@pytest.fixture
def ssh(folder):
    server = SshServer(folder / "ssh").start()
    yield server
    server.release()


@pytest.fixture
def git_worker(worker):
    """git_worker(option=value...) starts a worker whose git may connect to this machine."""
    return lambda **options: worker(**{"vcs_allow": "127.0.0.1", **options})


# ---- what providers are told ----


@pytest.fixture
def provider(tmp_path):
    """provider(GitHub) starts a fake; all are checked and stopped at the end."""
    made = []

    def start(kind):
        made.append(kind(tmp_path / str(len(made))))
        return made[-1]

    yield start
    for one in made:
        one.release()
        one.check()


@pytest.fixture
def notifier(api_site, redis):
    """notifier() starts a notifier."""
    started = []

    def start(name="notifier-1", **options):
        started.append(start_notifier(api_site, redis, name, **options))
        return started[-1]

    yield start
    for one in started:
        one.release()


@pytest.fixture
def watch(api_site, org, provider):
    """watch(GitHub) connects a repository of a new fake."""
    return lambda kind, **changes: Watched(api_site, org, provider(kind), FAKES[kind], **changes)
