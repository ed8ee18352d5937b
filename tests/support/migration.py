# SPDX-License-Identifier: MPL-2.0
"""runyard-migrate, run as a program, and an organization that has objects of every kind that it moves."""

import base64
import hashlib
import json
import os
import subprocess
import sys

from support.documents import document
from support.modules import Modules
from support.providers import Providers, zip_of
from support.servers import ROOT

PACKAGE = ROOT / "deploy/migrate"
SECRET = "top-secret-value"


class Migrate:
    """The program, with a working folder of its own. `source` and `target` are clients (support.api)."""

    def __init__(self, folder, source, target, name=None, url=None):
        self.folder, self.source, self.target = folder / "work", source, target
        self.name, self.url = name or target.organization, url or source.url
        self.done = None

    def arguments(self, command, *more, source=None):
        arguments = [sys.executable, "-m", "runyard_migrate", command, "--from", source or self.url, "--folder", str(self.folder),
                     "--organization", f"{self.source.organization}={self.name}"]
        return arguments + ([] if command == "export" else ["--to", self.target.url]) + [str(one) for one in more]

    @property
    def environment(self):
        return {**os.environ, "PYTHONPATH": str(PACKAGE), "RUNYARD_SOURCE_TOKEN": self.source.token, "RUNYARD_TARGET_TOKEN": self.target.token}

    def run(self, command, *more, status=0, source=None):
        """Runs a command to its end; its output. `status` is the exit status, or None for any."""
        self.done = subprocess.run(self.arguments(command, *more, source=source), env=self.environment, capture_output=True, text=True, timeout=600)
        text = self.done.stdout + self.done.stderr
        assert status is None or self.done.returncode == status, text
        assert "Traceback" not in text, text
        return self.done.stdout

    def start(self, command, *more):
        return subprocess.Popen(self.arguments(command, *more), env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    @property
    def work(self):
        return self.folder / self.name

    def plan_rows(self):
        return json.loads((self.work / "plan.json").read_text())["changes"]

    def fill_secrets(self, **values):
        """Fills the template; its path."""
        path = self.work / "secrets.json"
        template = json.loads(path.read_text())
        path.write_text(json.dumps({key: values.get(key, SECRET) for key in template}))
        return path

    def files(self):
        """The texts of all files of the working folder, except the secrets."""
        return {path.name: path.read_text(errors="replace") for path in self.folder.rglob("*") if path.is_file() and path.name != "secrets.json"}


def state_text(serial, lineage="11111111-2222-3333-4444-555555555555", size=0, **outputs):
    outputs = {name: {"value": value, "type": "string"} for name, value in outputs.items()}
    state = {"version": 4, "terraform_version": "1.9.8", "serial": serial, "lineage": lineage, "outputs": outputs, "resources": [], "check_results": None}
    if size:
        state["outputs"]["large"] = {"value": "x" * size, "type": "string"}
    return json.dumps(state, indent=2).encode() + b"\n"


def write_state(api, workspace, text):
    head = json.loads(text)
    attributes = {"serial": head["serial"], "lineage": head["lineage"], "md5": hashlib.md5(text).hexdigest(), "state": base64.b64encode(text).decode()}
    return api.post(f"workspaces/{workspace}/state-versions", document("state-versions", attributes)).data["id"]


def write_states(api, workspace, *texts):
    api.post(f"workspaces/{workspace}/actions/lock", {"reason": "states"})
    for text in texts:
        write_state(api, workspace, text)
    api.post(f"workspaces/{workspace}/actions/unlock")


class Moved:
    """Fills the client's organization. ids: the objects by names of their own."""

    def __init__(self, api, task):
        """`task`: a service of support.receiver."""
        self.api, self.base, self.ids, self.task = api, f"organizations/{api.organization}", {}, task
        self.make_places()
        self.make_people()
        self.make_values()
        self.make_policies()
        self.make_hooks()
        self.make_registry()
        self.make_content()

    def make(self, key, path, type, attributes, **relations):
        relations = {name.replace("_", "-"): {"data": data} for name, data in relations.items()}
        body = document(type, attributes)
        if relations:
            body["data"]["relationships"] = relations
        self.ids[key] = self.api.post(path, body).data["id"]
        return self.ids[key]

    def link(self, type, key):
        return {"type": type, "id": self.ids[key]}

    def make_places(self):
        self.make("pool", f"{self.base}/agent-pools", "agent-pools", {"name": "edge", "organization-scoped": False})
        self.make("reserved", f"{self.base}/reserved-tag-keys", "reserved-tag-keys", {"key": "cost-center", "disable-overrides": True})
        self.make("key", f"{self.base}/ssh-keys", "ssh-keys", {"name": "deploy", "value": "-----BEGIN OPENSSH PRIVATE KEY-----"})
        self.make("project", f"{self.base}/projects", "projects", {"name": "Network and Co", "description": "Ours"})
        self.api.patch(f"projects/{self.ids['project']}/tag-bindings", {"data": [{"type": "tag-bindings", "attributes": {"key": "cost-center", "value": "42"}}]})
        settings = {"name": "network", "description": "Main", "auto-apply": True, "working-directory": "live", "terraform-version": "1.9.8", "queue-all-runs": True,
                    "trigger-prefixes": ["modules"], "speculative-enabled": False, "file-triggers-enabled": False}
        self.make("network", f"{self.base}/workspaces", "workspaces", settings, project=self.link("projects", "project"))
        self.make("storage", f"{self.base}/workspaces", "workspaces", {"name": "storage", "global-remote-state": True, "auto-destroy-at": "2031-01-01T00:00:00Z"})
        self.make("remote", f"{self.base}/workspaces", "workspaces", {"name": "remote", "execution-mode": "local"})
        self.api.patch(f"agent-pools/{self.ids['pool']}", document("agent-pools", {"name": "edge"}) | {"data": {
            "type": "agent-pools", "attributes": {"name": "edge", "organization-scoped": False}, "relationships": {"allowed-workspaces": {"data": [self.link("workspaces", "storage")]}}}})
        self.api.patch(f"workspaces/{self.ids['storage']}", document("workspaces", {"execution-mode": "agent", "agent-pool-id": self.ids["pool"]}))
        self.api.patch(f"workspaces/{self.ids['network']}/relationships/ssh-key", document("workspaces", {"id": self.ids["key"]}))
        self.api.post(f"workspaces/{self.ids['network']}/relationships/tags", {"data": [{"type": "tags", "attributes": {"name": "prod"}}]})
        self.api.patch(f"workspaces/{self.ids['network']}/tag-bindings", {"data": [{"type": "tag-bindings", "attributes": {"key": "team", "value": "net/ops"}}]})
        self.api.post(f"workspaces/{self.ids['network']}/relationships/remote-state-consumers", {"data": [self.link("workspaces", "remote")]})
        for path in (f"workspaces/{self.ids['network']}", self.base):
            self.api.post(f"{path}/relationships/data-retention-policy", document("data-retention-policy-delete-olders", {"delete-older-than-n-days": 90}))

    def make_people(self):
        access = {"manage-workspaces": True, "read-projects": True}
        self.make("team", f"{self.base}/teams", "teams", {"name": "network", "visibility": "organization", "organization-access": access, "sso-team-id": "net"})
        self.make("auditors", f"{self.base}/teams", "teams", {"name": "auditors", "visibility": "secret"})
        self.make("member", f"{self.base}/organization-memberships", "organization-memberships", {"email": "ada@example.com"}, teams=[self.link("teams", "team")])
        team, project = self.link("teams", "team"), self.link("projects", "project")
        self.make("project_access", "team-projects", "team-projects", {"access": "maintain"}, team=team, project=project)
        custom = {"access": "custom", "runs": "plan", "variables": "read", "state-versions": "read-outputs", "workspace-locking": True}
        self.make("access", "team-workspaces", "team-workspaces", custom, team=self.link("teams", "auditors"), workspace=self.link("workspaces", "network"))

    def make_values(self):
        self.api.variable(self.ids["network"], "region", "eu-1", description="Where")
        self.api.variable(self.ids["network"], "zones", '["a","b"]', hcl=True)
        self.api.variable(self.ids["network"], "PASSWORD", "the source's password", category="env", sensitive=True)
        self.make("varset", f"{self.base}/varsets", "varsets", {"name": "shared", "description": "For all", "priority": True}, projects=[self.link("projects", "project")],
                  workspaces=[self.link("workspaces", "storage")])
        for key, sensitive in (("LOG", False), ("TOKEN", True)):
            self.make("set_" + key, f"varsets/{self.ids['varset']}/relationships/vars", "vars", {"key": key, "value": "v", "category": "env", "sensitive": sensitive})
        self.make("owned_set", f"{self.base}/varsets", "varsets", {"name": "project's own"}, parent=self.link("projects", "project"))

    def make_policies(self):
        self.ids["policy"] = self.api.policy("opa", "mandatory", "package p\n\ndeny[x] { false; x := 1 }\n", "no-public")
        self.ids["set"] = self.api.policy_set("opa", [self.ids["policy"]], self.ids["network"], name="guardrails", description="Rules")
        self.make("parameter", f"policy-sets/{self.ids['set']}/parameters", "vars", {"key": "limit", "value": "5", "category": "policy-set"})

    def make_hooks(self):
        workspace = f"workspaces/{self.ids['network']}"
        hook = {"name": "on call", "enabled": False, "destination-type": "generic", "url": "http://127.0.0.1:9/hook", "token": "hook-token", "triggers": ["run:errored"]}
        self.make("hook", f"{workspace}/notification-configurations", "notification-configurations", hook)
        self.make("project_hook", f"projects/{self.ids['project']}/notification-configurations", "notification-configurations", hook)
        self.make("task", f"{self.base}/tasks", "tasks", {"name": "scan", "url": self.task.url, "category": "task", "hmac-key": self.task.key})
        self.make("attached", f"{workspace}/tasks", "workspace-tasks", {"enforcement-level": "advisory", "stages": ["post_plan"]}, task=self.link("tasks", "task"))
        self.make("trigger", f"{workspace}/run-triggers", "run-triggers", {}, sourceable=self.link("workspaces", "storage"))
        self.make("schedule", f"{workspace}/schedules", "schedules", {"name": "nightly", "kind": "plan", "cron": "0 3 * * *", "time-zone": "Europe/Vienna"})
        self.make("window", f"{workspace}/maintenance-windows", "maintenance-windows", {"name": "sunday", "days": ["sun"], "start": "22:00", "duration-minutes": 60})
        self.make("view", f"{self.base}/explorer/views", "explorer-saved-queries", {"name": "old ones", "query-type": "workspaces", "query": {}})
        git = {"name": "git", "service-provider": "git", "http-url": "https://git.example.com", "key": "user", "oauth-token-string": "git-password"}
        self.make("client", f"{self.base}/oauth-clients", "oauth-clients", git)

    def make_registry(self):
        modules = Modules(self.api)
        modules.publish("vpc", "1.0.0")
        modules.publish("vpc", "1.1.0", {"main.tf": "# new\n"})
        for version, more in (("0.8.0", {"revocation": {"status": "Revoked", "message": "It leaks."}}), ("0.9.0", {})):
            modules.publish("vpc", version)
            deprecation = {"deprecated-status": "Deprecated", "reason": "It is old.", "link": "https://example.com/1.0"}
            self.api.patch(f"{modules.path('vpc')}/{version}", document("registry-module-versions", {"deprecation": deprecation, **more}))
        modules.create("consul", **{"provider": "aws", "namespace": "hashicorp", "registry-name": "public"})
        self.api.patch(modules.path("vpc"), document("registry-modules", {"no-code": True}))
        provider_set = {"name": "accounts", "provider-source": "hashicorp/aws", "configuration-hcl": 'provider "aws" {}\n', "priority": True}
        self.make("provider_set", f"{self.base}/provider-sets", "provider-sets", provider_set, projects=[self.link("projects", "project")])
        self.providers = Providers(self.api)
        self.archives = {platform: zip_of({"terraform-provider-cloud_v1.0.0": platform.encode()}) for platform in ("linux_amd64", "linux_arm64")}
        self.providers.publish("cloud", "1.0.0", self.archives)
        self.providers.create("aws", **{"registry-name": "public", "namespace": "hashicorp"})
        tags = {"tag-bindings": {"data": [{"type": "tag-bindings", "attributes": {"key": key, "value": "x"}} for key in ("tier", "owner")]}}
        for type, path in (("registry-modules", modules.path("vpc")), ("registry-providers", self.providers.path("cloud"))):
            self.api.patch(path, {"data": {"type": type, "attributes": {}, "relationships": tags}})

    def make_content(self):
        write_states(self.api, self.ids["network"], *(state_text(serial, word=f"s{serial}") for serial in (3, 4, 7)))
        write_states(self.api, self.ids["storage"], state_text(1, "9" * 8, size=2 << 20))
        self.ids["configuration"] = self.api.upload(self.ids["network"], {"live/main.tf": 'output "word" {\n  value = "s7"\n}\n'})


def states_of(api, workspace_name):
    """The contents of a workspace's states, the oldest first. An upload whose first answer was lost leaves a discarded version."""
    path = f"state-versions?filter%5Bworkspace%5D%5Bname%5D={workspace_name}&filter%5Borganization%5D%5Bname%5D={api.organization}"
    return [api.ask("GET", one["attributes"]["hosted-state-download-url"]).body for one in reversed(api.get(path).data)
            if one["attributes"]["status"] == "finalized"]


def connect(api):
    """Makes the VCS connection of `Moved` at the target, as people do. The client."""
    git = {"name": "git", "service-provider": "git", "http-url": "https://git.example.com", "key": "user", "oauth-token-string": "x"}
    api.post(f"organizations/{api.organization}/oauth-clients", document("oauth-clients", git))
    return api
