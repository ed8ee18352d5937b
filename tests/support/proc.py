# SPDX-License-Identifier: MPL-2.0
"""The processes of this machine, from /proc."""

import re
from pathlib import Path


def processes_with(text):
    """Pids of the processes that have the text in their arguments or their environment."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        for name in ("cmdline", "environ"):
            try:
                if str(text).encode() in (folder / name).read_bytes():
                    found.append(int(folder.name))
                    break
            except OSError:
                continue
    return found


def working_with(text):
    """The same without the engine that shows a plan's file or its providers' schemas, and its keeper: they may outlive
    the plan's result. A process that has just ended has no arguments."""
    return [pid for pid in processes_with(text) if (given := arguments(pid)) and not {b"show", b"schema"} & set(given)]


def arguments(pid):
    """Empty for a process that has ended, also if its parent has not asked for its status yet."""
    try:
        given = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return []
    return given.split(b"\0") if given else []


def is_engine(pid):
    """True for terraform and tofu. The file of an engine may have a version in its name: tofu-1.10.10."""
    try:
        return bool(re.fullmatch(rb"(terraform|tofu)(-\d.*)?\n", Path(f"/proc/{pid}/comm").read_bytes()))
    except OSError:
        return False


def engines(workers):
    """(workspace, run, worker) of every engine that works on a workspace, by its environment. An engine that shows a
    plan's file does not count. `workers` are pids; 0: it has lost its worker. All results run at the same moment."""
    found = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if not is_engine(folder.name):
                continue
            if not {b"plan", b"apply"} & set((folder / "cmdline").read_bytes().split(b"\0")):
                continue
            pairs = (pair.partition(b"=") for pair in (folder / "environ").read_bytes().split(b"\0"))
            environment = {name.decode(): value.decode() for name, _, value in pairs if name in (b"TFC_RUN_ID", b"TFC_WORKSPACE_ID")}
            if "TFC_RUN_ID" in environment:
                worker = next((pid for pid in ancestors(int(folder.name)) if pid in workers), 0)
                found[folder] = began(folder), (environment["TFC_WORKSPACE_ID"], environment["TFC_RUN_ID"], worker)
        except OSError:
            continue
    # One that was seen first may have ended before another began, which is not an error.
    return {engine for folder, (since, engine) in found.items() if runs_since(folder, since)}


def began(folder):
    """The start time of the process, which distinguishes it from another process with the same pid."""
    return (folder / "stat").read_text().rpartition(")")[2].split()[19]


def runs_since(folder, since):
    try:
        return began(folder) == since and (folder / "environ").read_bytes() != b""
    except OSError:
        return False


def ancestors(pid):
    while pid > 1:
        try:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            return
        yield pid


def descendants(*pids):
    """The processes and all that they have started."""
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, last = set(pids), set()
    while found != last:
        last = set(found)
        found |= {pid for pid, parent in parents.items() if parent in found}
    return found
