# SPDX-License-Identifier: MPL-2.0
"""Every endpoint that takes a document, with bodies that are not documents, and with each part of a valid document
made invalid. All are refused with an error that points at the part, and nothing is changed. Endpoints without a
sample (support/samples.py) get the cases that need none."""

import copy
import json
import re
import threading
import urllib.parse
import zlib
from http.server import ThreadingHTTPServer

import pytest

from support.api import Api
from support.connection import Connection
from support.gotfe import Echo
from support.modules import Modules, ModuleTests
from support.routes import ROUTES, rows
from support.samples import SAMPLES, Comment, Linkage, Sample
from support.tenant import digest

ROW = re.compile(r'^API\((\w+),\s*"([^"]+)",\s*(\w+),\s*\w+,\s*JSON(?:_ASIDE)?,', re.M)
WRITE_ROUTES = [row for row in ROW.findall(ROUTES.read_text()) if row[0] in ("POST", "PATCH", "PUT", "DELETE")]


class Objects:
    """One object of every kind, in two organizations, created through the API where possible."""

    def __init__(self, api_site):
        self.api_site = api_site
        self.service = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
        threading.Thread(target=self.service.serve_forever, daemon=True).start()
        self.org, self.foreign = api_site.organization(), api_site.organization()
        self.own, self.theirs = self.make(self.org), self.make(self.foreign)
        self.connection = Connection(api_site.scheduler.url)
        self.unchanged = self.digest()

    def make(self, org):
        base, ids = f"organizations/{org.organization}", {"organization": org.organization, "url": f"http://127.0.0.1:{self.service.server_port}/"}

        def create(key, path, type, attributes, relations=None):
            ids[key] = org.post(path, {"data": {"type": type, "attributes": attributes, "relationships": relations or {}}}).data["id"]
            return ids[key]

        create("project", f"{base}/projects", "projects", {"name": "home"})
        ids["other"] = org.workspace("there")
        create("workspace", f"{base}/workspaces", "workspaces", {"name": "here"}, {"project": {"data": {"type": "projects", "id": ids["project"]}}})
        ids["name"] = "here"
        ids["variable"] = org.variable(ids["workspace"], "there", "v")
        create("varset", f"{base}/varsets", "varsets", {"name": "there"})
        create("provider_set", f"{base}/provider-sets", "provider-sets", {"name": "there", "provider-source": "hashicorp/null", "configuration-hcl": 'provider "null" {}'})
        create("set_variable", f"varsets/{ids['varset']}/relationships/vars", "vars", {"key": "there", "category": "env"})
        ids["configuration"] = org.upload(ids["workspace"], {"main.tf": ""})
        ids["run"] = org.run(ids["workspace"], ids["configuration"])
        ids["plan"] = ids["run"].replace("run-", "plan-")
        for key in ("task", "free_task"):
            create(key, f"{base}/tasks", "tasks", {"name": key, "url": ids["url"], "category": "task", "enabled": False})
        create("attached", f"workspaces/{ids['workspace']}/tasks", "workspace-tasks", {"enforcement-level": "advisory"}, {"task": {"data": {"type": "tasks", "id": ids["task"]}}})
        ids["policy"] = org.policy("opa", "advisory", "package p", "there")
        ids["set"] = org.policy_set("opa", [ids["policy"]], ids["other"], name="there")
        create("parameter", f"policy-sets/{ids['set']}/parameters", "vars", {"key": "there", "category": "policy-set"})
        ids["user"] = org.get("account/details").data["id"]
        for key, path, type, attributes in (("pool", f"{base}/agent-pools", "agent-pools", {"name": "there"}), ("team", f"{base}/teams", "teams", {"name": "there"}),
                                            ("free_team", f"{base}/teams", "teams", {"name": "free"}), ("key", f"{base}/ssh-keys", "ssh-keys", {"name": "there", "value": "k"})):
            if org.call("GET", path).status == 200:
                create(key, path, type, attributes)
        ids.update({"registry": "private", "namespace": org.organization, "module": "there", "module_provider": "null"})
        create("module_id", f"{base}/registry-modules", "registry-modules", {"name": ids["module"], "provider": ids["module_provider"]})
        ids["test_configuration"] = ModuleTests(Modules(org), ids["module"]).upload({"main.tf": ""})
        ids["registry_provider"], ids["provider_version"] = "there", "1.0.0"
        create("registry_provider_id", f"{base}/registry-providers", "registry-providers", {"name": "there", "namespace": org.organization, "registry-name": "private"})
        create("provider_version_id", f"{base}/registry-providers/private/{org.organization}/there/versions", "registry-provider-versions", {"version": "1.0.0", "key-id": "none"})
        self.rows(org, ids)
        return ids

    def rows(self, org, ids):
        """Objects that only a run with many steps would create."""
        ids.update({"provider": f"idp-{org.organization[:20]}", "version": f"tool-{org.organization[:20]}", "state": f"sv-{org.organization[:20]}", "stage": f"ts-{org.organization[:20]}", "check": f"polchk-{org.organization[:20]}"})
        self.api_site.change("insert into tool_versions (id, tool, version, archs) values (%s, 'terraform', '9.0.' || (random() * 1000000)::int, '[]')", ids["version"])
        self.api_site.change("insert into identity_providers (id, kind, name, issuer, settings) values (%s, 'oidc', %s, %s, %s)", ids["provider"], org.organization,
                             f"http://127.0.0.1:1/{org.organization}", json.dumps({"allowed-organizations": [org.organization]}))
        self.api_site.change("insert into state_versions (id, workspace_id, serial, lineage, md5, size) values (%s, %s, 1, 'l', 'm', 0)", ids["state"], ids["workspace"])
        self.api_site.change("insert into task_stages (id, run_id, stage) values (%s, %s, 'post_plan')", ids["stage"], ids["run"])
        self.api_site.change("insert into policy_evaluations (id, run_id, kind, bundle) values (%s, %s, 'sentinel', '[]')", ids["check"], ids["run"])

    def path(self, pattern, ids=None):
        ids = {**(ids or self.own), "relation": "workspaces"}
        if pattern.startswith("/varsets/"):
            ids["variable"] = ids["set_variable"]
        return re.sub(r":(\w+)", lambda found: ids.get(found[1], "nonexistent"), pattern).lstrip("/")

    def digest(self):
        return digest(self.api_site.database)


@pytest.fixture(scope="module")
def objects(api_site):
    created_objects = Objects(api_site)
    yield created_objects
    created_objects.service.shutdown()
    created_objects.service.server_close()


# ---- requests ----

NOT_JSON_API = [b"null", b"[]", b"7", b'"data"', b"{", b'{"data":', b"\xff\xfe\x00", b'{"data":{"attributes":{"name":"\xc3\x28"}}}', b'{"data":{"attributes":{"name":"\\ud800"}}}',
               b'{"data":{"attributes":{"name":"a\\u0000b"}}}', b"[" * 100_000, b'{"data":' * 50_000, b"{}{}", b'{"data":1e999}']
INVALID_DOCUMENTS = [{"data": None}, {"data": "x"}, {"data": 7}, {"data": [[]]}, {"data": [7]}, {"data": ["x"]}, {"data": {"type": 7}}, {"data": {"attributes": []}},
               {"data": {"attributes": "x"}}, {"data": {"relationships": []}}, {"data": {"relationships": {"x": "y"}}}, {"data": {"relationships": {"x": {"data": "y"}}}},
               {"data": {"relationships": {"x": {"data": {"type": "workspaces", "id": 7}}}}}, {"data": {"type": "nonsense-things"}}]
INVALID_LINKAGES = [{}, {"data": None}, {"data": "x"}, {"data": {"type": "workspaces", "id": "x"}}, {"data": [7]}, {"data": [{}]}, {"data": [{"type": "nonsense", "id": "x"}]}, {"data": [{"id": 7, "type": "workspaces"}]},
              {"data": [{"type": "workspaces"}]}]
INVALID_COMMENTS = [{"comment": 7}, {"comment": ["x"]}, {"comment": {}}, {"comment": "x" * 500_000}]


def invalid_documents(sample):
    if isinstance(sample, Comment):
        return INVALID_COMMENTS
    if isinstance(sample, Linkage):
        return INVALID_LINKAGES
    if not sample or not sample.type:
        return []
    return [*INVALID_DOCUMENTS, b"", {}] if sample.needed else INVALID_DOCUMENTS


def invalid_values(sample, objects):
    """(document, name) for each invalid value of each attribute."""
    for name, value in sample.attributes.items():
        for bad in value.bad:
            body = sample.document(objects.own)
            body["data"]["attributes"][name] = bad
            yield body, name


# The owner of the objects is in both organizations, and a token of theirs may have a workspace of either.
OF_BOTH_ORGANIZATIONS = SAMPLES["tokens_create"]


def invalid_relations(sample, objects):
    """(document, name) for each invalid relation: missing, of another organization, of another type, or not a relation."""
    for name, (kind, of) in sample.relations.items():
        many = isinstance(kind, list)
        own = objects.own[of]
        type = kind[0] if many else kind
        for data in ("x", 7, {}, {"type": type}, {"id": own}, {"type": type, "id": 7}, [{"type": type, "id": own}] if not many else {"type": type, "id": own},
                     [{"type": "nonsense", "id": own}] if many else {"type": "nonsense", "id": 7}, [[]], ["x"],
                     *[[{"type": type, "id": identity}] if many else {"type": type, "id": identity} for identity in ("nonexistent", "x" * 500, *([] if sample is OF_BOTH_ORGANIZATIONS else [objects.theirs[of]]))]):
            body = sample.document(objects.own)
            body["data"]["relationships"][name] = {"data": data}
            yield body, name


class EndpointCheck:
    """Sends the invalid documents to one endpoint, and records those that were not refused correctly."""

    def __init__(self, objects, method, path):
        self.connection, self.headers = objects.connection, {"Authorization": f"Bearer {objects.org.token}"}
        self.method, self.path, self.wrong = method, f"/api/v2/{path}", []

    def refused(self, body, pointer=None, part=None):
        answer = self.connection.ask(self.method, self.path, body, self.headers)
        message = f"{pointer or ''} {shortened(body if part is None else part)}: {answer.status} {answer.text[:300]}"
        if not 400 <= answer.status < 500:
            self.wrong.append(message)
            return
        errors = answer.json["errors"]
        if not all(error["status"] == str(answer.status) and error["title"] for error in errors):
            self.wrong.append(message)
        if pointer and answer.status == 422 and not errors[0].get("source", {}).get("pointer", "").startswith(pointer):
            self.wrong.append(message)


def some_of(values, key, count):
    """A few of the values, others for each key: all keys together get all of them."""
    first = zlib.crc32(key.encode())
    return [values[(first + place) % len(values)] for place in range(count)]


def shortened(body):
    return (body if isinstance(body, bytes) else json.dumps(body).encode())[:300]


@pytest.mark.parametrize(("method", "pattern", "handler"), WRITE_ROUTES, ids=[f"{method} {pattern}" for method, pattern, _ in WRITE_ROUTES])
def test_invalid_documents_are_refused_and_change_nothing(objects, method, pattern, handler):
    sample, check, before = SAMPLES.get(handler), EndpointCheck(objects, method, objects.path(pattern)), objects.unchanged
    for body in some_of(NOT_JSON_API, f"{method} {pattern}", 3):
        check.refused(body)
    for body in invalid_documents(sample):
        check.refused(body)
    if type(sample) is Sample:
        for body, name in invalid_values(sample, objects):
            check.refused(body, f"/data/attributes/{name}", body["data"]["attributes"][name])
        for body, name in invalid_relations(sample, objects):
            check.refused(body, "/data/relationships/", body["data"]["relationships"][name])
    if isinstance(sample, Linkage) and sample.relations and method != "DELETE":
        for identity in ("nonexistent", objects.theirs[next(iter(sample.relations))]):
            check.refused({"data": [{"type": sample.type, "id": identity}]})
    after = objects.unchanged = objects.digest()
    assert check.wrong == [] and [table for table in after if after[table] != before[table]] == []


@pytest.mark.parametrize(("method", "pattern", "handler"), WRITE_ROUTES, ids=[f"{method} {pattern}" for method, pattern, _ in WRITE_ROUTES])
def test_null_attributes_never_cause_a_server_error(objects, method, pattern, handler):
    """Either status is correct; a 5xx is not."""
    sample, org, path = SAMPLES.get(handler), objects.org, objects.path(pattern)
    for name in sample.attributes if sample else ():
        body = sample.document(objects.own)
        if sample.unique:
            body["data"]["attributes"][sample.unique] = f"null-{name}"[:38]
        body["data"]["attributes"][name] = None
        answer = org.call(method, path, body)
        assert answer.status < 500, (method, path, name, answer.text[:500])
        if answer.status == 422:
            assert answer.json["errors"][0]["source"]["pointer"], answer.text


UNIQUE = [(pattern, handler) for method, pattern, handler in WRITE_ROUTES if method == "POST" and SAMPLES.get(handler) and SAMPLES[handler].unique]


@pytest.mark.parametrize(("pattern", "handler"), UNIQUE, ids=[pattern for pattern, _ in UNIQUE])
def test_of_concurrent_creations_with_one_name_one_succeeds(objects, pattern, handler):
    """This also shows that each sample is valid, so the documents made from it were refused for their invalid part."""
    sample, path = SAMPLES[handler], objects.path(pattern)
    answers = []

    def create():
        body = copy.deepcopy(sample.document(objects.own))
        answers.append(objects.org.call("POST", path, body))

    threads = [threading.Thread(target=create) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    statuses = sorted(answer.status for answer in answers)
    assert statuses == [201] + [422] * 19, [answer.text[:300] for answer in answers if answer.status not in (201, 422)] or statuses
    for answer in answers:
        if answer.status == 422:
            # A kind with two unique attributes may complain about its name first.
            assert answer.json["errors"][0]["source"]["pointer"] in (f"/data/attributes/{sample.unique}", "/data/attributes/name") and "taken" in answer.errors(), answer.text


# ---- lists ----

LISTS = [pattern for method, pattern, _, _ in rows("API") if method == "GET" and not re.search(r"download|output$|redacted|schema|body$|^/events$", pattern)]


@pytest.mark.parametrize("pattern", LISTS)
def test_invalid_query_parameters_never_cause_a_server_error(objects, pattern):
    path, needed = objects.path(pattern), {"filter[run-trigger][type]": "inbound", "filter[organization][name]": objects.own["organization"], "filter[workspace][name]": "here",
                                           "filter[workspace][id]": objects.own["workspace"], "filter[project][id]": objects.own["project"]}
    if pattern.endswith(("/explorer", "/explorer/export/csv")):
        needed = {"type": "workspaces"}  # it refuses filters of another form

    def request(**query):
        return objects.org.call("GET", f"{path}?{urllib.parse.urlencode({**needed, **query})}")

    first = request()
    assert first.status in (200, 204, 302, 404), (path, first.text[:300])
    paged = first.status == 200 and "pagination" in first.json.get("meta", {}) if first.text.startswith("{") else False
    for bad in ("0", "-1", "x", "1e3", "99999999999999999999", "1.5", "\u0001"):
        for member in ("page[number]", "page[size]"):
            answer = request(**{member: bad})
            assert answer.status == 400 if paged else answer.status < 500, (path, member, bad, answer.text[:300])
    if paged:
        assert request(**{"page[size]": 100_000}).json["meta"]["pagination"]["page-size"] == 100
        beyond = request(**{"page[number]": 999_999_999})
        assert beyond.data == [] and beyond.json["meta"]["pagination"]["current-page"] == 999_999_999
    for name in ("q", "sort", "include", "search[name]", "search[tags]", "filter[names]", "filter[status]", "filter[kind]"):
        for value in some_of(("\u0000", "%", "'", "x" * 5000, "\ud7ff\uffff", ",,,", "\xff"), pattern + name, 2):
            answer = request(**{name: value})
            assert answer.status < 500, (path, name, value[:20], answer.text[:300])
    assert objects.org.call("GET", f"{path}?q=%ff%fe&page[number]=%ff").status < 500


# ---- workers and notifiers ----


@pytest.mark.parametrize(("kind", "token"), [("WORKER", "agent-token"), ("NOTIFIER", "notifier-token")])
def test_invalid_worker_and_notifier_requests_never_cause_a_server_error(objects, api_site, kind, token):
    """Runyard's own processes may be faulty, too."""
    client = Api(api_site.scheduler.url, api_site.tokens[token])
    base = f"{api_site.scheduler.url}/api/{kind.lower()}/v1"
    invalid = [{}, {"worker": 7, "slots": "many", "jobs": {}, "deliveries": "x", "calls": 1}, {"worker": "agent-x", "name": "n", "slots": -1, "version": 1, "jobs": [7], "partitions": "x"},
           {"name": "x" * 500_000, "slots": 1e308, "version": []}, {"worker": None, "jobs": [{"job": 7, "attempt": "x"}], "deliveries": [{}], "callbacks": [{}], "results": [[]]}]
    for method, pattern, _, _ in rows(kind):
        if method == "GET":
            continue
        url = base + re.sub(r":\w+", "job-AAAAAAAAAAAAAAAA", pattern)
        for body in [*NOT_JSON_API, *invalid]:
            answer = client.call(method, url, body)
            assert answer.status < 500, (pattern, shortened(body), answer.text[:300])
