# SPDX-License-Identifier: MPL-2.0
"""Hooks at providers: made with a repository's use, repaired, deleted with its end. Real scheduler and notifier, fakes of the providers."""

import itertools

from support.at_once import at_once
from support.vcs_fakes import FAKES, Azure, GitHub
from support.wait import until


def disconnect(watched, workspace):
    answer = watched.org.call("PATCH", f"workspaces/{workspace}", {"data": {"type": "workspaces", "attributes": {"vcs-repo": None}}})
    assert answer.status == 200, answer.text


def hook_url(watched):
    ((hook,),) = watched.api_site.ask("select hook from vcs_repositories where id = %s", watched.id)
    return f"{watched.org.url}/webhooks/vcs/{hook}"


def kept(watched):
    """What the scheduler knows of the hook: its id at the provider, and the error."""
    return watched.api_site.ask("select hook_external_id, hook_error from vcs_repositories where id = %s", watched.id)[0]


def hooks(watched):
    """The hooks at the provider."""
    return list(watched.repository.hooks.values())


def secrets_of(watched):
    """The secrets of the hooks at the provider. Azure DevOps has them as passwords of a user."""
    return {each["secret"].removeprefix("runyard:") for each in hooks(watched)}


def made(watched):
    until(lambda: kept(watched)[0], lambda: f"the hook was made: {kept(watched)}")
    watched.quiet()


def one_hook_serves_all_workspaces(watched):
    made(watched)
    assert len(hooks(watched)) == (4 if isinstance(watched.fake, Azure) else 1)
    assert {each["url"] for each in hooks(watched)} == {hook_url(watched)}
    assert all(each["secret"] for each in hooks(watched))


def a_new_secret_reaches_the_provider_and_the_previous_one_ends(watched):
    before, shown = hooks(watched), watched.org.attributes(f"vcs-repositories/{watched.id}")
    assert secrets_of(watched) == {shown["webhook-secret"]} and shown["hook-previous-until"] is None
    new = watched.org.post(f"vcs-repositories/{watched.id}/actions/rotate-hook-secret").data["attributes"]
    assert new["webhook-secret"] != shown["webhook-secret"] and new["hook-previous-until"]
    until(lambda: secrets_of(watched) == {new["webhook-secret"]}, "the provider has the new secret")
    watched.quiet()
    assert len(hooks(watched)) == len(before)
    left = "select hook_previous_until < now() + interval '11 minutes' from vcs_repositories where id = %s"
    until(lambda: watched.api_site.ask(left, watched.id) == [(True,)], "the previous secret ends soon")
    assert watched.api_site.ask("select version, sent_version from vcs_hooks where repository_id = %s", watched.id) == [(2, 2)]


def a_hook_goes_with_the_last_workspace(watched, one, two):
    before = hooks(watched)
    disconnect(watched, one)
    watched.quiet()
    assert len(hooks(watched)) == len(before)
    disconnect(watched, two)
    until(lambda: not hooks(watched), "the hook is deleted")
    until(lambda: kept(watched) == (None, None), "the hook is forgotten")


def test_hooks_from_the_first_workspace_to_the_last(watch, notifier):
    def scenario(kind):
        watched = watch(kind)
        one, two = watched.workspace("one"), watched.workspace("two")
        one_hook_serves_all_workspaces(watched)
        a_new_secret_reaches_the_provider_and_the_previous_one_ends(watched)
        a_hook_goes_with_the_last_workspace(watched, one, two)

    notifier()
    at_once(scenario, FAKES)


def a_hook_that_was_deleted_at_the_provider_is_made_again(watched):
    watched.workspace("one")
    made(watched)
    watched.repository.hooks.clear()
    watched.api_site.change("update vcs_hooks set due_at = now() where repository_id = %s", watched.id)
    until(lambda: len(hooks(watched)) == 1, "the hook is there again")
    watched.quiet()


def a_lost_answer_makes_no_second_hook(watched):
    watched.fake.fault("GET", "/hooks", "hang up")
    watched.workspace("one")
    made(watched)
    (before,) = hooks(watched)
    # As if the answer to its creation had been lost.
    watched.api_site.change("update vcs_repositories set hook_external_id = null where id = %s", watched.id)
    watched.api_site.change("update vcs_hooks set due_at = now() where repository_id = %s", watched.id)
    made(watched)
    assert len(hooks(watched)) == 1
    assert len(watched.fake.calls("POST", "/hooks$")) == 1
    assert hooks(watched)[0]["secret"] == before["secret"]


def where_hooks_are_not_allowed_the_reason_is_shown(watched):
    watched.fake.fault("GET", "/hooks", 404)
    watched.workspace("one")
    until(lambda: kept(watched)[1], "there is an error")
    assert "may not see it" in kept(watched)[1]
    watched.quiet()


def test_hooks_after_failures_of_the_provider(watch, notifier):
    notifier()
    at_once(lambda scenario: scenario(watch(GitHub)),
            [a_hook_that_was_deleted_at_the_provider_is_made_again, a_lost_answer_makes_no_second_hook, where_hooks_are_not_allowed_the_reason_is_shown])


def hooks_go_with_what_is_deleted_after_the_provider_was_down(watched, what):
    workspace = watched.workspace("one")
    made(watched)
    ask, change = watched.api_site.ask, watched.api_site.change
    ids = {"organizations": watched.org.organization, "oauth-clients": watched.connection, "oauth-tokens": watched.token}
    watched.fake.fault("DELETE", "", 500)
    watched.org.delete(f"{what}/{ids[what]}")
    assert what == "organizations" or watched.org.attributes(f"workspaces/{workspace}")["vcs-repo"] is None
    ((removal,),) = ask("select id from vcs_hook_removals where connection = %s", watched.connection)
    assert hooks(watched)
    until(lambda: ask("select 1 from vcs_calls where removal_id = %s and tries > 0", removal), "the provider failed")
    change("update vcs_calls set due_at = now() where removal_id = %s", removal)
    until(lambda: not hooks(watched), "the hooks are deleted")
    until(lambda: not ask("select 1 from vcs_hook_removals where connection = %s", watched.connection), "the token is forgotten")


def test_hooks_go_with_what_is_deleted_after_the_provider_was_down(watch, notifier):
    notifier()
    at_once(lambda case: hooks_go_with_what_is_deleted_after_the_provider_was_down(watch(case[0]), case[1]),
            zip(FAKES, itertools.cycle(["organizations", "oauth-clients", "oauth-tokens"])))


def test_a_refused_token_and_one_that_is_a_day_old_are_forgotten(watch, notifier, api_site):
    one, two = watch(GitHub), watch(GitHub)
    one.workspace("one")
    two.workspace("two")
    notifier()
    made(one)
    made(two)
    tokens = lambda watched: api_site.ask("select id from vcs_hook_removals where connection = %s", watched.connection)  # noqa: E731
    one.fake.tokens.clear()
    one.org.delete(f"oauth-clients/{one.connection}")
    until(lambda: not tokens(one), "the refused token is forgotten")
    two.fake.fault("DELETE", "", *[500] * 20)
    two.org.delete(f"oauth-clients/{two.connection}")
    assert tokens(two)
    api_site.change("update vcs_hook_removals set created_at = now() - interval '25 hours' where connection = %s", two.connection)
    until(lambda: not tokens(two), "the old token is forgotten")
    assert not api_site.ask("select 1 from vcs_calls where purpose = 'removal'") and hooks(one) and hooks(two)
