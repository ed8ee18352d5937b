# SPDX-License-Identifier: MPL-2.0
# label: quick
"""--version of the processes."""

import re
import subprocess
from pathlib import Path

import pytest

from support.process import clean_environment, program

ROOT = Path(__file__).resolve().parents[2]
VERSION = re.search(r"project\(runyard VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]


@pytest.mark.parametrize("name", ["runyard-scheduler", "runyard-worker", "runyard-notifier"])
def test_version_prints_the_program_version_and_revision(name):
    done = subprocess.run([program(name), "--version"], capture_output=True, text=True, check=True, env=clean_environment())
    assert re.fullmatch(rf"{name} {re.escape(VERSION)} \(revision \S+\)\n", done.stdout), done.stdout
    assert not done.stderr
