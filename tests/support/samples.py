# SPDX-License-Identifier: MPL-2.0
"""For each endpoint that takes a document: a valid document, and ways in which its parts can be invalid. By the
handler's name in routes.def."""

import copy
import uuid
from dataclasses import dataclass, field

LONG = "x" * 20_000
HUGE = "x" * 900_000
CONTROL = "a\u0001b"


# A private key in OpenSSH's form, of no use.
SSH_KEY = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz\n-----END OPENSSH PRIVATE KEY-----\n"


class Of(str):
    """A reference to the value with that key in the world."""


@dataclass
class Value:
    """A valid value of an attribute, and invalid ones."""

    valid: object
    bad: list


def text(valid="fine", *more, long=LONG):
    return Value(valid, [7, True, ["a"], {"a": "b"}, long, *more])


def name(valid="fine", *more):
    return text(valid, "", CONTROL, *more)


def choice(valid):
    return text(valid, "nonsense", "")


def flag(valid=False):
    return Value(valid, ["yes", 1, [], {}])


def only(valid):
    """A setting without an effect: only its default is accepted."""
    return Value(valid, [not valid, "yes", 1, [], {}])


def number(valid=1, *more):
    return Value(valid, ["1", 1.5, True, [], {}, *more])


def texts(valid=(), *more):
    return Value(list(valid), ["x", 7, True, {}, [1], [None], [["a"]], *more])


def members(valid, *more):
    return Value(valid, ["x", 7, True, [1], *more])


@dataclass
class Sample:
    type: str
    attributes: dict = field(default_factory=dict)
    relations: dict = field(default_factory=dict)  # name: (type, key of the world) of one; ([type], key) of many
    needed: bool = True  # False: the body may be omitted
    unique: str = ""  # the attribute that must be unique

    def document(self, world):
        attributes = {key: world[value.valid] if isinstance(value.valid, Of) else copy.deepcopy(value.valid) for key, value in self.attributes.items()}
        relations = {key: {"data": link(kind, world[of])} for key, (kind, of) in self.relations.items()}
        return {"data": {"type": self.type, "attributes": attributes, "relationships": relations}}


def link(kind, identity):
    return [{"type": kind[0], "id": identity}] if isinstance(kind, list) else {"type": kind, "id": identity}


class Linkage(Sample):
    """Of .../relationships/...: the document is {"data": [{type, id}]}."""

    def document(self, world):
        return {"data": [{"type": self.type, "id": world[next(iter(self.relations))]}]}


class Comment(Sample):
    """Of an action: {"comment": "..."}, or nothing."""

    def document(self, _):
        return {"comment": "fine"}


VARIABLE = {"key": name("fine", "a b", "x" * 129), "value": text("v", long=HUGE), "description": text(), "category": choice("terraform"), "hcl": flag(), "sensitive": flag()}
WORKSPACE = {
    "name": name("fine", "a b", "a/b"), "description": text(), "auto-apply": flag(), "auto-apply-run-trigger": flag(), "execution-mode": choice("remote"), "allow-destroy-plan": flag(),
    "assessments-enabled": flag(), "file-triggers-enabled": flag(), "global-remote-state": flag(), "queue-all-runs": flag(), "speculative-enabled": flag(),
    "structured-run-output-enabled": flag(True), "terraform-version": text("1.11.4", "nonsense"), "working-directory": text("a/b", "../up"),
    "trigger-patterns": texts((), ["../up"]), "trigger-prefixes": texts((), ["../up"]), "vcs-newest-only": flag(), "vcs-skip-drafts": flag(), "vcs-fork-plans": flag(), "source-name": text(), "source-url": text("https://example.com"),
}
ORGANIZATION = {
    "name": name("fine-organization", "a b"), "email": text("a@example.com", "", "nobody"), "assessments-enforced": flag(), "assessment-hours": number(24, 0, 169), "collaborator-auth-policy": text("password", "two_factor_mandatory", "nonsense", ""),
    "cost-estimation-enabled": flag(), "max-ttl-enabled": flag(), "unused-token-days": number(0, -1, 3651), "default-execution-mode": choice("remote"), "session-remember": number(20160, 0, -1), "session-timeout": number(20160, 0, -1),
    "send-passing-statuses-for-untriggered-speculative-plans": only(False), "allow-force-delete-workspaces": flag(), "owners-team-saml-role-id": text("role"),
    "risk-hint-types": Value(["aws_db_instance"], [7, True, "a", [1], ["A"], [""], ["a", "a"], ["x" * 129], [f"t{n}" for n in range(101)]]),
}
PROJECT = {"name": name("fine project", "x" * 41), "description": text(), "default-execution-mode": choice("remote")}
TASK = {
    "name": name("fine", "a b"), "url": text(Of("url"), "", "nonsense", "ftp://x"), "description": text(), "hmac-key": text("key"), "category": choice("task"), "enabled": flag(False),
    "global-configuration": members({"enabled": False}, {"enabled": "yes"}, {"stages": ["nonsense"]}, {"stages": "x"}, {"enforcement-level": "nonsense"}),
}
POLICY = {"description": text(), "enforcement-level": choice("mandatory"), "query": text("data.p.deny")}
SELECTORS = members([{"tag-key": "env", "tag-value": None, "is-exclude": True}], {}, [{"tag-key": ""}], [{"tag-key": 7}], [{"tag-key": "k", "tag-value": 7}], [{"tag-key": "k", "is-exclude": "yes"}])
POLICY_SET = {"tag-selectors": SELECTORS, "name": name("fine", "a b"), "description": text(), "global": flag(), "overridable": flag(True), "agent-enabled": flag(), "policy-tool-version": text("1.4.0"), "policies-path": text("a")}
PARAMETER = {"key": name(), "value": text("v", long=HUGE), "category": choice("policy-set"), "sensitive": flag()}
VARSET = {"name": name(), "description": text(), "global": flag(), "priority": flag()}
PROVIDER_SET = {"name": name("fine", "a b"), "description": text(), "provider-source": text("registry.terraform.io/hashicorp/aws", "", "aws", "a/b/c/d", "a//b", "a/b\"", "hashicorp/${x}"),
                "configuration-hcl": text('provider "aws" {}', "", " \n", long="x" * 40_000), "global": flag(), "priority": flag()}
POOL = {"name": name("fine", "a b"), "organization-scoped": flag(True), "concurrent-run-limit": number(100, -1, 1000001)}
TOKEN = {"description": text(), "expired-at": text("2100-01-01T00:00:00.000Z", "tomorrow", "")}
TEAM = {"name": name(), "visibility": choice("secret"), "sso-team-id": text(), "allow-member-token-management": flag(True),
        "organization-access": members({"manage-policies": True}, {"manage-policies": "yes"})}
TOOLS = ("terraform", "opa", "sentinel")
TOOL_VERSION = {
    "version": text("9.8.7", "", "9.8", "v9.8.7", "~> 9.8.7", "9.8.7/x"), "url": text("https://example.com/program.zip", "", "http://example.com"), "sha": text("0" * 64, "", "0" * 63, "g" * 64),
    "official": flag(), "enabled": flag(True), "beta": flag(), "deprecated": flag(True), "deprecated-reason": text("old"),
}
ACCESS = {"access": choice("read")}

SCHEDULE = {
    "name": text("nightly", "", "x" * 91), "kind": choice("plan"), "cron": text("0 3 * * *", "", "* * * * *", "0 0 30 2 *", "nightly"), "time-zone": text("Europe/Berlin", "", "CEST", "Europe/Atlantis"),
    "jitter-seconds": number(60, -1, 3601), "auto-apply": flag(), "enabled": flag(True),
}

WINDOW = {
    "name": text("nights", "", "x" * 91), "days": texts(("mon", "sun"), [], ["monday"]), "start": text("22:00", "", "24:00", "22:60", "9:00", "22:00:00"),
    "duration-minutes": number(120, 0, -1, 1441), "time-zone": text("Europe/Berlin", "", "CEST", "Europe/Atlantis"),
}

OIDC = {
    "name": text("provider", ""), "issuer": text("https://id.example.com", "", "ftp://x"), "client-id": text("client", ""), "client-secret": text("secret"), "enabled": flag(), "scopes": text("openid"),
    "subject-claim": text("sub"), "username-claim": text("name"), "groups-claim": text("groups"), "graph-endpoint": text("https://graph.example.com", "ftp://x"), "site-admin-group": text("root"),
    "trust-email-addresses": flag(), "site-admin-max-age": number(60, 0, 86401), "domains": texts(("example.com",)), "allowed-organizations": texts(("acme",)), "token-days": number(7, -1, 3651),
}

SAMPLES = {
    "oidc_settings_create": Sample("oidc-settings", OIDC, unique="issuer"),
    "oidc_settings_update": Sample("oidc-settings", {**OIDC, "name": text("updated", ""), "issuer": text("https://updated.example.com", "", "ftp://x")}),
    "sso_settings_update": Sample("sso-settings", {"required": flag(), "domains": texts(())}, {"identity-providers": (["identity-providers"], "provider")}),
    "organizations_create": Sample("organizations", ORGANIZATION, unique="name"),
    "organizations_update": Sample("organizations", {key: value for key, value in ORGANIZATION.items() if key != "name"}),
    "workspaces_create": Sample("workspaces", WORKSPACE, {"project": ("projects", "project")}, unique="name"),
    "workspaces_update": Sample("workspaces", {**WORKSPACE, "name": name("updated", "a b")}, {"project": ("projects", "project")}),
    "vcs_run": Sample("", {"commit-sha": text("a" * 40, "a" * 39, "g" * 40)}, needed=False),
    "workspaces_lock": Sample("", {"reason": text()}, needed=False),
    "projects_create": Sample("projects", PROJECT, unique="name"),
    "projects_update": Sample("projects", {**PROJECT, "name": name("updated", "x" * 41)}),
    "variables_create": Sample("vars", VARIABLE, unique="key"),
    "variables_update": Sample("vars", {**VARIABLE, "key": name("updated", "a b")}),
    "varsets_create": Sample("varsets", VARSET, {"workspaces": (["workspaces"], "workspace"), "projects": (["projects"], "project"), "parent": ("projects", "project")}, unique="name"),
    "varsets_update": Sample("varsets", {**VARSET, "name": name("updated")}, {"workspaces": (["workspaces"], "workspace"), "projects": (["projects"], "project")}),
    "varsets_attach": Linkage("workspaces", {}, {"workspace": None}),
    "varsets_detach": Linkage("workspaces", {}, {"workspace": None}),
    "provider_sets_create": Sample("provider-sets", PROVIDER_SET, {"workspaces": (["workspaces"], "workspace"), "projects": (["projects"], "project")}, unique="name"),
    "provider_sets_update": Sample("provider-sets", {**PROVIDER_SET, "name": name("updated", "a b")}, {"workspaces": (["workspaces"], "workspace"), "projects": (["projects"], "project")}),
    "provider_sets_attach": Linkage("workspaces", {}, {"workspace": None}),
    "provider_sets_detach": Linkage("workspaces", {}, {"workspace": None}),
    "provider_sets_delete_many": Linkage("provider-sets", {}, {"provider_set": None}),
    "run_triggers_create": Sample("run-triggers", {}, {"sourceable": ("workspaces", "other")}),
    "schedules_create": Sample("schedules", SCHEDULE, unique="name"),
    "schedules_update": Sample("schedules", {**SCHEDULE, "name": text("updated", "", "x" * 91)}),
    "maintenance_windows_create": Sample("maintenance-windows", WINDOW),
    "maintenance_windows_update": Sample("maintenance-windows", {**WINDOW, "name": text("updated", "", "x" * 91)}),
    "registry_modules_create": Sample("registry-modules", {"name": name("fine", "a b", "-a", "x" * 65), "provider": text("null", "", "AWS", "a-b"), "registry-name": choice("private"),
                                                           "namespace": text("", "other"), "no-code": flag()}, unique="name"),
    "test_runs_create": Sample("test-runs", {
        "verbose": flag(), "test-directory": text("tests", "../x", "/etc", long=1025), "filters": texts(), "parallelism": number(3, 0, 257),
        "variables": Value([], ["x", 7, {}, [1], [{"key": "k"}], [{"key": 1, "value": "v"}]]),
    }, {"configuration-version": ("configuration-versions", "test_configuration"), "registry-module": ("registry-modules", "module_id")}),
    "module_versions_create": Sample("registry-module-versions", {"version": text("9.9.9", "", "1", "v1.2.3", "01.0.0"), "commit-sha": text("a" * 40, "x" * 65)}),
    "registry_providers_create": Sample("registry-providers", {"name": name("fine", "a b", "-a", "x" * 65), "registry-name": choice("private"), "namespace": text("", "other")}, unique="name"),
    "provider_versions_create": Sample("registry-provider-versions", {"version": text("9.9.9", "", "1", "v1.2.3"), "key-id": text("0123456789ABCDEF", "", "x" * 65), "protocols": texts(["5.0"], ["nonsense"])}),
    "provider_platforms_create": Sample("registry-provider-version-platforms", {
        "os": text("linux", "", "Linux"), "arch": text("arm64", "", "arm 64"), "filename": text("provider.zip", "", "a/b", ".zip"), "shasum": text("a" * 64, "", "x" * 129)}),
    "configurations_create": Sample("configuration-versions", {"auto-queue-runs": flag(), "speculative": flag(), "provisional": flag()}, needed=False),
    "states_create": Sample("state-versions", {"serial": number(1, -1), "md5": text("0" * 32, ""), "lineage": text(), "force": flag(), "json-state-outputs": text("e30=", "%%%", long=7)}),
    "states_roll_back": Sample("state-versions", {}, {"rollback-state-version": ("state-versions", "state")}),
    "runs_create": Sample("runs", {
        "message": text(long=HUGE), "is-destroy": flag(), "refresh": flag(True), "refresh-only": flag(), "plan-only": flag(), "auto-apply": flag(), "save-plan": flag(), "allow-empty-apply": flag(),
        "allow-config-generation": flag(), "target-addrs": texts(), "replace-addrs": texts(), "variables": Value([], ["x", 7, {}, [1], [{"key": "k"}], [{"key": 1, "value": "v"}]]),
    }, {"workspace": ("workspaces", "workspace"), "configuration-version": ("configuration-versions", "configuration")}),
    "queries_create": Sample("queries", {
        "source": text("tfe-api", "", long=256), "terraform-version": text("1.14.8", "1.13.3"), "generate-config-out": flag(),
        "variables": Value([], ["x", 7, {}, [1], [{"key": "k"}], [{"key": 1, "value": "v"}]]),
    }, {"workspace": ("workspaces", "workspace"), "configuration-version": ("configuration-versions", "configuration")}),
    **{f"runs_{action}": Comment("") for action in ("apply", "discard", "cancel", "force_cancel", "override_window")},
    "admin_runs_force_cancel": Comment(""),
    "admin_maintenance_update": Sample("maintenance", {"enabled": flag(), "reason": text("", long=HUGE)}),
    "saml_settings_update": Sample("saml-settings", {
        "enabled": flag(), "name": name(), "debug": flag(), "idp-cert": text(), "slo-endpoint-url": text("https://idp.example.com/slo", "javascript:x"),
        "sso-endpoint-url": text("https://idp.example.com/sso", "//idp.example.com"), "attr-username": text(), "attr-groups": text(), "attr-site-admin": text(),
        "site-admin-role": text(), "sso-api-token-session-timeout": number(3600, -1), "team-management-enabled": flag(), "authn-requests-signed": flag(),
        "want-assertions-signed": flag(), "certificate": text(), "private-key": text(long=HUGE), "signature-signing-method": choice("SHA256"),
        "signature-digest-method": choice("SHA256"), "provider-type": choice("okta"), "idp-entity-id": text(), "idp-initiated-enabled": flag(),
        "email-addresses-verified": flag()}),
    "admin_settings_update": Sample("general-settings", {
        "limit-user-organization-creation": flag(), "api-rate-limiting-enabled": flag(True), "api-rate-limit": number(1000, 29, -1), "default-remote-state-access": flag(),
        "plan-timeout": text("", "nonsense"), "apply-timeout": text("", "2"), "allow-speculative-plans-on-pull-requests-from-forks": flag(),
        "send-passing-statuses-for-untriggered-speculative-plans": flag(), "fair-run-queuing-enabled": only(True), "password-sign-in-enabled": only(True), "limit-organizations-per-user": flag(),
        "default-organizations-per-user-ceiling": number(0, -1), "limit-workspaces-per-organization": flag(), "default-workspaces-per-organization-ceiling": number(0, -1),
        "unused-token-days": number(0, -1, 3651),
    }),
    "admin_scim_settings_update": Sample("scim-settings", {"enabled": Value(False, ["yes", 1, [], {}]), "paused": Value(False, ["yes", 1, [], {}]), "site-admin-group-scim-id": text(None, "nonsense"), "identity-provider-id": text(None, "nonsense")}),
    "admin_scim_tokens_create": Sample("authentication-tokens", {"description": text(), "expired-at": text(None, "tomorrow", "2000-01-01T00:00:00Z", "2100-01-01T00:00:00Z")}, needed=False),
    "team_mappings_create": Sample("scim-group-mappings", {"scim-group-id": text("nonsense", "")}),
    "team_mappings_update": Sample("scim-group-mappings", {"scim-sync-paused": flag()}),
    "customization_settings_update": Sample("customization-settings", {
        "support-email-address": text("", "nobody"), "login-help": text(""), "footer": text(""), "error": text(""), "new-user": text(""),
    }),
    "cost_settings_update": Sample("cost-estimation-settings", {"enabled": flag(True), "aws-secret-key": text("", "key"), "gcp-credentials": text("", "{}"), "azure-client-secret": text("", "secret")}),
    "smtp_settings_update": Sample("smtp-settings", {
        "enabled": flag(), "host": text("mail.example.com", "a b", "a/b", "a@b"), "port": number(25, 0, 65536), "sender": text("runyard@example.com", "nobody"), "auth": choice("none"),
        "username": text("runyard"), "password": text(""), "test-email-address": text("a@example.com", "nobody"),
    }),
    "twilio_settings_update": Sample("twilio-settings", {"enabled": only(False), "account-sid": text(""), "auth-token": text("", "token"), "from-number": text("")}),
    "twilio_settings_verify": Sample("twilio-settings", {"test-number": text("555")}),
    "explorer_views_create": Sample("explorer-saved-queries", {"name": text("fine", "", CONTROL, "x" * 101), "query-type": text("modules", "", "nothing"),
                                                              "query": Value({"filter": []}, ["x", 7, [], {"filter": 7}, {"filter": [{}]}, {"sort": ["x"]}, {"fields": [7]}])}, unique="name"),
    "explorer_views_update": Sample("explorer-saved-queries", {"name": text("updated", "", CONTROL, "x" * 101), "query-type": text("workspaces", "", "nothing"),
                                                              "query": Value({"sort": ["-workspace_name"]}, ["x", 7, [], {"filter": 7}, {"filter": [{}]}, {"sort": ["x"]}, {"fields": [7]}])}),
    "bulk_actions_create": Sample("bulk_actions", {"action_type": text("change_request", "", "nothing"),
                                                   "action_inputs": members({"subject": "fine", "message": "fine"}, {"subject": "", "message": "fine"}, {"subject": "fine"}, {"subject": 7, "message": 7}),
                                                   "query": Value({"type": "workspaces", "filter": []}, ["x", 7, {"type": "modules"}, {"filter": 7}, {"filter": [{}]}, {"sort": ["x"]}])}),
    "reserved_tags_create": Sample("reserved-tag-keys", {"key": text("fine", "", CONTROL, "a!", "x" * 129), "disable-overrides": flag()}, unique="key"),
    "reserved_tags_update": Sample("reserved-tag-keys", {"key": text("updated", "", CONTROL, "a!", "x" * 129), "disable-overrides": flag()}),
    "audit_configuration_update": Sample("audit-configurations", {"audit-trails": Value({"enabled": True}, [{"enabled": False}, {"enabled": "yes"}]),
                                                                  "hcp-audit-log-streaming": Value({"enabled": False}, [{"enabled": True}, {"enabled": "no"}])}),
    "token_ttls_change": Sample("organization-token-ttl-policies", {"token-ttl-policies": Value(
        [{"token-type": "team", "max-ttl-ms": 63113904000}], ["x", 7, {}, [], [1], [{"token-type": "agent", "max-ttl-ms": 86400000}], [{"token-type": "user"}], [{"token-type": "user", "max-ttl-ms": 999}]])}),
    "admin_organizations_update": Sample("organizations", {
        "is-disabled": flag(), "workspace-limit": number(100, -1), "concurrent-run-limit": number(100, -1, 1000001), "plan-timeout": text("2h", "nonsense", "2", "1m1h", "9999h"), "apply-timeout": text("1h30m", "-1h"),
        "access-beta-tools": flag(), "global-module-sharing": flag(), "global-provider-sharing": flag(), "terraform-worker-sudo-enabled": flag(),
    }),
    "admin_module_consumers_replace": Linkage("organizations"),
    **{f"{tool}_versions_create": Sample(f"{tool}-versions", TOOL_VERSION, unique="version") for tool in TOOLS},
    **{f"{tool}_versions_update": Sample(f"{tool}-versions", {**TOOL_VERSION, "version": text(f"9.9.{number}", "")}) for number, tool in enumerate(TOOLS)},
    "runs_force_execute": Sample("", needed=False),
    "comments_create": Sample("comments", {"body": text("fine", "")}),
    "tasks_create": Sample("tasks", TASK, unique="name"),
    "tasks_update": Sample("tasks", {**TASK, "name": name("updated", "a b")}),
    "workspace_tasks_create": Sample("workspace-tasks", {"enforcement-level": choice("advisory"), "stages": texts(["post_plan"], ["nonsense"])}, {"task": ("tasks", "free_task")}),
    "workspace_tasks_update": Sample("workspace-tasks", {"enforcement-level": choice("advisory"), "stages": texts(["post_plan"], ["nonsense"])}),
    "policies_create": Sample("policies", {**POLICY, "name": name("fine", "a b"), "kind": choice("opa")}, unique="name"),
    "policies_update": Sample("policies", POLICY),
    "policy_sets_create": Sample("policy-sets", {**POLICY_SET, "kind": choice("opa")}, {"workspaces": (["workspaces"], "workspace"), "policies": (["policies"], "policy")}, unique="name"),
    "policy_sets_update": Sample("policy-sets", {**POLICY_SET, "name": name("updated", "a b")}),
    "policy_sets_attach": Linkage("workspaces", {}, {"workspace": None}),
    "policy_sets_detach": Linkage("workspaces", {}, {"workspace": None}),
    "policy_set_parameters_create": Sample("vars", PARAMETER, unique="key"),
    "policy_set_parameters_update": Sample("vars", {**PARAMETER, "key": name("updated")}),
    "pools_create": Sample("agent-pools", POOL, {"allowed-workspaces": (["workspaces"], "workspace"), "allowed-projects": (["projects"], "project")}, unique="name"),
    "pools_update": Sample("agent-pools", {**POOL, "name": name("updated", "a b")}, {"allowed-workspaces": (["workspaces"], "workspace"), "allowed-projects": (["projects"], "project")}),
    "notifier_tokens_create": Sample("authentication-tokens", {"description": text("fine", "")}),
    "agent_tokens_create": Sample("agent-tokens", {"description": text("fine", "")}),
    "tokens_create": Sample("authentication-tokens", {**TOKEN, "read-only": flag()}, {"workspace": ("workspaces", "workspace")}, needed=False),
    **{handler: Sample("authentication-tokens", TOKEN, needed=False) for handler in ("team_tokens_create", "team_token_create", "organization_token_create")},
    "account_update": Sample("users", {"username": name("updated", "a b"), "email": text("a@example.com", "", "nobody")}),
    "workspace_tags_add": Linkage("tags"),
    "workspace_tags_remove": Linkage("tags"),
    **{f"tag_bindings_{action}": Linkage("tag-bindings") for action in ("update", "add", "replace")},
    "project_workspaces_move": Linkage("workspaces", {}, {"workspace": None}),
    "workspaces_assign_key": Sample("workspaces", {"id": Value(Of("key"), [7, True, [], {}, LONG, "nonexistent"])}),
    "plan_exports_create": Sample("plan-exports", {"data-type": choice("sentinel-mock-bundle-v0")}, {"plan": ("plans", "plan")}),
    "policy_checks_override": Comment(""),
    "task_stages_override": Comment(""),
    "teams_create": Sample("teams", TEAM, unique="name"),
    "teams_update": Sample("teams", {**TEAM, "name": name("updated")}),
    "memberships_create": Sample("organization-memberships", {"email": text("new@example.com", "", "nobody")}),
    "team_workspaces_create": Sample("team-workspaces", ACCESS, {"team": ("teams", "free_team"), "workspace": ("workspaces", "workspace")}),
    "team_workspaces_update": Sample("team-workspaces", ACCESS),
    "team_projects_create": Sample("team-projects", ACCESS, {"team": ("teams", "free_team"), "project": ("projects", "project")}),
    "team_projects_update": Sample("team-projects", ACCESS),
    "oauth_clients_create": Sample("oauth-clients", {
        "name": text("fine", CONTROL), "service-provider": choice("git"), "http-url": text("https://git.example.com", "", "nonsense", "ftp://git.example.com"),
        "api-url": text("https://git.example.com", "nonsense"), "key": text("bot", CONTROL), "secret": text("secret", long=HUGE), "oauth-token-string": text("token", CONTROL, long=HUGE),
        "organization-scoped": flag(True)}, {"agent-pool": ("agent-pools", "pool")}),
    "oauth_clients_update": Sample("oauth-clients", {"name": text("updated", CONTROL), "http-url": text("https://git.example.com", "https://evil.example"), "organization-scoped": flag(True)}),
    "oauth_clients_add_projects": Linkage("projects", {}, {"project": None}),
    "oauth_clients_remove_projects": Linkage("projects", {}, {"project": None}),
    "oauth_tokens_update": Sample("oauth-tokens", {"ssh-key": text(SSH_KEY, "nonsense", long=HUGE), "host-keys": text("git.example.com ssh-ed25519 AAAA", "nonsense", long=HUGE)}),
    "github_app_installation_update": Sample("github-app-installations", {}, {"agent-pool": ("agent-pools", "pool")}),
    "ssh_keys_create": Sample("ssh-keys", {"name": name(), "value": text("-----BEGIN", "", long=HUGE)}, unique="name"),
    "ssh_keys_update": Sample("ssh-keys", {"name": name("updated")}),
    "workspace_consumers_add": Linkage("workspaces", {}, {"other": None}),
    "workspace_consumers_replace": Linkage("workspaces", {}, {"other": None}),
    "workspace_consumers_remove": Linkage("workspaces", {}, {"other": None}),
    "notification_configurations_create": Sample("notification-configurations", {
        "name": name(), "destination-type": choice("generic"), "url": text(Of("url"), "", "nonsense"), "enabled": flag(False), "token": text("key"),
        "triggers": texts(["run:created"], ["nonsense"]),
    }),
    "notification_configurations_update": Sample("notification-configurations", {"name": name("updated"), "url": text(Of("url"), "", "nonsense"), "enabled": flag(False), "token": text("key"),
                                                                                  "triggers": texts(["run:created"], ["nonsense"])}),
}


def linkage(type, key):
    return lambda world: {"data": [{"type": type, "id": world[key]}]}


# Documents of the endpoints whose sample is incomplete, or that have none, by the handler's name.
DOCUMENTS = {
    "workspace_tags_add": linkage("tags", "tag"), "workspace_tags_remove": linkage("tags", "tag"),
    **{f"tag_bindings_{action}": lambda world: {"data": [{"type": "tag-bindings", "attributes": {"key": "forged", "value": "forged"}}]} for action in ("update", "add", "replace")},
    "team_tokens_revoke": linkage("authentication-tokens", "team_token"),
    "teams_join": linkage("organization-memberships", "membership"), "teams_leave": linkage("organization-memberships", "membership"), "tags_bind": linkage("workspaces", "workspace"),
    "no_code_modules_create": lambda world: {"data": {"type": "no-code-modules", "attributes": {"enabled": False}, "relationships": {"registry-module": {"data": link("registry-modules", world["free_module"])}}}},
    "no_code_modules_update": lambda world: {"data": {"type": "no-code-modules", "attributes": {}}},
    "no_code_provision": lambda world: {"data": {"type": "workspaces", "attributes": {"name": f"fine-{uuid.uuid4().hex[:12]}"}}},
    "no_code_upgrade": lambda world: {"data": {"type": "workspaces", "attributes": {}}},
    "no_code_upgrade_confirm": lambda world: {},
    "registry_modules_update": lambda world: {"data": {"type": "registry-modules", "attributes": {}}},
    "registry_providers_update": lambda world: {"data": {"type": "registry-providers", "attributes": {}}},
    "gpg_keys_create": lambda world: {"data": {"type": "gpg-keys", "attributes": {"namespace": world["namespace"], "ascii-armor": "forged"}}},
    "gpg_keys_update": lambda world: {"data": {"type": "gpg-keys", "attributes": {"namespace": world["namespace"]}}},
    "module_versions_update": lambda world: {"data": {"type": "module-versions", "attributes": {"deprecation": {"deprecated-status": "Undeprecated"}}}},
    **{handler: lambda world: {"data": {"type": "registry-modules", "attributes": {"vcs-repo": {"identifier": "group/terraform-null-forged", "oauth-token-id": world["oauth_token"]}}}}
       for handler in ("registry_modules_connect", "registry_modules_connect_token")},
    "tags_delete_many": linkage("tags", "tag"), "admin_module_consumers_replace": linkage("organizations", "organization"), "workspaces_force_unlock": lambda world: {}, "notification_configurations_verify": lambda world: {},
    "retention_policies_write": lambda world: {"data": {"type": "data-retention-policy-delete-olders", "attributes": {"delete-older-than-n-days": 1}}},
    "admin_users_impersonate": lambda world: {"reason": "forged"},
    "account_password": lambda world: {"data": {"type": "users", "attributes": {"current_password": "n", "password": "n", "password_confirmation": "n"}}},
    "policy_set_tags_attach": lambda world: {"data": [{"tag-key": "forged"}]}, "policy_set_tags_detach": lambda world: {"data": [{"tag-key": "forged"}]},
    "subscriptions_create": lambda world: {"data": {"type": "subscription", "attributes": {"is-public-tier": False}}},
}


def document_of(handler, world):
    """A body that the endpoint accepts from an authorized caller, with the world's objects."""
    return DOCUMENTS[handler](world) if handler in DOCUMENTS else SAMPLES[handler].document(world)
