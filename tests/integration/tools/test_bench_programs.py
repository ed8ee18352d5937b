# SPDX-License-Identifier: MPL-2.0
# label: quick
"""The programs that the benchmarks compile. Nothing else builds them."""

import os
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


def fleet(*options):
    """Each wait of `fleet` has a limit. After the limit of all, it prints what each of its threads waits for."""
    limit = ["timeout", "--signal=ABRT", "--kill-after=10", "600"]
    return subprocess.run([*limit, sys.executable, ROOT / "tests/bench/fleet", "--embedded", *options], capture_output=True, text=True, env={**os.environ, "PYTHONFAULTHANDLER": "1"})


@pytest.mark.extended
def test_simulated_workers_run_all_jobs():
    """fake_fleet.c speaks the current protocol: `fleet` ends with an error if an answer is unexpected or a phase does not
    complete."""
    done = fleet("--workers", "20", "--pools", "3", "--rate", "5", "--seconds", "3", "--job-seconds", "1", "--settle", "0", "--phases", "load,lose")
    assert done.returncode == 0, done.stderr
    assert len(re.findall(r"created to claimed, ms +15 runs", done.stdout)) == 2 and re.search(r"leases lost +0$", done.stdout, re.M), done.stdout


@pytest.mark.extended
def test_a_failed_measurement_ends_with_its_reason():
    """The simulated workers refuse to start: there are more pools than workers."""
    done = fleet("--workers", "1", "--pools", "2", "--settle", "0")
    assert done.returncode == 1 and "the simulated workers have exited with 1" in done.stderr, done.stderr
