# SPDX-License-Identifier: MPL-2.0
"""Statuses of commits: a real scheduler and notifier, fakes of the providers. Events are rows of the test's own."""

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


def an_event_that_touches_no_workspace_passes(watched, _worker):
    watched.workspace("connected")
    watched.event()
    wait_for(watched, "success")
    assert watched.repository.statuses[-1]["description"] == "No workspace is affected"


def one_failed_plan_of_several_fails_the_commit(watched, worker):
    watched.workspace("connected")
    runs = [unconnected(watched, name, plan_only=True)[1] for name in ("a", "b", "c")]
    watched.event(runs)
    wait_for(watched, "pending")
    worker.end(worker.take(runs[1], "plan"), "failed", error="Error: no such thing")
    wait_for(watched, "pending", "failure")
    worker.plan(runs[0])
    worker.plan(runs[2])
    watched.quiet()
    assert states(watched) == ["pending", "failure"]
    assert watched.repository.statuses[-1]["description"] == "1 of 3 plans failed, such as b"


def a_rate_limit_stops_all_calls_of_the_connection_until_it_ends(watched, _worker):
    watched.workspace("connected")
    watched.fake.rate_limit("POST", "/statuses/", 5)
    watched.event()
    until(lambda: watched.fake.calls("POST", "/statuses/"), "the first try")

    def pause():
        shown = watched.org.attributes(f"oauth-clients/{watched.connection}")
        return shown["calls-blocked-until"] and shown["call-error"]

    assert "limits the rate" in until(pause, "the connection waits")
    wait_for(watched, "success")
    one, two = watched.fake.calls("POST", "/statuses/")[:2]
    assert two.at - one.at >= 5


def an_equal_status_that_gitlab_refuses_counts_as_sent(watched, _worker):
    watched.workspace("connected")
    _, run = unconnected(watched, "network", plan_only=True)
    watched.event([run])
    until(lambda: watched.repository.statuses, "the pending status is there")
    watched.quiet()
    # As if the answer had been lost.
    watched.api_site.change("update vcs_reports set sent = null, sent_version = 0, due_at = now() where repository_id = %s", watched.id)
    until(lambda: len(watched.fake.calls("POST", "/statuses/")) == 2, "it is sent again")
    watched.quiet()
    assert watched.fake.calls("POST", "/statuses/")[1].status == 400
    assert watched.api_site.ask("select error from vcs_reports where repository_id = %s", watched.id) == [(None,)]


def applies_have_a_status_of_their_own_where_it_is_wanted(watched, worker, aggregated):
    organization = watched.org.organization
    settings = {"vcs-apply-status-enabled": True, "aggregated-commit-status-enabled": aggregated}
    watched.org.patch(f"organizations/{organization}", {"data": {"type": "organizations", "attributes": settings}})
    watched.workspace("connected")
    _, run = unconnected(watched, "network")
    _, plan_only = unconnected(watched, "other", plan_only=True)
    watched.event([run])
    watched.event([plan_only], kind="pr_open", number=3)
    name = f"Runyard/{organization}/apply" if aggregated else f"Runyard/{organization}/network/apply"
    is_now = lambda state: until(lambda: (watched.repository.status(name) or {}).get("state") == state, f"{name} is {state}")  # noqa: E731
    worker.plan(run)
    worker.end(worker.take(plan_only, "plan"), "failed", error="Error: no such thing")
    is_now("pending")
    watched.org.act(run, "apply")
    worker.end(worker.take(run, "apply"))
    is_now("success")
    assert watched.repository.status(name)["description"] == "The apply passed: network"
    watched.quiet()
    assert {each["context"] for each in watched.repository.statuses if each["context"].endswith("/apply")} == {name}


def a_refused_credential_is_shown_and_a_new_one_is_used(watched, _worker):
    watched.workspace("connected")
    watched.fake.tokens.clear()
    watched.event()
    until(lambda: watched.api_site.ask("select state from vcs_tokens where connection_id = %s", watched.connection) == [("refused",)], "the token is refused")
    watched.fake.tokens["good-token"] = "robot"
    watched.api_site.change("update vcs_calls set due_at = now() where repository_id = %s", watched.id)
    wait_for(watched, "success")


def contexts_per_workspace_and_stage(watched, worker):
    organization = watched.org.organization
    watched.org.call("PATCH", f"organizations/{organization}", {"data": {"type": "organizations", "attributes": {"aggregated-commit-status-enabled": False}}})
    watched.workspace("connected")
    _, run = unconnected(watched, "network", plan_only=True)
    watched.event([run])
    worker.plan(run)
    name = f"Runyard/{organization}/network/plan"
    until(lambda: (watched.repository.status(name) or {}).get("state") == "success", "the workspace's context passes")
    watched.quiet()
    assert {each["context"] for each in watched.repository.statuses} == {name}


def test_a_status_follows_the_plans_of_a_commit(watch, notifier, api_site):
    worker = api_site.fake_worker()
    notifier()
    at_once(lambda kind: a_status_follows_the_plans_of_a_commit(watch(kind), worker), FAKES)


def test_states_of_a_commit(watch, notifier, api_site):
    worker = api_site.fake_worker()
    notifier()
    at_once(lambda scenario: scenario(watch(GitHub), worker),
            [an_event_that_touches_no_workspace_passes, one_failed_plan_of_several_fails_the_commit, contexts_per_workspace_and_stage])


def test_answers_of_the_provider(watch, notifier, api_site):
    scenarios = {a_rate_limit_stops_all_calls_of_the_connection_until_it_ends: GitHub, an_equal_status_that_gitlab_refuses_counts_as_sent: GitLab,
                 a_refused_credential_is_shown_and_a_new_one_is_used: GitHub}
    worker = api_site.fake_worker()
    notifier()
    at_once(lambda scenario: scenario(watch(scenarios[scenario]), worker), scenarios)


def test_applies_have_a_status_of_their_own_where_it_is_wanted(watch, notifier, api_site):
    worker = api_site.fake_worker()
    notifier()
    at_once(lambda aggregated: applies_have_a_status_of_their_own_where_it_is_wanted(watch(GitHub), worker, aggregated), [True, False])


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
