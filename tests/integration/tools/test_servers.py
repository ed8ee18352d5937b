# SPDX-License-Identifier: MPL-2.0
"""The test servers start, and restart."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from support.process import answers
from support.servers import ROOT, memory_folder, new_data_folder


def test_postgres_keeps_its_data_after_a_crash(postgres, database):
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("create table t as select 1 as a")
    postgres.restart(signal.SIGQUIT)
    with psycopg.connect(database) as connection:
        assert connection.execute("select a from t").fetchall() == [(1,)]


def test_redis_answers(redis):
    assert answers(redis.port)


@pytest.mark.kafka
def test_kafka_answers(bus):
    assert bus.kind == "kafka" and answers(bus.port)


@pytest.mark.skipif(not memory_folder(), reason="databases are on disk")
def test_memory_of_killed_tests_is_freed():
    """The data of another container's tests stays, although no process here has their ids."""
    program = "import support.servers as s, sys; folder, owner = s.new_data_folder(s.memory_folder()); print(folder, flush=True); sys.stdin.read()"
    killed, running = (subprocess.Popen([*container, sys.executable, "-c", program], cwd=ROOT / "tests", stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
                       for container in ([], ["unshare", "--user", "--map-root-user", "--pid", "--fork"]))
    with killed, running:
        folders = [Path(process.stdout.readline().strip()) for process in (killed, running)]
        killed.kill()
        killed.wait()
        mine, owner = new_data_folder(memory_folder())
        with owner:
            assert [folder.exists() for folder in (*folders, mine)] == [False, True, True]
        running.stdin.close()
    for folder in (folders[1], mine):
        shutil.rmtree(folder)
