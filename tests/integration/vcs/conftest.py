# SPDX-License-Identifier: MPL-2.0
"""Fixtures of tests with git servers and with fakes of the providers."""

import itertools
import secrets

import pytest

from support.fake_git import FakeGit
from support.git_rows import GitRows
from support.git_servers import Daemon, HttpServer, SshServer
from support.vcs_events import Watched, start_notifier
from support.vcs_fakes import FAKES
from support.vcs_fakes.repository import GitView


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


# ---- fakes of the providers ----


@pytest.fixture
def provider(tmp_path):
    """provider(GitHub) starts a fake; all are checked and stopped at the end."""
    made, numbers = [], itertools.count()

    def start(kind):
        fake = kind(tmp_path / str(next(numbers)))
        made.append(fake)
        return fake

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
def watch(api_site, provider):
    """watch(GitHub) connects a repository of a new fake with a new organization. Threads may call it at the same time."""
    return lambda kind, identifier=None, **changes: Watched(api_site, api_site.organization(), provider(kind), identifier or FAKES[kind], **changes)


@pytest.fixture(scope="module")
def git(api_site):
    """A worker in memory that answers the git jobs of all tests of a file."""
    git = FakeGit(api_site)
    yield git
    git.stop()


@pytest.fixture
def watch_with_git(watch, git):
    """watch_with_git(GitHub) is a connected repository whose commits `git` reads. No other test has its name."""
    def make(kind):
        watched = watch(kind, f"{FAKES[kind]}-{secrets.token_hex(4)}")
        git.repositories[watched.identifier] = GitView(watched.repository)
        return watched

    return make
