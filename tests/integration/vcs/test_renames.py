# SPDX-License-Identifier: MPL-2.0
"""Repositories that are renamed at their provider. Real scheduler and notifier, fakes of the providers."""

import pytest

from support.at_once import at_once
from support.vcs_fakes import FAKES, BitbucketCloud, GitHub, GitLab
from support.wait import until

RENAMED = {kind: FAKES[kind].replace("network", "renamed") for kind in (GitHub, GitLab, BitbucketCloud)}


def row(watched, columns):
    return watched.api_site.ask(f"select {columns} from vcs_repositories where id = %s", watched.id)[0]


@pytest.fixture
def connected(watch, notifier):
    """connected(GitHub) has a workspace, its id at the provider is known, and it has a hook."""
    def connected(kind):
        watched = watch(kind)
        watched.workspace("one")
        until(lambda: None not in row(watched, "external_id, hook_external_id"), "the repository is looked up and has a hook")
        return watched

    notifier()
    return connected


def doubt(watched):
    """As after a look that failed."""
    watched.api_site.change("update vcs_repositories set state = 'unverified' where id = %s", watched.id)


def messages(watched):
    return [message for message, in watched.api_site.ask("select message from vcs_events where repository_id = %s", watched.id)]


def identifier(watched):
    return watched.org.attributes(f"workspaces/{watched.workspaces['one']}")["vcs-repo"]["identifier"]


def a_payload_with_another_name_waits_until_the_provider_tells_it(watched, kind):
    watched.fake.rename(watched.repository, RENAMED[kind])
    before = watched.repository.sha("main")
    after = watched.repository.copy.commit_and_push()
    assert watched.repository.deliver(*watched.fake.push(watched.repository, "refs/heads/main", before, after)) == [204]
    until(lambda: row(watched, "identifier, state") == (RENAMED[kind], "verified"), lambda: f"the new name is taken: {row(watched, 'identifier, state, error')}")
    until(lambda: watched.api_site.ask("select found_by from vcs_events where repository_id = %s and sha = %s", watched.id, after) == [("webhook",)], "the push is an event")
    assert identifier(watched) == RENAMED[kind]
    assert f"The repository was renamed from {FAKES[kind]} to {RENAMED[kind]}." in messages(watched)


def test_a_payload_with_another_name_waits_until_the_provider_tells_it(connected):
    at_once(lambda kind: a_payload_with_another_name_waits_until_the_provider_tells_it(connected(kind), kind), RENAMED)


def test_a_name_that_the_connection_has_already_is_not_taken(connected):
    watched = connected(GitHub)
    other = watched.fake.repository("acme/other", {"main.tf": ""})
    watched.org.workspace("two", vcs_repo={"identifier": "acme/other", "oauth-token-id": watched.token})
    other.gone = True
    watched.fake.rename(watched.repository, "acme/other")
    doubt(watched)
    until(lambda: row(watched, "state")[0] == "errored", "the repository is in error")
    assert "the connection has another repository of that name" in row(watched, "error")[0] and row(watched, "error")[0] in messages(watched)
    assert identifier(watched) == FAKES[GitHub]


def test_a_repository_that_is_gone_is_in_error(connected):
    watched = connected(GitHub)
    watched.repository.gone = True
    doubt(watched)
    until(lambda: row(watched, "state")[0] == "errored", "the repository is in error")
    assert "does not find it" in row(watched, "error")[0] and identifier(watched) == FAKES[GitHub]
