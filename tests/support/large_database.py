# SPDX-License-Identifier: MPL-2.0
"""A migrated database in which every table has many rows, for the plans of statements. The rows follow no rule but their types and unique
indexes: constraints are dropped, triggers do not run."""

ROWS = 4000
# What the states in the predicates of partial indexes are, so that these indexes have rows.
STATES = "waiting", "claimed", "finalized", "pending", "errored", "applied", "looking", "acknowledged"
# A value of each type, by the number g of its row.
VALUES = {
    "text": "'t' || g", "bigint": "g", "integer": "g", "smallint": "g % 1000", "boolean": "g % 2 = 0", "jsonb": "'{}'::jsonb", "bytea": "'\\x00'::bytea",
    "timestamp with time zone": "now() - g * interval '1 s'", "text[]": "array['t' || g]", "numeric": "g", "double precision": "g", "real": "g",
    "integer[]": "array[g]", "interval": "interval '1 s'", "inet": "'127.0.0.1'::inet", "uuid": "gen_random_uuid()", "bigint[]": "array[g]",
    "uuid[]": "array[gen_random_uuid()]", "json": "'{}'::json", "date": "current_date", "boolean[]": "array[true]",
}
COLUMNS = """select c.relname, a.attname, format_type(a.atttypid, null) from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
    order by c.relname, a.attnum"""
CONSTRAINTS = """select conrelid::regclass::text, quote_ident(conname) from pg_constraint where connamespace = 'public'::regnamespace
    and contype in ('c', 'f') and conparentid = 0"""


def value(column, kind):
    if column in ("state", "status", "delivery") and kind == "text":
        states = ", ".join(f"'{state}'" for state in STATES)
        return f"(array[{states}])[g % {len(STATES)} + 1]"
    return VALUES[kind]


def fill(connection):
    """Fills all tables. The connection commits by itself."""
    for table, name in connection.execute(CONSTRAINTS).fetchall():
        connection.execute(f"alter table {table} drop constraint {name} cascade")
    connection.execute("set session_replication_role = replica")
    columns = {}
    for table, column, kind in connection.execute(COLUMNS).fetchall():
        columns.setdefault(table, []).append((column, value(column, kind)))
    for table, made in columns.items():
        names, values = ", ".join(f'"{name}"' for name, _ in made), ", ".join(text for _, text in made)
        connection.execute(f'insert into "{table}" ({names}) overriding system value select {values} from generate_series(1, {ROWS}) g on conflict do nothing')
    connection.execute("analyze")
