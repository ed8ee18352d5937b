# SPDX-License-Identifier: MPL-2.0
"""The packages of one release are installed on bare Debians, upgraded to those of the next with runs in flight, and taken back.

RUNYARD_RELEASES names two folders of releases, the older one first, with a colon between them. Without it, both are made of
the sources, which takes half an hour."""

import os
import shutil
from pathlib import Path

import pytest

from support.bare import System
from support.process import which, worker_account
from support.release import ROOT, run
from support.upgrade import Site, Work, command
from support.wait import until

pytestmark = [pytest.mark.timeout(7200), pytest.mark.skipif(os.geteuid() != 0, reason="only root can make bare systems")]
SYSTEMS = {"bookworm": "debian-12", "trixie": "debian-13"}
KINDS = ["schedulers", "notifiers", "workers"]


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """{version: folder} of two releases, the older one first."""
    folders = [Path(name) for name in filter(None, os.environ.get("RUNYARD_RELEASES", "").split(":"))]
    if not folders:
        for version in "9.9.8", "9.9.9":
            folders.append(tmp_path_factory.mktemp("release") / version)
            run(ROOT / "deploy/release", version, "--draft", "--systems", ",".join(SYSTEMS), "--architectures", "amd64", "--output", folders[-1])
    return {next(folder.glob("debian-12/runyard-scheduler_*_amd64.deb")).name.split("_")[1]: folder for folder in folders}


@pytest.fixture(params=SYSTEMS)
def system(request, folder):
    """A bare Debian with the account of workers and an engine. `programs` is a folder of the programs that its packages will install."""
    system = System(request.param, folder / "root").make()
    account = worker_account()
    system.run("groupadd", "--system", "--gid", str(account.pw_gid), account.pw_name)
    system.run("useradd", "--system", "--uid", str(account.pw_uid), "--gid", str(account.pw_gid), account.pw_name)
    shutil.copy(which("terraform"), system.root / "usr/local/bin")
    system.programs = folder / "programs"
    for name in "runyard-scheduler", "runyard-notifier", "runyard-worker":
        system.program(f"/usr/bin/{name}", system.programs / name)
    return system


def upgrade(system, release):
    """Installs the packages of that release, which may be older than those that are there."""
    folder = release / SYSTEMS[system.release]
    system.install(*folder.glob("*_amd64.deb"), *folder.glob("*_all.deb"))


def versions(site):
    """The version of each running process."""
    return [service.version for service in (*site.schedulers, site.notifier, site.workers[-1])]


def test_packages_are_upgraded_under_load_and_taken_back(system, releases, folder, receiver, postgres, bus, redis, sandbox):
    old, new = releases
    redis.command("flushall")
    upgrade(system, releases[old])
    settings = system.root / "etc/runyard/scheduler.env"
    settings.write_text(settings.read_text() + "RUNYARD_LOG_LEVEL=warn\n")
    site = Site(system.programs, system.programs, folder, postgres.new_database(), bus, redis, sandbox)
    try:
        forth, back = (Work(site.api, receiver, folder, name) for name in ("forth", "back"))
        site.start(forth.gate)
        forth.begin()
        upgrade(system, releases[new])
        assert versions(site) == [old] * 4, "an upgrade of the packages restarts nothing"
        site.upgrade(KINDS, forth, back.gate)
        assert versions(site) == [new] * 4
        forth.end()
        until(lambda: not site.workers[0].process.alive(), "the old worker has left")

        back.begin()
        upgrade(system, releases[old])
        site.turn_all(KINDS, site.old, back, forth.gate)
        assert versions(site) == [old] * 4
        back.end()
        assert command(site.old, site.database, "migrate") == ""
        assert settings.read_text().endswith("RUNYARD_LOG_LEVEL=warn\n")
    finally:
        site.release()
