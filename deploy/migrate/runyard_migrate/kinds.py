# SPDX-License-Identifier: MPL-2.0
"""The kinds of objects that are moved, in the order in which they are created.

`plan`, `apply`, `verify`, `export` and `import` all follow from this table. An object is identified by its key, which
has the same value at source and target: `workspaces/network/vars/terraform/region`.
"""

from dataclasses import dataclass, field
from typing import Callable, Dict, Tuple, Union

# How a relation is written: in the document's `relationships`, as an attribute that has the id, as the relation's own
# list (POST and DELETE), or as a PATCH of the relation.
DOCUMENT, AS_ATTRIBUTE, OWN_LIST, OWN_PATCH = "document", "attribute", "list", "patch"


@dataclass(frozen=True)
class Relation:
    kind: str  # of the related objects
    how: str = DOCUMENT
    late: bool = False  # written after all objects exist
    attribute: str = ""  # of AS_ATTRIBUTE
    follow: str = ""  # the type of the id in the document, if it is not the kind's
    needed: bool = False  # the object is not created without the related one


def name_of(attributes, relations):
    return attributes.get("name") or ""


def category_and_key(attributes, relations):
    return f"{attributes.get('category')}/{attributes.get('key')}"


def related(name):
    """The key of the related object, without its kind."""
    return lambda attributes, relations: (relations.get(name) or "").partition("/")[2]


def attribute(name, default=""):
    return lambda attributes, relations: str(attributes.get(name) or default)


@dataclass(frozen=True)
class Kind:
    name: str
    list: str  # path; {org} is the organization's name; {id}, {name} and {path} are those of the owner; {item} and {own} are the id and the path of the item
    attributes: Tuple[str, ...] = ()
    relations: Dict[str, Relation] = field(default_factory=dict)
    owner: Union[str, Tuple[str, ...]] = ()
    key: Callable = name_of
    type: str = ""  # of JSON:API, if it is not the name
    create: str = ""  # path, if it is not that of the list
    item: str = ""  # path to change one; default `type/id`
    secret: str = ""  # the attribute that the source does not return
    secret_if: Callable = lambda attributes: True
    needs_secret: bool = True  # without its secret it is not created
    sensitive: Tuple[str, ...] = ()  # attributes that plans do not show
    held: Dict[str, object] = field(default_factory=dict)  # values until the cut-over
    deferred: bool = False  # created at the cut-over
    initial: Dict[str, object] = field(default_factory=dict)  # values at creation, replaced at the end
    fixed: Tuple[str, ...] = ()  # cannot be changed later: only compared
    made: bool = True  # False: an operator creates it at the target, or a file's content is moved instead
    many: bool = False  # the request's document is a list
    method: str = "POST"
    link: str = ""  # the list's documents are references to this kind
    content: str = ""  # what the object's file is (content.py)
    uploaded: Tuple[str, ...] = ()  # attributes that are false until its files were uploaded
    source_only: bool = False  # not compared

    @property
    def kind_type(self):
        return self.type or self.name


WORKSPACE_ATTRIBUTES = (
    "name", "description", "auto-apply", "execution-mode", "working-directory", "structured-run-output-enabled", "terraform-version",
    "allow-destroy-plan", "assessments-enabled", "auto-apply-run-trigger", "auto-destroy-activity-duration", "auto-destroy-at",
    "cost-estimation-enabled", "file-triggers-enabled", "global-remote-state", "inherits-project-auto-destroy", "migration-environment",
    "project-remote-state", "queue-all-runs", "source-name", "source-url", "speculative-enabled", "trigger-patterns", "trigger-prefixes",
    "vcs-newest-only", "vcs-skip-drafts", "vcs-fork-plans", "setting-overwrites", "vcs-repo")
VARIABLE = ("key", "value", "description", "category", "hcl", "sensitive")
NOTIFICATION = ("name", "enabled", "destination-type", "url", "triggers", "email-addresses")
WINDOW = ("name", "days", "start", "duration-minutes", "time-zone")
PLACES = {"workspaces": Relation("workspaces", OWN_LIST, late=True), "projects": Relation("projects", OWN_LIST, late=True)}


def is_sensitive(attributes):
    return bool(attributes.get("sensitive"))


def has_token(attributes):
    return attributes.get("destination-type") == "generic"


def variables(name, owner, path, **more):
    return Kind(name, path, VARIABLE, owner=owner, key=category_and_key, type="vars", secret="value", secret_if=is_sensitive,
                sensitive=("value",), fixed=("sensitive",), item=path + "/{item}", **more)


def registry_tags(name, owner):
    return Kind(name, owner + "/{id}/tag-bindings", ("key", "value"), owner=owner, key=attribute("key"), type="tag-bindings")


# The marks of a module's version that has none.
UNMARKED = {"deprecation": {"deprecated-status": "Undeprecated"}, "revocation": {"status": "Unrevoked"}}

KINDS = (
    Kind("organization", "organizations/{org}", (
        "name", "email", "aggregated-commit-status-enabled", "allow-force-delete-workspaces", "assessments-enforced", "assessment-hours",
        "cost-estimation-enabled", "default-execution-mode", "owners-team-saml-role-id", "risk-hint-types",
        "send-passing-statuses-for-untriggered-speculative-plans", "session-remember", "session-timeout", "speculative-plan-management-enabled",
        "vcs-apply-status-enabled"),
        {"default-agent-pool": Relation("agent-pools", late=True)}, key=lambda a, r: "settings", type="organizations", create="organizations",
        item="organizations/{org}", held={"assessments-enforced": False}, initial={"default-execution-mode": "remote"}, fixed=("name",)),
    Kind("reserved-tag-keys", "organizations/{org}/reserved-tag-keys", ("key", "disable-overrides"), key=attribute("key")),
    Kind("ssh-keys", "organizations/{org}/ssh-keys", ("name",), secret="value"),
    Kind("oauth-clients", "organizations/{org}/oauth-clients", ("name", "service-provider", "http-url", "api-url", "organization-scoped"),
        key=lambda a, r: a.get("name") or f"{a.get('service-provider')} {a.get('http-url')}", made=False),
    Kind("agent-pools", "organizations/{org}/agent-pools", ("name", "organization-scoped", "concurrent-run-limit"), {
        "allowed-workspaces": Relation("workspaces", late=True), "allowed-projects": Relation("projects", late=True),
        "excluded-workspaces": Relation("workspaces", late=True)}),
    Kind("projects", "organizations/{org}/projects",
        ("name", "description", "auto-destroy-activity-duration", "default-execution-mode", "setting-overwrites"),
        {"default-agent-pool": Relation("agent-pools", AS_ATTRIBUTE, late=True, attribute="default-agent-pool-id")},
        initial={"default-execution-mode": "remote"}, held={"auto-destroy-activity-duration": None}),
    Kind("project-tags", "projects/{id}/tag-bindings", ("key", "value"), owner="projects", key=attribute("key"), type="tag-bindings",
        many=True, method="PATCH", item="projects/{id}/tag-bindings"),
    Kind("teams", "organizations/{org}/teams",
        ("name", "visibility", "sso-team-id", "organization-access", "allow-member-token-management")),
    Kind("team-projects", "team-projects?filter%5Bproject%5D%5Bid%5D={id}", ("access", "project-access", "workspace-access"),
        {"team": Relation("teams"), "project": Relation("projects")}, owner="projects", key=related("team"), create="team-projects"),
    Kind("organization-memberships", "organizations/{org}/organization-memberships", ("email",),
        {"teams": Relation("teams")}, key=lambda a, r: (a.get("email") or "").lower()),
    Kind("varsets", "organizations/{org}/varsets", ("name", "description", "global", "priority"),
        {"parent": Relation("projects"), **PLACES}),
    variables("varset-vars", "varsets", "varsets/{id}/relationships/vars"),
    Kind("policies", "organizations/{org}/policies", ("name", "kind", "query", "description", "enforcement-level", "content"),
        fixed=("kind",), content="policy"),
    Kind("tasks", "organizations/{org}/tasks", ("name", "url", "description", "category", "enabled", "global-configuration"),
        {"agent-pool": Relation("agent-pools")}, secret="hmac-key", needs_secret=False, sensitive=("url",),
        held={"enabled": False, "global-configuration": None}, deferred=True),  # creating one calls its service
    Kind("registry-modules", "organizations/{org}/registry-modules?filter%5Borganization_name%5D={org}",
        ("name", "provider", "registry-name", "namespace", "no-code", "vcs-repo"),
        key=lambda a, r: "/".join(str(a.get(n)) for n in ("registry-name", "namespace", "name", "provider")), content="module",
        item="organizations/{org}/registry-modules/{own}", initial={"no-code": False}),  # a no-code module has a version
    Kind("registry-module-versions", "", ("version", *UNMARKED), owner="registry-modules", key=attribute("version"), content="module-version",
        item="organizations/{org}/registry-modules/{own}", initial=UNMARKED),  # a version without files can't be marked
    registry_tags("module-tags", "registry-modules"),
    Kind("gpg-keys", "{registry}/v2/gpg-keys?filter%5Bnamespace%5D={org}", ("ascii-armor", "key-id", "namespace"), key=attribute("key-id"),
        create="{registry}/v2/gpg-keys", fixed=("key-id", "ascii-armor", "namespace")),
    Kind("registry-providers", "organizations/{org}/registry-providers", ("name", "namespace", "registry-name"),
        key=lambda a, r: "/".join(str(a.get(n)) for n in ("registry-name", "namespace", "name")), fixed=("name", "namespace", "registry-name")),
    registry_tags("provider-tags", "registry-providers"),
    Kind("registry-provider-versions", "organizations/{org}/registry-providers/{path}/versions", ("version", "key-id", "protocols"),
        owner="registry-providers", key=attribute("version"), fixed=("version", "key-id", "protocols"), content="provider-version",
        uploaded=("shasums-uploaded", "shasums-sig-uploaded")),
    Kind("registry-provider-platforms", "organizations/{org}/registry-providers/{path}/platforms",
        ("os", "arch", "shasum", "filename"), owner="registry-provider-versions", key=lambda a, r: f"{a.get('os')}_{a.get('arch')}",
        type="registry-provider-version-platforms", fixed=("os", "arch", "shasum", "filename"), content="provider-platform",
        uploaded=("provider-binary-uploaded",)),
    Kind("workspaces", "organizations/{org}/workspaces", WORKSPACE_ATTRIBUTES, {
        "project": Relation("projects", needed=True), "agent-pool": Relation("agent-pools", AS_ATTRIBUTE, late=True, attribute="agent-pool-id"),
        "ssh-key": Relation("ssh-keys", OWN_PATCH, late=True)}, initial={"execution-mode": "remote"},  # pools allow workspaces that exist
        held={"vcs-repo": None, "auto-destroy-at": None, "auto-destroy-activity-duration": None, "assessments-enabled": False}),
    Kind("workspace-tags", "workspaces/{id}/tag-bindings", ("key", "value"), owner="workspaces", key=attribute("key"), type="tag-bindings",
        many=True, method="PATCH", item="workspaces/{id}/tag-bindings"),
    Kind("tags", "workspaces/{id}/relationships/tags", ("name",), owner="workspaces", many=True),
    variables("vars", "workspaces", "workspaces/{id}/vars"),
    Kind("team-workspaces", "team-workspaces?filter%5Bworkspace%5D%5Bid%5D={id}", (
        "access", "runs", "run-tasks", "variables", "sentinel-mocks", "state-versions", "policy-overrides", "workspace-locking"),
        {"team": Relation("teams"), "workspace": Relation("workspaces")}, owner="workspaces", key=related("team"), create="team-workspaces"),
    Kind("remote-state-consumers", "workspaces/{id}/relationships/remote-state-consumers", (), owner="workspaces", type="workspaces",
        link="workspaces", many=True),
    Kind("provider-sets", "organizations/{org}/provider-sets", ("name", "description", "provider-source", "configuration-hcl", "global", "priority"), PLACES),
    Kind("policy-sets", "organizations/{org}/policy-sets", (
        "name", "description", "kind", "global", "overridable", "agent-enabled", "policy-tool-version", "policies-path",
        "policy-update-patterns", "tag-selectors", "vcs-repo"), {
        "policies": Relation("policies", OWN_LIST, late=True), **PLACES,
        "workspace-exclusions": Relation("workspaces", OWN_LIST, late=True),
        "project-exclusions": Relation("projects", OWN_LIST, late=True)}, fixed=("kind",)),
    variables("policy-set-parameters", "policy-sets", "policy-sets/{id}/parameters"),
    Kind("data-retention", "workspaces/{id}/relationships/data-retention-policy", ("delete-older-than-n-days", "type"), owner="workspaces",
        key=lambda a, r: "policy", type="data-retention-policy-delete-olders", item="workspaces/{id}/relationships/data-retention-policy"),
    Kind("organization-data-retention", "organizations/{org}/relationships/data-retention-policy", ("delete-older-than-n-days", "type"),
        key=lambda a, r: "policy", type="data-retention-policy-delete-olders", item="organizations/{org}/relationships/data-retention-policy"),
    Kind("notifications", "workspaces/{id}/notification-configurations", NOTIFICATION, {"users": Relation("organization-memberships", follow="users")},
        owner="workspaces", type="notification-configurations", secret="token", secret_if=has_token, needs_secret=False,
        sensitive=("url",), held={"enabled": False}, fixed=("destination-type",)),
    Kind("project-notifications", "projects/{id}/notification-configurations", NOTIFICATION,
        {"users": Relation("organization-memberships", follow="users")}, owner="projects", type="notification-configurations", secret="token",
        secret_if=has_token, needs_secret=False, sensitive=("url",), held={"enabled": False}, fixed=("destination-type",)),
    Kind("team-notifications", "teams/{id}/notification-configurations", NOTIFICATION,
        {"users": Relation("organization-memberships", follow="users")}, owner="teams", type="notification-configurations", secret="token",
        secret_if=has_token, needs_secret=False, sensitive=("url",), held={"enabled": False}, fixed=("destination-type",)),
    Kind("run-triggers", "workspaces/{id}/run-triggers?filter%5Brun-trigger%5D%5Btype%5D=inbound", (),
        {"sourceable": Relation("workspaces")}, owner="workspaces", key=related("sourceable"), create="workspaces/{id}/run-triggers", deferred=True),
    Kind("workspace-tasks", "workspaces/{id}/tasks", ("enforcement-level", "stages"), {"task": Relation("tasks")}, owner="workspaces",
        key=related("task"), item="workspaces/{id}/tasks/{item}", deferred=True),
    Kind("schedules", "workspaces/{id}/schedules", ("name", "kind", "auto-apply", "cron", "time-zone", "at", "jitter-seconds", "enabled"),
        owner="workspaces", deferred=True),
    Kind("maintenance-windows", "workspaces/{id}/maintenance-windows", WINDOW, owner="workspaces"),
    Kind("project-windows", "projects/{id}/maintenance-windows", WINDOW, owner="projects", type="maintenance-windows"),
    Kind("organization-windows", "organizations/{org}/maintenance-windows", WINDOW, type="maintenance-windows"),
    Kind("explorer-views", "organizations/{org}/explorer/views", ("name", "query-type", "query"), type="explorer-saved-queries",
        item="organizations/{org}/explorer/views/{item}"),
    Kind("state-versions",
        "state-versions?filter%5Bworkspace%5D%5Bname%5D={name}&filter%5Borganization%5D%5Bname%5D={org}&filter%5Bstatus%5D=finalized",
        ("serial",), owner="workspaces", key=attribute("serial", "0"), content="state"),
    Kind("configurations", "", (), owner="workspaces", key=lambda a, r: "current", content="configuration"),
)
BY_NAME: Dict[str, Kind] = {kind.name: kind for kind in KINDS}
# The source need not have these.
RUNYARD_ONLY = {"schedules", "maintenance-windows", "project-windows", "organization-windows"}
OPTIONAL = RUNYARD_ONLY | {"explorer-views", "data-retention", "organization-data-retention",
            "reserved-tag-keys", "project-tags", "workspace-tags", "project-notifications", "team-notifications",
            "gpg-keys", "registry-providers", "provider-sets", "module-tags", "provider-tags"}


def owners(kind):
    return (kind.owner,) if isinstance(kind.owner, str) else kind.owner

