# SPDX-License-Identifier: MPL-2.0
"""What a plan shows: a summary, JSON, CSV, a checklist for people and the template for secrets."""

import collections
import csv
import json

from . import difference
from .difference import secrets_of
from .inventory import quoted
from .journal import private_file

PAGES = {"vars": "workspaces/{workspace}/variables", "ssh-keys": "settings/ssh-keys", "varset-vars": "settings/variable-sets",
         "tasks": "settings/run-tasks", "notifications": "workspaces/{workspace}/settings/notifications",
         "policy-set-parameters": "settings/policy-sets", "oauth-clients": "settings/vcs-connections", "agent-pools": "settings/agent-pools",
         "policy-sets": "settings/policy-sets", "registry-modules": "settings/vcs-connections", "teams": "settings/teams",
         "gpg-keys": "settings/gpg-keys", "registry-provider-versions": "settings/gpg-keys", "registry-provider-platforms": "providers"}


def page(url, organization, item):
    """The page of the target's web UI on which a person does it."""
    path = PAGES.get(item.kind.name, "workspaces/{workspace}" if item.key.startswith("workspaces/") else "settings/general")
    workspace = item.key.split("/")[1] if item.key.startswith("workspaces/") else ""
    return f"{url}/app/{quoted(organization)}/{path.format(workspace=quoted(workspace))}"


def checklist(comparison, url):
    """[(what to do, object, link)]: everything that no API moves."""
    source, organization = comparison.source, comparison.target.organization
    found = []

    def add(what, item):
        found.append({"do": what, "object": item.key, "link": page(url, organization, item)})
    for key, attribute in secrets_of(source).items():
        if key in comparison.target.items or key in comparison.secrets:
            continue
        item = source.items[key]
        add(f"supply its {attribute} in secrets.json" + ("" if item.kind.needs_secret else ", if it has one"), item)
    for item in source.of("agent-pools"):
        add("make a token for its agents, and start them with it", item)
    for item in source.of("teams"):
        add("make a new token, if programs use the team's", item)
    for change in comparison.changes():
        if change.action == difference.OPERATOR:
            add(change.why, change.item)
    for item in source.of("policy-sets"):
        if item.attributes.get("vcs-repo") is None and not item.relations.get("policies"):
            add("upload its policies again: the source does not return uploaded versions", item)
    for note in source.notes:
        found.append({"do": note["why"], "object": note["object"], "link": ""})
    for what, where in (("make new tokens of people and of the organization", "tokens"), ("set up single sign-on, if the source has it", "sso"),
                        ("compare the settings that could lock you out: two-factor authentication, lifetimes of tokens, user tokens", "general")):
        found.append({"do": what, "object": "organization/settings", "link": f"{url}/app/{quoted(organization)}/settings/{where}"})
    return found


def counts(rows):
    """{kind: {action: number}}"""
    table = collections.OrderedDict()
    for row in rows:
        table.setdefault(row["kind"], collections.Counter())[row["action"]] += 1
    return table


def table(rows):
    found = counts(rows)
    actions = [action for action in (difference.CREATE, difference.UPDATE, difference.SAME, difference.DELETE, difference.HELD, difference.SECRET,
                                     difference.OPERATOR, difference.TAG, difference.LEFT) if any(count[action] for count in found.values())]
    lines = ["{:28}".format("") + "".join(f"{action:>17}" for action in actions)]
    lines += [f"{kind:28}" + "".join(f"{count[action] or '-':>17}" for action in actions) for kind, count in found.items()]
    return "\n".join(lines)


def content_rows(comparison, journal):
    """States and configurations: they have no attributes to compare."""
    rows = []
    for item in comparison.source.all():
        if item.kind.content == "state":
            there = item.key in comparison.target.items
        elif item.kind.content == "configuration":
            there = journal.uploaded(item.key)[0] == item.id
        else:
            continue
        rows.append({"action": difference.SAME if there else difference.CREATE, "kind": item.kind.name, "object": item.key, "fields": [], "why": ""})
    return rows


def rows_of(comparison, journal):
    rows = [change.row() for change in comparison.changes() if change.item.kind.content not in ("state", "configuration")]
    return rows + content_rows(comparison, journal)


def write_plan(folder, rows, comparison, url):
    """The plan's files in the working folder. A secrets.json that exists is not changed."""
    todo = checklist(comparison, url)
    problems = comparison.source.problems + comparison.target.problems
    with private_file(folder / "plan.json") as file:
        json.dump({"changes": rows, "unreadable": problems, "checklist": todo}, file, indent=1)
    with private_file(folder / "plan.csv") as file:
        lines = csv.writer(file)
        lines.writerow(("action", "kind", "object", "fields", "why"))
        lines.writerows((row["action"], row["kind"], safe(row["object"]), " ".join(row["fields"]), safe(row["why"])) for row in rows)
        lines.writerows(("cannot be read", "", safe(one["object"]), "", safe(one["why"])) for one in problems)
    write_checklist(folder, todo)
    template = folder / "secrets.json"
    if not template.exists():
        with private_file(template) as file:
            json.dump({key: "" for key in secrets_of(comparison.source)}, file, indent=1, ensure_ascii=False)
    return todo


def write_checklist(folder, todo):
    with private_file(folder / "checklist.md") as file:
        file.write("# What people do\n\n")
        for one in todo:
            file.write(f"- [ ] `{one['object']}`: {one['do']}" + (f" ([page]({one['link']}))" if one["link"] else "") + "\n")


def safe(text):
    """A cell that no spreadsheet takes for a formula."""
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
