# SPDX-License-Identifier: MPL-2.0
"""Every endpoint of the route table, asked by who has no right there: nothing is shown and nothing is changed."""

import itertools
import json
import re
import urllib.parse

import psycopg
import pytest

from support.api import Api
from support.people import People
from support.routes import rows
from support.shared import api, database, folder, scheduler, stack  # noqa: F401
from support.worker import parcel

OPEN = {"site_ping", "invitations_index", "account_details", "account_update", "account_password", "organizations_index", "organizations_create"}


@pytest.fixture
def things(api, database):
    """What is there, by the route table's names for it."""
    workspace = api.workspace("secret")
    variable = api.variable(workspace, "key", "secret-value")
    configuration = api.upload(workspace, {"main.tf": "# secret"})
    run = api.run(workspace, configuration)
    comment = api.post(f"runs/{run}/comments", {"data": {"type": "comments", "attributes": {"body": "secret"}}}).data["id"]
    state, output = f"sv-{api.organization}", f"wsout-{api.organization}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("insert into state_versions (id, workspace_id, serial, lineage, md5, size) values (%s, %s, 1, 'l', 'm', 0)", [state, workspace])
        connection.execute("insert into state_version_outputs values (%s, %s, 'o', false, 'string', '\"string\"', '')", [output, state])
        event = connection.execute("select id from run_events where run_id = %s limit 1", [run]).fetchone()[0]
        job = connection.execute("select id from jobs where run_id = %s", [run]).fetchone()[0]
    user = api.get("account/details").data["id"]
    with psycopg.connect(database) as connection:
        token = connection.execute("select id from tokens where user_id = %s limit 1", [user]).fetchone()[0]
    later = things_of_later_stages(api, database, workspace, run)
    return {**later, "organization": api.organization, "workspace": workspace, "name": "secret", "variable": variable, "configuration": configuration,
            "run": run, "plan": run.replace("run-", "plan-"), "apply": run.replace("run-", "apply-"), "comment": comment, "event": event, "state": state,
            "output": output, "user": user, "token": token, "job": job, "operation": run.replace("run-", "plan-")}


def things_of_later_stages(api, database, workspace, run):
    """Tasks, policies, estimates: rows as they are, since only their being there counts here."""
    ids = {name: f"{prefix}-{api.organization}" for name, prefix in (
        ("task", "task"), ("stage", "ts"), ("result", "taskrs"), ("policy", "pol"), ("set", "polset"), ("parameter", "var"),
        ("version", "polsetver"), ("evaluation", "poleval"), ("check", "polchk"), ("policy_outcome", "psout"),
        ("outcome", "taskrsout"), ("estimate", "ce"), ("workspace_task", "wstask"), ("export", "pe"), ("varset", "varset"), ("trigger", "rt"),
        ("pool", "apool"), ("agent", "agent"), ("team", "team"), ("membership", "ou"), ("access", "tws"), ("service", "user"), ("notification", "nc"),
        ("tag", "tag"), ("key", "sshkey"))}
    with psycopg.connect(database, autocommit=True) as connection:
        organization, project = connection.execute("select organization_id, project_id from workspaces where id = %s", [workspace]).fetchone()
        more = {"organization_id": organization, "workspace": workspace, "run": run, "other": api.workspace("other"), "project": project}
        for statement in (
            "insert into tasks (id, organization_id, name, url) values (%(task)s, %(organization_id)s, 'secret', 'http://secret')",
            "insert into workspace_tasks values (%(workspace_task)s, %(task)s, %(workspace)s, '{post_plan}', 'advisory')",
            "insert into task_stages (id, run_id, stage) values (%(stage)s, %(run)s, 'post_plan')",
            "insert into task_results (id, task_stage_id, run_id, stage, task_id, task_name, task_url, enforcement) "
            "values (%(result)s, %(stage)s, %(run)s, 'post_plan', %(task)s, 'secret', 'http://secret', 'advisory')",
            "insert into task_result_outcomes values (%(outcome)s, %(result)s, 1, 'secret', 'secret')",
            "insert into policies (id, organization_id, name, kind, enforcement) values (%(policy)s, %(organization_id)s, 'secret', 'opa', 'advisory')",
            "insert into policy_sets (id, organization_id, name, kind) values (%(set)s, %(organization_id)s, 'secret', 'opa')",
            "insert into policy_set_parameters values (%(parameter)s, %(set)s, 'secret', '')",
            "insert into policy_set_versions (id, policy_set_id) values (%(version)s, %(set)s)",
            "insert into policy_evaluations (id, run_id, kind, bundle) values (%(evaluation)s, %(run)s, 'opa', '[]')",
            "insert into policy_evaluations (id, run_id, kind, bundle) values (%(check)s, %(run)s, 'sentinel', '[]')",
            "insert into policy_set_outcomes (id, policy_evaluation_id, policy_set_id, name, overridable) "
            "values (%(policy_outcome)s, %(evaluation)s, %(set)s, 'secret', true)",
            "insert into agent_pools (id, organization_id, name) values (%(pool)s, %(organization_id)s, 'secret')",
            "insert into workers (id, pool_id, name, slots, free) values (%(agent)s, %(pool)s, 'secret', 1, 1)",
            "insert into cost_estimates (id, run_id) values (%(estimate)s, %(run)s)",
            "insert into plan_exports (id, run_id, data_type, expires_at) values (%(export)s, %(run)s, 'sentinel-mock-bundle-v0', now() + interval '1 hour')",
            "insert into varsets (id, organization_id, name) values (%(varset)s, %(organization_id)s, 'secret')",
            "insert into users (id, username, email) values (%(service)s, %(service)s, 'secret@example.com')",
            "insert into organization_memberships (id, organization_id, user_id) values (%(membership)s, %(organization_id)s, %(service)s)",
            "insert into teams (id, organization_id, user_id, name, rights) values (%(team)s, %(organization_id)s, %(service)s, 'secret', 0)",
            "insert into team_workspaces (id, team_id, workspace_id, access, detail, rights) "
            "values (%(access)s, %(team)s, %(workspace)s, 'secret', '{}', 0)",
            "insert into team_projects (id, team_id, project_id, access, project_detail, workspace_detail, rights) "
            "values (%(access)s, %(team)s, %(project)s, 'secret', '{}', '{}', 0)",
            "insert into run_triggers (id, workspace_id, source_id) values (%(trigger)s, %(workspace)s, %(other)s)",
            "insert into notification_configurations (id, organization_id, workspace_id, name, enabled, destination_type, url) "
            "values (%(notification)s, %(organization_id)s, %(workspace)s, 'secret', false, 'generic', 'http://secret')",
            "insert into tags (id, organization_id, name) values (%(tag)s, %(organization_id)s, 'secret')",
            "insert into tag_bindings (id, tag_id, workspace_id) values ('tb-' || %(tag)s, %(tag)s, %(workspace)s)",
            "insert into ssh_keys (id, organization_id, name, value_sealed) values (%(key)s, %(organization_id)s, 'secret', '')",
            "insert into data_retention_policies (id, organization_id) values ('drp-' || %(tag)s, %(organization_id)s)",
        ):
            connection.execute(statement, {**ids, **more})
    return {**ids, "project": project, "relation": "workspaces", "attached": ids["workspace_task"]}


def filled(path, things):
    if path.startswith("/policy-set-outcomes/"):
        path = path.replace(":outcome", things["policy_outcome"])
    return re.sub(r":(\w+)", lambda name: things[name[1]], path)


def everything(database):
    tables = ("organizations", "workspaces", "variables", "configuration_versions", "runs", "run_inputs", "comments", "state_versions", "jobs", "tasks",
              "workspace_tasks", "task_results", "projects", "policies", "policy_sets", "policy_set_parameters", "policy_set_versions", "policy_evaluations", "varsets", "run_triggers",
              "agent_pools", "workers", "teams", "team_members", "organization_memberships", "team_workspaces", "team_projects",
              "notification_configurations",
              "tags", "tag_bindings", "ssh_keys", "data_retention_policies", "remote_state_consumers")
    with psycopg.connect(database) as connection:
        return [connection.execute(f"select * from {table} order by 1").fetchall() for table in tables]


def outsider(api, database):
    """A client of a person who belongs to no organization."""
    return Api(api.url, People(api, database).user(f"stranger-{next(People.ids)}"))


def test_a_stranger_sees_and_changes_nothing(api, database, things):
    stranger, before = outsider(api, database), everything(database)
    assert stranger.get("organizations").data == []
    for method, path, handler, _ in rows("API"):
        if handler in OPEN:
            continue
        query = "?" + urllib.parse.urlencode({
            "filter[organization][name]": api.organization, "filter[workspace][name]": "secret",
            "filter[workspace][id]": things["workspace"], "filter[project][id]": things["project"]})
        bodies = [None]
        if method in ("POST", "PATCH"):
            relations = {kind: {"data": {"type": kind + "s", "id": things[kind]}} for kind in ("workspace", "project", "team", "plan")}
            attributes = {"key": "k", "category": "env", "name": "n", "body": "b", "serial": 1, "md5": "0" * 32, "email": "a@b"}
            bodies.append({"data": {"attributes": attributes, "relationships": relations}})
        for body in bodies:
            answer = stranger.call(method, filled(path, things)[1:] + query, body)
            expected = {404} if body or method == "GET" else {404, 400, 422}
            assert answer.status in expected, f"{method} {path} {body}: {answer.status} {answer.text[:300]}"
            assert "secret" not in answer.text
    assert everything(database) == before


# Headers whose values differ between any two answers.
VARYING = {"date", "x-request-id", "x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"}


def absent(name, value):
    """A name or an id of the same shape and length that nothing has."""
    prefix, dash, rest = value.rpartition("-") if name not in ("organization", "name") else ("", "", value)
    return prefix + dash + "z" * len(rest)


def shape(answer, things, replaced):
    """The answer without what differs between any two: the values in the path that an error may repeat, dates and numbers of requests."""
    text = answer.text
    for name in things:
        text = text.replace(things[name], "<" + name + ">").replace(replaced[name], "<" + name + ">")
    headers = sorted((name.lower(), value) for name, value in answer.headers.items() if name.lower() not in VARYING)
    return answer.status, headers, text


def test_what_may_not_be_seen_and_what_is_not_there_are_answered_alike(api, database, things):
    """Each path with its own things, and with each set of them replaced by ones that do not exist."""
    stranger = outsider(api, database)
    gone = {name: absent(name, value) if name not in ("relation",) else value for name, value in things.items()}
    differing = []
    for method, path, handler, _ in rows("API"):
        names = [name for name in re.findall(r":(\w+)", path) if name != "relation"]
        if handler in OPEN or not names:
            continue
        bodies = [None]
        if method in ("POST", "PATCH", "DELETE"):
            bodies += [{"data": {"type": path.rsplit("/", 1)[1], "attributes": {"name": "n", "email": "a@b.test"}, "relationships": {}}}, {"data": []}, b"nonsense"]
        for body in bodies:
            for query in ("", "?include=nothing", "?page[number]=x"):
                seen = stranger.call(method, filled(path, things)[1:] + query, body)
                for missing in [{name} for name in names] + [set(names)]:
                    other = {**things, **{name: gone[name] for name in missing}}
                    if "outcome" in missing:
                        other["policy_outcome"] = gone["policy_outcome"]
                    unseen = stranger.call(method, filled(path, other)[1:] + query, body)
                    if shape(seen, things, gone) != shape(unseen, things, gone):
                        differing.append(f"{method} {path}{query} without {sorted(missing)}, {body}: {shape(seen, things, gone)} {shape(unseen, things, gone)}")
    assert not differing, "\n".join(differing)


def test_a_place_in_a_filter_or_a_body_is_answered_alike(api, database, things):
    stranger = outsider(api, database)
    for path, names in (("team-workspaces?filter[workspace][id]={}", ["workspace"]), ("team-projects?filter[project][id]={}", ["project"]),
                        ("vars?filter[organization][name]={}&filter[workspace][name]={}", ["organization", "name"]),
                        ("state-versions?filter[organization][name]={}&filter[workspace][name]={}", ["organization", "name"])):
        values = [[things[name], absent(name, things[name])] for name in names]
        answers = {(answer.status, answer.text) for answer in (stranger.call("GET", path.format(*chosen)) for chosen in itertools.product(*values))}
        assert len(answers) == 1, answers
    for path, kind in (("team-workspaces", "workspace"), ("team-projects", "project"), ("runs", "workspace")):
        answers = set()
        for place, team in itertools.product(*[[things[name], absent(name, things[name])] for name in (kind, "team")]):
            relations = {kind: {"data": {"type": kind + "s", "id": place}}, "team": {"data": {"type": "teams", "id": team}}}
            answer = stranger.call("POST", path, {"data": {"type": path, "attributes": {"access": "read"}, "relationships": relations}})
            answers.add((answer.status, answer.text))
        assert len(answers) == 1, answers


def test_without_a_token_nothing_is_there(api, database, things):
    nobody, before = Api(api.url, None), everything(database)
    for method, path, handler, permission in rows("API"):
        if permission != "CAN_WITHOUT_TOKEN":
            assert nobody.call(method, filled(path, things)[1:]).status == 401, path
    result = json.dumps({"v": 1, "job": things["job"], "attempt": 1, "run": things["run"], "outcome": "passed"}).encode()
    for method, path, handler, permission in rows("WORKER"):
        for client in (nobody, Api(api.url, "nonsense"), api):
            body = parcel(("plan", result)) if handler == "jobs_parcel" else result
            answer = client.call(method, f"{api.url}/api/worker/v1{filled(path, things)}?offset=0", body)
            if handler == "jobs_parcel":
                assert [part["status"] for part in answer.json["parts"]] == [404]
                continue
            # A result may be sent twice: of an attempt that is over, it is taken and changes nothing.
            expected = (401, 404, 204) if handler == "jobs_result" else (401, 404)
            assert answer.status in expected, f"{method} {path}: {answer.status} {answer.text[:300]}"
    for method, path, handler, _ in rows("NOTIFIER"):
        for client in (nobody, Api(api.url, "nonsense"), api):
            assert client.call(method, f"{api.url}/api/notifier/v1{path}", b"{}").status == 401, path
    for method, path, handler, permission in rows("SIGNED"):
        assert nobody.call(method, f"{api.url}/signed/99999999999-{'0' * 64}{filled(path, things)}", b"").status == 404, path
    assert everything(database) == before
