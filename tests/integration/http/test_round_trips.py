# SPDX-License-Identifier: MPL-2.0
"""Round trips to PostgreSQL of the most frequent reads: the object that the path names is read together with the caller's rights."""

import pytest

from support.api import Api

REQUESTS = 100

READS = {
    "runs/{run}": 1,
    "workspaces/{workspace}": 1,
    "organizations/{organization}/workspaces/{name}": 1,
    "organizations/{organization}/workspaces": 2,
}


@pytest.fixture(scope="module")
def single(api_site):
    """A scheduler with one thread for requests."""
    scheduler = api_site.new_scheduler("single", http_threads=1).start()
    yield scheduler
    scheduler.release()


def trips_per_read(scheduler, client, path):
    before = scheduler.metric("runyard_database_round_trips_total")
    for _ in range(REQUESTS):
        client.get(path)
    return (scheduler.metric("runyard_database_round_trips_total") - before) / REQUESTS


@pytest.mark.parametrize("pattern", READS)
def test_round_trips_of_a_read(org, single, pattern):
    workspace = org.workspace("trips")
    run = org.run(workspace, org.upload(workspace, {"main.tf": ""}))
    path = pattern.format(run=run, workspace=workspace, organization=org.organization, name="trips")
    client = Api(single.url, org.token, org.organization)
    client.get(path)
    # The scheduler's own work makes some trips meanwhile.
    assert min(trips_per_read(single, client, path) for _ in range(3)) < READS[pattern] + 0.5
