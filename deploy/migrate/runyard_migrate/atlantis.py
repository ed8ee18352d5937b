# SPDX-License-Identifier: MPL-2.0
"""Reads the projects of an atlantis.yaml: the part of YAML that such files use (maps, lists, plain and quoted texts)."""

import json
import re

from .journal import Trouble

LINE = re.compile(r"(?P<indent> *)(?P<dash>-(?: +|$))?(?:(?P<key>[\w.-]+|\"[^\"]*\"|'[^']*')\s*:(?=\s|$)\s*)?(?P<value>.*)$")


def scalar(text):
    text = text.strip()
    if text.startswith("[") and text.endswith("]"):
        return [scalar(part) for part in text[1:-1].split(",") if part.strip()]
    if text[:1] == '"':
        return json.loads(text)
    if text[:1] == "'":
        return text[1:-1].replace("''", "'")
    return {"true": True, "false": False, "": None, "null": None, "~": None}.get(text, text)


def uncommented(line):
    return re.sub(r"(^|\s)#(?=([^\"']*[\"'][^\"']*[\"'])*[^\"']*$).*", "", line).rstrip()


def parse(text):
    """Maps and lists by indentation. Raises ValueError with the line's number for anything else."""
    lines = []
    for number, line in enumerate(text.splitlines(), 1):
        line = uncommented(line)
        if not line.strip() or line.startswith("---"):
            continue
        if "\t" in line[:len(line) - len(line.lstrip())]:
            raise ValueError(number)
        lines.append((number, line))
    value, rest = node(lines, 0, -1)
    if rest != len(lines):
        raise ValueError(lines[rest][0])
    return value


def node(lines, at, above):
    """The value whose lines are indented more than `above`."""
    if at >= len(lines):
        return None, at
    indent = len(lines[at][1]) - len(lines[at][1].lstrip())
    if indent <= above:
        return None, at
    made = [] if lines[at][1].lstrip().startswith("-") else {}
    while at < len(lines):
        number, line = lines[at]
        match = LINE.match(line)
        depth = len(match["indent"])
        if depth < indent or (depth == indent and isinstance(made, list) != bool(match["dash"])):
            break
        if depth > indent:
            raise ValueError(number)
        if isinstance(made, list):
            inner = line[match.end("dash"):]
            if match["key"] and match["dash"]:  # "- name: x" begins a map, whose further keys stand below `name`
                lines[at] = (number, " " * match.end("dash") + inner)
                value, at = node(lines, at, indent)
            elif inner.strip():
                value, at = scalar(inner), at + 1
            else:
                value, at = node(lines, at + 1, indent)
            made.append(value)
            continue
        if not match["key"]:
            raise ValueError(number)
        value = match["value"].strip()
        at += 1
        if value[:1] in ("|", ">"):
            body = []
            while at < len(lines) and len(lines[at][1]) - len(lines[at][1].lstrip()) > indent:
                body.append(lines[at][1].strip())
                at += 1
            made[scalar(match["key"])] = "\n".join(body)
        elif value:
            made[scalar(match["key"])] = scalar(value)
        else:
            lists = at < len(lines) and lines[at][1].lstrip().startswith("- ") and len(lines[at][1]) - len(lines[at][1].lstrip()) == indent
            made[scalar(match["key"])], at = node(lines, at, indent - 1 if lists else indent)
    return made, at


def read_atlantis(root, found):
    """The projects of the root's atlantis.yaml, or None. Notes what is not moved."""
    path = next((root / name for name in ("atlantis.yaml", "atlantis.yml") if (root / name).is_file()), None)
    if path is None:
        return None
    try:
        document = parse(path.read_text(encoding="utf-8")) or {}
    except ValueError as why:
        raise Trouble(f"{path}: line {why} cannot be read") from None
    for name in (document.get("workflows") or {}):
        found.notes.append({"object": f"workflows/{name}", "why": "the workflow of atlantis.yaml does not move: use run tasks, policies or the settings of the workspaces"})
    projects = document.get("projects") or []
    for project in projects:
        if project.get("workflow"):
            found.notes.append({"object": project.get("name") or project.get("dir"), "why": f"used the workflow {project['workflow']}"})
    return projects
