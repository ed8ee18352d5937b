# SPDX-License-Identifier: MPL-2.0
"""An organization as files: what `export` writes and `import` reads.

    export.json                                   form and organization; written last: an interrupted export has none,
                                                  but export.json.part, which is locked while a command writes
    objects/KIND.json                             the objects of a kind
    states/WORKSPACE/SERIAL.tfstate               and other contents, by their kinds and keys
"""

import contextlib
import json
import os
import shutil
from pathlib import Path

from .client import LOST, Failure, threads
from .content import digest
from .inventory import Inventory, Item, is_revoked, quoted
from .journal import Trouble, lock, private_file
from .kinds import BY_NAME

FORM = 1
ENDS = {"state": ".tfstate", "configuration": ".tar.gz", "module-version": ".tar.gz", "provider-version": ".json", "provider-platform": ".zip"}
KEPT = ("size", "md5", "lineage", "created-at", "tokens", "versions", "unread")


def content_path(folder, item):
    """Keys have slashes: each part becomes a name that no file system misunderstands."""
    parts = [quoted(part).replace(".", "%2E") if part.strip(".") == "" else quoted(part) for part in item.key.split("/")]
    return Path(folder) / "contents" / Path(*parts[:-1]) / (parts[-1] + ENDS[item.kind.content])


class FileSource:
    """An export, as the source of an import."""

    def __init__(self, folder, organization):
        self.folder, self.organization = Path(folder), organization
        if not is_export(folder):
            raise Trouble(f"{folder} is no export, or one that was interrupted: it has no export.json")
        head = read_json(self.folder / "export.json")
        if head.get("form") != FORM:
            raise Trouble(f"{folder} was written by another version")
        self.name = head["organization"]

    def read(self):
        found = Inventory(self.name)
        for kind in BY_NAME.values():
            path = self.folder / "objects" / f"{kind.name}.json"
            if not path.exists():
                continue
            for one in read_json(path):
                found.add(Item(kind, one["key"], one["attributes"], one["relations"], one.get("owner"), one.get("id", ""), one.get("path", ""), {}, one.get("facts", {})))
        return found

    def fetch(self, item, file):
        try:
            with open(content_path(self.folder, item), "rb") as stored:
                shutil.copyfileobj(stored, file, 1 << 20)
        except FileNotFoundError:
            raise Failure("GET", item.key, 404, "is not in the export") from None
        if item.facts.get("md5") and item.facts["md5"].lower() != digest(file)[0]:
            raise Failure("GET", item.key, 0, f"{content_path(self.folder, item)} is not what the source had: export again, into a new folder")


def is_export(folder):
    return (Path(folder) / "export.json").exists()


def read_json(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise Trouble(f"{path} is damaged: export again, into a new folder") from None


def write_json(file, document, **form):
    """Writes it to the disk, too: an export that has its last file has all others, also after a power failure."""
    json.dump(document, file, ensure_ascii=False, **form)
    file.flush()
    os.fsync(file.fileno())


def ids_in(folder):
    """{key: id} of the objects that an interrupted export wrote."""
    found = {}
    for path in (folder / "objects").glob("*.json"):
        try:
            found.update((one["key"], one["id"]) for one in json.loads(path.read_text(encoding="utf-8")))
        except (ValueError, KeyError, TypeError):
            pass  # the file that was being written
    return found


def go_on(folder, holders):
    """Deletes what an interrupted export wrote, except for the contents of objects that still have the same ids."""
    before = ids_in(folder)
    kept = {content_path(folder, item) for item in holders if item.id and before.get(item.key) == item.id}
    for path in list((folder / "contents").rglob("*")):
        if path.is_file() and path not in kept:
            path.unlink()
    for kind in BY_NAME:
        (folder / "objects" / f"{kind}.json").unlink(missing_ok=True)


def write_objects(inventory, folder):
    kinds = {}
    for item in inventory.items.values():
        kinds.setdefault(item.kind.name, []).append({
            "key": item.key, "owner": item.owner, "id": item.id, "path": item.path, "attributes": item.attributes, "relations": item.relations,
            "facts": {name: value for name, value in item.facts.items() if name in KEPT}})
    for name, items in kinds.items():
        with private_file(folder / "objects" / f"{name}.json") as file:
            write_json(file, items, indent=1)


def write_contents(source, holders, folder, parallel, progress):
    def content(item):
        path = content_path(folder, item)
        if path.exists():
            return None
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = path.with_name(path.name + ".part")
        try:
            with open(os.open(part, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b") as file:
                source.fetch(item, file)
                file.flush()
                os.fsync(file.fileno())  # an export that goes on after a power failure keeps it
            part.rename(path)
        except (Failure, KeyError, *LOST) as why:
            with contextlib.suppress(OSError):  # it may not exist
                part.unlink()
            return {"object": item.key, "why": str(why)}
        return None
    with threads(parallel) as pool:
        wrong = []
        for number, one in enumerate(pool.map(content, holders), 1):
            progress(f"contents: {number} of {len(holders)}")
            wrong += [one] if one else []
    return wrong


def export(source, inventory, folder, parallel, progress):
    """Writes the inventory and all contents into a folder without an export. [(object, why)] of contents that could not be read."""
    folder = Path(folder)
    (folder / "objects").mkdir(parents=True, exist_ok=True, mode=0o700)
    os.chmod(folder, 0o700)
    part = folder / "export.json.part"
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8") as head:
        lock(head, folder)
        if is_export(folder):
            raise Trouble(f"another runyard-migrate has written an export into {folder}")
        head.truncate()
        holders = [item for item in inventory.items.values() if item.kind.content in ENDS and not is_revoked(item)]
        go_on(folder, holders)
        write_objects(inventory, folder)
        wrong = write_contents(source, holders, folder, parallel, progress)
        write_json(head, {"form": FORM, "organization": inventory.organization})
        part.rename(folder / "export.json")
    return wrong
