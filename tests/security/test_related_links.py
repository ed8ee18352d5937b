# SPDX-License-Identifier: MPL-2.0
"""Related links return the objects that they name, and only to callers that can read these objects at their own path."""

import pytest

from support.contract import includes, operation_at
from support.routes import rows
from support.tenant import NO_CONTENT

OF_A_RUN = {"plan", "apply", "configuration-version", "cost-estimate", "created-by", "input-state-version", "policy-checks", "task-stages", "comments", "run-events", "waiting"}
# Types that are shown only inside others, or whose path names another object, too.
WITHOUT_OWN_PATH = {"authentication-tokens", "ingress-attributes", "organization-memberships", "registry-provider-versions", "workspace-readme", "workspace-tasks", "variables", "vars"}


def resources(answer):
    data = answer.json.get("data") or []
    return [data] if isinstance(data, dict) else data


def relations(resource):
    return [(name, relation) for name, relation in resource.get("relationships", {}).items() if relation]


@pytest.fixture(scope="module")
def shown(victim):
    """Every resource that a GET of the API shows to the owner."""
    found = []
    for method, path, handler, permission in rows("API"):
        if method != "GET" or permission == "CAN_ADMINISTER_SITE" or handler in NO_CONTENT or "download" in handler:
            continue
        answer = victim.api.call("GET", victim.fill(path).removeprefix("/"))
        if answer.status == 200 and answer.headers.get("Content-Type", "").startswith("application/vnd.api+json"):
            found += resources(answer)
    assert len({resource["type"] for resource in found}) > 30
    return found


def test_every_related_link_returns_the_objects_it_names(victim, shown):
    wrong, followed = [], set()
    for resource in shown:
        for name, relation in relations(resource):
            link, data = relation.get("links", {}).get("related"), relation.get("data")
            where = f"{resource['type']}: {name} -> {link}"
            if isinstance(data, dict) and data["type"] not in WITHOUT_OWN_PATH and not data["type"].startswith("data-retention-policy") and not link:
                wrong.append(f"{where}: no link to {data}")
            if "data" in relation and data is None and link:
                wrong.append(f"{where}: a link to nothing")
            if not link or "data" not in relation or link in followed:
                continue
            followed.add(link)
            answer = victim.api.call("GET", link.removeprefix("/api/v2/"))
            found = [(one["type"], one["id"]) for one in resources(answer)] if answer.status == 200 else answer.status
            expected = data if isinstance(data, list) else [data] if data else []
            if answer.status != 200 or {(one["type"], one["id"]) for one in expected} != set(found):
                wrong.append(f"{where}: {found}, not {expected}")
    assert len(followed) > 40
    assert not wrong, "\n".join(wrong)


def test_related_objects_of_a_run_are_read_below_its_path(victim):
    run = victim.api.get(f"runs/{victim.ids['run']}").data
    linked = {name: relation["links"]["related"] for name, relation in relations(run) if "links" in relation}
    assert {name for name in linked if linked[name].startswith(f"/api/v2/runs/{run['id']}/")} == OF_A_RUN
    for name in ("plan", "apply", "configuration-version", "cost-estimate", "input-state-version"):
        own = run["relationships"][name]["data"]
        below, alone = victim.api.get(f"runs/{run['id']}/{name}").data, victim.api.get(f"{own['type']}/{own['id']}").data
        for resource in (below, alone):
            resource["attributes"].pop("log-read-url", None)  # signed anew each time
        assert below == alone, name
    assert victim.api.get(f"runs/{run['id']}/created-by").data["id"] == run["relationships"]["created-by"]["data"]["id"]


def test_missing_related_objects_of_a_run_are_not_found(victim):
    live = victim.ids["live_run"]
    run = victim.api.get(f"runs/{live}").data
    for name in ("cost-estimate", "input-state-version"):
        assert run["relationships"][name]["data"] is None and "links" not in run["relationships"][name]
        assert victim.api.call("GET", f"runs/{live}/{name}").status == 404
    for name in ("nonsense", "workspace"):
        assert victim.api.call("GET", f"runs/{live}/{name}").status == 404
    assert victim.api.call("GET", f"runs/{live}/plan?include=nonsense").status == 400


def test_the_state_below_a_run_needs_the_permission_to_read_states(victim):
    """An actor with the permission to read runs but not states sees the run's plan and not its state."""
    team = victim.people.team("planners")
    planner = victim.people.member("planner", team)
    victim.people.give(team, "workspace", victim.ids["workspace"], "custom", **{"runs": "read", "variables": "none", "state-versions": "none"})
    run = victim.ids["run"]
    assert planner.call("GET", f"runs/{run}/plan").status == planner.call("GET", f"runs/{run}/created-by").status == 200
    assert planner.call("GET", f"runs/{run}/input-state-version").status == planner.call("GET", f"state-versions/{victim.ids['state']}").status == 404


def test_the_includes_of_the_openapi_document_are_accepted(victim):
    requests = 0
    for method, path, _, _ in rows("API"):
        listed = includes(operation_at(method, f"/api/v2{path}"))
        if method == "GET" and listed:
            answer = victim.api.call("GET", f"{victim.fill(path).removeprefix('/')}?include={','.join(listed)}")
            assert "Invalid include parameter" not in answer.text, path
            requests += 1
    assert requests > 30
