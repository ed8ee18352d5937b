# SPDX-License-Identifier: MPL-2.0
# label: quick
"""The filter of lists of workspaces by their current assessment."""

import pytest

from support.people import People


@pytest.fixture
def assessed(org, api_site):
    """Workspaces whose current assessment has that outcome, and one without an assessment."""
    outcomes = {"fine": (True, False, 0, 0), "drifted": (True, True, 0, 0), "failing": (True, False, 1, 0), "erroring": (True, False, 0, 1), "both": (True, True, 1, 0), "broken": (False, False, 0, 0)}
    for name, outcome in outcomes.items():
        workspace = org.workspace(name)
        result = f"asmtres-{workspace[3:]}"
        api_site.change("insert into assessment_results (id, workspace_id, succeeded, drifted, checks_failed, checks_errored) values (%s, %s, %s, %s, %s, %s)", result, workspace, *outcome)
        api_site.change("update workspaces set assessment_id = %s where id = %s", result, workspace)
    org.workspace("none")
    return org


@pytest.mark.parametrize("health, names", [
    ("healthy", {"fine"}), ("drifted", {"drifted", "both"}), ("checks-failed", {"failing", "erroring", "both"}), ("failed", {"broken"}),
    ("drifted,checks-failed", {"drifted", "both", "failing", "erroring"}), ("nonsense", set()), ("", {"fine", "drifted", "both", "failing", "erroring", "broken", "none"}),
])
def test_workspaces_are_found_by_their_health(assessed, contract, health, names):
    answer = assessed.get(f"organizations/{assessed.organization}/workspaces", **({"filter[health]": health} if health else {}))
    assert {workspace["attributes"]["name"] for workspace in answer.data} == names
    assert answer.json["meta"]["pagination"]["total-count"] == len(names)


def test_the_filter_joins_others(assessed):
    answer = assessed.get(f"organizations/{assessed.organization}/workspaces", **{"filter[health]": "drifted", "search[name]": "bo", "sort": "-name"})
    assert [workspace["attributes"]["name"] for workspace in answer.data] == ["both"]


def test_what_a_member_does_not_see_is_not_found(assessed, api_site):
    people = People(assessed, api_site.database)
    team = people.team("readers")
    people.give(team, "workspace", assessed.get(f"organizations/{assessed.organization}/workspaces/both").data["id"], "read")
    answer = people.member("reader", team).get(f"organizations/{assessed.organization}/workspaces", **{"filter[health]": "drifted"})
    assert [workspace["attributes"]["name"] for workspace in answer.data] == ["both"]
