# SPDX-License-Identifier: MPL-2.0
"""The newest commits of a module's repository, as each provider lists them."""

import pytest

from support.api import Api
from support.documents import document
from support.modules import TYPE, Modules
from support.people import People
from support.vcs_fakes import FAKES, GitHub

COUNT = 22  # two more than are listed


class Listed:
    """A module of a repository with many commits."""

    def __init__(self, watch, kind, **repo):
        self.watched = watch(kind, f"{FAKES[kind].rpartition('/')[0]}/terraform-null-network")
        self.org, self.repository = self.watched.org, self.watched.repository
        for number in range(COUNT):
            self.repository.copy.commit({"main.tf": f"# {number}"}, f"change {number}")
        self.repository.copy.push("main")
        self.modules = Modules(self.org)
        self.org.post(f"{self.modules.base}/vcs", document(TYPE, {"vcs-repo": {"identifier": self.watched.identifier, "oauth-token-id": self.watched.token, **repo}}))
        self.path = self.modules.path("network", "commits")

    def heads(self, client=None):
        return [(each["id"], each["attributes"]["message"].strip()) for each in (client or self.org).get(self.path).data]


@pytest.mark.parametrize("kind", FAKES)
def test_the_newest_commits_of_the_branch_are_listed(watch, kind):
    """Or of the default branch, if the tags are the versions."""
    listed = Listed(watch, kind, branch="main", tags=False)
    heads = listed.heads()
    assert [message for _, message in heads] == [f"change {number}" for number in range(COUNT - 1, COUNT - 21, -1)]
    assert heads[0][0] == listed.repository.sha("main")
    first = listed.org.get(listed.path).data[0]
    assert first["type"] == "commit" and first["attributes"]["sha"] == first["id"] and first["attributes"]["author"]
    assert first["attributes"]["date"].startswith("20")
    listed.modules.version("network", "2.0.0", **{"commit-sha": heads[3][0]})
    assert listed.modules.read("network", "2.0.0")["attributes"]["commit-sha"] == heads[3][0]
    listed.org.patch(listed.modules.path("network"), document(TYPE, {"vcs-repo": {"tags": True, "branch": ""}}))
    assert listed.heads() == heads


def test_commits_are_for_those_who_publish(watch, api_site):
    listed = Listed(watch, GitHub, branch="main", tags=False)
    people = People(listed.org, api_site.database)
    assert len(listed.heads(people.member("modules", people.team("modules", manage_modules=True)))) == 20
    assert people.member("reader", people.team("readers")).call("GET", listed.path).status == 404
    consumer = api_site.stranger()
    admin = Api(api_site.scheduler.url, api_site.tokens["token"])
    admin.patch(f"admin/organizations/{listed.org.organization}/relationships/module-consumers", {"data": [{"type": "organizations", "id": consumer.organization}]})
    shared = listed.path.replace(listed.org.organization, consumer.organization, 1)
    assert consumer.call("GET", shared.removesuffix("/commits")).status == 200
    for client in (consumer, api_site.stranger()):
        assert client.call("GET", shared).status == 404 and client.call("GET", listed.path).status == 404
    uploaded = Modules(consumer)
    uploaded.create("uploaded")
    assert consumer.call("GET", uploaded.path("uploaded", "commits")).status == 404


def test_the_reason_is_told_if_the_provider_lists_no_commits(watch):
    listed = Listed(watch, GitHub, branch="gone", tags=False)
    refused = listed.org.call("GET", listed.path)
    assert refused.status == 422 and "commits of the repository can't be read: " in refused.text
    listed.watched.fake.tokens.clear()
    assert listed.org.call("GET", listed.path).status == 422
