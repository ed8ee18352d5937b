# SPDX-License-Identifier: MPL-2.0
"""The tests of go-tfe about modules of repositories, with a real Gitea: only the address and the name of the provider differ."""

import os
import re
import subprocess

from support.gotfe import listed
from support.servers import ROOT

OF_REPOSITORIES = re.compile(r"VCSConnection(WithTesting)?$|ListCommit$|NoCodeModulesCreateWorkspace$|NoCodeModuleWorkspaceUpgrade$")


def test_modules_of_repositories():
    names = [f"^{name}$" for name, excuse in listed().items() if OF_REPOSITORIES.search(name) and name.startswith("TestRegistry") and not excuse]
    assert len(names) >= 8, names
    done = subprocess.run([ROOT / "tests/gotfe", "--gitea", *names], env=os.environ, capture_output=True, text=True)
    assert done.returncode == 0 and f"{len(names)} of {len(names)} passed" in done.stdout, done.stdout[-20000:] + done.stderr
