# SPDX-License-Identifier: MPL-2.0
# label: quick
"""The tables of the database."""

import psycopg

from support.shared import database  # noqa: F401

# Deleting a row searches every table that may refer to it. Users are not deleted, except those who were only invited.
UNINDEXED = """
select c.conrelid::regclass || '.' || a.attname from pg_constraint c
join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[1]
where c.contype = 'f' and c.confrelid <> 'users'::regclass and not exists (
    select 1 from pg_index i where i.indrelid = c.conrelid and i.indkey[0] = any(c.conkey)
    and (i.indpred is null or pg_get_expr(i.indpred, i.indrelid) like '%IS NOT NULL%'))
order by 1
"""


def test_every_foreign_key_has_an_index(database):
    with psycopg.connect(database) as connection:
        found = [name for (name,) in connection.execute(UNINDEXED)]
    assert not found, " ".join(found)
