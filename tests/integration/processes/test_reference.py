# SPDX-License-Identifier: MPL-2.0
# label: quick
"""deploy/REFERENCE.md and the manual pages in deploy/man: what deploy/reference writes for these processes."""

import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("process", ["scheduler", "worker", "notifier"])
def test_a_manual_page_is_valid_and_has_every_option(process):
    page = ROOT / f"deploy/man/runyard-{process}.8"
    formatted = subprocess.run(["groff", "-man", "-ww", "-z", page], capture_output=True, text=True, check=True)
    assert formatted.stderr == ""
    listed = subprocess.run([program(f"runyard-{process}"), "--help"], capture_output=True, text=True, check=True).stdout
    names = [line.split()[0] for line in listed.splitlines() if line.startswith("  --")]
    text = page.read_text().replace("\\-", "-")
    assert names and all(f".B {name} " in text for name in names)
