# SPDX-License-Identifier: MPL-2.0
"""A site is upgraded from the previous release and taken back to it, one process after another, with runs in flight."""

import pytest

from support import previous
from support.process import program
from support.upgrade import Site, Work, command
from support.wait import until


@pytest.fixture(scope="module")
def before():
    """The folder of the previous release's programs."""
    return previous.build()


@pytest.fixture(autouse=True)
def contract_check(contract):
    """Answers of the previous release lack attributes of this one, so they are not compared with its OpenAPI document."""
    yield
    contract.found.clear()


@pytest.fixture
def site(before, folder, postgres, bus, redis, sandbox):
    redis.command("flushall")
    site = Site(before, program("runyard-scheduler").parent, folder, postgres.new_database(), bus, redis, sandbox)
    yield site
    site.release()


@pytest.mark.parametrize("order", ["notifiers, schedulers, workers", "workers, schedulers, notifiers"])
def test_an_upgrade_and_the_way_back(site, receiver, folder, order):
    kinds = order.split(", ")
    forth, back = (Work(site.api, receiver, folder, name) for name in ("forth", "back"))
    site.start(forth.gate)
    forth.begin()
    site.upgrade(kinds, forth, back.gate)
    assert "worker worker-1" in command(site.new, site.database, "migrate", "--contract", status=1), "the draining worker is an older process"
    forth.end()
    until(lambda: not site.workers[0].process.alive(), "the old worker has left")

    back.begin()
    site.turn_all(kinds, site.old, back, forth.gate)
    back.end()
    assert command(site.old, site.database, "migrate") == ""
