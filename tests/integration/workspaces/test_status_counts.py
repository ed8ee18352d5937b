# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Workspaces by the status of their current run: GET organizations/:organization/workspace-status-counts."""

import pytest

from support.people import People


@pytest.fixture
def counts(org, contract):
    return lambda client=org, **query: client.get(f"organizations/{org.organization}/workspace-status-counts", **query).data["attributes"]


def test_workspaces_are_counted_by_the_status_of_their_current_run(api_site, org, counts):
    assert counts() == {"total": 0, "locked": 0, "without-runs": 0, "statuses": {}}
    pool, token = org.pool()
    worker = api_site.fake_worker(token)
    planned, waiting, locked, empty = (org.workspace(execution_mode="agent", agent_pool_id=pool) for _ in range(4))
    run = org.run_files(planned, {"main.tf": ""})
    worker.plan(run)
    org.run_files(waiting, {"main.tf": ""})
    org.post(f"workspaces/{locked}/actions/lock", {"reason": "by hand"})
    org.wait_status(run, "planned")
    shown = counts()
    assert shown == {"total": 4, "locked": 1, "without-runs": 2, "statuses": {"planned": 1, "plan_queued": 1}}
    for status, count in shown["statuses"].items():
        assert len(org.get(f"organizations/{org.organization}/workspaces", **{"filter[current-run][status]": status}).data) == count
    project = org.get(f"workspaces/{empty}").data["relationships"]["project"]["data"]["id"]
    assert counts(**{"filter[project][id]": project}) == shown
    assert counts(**{"filter[project][id]": "prj-AAAAAAAAAAAAAAAA"})["total"] == 0
    assert counts(People(org, api_site.database).member("outsider"))["total"] == 0
