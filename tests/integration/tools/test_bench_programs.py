# SPDX-License-Identifier: MPL-2.0
# label: full
"""The programs that the benchmarks compile. Nothing else builds them."""

import re
import subprocess
import sys

import pytest

from support.servers import ROOT

sys.path.insert(0, str(ROOT / "tests/bench"))

from bench import PROGRAMS, compiled  # noqa: E402


def test_every_bench_program_is_listed():
    assert sorted(PROGRAMS) == sorted(path.stem for path in (ROOT / "tests/bench").glob("*.c"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_bench_program_compiles(tmp_path, name):
    assert compiled(tmp_path, name).exists()


def test_simulated_workers_run_all_jobs():
    """fake_fleet.c speaks the current protocol: `fleet` ends with an error if an answer is unexpected or a phase does not
    complete."""
    options = ["--embedded", "--workers", "20", "--pools", "3", "--rate", "5", "--seconds", "3", "--job-seconds", "1", "--settle", "0", "--phases", "load,lose"]
    done = subprocess.run([sys.executable, ROOT / "tests/bench/fleet", *options], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"created to claimed, ms +15 runs", done.stdout)) == 2 and re.search(r"leases lost +0$", done.stdout, re.M), done.stdout
