# SPDX-License-Identifier: MPL-2.0
"""Finds and replaces the `cloud` and `backend` blocks of configurations, and addresses of the private registry, without reading the rest."""

import difflib
import json
import re
from dataclasses import dataclass
from pathlib import Path

SKIPPED = {".terraform", ".git", ".terragrunt-cache", "node_modules"}
HEREDOC = re.compile(r'<<[-~]?"?(\w+)"?[^\n]*\n')
HEAD = re.compile(r'([A-Za-z_][\w-]*)((?:\s+"(?:[^"\\\n]|\\.)*")*)\s*\Z')
SOURCE = re.compile(r'\bsource\s*=\s*\Z')
GENERIC = "localterraform.com"  # stands for the server of the run, in addresses of private modules
ATTRIBUTE = re.compile(r'(?:^|\{)\s*([\w-]+)\s*=\s*"((?:[^"\\]|\\.)*)"', re.MULTILINE)


@dataclass
class Block:
    kind: str  # cloud or backend
    label: str  # of a backend
    start: int
    end: int
    text: str

    @property
    def attributes(self):
        return dict(ATTRIBUTE.findall(self.text))


def string_end(text, at):
    """The end of the quoted string that begins here. An interpolation may have strings and braces of its own."""
    at += 1
    while at < len(text):
        if text[at] == "\\" or text.startswith(("$${", "%%{"), at):
            at += 2 if text[at] == "\\" else 3
        elif text[at] == '"':
            return at + 1
        elif text.startswith(("${", "%{"), at):
            at = interpolation_end(text, at + 2)
        else:
            at += 1
    return len(text)


def interpolation_end(text, at):
    depth = 1
    while at < len(text) and depth:
        if text[at] == '"':
            at = string_end(text, at)
            continue
        depth += {"{": 1, "}": -1}.get(text[at], 0)
        at += 1
    return at


def skip(text, at):
    """The end of the string, comment or heredoc that begins here, or None."""
    if text[at] == '"':
        return string_end(text, at)
    if text[at] == "#" or text.startswith("//", at):
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    if text.startswith("/*", at):
        end = text.find("*/", at)
        return len(text) if end < 0 else end + 2
    if text.startswith("<<", at):
        begin = HEREDOC.match(text, at)
        if begin:
            end = re.compile(rf"^[ \t]*{begin.group(1)}[ \t]*$", re.MULTILINE).search(text, begin.end() - 1)
            return end.end() if end else len(text)
    return None


def blocks(text):
    """The cloud and backend blocks inside of terraform blocks."""
    found, stack, at, line = [], [], 0, 0
    while at < len(text):
        end = skip(text, at)
        if end is not None:
            at = end
            continue
        if text[at] == "{":
            head = HEAD.search(text, line, at)
            stack.append((head.group(1) if head else "", head.group(2).strip().strip('"') if head else "", head.start() if head else at))
            line = at + 1
        elif text[at] == "}" and stack:
            name, label, start = stack.pop()
            if len(stack) == 1 and stack[0][0] == "terraform" and name in ("cloud", "backend"):
                found.append(Block(name, label, start, at + 1, text[start:at + 1]))
            line = at + 1
        elif text[at] == "\n":
            line = at + 1
        at += 1
    return found


def files(root):
    return [path for path in sorted(Path(root).rglob("*.tf")) if SKIPPED.isdisjoint(path.relative_to(root).parts) and path.is_file()]


def configurations(root):
    """{folder: [(file, block)]} of the folders with configurations below the root."""
    found = {}
    for path in files(root):
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
        found.setdefault(path.parent, []).extend((path, block) for block in blocks(text))
    return found


def addressed(text, old, new):
    """The text with other beginnings of the addresses of modules and providers. `old` are the beginnings to replace."""
    parts, at, kept = [], 0, 0
    while at < len(text):
        end = skip(text, at)
        begin = next((one for one in old if text.startswith(f'"{one}', at)), None) if end else None
        if begin and SOURCE.search(text, max(0, at - 80), at):
            parts += [text[kept:at], '"' + new]
            kept = at + 1 + len(begin)
        at = end or at + 1
    return "".join(parts) + text[kept:]


def cloud_block(host, organization, workspaces, indent):
    """A cloud block; `workspaces` are the lines inside of its block, or None to keep none."""
    lines = ["cloud {", f"  hostname     = {json.dumps(host)}", f"  organization = {json.dumps(organization)}"]
    if workspaces:
        lines += ["", "  workspaces {", *(f"    {line}" for line in workspaces), "  }"]
    return "\n".join([lines[0], *(indent + line if line else "" for line in lines[1:]), indent + "}"])


def renamed(block, host, organization):
    """The text of a cloud or remote block with another server."""
    text = block.text
    for name, value in (("hostname", host), ("organization", organization)):
        pattern = re.compile(rf'^(\s*{name}\s*=\s*)"(?:[^"\\]|\\.)*"', re.MULTILINE)
        if pattern.search(text):
            text = pattern.sub(lambda match, value=value: match.group(1) + json.dumps(value), text, count=1)
        else:
            head, _, rest = text.partition("{")
            inner = re.search(r"\n([ \t]+)\S", rest)
            end = "\r\n" if rest.startswith("\r") else "\n"
            text = f"{head}{{{end}{inner.group(1) if inner else '    '}{name} = {json.dumps(value)}{rest}"
    return text


def replaced(path, decide):
    """(text, new text) of a file. decide(block, indent) returns a block's new text, or None."""
    text = new = path.read_bytes().decode("utf-8", "surrogateescape")
    for block in reversed(blocks(text)):
        indent = re.search(r"[ \t]*\Z", text[:block.start]).group()
        made = decide(block, indent)
        if made is not None:
            new = new[:block.start] + made + new[block.end:]
    return text, new


def patch(root, decide, rest=lambda text: text):
    """A patch for `git apply`, of all files that change. decide(path, block, indent) replaces blocks, then rest(text) all other text."""
    lines = []
    for path in files(root):
        text, new = replaced(path, lambda block, indent, path=path: decide(path, block, indent))
        new = rest(new)
        name = path.relative_to(root).as_posix()
        for line in difflib.unified_diff(text.splitlines(True), new.splitlines(True), f"a/{name}", f"b/{name}"):
            lines.append(line if line.endswith("\n") else line + "\n\\ No newline at end of file\n")
    return "".join(lines)


def server_patch(root, old_host, old_organization, host, organization):
    """The patch for code that uses another server of TFE's API."""
    def decide(path, block, indent):
        if block.kind == "backend" and block.label != "remote":
            return None
        attributes = block.attributes
        if attributes.get("hostname", "app.terraform.io") != old_host or attributes.get("organization", old_organization) != old_organization:
            return None
        return renamed(block, host, organization)
    old = [f"{name}/{old_organization}/" for name in (old_host, GENERIC)]
    return patch(root, decide, lambda text: addressed(text, old, f"{host}/{organization}/"))
