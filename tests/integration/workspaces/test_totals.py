# SPDX-License-Identifier: MPL-2.0
"""The numbers of workspaces are stored, not counted, and a page is read from the nearer end of the list. Totals and
pages must always be correct."""

import random
import threading

import psycopg
import pytest

from support.api import Api
from support.shared import api, database, scheduler  # noqa: F401

SORTS = [None, "name", "-name", "current-run.created-at", "-current-run.created-at", "latest-change-at", "-latest-change-at"]


def document(kind, attributes, **relations):
    relations = {name: {"data": {"type": f"{name}s", "id": id}} for name, id in relations.items()}
    return {"data": {"type": kind, "attributes": attributes, "relationships": relations}}


def page(api, **query):
    """The ids of a page, and the total."""
    query = {name.replace("number", "page[number]").replace("size", "page[size]"): value for name, value in query.items() if value}
    answer = api.get(f"organizations/{api.organization}/workspaces", **query).json
    pagination = answer["meta"]["pagination"]
    assert pagination["total-pages"] == max(-(-pagination["total-count"] // pagination["page-size"]), 1)
    return [workspace["id"] for workspace in answer["data"]], pagination["total-count"]


def projects(api):
    return {project["id"]: project["attributes"]["workspace-count"] for project in api.get(f"organizations/{api.organization}/projects").data}


def project(api, name):
    return api.post(f"organizations/{api.organization}/projects", document("projects", {"name": name})).data["id"]


def organization(api, name):
    api.post("organizations", document("organizations", {"name": name, "email": "a@example.com"}))
    return Api(api.url, api.token, organization=name)


def check_counts(database):
    """The stored numbers equal the counted ones."""
    with psycopg.connect(database) as connection:
        for table, column in (("organization_totals", "organization_id"), ("project_totals", "project_id")):
            wrong = connection.execute(f"select * from (select {column}, workspaces from {table} where workspaces <> 0) t full join "
                                       f"(select {column}, count(*) as counted from workspaces group by 1) w using ({column}) "
                                       "where workspaces is distinct from counted").fetchall()
            assert wrong == [], table


def test_pages_of_any_size_cover_the_list_in_order(api):
    created = [api.workspace(f"w{(number * 7) % 23:02}") for number in range(23)]
    # Only some workspaces have a run or a state, so the orders differ.
    configuration = api.upload(created[4], {"main.tf": ""})
    api.run(created[4], configuration)
    for sort in SORTS:
        whole, total = page(api, size=100, sort=sort)
        assert sorted(whole) == sorted(created) and total == 23, sort
        for size in (1, 2, 3, 7, 11, 12, 22, 23, 24):
            last = -(-23 // size)
            pages = [page(api, size=size, number=number, sort=sort) for number in range(1, last + 3)]
            assert sum((ids for ids, _ in pages), []) == whole, (sort, size)
            assert {total for _, total in pages} == {23}
            assert [len(ids) for ids, _ in pages[:last - 1]] == [size] * (last - 1) and pages[last][0] == pages[last + 1][0] == []
        assert page(api, size=100, number=999_999_999, sort=sort) == ([], 23)
        assert page(api, size=1, number=999_999_999, sort=sort) == ([], 23)
    assert page(api, size=100)[0] == created and page(api, sort="name")[0] == page(api, sort="-name", size=100)[0][::-1][:20]


def test_an_organization_without_workspaces_has_one_empty_page(api):
    empty = organization(api, "no-workspaces")
    assert page(empty) == ([], 0) and page(empty, number=2) == ([], 0)
    one = empty.workspace()
    assert page(empty) == ([one], 1)
    empty.delete(f"workspaces/{one}")
    assert page(empty) == ([], 0)


def test_totals_follow_moves_and_ignore_refused_changes(api, database):
    org = organization(api, "moves")
    (home, _), = projects(org).items()
    away = project(org, "away")
    created = [org.workspace(f"m{number}") for number in range(6)]
    assert projects(org) == {home: 6, away: 0} and page(org)[1] == 6
    taken = org.call("POST", "organizations/moves/workspaces", document("workspaces", {"name": "M1"}))
    assert taken.status == 422 and page(org)[1] == 6
    org.patch(f"workspaces/{created[0]}", document("workspaces", {}, project=away))
    org.patch(f"workspaces/{created[0]}", document("workspaces", {"name": "renamed"}, project=away))
    assert projects(org) == {home: 5, away: 1}
    some = [{"type": "workspaces", "id": id} for id in created[:4]]
    org.ask("POST", f"projects/{away}/relationships/workspaces", {"data": some})
    assert projects(org) == {home: 2, away: 4} and page(org)[1] == 6
    # One of them is missing: nothing is moved.
    assert org.call("POST", f"projects/{home}/relationships/workspaces", {"data": [*some, {"type": "workspaces", "id": "ws-nobodys"}]}).status >= 400
    assert projects(org) == {home: 2, away: 4}
    org.post(f"workspaces/{created[0]}/actions/safe-delete")
    org.delete(f"workspaces/{created[5]}")
    assert projects(org) == {home: 1, away: 3} and page(org)[1] == 4
    check_counts(database)
    org.delete("organizations/moves")
    check_counts(database)
    with psycopg.connect(database) as connection:
        assert connection.execute("select count(*) from project_totals where project_id in (%s, %s)", [home, away]).fetchone() == (0,)


class ConcurrentClients:
    """Clients that all change the same organization's workspaces."""

    def __init__(self, org, homes):
        self.org, self.homes, self.wrong = org, homes, []

    def act(self, person):
        draw = random.Random(person)
        org, own = Api(self.org.url, self.org.token, organization=self.org.organization), []
        for step in range(25):
            what = draw.choice(["create", "create", "delete", "rename", "move", "move many", "list"])
            if what == "create" or not own:
                own.append(org.post(f"organizations/{org.organization}/workspaces",
                                    document("workspaces", {"name": f"p{person}-{step}"}, project=draw.choice(self.homes))).data["id"])
            elif what == "delete":
                org.delete(f"workspaces/{own.pop(draw.randrange(len(own)))}")
            elif what == "rename":
                org.patch(f"workspaces/{draw.choice(own)}", document("workspaces", {"name": f"p{person}-{step}-anew"}))
            elif what == "move":
                org.patch(f"workspaces/{draw.choice(own)}", document("workspaces", {}, project=draw.choice(self.homes)))
            elif what == "move many":
                org.ask("POST", f"projects/{draw.choice(self.homes)}/relationships/workspaces",
                        {"data": [{"type": "workspaces", "id": id} for id in draw.sample(own, draw.randrange(1, len(own) + 1))]})
            else:
                # A page and its total are read in one snapshot, so a page with all workspaces has that length.
                ids, total = page(org, size=100, number=1, sort=draw.choice(SORTS))
                assert len(ids) == total
                ids, total = page(org, size=10, number=2, sort=draw.choice(SORTS))
                assert len(ids) == max(0, min(total - 10, 10))

    def _act_and_record(self, person):
        try:
            self.act(person)
        except BaseException as error:  # noqa: BLE001
            self.wrong.append(error)

    def run_clients(self, people):
        threads = [threading.Thread(target=self._act_and_record, args=[person]) for person in range(people)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for error in self.wrong:
            raise error


def test_totals_are_correct_under_concurrent_changes(api, database):
    org = organization(api, "crowded")
    homes = [*projects(org), *(project(org, name) for name in ("one", "two", "three"))]
    ConcurrentClients(org, homes).run_clients(4)
    check_counts(database)
    with psycopg.connect(database) as connection:
        rows, = connection.execute("select count(*) from workspaces w join organizations o on o.id = w.organization_id where o.name = 'crowded'").fetchone()
    assert rows > 0 and page(org, size=100)[1] == rows == sum(projects(org).values())


@pytest.mark.parametrize("query", [{"search[name]": "alpha"}, {"search[wildcard-name]": "al*"}, {"search[tags]": "blue"}])
def test_filtered_lists_have_their_own_total(api, query):
    names = {"alpha-1": "blue", "alpha-2": "blue", "beta": None}
    for name, tag in names.items():
        workspace = api.workspace(name)
        if tag:
            api.ask("POST", f"workspaces/{workspace}/relationships/tags", {"data": [{"type": "tags", "attributes": {"name": tag}}]})
    ids, total = page(api, size=1, number=2, sort="name", **query)
    assert len(ids) == 1 and total == 2
    assert page(api, size=1, number=3, **query) == ([], 2)


class TaggedWorkspaces:
    """Workspaces in two projects, some with tags of their own or of their project, and a team with access to some of
    them."""

    def __init__(self, api):
        self.org = organization(api, "shelf")
        self.home, = projects(self.org)
        self.lab = project(self.org, "lab")
        self.org.patch(f"projects/{self.lab}/tag-bindings", {"data": [{"type": "tag-bindings", "attributes": {"key": "blue", "value": ""}}]})
        self.all = {}
        for number in range(18):
            name, project_id = f"{'alpha' if number % 2 else 'beta'}-{number:02}", self.lab if number % 3 == 0 else self.home
            id = self.org.post("organizations/shelf/workspaces", document("workspaces", {"name": name}, project=project_id)).data["id"]
            own = {tag for tag, every in (("blue", 5), ("red", 4)) if number % every == 0}
            if own:
                self.org.ask("POST", f"workspaces/{id}/relationships/tags", {"data": [{"type": "tags", "attributes": {"name": tag}} for tag in own]})
            self.all[id] = {"name": name, "project": project_id, "tags": own | ({"blue"} if project_id == self.lab else set())}
        self.seen = set(self.all)

    def of_team(self, whole_project):
        """The view of a team that may read every fourth workspace, and a project if whole_project is set."""
        org, name = self.org, f"readers-{whole_project}"
        team = org.post("organizations/shelf/teams", {"data": {"type": "teams", "attributes": {"name": name}}}).data["id"]
        tokens = {"data": {"type": "authentication-tokens", "attributes": {"description": name}}}
        token = org.post(f"teams/{team}/authentication-tokens", tokens).data["attributes"]["token"]
        some = list(self.all)[::4]
        for id in some:
            org.post("team-workspaces", document("team-workspaces", {"access": "read"}, team=team, workspace=id))
        if whole_project:
            org.post("team-projects", document("team-projects", {"access": "read"}, team=team, project=self.lab))
        view = object.__new__(TaggedWorkspaces)
        view.org, view.home, view.lab, view.all = Api(org.url, token, organization="shelf"), self.home, self.lab, self.all
        view.seen = set(some) | {id for id, one in self.all.items() if whole_project and one["project"] == self.lab}
        return view

    def matching(self, name, tags, without, project_id):
        return {id for id in self.seen for one in [self.all[id]] if (name or "") in one["name"] and set(tags.split(",") if tags else []) <= one["tags"]
                and without not in one["tags"] and project_id in (None, one["project"])}

    def check(self, name, tags, without, project_id):
        query = {"search[name]": name, "search[tags]": tags, "search[exclude-tags]": without, "filter[project][id]": project_id}
        expected = self.matching(name, tags, without, project_id)
        whole, total = page(self.org, size=100, sort="name", **query)
        assert set(whole) == expected and total == len(expected) == len(whole), query
        assert whole == sorted(whole, key=lambda id: self.all[id]["name"])
        parts = [page(self.org, size=4, number=number, sort="name", **query) for number in range(1, len(expected) // 4 + 3)]
        assert sum((ids for ids, _ in parts), []) == whole and {count for _, count in parts} == {total}, query


def test_filters_are_exact_for_every_caller(api):
    tagged = TaggedWorkspaces(api)
    for view in (tagged, tagged.of_team(False), tagged.of_team(True)):
        for name in (None, "alpha"):
            for tags in (None, "blue", "blue,red", "nobody's"):
                for without in (None, "red"):
                    for project_id in (None, tagged.lab, "prj-nobodys"):
                        view.check(name, tags, without, project_id)
