# SPDX-License-Identifier: MPL-2.0
# label: full
"""The test servers start, and restart."""

import signal

import psycopg
import pytest

from support.process import answers


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
