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
from support.receiver import says
from support.wait import until

WORKSPACES, TEAMS, STATES, LARGEST, KILLS, LIMIT = 300, 20, 2000, 60 << 20, 5, 600


@pytest.fixture(scope="module")
def sites(postgres):
    with open_api_site(postgres) as source, open_api_site(postgres) as target:
        yield source, target


def fill(api):
    """Workspaces with variables and access, teams, and the states."""
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


def test_a_large_organization_is_moved(sites, tmp_path, receiver):
    source, target = sites[0].organization(), connect(sites[1].organization())
    Moved(source, receiver.service(says("passed"), "scan"))
    fill(source)
    migrate, chance = Migrate(tmp_path, source, target), random.Random(2026)
    began = time.monotonic()
    migrate.run("plan")
    secrets = migrate.fill_secrets()
    journal = migrate.work / "journal.jsonl"
    for _ in range(KILLS):
        written = len(journal.read_bytes().splitlines()) + chance.randrange(50, 700)
        running = migrate.start("apply", "--secrets", secrets, "--quiet")
        until(lambda: running.poll() is not None or len(journal.read_bytes().splitlines()) >= written, "apply has done a part")
        running.send_signal(signal.SIGKILL)
        running.communicate()
    migrate.run("apply", "--secrets", secrets)
    out = migrate.run("verify")
    took = time.monotonic() - began
    print(f"{took:.0f} s: {out}")
    assert f"{STATES + 5} states byte by byte: 0 differ, 0 wait" in out
    assert "nothing to do" in migrate.run("apply", "--secrets", secrets)
    assert took < LIMIT, f"{took:.0f} s"
