# SPDX-License-Identifier: MPL-2.0
"""An organization with objects of every kind that pages of the web UI show, and the addresses of all pages.

The texts that users write are what `say` makes of the plain ones, so that the same objects serve tests of hostile texts."""

import base64
import hashlib
import json
import re

import psycopg

from support.assessed import Assessments, found
from support.fake_worker import FakeWorker
from support.modules import Modules
from support.providers import Providers
from support.people import People
from support.queried import Queries
from support.queried import found as listed
from support.receiver import says
from support.servers import ROOT
from support.synthetic import change, plan
from support.wait import until

ROUTES = ROOT / "scheduler/ui/web/src/pages/routes.ts"

# The pages of the browser part, by their patterns in routes.ts, with a text that each shows once it has loaded.
PAGES = {
    "/app": "acme",
    "/app/:org/workspaces": "storage",
    "/app/:org/runs": "Needs you (2)",
    "/app/:org/explorer": "Use cases",
    "/app/:org/modules": "1.1.0",
    "/app/:org/modules/new": "By upload",
    "/app/:org/modules/:module": "How to use",
    "/app/:org/modules/:module/provision": "region",
    "/app/:org/modules/:module/tests": "Test runs",
    "/app/:org/providers": "1.0.0",
    "/app/:org/providers/:provider": "How to use",
    "/app/:org/projects/:project": "net-prod",
    "/app/:org/projects/:project/settings": "Give access",
    "/app/:org/workspaces/:ws": "terraform_data.one",
    "/app/:org/workspaces/:ws/runs": "Plan Errored",
    "/app/:org/workspaces/:ws/runs/:run": "Comments",
    "/app/:org/workspaces/:ws/states": "Current",
    "/app/:org/workspaces/:ws/states/:state": "Outputs",
    "/app/:org/workspaces/:ws/variables": "region",
    "/app/:org/workspaces/:ws/health": "Last assessment",
    "/app/:org/workspaces/:ws/change-requests": "Subject",
    "/app/:org/workspaces/:ws/change-requests/:request": "No, it is open",
    "/app/:org/workspaces/:ws/queries": "Finished",
    "/app/:org/workspaces/:ws/queries/:query": "2 resources",
    "/app/:org/workspaces/:ws/settings/general": "Working directory",
    "/app/:org/workspaces/:ws/settings/version-control": "Connect a repository",
    "/app/:org/workspaces/:ws/settings/locking": "In use by",
    "/app/:org/workspaces/:ws/settings/run-tasks": "naming",
    "/app/:org/workspaces/:ws/settings/team-access": "Custom",
    "/app/:org/workspaces/:ws/settings/notifications": "Run completed",
    "/app/:org/workspaces/:ws/settings/remote-state": "storage",
    "/app/:org/workspaces/:ws/settings/identity": "Subject of applies",
    "/app/:org/workspaces/:ws/settings/schedules": "Asia/Kathmandu",
    "/app/:org/workspaces/:ws/settings/destruction": "Delete workspace",
    "/app/admin/organizations": "acme",
    "/app/admin/users": "rita",
    "/app/admin/oidc": "What to do at the provider",
    "/app/admin/versions": "Engine versions",
    "/app/admin/general": "Save",
    "/app/admin/saml": "Save",
    "/app/admin/scim": "Enable",
    "/app/admin/costs": "Save",
    "/app/admin/mail": "Save",
    "/app/admin/texts": "Save",
    "/app/admin/maintenance": "Maintenance",
    "/app/admin/audit-trail": "create",
    "/app/admin/queue": "Pending runs",
    "/app/settings/keyboard": "Use keys",
    "/app/settings/theme": "Theme",
    "/app/:org/vcs/events": "Push to",
    "/app/:org/vcs/events/:event": "Needs approval",
    "/app/:org/queue": "Pending runs",
    "/app/:org/settings/general": "Save",
    "/app/:org/settings/teams": "owners",
    "/app/:org/settings/members": "admin@example.com",
    "/app/:org/settings/sso": "Identity providers",
    "/app/:org/settings/agent-pools": "edge",
    "/app/:org/settings/run-tasks": "naming",
    "/app/:org/settings/policy-sets": "guardrails",
    "/app/:org/settings/policies": "no-public",
    "/app/:org/settings/variable-sets": "1 workspace",
    "/app/:org/settings/provider-sets": "1 workspace",
    "/app/:org/settings/vcs-connections": "Unverified",
    "/app/:org/settings/maintenance-windows": "No maintenance windows here",
    "/app/:org/settings/ssh-keys": "New SSH key",
    "/app/:org/settings/gpg-keys": "New GPG key",
    "/app/:org/settings/tokens": "Teams",
    "/app/:org/settings/notifications": "Project or team",
    "/app/:org/settings/audit-trail": "create",
}

# Further states of pages.
VIEWS = {
    "/app/:org/workspaces?status=errored&q=nothing": "Nothing matches",
    "/app/:org/workspaces/empty": "No run",
    "/app/:org/workspaces/empty/health": "The assessment failed",
    "/app/:org/workspaces/:ws/change-requests?archived=true": "Archived",
    "/app/:org/workspaces/empty/change-requests": "No open change requests",
    "/app/:org/workspaces/storage/health": "Health assessments are off",
    "/app/:org/workspaces/storage/queries": "No query yet",
    "/app/:org/workspaces/:ws/queries/:failedquery": "The query has found no resource",
    "/app/:org/workspaces/empty/settings/identity": "The next run will fail",
    "/app/:org/workspaces/locked": "Locked by",
    "/app/:org/workspaces/:ws/runs/:run?view=waterfall": "Post-plan",
    "/app/:org/workspaces/:ws/runs/:run?view=events": "created",
    "/app/:org/workspaces/:ws/runs/:run?view=reader": "Comments",
    "/app/:org/workspaces/running/runs/:running": "Planning",
    "/app/:org/workspaces/storage/runs/:override": "Override Policy",
    "/app/:org/workspaces/:ws/runs/:errored": "Plan Errored",
    "/app/:org/workspaces/tracked/settings/version-control": "Not made",
    "/app/:org/explorer?type=workspaces&filter=workspace_name+contains+net": "Run query",
    "/app/:org/explorer?type=modules": "Nothing is known yet",
    "/app/:org/vcs/events?level=error": "Error",
    "/app/:org/vcs/events/:pushed": "No changed file matches",
    "/app/:org/settings/vcs-connections?id=:connection": "acme/network",
    "/app/:org/settings/teams?id=:team": "Members",
    "/app/:org/settings/agent-pools?id=:pool": "Tokens",
    "/app/:org/settings/policy-sets?id=:set": "Parameters",
    "/app/:org/settings/policies?id=:policy": "Rego",
    "/app/:org/settings/variable-sets?id=:varset": "Variables",
    "/app/:org/settings/provider-sets?id=:providers": "Configuration",
}

# The pages that the server renders, with their headings.
SERVER_PAGES = {
    "/app/settings/tokens": "Tokens",
    "/app/settings/password": "Password",
    "/app/settings/two-factor": "Two-factor authentication",
    "/app/settings/sessions": "Sessions",
    "/app/settings/identities": "Identity providers",
    "/app/settings/invitations": "Invitations",
    "/app/workspaces/:held/hold": "Held workspace",
    "/app/runs/:applying/unrecorded-resources": "Unrecorded resources",
}

ALL_PAGES = {**PAGES, **VIEWS, **SERVER_PAGES}


def patterns():
    """The patterns of routes.ts."""
    return re.findall(r'pattern: "([^"]+)"', ROUTES.read_text())


def plain(text, size="line"):
    """size: users may write a `word`, a `line` or a `text` of many lines there."""
    return text


LOG = b"\x1b[1mterraform_data.one\x1b[0m: Refreshing state...\nsee https://docs.example.org/fix\n\x1b[31mError: \x1b[0mno way\n"


class RichSite:
    """The objects in `acme` of a full_site. A fake worker of the pool `edge` claims their jobs, so no engine runs."""

    def __init__(self, site, say=plain, log=LOG):
        self.site, self.api, self.say, self.log = site, site.api, say, log
        self.people = People(self.api, site.database)
        self.ids = {"org": "acme", "ws": "net-prod"}
        self.base = "organizations/acme"
        self.make_pool()
        self.make_modules()
        self.make_workspaces()
        self.make_settings()
        self.make_content()
        self.make_states()
        self.make_runs()
        self.make_waiting()
        self.make_held()
        self.make_vcs()

    def address(self, pattern):
        """The path of a page's pattern."""
        return re.sub(r":([a-z]+)", lambda found: self.ids[found[1]], pattern)

    def make(self, key, path, type, attributes, relations=None):
        relations = {name: {"data": link} for name, link in (relations or {}).items()}
        self.ids[key] = self.api.post(path, {"data": {"type": type, "attributes": attributes, "relationships": relations}}).data["id"]
        return self.ids[key]

    # ---- places ----

    def make_modules(self):
        """A no-code module of the registry with a deprecated version, and one without versions."""
        modules = Modules(self.api)
        quoted = json.dumps(self.say("Where it runs")).replace("${", "$${").replace("%{", "%%{")
        inputs = f'variable "region" {{\n  type = string\n  description = {quoted}\n}}\n\nvariable "zones" {{\n  type = list(string)\n  default = [{quoted}]\n}}\n'
        for version in ("1.0.0", "1.1.0"):
            modules.publish("network", version, {"main.tf": inputs})
        marks = {"deprecation": {"deprecated-status": "Deprecated", "reason": self.say("It has a defect"), "link": "https://example.com/why"}}
        self.api.patch(modules.path("network", "1.0.0"), {"data": {"type": "module-versions", "attributes": marks}})
        modules.create("vpc", **{"provider": "aws", "registry-name": "public", "namespace": "terraform-aws-modules"})
        self.ids["module"] = modules.read("network")["id"]
        options = {"type": "variable-options", "attributes": {"variable-name": "region", "variable-type": "string", "options": [self.say("eu"), self.say("Europe", size="text")]}}
        self.make("nocode", f"{self.base}/no-code-modules", "no-code-modules", {},
                  {"registry-module": {"type": "registry-modules", "id": self.ids["module"]}, "variable-options": [options]})
        until(lambda: self.api.get(f"registry-modules/{self.ids['module']}/description").data["attributes"]["root"], "a worker has described the module")
        providers = Providers(self.api)
        providers.publish("time", "1.0.0", {"linux_amd64": b"an archive"})
        providers.create("aws", **{"registry-name": "public", "namespace": "hashicorp"})
        self.ids["provider"] = providers.read("time")["id"]

    def make_pool(self):
        self.ids["pool"], token = self.api.pool("edge")
        self.api.post(f"agent-pools/{self.ids['pool']}/authentication-tokens",
                      {"data": {"type": "authentication-tokens", "attributes": {"description": self.say("Rack 7")}}})
        self.worker = FakeWorker(self.api.url, token, "edge-1", slots=20)

    def workspace(self, name, **attributes):
        attributes = {"description": self.say(f"The workspace {name}"), "execution-mode": "agent", "agent-pool-id": self.ids["pool"], **attributes}
        project = {"project": {"type": "projects", "id": self.ids["project"]}}
        return self.make(name, f"{self.base}/workspaces", "workspaces", {"name": name, **attributes}, project)

    def make_workspaces(self):
        self.make("project", f"{self.base}/projects", "projects", {"name": "Networks", "description": self.say("All networks")})
        self.workspace("net-prod", **{"cost-estimation-enabled": True, "source-name": self.say("Portal"), "source-url": "https://portal.example/1"})
        for name in ("storage", "running", "empty", "locked", "held", "applying"):
            self.workspace(name)
        self.api.post(f"workspaces/{self.ids['locked']}/actions/lock", {"reason": self.say("moving to a new network")})

    # ---- settings ----

    def make_settings(self):
        api, ids, say = self.api, self.ids, self.say
        place = f"workspaces/{ids['net-prod']}"
        ids["team"] = self.people.team(say("Network team"), manage_workspaces=True)
        self.people.member("rita", ids["team"])
        self.people.give(ids["team"], "workspace", ids["net-prod"], "custom", variables="write", runs="plan")
        invited = {"teams": {"data": [{"type": "teams", "id": ids["team"]}]}}
        api.post(f"{self.base}/organization-memberships", {"data": {"type": "organization-memberships", "attributes": {"email": "eve@example.com"}, "relationships": invited}})
        api.variable(ids["net-prod"], "region", say("eu-west-1"), description=say("Where it runs"))
        api.variable(ids["net-prod"], "TOKEN", "wine-dark", category="env", sensitive=True)
        for key, value in {"AWS_PROVIDER_AUTH": "true", "AWS_RUN_ROLE_ARN": "arn", "AWS_WORKLOAD_IDENTITY_AUDIENCE": say("mine"), "VAULT_PROVIDER_AUTH": "true"}.items():
            api.variable(ids["empty"], f"TFC_{key}", value, category="env")
        self.make("varset", f"{self.base}/varsets", "varsets", {"name": say("Common values"), "description": say("For all"), "priority": True},
                  {"workspaces": [{"type": "workspaces", "id": ids["net-prod"]}]})
        self.make("set_variable", f"varsets/{ids['varset']}/relationships/vars", "vars", {"key": "region", "value": say("us-east-1"), "category": "terraform"})
        self.make("providers", f"{self.base}/provider-sets", "provider-sets", {"name": "aws", "description": say("For all"), "provider-source": "hashicorp/aws", "configuration-hcl": 'provider "aws" {} # ' + say("ours")},
                  {"workspaces": [{"type": "workspaces", "id": ids["net-prod"]}]})
        self.make("key", f"{self.base}/ssh-keys", "ssh-keys", {"name": say("Modules"), "value": "a private key"})
        api.post(f"{place}/relationships/tags", {"data": [{"type": "tags", "attributes": {"name": "prod"}}]})
        self.make("trigger", f"{place}/run-triggers", "run-triggers", {}, {"sourceable": {"type": "workspaces", "id": ids["storage"]}})
        self.make("schedule", f"{place}/schedules", "schedules", {"name": say("Each night"), "kind": "plan-and-apply", "cron": "0 3 * * *", "time-zone": "Asia/Kathmandu", "jitter-seconds": 60})
        for path, name in ((f"workspaces/{ids['empty']}", "Of a workspace"), (f"projects/{ids['project']}", "Of a project")):
            self.make("window", f"{path}/maintenance-windows", "maintenance-windows",
                      {"name": say(name), "days": ["sun", "mon", "tue", "wed", "thu", "fri", "sat"], "start": "00:00", "duration-minutes": 1440, "time-zone": "Asia/Kathmandu"})
        api.post(f"{place}/relationships/remote-state-consumers", {"data": [{"type": "workspaces", "id": ids["storage"]}]})
        hook = {"enabled": False, "destination-type": "generic", "url": "https://hooks.example/1", "triggers": ["run:completed"]}
        for path in (place, f"projects/{ids['project']}"):
            api.post(f"{path}/notification-configurations", {"data": {"type": "notification-configurations", "attributes": {"name": say("On call"), **hook}}})
        api.post(f"{self.base}/authentication-token")
        self.make_checks()

    def make_checks(self):
        """Run tasks and policies."""
        api, ids, say = self.api, self.ids, self.say
        outcomes = [{"type": "task-result-outcomes", "attributes": {
            "outcome-id": "CC-127", "description": say("A bucket is public"), "body": say("# A public bucket\nIt **allows** everyone.", size="text"), "url": "https://docs.example/127",
            "tags": {say("Cost centre", size="word"): [{"label": say("IT", size="word")}], "Severity": [{"label": say("High", size="word"), "level": "error"}], "Status": [{"label": "Open", "level": "warning"}]}}}]
        receiver = self.site.receiver
        naming = api.task(receiver.service(says("passed", say("All names are fine"))), "naming", description=say("Checks names"))
        scan = api.task(receiver.service(says("failed", say("1 finding"), url="https://scan.example/1", outcomes=outcomes)), "scan", description=say("Looks for findings"))
        api.attach(ids["net-prod"], naming, "pre_plan")
        api.attach(ids["net-prod"], scan, "post_plan", "advisory")
        ids["policy"] = api.policy("opa", "mandatory", "package p\n\ndeny := []\n", "no-public")
        api.patch(f"policies/{ids['policy']}", {"data": {"type": "policies", "attributes": {"description": say("Nothing is public")}}})
        ids["set"] = api.policy_set("opa", [ids["policy"]], ids["storage"], name="guardrails", description=say("For every network"))
        api.post(f"policy-sets/{ids['set']}/parameters", {"data": {"type": "vars", "attributes": {"key": "limit", "value": say("3"), "category": "policy-set"}}})

    # ---- content ----

    def make_content(self):
        readme = self.say("# The network\n\nIt has **two** gateways.", size="text")
        self.configurations = {name: self.api.upload(self.ids[name], {"main.tf": "", "README.md": readme}) for name in ("net-prod", "storage", "running", "applying", "held")}

    def make_states(self):
        """Two versions of a state, with a hostile key, an output and a secret."""
        api, place = self.api, f"workspaces/{self.ids['net-prod']}"
        api.post(f"{place}/actions/lock", {})
        for serial, value in ((1, "first"), (2, "second")):
            instances = [{"index_key": self.say(value), "schema_version": 0, "attributes": {"input": self.say(value)}}]
            state = {"version": 4, "terraform_version": "1.11.4", "serial": serial, "lineage": "l", "check_results": None,
                     "outputs": {"address": {"value": self.say("10.0.0.1"), "type": "string"}, "secret": {"value": "rosy-fingered", "type": "string", "sensitive": True}},
                     "resources": [{"mode": "managed", "type": "terraform_data", "name": "one", "provider": 'provider["terraform.io/builtin/terraform"]', "instances": instances}]}
            text = json.dumps(state).encode()
            attributes = {"serial": serial, "lineage": "l", "md5": hashlib.md5(text).hexdigest(), "state": base64.b64encode(text).decode()}
            self.make("state", f"{place}/state-versions", "state-versions", attributes)
        api.post(f"{place}/actions/unlock", {})

    # ---- runs ----

    def take(self, run, stage):
        """The run's job, once it waits."""
        def claimed():
            self.worker.jobs_by_run.update({job["run"]: job for job in self.worker.claim(20)})
            return run in self.worker.jobs_by_run

        until(claimed, f"a {stage} job of {run} waits")
        job = self.worker.jobs_by_run.pop(run)
        assert job["stage"] == stage
        return job

    def run(self, name, message, **attributes):
        return self.api.run(self.ids[name], self.configurations[name], message=self.say(message), **attributes)

    def plan(self, run, outcome="passed", **more):
        job = self.take(run, "plan")
        self.worker.on(job, "PUT", "log?offset=0", self.log)
        self.worker.on(job, "PUT", "plan-json", json.dumps(self.document()).encode())
        self.worker.end(job, outcome, **{"has-changes": True, "additions": 1, "changes": 1, "destructions": 2, **more})

    def document(self):
        say = self.say
        long = say("#!/bin/sh\nset -e\nexit 0\n", size="text")
        return plan(
            [change(f'module.a.aws_x.updated["{say("k")}"]', ["update"], {"id": "i-1", "script": long, "tags": {say("Name"): say("web")}, "secret": "a"},
                    {"id": "i-1", "script": long + "x", "tags": {say("Name"): say("api")}, "secret": "b"}, before_sensitive={"secret": True}, after_sensitive={"secret": True}),
             change("aws_x.replaced", ["delete", "create"], {"ami": "one"}, {"ami": "two"}, replace_paths=[["ami"]], action_reason="replace_because_cannot_update"),
             change("aws_x.gone", ["delete"], {"id": "x"}, None),
             change(f'aws_x.each["{say("k")}"]', ["create"], None, {"a": say("b")})],
            output_changes={"address": {"actions": ["update"], "before": say("10.0.0.1"), "after": say("10.0.0.2"), "after_unknown": False, "before_sensitive": False, "after_sensitive": False}},
            checks=[{"address": {"kind": "check", "to_display": "check.young"}, "status": "fail", "instances": [{"problems": [{"message": say("it is old")}]}]}])

    def ended(self, run, status):
        self.api.wait_status(run, status)
        return run

    def confirmable(self, run):
        until(lambda: self.api.attributes(f"runs/{run}")["actions"]["is-confirmable"], lambda: f"{run} waits for a person: {self.api.status(run)}")

    def make_runs(self):
        """In net-prod: an applied, a failed, a discarded and a plan-only run, one that waits for a person, and one behind it."""
        api, ids, worker = self.api, self.ids, self.worker
        api.patch(f"workspaces/{ids['net-prod']}", {"data": {"type": "workspaces", "attributes": {"cost-estimation-enabled": False}}})
        applied = self.run("net-prod", "Add the gateway", auto_apply=True)
        self.plan(applied)
        job = self.take(applied, "apply")
        worker.on(job, "POST", "started")
        worker.on(job, "PUT", "log?offset=0", self.log)
        worker.end(job)
        ids["applied"] = self.ended(applied, "applied")
        self.make_health()
        self.make_requests()
        self.make_queries()
        errored = self.run("net-prod", "Break it")
        self.plan(errored, "failed", error=self.say("exit status 1"))
        ids["errored"] = self.ended(errored, "errored")
        only = self.run("net-prod", "Only look", plan_only=True)
        self.plan(only)
        self.ended(only, "planned_and_finished")
        discarded = self.run("net-prod", "Think again")
        self.plan(discarded)
        self.confirmable(discarded)
        api.act(discarded, "discard", self.say("Not **now**", size="text"))
        api.patch(f"workspaces/{ids['net-prod']}", {"data": {"type": "workspaces", "attributes": {"cost-estimation-enabled": True}}})

    def make_health(self):
        """In net-prod: an assessment that has found drift and a failed check. In empty: one that has failed."""
        api, ids, say = self.api, self.ids, self.say
        for name in ("net-prod", "empty"):
            api.patch(f"workspaces/{ids[name]}", {"data": {"type": "workspaces", "attributes": {"assessments-enabled": True}}})
        Assessments(self.site, api, self.worker).assess(ids["net-prod"], found([f'one["{say("k")}"]'], ["two"], [("young", say("it is old"))], say))
        self.site.ask("insert into assessment_results (id, workspace_id, succeeded, error) values ('asmtres-0000000000000000', %s, false, %s)", ids["empty"], say("exit status 1"))
        self.site.ask("update workspaces set assessment_id = 'asmtres-0000000000000000' where id = %s", ids["empty"])

    def make_requests(self):
        """In net-prod: an open change request and an archived one."""
        api, ids, say = self.api, self.ids, self.say
        for subject in ("Pin the actions", "Leave vpc 4.x"):
            inputs = {"subject": say(subject), "message": say("Use **commits**. See [the page](https://docs.example/fix).", size="text")}
            attributes = {"action_type": "change_request", "action_inputs": inputs, "target_ids": [ids["net-prod"]]}
            api.post("organizations/acme/explorer/bulk-actions", {"data": {"type": "bulk_actions", "attributes": attributes}})
        ids["request"], archived = (item["id"] for item in api.get(f"workspaces/{ids['net-prod']}/change-requests").data)
        api.post(f"workspaces/change-requests/{archived}")

    def make_queries(self):
        """In net-prod: a query that has found two files, and one that has failed."""
        queries, workspace, say = Queries(self.api, self.worker), self.ids["net-prod"], self.say
        self.ids["query"] = queries.finished(workspace, listed("one", "two", config=say('resource "folder_file" "one" {\n}', size="text"), say=say))
        self.ids["failedquery"] = queries.finished(workspace, say("no results\n"), "errored", error=say("The folder is missing"))

    def make_waiting(self):
        api, ids, say, worker = self.api, self.ids, self.say, self.worker
        ids["run"] = self.run("net-prod", "Open port 443 for the gateway")
        self.plan(ids["run"])
        job = self.take(ids["run"], "cost")
        worker.on(job, "PUT", "cost", COST)
        worker.end(job)
        self.confirmable(ids["run"])
        assert all(status < 400 for service in self.site.receiver.services.values() for status in service.answers), "a callback was refused"
        for body in ("Is this **right**? See [the page](https://docs.example/fix).", "Yes"):
            api.post(f"runs/{ids['run']}/comments", {"data": {"type": "comments", "attributes": {"body": say(body, size="text")}}})
        ids["behind"] = self.run("net-prod", "And then port 80")
        ids["override"] = self.run("storage", "Make it public")
        self.plan(ids["override"])
        outcome = {"policy_name": "no-public", "enforcement_level": "mandatory", "query": "data.p.deny", "status": "failed", "description": say("Nothing is public"),
                   "output": [{"print": say("a bucket is public", size="text")}]}
        job = self.take(ids["override"], "opa")
        worker.on(job, "PUT", "policy-results", {"sets": [{"id": ids["set"], "error": None, "outcomes": [outcome]}], "output": say("1 of 1 failed", size="text")})
        worker.end(job, "failed")
        self.ended(ids["override"], "policy_override")
        ids["running"] = self.run("running", "Rotate the keys")
        job = self.take(ids["running"], "plan")
        worker.on(job, "POST", "started")
        worker.on(job, "PUT", "log?offset=0", self.log)

    def make_held(self):
        """A workspace that is held after a lost apply, and an apply that has left a resource unrecorded."""
        ids, worker = self.ids, self.worker
        applying = self.run("applying", "Grow", auto_apply=True)
        self.plan(applying)
        job = self.take(applying, "apply")
        worker.on(job, "POST", "started")
        resource = {"action": "create", "address": f'aws_x.each["{self.say("k")}"]', "type": "aws_x", "provider": "example", "id": self.say("i-1")}
        worker.on(job, "PUT", "unrecorded-resources", {"resources": [resource]})
        lost = self.run("held", "Lose it")
        self.plan(lost)
        self.confirmable(lost)
        self.api.act(lost, "discard")
        ids["applying"], ids["held"] = applying, self.ids["held"]
        with psycopg.connect(self.site.database, autocommit=True) as connection:
            connection.execute("insert into workspace_holds (job_id, workspace_id, run_id, worker, token_hash, until) "
                               "values ('job-lost', %s, %s, %s, 'none', 'infinity')", [ids["held"], lost, self.say("machine-7")])
            connection.execute("update workspaces set hold_job_id = 'job-lost' where id = %s", [ids["held"]])

    # ---- version control ----

    def make_vcs(self):
        """A connection, a workspace with a repository that is not reached, and events of it. The provider does not exist."""
        ids, say = self.ids, self.say
        client = {"name": say("Forge"), "service-provider": "gitea", "http-url": "https://forge.example", "api-url": "https://forge.example/api/v1", "oauth-token-string": "wine-dark"}
        ids["connection"] = self.api.post(f"{self.base}/oauth-clients", {"data": {"type": "oauth-clients", "attributes": client}}).data["id"]
        token = self.api.get(f"oauth-clients/{ids['connection']}").data["relationships"]["oauth-tokens"]["data"][0]["id"]
        workspace = self.workspace("tracked", **{"vcs-repo": {"oauth-token-id": token, "identifier": "acme/network", "branch": "main"}})
        ids.update(pushed="ve-pushed", event="ve-fork")
        with psycopg.connect(self.site.database, autocommit=True) as connection:
            connection.execute("update vcs_tokens set error = %s where id = %s", [say("no answer in 10 s"), token])
            repository, organization = connection.execute(
                "update vcs_repositories set error = %s, hook_error = %s, look_error = %s, default_branch = %s, look_due = 'infinity' "
                "where identifier = 'acme/network' returning id, organization_id", [say("not found"), say("403"), say("timeout"), say("trunk", size="word")]).fetchone()
            connection.execute("insert into vcs_installations (id, installation_id, organization_id, name, kind, web_url, error) values ('ghain-1', 1, %s, %s, 'User', 'javascript:pwned=1', %s)",
                               [organization, say("octo", size="word"), say("suspended")])
            for owner in (ids["connection"], "ghain-1"):
                connection.execute("insert into vcs_limits (owner_id, minute_left, hour_left, blocked_until, error) values (%s, 0, 0, now() + interval '1 day', %s) "
                                   "on conflict (owner_id) do update set blocked_until = excluded.blocked_until, error = excluded.error", [owner, say("too many calls")])
            connection.execute("delete from vcs_events where repository_id = %s", [repository])
            event = ("insert into vcs_events (id, organization_id, connection_id, repository_id, kind, ref, sha, before_sha, pull_request, detail, state, level, message, files) "
                     "values (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s)")
            detail = json.dumps({"title": say("Open a port"), "message": say("Add a route\n\nIt is needed.", size="text"), "sender": say("ada", size="word"), "sender_url": "javascript:pwned=1",
                                 "commit_url": "https://forge.example/acme/network/commit/1", "url": "javascript:pwned=1"})
            of = [organization, ids["connection"], repository]
            connection.execute(event, [ids["pushed"], *of, "push", f"refs/heads/{say('main')}", "1" * 40, "0" * 40, None, detail, "done", "info", "", json.dumps([say("main.tf"), "a/b.tf"])])
            connection.execute(event, [ids["event"], *of, "pr_open", "refs/heads/x", "2" * 40, "", 7, detail, "approval", "info", "", None])
            connection.execute(event, ["ve-broken", *of, "push", "refs/heads/main", "3" * 40, "1" * 40, None, detail, "done", "error", say("the delivery can't be read"), None])
            outcome = "insert into vcs_outcomes (event_id, subject_id, reason, run_id) values (%s, %s, %s, %s)"
            connection.execute(outcome, [ids["pushed"], workspace, "path", None])
            connection.execute(outcome, [ids["pushed"], ids["storage"], "started", ids["override"]])
            connection.execute(outcome, [ids["event"], workspace, "fork_approval", None])


COST = {
    "status": "finished", "error-message": None, "currency": "USD", "prior-monthly-cost": "8.392", "proposed-monthly-cost": "65.98",
    "delta-monthly-cost": "57.588", "resources-count": 2, "matched-resources-count": 1, "unmatched-resources-count": 1,
    "resources": [
        {"address": "aws_x.updated", "type": "aws_x", "provider": "registry.terraform.io/hashicorp/aws", "matched": True, "prior": "8.392", "proposed": "65.98", "delta": "57.588",
         "components": [{"name": "Instance", "unit": "hour", "quantity": "730", "price": "0.0904", "monthly-cost": "65.98"}]},
        {"address": "aws_x.each", "type": "aws_x", "provider": "", "matched": False, "reason": "no price book knows the type"},
    ],
}
