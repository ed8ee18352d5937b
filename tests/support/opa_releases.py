# SPDX-License-Identifier: MPL-2.0
"""Releases of OPA of any version: each runs the opa in PATH, and tells policies its own version."""

import hashlib
import os
import shutil
from pathlib import Path

ARCH = {"x86_64": "amd64", "aarch64": "arm64"}[os.uname().machine]
PROGRAM = f"opa_linux_{ARCH}_static"
OPA = shutil.which("opa")
OPA_FOLDER = OPA and Path(os.path.realpath(OPA)).parent  # jobs must be able to read it
# A policy that prints the version of its program, in the language of OPA 1 and of OPA 0.
TELLS = 'package p\nimport rego.v1\ndeny contains msg if { msg := opa.runtime().env.OPA_SAYS }\n'
TELLS_OLD = 'package p\ndeny[msg] { msg := opa.runtime().env.OPA_SAYS }\n'


def program(version):
    """An opa that reports that version, and shows it to policies. A version 0 has no --v0-compatible."""
    language = '--v0-compatible) echo "unknown flag: --v0-compatible" >&2; exit 2 ;;' if version.startswith("0.") else "-none-) ;;"
    old = 'eval) shift; set -- eval --v0-compatible "$@" ;;' if version.startswith("0.") else "-none-) ;;"
    return f'''#!/bin/sh
for argument in "$@"; do case "$argument" in {language} esac; done
case "$1" in
version) echo "Version: {version}"; exit ;;
{old}
esac
OPA_SAYS="this is {version}" exec {os.path.realpath(OPA)} "$@"
'''


class OpaReleases:
    """The maker's releases, for a Mirror."""

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir()

    def release(self, version):
        release = self.folder / f"v{version}"
        release.mkdir()
        (release / PROGRAM).write_text(program(version))
        self.sums(version).write_text(f"{self.digest(version)}  {PROGRAM}\n")

    def sums(self, version):
        return self.folder / f"v{version}" / f"{PROGRAM}.sha256"

    def digest(self, version):
        return hashlib.sha256((self.folder / f"v{version}" / PROGRAM).read_bytes()).hexdigest()
