# SPDX-License-Identifier: MPL-2.0
"""The state of everything that a job must not change. It is recorded before and after a job, and the two must be
equal."""

import glob
import hashlib
import os
import stat
import tempfile
from functools import cache
from pathlib import Path

KERNEL_SETTINGS = ["kernel/core_pattern", "kernel/core_uses_pid", "kernel/hostname", "kernel/domainname", "kernel/modprobe", "kernel/sysrq", "kernel/panic", "kernel/printk", "kernel/printk_ratelimit_burst",
                   "kernel/randomize_va_space", "kernel/dmesg_restrict", "kernel/kptr_restrict", "kernel/unprivileged_bpf_disabled", "kernel/yama/ptrace_scope", "vm/overcommit_memory", "vm/swappiness",
                   "vm/drop_caches", "fs/suid_dumpable", "fs/protected_symlinks", "fs/protected_hardlinks", "net/ipv4/ip_forward", "net/ipv4/conf/all/forwarding"]
# Files that a program with root's rights would change to persist. The account database is left out: concurrent tests
# may create accounts.
HOST_FILES = ["/etc/hosts", "/etc/hostname", "/etc/resolv.conf", "/etc/profile", "/etc/ld.so.preload", "/etc/ld.so.conf", "/etc/crontab", "/etc/sudoers", "/etc/nsswitch.conf", "/etc/inittab",
              "/etc/cron.d/*", "/etc/profile.d/*", "/etc/sudoers.d/*", "/etc/pam.d/*", "/etc/ssh/*", "/etc/systemd/system/*", "/etc/init.d/*", "/usr/local/bin/*", "/usr/local/sbin/*", "/root/.ssh/*",
              "/root/.bashrc", "/root/.profile", "/etc/security/*"]


@cache
def digest(path, device, inode, size, changed):
    """The digest of a file, read again after each change: no process can set the time of the latest one."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def described(path):
    """Mode, owner, size and content of one file, without following a link."""
    status = os.lstat(path)
    content = ""
    if stat.S_ISLNK(status.st_mode):
        content = os.readlink(path)
    elif stat.S_ISREG(status.st_mode):
        content = digest(path, status.st_dev, status.st_ino, status.st_size, status.st_ctime_ns)
    return oct(status.st_mode), status.st_uid, status.st_gid, content


def tree(folder, *left_out):
    """{path: description} of everything below the folder, except for the ignored entries."""
    found = {}
    for place, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if os.path.join(place, name) not in left_out]
        for name in folders + files:
            path = os.path.join(place, name)
            if path in left_out:
                continue
            try:
                found[path] = described(path)
            except FileNotFoundError:
                continue  # the worker's own temporary files
    return found


def is_empty(folder):
    try:
        return not any(folder.iterdir())
    except FileNotFoundError:
        return True


def setting(name):
    try:
        return Path("/proc/sys", name).read_text()
    except OSError:
        return None


def mounts(pid, own):
    """The mount points that the process sees, except those in other tests' folders, where these may mount."""
    points = [line.split()[4] for line in Path(f"/proc/{pid}/mountinfo").read_text().splitlines()]
    others = os.path.join(tempfile.gettempdir(), "runyard-")
    return sorted(point for point in points if not point.startswith(others) or Path(point).is_relative_to(own))


class HostSnapshot:
    def __init__(self, site, canaries):
        self.site, self.canaries = site, canaries
        self.data = site.worker.options["data_dir"]

    def settings(self):
        return {name: setting(name) for name in KERNEL_SETTINGS}

    def restore(self, before):
        """Restores kernel settings that a job has changed."""
        for name, value in before["settings"].items():
            if setting(name) != value:
                Path("/proc/sys", name).write_text(value)

    def taken(self):
        worker = self.site.worker
        # The worker itself writes these: results of init and schemas by their content, states being sent, and a copy of
        # the host's /etc.
        transient = [str(self.data / name) for name in ("jobs", "inits", "schemas", "unsent", "etc")]
        # The worker also writes the empty folder of an organization whose job runs or has just ended,
        transient += [str(folder) for folder in (self.data / "organization-packages").glob("*") if is_empty(folder)]
        # and the output of an apply that continues.
        outputs = [str(path) for path in (self.data / "jobs").glob("*/output")]
        return {"settings": self.settings(), "host files": {path: described(path) for pattern in HOST_FILES for path in glob.glob(pattern)}, "canaries": tree(self.canaries),
                "worker's files": tree(self.data, *transient), "other jobs": tree(self.data / "jobs", *outputs), "mounts": mounts(worker.pid, self.data), "listeners": listeners(worker.pid)}


def listeners(pid):
    """Inodes of the listening sockets that the process holds open."""
    listening = set()
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/{pid}/net/{name}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A":
                listening.add(fields[9])
    held = set()
    for entry in os.scandir(f"/proc/{pid}/fd"):
        try:
            target = os.readlink(entry.path)
        except OSError:
            continue
        if target.startswith("socket:["):
            held.add(target[8:-1])
    return sorted(listening & held)


def changes(before, after):
    """The names of everything that differs between two states."""
    found = []
    for part in before:
        if before[part] == after[part]:
            continue
        if isinstance(before[part], dict):
            names = sorted(name for name in {*before[part], *after[part]} if before[part].get(name) != after[part].get(name))
            found += [f"{part}: {name}: {before[part].get(name)} became {after[part].get(name)}" for name in names]
        else:
            found.append(f"{part}: {before[part]} became {after[part]}")
    return found
