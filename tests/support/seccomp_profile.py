# SPDX-License-Identifier: MPL-2.0
"""seccomp_profile.py PROFILE COMMAND ARGUMENT...: runs the command with the system calls of a container runtime's profile."""

import ctypes
import json
import os
import sys

ALLOW, ERRNO = 0x7FFF0000, 0x00050000
library = ctypes.CDLL("libseccomp.so.2")
library.seccomp_init.restype = ctypes.c_void_p


def main(path, *command):
    with open(path) as file:
        profile = json.load(file)
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(ERRNO | profile["defaultErrnoRet"])))
    (rule,) = profile["syscalls"]
    for name in rule["names"]:
        number = library.seccomp_syscall_resolve_name(name.encode())  # negative: another architecture's
        assert number < 0 or library.seccomp_rule_add(context, ctypes.c_uint32(ALLOW), number, 0) == 0, name
    assert library.seccomp_load(context) == 0
    os.execvp(command[0], command)


main(*sys.argv[1:])
