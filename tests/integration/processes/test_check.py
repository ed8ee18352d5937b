# SPDX-License-Identifier: MPL-2.0
"""runyard-scheduler check: what it finds in a healthy site and in broken ones, and that it changes nothing."""

import hashlib
import json

import psycopg
import pytest

from support.runyard import KEYS, Scheduler
from support.servers import ObjectStore

NEW = "2:" + "6b" * 32


@pytest.fixture
def check(database, broker):
    def check(code=0, **options):
        done = Scheduler.run_command("check", "--json", check=False, **{"database_url": database, "keys": KEYS, "brokers": broker.address, **options})
        assert done.returncode == code, done
        return {found["check"]: (found["result"], found["detail"]) for found in map(json.loads, done.stdout.splitlines())}

    return check


def content(database):
    """A digest of all rows."""
    with psycopg.connect(database) as connection:
        tables = [name for (name,) in connection.execute("select tablename from pg_tables where schemaname = 'public' order by 1")]
        return {name: hashlib.sha256(repr(connection.execute(f"select t::text from {name} t order by 1").fetchall()).encode()).hexdigest() for name in tables}


def test_a_healthy_site_passes_every_check_and_is_unchanged(check, database, scheduler, tmp_path):
    scheduler().kill()  # from now on only the check could change rows
    before = content(database)
    found = check()
    assert {name: result for name, (result, _) in found.items()} == {
        "postgresql": "ok", "schema": "ok", "keys": "ok", "replication": "ok", "kafka": "ok", "object-store": "skipped", "processes": "ok", "backup": "warning"}
    assert content(database) == before
    Scheduler.run_command("backup-mark", database_url=database, keys=KEYS)
    assert check()["backup"][0] == "ok"
    table = Scheduler.run_command("check", database_url=database, keys=KEYS, brokers=scheduler.all[0].options["brokers"]).stdout
    assert table.splitlines()[0].split() == ["CHECK", "RESULT", "DETAIL"] and len(table.splitlines()) == 9
    objects = ObjectStore(tmp_path).start()
    try:
        assert check(**objects.options("check"))["object-store"][0] == "ok"
    finally:
        objects.release()
    assert check(1, **objects.options("check"))["object-store"][0] == "failed"


def test_each_fault_is_reported_by_its_check(check, database, scheduler, ask):
    scheduler().stop()
    for options, name, words in (
        ({"database_url": "postgresql://runyard@127.0.0.1:1/none"}, "postgresql", "service unavailable"),
        ({"keys": NEW}, "keys", "lacks key 1"),
        ({"keys": "1:" + "7c" * 32}, "keys", "not the key that this database has"),
        ({"database_replication": "sync"}, "replication", "do not wait for a standby"),
        ({"brokers": "127.0.0.1:1"}, "kafka", "no broker answers"),
    ):
        result, detail = check(1, **options)[name]
        assert result == "failed" and words in detail, (name, detail)
    ask("insert into schedulers (id, name, version, protocol, schema) values ('x', 'old-host', '0.0.1', 1, 1)")
    result, detail = check()["processes"]
    assert result == "warning" and "scheduler old-host (version 0.0.1" in detail
    ask("insert into schema_migrations (name, oldest) values ('9999_future', 9999)")
    result, detail = check(1)["schema"]
    assert result == "failed" and "accepts programs from version 9999" in detail


def test_an_empty_database_is_reported_and_unchanged(check, postgres):
    database = postgres.new_database()
    found = check(database_url=database)
    assert found["schema"][0] == "warning" and "run 'runyard-scheduler migrate'" in found["schema"][1]
    assert found["keys"][0] == found["processes"][0] == "skipped"
    with psycopg.connect(database) as connection:
        assert connection.execute("select count(*) from pg_tables where schemaname = 'public'").fetchone() == (0,)
