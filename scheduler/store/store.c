/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/store.h"

#include "common/log.h"
#include "scheduler/db/migrations.h"

/* Any number that nothing else in this database uses for an advisory lock. */
#define MIGRATION_LOCK "7240281561"

/* A migration reads whole tables, so it has no statement timeout. Neither has a replica that waits for the lock while
 * another one migrates. */
#define MIGRATION_BEGIN                                                                                                \
	"set local statement_timeout = 0; set local enable_seqscan = on; set local enable_hashjoin = on; "             \
	"set local enable_mergejoin = on; select pg_advisory_xact_lock(" MIGRATION_LOCK ");"

struct migrating {
	struct db *db;
	const struct migration *migration;
};

static int migrate_one(void *data, struct err *err)
{
	struct migrating *m = data;
	_cleanup_(rows_release) struct rows done = ROWS_INIT;

	if (db_script(m->db, MIGRATION_BEGIN, err) < 0 ||
		db_query(m->db, &done, err, "select 1 as one from schema_migrations where name = $1",
			P_TEXT(m->migration->name)) < 0)
		return -1;
	if (done.count)
		return 0;
	if (db_script(m->db, m->migration->sql, err) < 0)
		return err_context(err, "migration %s", m->migration->name);
	log_info("migrated", "migration", m->migration->name, NULL);
	return db_query(
		m->db, NULL, err, "insert into schema_migrations (name) values ($1)", P_TEXT(m->migration->name));
}

/* Refuses the databases of versions before the first release. Their migrations had other names. */
static int migrations_check(struct db *db, struct err *err)
{
	_cleanup_(rows_release) struct rows unreleased = ROWS_INIT;

	if (db_query(db, &unreleased, err,
		    "select name from schema_migrations where not exists (select 1 from schema_migrations where name = "
		    "$1) "
		    "limit 1",
		    P_TEXT(migrations[0].name)) < 0)
		return -1;
	if (unreleased.count)
		return err_set(err, ERR_INVALID,
			"this database was made by an unreleased version (its migration %s is unknown): use an empty "
			"database",
			row_text(&unreleased, 0, "name"));
	return 0;
}

int store_migrate(struct db *db, struct err *err)
{
	if (db_script(db,
		    MIGRATION_BEGIN "create table if not exists schema_migrations "
				    "(name text primary key, migrated_at timestamptz not null default now())",
		    err) < 0 ||
		migrations_check(db, err) < 0)
		return -1;
	for (size_t i = 0; i < migrations_count; i++) {
		struct migrating m = {db, &migrations[i]};

		if (db_transaction(db, migrate_one, &m, err) < 0)
			return -1;
	}
	return 0;
}

int store_installation(struct db *db, struct id *ret_id, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(db, &rows, err, "select id from installation") < 0)
		return -1;
	if (rows.count != 1)
		return err_set(err, ERR_INTERNAL, "the table installation must have one row and has %d: restore it",
			rows.count);
	text_copy(ret_id->text, sizeof(ret_id->text), row_text(&rows, 0, "id"));
	return 0;
}
