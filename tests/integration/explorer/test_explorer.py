# SPDX-License-Identifier: MPL-2.0
"""The explorer: each type, field, operator and order against a reference that this test computes from the states themselves."""

import csv
import hashlib
import io
import itertools
import json
import re
import uuid
from datetime import datetime, timedelta, timezone

import pytest

from support.api import Api
from support.documents import document, refused, refused_at, send
from support.people import People
from support.servers import ROOT
from support.wait import until

TF = "registry.terraform.io/hashicorp/"
DEFINITION = (ROOT / "scheduler/store/explorer/explorer_fields.def").read_text()
EMPTY = ("is_empty", "is_not_empty")
OPERATORS = {
    "TEXT": ("is", "is_not", "contains", "does_not_contain", "does not contain", *EMPTY),
    "VERSION": ("is", "is_not", "contains", "does_not_contain", "gt", "lt", "gteq", "lteq", *EMPTY),
    "NUMBER": ("is", "is_not", "gt", "lt", "gteq", "lteq", *EMPTY),
    "DECIMAL": ("is", "is_not", "gt", "lt", "gteq", "lteq", *EMPTY),
    "FLAG": ("is", *EMPTY),
    "TIME": ("is_before", "is_after", *EMPTY),
}


def defined():
    """{view: {field: kind}} of explorer_fields.def."""
    views = {}
    for kind, name, rest in re.findall(r"^EXPLORER_(VIEW|FIELD|COLUMN|PLACE)\((\w+), (.*)\)$", DEFINITION, re.M):
        if kind == "VIEW":
            views[name] = fields = {}
        else:
            fields[name] = rest.split(", ")[1]
    return views


FIELDS = defined()


def instance(key=None):
    return {"schema_version": 0, "attributes": {"id": "secret-value"}, **({"index_key": key} if key is not None else {})}


def resource(type, name, *keys, module=None, provider="aws", mode="managed"):
    return {"mode": mode, "type": type, "name": name, "provider": f'provider["{TF}{provider}"]', "instances": [instance(key) for key in keys or [None]],
            **({"module": module} if module else {})}


def output(value, type, sensitive=False):
    return {"value": value, "type": type, **({"sensitive": True} if sensitive else {})}


STATES = {
    "network-eu": {"version": "1.9.5", "resources": [
        resource("aws_vpc", "main"), resource("aws_subnet", "this", 0, 1, 2, module="module.subnets"), resource("null_resource", "wait", provider="null"),
        resource("aws_ami", "newest", mode="data")],
        "outputs": {"vpc_id": output("vpc-1", "string"), "password": output("hunter2-output", "string", True)}},
    "network-us": {"version": "1.10.0", "resources": [
        resource("aws_vpc", "main"), resource("aws_subnet", "this", "a", 'b"c', module='module.subnets["x.y"]'), resource("terraform_data", "note")],
        "outputs": {"vpc_id": output("vpc-2", "string"), "zones": output(["a"], ["list", "string"])}},
    "app-100%_done": {"version": "1.11.4", "resources": [resource("random_pet", "name", provider="random"), resource("aws_instance", "web", *range(4))], "outputs": {}},
    "empty": {"version": "1.9.5", "resources": [], "outputs": {}},
}
PACKAGES = {
    "network-eu": {"modules": [("registry.terraform.io/terraform-aws-modules/vpc/aws", "5.1.0"), ("./modules/subnets", None)], "providers": [(f"{TF}aws", "5.31.0")]},
    "network-us": {"modules": [("registry.terraform.io/terraform-aws-modules/vpc/aws", "5.10.0"), ("git::https://user:git-secret@example.com/net.git?ref=v1.2.0&sshkey=git-secret", None)],
                   "providers": [(f"{TF}aws", "5.31.0")]},
    "app-100%_done": {"modules": [("modules.example.com/acme/web/aws", "1.0.0-rc.1")], "providers": [(f"{TF}aws", "4.9.0"), ("providers.example.com/acme/own", "0.1.0")]},
}


def push(org, workspace, state, serial=1):
    content = json.dumps({"version": 4, "terraform_version": state["version"], "serial": serial, "lineage": workspace,
                          "outputs": state["outputs"], "resources": state["resources"]}).encode()
    org.post(f"workspaces/{workspace}/actions/lock", {})
    attributes = {"serial": serial, "lineage": workspace, "md5": hashlib.md5(content).hexdigest()}
    created = org.post(f"workspaces/{workspace}/state-versions", {"data": {"type": "state-versions", "attributes": attributes}}).data
    Api(org.url, None).call("PUT", created["attributes"]["hosted-state-upload-url"], content, headers={"Content-Type": "application/octet-stream"})
    org.post(f"workspaces/{workspace}/actions/unlock", {})
    return len(content)


def settled(api_site):
    """Waits until the rows of all workspaces are up to date."""
    until(lambda: not api_site.ask("select 1 from explorer_due limit 1"), "the rows of all workspaces")


def planned(api_site, org, workspace, packages):
    """A run without changes, whose worker reports these packages."""
    worker = api_site.fake_worker()
    run = org.run_files(workspace, {"main.tf": ""})
    job = worker.take(run, "plan")
    assert job["packages"]
    document = {kind: [{"source": source, "version": version} for source, version in listed] for kind, listed in packages.items()}
    worker.on(job, "PUT", "packages", document)
    worker.on(job, "PUT", "plan", b"plan")
    worker.end(job)
    org.wait_status(run, "planned_and_finished")
    return run


class Fleet:
    """An organization with these states and packages."""

    def __init__(self, api_site):
        self.api_site, self.org = api_site, api_site.organization()
        self.base = f"organizations/{self.org.organization}"
        self.ids, self.sizes, self.runs = {}, {}, {}
        project = send(self.org, "POST", f"{self.base}/projects", "projects", name="Platform").data["id"]
        for name, state in STATES.items():
            attributes = {"name": f"w-{len(self.ids)}", "terraform-version": "1.11.4" if name == "empty" else "1.10.0"}
            relations = {"project": {"data": {"type": "projects", "id": project}}} if name.startswith("network") else {}
            made = self.org.post(f"{self.base}/workspaces", document("workspaces", attributes, **relations)).data["id"]
            # Names may only have plain characters: the database has this one.
            api_site.change("update workspaces set name = %s where id = %s", name, made)
            self.ids[name] = made
            if name in PACKAGES:
                self.runs[name] = planned(api_site, self.org, made, PACKAGES[name])
            self.sizes[name] = push(self.org, made, state)
        bindings = {"data": [{"type": "tag-bindings", "attributes": {"key": key, "value": value}} for key, value in (("billing", "tier1"), ("front", ""))]}
        self.org.patch(f"workspaces/{self.ids['network-eu']}/tag-bindings", bindings)
        self.org.patch(f"projects/{project}/tag-bindings", {"data": [{"type": "tag-bindings", "attributes": {"key": "team", "value": "net"}}]})
        settled(api_site)

    def ask(self, type, *filters, client=None, **query):
        """The rows' attributes by their names in snake case, of all pages."""
        query.update({f"filter[{number}][{field}][{operator}][0]": value for number, (field, operator, value) in enumerate(filters)})
        rows, number = [], 1
        while number:
            page = (client or self.org).get(f"{self.base}/explorer", type=type, **query, **{"page[number]": str(number)}).json
            rows += [{name.replace("-", "_"): value for name, value in item["attributes"].items()} for item in page["data"]]
            number = page["meta"]["pagination"]["next-page"]
        return rows


@pytest.fixture(scope="module")
def fleet(api_site):
    return Fleet(api_site)


# ---- the reference ----

def instances(name):
    for item in STATES[name]["resources"]:
        for one in item["instances"]:
            if item["mode"] == "managed":
                index = f"[{json.dumps(one['index_key'])}]" if "index_key" in one else ""
                yield item, f"{item.get('module', '')}{'.' if item.get('module') else ''}{item['type']}.{item['name']}{index}"


def shown_source(source):
    return re.sub(r"\w+:[^@/]*@", "", source.split("?")[0]).removeprefix("registry.terraform.io/")


def packages_of(name, kind):
    """{(source, version)} with providers that only the state has."""
    listed = PACKAGES.get(name, {}).get(kind, [])
    found = set()
    for source, version in listed:
        ref = re.search(r"ref=([^&]*)", source)
        found.add((shown_source(source), version or (ref[1] if ref else None)))
    if kind == "providers":
        named = {source for source, _ in found}
        of_state = {shown_source(item["provider"].split('"')[1]) for item, _ in instances(name)}
        found |= {(source, None) for source in of_state - named}
    return found


def listed(names):
    return ", ".join(sorted(names))


def package_list(name, kind):
    return ", ".join(source + (f"/{version}" if version else "") for source, version in sorted(packages_of(name, kind), key=lambda one: (one[0], one[1] or ""))) or None


REGISTRY = {"terraform-aws-modules/vpc/aws": ("vpc", "public"), "./modules/subnets": ("subnets", None), "git::https://example.com/net.git": ("net", None),
            "modules.example.com/acme/web/aws": ("web", "private"), "hashicorp/aws": ("aws", "public"), "hashicorp/null": ("null", "public"),
            "hashicorp/random": ("random", "public"), "providers.example.com/acme/own": ("own", "private")}


def expected_packages(kind):
    users = {}
    for name in STATES:
        for package in packages_of(name, kind):
            users.setdefault(package, []).append(name)
    return [{"name": REGISTRY[source][0], "source": source, "version": version, "registry_type": REGISTRY[source][1], "curated": False,
             "workspace_count": len(names), "workspaces": listed(names)} for (source, version), names in users.items()]


def expected_resources(fleet):
    for name, state in STATES.items():
        for item, address in instances(name):
            module = item.get("module")
            yield {"name": item["name"], "address": address, "provider_type": item["type"], "provider_name": shown_source(item["provider"].split('"')[1]),
                   "module_name": module.removeprefix("module.") if module else "root", "terraform_version": state["version"],
                   "billable_rum": item["type"] not in ("null_resource", "terraform_data"), "source_type": "local", "source_id": None, "workspace_name": name,
                   "workspace_external_id": fleet.ids[name]}


def expected_workspaces(fleet):
    tags = {"network-eu": "billing:tier1, front, team:net", "network-us": "team:net"}
    for name, state in STATES.items():
        addresses = list(instances(name))
        modules, providers = packages_of(name, "modules"), packages_of(name, "providers")
        yield {"workspace_name": name, "external_id": fleet.ids[name], "state_version_terraform_version": state["version"],
               "workspace_terraform_version": "1.11.4" if name == "empty" else "1.10.0", "resource_count": len(addresses),
               "current_rum_count": sum(item["type"] not in ("null_resource", "terraform_data") for item, _ in addresses),
               "module_count": len({source for source, _ in modules}), "modules": package_list(name, "modules"),
               "provider_count": len({source for source, _ in providers}), "providers": package_list(name, "providers"),
               "project_name": "Platform" if name.startswith("network") else "Default Project", "organization_name": fleet.org.organization, "tags": tags.get(name),
               "vcs_repo_identifier": None, "source_module_id": None, "current_run_external_id": fleet.runs.get(name),
               "current_run_status": "planned_and_finished" if name in fleet.runs else None, "current_run_applied_at": None, "state_size": fleet.sizes[name],
               "days_without_run": 0, "monthly_cost": None, "execution_mode": "remote", "locked": False, "drifted": None, "all_checks_succeeded": None,
               "checks_errored": None, "checks_failed": None, "checks_passed": None, "checks_unknown": None, "resources_drifted": None, "resources_undrifted": None}


def expected(fleet, type):
    if type == "workspaces":
        return list(expected_workspaces(fleet))
    if type == "resources":
        return list(expected_resources(fleet))
    if type in ("modules", "providers"):
        return expected_packages(type)
    if type == "tf_versions":
        users = {"1.10.0": [name for name in STATES if name != "empty"], "1.11.4": ["empty"]}
        return [{"unique_identifier": version, "version": version, "workspace_count": len(names), "workspaces": listed(names)} for version, names in users.items()]
    if type == "outputs":
        words = {"string": "string", "list": "array"}
        return [{"name": key, "type": words[one["type"] if isinstance(one["type"], str) else one["type"][0]], "sensitive": one.get("sensitive", False),
                 "workspace_name": name, "workspace_external_id": fleet.ids[name], "project_name": "Platform"}
                for name, state in STATES.items() for key, one in state["outputs"].items()]
    if type == "tags":
        users = {("billing", "tier1"): ["network-eu"], ("front", None): ["network-eu"], ("team", "net"): ["network-eu", "network-us"]}
        return [{"key": key, "value": value, "workspace_count": len(names), "workspaces": listed(names)} for (key, value), names in users.items()]
    groups = {"Platform": ["network-eu", "network-us"], "Default Project": ["app-100%_done", "empty"]}
    return [{"name": project, "workspace_count": len(names), "resource_count": sum(len(list(instances(name))) for name in names),
             "state_size": sum(fleet.sizes[name] for name in names), "monthly_cost": None} for project, names in groups.items()]


def version_key(text):
    match = re.fullmatch(r"v?(\d+(?:\.\d+){0,2})(?:-([0-9A-Za-z.-]+))?(?:\+.*)?", text or "")
    if not match:
        return None
    numbers = [int(part) for part in f"{match[1]}.0.0".split(".")[:3]]
    marks = [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in match[2].split(".")] if match[2] else []
    return numbers, not match[2], marks


def moment(text):
    at = datetime.fromisoformat(text.replace("Z", "+00:00"))
    return at if at.tzinfo else at.replace(tzinfo=timezone.utc)


def texts(value):
    return None if value is None else json.dumps(value) if isinstance(value, bool) else str(value)


def passes(kind, operator, value, operand):
    """What the documentation says about an operator."""
    empty = value is None or value == ""
    if operator in EMPTY:
        return empty == (operator == "is_empty")
    if kind == "TIME":
        return value is not None and (moment(value) < moment(operand) if operator == "is_before" else moment(value) > moment(operand))
    if operator in ("gt", "lt", "gteq", "lteq"):
        one, other = (version_key(value), version_key(operand)) if kind == "VERSION" else (value, float(operand))
        return one is not None and other is not None and {"gt": one > other, "lt": one < other, "gteq": one >= other, "lteq": one <= other}[operator]
    if kind in ("NUMBER", "DECIMAL"):
        return (value is not None and value == float(operand)) == (operator == "is")
    if operator in ("is", "is_not"):
        return (texts(value) == operand) == (operator == "is")
    return (value is not None and operand in value) == (operator == "contains")


def operands(kind, values):
    """Values to filter by: those that rows have, parts of them, and others."""
    there = sorted({texts(value) for value in values if value is not None})
    if kind == "FLAG":
        return ["true", "false"]
    if kind in ("NUMBER", "DECIMAL"):
        return [*there[:3], "0", "2", "-1", "1.5"]
    if kind == "TIME":
        now = datetime.now(timezone.utc)
        return [*there[:1], *((now + timedelta(days=days)).strftime("%Y-%m-%dT%H:%M:%SZ") for days in (-1, 1)), "2020-02-29", "2020-01-01T00:00:00", "2999-01-01T10:00:00+02:00"]
    if kind == "VERSION":
        return [*there[:3], "1.10.0", "1.9", "5.9.0", "1.0.0-rc.2", "v1.2.0"]
    return [*there[:4], *(text[1:4] for text in there[:2]), "%", "_", "no such text", "'; drop table workspaces; --"]


def identity(row, fields):
    return json.dumps({field: row[field] for field in fields}, sort_keys=True)


@pytest.mark.parametrize("type", FIELDS)
def test_each_filter_gives_what_the_reference_gives(fleet, type):
    rows = fleet.ask(type)
    reference = expected(fleet, type)
    known = sorted(reference[0])
    assert sorted(identity(row, known) for row in rows) == sorted(identity(row, known) for row in reference)
    assert all(set(row) == set(FIELDS[type]) for row in rows)
    for field, kind in FIELDS[type].items():
        for operator in OPERATORS[kind]:
            for operand in operands(kind, [row[field] for row in rows]) if operator not in EMPTY else [""]:
                if operator in ("gt", "lt", "gteq", "lteq") and kind == "VERSION" and not re.match(r"v?\d", operand):
                    continue
                wanted = [identity(row, known) for row in rows if passes(kind, operator, row[field], operand)]
                got = [identity(row, known) for row in fleet.ask(type, (field, operator, operand))]
                assert sorted(got) == sorted(wanted), f"{type}: {field} {operator} {operand!r}"


@pytest.mark.parametrize("type", FIELDS)
def test_each_field_sorts_both_ways(fleet, type):
    for field, kind in FIELDS[type].items():
        up = [row[field] for row in fleet.ask(type, sort=field)]
        down = [row[field] for row in fleet.ask(type, sort=f"-{field}")]
        order = version_key if kind == "VERSION" else moment if kind == "TIME" else lambda value: value
        values = [value for value in up if value is not None and (kind != "VERSION" or version_key(value))]
        assert [order(value) for value in values] == sorted(order(value) for value in values), f"{type} by {field}"
        assert list(reversed([value for value in down if value in values])) == values, f"{type} by {field}"


def test_filters_are_joined_and_pages_are_counted(fleet):
    filters = [("provider_type", "is", "aws_subnet"), ("workspace_name", "contains", "network"), ("address", "does_not_contain", "[0]")]
    wanted = sorted(row["address"] for row in expected_resources(fleet) if row["provider_type"] == "aws_subnet" and "[0]" not in row["address"])
    assert [row["address"] for row in fleet.ask("resources", *filters, **{"page[size]": "2"})] == wanted
    page = fleet.org.get(f"{fleet.base}/explorer", type="resources", **{"page[size]": "3", "page[number]": "2"}).json
    assert page["meta"]["pagination"] == {"current-page": 2, "page-size": 3, "prev-page": 1, "next-page": 3, "total-pages": 5, "total-count": 14}
    beyond = fleet.org.get(f"{fleet.base}/explorer", type="modules", **{"page[number]": "9"}).json
    assert beyond["data"] == [] and beyond["meta"]["pagination"]["total-count"] == 5


def test_fields_limit_what_is_shown(fleet):
    assert fleet.ask("workspaces", sort="workspace_name", fields="workspace_name,resource_count")[0] == {"workspace_name": "app-100%_done", "resource_count": 5}
    assert set(fleet.ask("modules", **{"fields[modules]": "name"})[0]) == {"name"}


def test_users_of_a_module_below_a_version(fleet):
    rows = fleet.ask("modules", ("source", "is", "terraform-aws-modules/vpc/aws"), ("version", "lt", "5.9.0"))
    assert [(row["version"], row["workspaces"]) for row in rows] == [("5.1.0", "network-eu")]


@pytest.mark.parametrize("query, words", [
    ({}, "type must be one of"), ({"type": "secrets"}, "type must be one of"), ({"type": "modules", "sort": "address"}, "is no field"),
    ({"type": "modules", "fields": "name,address"}, "is no field"), ({"type": "modules", "filter[0][name][gt][0]": "1"}, "is no operator"),
    ({"type": "modules", "filter[0][nothing][is][0]": "1"}, "is no field"), ({"type": "modules", "filter[name]": "1"}, "a filter has the form"),
    ({"type": "modules", "filter[0][name][is][1]": "1"}, "a filter has the form"), ({"type": "modules", "filter[0][workspace_count][gt][0]": "many"}, "must be a number"),
    ({"type": "modules", "filter[0][workspace_count][gt][0]": "1e5"}, "must be a number"), ({"type": "modules", "filter[0][version][lt][0]": "latest"}, "must be a version"),
    ({"type": "modules", "filter[0][curated][is][0]": "yes"}, "must be true or false"), ({"type": "workspaces", "filter[0][workspace_created_at][is_after][0]": "2023-02-29"}, "must be a time"),
    ({"type": "workspaces", "filter[0][workspace_created_at][is_after][0]": "yesterday"}, "must be a time"),
    ({"type": "workspaces", "filter[0][workspace_created_at][is_after][0]": "2023-01-01T10:00:00+99:99"}, "must be a time"),
    ({"type": "modules", "filter[0][name][is][0]": "x" * 1001}, "at most 1000 bytes"),
    ({"type": "modules", **{f"filter[{number}][name][contains][0]": "a" for number in range(33)}}, "at most 32 filters"),
])
def test_a_wrong_query_is_refused_with_the_reason(fleet, query, words):
    answer = refused(400, fleet.org.get, f"{fleet.base}/explorer", **query)
    assert words in answer.text
    assert words in refused(400, fleet.org.get, f"{fleet.base}/explorer/export/csv", **query).text


# ---- changes ----

def test_rows_follow_states_and_runs(api_site):
    org = api_site.organization()
    base = f"organizations/{org.organization}"
    workspace = org.workspace("one")

    def addresses():
        settled(api_site)
        return [item["attributes"]["address"] for item in org.get(f"{base}/explorer", type="resources").data]

    push(org, workspace, STATES["network-eu"])
    before = addresses()
    kept = api_site.ask("select ctid::text, xmin::text from explorer_resources where workspace_id = %s and address = 'aws_vpc.main'", workspace)
    changed = {**STATES["network-eu"], "resources": [resource("aws_vpc", "main"), resource("aws_subnet", "new")]}
    push(org, workspace, changed, 2)
    assert addresses() == ["aws_subnet.new", "aws_vpc.main"] and len(before) == 5
    assert api_site.ask("select ctid::text, xmin::text from explorer_resources where workspace_id = %s and address = 'aws_vpc.main'", workspace) == kept  # not written again
    planned(api_site, org, workspace, PACKAGES["network-eu"])
    settled(api_site)
    assert {item["attributes"]["version"] for item in org.get(f"{base}/explorer", type="modules").data} == {"5.1.0", None}
    planned(api_site, org, workspace, {"modules": [("registry.terraform.io/terraform-aws-modules/vpc/aws", "5.2.0")], "providers": []})
    settled(api_site)
    assert [item["attributes"]["version"] for item in org.get(f"{base}/explorer", type="modules").data] == ["5.2.0"]
    org.delete(f"workspaces/{workspace}")
    assert org.get(f"{base}/explorer", type="resources").data == [] and org.get(f"{base}/explorer", type="modules").data == []


def test_a_hostile_state_is_shown_in_part_and_delays_nobody(api_site):
    org = api_site.organization()
    base = f"organizations/{org.organization}"
    hostile, other = org.workspace("hostile"), org.workspace("other")
    many = {"version": "1.11.4", "outputs": {}, "resources": [resource("aws_instance", "x", *range(50010)), resource("aws_instance", "x", 1, 1), resource("x" * 5000, "y" * 5000, "z" * 5000)]}
    push(org, hostile, many)
    push(org, other, STATES["network-eu"])
    settled(api_site)
    page = org.get(f"{base}/explorer", type="workspaces", fields="workspace_name,resource_count,current_rum_count").data
    assert [tuple(item["attributes"].values()) for item in page] == [("hostile", 50013, 50000), ("other", 5, 4)]
    assert api_site.ask("select is_cut from explorer_workspaces where workspace_id = %s", hostile) == [(True,)]
    too_many = refused(400, org.get, f"{base}/explorer/export/csv", type="resources")
    assert "use filters" in too_many.text
    uncounted = org.get(f"{base}/explorer", type="resources", **{"filter[0][provider_type][is][0]": "aws_instance"}).json["meta"]["pagination"]
    assert uncounted == {"current-page": 1, "page-size": 20, "prev-page": None, "next-page": 2}  # more than are counted
    few = [{"mode": "managed", "type": "x" * 5000, "name": "y" * 5000, "provider": 'provider["' + "p" * 5000 + '"]', "module": "module." + "m" * 5000, "instances": [instance("\0"), instance("é" * 3000)]},
           {"mode": "managed"}, {"mode": "managed", "type": "a", "name": "b", "instances": [{}, {"deposed": "1"}]}]
    push(org, hostile, {**many, "resources": few}, 2)
    settled(api_site)
    assert [len(item["attributes"]["address"].encode()) <= 1000 for item in org.get(f"{base}/explorer", type="resources", **{"filter[0][workspace_name][is][0]": "hostile"}).data] == [True, True]  # cut addresses are equal


def test_pages_of_more_resources_than_are_sorted(api_site):
    org = api_site.organization()
    base = f"organizations/{org.organization}"
    workspace = org.workspace("large")
    api_site.ask("""insert into explorer_resources select %s, %s, m || '.aws_vpc.r' || n, 'aws_vpc', 'r' || n, m, 'hashicorp/aws', true
                    from unnest(array['module.a', 'module.b', 'module.c']) m, generate_series(1, 10050) n returning 1""", workspace, api_site.ask("select id from organizations where name = %s", org.organization)[0][0])
    for sort in ({}, {"sort": "module_name"}, {"sort": "-module_name"}, {"sort": "address"}, {"sort": "-workspace_name"}):
        rows = [item for number in ("1", "2") for item in org.get(f"{base}/explorer", type="resources", **sort, **{"filter[0][module_name][is][0]": "module.b", "filter[1][name][is_not][0]": "r7", "page[size]": "100", "page[number]": number}).data]
        assert {row["attributes"]["module-name"] for row in rows} == {"module.b"} and len({row["id"] for row in rows}) == 200
        assert "module.b.aws_vpc.r7" not in {row["attributes"]["address"] for row in rows}


# ---- who sees what ----

def test_people_see_what_their_teams_see(fleet, api_site):
    people = People(fleet.org, api_site.database)
    reader, planner, outsider = people.team("reader"), people.team("planner"), people.team("outsider")
    everything = people.team("everything", read_workspaces=True)
    people.give(reader, "workspace", fleet.ids["network-eu"], "custom", runs="read", variables="none", state_versions="none")
    people.give(planner, "workspace", fleet.ids["network-us"], "read")
    members = {name: people.member(name, team) for name, team in (("r", reader), ("p", planner), ("o", outsider), ("e", everything))}
    seen = {who: {type: len(fleet.ask(type, client=client)) for type in FIELDS} for who, client in members.items()}
    all_of = {type: len(expected(fleet, type)) for type in FIELDS}
    assert seen["o"] == dict.fromkeys(FIELDS, 0)
    assert seen["e"] == all_of
    assert seen["r"] == {"workspaces": 1, "tf_versions": 1, "providers": 2, "modules": 2, "resources": 5, "outputs": 0, "tags": 3, "projects": 1}
    assert seen["p"] == {"workspaces": 1, "tf_versions": 1, "providers": 1, "modules": 2, "resources": 4, "outputs": 2, "tags": 1, "projects": 1}
    assert {row["workspaces"] for row in fleet.ask("providers", client=members["p"])} == {"network-us"}
    assert {row["resource_count"] for row in fleet.ask("projects", client=members["p"])} == {4}
    for type, path in itertools.product(FIELDS, ("explorer", "explorer/export/csv")):
        text = members["r"].get(f"{fleet.base}/{path}", type=type).text
        assert "network-us" not in text and fleet.ids["network-us"] not in text and "app-100" not in text
    stranger = api_site.stranger()
    refused(404, stranger.get, f"{fleet.base}/explorer", type="workspaces")
    refused(404, stranger.get, f"{fleet.base}/explorer/export/csv", type="workspaces")


def test_no_answer_has_a_value_of_a_state(fleet):
    for type in FIELDS:
        text = fleet.org.get(f"{fleet.base}/explorer", type=type).text + fleet.org.get(f"{fleet.base}/explorer/export/csv", type=type).text
        for secret in ("hunter2-output", "vpc-1", "secret-value", "git-secret"):
            assert secret not in text, type


# ---- CSV ----

def cells(answer):
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(answer.body.decode(), newline="")))


@pytest.mark.parametrize("type", FIELDS)
def test_csv_has_all_rows(fleet, type):
    rows = fleet.ask(type)
    got = cells(fleet.org.get(f"{fleet.base}/explorer/export/csv", type=type))
    assert [{name: value for name, value in row.items() if name != "days_without_run"} for row in got] == [
        {name: texts(value) or "" for name, value in row.items() if name != "days_without_run"} for row in rows]


def test_csv_defuses_formulas(api_site):
    org = api_site.organization()
    base = f"organizations/{org.organization}"
    names = ["=cmd|' /C calc'!A0", "+1", "-1", "@sum", "\tx", "\rx", 'a "quoted", text', "line\nfeed", "plain"]
    for number, name in enumerate(names):
        api_site.change("update workspaces set name = %s where id = %s", name, org.workspace(f"w-{number}"))
    got = [row["workspace_name"] for row in cells(org.get(f"{base}/explorer/export/csv", type="workspaces", fields="workspace_name,resource_count"))]
    assert sorted(got) == sorted([f"'{name}" if name[0] in "=+-@\t\r" else name for name in names])


# ---- saved views ----

def save(org, **attributes):
    return send(org, "POST", f"organizations/{org.organization}/explorer/views", "explorer-saved-queries", **attributes)


def test_saved_views(fleet):
    query = {"filter": [{"field": "workspace_name", "operator": "contains", "value": ["network"]}], "fields": ["workspace_name"], "sort": ["-workspace_name"]}
    made = save(fleet.org, name="nets", query_type="workspaces", query=query).data
    assert made["id"].startswith("sq-") and made["type"] == "explorer-saved-queries"
    assert {name: made["attributes"][name] for name in ("name", "query-type", "query", "owner")} == {
        "name": "nets", "query-type": "workspaces", "query": {**query, "type": "workspaces"}, "owner": fleet.org.get("account/details").data["attributes"]["username"]}
    path = f"{fleet.base}/explorer/views/{made['id']}"
    assert fleet.org.get(path).data == made and [item["id"] for item in fleet.org.get(f"{fleet.base}/explorer/views").data] == [made["id"]]
    assert [item["attributes"] for item in fleet.org.get(f"{path}/results").data] == [{"workspace-name": "network-us"}, {"workspace-name": "network-eu"}]
    assert fleet.org.get(f"{path}/csv").body == b'workspace_name\r\n"network-us"\r\n"network-eu"\r\n'
    taken = fleet.org.call("POST", f"{fleet.base}/explorer/views", {"data": {"name": "NETS", "query_type": "modules", "query": {}}})
    assert refused_at(taken, "/data/attributes/name").endswith("Name has already been taken")
    changed = fleet.org.patch(path, {"data": {"type": "explorer-saved-queries", "attributes": {"name": "all", "query": {"filter": []}}}}).data
    assert changed["attributes"]["name"] == "all" and len(fleet.org.get(f"{path}/results").data) == len(STATES)
    assert fleet.org.delete(path).data["id"] == made["id"]
    refused(404, fleet.org.get, path)


@pytest.mark.parametrize("attributes, pointer", [
    ({"name": "", "query_type": "modules"}, "name"), ({"name": "x" * 101, "query_type": "modules"}, "name"), ({"name": "a\nb", "query_type": "modules"}, "name"),
    ({"name": "a"}, "query-type"), ({"name": "a", "query_type": 7}, "query-type"), ({"name": "a", "query_type": "secrets"}, "query-type"),
    ({"name": "a", "query_type": "modules", "query": []}, "query"), ({"name": "a", "query_type": "modules", "query": {"filter": [{"field": "x"}]}}, "query"),
    ({"name": "a", "query_type": "modules", "query": {"filter": [{"field": "name", "operator": "is", "value": ["a", "b"]}]}}, "query"),
    ({"name": "a", "query_type": "modules", "query": {"sort": ["name", "source"]}}, "query"), ({"name": "a", "query_type": "modules", "query": {"fields": [7]}}, "query"),
])
def test_a_wrong_view_is_refused(org, attributes, pointer):
    refused_at(save(org, **attributes), f"/data/attributes/{pointer}")


def test_a_hundred_views_are_paged_and_their_number_has_a_bound(org, api_site):
    for number in range(100):
        assert save(org, name=f"view {number:03}", query_type="modules", query={}).status == 201
    page = org.get(f"organizations/{org.organization}/explorer/views", **{"page[size]": "40", "page[number]": "3"}).json
    assert [item["attributes"]["name"] for item in page["data"]] == [f"view {number:03}" for number in range(80, 100)]
    organization, = api_site.ask("select id from organizations where name = %s", org.organization)
    api_site.change("insert into explorer_views (id, organization_id, name, query_type, query) select 'sq-' || n || '-' || %s, %s, 'bulk ' || n, 'modules', '{}' from generate_series(1, 900) n",
                    uuid.uuid4().hex, organization[0])
    assert refused_at(save(org, name="one more", query_type="modules", query={}), "/data").endswith("at most 1000 saved views")


def test_who_may_change_a_view(fleet, api_site):
    people = People(fleet.org, api_site.database)
    one, other = people.member("one", people.team("one")), people.member("other", people.team("other"))
    path = f"{fleet.base}/explorer/views/{save(one, name='mine', query_type='workspaces', query={}).data['id']}"
    assert other.get(path).data["attributes"]["name"] == "mine" and other.get(f"{path}/results").data == []
    change = {"data": {"type": "explorer-saved-queries", "attributes": {"name": "stolen"}}}
    refused(404, other.patch, path, change)
    refused(404, other.delete, path)
    assert one.patch(path, {"data": {"attributes": {"name": "still mine"}}}).data["attributes"]["name"] == "still mine"
    assert fleet.org.patch(path, change).data["attributes"]["name"] == "stolen"
    fleet.org.delete(path)
