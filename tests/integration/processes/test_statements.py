# SPDX-License-Identifier: MPL-2.0
"""Every statement of the scheduler (scheduler/**/*.sql), prepared on a migrated database: the types that it declares are PostgreSQL's, and
on a large database it reads by the indexes that it names, and no whole table that it does not name."""

import json
import subprocess
import sys

import psycopg
import pytest

from support.large_database import fill
from support.servers import ROOT

# Types of PostgreSQL that statements call by another name.
CALLED = {
    "timestamp with time zone": "timestamptz", "timestamp with time zone[]": "timestamptz[]", "character varying": "text", "name": "text", '"char"': "text",
    "oid": "bigint", "regclass": "text", "date": "text", "uuid": "text", "uuid[]": "text[]", "json": "jsonb", "real": "double precision", "xid8": "text",
}
# What a connection of the scheduler sets (scheduler/db).
SETTINGS = """set plan_cache_mode = 'force_generic_plan'; set jit = off; set random_page_cost = 1.1; set enable_mergejoin = off; set enable_hashjoin = off;
    set enable_seqscan = off; set max_parallel_workers_per_gather = 0"""


def listed():
    program = ROOT / "scheduler/db/statements.py"
    return json.loads(subprocess.run([sys.executable, program, "--list"], check=True, capture_output=True).stdout)


@pytest.fixture(scope="module")
def statements():
    found = listed()
    assert len(found) > 700
    return found


@pytest.fixture(scope="module")
def connection(postgres, template):
    with psycopg.connect(postgres.new_database(copy_of=template[0]), autocommit=True) as connected:
        connected.execute(SETTINGS)
        yield connected


def described(connection, statement):
    """The types of the parameters, and {column: (type, whether its table lets it be null)}."""
    server = connection.pgconn
    result = server.prepare(b"described", statement["sql"].encode())
    assert not result.error_message, f"{statement['where']}: {statement['name']}: {result.error_message.decode()}"
    told = server.describe_prepared(b"described")
    server.exec_(b"deallocate described")
    return told


def test_the_declared_types_are_those_of_the_database(connection, statements):
    types = dict(connection.execute("select oid::bigint, format_type(oid, null) from pg_type").fetchall())
    nullable = set(connection.execute("select attrelid::bigint, attnum::int from pg_attribute where attnum > 0 and not attnotnull").fetchall())
    wrong = []
    for statement in statements:
        told, place = described(connection, statement), f"{statement['where']}: {statement['name']}"
        takes = [CALLED.get(types[told.param_type(number)], types[told.param_type(number)]) for number in range(told.nparams)]
        if takes != [kind for _, kind, _ in statement["takes"]]:
            wrong.append(f"{place} takes {takes}")
        columns = {told.fname(number).decode(): number for number in range(told.nfields)}
        for name, kind, null, optional in statement["gives"]:
            if name not in columns:
                wrong += [] if optional else [f"{place} has no column {name}"]
                continue
            number = columns[name]
            is_kind = CALLED.get(types[told.ftype(number)], types[told.ftype(number)])
            if kind != ("text" if is_kind.endswith("[]") else is_kind):
                wrong.append(f"{place}: {name} is {is_kind}")
            if (told.ftable(number), told.ftablecol(number)) in nullable and not null:
                wrong.append(f"{place}: {name} may be null")
    assert not wrong, "\n".join(wrong)


def nodes(plan):
    yield plan
    for below in plan.get("Plans", []):
        yield from nodes(below)


def plan_of(connection, statement):
    """The indexes that the generic plan of a statement reads, and the tables that it reads whole."""
    if statement["sql"].split()[0] in ("set", "lock"):
        return set(), set()
    nulls = ", ".join("null" for _ in statement["takes"])
    connection.execute(f"prepare planned as {statement['sql']}".encode())
    try:
        told = connection.execute(f"explain (format json) execute planned{f'({nulls})' if nulls else ''}").fetchone()[0]
    finally:
        connection.execute("deallocate planned")
    found = list(nodes(told[0]["Plan"]))
    return {node["Index Name"] for node in found if "Index Name" in node}, {node["Relation Name"] for node in found if node["Node Type"] == "Seq Scan"}


def test_statements_read_large_tables_by_the_indexes_that_they_name(connection, statements):
    """The indexes are named as PostgreSQL 15 chooses them. Of two that serve, another version may choose the other one."""
    as_named = connection.info.server_version // 10000 == 15
    fill(connection)
    wrong = []
    for statement in statements:
        place = f"{statement['where']}: {statement['name']}"
        indexes, whole = plan_of(connection, statement)
        if as_named and (missing := set(statement["index"]) - indexes):
            wrong.append(f"{place} does not use {', '.join(sorted(missing))}, but {', '.join(sorted(indexes))}")
        if read := whole - set(statement["reads"]):
            wrong.append(f"{place} reads all of {', '.join(sorted(read))}")
    assert not wrong, "\n".join(wrong)
