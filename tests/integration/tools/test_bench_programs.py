# SPDX-License-Identifier: MPL-2.0
"""The programs that the benchmarks compile. Nothing else builds them."""

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
