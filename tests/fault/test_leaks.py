# SPDX-License-Identifier: MPL-2.0
# label: extended
"""A short form of fault/leaks; the sanitizer's report at each process' end is part of it."""

import subprocess
import sys
from pathlib import Path

RUNS = 150


def test_processes_leak_nothing_per_run():
    done = subprocess.run([sys.executable, Path(__file__).with_name("leaks"), "--runs", str(RUNS)], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
