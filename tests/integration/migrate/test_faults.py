# SPDX-License-Identifier: MPL-2.0
# label: extended
"""Servers that fail, rights that are missing, and an apply that is killed."""

import itertools
import random
import signal
import threading

import pytest

from support.api_site import open_api_site
from support.http_proxy import HttpProxy
from support.migration import Migrate, Moved, connect, states_of
from support.people import People
from support.receiver import says
from support.wait import until


@pytest.fixture(scope="module")
def target_site(postgres):
    with open_api_site(postgres) as site:
        yield site


@pytest.fixture
def there(target_site):
    """A client of an organization of the target, which has the VCS connection."""
    return connect(target_site.organization())


@pytest.fixture
def moved(org, receiver):
    return Moved(org, receiver.service(says("passed"), "scan"))


@pytest.fixture
def proxy(api_site):
    """In front of the source."""
    proxy = HttpProxy(int(api_site.scheduler.url.rpartition(":")[2]))
    yield proxy
    proxy.release()


@pytest.fixture
def target_proxy(target_site):
    proxy = HttpProxy(int(target_site.scheduler.url.rpartition(":")[2]))
    yield proxy
    proxy.release()


@pytest.fixture
def migrate(tmp_path, moved, org, there, proxy):
    return Migrate(tmp_path, org, there, url=proxy.url)


def failing(proxy):
    """Every few requests one is refused for its rate, one fails, and one answer is cut."""
    numbers, lock = itertools.count(1), threading.Lock()

    def next_number():
        with lock:
            return next(numbers)

    def reply(method, path):
        number = next_number()
        if number % 7 == 0:
            return 429, [("Retry-After", "0.1"), ("Content-Type", "application/vnd.api+json")], b'{"errors":[{"status":"429","title":"Too many requests"}]}'
        if number % 11 == 0:
            return 502, [("Content-Type", "text/html")], b"<html>bad gateway</html>"
        return None
    proxy.reply = reply
    proxy.fault = lambda method: "cut" if next_number() % 13 == 0 else None


def test_a_source_that_fails_and_refuses_all_but_get_is_read_completely(migrate, there, proxy, target_proxy):
    failing(proxy)
    usual = proxy.reply
    proxy.reply = lambda method, path: (405, [], b"") if method != "GET" else usual(method, path)
    failing(target_proxy)
    migrate.run("plan")
    secrets = migrate.fill_secrets()
    there.url, real = target_proxy.url, there.url
    migrate.run("apply", "--secrets", secrets)
    assert set(proxy.calls) == {"GET"} and {"POST", "PATCH"} <= set(target_proxy.calls)
    proxy.reply, proxy.fault = usual, lambda method: None
    target_proxy.reply, target_proxy.fault = lambda method, path: None, lambda method: None
    assert " 0 differ, 0 wait" in migrate.run("verify")
    there.url = real
    for name in ("network", "storage"):
        assert states_of(there, name) == states_of(migrate.source, name)


def test_an_apply_that_is_killed_goes_on(migrate, there):
    chance = random.Random(1)
    migrate.run("plan")
    secrets = migrate.fill_secrets()
    for lines in chance.sample(range(3, 40), 5):
        running = migrate.start("apply", "--secrets", secrets)
        journal = migrate.work / "journal.jsonl"
        before = len(journal.read_bytes().splitlines()) if journal.exists() else 0
        until(lambda: running.poll() is not None or len(journal.read_bytes().splitlines()) >= before + lines // 4, "some objects are there")
        running.send_signal(signal.SIGKILL)
        running.wait()
        running.stdout.close()
    migrate.run("apply", "--secrets", secrets)
    assert "nothing to do" in migrate.run("apply", "--secrets", secrets)
    assert " 0 differ, 0 wait" in migrate.run("verify")


def test_two_applies_do_not_run_at_once(migrate):
    first = migrate.start("apply")
    until(lambda: (migrate.work / "journal.jsonl").exists() and (migrate.work / "journal.jsonl").read_bytes(), "the first one works")
    first.send_signal(signal.SIGSTOP)
    migrate.run("apply", status=1)
    assert "another runyard-migrate" in migrate.done.stderr
    first.send_signal(signal.SIGCONT)
    first.communicate()


def test_what_may_not_be_read_is_named_and_the_rest_moves(migrate, moved, there, org, api_site):
    people = People(org, api_site.database)
    team = org.post(f"organizations/{org.organization}/teams", {"data": {"type": "teams", "attributes": {"name": "few", "visibility": "organization"}}}).data["id"]
    member = people.member("limited", team)
    people.give(team, "workspace", moved.ids["storage"], "read")
    migrate.source.token = member.token
    migrate.run("plan", status=3)
    assert "cannot be read: organization-memberships" in migrate.done.stdout
    out = migrate.run("apply", status=3)
    assert "cannot be read: organization-memberships" in out and "create: 1 workspaces" in out and "\nfailed" not in out
    assert states_of(there, "storage") == states_of(org, "storage")


def test_lists_that_change_while_they_are_read(migrate, org, there, proxy):
    """Workspaces come and go between the pages and the lists of their objects."""
    for number in range(6):
        org.workspace(f"extra-{number}")
    calls = itertools.count()

    def reply(method, path):
        number = next(calls) if "/vars" in path else 3  # one draw: these requests come at the same time
        if number < 3:
            org.call("DELETE", f"organizations/{org.organization}/workspaces/extra-{number}")
            org.call("POST", f"organizations/{org.organization}/workspaces", {"data": {"type": "workspaces", "attributes": {"name": f"late-{number}"}}})
        return None
    proxy.reply = reply
    migrate.run("apply", status=None)
    proxy.reply = lambda method, path: None
    secrets = migrate.run("plan") and migrate.fill_secrets()
    migrate.run("apply", "--secrets", secrets)
    names = {one["attributes"]["name"] for one in there.get(f"organizations/{there.organization}/workspaces").data}
    assert {"late-0", "late-1", "network"} <= names
