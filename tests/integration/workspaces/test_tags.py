# SPDX-License-Identifier: MPL-2.0
# label: quick
"""Tags, tag bindings and the bindings that workspaces inherit."""

import threading


from support.documents import refused
from support.shared import api, database, scheduler  # noqa: F401


def names(*texts):
    return {"data": [{"type": "tags", "attributes": {"name": text}} for text in texts]}


def ids(kind, *texts):
    return {"data": [{"type": kind, "id": text} for text in texts]}


def bindings(**pairs):
    return {"data": [{"type": "tag-bindings", "attributes": {"key": key, "value": value}} for key, value in pairs.items()]}


def shown(answer):
    return {item["attributes"]["key"]: item["attributes"]["value"] for item in answer.data}


def project(api, name, **relationships):
    body = {"data": {"type": "projects", "attributes": {"name": name}, "relationships": relationships}}
    return api.post(f"organizations/{api.organization}/projects", body).data["id"]


def workspace_in(api, name, project_id, **relationships):
    relationships["project"] = {"data": {"type": "projects", "id": project_id}}
    body = {"data": {"type": "workspaces", "attributes": {"name": name}, "relationships": relationships}}
    return api.post(f"organizations/{api.organization}/workspaces", body).data["id"]


def listed(api, **query):
    return [w["attributes"]["name"] for w in api.get(f"organizations/{api.organization}/workspaces", sort="name", **query).data]


# ---- tags ----


def test_tags_are_added_to_and_removed_from_a_workspace(api):
    workspace = api.workspace("w")
    path = f"workspaces/{workspace}/relationships/tags"
    assert api.post(path, names("b", "a", "a")).status == 204
    assert api.attributes(f"workspaces/{workspace}")["tag-names"] == ["a", "b"]
    tags = api.get(path).data
    assert [tag["attributes"] for tag in tags] == [{"name": "a", "instance-count": 1}, {"name": "b", "instance-count": 1}]
    assert tags[0]["relationships"]["organization"]["data"]["id"] == api.organization
    # A tag without a value is a binding as well: clients look for it there.
    assert shown(api.get(f"workspaces/{workspace}/tag-bindings")) == {"a": "", "b": ""}
    other = api.workspace("other")
    api.post(f"workspaces/{other}/relationships/tags", ids("tags", tags[0]["id"]))
    assert api.get(path).data[0]["attributes"]["instance-count"] == 2
    api.ask("DELETE", path, names("b", "nobody"))
    api.ask("DELETE", f"workspaces/{other}/relationships/tags", ids("tags", tags[0]["id"]))
    assert api.attributes(f"workspaces/{workspace}")["tag-names"] == ["a"] and api.attributes(f"workspaces/{other}")["tag-names"] == []


def test_tags_of_an_organization_are_listed_bound_and_deleted(api):
    one, two = api.workspace("one"), api.workspace("two")
    api.post(f"workspaces/{one}/relationships/tags", names("prod", "network"))
    path = f"organizations/{api.organization}/tags"
    everything = api.get(path).data
    assert [tag["attributes"]["name"] for tag in everything] == ["network", "prod"]
    assert [t["attributes"]["name"] for t in api.get(path, q="PRO").data] == ["prod"]
    network, prod = (tag["id"] for tag in everything)
    assert [t["id"] for t in api.get(path, **{"filter[exclude][taggable][id]": network}).data] == [prod]
    assert api.get(path, **{"filter[exclude][taggable][id]": one}).data == []
    assert api.get(path, **{"page[size]": 1, "page[number]": 2}).data == [everything[1]]
    assert api.post(f"tags/{prod}/relationships/workspaces", ids("workspaces", one, two)).status == 204
    assert api.attributes(f"workspaces/{two}")["tag-names"] == ["prod"]
    refused(422, api.post, f"tags/{prod}/relationships/workspaces", ids("tags", prod))
    refused(404, api.post, "tags/tag-nobody/relationships/workspaces", ids("workspaces", two))
    refused(404, api.ask, "DELETE", path, ids("tags", prod, "tag-nobody"))
    assert api.ask("DELETE", path, ids("tags", prod)).status == 204
    assert api.attributes(f"workspaces/{one}")["tag-names"] == ["network"] and api.attributes(f"workspaces/{two}")["tag-names"] == []


def test_invalid_tags_are_refused(api):
    workspace = api.workspace("w")
    path = f"workspaces/{workspace}/relationships/tags"
    for body in (names(""), names("x" * 256), names("a;b"), names("a\nb"), {"data": None}, {"data": {}}, {"data": ["a"]}, {}, ids("workspaces", "a"),
                 {"data": [{"type": "tags"}]}, {"data": [{"type": "tags", "attributes": {"name": 1}}]}, ids("tags", "tag-nobody")):
        assert refused(422, api.post, path, body).json["errors"][0]["source"]["pointer"].startswith("/data"), body
    refused(422, api.post, path, names(*map(str, range(101))))
    assert api.attributes(f"workspaces/{workspace}")["tag-names"] == []
    # If one of a list is invalid, none is created.
    refused(422, api.post, f"organizations/{api.organization}/workspaces", {"data": {
        "type": "workspaces", "attributes": {"name": "tagged"}, "relationships": {"tags": names("good", "b;ad")}}})
    refused(404, api.get, f"organizations/{api.organization}/workspaces/tagged")


def test_concurrent_creations_of_a_tag_create_it_once(api):
    workspaces = [api.workspace() for _ in range(8)]
    threads = [threading.Thread(target=api.post, args=(f"workspaces/{w}/relationships/tags", names("same", "other"))) for w in workspaces]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [t["attributes"]["instance-count"] for t in api.get(f"organizations/{api.organization}/tags").data] == [8, 8]


# ---- bindings ----


def test_bindings_are_added_changed_and_replaced(api):
    workspace = api.workspace("w")
    path = f"workspaces/{workspace}/tag-bindings"
    created = api.patch(path, bindings(env="prod", tier="web")).data
    assert [item["attributes"] for item in created] == [{"key": "env", "value": "prod"}, {"key": "tier", "value": "web"}]
    assert {item["type"] for item in created} == {"tag-bindings"}
    assert shown(api.patch(path, bindings(env="dev", bare=""))) == {"env": "dev", "tier": "web", "bare": ""}
    assert api.attributes(f"workspaces/{workspace}")["tag-names"] == ["bare"]
    api.patch(f"workspaces/{workspace}", {"data": {"type": "workspaces", "relationships": {"tag-bindings": bindings(only="this")}}})
    assert shown(api.get(path)) == {"only": "this"}
    api.patch(f"workspaces/{workspace}", {"data": {"type": "workspaces", "relationships": {"tag-bindings": {"data": []}}}})
    assert api.get(path).data == []


def test_invalid_bindings_are_refused(api):
    workspace = api.workspace("w")
    path = f"workspaces/{workspace}/tag-bindings"
    too_many = bindings(**{f"k{i}": "v" for i in range(11)})
    for body in (bindings(**{"": "v"}), bindings(**{"k" * 129: "v"}), bindings(k="v" * 257), bindings(k=1), bindings(**{"hcp:k": "v"}),
                 bindings(k="a\tb"), too_many, {"data": None}, {}, names("a")):
        assert refused(422, api.patch, path, body).json["errors"][0]["source"]["pointer"] == "/data", body
    assert api.get(path).data == []
    refused(404, api.patch, "workspaces/ws-nobody/tag-bindings", bindings(k="v"))
    refused(404, api.patch, "projects/prj-nobody/tag-bindings", bindings(k="v"))


def test_a_workspace_inherits_bindings_from_its_project(api):
    parent = project(api, "parent", **{"tag-bindings": bindings(env="prod", team="infra")})
    workspace = workspace_in(api, "w", parent, **{"tag-bindings": bindings(env="dev", own="yes")})
    effective = api.get(f"workspaces/{workspace}/effective-tag-bindings")
    assert shown(effective) == {"env": "dev", "own": "yes", "team": "infra"}
    inherited = [item for item in effective.data if "links" in item]
    assert [item["links"]["inherited-from"] for item in inherited] == [f"/api/v2/projects/{parent}"]
    assert shown(api.get(f"projects/{parent}/effective-tag-bindings")) == {"env": "prod", "team": "infra"}
    assert shown(api.get(f"workspaces/{workspace}/tag-bindings")) == {"env": "dev", "own": "yes"}
    page = api.get(f"organizations/{api.organization}/workspaces", include="effective_tag_bindings").json
    assert len(page["data"][0]["relationships"]["effective-tag-bindings"]["data"]) == 3 and len(page["included"]) == 3
    answer = api.get(f"projects/{parent}", include="effective_tag_bindings,organization").json
    assert [item["type"] for item in answer["included"]] == ["organizations", "effective-tag-bindings", "effective-tag-bindings"]


# ---- searching ----


def test_pages_of_workspaces_without_a_tag_cover_the_list_in_order(api):
    created = [workspace_in(api, f"w{number}", project(api, f"of-{number}"), **{"tag-bindings": bindings(**({"old": ""} if number % 3 == 0 else {}))}) for number in range(8)]
    expected = [workspace for number, workspace in enumerate(created) if number % 3]
    for sort, order in (("name", expected), ("-name", expected[::-1]), ("latest-change-at", expected), ("-latest-change-at", expected[::-1]), ("current-run.created-at", expected)):
        for size in (1, 2, 5, 20):
            for number in range(1, 7):
                page = api.get(f"organizations/{api.organization}/workspaces", sort=sort, **{"search[exclude-tags]": "OLD,other", "page[size]": size, "page[number]": number}).json
                assert [row["id"] for row in page["data"]] == order[(number - 1) * size:number * size], (sort, size, number)
                assert page["meta"]["pagination"]["total-count"] == 5


def test_workspaces_and_projects_are_filtered_by_tags(api):
    parent = project(api, "parent", **{"tag-bindings": bindings(team="infra")})
    for name, pairs in (("a", {"env": "prod"}), ("b", {"env": "dev", "x": ""}), ("c", {})):
        workspace_in(api, name, parent if name == "c" else project(api, f"of-{name}"), **{"tag-bindings": bindings(**pairs)})
    assert listed(api, **{"search[tags]": "env"}) == ["a", "b"]
    assert listed(api, **{"search[tags]": "env,x"}) == ["b"]
    assert listed(api, **{"search[tags]": "ENV"}) == ["a", "b"]
    assert listed(api, **{"search[exclude-tags]": "x"}) == ["a", "c"]
    assert listed(api, **{"search[exclude-tags]": "x,team"}) == ["a"]
    assert listed(api, **{"search[exclude-tags]": "nothing"}) == ["a", "b", "c"] and listed(api, **{"search[exclude-tags]": "ENV,team"}) == []
    assert listed(api, **{"search[exclude-tags]": "x", "search[name]": "A"}) == ["a"]
    assert listed(api, **{"search[tags]": "team"}) == ["c"]
    assert listed(api, **{"filter[tagged][0][key]": "env", "filter[tagged][0][value]": "prod"}) == ["a"]
    assert listed(api, **{"filter[tagged][0][key]": "env", "filter[tagged][0][value]": ""}) == ["a", "b"]
    # terraform's request has both filters, and a parameter of its client that has no effect.
    assert listed(api, **{"filter[tagged][0][key]": "env", "filter[tagged][0][value]": "dev", "filter[tagged][1][key]": "x",
                          "search[tags]": "env,x", "TagBindings": "{ env dev}"}) == ["b"]
    assert listed(api, **{"filter[tagged][0][key]": "nobody"}) == []
    projects = api.get(f"organizations/{api.organization}/projects", **{"filter[tagged][0][key]": "team", "filter[tagged][0][value]": "infra"}).data
    assert [item["id"] for item in projects] == [parent]
