# SPDX-License-Identifier: MPL-2.0
# label: extended
"""Single functions while one allocation of their library after the other fails (tests/alloc)."""

import os
import subprocess

import pytest

from support.process import clean_environment, program

# RUNYARD_ALLOCATIONS=0 is every allocation; RUNYARD_SEED draws others.
PASSED = {name: os.environ[name] for name in ("RUNYARD_ALLOCATIONS", "RUNYARD_SEED") if name in os.environ}


def run_cases(name, folder, **environment):
    done = subprocess.run([program(f"alloc_{name}")], cwd=folder, capture_output=True, text=True, env=clean_environment(
        **PASSED, **{**environment, "ASAN_OPTIONS": "detect_leaks=0:exitcode=99:detect_stack_use_after_return=0"}))
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["common_crypto", "common_json", "common_kafka", "worker_archive", "policy"])
def test_functions_without_a_server(name, folder):
    run_cases(name, folder)


def test_functions_of_the_http_server_and_client(folder, authority):
    certificate, key = authority.issue()
    run_cases("common_fetch", folder, ALLOC_CA=authority.file, ALLOC_CERTIFICATE=certificate, ALLOC_KEY=key)


def test_functions_of_the_database(folder, database):
    run_cases("scheduler_db", folder, ALLOC_DATABASE_URL=database)


def test_functions_of_redis(folder, redis):
    run_cases("notifier_redis", folder, ALLOC_REDIS_URL=redis.url)
