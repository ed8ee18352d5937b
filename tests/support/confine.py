# SPDX-License-Identifier: MPL-2.0
"""confine.py UNIT ACCOUNT FOLDER PROGRAM ARGUMENT...: runs the program confined as systemd confines it by the unit, as far as that is possible without systemd: account,
capabilities, user namespace, filters of system calls, and a read-only system except for the folder. Root starts it. Everything is in namespaces of the process; nothing
outside changes."""

import ctypes
import os
import pwd
import re
import subprocess
import sys

libc = ctypes.CDLL(None, use_errno=True)
seccomp = ctypes.CDLL("libseccomp.so.2", use_errno=True)
seccomp.seccomp_init.restype = ctypes.c_void_p

CLONE = {"mnt": 0x20000, "cgroup": 0x2000000, "uts": 0x4000000, "ipc": 0x8000000, "user": 0x10000000, "pid": 0x20000000, "net": 0x40000000}
FAMILIES = {"AF_UNIX": 1, "AF_INET": 2, "AF_INET6": 10, "AF_NETLINK": 16}
ALLOW, EPERM, ENOSYS, EAFNOSUPPORT = 0x7FFF0000, 0x00050001, 0x00050026, 0x00050061
EQUAL, MASKED_EQUAL = 4, 7
MS_BIND, MS_REC, MS_PRIVATE = 0x1000, 0x4000, 0x40000
MOUNT_ATTR_RDONLY, AT_FDCWD, AT_RECURSIVE, SYS_MOUNT_SETATTR = 1, -100, 0x8000, 442


class Compare(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("operator", ctypes.c_int), ("first", ctypes.c_uint64), ("second", ctypes.c_uint64)]


def must(result, what):
    if result < 0:
        raise OSError(ctypes.get_errno() or -result, what)


def settings(unit):
    """{directive: [values]}"""
    found = {}
    for name, value in re.findall(r"^([A-Z]\w+)=(.*)$", open(unit).read(), re.M):
        found.setdefault(name, []).append(value)
    return found


# ---- files ----

def read_only(path, on):
    attributes = (ctypes.c_uint64 * 4)(MOUNT_ATTR_RDONLY if on else 0, 0 if on else MOUNT_ATTR_RDONLY, 0, 0)
    must(libc.syscall(SYS_MOUNT_SETATTR, AT_FDCWD, path.encode(), AT_RECURSIVE, attributes, ctypes.sizeof(attributes)), path)


def protect_system(folder):
    """ProtectSystem=strict, with the folder as its StateDirectory="""
    must(libc.unshare(CLONE["mnt"]), "unshare")
    must(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None), "mount")
    writable = ["/proc", "/sys", "/dev", folder]
    for path in writable:
        if not os.path.ismount(path):  # a minimal system's /dev is a folder
            must(libc.mount(path.encode(), path.encode(), None, MS_BIND, None), path)
    read_only("/", True)
    for path in writable:
        read_only(path, False)


# ---- system calls ----

def filter_new(default):
    return ctypes.c_void_p(seccomp.seccomp_init(ctypes.c_uint32(default)))


def filter_add(context, action, name, *compares):
    number = seccomp.seccomp_syscall_resolve_name(name.encode())
    if number >= 0:  # the others belong to other architectures
        must(seccomp.seccomp_rule_add_array(context, ctypes.c_uint32(action), number, len(compares), (Compare * len(compares))(*compares)), name)


def filter_load(context):
    must(seccomp.seccomp_load(context), "seccomp_load")


def sets_of_calls():
    """{"@mount": {"mount", ...}}"""
    found = {}
    for line in subprocess.run(["systemd-analyze", "--no-pager", "syscall-filter"], capture_output=True, text=True, check=True).stdout.splitlines():
        line = re.sub(r"\x1b\[[0-9;]*m", "", line)
        if line.startswith("@"):
            current = found.setdefault(line.strip(), set())
        elif re.match(r"    [\w@]", line):
            current.add(line.strip())
    return found


def calls(sets, words):
    """The calls that the words name, sets resolved."""
    found = set()
    for word in words:
        found |= calls(sets, sets[word]) if word.startswith("@") else {word}
    return found


def filter_calls(values):
    sets = sets_of_calls()
    allowed = calls(sets, ["@default"])
    for value in values:
        named = calls(sets, value.removeprefix("~").split())
        allowed = allowed - named if value.startswith("~") else allowed | named
    context = filter_new(EPERM)
    for name in allowed:
        filter_add(context, ALLOW, name)
    return context


def filter_namespaces(allowed):
    context = filter_new(ALLOW)
    filter_add(context, ENOSYS, "clone3")  # its flags are in memory, which a filter can't read
    for name, flag in CLONE.items():
        if name not in allowed:
            for call, argument in (("unshare", 0), ("clone", 0), ("setns", 1)):
                filter_add(context, EPERM, call, Compare(argument, MASKED_EQUAL, flag, flag))
    return context


def filter_families(allowed):
    """One rule for each family that is not allowed: a rule can't compare an argument twice."""
    context = filter_new(ALLOW)
    numbers = {FAMILIES[name] for name in allowed}
    for family in set(range(46)) - numbers:
        filter_add(context, EAFNOSUPPORT, "socket", Compare(0, EQUAL, family, 0))
    return context


def filter_modes():
    """RestrictSUIDSGID=: the mode is in memory, which a filter can't read. The filters of chmod and mkdir are left out."""
    context = filter_new(ALLOW)
    filter_add(context, ENOSYS, "openat2")
    return context


# ---- account ----

def become(account):
    """The account, in a user namespace that has only root and itself (PrivateUsers=), without capabilities."""
    request_read, request_write = os.pipe()
    answer_read, answer_write = os.pipe()
    parent = os.getpid()
    helper = os.fork()
    if helper == 0:
        os.close(request_write)
        os.close(answer_read)
        if os.read(request_read, 1):
            for kind, number in (("uid", account.pw_uid), ("gid", account.pw_gid)):
                with open(f"/proc/{parent}/{kind}_map", "w") as map_file:
                    map_file.write(f"0 0 1\n{number} {number} 1\n")
            os.write(answer_write, b"1")
        os._exit(0)
    os.close(answer_write)
    for capability in range(41):
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
    os.setgroups([])
    os.setresgid(account.pw_gid, account.pw_gid, account.pw_gid)
    os.setresuid(account.pw_uid, account.pw_uid, account.pw_uid)
    libc.prctl(4, 1, 0, 0, 0)  # PR_SET_DUMPABLE: /proc/self belongs to the account again
    must(libc.unshare(CLONE["user"]), "unshare")
    os.write(request_write, b"1")
    assert os.read(answer_read, 1) == b"1", "the namespace has no accounts"
    os.waitpid(helper, 0)
    none = (ctypes.c_uint32 * 6)()
    must(libc.capset((ctypes.c_uint32 * 2)(0x20080522, 0), none), "capset")


def main():
    unit, account, folder, *command = sys.argv[1:]
    found = settings(unit)
    filters = [filter_namespaces(found["RestrictNamespaces"][0].split()), filter_families(found["RestrictAddressFamilies"][0].split()),
               filter_calls(found["SystemCallFilter"])]
    if found.get("RestrictSUIDSGID") == ["yes"]:
        filters.insert(0, filter_modes())
    protect_system(folder)
    become(pwd.getpwnam(account))
    must(libc.prctl(38, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS")
    for one in filters:
        filter_load(one)
    os.execv(command[0], command)


main()
