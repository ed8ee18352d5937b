# SPDX-License-Identifier: MPL-2.0
"""A folder of configurations with plain backends (S3, GCS, azurerm, pg, http, local ...) as a source.

Each folder and CLI workspace becomes a workspace. A backend is read by the engine itself, in an empty folder that has
the backend's block alone: no providers and no modules are needed, and nothing is written into the code.
"""

import glob
import gzip
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import urllib.parse
from pathlib import Path

from . import code
from .atlantis import read_atlantis
from .client import threads
from .content import digest, state_head
from .inventory import Inventory, Item, key_of
from .journal import Trouble
from .kinds import BY_NAME

LEFT_OUT = re.compile(r"\.tfstate(?!.*\.(tf|tofu)(\.json)?$)|\.tfplan$")  # states and their backups, but no code


class CodeSource:
    def __init__(self, options, organization, progress):
        self.root, self.options, self.organization, self.progress = Path(options.source).resolve(), options, organization, progress
        if not self.root.is_dir():
            raise Trouble(f"{options.source} is no folder. The address of a server begins with https://")
        if (options.folder / organization).resolve() == self.root:
            raise Trouble(f"the working folder {options.folder / organization} is the folder of the code: name another one with --folder")
        self.scratch = tempfile.TemporaryDirectory(prefix="runyard-migrate-")
        self.files, self.tags, self.places, self.state_paths = {}, {}, {}, set()

    # ---- what there is ----

    def read(self):
        found = Inventory(self.organization)
        configurations = code.configurations(self.root)
        if not configurations:
            raise Trouble(f"{self.root} has no configurations. An export that was interrupted has no export.json: run it again")
        self.state_paths = {(folder / block.attributes["path"]).resolve() for folder, pairs in configurations.items() for _, block in pairs
                            if block.label == "local" and "path" in block.attributes}
        folders = {folder: [pair for pair in pairs if pair[1].kind == "backend"] for folder, pairs in configurations.items()
                   if not any(block.kind == "cloud" or block.label == "remote" for _, block in pairs)}
        projects = read_atlantis(self.root, found)
        wanted = {folder: None for folder, pairs in folders.items() if pairs or self.local_states(folder, {})}
        if projects is not None:
            wanted = {}
            for project in projects:
                folder = (self.root / project.get("dir", ".")).resolve()
                if folder not in folders:
                    found.problem(f"atlantis.yaml: {project.get('name') or project.get('dir')}", "its folder has no configuration with a plain backend")
                    continue
                wanted.setdefault(folder, []).append(project)
        with threads(self.options.parallel) as pool:
            for folder, states in zip(wanted, pool.map(lambda folder: self.states(folder, folders[folder], wanted[folder], found), wanted)):
                self.add(folder, states, wanted[folder], found)
        self.packed = Path(self.scratch.name) / "code.tar.gz"
        with open(self.packed, "w+b") as file:
            self.archive(file)
            version = digest(file)[1][:16]
        for item in found.of("configurations"):
            item.id = version  # other code is uploaded again
        return found

    def add(self, folder, states, projects, found):
        relative = folder.relative_to(self.root).as_posix()
        for workspace, path in sorted(states.items()):
            project = next((one for one in projects or [] if one.get("workspace", "default") == workspace), {})
            name = project.get("name") or self.name(relative, workspace)
            name = re.sub(r"[^A-Za-z0-9_-]+", "-", name).strip("-")[:90]
            key = f"workspaces/{name}"
            if key in found.items:
                raise Trouble(f"{relative} and {found.items[key].facts['folder']} both give the name {name}: use another --name-rule")
            attributes = {"name": name, "working-directory": "" if relative == "." else relative}
            if project.get("terraform_version"):
                attributes["terraform-version"] = str(project["terraform_version"]).lstrip("v")
            found.add(Item(BY_NAME["workspaces"], key, attributes, {}, facts={"folder": relative, "workspace": workspace}))
            self.places.setdefault(relative, []).append((workspace, name))
            tags = BY_NAME["workspace-tags"]
            found.add(Item(tags, key_of(tags, "folder", key), {"key": "folder", "value": self.tag(relative)}, {}, key))
            kind = BY_NAME["state-versions"]
            with open(path, "rb") as file:
                serial, lineage = state_head(file)
                md5, _, size = digest(file)
            state = found.add(Item(kind, key_of(kind, str(serial), key), {"serial": serial}, {}, key, facts={"md5": md5, "size": size, "lineage": lineage}))
            self.files[state.key] = path
            kind = BY_NAME["configurations"]
            found.add(Item(kind, key_of(kind, "current", key), {}, {}, key))

    def tag(self, relative):
        return re.sub(r"[^A-Za-z0-9_-]+", "-", self.root.name if relative == "." else relative).strip("-").lower()

    def name(self, relative, workspace):
        folder = self.root.name if relative == "." else relative.replace("/", "-")
        text = self.options.name_rule.replace("{folder}", folder)
        return text.replace("{workspace}", workspace) if workspace != "default" else re.sub(r"[-_]*\{workspace\}[-_]*", "", text)

    # ---- states ----

    def states(self, folder, pairs, projects, found):
        """{CLI workspace: file with its state} of a folder."""
        relative = folder.relative_to(self.root).as_posix()
        try:
            if not pairs or pairs[0][1].label == "local":
                states = self.local_states(folder, pairs[0][1].attributes if pairs else {})
            else:
                states = self.pulled(folder, pairs[0][1])
        except (OSError, subprocess.SubprocessError) as why:
            text = (getattr(why, "stderr", None) or str(why).encode()).decode(errors="replace")
            text = re.sub(r"\x1b\[[0-9;]*m|[│╷╵]", "", text)
            found.problem(relative, " ".join(text[max(0, text.find("Error:")):].split())[:500])
            return {}
        wanted = {one.get("workspace", "default") for one in projects or []}
        for name in sorted(wanted - set(states)):
            found.problem(relative, f"has no state in the workspace {name}")
        return {name: path for name, path in states.items() if not projects or name in wanted}

    @staticmethod
    def local_states(folder, attributes):
        found = {"default": folder / attributes.get("path", "terraform.tfstate")}
        for path in (folder / attributes.get("workspace_dir", "terraform.tfstate.d")).glob("*/terraform.tfstate"):
            found[path.parent.name] = path
        return {name: path for name, path in found.items() if path.is_file() and path.stat().st_size}

    def pulled(self, folder, block):
        place = Path(tempfile.mkdtemp(dir=self.scratch.name))
        (place / "backend.tf").write_text(f"terraform {{\n{block.text}\n}}\n", encoding="utf-8", errors="surrogateescape")
        configs = [f"-backend-config={Path(path).resolve()}" for path in self.options.backend_config]
        self.engine(place, "init", "-input=false", "-no-color", *configs)
        found = {}
        for name in self.workspaces(place):
            state = self.engine(place, "state", "pull", TF_WORKSPACE=name)
            if state.strip():
                path = place / f"{urllib.parse.quote(name, safe='')}.state"
                path.write_bytes(state[:-1] if state.endswith(b"\n\n") else state)  # the engine prints a line's end after it
                found[name] = path
        return found

    def workspaces(self, place):
        try:
            lines = self.engine(place, "workspace", "list", "-no-color").decode().splitlines()
        except subprocess.CalledProcessError as why:
            if b"workspaces not supported" not in why.stderr:
                raise
            return ["default"]
        return [name for name in (line.strip("* \t") for line in lines) if name]

    def engine(self, place, *arguments, **more):
        environment = {name: value for name, value in os.environ.items() if name not in ("TF_WORKSPACE", "TF_DATA_DIR", "RUNYARD_TARGET_TOKEN")}
        try:
            return subprocess.run([self.options.engine, *arguments], cwd=place, env={**environment, "TF_IN_AUTOMATION": "1", **more}, capture_output=True,
                                  check=True, timeout=600).stdout
        except FileNotFoundError as why:
            raise OSError(f"{self.options.engine} is not installed: install it, or name another engine with --engine") from why

    # ---- contents ----

    def fetch(self, item, file):
        with open(self.files[item.key] if item.kind.content == "state" else self.packed, "rb") as stored:
            shutil.copyfileobj(stored, file)

    def private(self):
        """Files and folders that people who may download configurations must not get: working folders, files of secrets, local states."""
        options = self.options
        named = (options.folder, options.folder / self.organization, options.secrets, options.from_token_file, options.to_token_file, *options.backend_config)
        found = {Path(one).resolve() for one in named if one} - {self.root, *self.root.parents}
        for path in self.state_paths:
            found.update(one for one in (path, *path.parent.glob(glob.escape(path.name) + ".*backup")) if one.is_file())
        return found

    def archive(self, file):
        """The code as a configuration, with cloud blocks in place of the backends'."""
        private = self.private()
        with gzip.GzipFile(fileobj=file, mode="wb", mtime=0) as packed, tarfile.open(fileobj=packed, mode="w|") as archive:
            for path in sorted(self.root.rglob("*")):
                relative = path.relative_to(self.root)
                if not path.is_file() or path.is_symlink() or LEFT_OUT.search(path.name) or not code.SKIPPED.isdisjoint(relative.parts):
                    continue
                if not private.isdisjoint((path, *path.parents)):
                    continue
                text = path.read_bytes()
                if path.suffix == ".tf":
                    text = code.replaced(path, lambda block, indent: self.decide(path, block, indent))[1].encode("utf-8", "surrogateescape")
                with tempfile.TemporaryFile() as part:
                    part.write(text)
                    member = tarfile.TarInfo(relative.as_posix())
                    member.size, member.mode = len(text), 0o755 if os.access(path, os.X_OK) else 0o644
                    part.seek(0)
                    archive.addfile(member, part)

    def decide(self, path, block, indent):
        """The cloud block for a backend's."""
        relative = path.parent.relative_to(self.root).as_posix()
        places = self.places.get(relative)
        if block.kind != "backend" or not places:
            return None
        lines = [f'name = "{places[0][1]}"'] if len(places) == 1 else [f'tags = {{ folder = "{self.tag(relative)}" }}']
        return code.cloud_block(urllib.parse.urlsplit(self.options.target).netloc, self.organization, lines, indent)

    def patch(self):
        return code.patch(self.root, self.decide)
