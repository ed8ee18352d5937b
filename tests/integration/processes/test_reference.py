# SPDX-License-Identifier: MPL-2.0
"""The page of options and metrics says what the processes have."""

import subprocess
import sys
from pathlib import Path

from support.process import program
from support.servers import ROOT


def test_the_reference_is_up_to_date():
    checked = subprocess.run([sys.executable, ROOT / "deploy/reference", "--check", Path(program("runyard-scheduler")).parent], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


def test_the_reference_has_every_metric():
    text = (ROOT / "deploy/REFERENCE.md").read_text()
    for process in ("scheduler", "worker", "notifier"):
        rows = [line for line in (ROOT / process / "metrics.def").read_text().splitlines() if line.startswith("METRIC(")]
        assert rows and all(f"`{row.split(chr(34))[1]}`" in text for row in rows)
