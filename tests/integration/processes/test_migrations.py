# SPDX-License-Identifier: MPL-2.0
"""Versions of the schema: older programs serve on an expanded schema and refuse a contracted one; migrations wait briefly for locks."""

import json
import re

import psycopg
import pytest

from support.api import Api
from support.fake_worker import FakeWorker
from support.process import free_port
from support.runyard import KEYS, Scheduler
from support.servers import ROOT
from support.wait import until

OUTSIDE = "; outside a transaction"
BLOCK = re.compile(r"^-- lock: ([A-Z a-z]+?)(?: \(blocks ([a-z ]+)\))?\n(.*?)(?=^-- |\Z)", re.M | re.S)


class Next(Scheduler):
    """A scheduler of a release that does not exist: tests/support/migrations has its further migrations."""

    binary = "runyard-scheduler-next"


def command(kind, database, *words, check=True, **options):
    return kind.run_command(*words, check=check, database_url=database, keys=KEYS, listen=f"127.0.0.1:{free_port()}", **options)


def failure_reason(done):
    assert done.returncode == 1, done
    return json.loads(done.stderr.splitlines()[-1])["why"]


@pytest.fixture
def expanded(database):
    command(Next, database, "migrate")
    return database


def make_old(ask):
    ask("update schedulers set seen_at = now() - interval '61 minutes'")


def test_an_older_program_serves_on_an_expanded_schema(scheduler, expanded, api, ask):
    assert api.workspace()
    assert ask("select schema < 9001 from schedulers") == [(True,)]
    assert ask("select to_regclass('comments_created') is not null, to_regclass('next_comments') is not null") == [(True, True)]
    assert command(Scheduler, expanded, "migrate").stdout == ""


def test_statements_that_return_all_columns_survive_a_new_column(scheduler, database, tokens, ask):
    api = Api(scheduler(http_threads=1).url, tokens["token"])
    project = api.post(f"organizations/{api.organization}/projects", {"data": {"type": "projects", "attributes": {"name": "one"}}}).data["id"]

    def use(name):
        api.patch(f"projects/{project}", {"data": {"type": "projects", "attributes": {"name": name}}})
        assert api.get(f"projects/{project}").data["attributes"]["name"] == name

    use("two")
    ask("alter table projects add column of_a_later_release integer")
    use("three")
    # The query of a run is sent together with that of the caller's rights.
    workspace = api.workspace()
    run = api.run(workspace, api.upload(workspace, {"main.tf": ""}))
    for release in ("first", "second"):
        assert [api.get(f"runs/{run}").data["id"] for _ in range(2)] == [run, run]
        ask(f"alter table runs add column of_a_{release}_later_release integer")
    assert api.get(f"runs/{run}").data["id"] == run


def test_a_contraction_is_refused_while_older_processes_are_recent(scheduler, expanded, ask, tokens):
    old = scheduler()
    refused = failure_reason(command(Next, expanded, "migrate", "--contract", check=False))
    assert "older processes were seen within the last hour" in refused and "scheduler" in refused and "an hour later" in refused
    old.kill()
    assert "older processes" in failure_reason(command(Next, expanded, "migrate", "--contract", check=False))
    make_old(ask)
    command(Next, expanded, "migrate", "--contract")
    assert ask("select name, oldest from schema_migrations where oldest is not null") == [("9003_next_contracts", 9001)]
    assert ask("select to_regclass('next_comments') is null") == [(True,)]
    for words in ((), ("migrate",), ("bootstrap", "a", "a@example.com", "b")):
        refused = failure_reason(command(Scheduler, expanded, *words, check=False))
        assert "accepts programs from version 9001 on, and this program has version" in refused and "install a newer one" in refused


def test_an_older_worker_prevents_a_contraction(scheduler, expanded, ask, tokens):
    first = scheduler()
    worker = FakeWorker(first.url, tokens["agent-token"], name="an-old-one")
    first.stop()
    assert ask("select 1 from schedulers") == []
    ask("update workers set protocol = 1")
    assert "worker an-old-one" in failure_reason(command(Next, expanded, "migrate", "--contract", check=False))
    ask("update workers set protocol = 2, version = '0.0.9'")
    assert "worker an-old-one (version 0.0.9" in failure_reason(command(Next, expanded, "migrate", "--contract", check=False))
    ask("update workers set version = 'unknown'")
    command(Next, expanded, "migrate", "--contract")
    assert worker


def test_a_stopped_scheduler_is_no_longer_listed(scheduler, ask):
    one = scheduler()
    assert len(ask("select 1 from processes where kind = 'scheduler' and schema > 0 and protocol > 1")) == 1
    one.stop()
    assert ask("select 1 from processes") == []


def test_an_empty_database_is_contracted_at_once(postgres):
    database = postgres.new_database()
    command(Next, database, "migrate")
    with psycopg.connect(database) as connection:
        assert connection.execute("select max(oldest) from schema_migrations").fetchone() == (9001,)


# ---- locks ----


def test_a_migration_is_retried_after_a_lock_timeout(scheduler, database, api, ask):
    """Requests do not queue up behind a migration that waits for a long transaction."""
    with psycopg.connect(database) as blocker:
        blocker.execute("lock table comments in access share mode")
        migrating = Next("next", scheduler.all[0].folder, database_url=database, keys=KEYS)
        migrating.launch()
        until(lambda: any("lock timeout" in json.dumps(line) and "9001_next_expands" in json.dumps(line) for line in migrating.log_lines()),
              "the migration gives up for now")
        assert ask("select count(*) from comments") is not None
        blocker.rollback()
    until(lambda: ask("select 1 from schema_migrations where name = '9002_next_index'"), "the migration is repeated")
    migrating.stop()


MODES = ["AccessShareLock", "RowShareLock", "RowExclusiveLock", "ShareUpdateExclusiveLock", "ShareLock", "ShareRowExclusiveLock", "ExclusiveLock",
         "AccessExclusiveLock"]


def strongest_lock(connection, known):
    """The strongest lock that this connection's transaction has on a table that existed before."""
    held = [mode for mode, relation in connection.execute("select mode, relation from pg_locks where pid = pg_backend_pid()") if relation in known]
    return max(held, key=MODES.index) if held else None


def mode_of(words):
    return None if words == "none" else "".join(word.title() for word in words.split()) + "Lock"


def test_the_plan_lists_the_lock_of_each_statement(database):
    """Each statement is executed by itself, and its lock in pg_locks is compared with the plan."""
    plan = command(Next, database, "migrate", "--plan").stdout
    assert command(Next, database, "migrate", "--plan").stdout == plan, "the plan changes nothing"
    parts = re.split(r"^-- migration ", plan, flags=re.M)
    assert "this program has version 9003" in parts[0]
    assert [part.splitlines()[0] for part in parts[1:]] == [
        "9001_next_expands: expands", "9002_next_index: expands" + OUTSIDE, "9003_next_contracts: contracts, by migrate --contract"]
    locks = set()
    with psycopg.connect(database) as connection:
        for part in parts[1:]:
            known = {oid for (oid,) in connection.execute("select oid from pg_class where relkind in ('r', 'v') and relnamespace = 'public'::regnamespace")}
            connection.commit()
            for lock, blocks, statement in BLOCK.findall(part):
                locks.add(lock)
                assert (blocks != "") == (lock != "none")
                if OUTSIDE in part:
                    assert lock == "SHARE UPDATE EXCLUSIVE" and blocks == "neither reads nor writes"
                    continue
                connection.execute(statement)
                assert strongest_lock(connection, known) == mode_of(lock), statement
                connection.commit()
    assert locks == {"none", "ACCESS EXCLUSIVE", "ACCESS SHARE", "ROW EXCLUSIVE", "SHARE", "SHARE ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE"}


# ---- serving without permission to change tables ----

def test_serving_needs_no_permission_to_change_tables(scheduler, postgres, folder):
    """The roles and grants of deploy/README.md."""
    database = postgres.new_database()
    owner, server = (database.replace("runyard@", f"{role}@") for role in ("site_owner", "site_server"))
    (block,) = re.findall(r"```sql\n(.*?)```", (ROOT / "deploy/README.md").read_text(), re.S)
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"grant create on database {database.rpartition('/')[2]} to public")
        for line in re.sub(r"\brunyard\b(?!_)", "site_server", block.replace("runyard_owner", "site_owner")).splitlines():
            if not line.startswith(("create database", "\\c")):
                connection.execute(line)
    early = scheduler.launch(database_url=server, migrate=0)
    until(lambda: any("run 'runyard-scheduler migrate'" in json.dumps(line) for line in early.log_lines()), "the scheduler waits for the schema")
    command(Scheduler, owner, "migrate", migrate=0)
    early.start_waiting()
    created = json.loads(command(Scheduler, server, "bootstrap", "admin", "admin@example.com", "acme", migrate=0).stdout)
    assert Api(early.url, created["token"]).workspace()
    with psycopg.connect(server) as connection, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connection.execute("create table more (id text)")
    command(Scheduler, server, "migrate")
