# SPDX-License-Identifier: MPL-2.0
"""The working folder of a migration: what was done, which workspaces were cut over, and secrets that an operator supplies.

The journal has a line for each thing that was done. It holds names and ids, never values. Objects that exist at the
target are found by reading it, so a lost journal only loses the cut-overs and repeats uploads of configurations.
The line "belongs" names the source and the target, because no other line is true of other servers.
"""

import datetime
import fcntl
import json
import os
import stat
import threading
from pathlib import Path

ORGANIZATION = "organization/settings"


class Trouble(Exception):
    """The command cannot go on. The text says what to do."""


class Journal:
    def __init__(self, folder, organization, write=True):
        self.folder = Path(folder) / organization
        try:
            self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except (NotADirectoryError, FileExistsError):
            raise Trouble(f"the working folder {folder} is a file: name another one with --folder") from None
        self.path, self.mutex, self.writes = self.folder / "journal.jsonl", threading.Lock(), write
        self.lines = []
        self.file = open(self.path, "a+", encoding="utf-8")
        os.chmod(self.path, 0o600)
        if write:
            lock(self.file, self.path)
        self.load()

    def load(self):
        self.file.seek(0)
        text = self.file.read()
        for line in text.splitlines():
            try:
                self.lines.append(json.loads(line))
            except ValueError:
                pass  # the line that was being written when the program was killed
        if text and not text.endswith("\n"):
            self.file.write("\n")

    def note(self, did, key, **more):
        line = {"at": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"), "did": did, "object": key, **more}
        with self.mutex:
            self.lines.append(line)
            self.file.write(json.dumps(line) + "\n")
            self.file.flush()
            os.fsync(self.file.fileno())

    def require(self, place):
        """Refuses the folder of another move, and closes its file. `place` is {source, organization, target}; an export has no source. Journals of version 1.0.0 have no place."""
        line = self.last(ORGANIZATION, "belongs")
        if line and any(line[name] != place[name] and not (name == "source" and "" in (line[name], place[name])) for name in place):
            self.file.close()
            raise Trouble(f"the working folder {self.folder} belongs to the move of {line['organization']} from {line['source'] or 'an export'} to {line['target']}: name another one with --folder")

    def belong(self, place):
        if self.writes and not self.last(ORGANIZATION, "belongs"):
            self.note("belongs", ORGANIZATION, **place)

    def last(self, key, *did):
        """The newest line about the object that says one of these, or None."""
        return self.newest(key, did.__contains__)

    def uploaded(self, key):
        """The configuration that was uploaded last: its ids at the source and at the target, or None twice."""
        line = self.newest(key, lambda did: did.startswith("uploaded "))
        return (line["did"].partition(" ")[2], line["id"]) if line else (None, None)

    def newest(self, key, fits):
        with self.mutex:
            return next((line for line in reversed(self.lines) if line["object"] == key and fits(line["did"])), None)

    @property
    def live(self):
        """The workspaces that were cut over."""
        return self.since({"cut over"}, {"rolled back"})

    @property
    def moved(self):
        """The workspaces at the target that this folder made or adopted."""
        return self.since({"creating", "adopted"}, {"not created"})

    def since(self, begins, ends):
        """The objects that a line of `begins` is about, and no line of `ends` after it."""
        found = set()
        for line in self.lines:
            if line["did"] in begins:
                found.add(line["object"])
            elif line["did"] in ends:
                found.discard(line["object"])
        return found

    def wrote(self, key, state):
        """Whether the workspace's state, as the target has it, is the one that was written last."""
        line = self.last(key, "wrote state")
        return bool(line) and state.attributes["serial"] == line["serial"] and state.facts.get("md5") in (None, line["md5"])


def lock(file, path):
    """Until the file is closed, or the program ends, no other command uses it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise Trouble(f"another runyard-migrate uses {path}") from None


def read_secrets(path):
    """{key: value} of the filled template. Values stay in memory."""
    if not path:
        return {}
    with open(path, encoding="utf-8") as file:
        if os.fstat(file.fileno()).st_mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise Trouble(f"{path} can be read by other users: chmod 600 {path}")
        try:
            document = json.load(file)
        except ValueError as why:
            raise Trouble(f"{path} is no JSON: {why}") from None
    if not isinstance(document, dict):
        raise Trouble(f"{path} must be an object of names and values")
    return {key: value for key, value in document.items() if isinstance(value, str) and value}


def private_file(path):
    """A new file that only its owner can read."""
    return os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8")
