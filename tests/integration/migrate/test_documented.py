# SPDX-License-Identifier: MPL-2.0
"""Answers in the forms that HCP Terraform documents, which differ in places from Runyard's own: they are read, exported and moved.

The values are the tests' own; names of attributes and relations are those of the documentation and of go-tfe's structures."""

import json
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from support.api import Api, tar_gz
from support.migration import Migrate, state_text
from support.openpgp import signer
from support.providers import Providers, file_name, sha, shasums, zip_of

TIME = "2024-03-01T10:00:00.000Z"
ORG = {"data": {"id": "hcp-org", "type": "organizations"}}


def link(type, *ids):
    return {"data": [{"type": type, "id": one} for one in ids]}


def one(type, id):
    return {"data": {"type": type, "id": id}}


def resource(type, id, attributes, **relations):
    return {"id": id, "type": type, "attributes": attributes, "relationships": {name.replace("_", "-"): value for name, value in relations.items()},
            "links": {"self": f"/api/v2/{type}/{id}"}}


STATE = state_text(12, word="documented")
WORKSPACE = {
    "actions": {"is-destroyable": True}, "allow-destroy-plan": False, "apply-duration-average": 12000, "assessments-enabled": True, "auto-apply": True,
    "auto-apply-run-trigger": True, "auto-destroy-activity-duration": None, "auto-destroy-at": None, "auto-destroy-status": None, "created-at": TIME, "description": "The network",
    "environment": "default", "execution-mode": "agent", "file-triggers-enabled": True, "global-remote-state": False, "inherits-project-auto-destroy": True,
    "latest-change-at": TIME, "last-assessment-result-at": None, "locked": False, "locked-reason": "", "migration-environment": None, "name": "network",
    "operations": True, "permissions": {"can-update": True}, "plan-duration-average": 9000, "policy-check-failures": None, "queue-all-runs": False,
    "resource-count": 3, "run-failures": 1, "setting-overwrites": {"agent-pool": True, "execution-mode": True}, "source": "tfe-ui", "source-name": None,
    "source-url": None, "speculative-enabled": True, "structured-run-output-enabled": True, "tag-names": ["prod"], "terraform-version": "~> 1.9.0", "trigger-patterns": ["modules/**"],
    "trigger-prefixes": [], "unarchived-workspace-change-requests-count": 0, "updated-at": TIME, "vcs-repo-identifier": "acme/network", "working-directory": "live",
    "workspace-kpis-runs-count": 7,
    "vcs-repo": {"branch": "", "ingress-submodules": False, "source-directory": None, "tag-prefix": None, "tags-regex": None, "tags": None, "identifier": "acme/network",
                 "display-identifier": "acme/network", "oauth-token-id": "ot-1", "webhook-url": "https://hcp.example.com/webhooks/vcs/1",
                 "repository-http-url": "https://github.com/acme/network", "service-provider": "github"}}

LISTS = {
    "organizations/hcp-org": resource("organizations", "hcp-org", {
        "name": "hcp-org", "email": "ops@example.com", "external-id": "org-1", "created-at": TIME, "collaborator-auth-policy": "password", "cost-estimation-enabled": False,
        "assessments-enforced": False, "default-execution-mode": "remote", "session-timeout": None, "session-remember": None, "owners-team-saml-role-id": None,
        "plan": "standard", "plan-expired": False, "permissions": {"can-update": True}, "saml-enabled": False, "two-factor-conformant": True,
        "aggregated-commit-status-enabled": True, "send-passing-statuses-for-untriggered-speculative-plans": False, "allow-force-delete-workspaces": True},
        default_agent_pool={"data": None}, entitlement_set={"links": {"related": "/api/v2/organizations/hcp-org/entitlement-set"}}),
    "organizations/hcp-org/reserved-tag-keys": [resource("reserved-tag-keys", "rtk-1", {"key": "owner", "disable-overrides": False, "created-at": TIME, "updated-at": TIME})],
    "organizations/hcp-org/ssh-keys": [resource("ssh-keys", "sshkey-1", {"name": "modules"})],
    "organizations/hcp-org/oauth-clients": [resource("oauth-clients", "oc-1", {
        "created-at": TIME, "callback-url": "https://hcp.example.com/auth/1/callback", "connect-path": "/auth/1?organization_id=1", "service-provider": "github",
        "service-provider-display-name": "GitHub", "name": None, "http-url": "https://github.com", "api-url": "https://api.github.com", "key": None, "secret": None, "rsa-public-key": None,
        "organization-scoped": True}, organization=ORG, projects=link("projects"), oauth_tokens=link("oauth-tokens", "ot-1"), agent_pool={"data": None})],
    "organizations/hcp-org/agent-pools": [resource("agent-pools", "apool-1", {"name": "edge", "created-at": TIME, "organization-scoped": False, "agent-count": 3},
        agents={"links": {"related": "/x"}}, workspaces=link("workspaces", "ws-1"), allowed_workspaces=link("workspaces", "ws-1"), allowed_projects=link("projects"),
        stacks=link("stacks", "st-1"), allowed_stacks=link("stacks", "st-1"), excluded_workspaces=link("workspaces"))],
    "organizations/hcp-org/projects": [resource("projects", f"prj-{number}", {
        "name": name, "description": None, "workspace-count": 1, "team-count": 1, "stack-count": 0, "auto-destroy-activity-duration": None, "default-execution-mode": "remote",
        "setting-overwrites": {"default-execution-mode": False, "default-agent-pool": False}, "permissions": {"can-update": True}}, organization=ORG, default_agent_pool={"data": None})
        for number, name in ((1, "Default Project"), (2, "Platform"))],
    "projects/prj-2/tag-bindings": [resource("tag-bindings", "tb-1", {"key": "owner", "value": "platform", "created-at": TIME})],
    "organizations/hcp-org/teams": [
        resource("teams", "team-1", {"name": "owners", "sso-team-id": None, "users-count": 1, "visibility": "organization", "allow-member-token-management": True,
                                     "permissions": {"can-destroy": False}, "organization-access": {"manage-policies": True, "manage-workspaces": True, "manage-vcs-settings": True}},
                 users=link("users", "user-1")),
        resource("teams", "team-2", {"name": "platform", "sso-team-id": "grp-platform", "users-count": 1, "visibility": "secret", "allow-member-token-management": True,
                                     "permissions": {}, "organization-access": {"manage-policies": False, "manage-workspaces": True, "read-projects": True, "manage-agent-pools": False}})],
    "team-projects?prj-1": [],
    "team-projects?prj-2": [resource("team-projects", "tprj-1", {
        "access": "custom", "project-access": {"settings": "read", "teams": "none", "variable-sets": "read"},
        "workspace-access": {"create": True, "move": False, "locking": False, "delete": False, "runs": "plan", "variables": "read", "state-versions": "read", "sentinel-mocks": "none",
                             "run-tasks": False, "policy-overrides": False}}, team=one("teams", "team-2"), project=one("projects", "prj-2"))],
    "organizations/hcp-org/organization-memberships": [resource("organization-memberships", "ou-1", {"status": "active", "email": "Grace@example.com", "created-at": TIME},
        teams=link("teams", "team-2"), user=one("users", "user-9"), organization=ORG)],
    "organizations/hcp-org/varsets": [resource("varsets", "varset-1", {"name": "credentials", "description": "", "global": False, "priority": False, "updated-at": TIME, "var-count": 1,
        "workspace-count": 1, "project-count": 1}, organization=ORG, parent=one("organizations", "hcp-org"), vars=link("vars", "var-9"), workspaces=link("workspaces", "ws-1"),
        projects=link("projects", "prj-2"))],
    "varsets/varset-1/relationships/vars": [resource("vars", "var-9", {"key": "AWS_SECRET_ACCESS_KEY", "value": None, "sensitive": True, "category": "env", "hcl": False, "created-at": TIME,
        "description": None}, varset=one("varsets", "varset-1"))],
    "organizations/hcp-org/policies": [resource("policies", "pol-1", {"name": "limits", "kind": "sentinel", "description": None, "enforce": [{"path": "limits.sentinel", "mode": "hard-mandatory"}],
        "enforcement-level": "hard-mandatory", "policy-set-count": 1, "updated-at": TIME}, organization=ORG, policy_sets=link("policy-sets", "polset-1"))],
    "organizations/hcp-org/policy-sets": [resource("policy-sets", "polset-1", {"name": "production", "description": "Rules", "kind": "sentinel", "global": False, "agent-enabled": True,
        "policy-tool-version": None, "overridable": True, "policy-count": 1, "workspace-count": 1, "project-count": 1, "versioned": False, "vcs-repo": None, "policies-path": None,
        "created-at": TIME, "updated-at": TIME}, organization=ORG, policies=link("policies", "pol-1"), workspaces=link("workspaces", "ws-1"), projects=link("projects"))],
    "policy-sets/polset-1/parameters": [resource("vars", "var-7", {"key": "max", "value": "5", "sensitive": False, "category": "policy-set"}, configurable=one("policy-sets", "polset-1"))],
    "organizations/hcp-org/tasks": [resource("tasks", "task-1", {"category": "task", "name": "scanner", "url": "https://scan.example.com", "description": None, "enabled": True,
        "hmac-key": None, "global-configuration": {"enabled": False, "stages": ["pre_plan"], "enforcement-level": "mandatory"}}, organization=ORG, workspace_tasks=link("workspace-tasks", "wstask-1"))],
    "organizations/hcp-org/registry-modules": [resource("registry-modules", "mod-1", {"name": "vpc", "namespace": "hcp-org", "provider": "aws", "status": "setup_complete",
        "version-statuses": [{"version": "1.1.0", "status": "ok"}, {"version": "1.0.0", "status": "clone_failed"}], "created-at": TIME, "updated-at": TIME, "registry-name": "private",
        "publishing-mechanism": "git_tag", "no-code": False, "permissions": {"can-delete": True}}, organization=ORG)],
    "organizations/hcp-org/registry-modules/private/hcp-org/vpc/aws": resource("registry-modules", "mod-1", {"name": "vpc", "namespace": "hcp-org", "provider": "aws",
        "status": "setup_complete", "version-statuses": [{"version": "1.1.0", "status": "ok"}], "created-at": TIME, "updated-at": TIME, "registry-name": "private",
        "vcs-repo": {"branch": "", "identifier": "acme/terraform-aws-vpc", "display-identifier": "acme/terraform-aws-vpc", "ingress-submodules": True, "oauth-token-id": "ot-1",
                     "webhook-url": "https://hcp.example.com/webhooks/vcs/2"}, "permissions": {"can-delete": True}}, organization=ORG),
    "organizations/hcp-org/workspaces": [resource("workspaces", "ws-1", WORKSPACE, agent_pool=one("agent-pools", "apool-1"), current_configuration_version=one("configuration-versions", "cv-1"),
        current_run=one("runs", "run-1"), current_state_version=one("state-versions", "sv-2"), organization=ORG, project=one("projects", "prj-2"), ssh_key={"data": None},
        locked_by={"data": None}, outputs={"data": []}, readme={"data": None}, vars={"data": []}, remote_state_consumers={"links": {"related": "/x"}},
        effective_tag_bindings={"links": {"related": "/x"}})],
    "workspaces/ws-1/tag-bindings": [resource("tag-bindings", "tb-2", {"key": "env", "value": "prod"})],
    "workspaces/ws-1/relationships/tags": [resource("tags", "tag-1", {"name": "prod", "created-at": TIME, "instance-count": 1}, organization=ORG)],
    "workspaces/ws-1/vars": [
        resource("vars", "var-1", {"key": "region", "value": "eu-1", "sensitive": False, "category": "terraform", "hcl": False, "created-at": TIME, "description": None, "version-id": "a1"},
                 configurable=one("workspaces", "ws-1")),
        resource("vars", "var-2", {"key": "token", "value": None, "sensitive": True, "category": "terraform", "hcl": False, "created-at": TIME, "description": "", "version-id": "a2"})],
    "team-workspaces?ws-1": [resource("team-workspaces", "tws-1", {"access": "write", "runs": "apply", "variables": "write", "state-versions": "write", "sentinel-mocks": "read",
        "workspace-locking": True, "run-tasks": False, "policy-overrides": False}, team=one("teams", "team-2"), workspace=one("workspaces", "ws-1"))],
    "workspaces/ws-1/relationships/remote-state-consumers": [],
    "workspaces/ws-1/notification-configurations": [resource("notification-configurations", "nc-1", {"enabled": True, "name": "mails", "url": None, "destination-type": "email", "token": None,
        "triggers": ["run:errored"], "delivery-responses": [], "created-at": TIME, "updated-at": TIME, "email-addresses": []},
        subscribable=one("workspaces", "ws-1"), users=link("users", "user-9"))],
    "teams/team-1/notification-configurations": [], "teams/team-2/notification-configurations": [],
    "workspaces/ws-1/run-triggers": [],
    "workspaces/ws-1/tasks": [resource("workspace-tasks", "wstask-1", {"enforcement-level": "advisory", "stage": "post_plan", "stages": ["post_plan"]},
        task=one("tasks", "task-1"), workspace=one("workspaces", "ws-1"))],
    "state-versions": [resource("state-versions", "sv-2", {"created-at": TIME, "size": len(STATE), "hosted-state-download-url": "{archive}/state", "hosted-state-upload-url": None,
        "hosted-json-state-download-url": None, "hosted-json-state-upload-url": None, "status": "finalized", "intermediate": False, "modules": {}, "providers": {}, "resources": [],
        "resources-processed": True, "serial": 12, "state-version": 4, "terraform-version": "1.9.8", "vcs-commit-url": None, "vcs-commit-sha": None, "billable-rum-count": 3},
        run=one("runs", "run-1"), created_by=one("users", "user-9"), workspace=one("workspaces", "ws-1"), outputs=link("state-version-outputs", "wsout-1"))],
}

PROVIDER = "organizations/hcp-org/registry-providers/private/hcp-org/cloud"
VERSION = "registry-providers/private/{org}/cloud/registry-provider-versions/"
ZIP = zip_of({"terraform-provider-cloud_v3.1.1": b"the provider"})
ZIP_NAME = file_name("cloud", "3.1.1", "linux_amd64")
SUMS = shasums({ZIP_NAME: ZIP})


def version(id, number, key_id, uploaded, links):
    attributes = {"version": number, "created-at": TIME, "updated-at": TIME, "key-id": key_id, "protocols": ["5.0"], "permissions": {"can-delete": True, "can-upload-asset": True},
                  "shasums-uploaded": uploaded, "shasums-sig-uploaded": uploaded}
    return resource("registry-provider-versions", id, attributes, registry_provider=one("registry-providers", "prov-1"), tag_bindings={"links": {"related": "/x"}},
                    registry_provider_platforms={"data": [], "links": {"related": "/x"}}) | {"links": {name: "{archive}/object/" + name for name in links}}


def providers(key):
    """The documents of a provider: a version that is whole, and one whose files were never uploaded."""
    whole = version("provver-1", "3.1.1", key.key_id, True, ("shasums-download", "shasums-sig-download"))
    begun = version("provver-2", "0.0.4", key.key_id, False, ("shasums-upload", "shasums-sig-upload"))
    platform = resource("registry-provider-platforms", "provpltfrm-1", {"os": "linux", "arch": "amd64", "filename": ZIP_NAME, "shasum": sha(ZIP), "permissions": {},
        "provider-binary-uploaded": True}, registry_provider_version=one("registry-provider-versions", "provver-1")) | {"links": {"provider-binary-download": "{archive}/object/zip"}}
    return {
        "/api/registry/private/v2/gpg-keys": [resource("gpg-keys", "23", {"ascii-armor": key.armor, "created-at": TIME, "key-id": key.key_id, "namespace": "hcp-org",
            "source": "", "source-url": None, "trust-signature": "", "updated-at": TIME})],
        "organizations/hcp-org/registry-providers": [
            resource("registry-providers", "prov-1", {"name": "cloud", "namespace": "hcp-org", "created-at": TIME, "updated-at": TIME, "registry-name": "private",
                "permissions": {"can-delete": True}}, organization=ORG, registry_provider_versions={"data": [], "links": {"related": "/x"}}),
            resource("registry-providers", "prov-2", {"name": "aws", "namespace": "hashicorp", "created-at": TIME, "updated-at": TIME, "registry-name": "public", "permissions": {}}, organization=ORG)],
        PROVIDER + "/versions": [whole, begun], PROVIDER + "/versions/3.1.1": whole,
        PROVIDER + "/versions/3.1.1/platforms": [platform], PROVIDER + "/versions/3.1.1/platforms/linux/amd64": platform,
    }


LISTS["workspaces/ws-1"] = LISTS["organizations/hcp-org/workspaces"][0]


class Documented:
    """Serves the documents, in pages of one, and contents from another origin (`archive`)."""

    def __init__(self):
        front = self
        self.leaked, self.lists = [], {**LISTS, **providers(signer())}
        self.contents = {"/state": STATE, "/object/zip": ZIP, "/object/shasums-download": SUMS, "/object/shasums-sig-download": signer().sign(SUMS)}

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                status, headers, body = front.answer(self)
                self.send_response(status)
                for name, value in {"X-RateLimit-Limit": "3000", **headers}.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass
        self.servers = [ThreadingHTTPServer(("127.0.0.1", 0), Handler) for _ in range(2)]
        for server in self.servers:
            threading.Thread(target=server.serve_forever, daemon=True).start()
        self.url, self.archive = (f"http://127.0.0.1:{server.server_port}" for server in self.servers)

    def answer(self, request):
        path, _, query = request.path.partition("?")
        if request.server is self.servers[1]:
            if request.headers.get("Authorization"):
                self.leaked.append(request.path)
            return 200, {"Content-Type": "application/octet-stream"}, self.contents.get(path) or tar_gz({"live/main.tf": ""})
        path = path[len("/api/v2/"):] if path.startswith("/api/v2/") else path
        asked = dict(urllib.parse.parse_qsl(query))
        if path.endswith("/download"):
            if path.startswith("policies/"):
                return 200, {"Content-Type": "text/plain"}, b"main = rule { true }\n"
            return 302, {"Location": self.archive + "/" + path}, b""
        owner = asked.get("filter[project][id]") or asked.get("filter[workspace][id]")
        data = self.lists.get(f"{path}?{owner}" if owner else path)
        if data is None:
            return 404, {"Content-Type": "application/vnd.api+json"}, b'{"errors":[{"status":"404","title":"not found"}]}'
        document = {"data": data}
        if isinstance(data, list):
            number = int(asked["page[number]"])
            document = {"data": data[number - 1:number], "meta": {"pagination": {
                "current-page": number, "page-size": 1, "prev-page": None, "next-page": number + 1 if number < len(data) else None, "total-pages": len(data), "total-count": len(data)}}}
        return 200, {"Content-Type": "application/vnd.api+json; charset=utf-8"}, json.dumps(document).replace("{archive}", self.archive).encode()

    def release(self):
        for server in self.servers:
            server.shutdown()
            server.server_close()


@pytest.fixture
def documented():
    server = Documented()
    yield server
    server.release()


@pytest.fixture
def migrate(tmp_path, documented, there):
    return Migrate(tmp_path, Api(documented.url, "hcp-token", "hcp-org"), there)


def objects(migrate, kind):
    return {one["key"]: one for one in json.loads((migrate.folder / "hcp-org/objects" / f"{kind}.json").read_text())}


def test_documented_answers_are_read(migrate, documented):
    out = migrate.run("export", status=3)
    assert f"not in the export: {VERSION}0.0.4: publish it at the target" in out
    assert out.count("cannot be read") == 1 and "registry-module-versions/1.1.0" in out  # the document has no module protocol
    network = objects(migrate, "workspaces")["workspaces/network"]
    assert network["attributes"]["vcs-repo"] == {"identifier": "acme/network", "connection": "github https://github.com"}
    assert network["relations"] == {"project": "projects/Platform", "agent-pool": "agent-pools/edge", "ssh-key": None}
    assert objects(migrate, "varsets")["varsets/credentials"]["relations"] == {"parent": "organization/settings", "workspaces": ["workspaces/network"], "projects": ["projects/Platform"]}
    assert objects(migrate, "notifications")["workspaces/network/notifications/mails"]["relations"] == {"users": ["organization-memberships/grace@example.com"]}
    assert objects(migrate, "agent-pools")["agent-pools/edge"]["relations"] == {"allowed-workspaces": ["workspaces/network"], "allowed-projects": [], "excluded-workspaces": []}
    assert objects(migrate, "policies")["policies/limits"]["attributes"]["content"] == "main = rule { true }\n"
    assert (migrate.folder / "hcp-org/contents/workspaces/network/state-versions/12.tfstate").read_bytes() == STATE
    assert objects(migrate, "registry-modules")["registry-modules/private/{org}/vpc/aws"]["attributes"]["vcs-repo"]["identifier"] == "acme/terraform-aws-vpc"
    assert set(objects(migrate, "registry-providers")) == {"registry-providers/private/{org}/cloud", "registry-providers/public/hashicorp/aws"}
    (platform,) = objects(migrate, "registry-provider-platforms").values()
    assert (platform["owner"], platform["path"]) == (VERSION + "3.1.1", "private/hcp-org/cloud/versions/3.1.1/platforms/linux/amd64")
    contents = sorted(path.name for path in (migrate.folder / "hcp-org/contents/registry-providers").rglob("*") if path.is_file())
    assert contents == ["3.1.1.json", "linux_amd64.zip"] and list(objects(migrate, "gpg-keys")) == [f"gpg-keys/{signer().key_id}"]
    assert not documented.leaked  # the token is for the API alone


def test_documented_answers_are_moved(migrate, there):
    migrate.run("plan")
    secrets = migrate.fill_secrets()
    out = migrate.run("apply", "--secrets", secrets, status=3)
    assert "\nfailed" not in out, print(out)
    out = migrate.run("cut-over", "network", "--secrets", secrets, status=3)
    assert "the target has no VCS connection github https://github.com" in out  # before anything is locked
    base = f"organizations/{there.organization}"
    client = {"name": "our GitHub", "service-provider": "github", "http-url": "https://github.com", "api-url": "https://api.github.com", "oauth-token-string": "x"}
    there.post(f"{base}/oauth-clients", {"data": {"type": "oauth-clients", "attributes": client}})
    mapping = migrate.folder.parent / "map.json"
    mapping.write_text(json.dumps({"vcs": {"github https://github.com": "our GitHub"}}))
    migrate.run("apply", "--secrets", secrets, "--map", mapping, status=None)
    out = migrate.run("verify", "--map", mapping, status=None)
    assert " 0 differ" in out, print(out)
    network = there.get(f"{base}/workspaces/network").data
    assert network["attributes"]["execution-mode"] == "agent" and network["attributes"]["trigger-patterns"] == ["modules/**"] and network["attributes"]["vcs-repo"] is None
    theirs = Providers(there)
    assert theirs.served("cloud") == {"3.1.1": ["linux_amd64"]} and there.get(f"{theirs.base}/public/hashicorp/aws").data["attributes"]["name"] == "aws"
    package = theirs.ask("cloud", "3.1.1", "download", "linux", "amd64").json
    assert (package["shasum"], [key["key_id"] for key in package["signing_keys"]["gpg_public_keys"]]) == (sha(ZIP), [signer().key_id])
