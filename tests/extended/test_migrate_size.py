# SPDX-License-Identifier: MPL-2.0
"""An organization of a realistic size is moved within ten minutes, although apply is killed five times."""

import concurrent.futures
import random
import signal
import time

import pytest

from support.api_site import open_api_site
from support.documents import document
from support.migration import Migrate, Moved, connect, state_text, write_state
from support.providers import Providers, zip_of
from support.receiver import says
from support.wait import until

WORKSPACES, TEAMS, STATES, LARGEST, KILLS, LIMIT = 300, 20, 2000, 60 << 20, 5, 600
PROVIDERS, PLATFORMS, ARCHIVE = 5, ("linux_amd64", "linux_arm64"), 4 << 20


@pytest.fixture(scope="module")
def sites(postgres):
    with open_api_site(postgres) as source, open_api_site(postgres) as target:
        yield source, target


def fill(api):
    """Workspaces with variables and access, teams, the states, and providers."""
    base = f"organizations/{api.organization}"
    teams = [api.post(f"{base}/teams", document("teams", {"name": f"team-{number}", "visibility": "organization"})).data["id"] for number in range(TEAMS)]

    def workspace(number):
        id = api.workspace(f"workspace-{number:03}", description=f"number {number}")
        for key in ("region", "size"):
            api.variable(id, key, f"{key}-{number}")
        access = document("team-workspaces", {"access": "write"})
        access["data"]["relationships"] = {"team": {"data": {"type": "teams", "id": teams[number % TEAMS]}}, "workspace": {"data": {"type": "workspaces", "id": id}}}
        api.post("team-workspaces", access)
        api.post(f"workspaces/{id}/actions/lock", {"reason": "states"})
        count = STATES // WORKSPACES + (number < STATES % WORKSPACES)
        for serial in range(1, count + 1):
            write_state(api, id, state_text(serial, f"lineage-{number}", size=random.Random(number).randrange(20000), word=f"{number}-{serial}"))
        api.post(f"workspaces/{id}/actions/unlock")
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        list(pool.map(workspace, range(WORKSPACES)))
    large = api.workspace("large")
    api.post(f"workspaces/{large}/actions/lock", {"reason": "states"})
    write_state(api, large, state_text(1, "large", size=LARGEST))
    api.post(f"workspaces/{large}/actions/unlock")
    registry = Providers(api)
    for number in range(PROVIDERS):
        for version in ("1.0.0", "1.1.0"):
            registry.publish(f"own-{number}", version, {platform: zip_of({"terraform-provider-own": random.Random(number).randbytes(ARCHIVE)}) for platform in PLATFORMS})


class Clock:
    """The seconds of each step, for the test's output."""

    def __init__(self):
        self.began = self.last = time.monotonic()
        self.steps = []

    def step(self, name):
        now = time.monotonic()
        self.steps.append(f"{name} {now - self.last:.0f} s")
        self.last = now

    def total(self):
        return self.last - self.began


def test_a_large_organization_is_moved(sites, tmp_path, receiver):
    source, target = sites[0].organization(), connect(sites[1].organization())
    Moved(source, receiver.service(says("passed"), "scan"))
    fill(source)
    migrate, chance = Migrate(tmp_path, source, target), random.Random(2026)
    clock = Clock()
    migrate.run("plan")
    clock.step("plan")
    secrets = migrate.fill_secrets()
    journal = migrate.work / "journal.jsonl"
    for _ in range(KILLS):
        written = len(journal.read_bytes().splitlines()) + chance.randrange(50, 700)
        running = migrate.start("apply", "--secrets", secrets, "--quiet")
        until(lambda: running.poll() is not None or len(journal.read_bytes().splitlines()) >= written, "apply has done a part")
        running.send_signal(signal.SIGKILL)
        running.communicate()
        clock.step("killed apply")
    migrate.run("apply", "--secrets", secrets)
    clock.step("last apply")
    out = migrate.run("verify")
    clock.step("verify")
    print(f"{clock.total():.0f} s ({', '.join(clock.steps)}): {out}")
    assert f" {STATES + 5} states and " in out and " 0 differ, 0 wait" in out
    assert "nothing to do" in migrate.run("apply", "--secrets", secrets)
    assert clock.total() < LIMIT, clock.steps
