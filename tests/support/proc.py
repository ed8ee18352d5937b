# SPDX-License-Identifier: MPL-2.0
"""What runs on this machine, from /proc."""

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
