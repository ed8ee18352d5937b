# SPDX-License-Identifier: MPL-2.0
# label: full
"""Statuses of commits: a real scheduler and notifier, fakes of the providers. Events are rows of the test's own."""

import pytest

from support.at_once import at_once
from support.vcs_fakes import FAKES, GitHub, GitLab
from support.wait import until


def states(watched, sha=None):
    """The states that the provider was sent for the aggregated context, without repetitions."""
    found = [each["state"] for each in watched.repository.statuses if each["context"] == f"Runyard/{watched.org.organization}" and sha in (None, each["sha"])]
    return [state for place, state in enumerate(found) if place == 0 or found[place - 1] != state]


def wait_for(watched, *expected):
    until(lambda: states(watched) == list(expected), lambda: f"{expected}, not {states(watched)}")


def unconnected(watched, name, **attributes):
    """A run in a workspace, and the workspace's connection afterwards."""
    workspace = watched.org.workspace(name)
    return workspace, watched.run(workspace, **attributes)


def a_status_follows_the_plans_of_a_commit(watched, worker):
    watched.workspace("connected")
    _, run = unconnected(watched, "network", plan_only=True)
    event = watched.event([run])
    until(lambda: len(watched.repository.statuses) >= 1, "the pending status is there")
    worker.plan(run)
    until(lambda: len(states(watched)) >= 2, "the second status is there")
    newest = watched.repository.statuses[-1]
    assert newest["sha"] == watched.repository.sha("main")
    assert newest["url"] == f"{watched.org.url}/app/{watched.org.organization}/vcs/events/{event}"
    assert "network" in newest["description"]
    watched.quiet()


def test_a_status_follows_the_plans_of_a_commit(watch, notifier, api_site):
    worker = api_site.fake_worker()
    notifier()
    at_once(lambda kind: a_status_follows_the_plans_of_a_commit(watch(kind), worker), FAKES)


def test_an_event_that_touches_no_workspace_passes(watch, notifier):
    watched = watch(GitHub)
    watched.workspace("connected")
    watched.event()
    notifier()
    wait_for(watched, "success")
    assert watched.repository.statuses[-1]["description"] == "No workspace is affected"


def test_one_failed_plan_of_several_fails_the_commit(watch, notifier, api_site):
    watched = watch(GitHub)
    watched.workspace("connected")
    runs = [unconnected(watched, name, plan_only=True)[1] for name in ("a", "b", "c")]
    watched.event(runs)
    notifier()
    worker = api_site.fake_worker()
    wait_for(watched, "pending")
    worker.end(worker.take(runs[1], "plan"), "failed", error="Error: no such thing")
    wait_for(watched, "pending", "failure")
    worker.plan(runs[0])
    worker.plan(runs[2])
    watched.quiet()
    assert states(watched) == ["pending", "failure"]
    assert watched.repository.statuses[-1]["description"] == "1 of 3 plans failed, such as b"


def test_only_the_newest_status_is_sent_and_in_order_when_the_notifier_is_killed(watch, notifier, api_site):
    watched = watch(GitHub)
    watched.workspace("connected")
    runs = [unconnected(watched, f"w{number}", plan_only=True)[1] for number in range(4)]
    event = watched.event(runs)
    watched.fake.fault("POST", "/statuses/", "hang up", 500)
    first = notifier()
    until(lambda: watched.fake.calls("POST", "/statuses/"), "the first try")
    worker = api_site.fake_worker()
    for number, run in enumerate(runs):
        worker.plan(run)
        if number == 1:
            first.kill()
            notifier("notifier-2")
    api_site.change("update vcs_reports set due_at = now() where repository_id = %s", watched.id)
    wait_for(watched, *states(watched)[:-1], "success")
    watched.quiet()
    assert states(watched) in (["success"], ["pending", "success"])
    assert watched.repository.statuses[-1]["description"] == "All 4 plans passed"
    assert event in watched.repository.statuses[-1]["url"]


def test_a_rate_limit_stops_all_calls_of_the_connection_until_it_ends(watch, notifier, api_site):
    watched = watch(GitHub)
    watched.workspace("connected")
    watched.fake.rate_limit("POST", "/statuses/", 3)
    watched.event()
    notifier()
    until(lambda: watched.fake.calls("POST", "/statuses/"), "the first try")
    until(lambda: api_site.ask("select 1 from vcs_limits where owner_id = %s and blocked_until > now()", watched.connection), "the connection waits")
    connection = watched.org.attributes(f"oauth-clients/{watched.connection}")
    assert "limits the rate" in connection["call-error"] and connection["calls-blocked-until"]
    wait_for(watched, "success")
    one, two = watched.fake.calls("POST", "/statuses/")[:2]
    assert two.at - one.at >= 3


def test_an_equal_status_that_gitlab_refuses_counts_as_sent(watch, notifier, api_site):
    watched = watch(GitLab)
    watched.workspace("connected")
    _, run = unconnected(watched, "network", plan_only=True)
    watched.event([run])
    notifier()
    until(lambda: watched.repository.statuses, "the pending status is there")
    watched.quiet()
    # As if the answer had been lost.
    api_site.change("update vcs_reports set sent = null, sent_version = 0, due_at = now() where repository_id = %s", watched.id)
    until(lambda: len(watched.fake.calls("POST", "/statuses/")) == 2, "it is sent again")
    watched.quiet()
    assert watched.fake.calls("POST", "/statuses/")[1].status == 400
    assert api_site.ask("select error from vcs_reports where repository_id = %s", watched.id) == [(None,)]


@pytest.mark.parametrize("aggregated", [True, False])
def test_applies_have_a_status_of_their_own_where_it_is_wanted(watch, notifier, api_site, aggregated):
    watched = watch(GitHub)
    organization = watched.org.organization
    settings = {"vcs-apply-status-enabled": True, "aggregated-commit-status-enabled": aggregated}
    watched.org.patch(f"organizations/{organization}", {"data": {"type": "organizations", "attributes": settings}})
    watched.workspace("connected")
    _, run = unconnected(watched, "network")
    _, plan_only = unconnected(watched, "other", plan_only=True)
    watched.event([run])
    watched.event([plan_only], kind="pr_open", number=3)
    notifier()
    name = f"Runyard/{organization}/apply" if aggregated else f"Runyard/{organization}/network/apply"
    is_now = lambda state: until(lambda: (watched.repository.status(name) or {}).get("state") == state, f"{name} is {state}")  # noqa: E731
    worker = api_site.fake_worker()
    worker.plan(run)
    worker.end(worker.take(plan_only, "plan"), "failed", error="Error: no such thing")
    is_now("pending")
    watched.org.act(run, "apply")
    worker.end(worker.take(run, "apply"))
    is_now("success")
    assert watched.repository.status(name)["description"] == "The apply passed: network"
    watched.quiet()
    assert {each["context"] for each in watched.repository.statuses if each["context"].endswith("/apply")} == {name}


def test_a_refused_credential_is_shown_and_a_new_one_is_used(watch, notifier, api_site):
    watched = watch(GitHub)
    watched.workspace("connected")
    watched.fake.tokens.clear()
    watched.event()
    notifier()
    until(lambda: api_site.ask("select state from vcs_tokens where connection_id = %s", watched.connection) == [("refused",)], "the token is refused")
    watched.fake.tokens["good-token"] = "robot"
    api_site.change("update vcs_calls set due_at = now() where repository_id = %s", watched.id)
    wait_for(watched, "success")


def test_contexts_per_workspace_and_stage(watch, notifier, api_site):
    watched = watch(GitHub)
    organization = watched.org.organization
    watched.org.call("PATCH", f"organizations/{organization}", {"data": {"type": "organizations", "attributes": {"aggregated-commit-status-enabled": False}}})
    watched.workspace("connected")
    _, run = unconnected(watched, "network", plan_only=True)
    watched.event([run])
    notifier()
    api_site.fake_worker().plan(run)
    name = f"Runyard/{organization}/network/plan"
    until(lambda: (watched.repository.status(name) or {}).get("state") == "success", "the workspace's context passes")
    watched.quiet()
    assert {each["context"] for each in watched.repository.statuses} == {name}
