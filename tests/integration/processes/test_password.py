# SPDX-License-Identifier: MPL-2.0
# label: quick
"""The database's password is changed while a scheduler serves: it is read again from its file."""

import psycopg
import pytest

from support.api import Api
from support.runyard import KEYS, Scheduler
from support.servers import Postgres
from support.wait import until


@pytest.fixture
def guarded():
    """A PostgreSQL that requires the password of the role `server`."""
    postgres = Postgres()
    (postgres.folder / "data/pg_hba.conf").write_text("host all runyard 127.0.0.1/32 trust\nhost all server 127.0.0.1/32 scram-sha-256\n")
    yield postgres.start()
    postgres.release()


def test_a_changed_database_password_is_reloaded(guarded, scheduler, folder):
    database, tokens = guarded.new_bootstrapped()

    def change(password):
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute(f"alter role server password '{password}'")

    def disconnect():
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("select pg_terminate_backend(pid) from pg_stat_activity where usename = 'server'")

    def write(password):
        new = folder / "url.new"
        new.write_text(database.replace("runyard@", f"server:{password}@") + "\n")
        new.rename(folder / "url")

    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("create role server login superuser")
    change("first"), write("first")
    one = scheduler(database_url=None, keys=KEYS, environment={"RUNYARD_DATABASE_URL_FILE": str(folder / "url")})
    api = Api(one.url, tokens["token"])
    workspace = api.workspace()

    change("second"), write("second"), disconnect()
    until(lambda: all(api.call("GET", f"workspaces/{workspace}").status == 200 for _ in range(20)), "all threads are connected again")
    assert one.ready()

    # The file comes late.
    change("third"), disconnect()
    until(lambda: api.call("GET", f"workspaces/{workspace}").status == 503, "PostgreSQL refuses the old password")
    write("third")
    until(lambda: all(api.call("GET", f"workspaces/{workspace}").status == 200 for _ in range(20)), "the new file is read")
    assert "second" not in one.process.log() and "third" not in one.process.log()
    assert Scheduler.run_command("holds", database_url=(folder / "url").read_text().strip(), keys=KEYS).returncode == 0
