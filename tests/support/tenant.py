# SPDX-License-Identifier: MPL-2.0
"""An organization that has one object of every kind of the route table, and live tokens of every kind.

Every name and every secret of a tenant contains its mark. A test that finds the mark, or an id of the tenant, in the answer to another tenant has found a leak."""

import base64
import hashlib
import json
import re
import uuid
from functools import cache

import psycopg

from support import scim as idp
from support.api import Api
from support.browser import Browser
from support.documents import document
from support.modules import Modules, ModuleTests
from support.people import People
from support.providers import Providers, zip_of

# The body of these routes names the workspace or the project, so an error in the body may come before a refusal.
OBJECT_IN_BODY = {"gpg_keys_create", "registry_modules_connect_token", "runs_create", "queries_create", "team_workspaces_create", "team_projects_create", "workspaces_create", "no_code_provision", "plan_exports_create"}
# The object of these routes is there, but no content of it: no job has sent any, and this site mirrors no providers.
NO_CONTENT = {"registry_modules_commits", "states_json_download", "plan_exports_download", "applies_errored_state", "jobs_policies", "ingress_attributes_read", "registry_mirror"}

# The scheduler's background work, and each use of a token, change these without a request.
RESTLESS_TABLES = {"outbox", "dead_letters", "pool_capacity", "queue_samples", "audit_totals", "audit_counted", "sessions", "retention_marks", "loose_blobs",
                   "explorer_due", "explorer_workspaces", "explorer_resources", "explorer_packages"}
RESTLESS_COLUMNS = ["last_used_at", "last_seen_at", "seen_at", "last_ping_at", "leased_until", "lease_until", "log_length", "is_use_noted", "announced_at"]
# The scheduler writes why runs wait (scheduler/background/wait_notes.h): an event, and the first line of a log. It deletes
# blobs that nothing refers to.
KEPT = {
    "blobs": "where not exists (select 1 from loose_blobs l where l.blob_id = t.id)",
    "audit_events": "where t.action not in ('refused', 'first_use')",
    "run_events": "where t.action not like 'waiting-for-%'",
    "log_chunks": "where not exists (select 1 from runs r left join jobs j on j.run_id = r.id where t.operation_id in ('plan' || substr(r.id, 4), 'apply' || substr(r.id, 4)) "
                  "and (r.queued or j.state = 'waiting'))",
}


@cache
def watched(database):
    """A connection to the database, and a statement that returns the digests of its tables. PostgreSQL plans it once."""
    connection = psycopg.connect(database, autocommit=True, options="-c max_parallel_workers_per_gather=0")
    tables = [table for (table,) in connection.execute("select tablename from pg_tables where schemaname = 'public'") if table not in RESTLESS_TABLES]
    digests = (f"select '{table}', sum(hashtextextended((to_jsonb(t) - array{RESTLESS_COLUMNS})::text, 0))::text from {table} t {KEPT.get(table, '')}" for table in tables)
    return connection, " union all ".join(digests)


def digest(database):
    """{table: digest of its rows}, for all tables that change only when a request changes something."""
    connection, statement = watched(database)
    return dict(connection.execute(statement, prepare=True).fetchall())


def mentions(database, text):
    """{table: digest of its rows that contain the text}."""
    connection, statement = watched(database)
    tables = re.findall(r"select '(\w+)'", statement)
    digests = (f"select '{table}', sum(hashtextextended((to_jsonb(t) - array{RESTLESS_COLUMNS})::text, 0))::text from {table} t where strpos(to_jsonb(t)::text, %(text)s) > 0" for table in tables)
    return dict(connection.execute(" union all ".join(digests), {"text": text}).fetchall())


def leaks(tenant, request, answer):
    """Names, secrets and ids of the tenant in the answer, except those in the request itself."""
    text = answer.text + str(answer.headers)
    found = set(re.findall(rf"{tenant.mark}[-_]\w[\w-]*", text)) | {id for id in tenant.ids.values() if len(id) > 12 and id in text}
    return sorted(one for one in found if one not in request)


def missing_ids(ids, *kept):
    """Ids and names of objects that do not exist, as long as the real ones."""
    return {key: value if key in kept else value[: value.find("-") + 1] + "A" * (len(value) - value.find("-") - 1) for key, value in ids.items()}


class Tenant:
    """ids: an object for each name in the paths of routes.def (`:workspace`). The owner is not a site admin."""

    def __init__(self, api_site, mark, service_url):
        self.api_site, self.mark = api_site, mark
        self.api = api_site.stranger(f"{mark}-owner")
        self.people = People(self.api, api_site.database)
        self.ids = {"organization": self.api.organization, "url": service_url, "name": f"{mark}-target"}
        self.base = f"organizations/{self.api.organization}"
        self.make_places()
        self.make_settings()
        self.make_policies()
        self.ids["version"] = self.tool_version("terraform")
        self.ids["provider"] = self.identity_provider()
        page = Browser(self.api_site.scheduler.url).ask("/app/login").page
        self.words = {"section": "general", "page": "deploy", "registry": "private", "mirror_host": "registry.terraform.io", "mirror_namespace": "hashicorp", "mirror_type": "time", "mirror_file": "index.json", "file": re.search(r"/assets/([^\"]+)", page)[1]}  # of pages, not objects
        self.make_provisioned()
        self.make_content()
        self.make_runs()
        self.make_rows()
        self.make_module()
        self.make_provider()

    def make(self, key, path, type, attributes, relations=None):
        """Creates an object by the API and keeps its id under the key."""
        relations = {name: {"data": link} for name, link in (relations or {}).items()}
        self.ids[key] = self.api.post(path, {"data": {"type": type, "attributes": attributes, "relationships": relations}}).data["id"]
        return self.ids[key]

    def link(self, type, key):
        return {"type": type, "id": self.ids[key]}

    # ---- objects ----

    def make_places(self):
        """The project, the pool, and workspaces whose jobs the pool's worker claims."""
        api, mark = self.api, self.mark
        self.make("project", f"{self.base}/projects", "projects", {"name": f"{mark}-project"})
        self.make("pool", f"{self.base}/agent-pools", "agent-pools", {"name": f"{mark}-pool"})
        made = api.post(f"agent-pools/{self.ids['pool']}/authentication-tokens", {"data": {"type": "authentication-tokens", "attributes": {"description": mark}}}).data
        self.agent_token = made["attributes"]["token"]
        self.fake_worker = self.api_site.fake_worker(self.agent_token)
        self.ids["agent"] = self.fake_worker.id
        for key, name in (("workspace", "target"), ("live", "live"), ("beside", "beside"), ("asked", "asked"), ("other", "other"), ("applying", "applying")):
            attributes = {"name": f"{mark}-{name}", "description": f"{mark}-description", "execution-mode": "agent", "agent-pool-id": self.ids["pool"]}
            self.make(key, f"{self.base}/workspaces", "workspaces", attributes, {"project": self.link("projects", "project")})

    def make_settings(self):
        """Teams, members, variables, keys, tags, triggers, notifications."""
        api, ids, mark = self.api, self.ids, self.mark
        workspace = f"workspaces/{ids['workspace']}"
        ids["user"] = api.get("account/details").data["id"]
        ids["token"] = self.api_site.ask("select id from tokens where user_id = %s", ids["user"])[0][0]
        self.make("team", f"{self.base}/teams", "teams", {"name": f"{mark}-team", "visibility": "organization"})
        self.make("free_team", f"{self.base}/teams", "teams", {"name": f"{mark}-free", "visibility": "organization"})
        made = api.post(f"teams/{ids['team']}/authentication-token").data
        self.team_token, ids["team_token"] = made["attributes"]["token"], made["id"]
        self.organization_token = api.post(f"{self.base}/authentication-token").data["attributes"]["token"]
        self.nobody = self.people.member(f"{mark}-member", ids["free_team"])
        ids["membership"] = self.nobody.membership
        ids["access"] = self.people.give(ids["team"], "workspace", ids["workspace"], "write")
        ids["project_access"] = self.people.give(ids["team"], "project", ids["project"], "read")
        ids["variable"] = api.variable(ids["workspace"], f"{mark}_variable", f"{mark}-value")
        self.make("reserved_tag", f"{self.base}/reserved-tag-keys", "reserved-tag-keys", {"key": f"{mark}-reserved"})
        self.make("explorer_view", f"{self.base}/explorer/views", "explorer-saved-queries", {"name": f"{mark}-view", "query-type": "workspaces", "query": {}})
        action = {"action_type": "change_request", "action_inputs": {"subject": f"{mark}-subject", "message": f"{mark}-message"}, "target_ids": [ids["workspace"]]}
        api.post(f"{self.base}/explorer/bulk-actions", {"data": {"type": "bulk_actions", "attributes": action}})
        ids["change_request"] = api.get(f"{workspace}/change-requests").data[0]["id"]
        self.make("varset", f"{self.base}/varsets", "varsets", {"name": f"{mark}-varset"}, {"parent": self.link("projects", "project")})
        self.make("set_variable", f"varsets/{ids['varset']}/relationships/vars", "vars", {"key": f"{mark}_set_variable", "value": f"{mark}-value", "category": "env"})
        ids["provider_set_name"] = f"{mark}-provider-set"
        self.make("provider_set", f"{self.base}/provider-sets", "provider-sets", {"name": ids["provider_set_name"], "description": f"{mark}-description", "provider-source": "hashicorp/null", "configuration-hcl": f'provider "null" {{}} # {mark}-hcl'})
        self.make("key", f"{self.base}/ssh-keys", "ssh-keys", {"name": f"{mark}-key", "value": f"{mark}-private-key"})
        client = {"name": f"{mark}-client", "service-provider": "git", "http-url": "https://git.example.com", "key": mark, "oauth-token-string": f"{mark}-oauth-token"}
        self.make("client", f"{self.base}/oauth-clients", "oauth-clients", client)
        ids["callback"] = api.get(f"oauth-clients/{ids['client']}").data["attributes"]["connect-path"].split("/")[2].partition("?")[0]
        (ids["oauth_token"],) = [item["id"] for item in api.get(f"oauth-clients/{ids['client']}/oauth-tokens").data]
        api.post(f"{workspace}/relationships/tags", {"data": [{"type": "tags", "attributes": {"name": f"{mark}-tag"}}]})
        ids["tag"] = api.get(f"{self.base}/tags").data[0]["id"]
        self.make("trigger", f"{workspace}/run-triggers", "run-triggers", {}, {"sourceable": self.link("workspaces", "other")})
        self.make("schedule", f"{workspace}/schedules", "schedules", {"name": f"{mark}-schedule", "kind": "plan", "cron": "0 0 1 1 *"})
        self.make("window", f"{workspace}/maintenance-windows", "maintenance-windows", {"name": f"{mark}-window", "days": ["sun"], "start": "22:00", "duration-minutes": 60})
        hook = {"name": f"{mark}-hook", "enabled": False, "destination-type": "generic", "url": f"{ids['url']}{mark}-url", "token": f"{mark}-hook-token"}
        self.make("notification", f"{workspace}/notification-configurations", "notification-configurations", hook)
        for key in ("task", "free_task"):
            self.make(key, f"{self.base}/tasks", "tasks", {"name": f"{mark}-{key}", "url": ids["url"], "category": "task", "enabled": False, "hmac-key": f"{mark}-hmac-key"})
        for key, place in (("attached", "workspace"), ("attached_beside", "asked")):
            self.make(key, f"workspaces/{ids[place]}/tasks", "workspace-tasks", {"enforcement-level": "mandatory", "stages": ["post_plan"]}, {"task": self.link("tasks", "task")})
        self.api_site.change("update tasks set enabled = true where id = %s", ids["task"])  # the API would call the URL first
        for path in (workspace, self.base):
            body = {"data": {"type": "data-retention-policy-delete-olders", "attributes": {"delete-older-than-n-days": 5}}}
            api.post(f"{path}/relationships/data-retention-policy", body)

    def make_module(self):
        """A module of the private registry, with a version."""
        modules, ids = Modules(self.api), self.ids
        ids.update({"namespace": self.api.organization, "module": f"{self.mark}-module", "module_provider": modules.provider, "module_version": "1.0.0-rc"})
        ids["module_version_id"] = modules.publish(ids["module"], ids["module_version"], {"main.tf": f"# {self.mark}-module-content"})
        ids["module_id"] = modules.read(ids["module"])["id"]
        self.api_site.change("update git_jobs set pool_id = %s where module_version_id = %s", ids["pool"], ids["module_version_id"])
        self.fake_worker.describe(f"{self.mark}-module-readme")
        tests = ModuleTests(modules, ids["module"])
        ids["test_configuration"] = tests.upload({"main.tf": f"# {self.mark}-tested"})
        ids["test_run"] = tests.run(ids["test_configuration"], filters=[f"{self.mark}-filter"])["id"]
        tests.act({"id": ids["test_run"]}, "cancel")
        ids["test_variable"] = tests.variable(f"{self.mark}_test_variable", f"{self.mark}-value")["id"]
        ids["free_module"] = modules.create(f"{self.mark}-free-module")["id"]
        self.make_no_code()
        path = f"{ids['namespace']}/{ids['module']}/{ids['module_provider']}/{ids['module_version']}"
        assert self.api.call("GET", f"{self.api.url}/api/registry/v1/modules/{path}/download").status == 204  # the first download changes the version

    def make_provider(self):
        """A provider of the private registry, with a version for one platform, and its key."""
        providers, ids = Providers(self.api), self.ids
        ids.update({"registry_provider": f"{self.mark}-provider", "provider_version": "1.0.0-rc", "os": "linux", "arch": "amd64", "gpg_key": providers.key.key_id})
        ids["provider_version_id"] = self.publish_provider(ids["registry_provider"])
        ids["registry_provider_id"] = providers.read(ids["registry_provider"])["id"]
        ids["provider_platform_id"] = providers.read(ids["registry_provider"], "versions", ids["provider_version"], "platforms", ids["os"], ids["arch"])["id"]

    def publish_provider(self, name):
        return Providers(self.api).publish(name, self.ids["provider_version"], {"linux_amd64": zip_of({"provider": f"{self.mark}-provider-content".encode()})})

    def make_no_code(self):
        """A no-code module, and a workspace from it whose run was canceled."""
        api, ids = self.api, self.ids
        ids["no_code_module"] = api.post(f"{self.base}/no-code-modules", document("no-code-modules", {}, **{"registry-module": {"data": {"type": "registry-modules", "id": ids["module_id"]}}})).data["id"]
        made = api.post(f"no-code-modules/{ids['no_code_module']}/workspaces", document("workspaces", {"name": f"{self.mark}-no-code"})).data
        ids["no_code_workspace"] = made["id"]
        ids["upgrade"] = api.get(f"workspaces/{made['id']}/runs").data[0]["id"]
        api.post(f"runs/{ids['upgrade']}/actions/cancel", {})

    def tool_version(self, tool):
        """A version that the site's admins list, with the tenant's mark in it."""
        id = f"tool-{uuid.uuid4().hex[:16]}"
        self.api_site.change("insert into tool_versions (id, tool, version, archs, deprecated_reason) values (%s, %s, %s, '[]', %s)", id, tool, f"9.{uuid.uuid4().int % 10 ** 12}.0", self.mark)
        return id

    def identity_provider(self):
        """A provider of the site, with the tenant's mark in it, that nobody can reach."""
        id = f"idp-{uuid.uuid4().hex[:16]}"
        self.api_site.change("insert into identity_providers (id, kind, name, issuer, is_enabled, settings) values (%s, 'oidc', %s, %s, false, '{}')", id, f"{self.mark}-provider", f"http://127.0.0.1:1/{self.mark}")
        return id

    def make_policies(self):
        api, ids, mark = self.api, self.ids, self.mark
        ids["policy"] = api.policy("opa", "advisory", f"package p # {mark}-source", f"{mark}-policy")
        ids["set"] = api.policy_set("opa", [ids["policy"]], ids["other"], name=f"{mark}-set")
        self.make("parameter", f"policy-sets/{ids['set']}/parameters", "vars", {"key": f"{mark}-parameter", "value": f"{mark}-value", "category": "policy-set"})

    def make_provisioned(self):
        """A user and a group of an identity provider, which have no mark: they belong to the site."""
        provider = idp.enabled(self.api_site)
        admin = Api(self.api_site.scheduler.url, self.api_site.tokens["token"])
        self.scim_token = provider.token
        self.ids["scim_user"], self.ids["scim_group"] = provider.user()["id"], provider.group()["id"]
        self.ids["scim_token"] = admin.post("admin/scim-tokens", {"data": {"type": "authentication-tokens", "attributes": {"description": self.mark}}}).data["id"]
        self.words.update({"schema": f"{idp.CORE}:User", "type": "User"})

    def make_content(self):
        """A configuration, and a state with an output."""
        api, ids, mark = self.api, self.ids, self.mark
        ids["configuration"] = api.upload(ids["workspace"], {"main.tf": f"# {mark}-configuration"})
        api.post(f"workspaces/{ids['workspace']}/actions/lock", {})
        ids["state"] = self.state(ids["workspace"])
        api.post(f"workspaces/{ids['workspace']}/actions/unlock", {})
        ids["output"] = api.get(f"state-versions/{ids['state']}/outputs").data[0]["id"]

    def state(self, workspace):
        """A state of a workspace that the owner has locked."""
        state = {"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "l", "resources": [], "outputs": {f"{self.mark}_output": {"value": f"{self.mark}-value", "type": "string"}}}
        text = json.dumps(state).encode()
        attributes = {"serial": 1, "lineage": "l", "md5": hashlib.md5(text).hexdigest(), "state": base64.b64encode(text).decode()}
        return self.api.post(f"workspaces/{workspace}/state-versions", {"data": {"type": "state-versions", "attributes": attributes}}).data["id"]

    def make_runs(self):
        """A run that waits for its run task, and two whose plans are claimed jobs. All keep their status during the
        tests."""
        api, ids, mark = self.api, self.ids, self.mark
        self.task_tokens = {}
        for key, place in (("run", "workspace"), ("asked_run", "asked")):
            configuration = ids["configuration"] if place == "workspace" else api.upload(ids[place], {"main.tf": ""})
            ids[key] = api.run(ids[place], configuration, message=f"{mark}-message")
            self.fake_worker.plan(ids[key])
            self.task_tokens[key] = self.task_token(ids[key])
        # All tests of a file take longer than a task may on a machine with much else to do.
        later = ", ".join(f"{column} = {column} + interval '1 day'" for column in ("due_at", "last_at", "give_up_at", "lease_until"))
        self.api_site.change(f"update task_results set {later}")
        self.jobs = {}
        for place in ("live", "beside"):
            run = api.run(ids[place], api.upload(ids[place], {"main.tf": f"# {mark}-live"}))
            self.jobs[place] = self.fake_worker.take(run, "plan")
        ids.update({"plan": ids["run"].replace("run-", "plan-"), "apply": ids["run"].replace("run-", "apply-"), "operation": ids["run"].replace("run-", "plan-"),
                    "index": "0", "job": self.jobs["live"]["job"], "live_run": self.jobs["live"]["run"]})
        self.make("query_run", "queries", "queries", {"source": f"{mark}-source", "terraform-version": "1.14.8"}, {"workspace": self.link("workspaces", "workspace")})
        api.post(f"queries/{ids['query_run']}/actions/cancel")
        self.make_unrecorded()
        self.make("comment", f"runs/{ids['run']}/comments", "comments", {"body": f"{mark}-comment"})
        ids["event"] = api.get(f"runs/{ids['run']}/run-events").data[0]["id"]
        (stage,) = api.get(f"runs/{ids['run']}/task-stages").data
        ids["stage"], ids["result"] = stage["id"], stage["relationships"]["task-results"]["data"][0]["id"]

    def make_unrecorded(self):
        """A resource that the worker of a claimed apply reports as unrecorded."""
        run = self.api.run(self.ids["applying"], self.api.upload(self.ids["applying"], {"main.tf": ""}), auto_apply=True)
        self.fake_worker.plan(run)
        job = self.fake_worker.take(run, "apply")
        self.fake_worker.on(job, "POST", "started")
        resource = {"action": "create", "address": f"terraform_data.{self.mark}", "type": "terraform_data", "provider": "terraform", "id": f"{self.mark}-id"}
        self.fake_worker.on(job, "PUT", "unrecorded-resources", {"resources": [resource]})
        self.ids["unrecorded"] = self.api.get(f"runs/{run}/unrecorded-resources").data[0]["id"]

    def task_token(self, run):
        """The token in the request to the run's task, which a notifier has claimed and never answers."""
        notifier = Api(self.api_site.scheduler.url, self.api_site.tokens["notifier-token"])
        body = {"notifier": "by-hand", "callback-url": "http://127.0.0.1:9", "max": 200, "ids": []}
        claimed = notifier.ask("POST", f"{self.api_site.scheduler.url}/api/notifier/v1/claim", body).json["requests"]
        (request,) = [request for request in claimed if request["run"] == run]
        return json.loads(request["body"])["access_token"]

    def make_rows(self):
        """Objects that only a run of many stages has, as rows."""
        ids, mark = self.ids, self.mark
        names = {"check": "polchk", "evaluation": "poleval", "version": "polsetver", "policy_outcome": "psout", "outcome": "taskrsout", "estimate": "ce", "export": "pe",
                 "repository": "vr", "vcs_event": "ve", "installation": "ghain", "git_job": "gj", "forward": "fwd", "assessment": "asmtres"}
        ids.update({key: f"{prefix}-{hashlib.md5((mark + prefix).encode()).hexdigest()[:16]}" for key, prefix in names.items()})
        self.git_token = f"git.{mark}-git-token"
        values = {**ids, "mark": mark, "git_hash": hashlib.sha256(self.git_token.encode()).hexdigest()}
        for statement in (
            "insert into policy_set_versions (id, policy_set_id) values (%(version)s, %(set)s)",
            "insert into assessment_results (id, workspace_id, run_id, succeeded, error) values (%(assessment)s, %(workspace)s, %(run)s, false, %(mark)s)",
            "update workspaces set assessment_id = %(assessment)s where id = %(workspace)s",
            "insert into policy_evaluations (id, run_id, kind, bundle) values (%(evaluation)s, %(run)s, 'opa', '[]')",
            "insert into policy_evaluations (id, run_id, kind, bundle) values (%(check)s, %(run)s, 'sentinel', '[]')",
            "insert into policy_set_outcomes (id, policy_evaluation_id, policy_set_id, name, overridable) values (%(policy_outcome)s, %(evaluation)s, %(set)s, %(mark)s, true)",
            "insert into task_result_outcomes values (%(outcome)s, %(result)s, 1, %(mark)s, %(mark)s)",
            "insert into cost_estimates (id, run_id) values (%(estimate)s, %(run)s)",
            "insert into vcs_repositories (id, organization_id, connection_id, identifier, look_due) select %(repository)s, organization_id, id, %(mark)s, "
            "'infinity' from vcs_connections where id = %(client)s",
            "insert into vcs_events (id, organization_id, connection_id, repository_id, kind, ref, sha, pull_request, state, message) select %(vcs_event)s, organization_id, "
            "connection_id, id, 'pr_open', 'refs/heads/' || %(mark)s, repeat('a', 40), 1, 'approval', %(mark)s from vcs_repositories where id = %(repository)s",
            "insert into vcs_outcomes (event_id, subject_id, reason) values (%(vcs_event)s, %(workspace)s, 'fork_approval')",
            "insert into git_jobs (id, kind, organization_id, repository_id, pool_id, state, worker_id, token_hash, lease_until) select %(git_job)s, 'look', r.organization_id, "
            "r.id, %(pool)s, 'claimed', %(agent)s, %(git_hash)s, now() + interval '1 day' from vcs_repositories r where r.id = %(repository)s",
            "insert into forwards (id, pool_id, request_sealed, time_ms, state, worker_id, until) values (%(forward)s, %(pool)s, '', 1, 'claimed', %(agent)s, now() + interval '1 day')",
            "insert into plan_exports (id, run_id, data_type, expires_at) values (%(export)s, %(run)s, 'sentinel-mock-bundle-v0', now() + interval '1 hour')",
            "insert into vcs_installations (id, installation_id, organization_id, name, kind) select %(installation)s, ('x' || right(md5(%(mark)s), 8))::bit(32)::bigint, id, %(mark)s, 'User' "
            "from organizations where name = %(organization)s",
        ):
            with psycopg.connect(self.api_site.database, autocommit=True) as connection:
                connection.execute(statement, values)
        ids.update(self.signs_in_by(ids["user"]))
        ((ids["hook"],),) = self.api_site.ask("select hook::text from vcs_repositories where id = %s", ids["repository"])

    def scoped_token(self, workspace=None, read_only=False):
        """A token of the owner that only reads, or has only that workspace."""
        relations = {"workspace": {"data": {"type": "workspaces", "id": workspace}}} if workspace else {}
        body = {"data": {"type": "authentication-tokens", "attributes": {"description": self.mark, "read-only": read_only}, "relationships": relations}}
        return self.api.post(f"users/{self.ids['user']}/authentication-tokens", body).data["attributes"]["token"]

    def signs_in_by(self, user):
        """A session and a passkey of the user, neither of which anybody can use."""
        digest = hashlib.sha256(uuid.uuid4().bytes).hexdigest()
        self.api_site.change("insert into sessions (hash, user_id, address) values (%s, %s, '10.0.0.1')", digest, user)
        self.api_site.change("insert into second_factors (id, user_id, kind, is_confirmed, credential_id) values (%s, %s, 'passkey', true, %s)", f"2f-{digest[:16]}", user, digest)
        return {"session": f"sess-{digest[:16]}", "factor": f"2f-{digest[:16]}"}

    # ---- paths ----

    def fill(self, pattern, ids=None):
        """The pattern's path to this tenant's objects."""
        ids = {**(ids or self.ids), **self.words}
        ids["relation"] = "users" if pattern.startswith("/teams/") else "workspaces"
        for prefix, name, key in (("/varsets/", "variable", "set_variable"), ("/organizations/:organization/tests/", "variable", "test_variable"), ("/team-projects/", "access", "project_access"), ("/policy-set-outcomes/", "outcome", "policy_outcome")):
            if pattern.startswith(prefix):
                ids[name] = ids[key]
        return re.sub(r":(\w+)", lambda found: ids[found[1]], pattern)
