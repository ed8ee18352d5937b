# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Tags of modules and providers in their lists: what a list shows, and which rows a filter finds."""

import pytest

from support.api import Api
from support.documents import document, refused
from support.modules import Modules
from support.providers import Providers


@pytest.fixture(params=[Modules, Providers])
def registry(request, org):
    return request.param(org)


def tag(registry, name, **tags):
    kind = registry.base.split("/")[-1]
    bindings = [{"type": "tag-bindings", "attributes": {"key": key, "value": value}} for key, value in tags.items()]
    registry.create(name)
    registry.api.patch(registry.path(name), document(kind, {}, **{"tag-bindings": {"data": bindings}}))


def filters(**tags):
    """The query for objects with all of these tags."""
    numbered = [(number, *pair) for number, pair in enumerate(tags.items())]
    return {f"filter[tagged][{number}][{part}]": text for number, key, value in numbered for part, text in (("key", key), ("value", value)) if text}


def found(registry, **query):
    """The names that the list finds, of which it has the right number."""
    answer = registry.api.get(registry.base, **query)
    names = [item["attributes"]["name"] for item in answer.data]
    assert answer.json["meta"]["pagination"]["total-count"] == len(names)
    return names


def shown(answer):
    """The tags of each object of a list that includes them."""
    included = {item["id"]: item["attributes"] for item in answer.json.get("included", [])}
    relations = {item["attributes"]["name"]: item["relationships"].get("tag-bindings", {}).get("data") for item in answer.data}
    return {name: data and [(included[link["id"]]["key"], included[link["id"]]["value"]) for link in data] for name, data in relations.items()}


def test_a_list_is_filtered_by_tags(registry):
    tag(registry, "a", env="production", team="x")
    tag(registry, "bzz", env="test", team="x")
    tag(registry, "c", env="", **{"team=1 of": "y z"})
    tag(registry, "d")
    for query, names in ((filters(env=""), ["a", "bzz", "c"]), (filters(ENV=""), ["a", "bzz", "c"]), (filters(env="test"), ["bzz"]), (filters(env="TEST"), []),
                         (filters(env="", team="x"), ["a", "bzz"]), (filters(env="production", team="x"), ["a"]), (filters(env="production", team="y"), []),
                         (filters(**{"team=1 of": "y z"}), ["c"]), (filters(nothing=""), []), (filters(env="", nothing=""), []), ({"search[tags]": "env,team"}, ["a", "bzz"]),
                         ({**filters(env=""), "q": "zz"}, ["bzz"]), ({**filters(env=""), "filter[registry_name]": "public"}, []), ({}, ["a", "bzz", "c", "d"])):
        assert found(registry, **query) == names, query
    page = registry.api.get(registry.base, **filters(env=""), **{"page[size]": 2, "page[number]": 2})
    assert [item["attributes"]["name"] for item in page.data] == ["c"] and page.json["meta"]["pagination"]["total-count"] == 3


def test_a_list_includes_the_tags_of_all_rows(registry):
    tag(registry, "a", env="production", team="")
    tag(registry, "b")
    assert shown(registry.api.get(registry.base, include="tag_bindings")) == {"a": [("env", "production"), ("team", "")], "b": []}
    plain = registry.api.get(registry.base)
    assert shown(plain) == {"a": None, "b": None} and "included" not in plain.json
    relation = plain.data[0]["relationships"]["tag-bindings"]
    assert registry.api.get(relation["links"]["related"].removeprefix("/api/v2/")).data[0]["attributes"] == {"key": "env", "value": "production"}
    one = registry.api.get(registry.path("a"), include="tag-bindings").json
    assert [item["attributes"]["key"] for item in one["included"]] == ["env", "team"] == [one["included"][n]["attributes"]["key"] for n in range(len(one["data"]["relationships"]["tag-bindings"]["data"]))]
    assert registry.api.get(registry.base, **filters(nothing=""), include="tag-bindings").data == []


def test_the_tags_of_another_organization_neither_match_nor_show(registry, api_site):
    tag(registry, "owned", env="production")
    stranger = type(registry)(api_site.stranger())
    tag(stranger, "other", env="production")
    admin = Api(api_site.scheduler.url, api_site.tokens["token"])
    consumers = f"admin/organizations/{registry.api.organization}/relationships/module-consumers"
    admin.patch(consumers, {"data": [{"type": "organizations", "id": stranger.api.organization}]})
    assert found(stranger, **filters(env="production")) == ["other"] and found(registry, **filters(env="")) == ["owned"]
    shared = {"owned": None} if isinstance(registry, Modules) else {}
    assert shown(stranger.api.get(stranger.base, include="tag-bindings")) == {"other": [("env", "production")], **shared}
    refused(404, stranger.api.get, registry.base, **filters(env=""))
    if shared:
        answer = stranger.api.get(f"registry-modules/{registry.read('owned')['id']}", include="tag-bindings").json
        assert "tag-bindings" not in answer["data"]["relationships"] and not answer.get("included")
