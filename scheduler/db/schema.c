/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/db/schema.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "scheduler/db/schema.sql.h"
#include "scheduler/db/sql_text.h"

/* Any number that nothing else in this database uses for an advisory lock. */
#define MIGRATION_LOCK "7240281561"

/* Migrations read whole tables. An index that is built concurrently waits for older transactions, and blocks nothing
 * meanwhile. */
#define SCANS_ALLOWED                                                                                                  \
	"set statement_timeout = 0; set enable_seqscan = on; set enable_hashjoin = on; set enable_mergejoin = on;"

/* ---- what a migration says about itself ---- */

/* The rest of the line that begins with `mark`; NULL if there is none. */
static const char *marked(const struct migration *migration, const char *mark)
{
	const char *at = strstr(migration->sql, mark);

	return at && (at == migration->sql || at[-1] == '\n') ? at + strlen(mark) : NULL;
}

/* The version below which programs can't serve afterwards; 0 if the migration expands. */
static int contract_of(const struct migration *migration)
{
	const char *number = marked(migration, "-- contract: ");

	return number ? (int)strtol(number, NULL, 10) : 0;
}

static bool runs_outside(const struct migration *migration)
{
	return marked(migration, "-- outside a transaction\n") != NULL;
}

static int number_of(const char *name)
{
	return (int)strtol(name, NULL, 10);
}

/* ---- the schema ---- */

static bool schema_has(const struct schema *schema, const char *name)
{
	for (int i = 0; i < schema->rows.count; i++)
		if (text_equal(row_of(schema_migrations, &schema->rows, i)->name, name))
			return true;
	return false;
}

int schema_read(struct db *db, struct schema *ret_schema, struct err *err)
{
	_cleanup_(rows_release) struct rows table = ROWS_INIT;
	struct schema schema = SCHEMA_INIT;

	if (db_query(db, &table, err, schema_table) < 0)
		return -1;
	if (table.count && db_query(db, &schema.rows, err, schema_migrations) < 0)
		return -1;
	for (int i = 0; i < schema.rows.count; i++) {
		const struct schema_migrations_row *row = row_of(schema_migrations, &schema.rows, i);
		int number = number_of(row->name), oldest = number_of(row->oldest);

		schema.version = number > schema.version ? number : schema.version;
		schema.oldest = oldest > schema.oldest ? oldest : schema.oldest;
	}
	*ret_schema = schema;
	if (schema.rows.count && !schema_has(&schema, migrations[0].name))
		return err_set(err, ERR_INVALID,
			"this database was made by an unreleased version (its migration %s is unknown): use an empty "
			"database",
			row_of(schema_migrations, &schema.rows, 0)->name);
	return 0;
}

void schema_release(struct schema *schema)
{
	rows_release(&schema->rows);
}

int schema_program_version(void)
{
	return number_of(migrations[migrations_count - 1].name);
}

const struct migration *schema_missing(const struct schema *schema, bool contract)
{
	for (size_t i = 0; i < migrations_count; i++)
		if ((contract || !contract_of(&migrations[i])) && !schema_has(schema, migrations[i].name))
			return &migrations[i];
	return NULL;
}

static int refuse_old_program(const struct schema *schema, struct err *err)
{
	if (schema->oldest <= schema_program_version())
		return 0;
	return err_set(err, ERR_INVALID,
		"the database's schema (version %d) accepts programs from version %d on, and this program has version "
		"%d: "
		"install a newer one",
		schema->version, schema->oldest, schema_program_version());
}

int schema_check(struct db *db, struct err *err)
{
	_cleanup_(schema_release) struct schema schema = SCHEMA_INIT;
	const struct migration *missing;

	if (schema_read(db, &schema, err) < 0 || refuse_old_program(&schema, err) < 0)
		return -1;
	missing = schema_missing(&schema, false);
	if (missing)
		return err_set(err, ERR_UNAVAILABLE,
			"the schema lacks the migration %s: run 'runyard-scheduler migrate'", missing->name);
	return 0;
}

/* ---- migrations ---- */

struct migrating {
	struct db *db;
	const struct migration *migration;
};

static int migration_note(const struct migrating *m, struct err *err)
{
	log_info("migrated", "migration", m->migration->name, NULL);
	return contract_of(m->migration) ? db_query(m->db, NULL, err, migration_note_contract,
						   .name = m->migration->name, .oldest = contract_of(m->migration))
					 : db_query(m->db, NULL, err, migration_note, .name = m->migration->name);
}

static int statements_run(struct migrating *m, struct err *err)
{
	const char *at = m->migration->sql;
	struct sql_statement statement;

	while (sql_next(&at, &statement)) {
		_cleanup_(freep) char *sql = mem_printf("%.*s", (int)statement.len, statement.text);

		if (db_script(m->db, sql, err) < 0)
			return -1;
	}
	return 0;
}

/* The lock is taken again, should another connection have replaced the one that had it. */
static int migration_in(void *data, struct err *err)
{
	struct migrating *m = data;

	if (db_script(m->db,
		    "set local lock_timeout = '2s'; " SCANS_ALLOWED " select pg_advisory_xact_lock(" MIGRATION_LOCK ")",
		    err) < 0 ||
		db_script(m->db, m->migration->sql, err) < 0)
		return -1;
	return migration_note(m, err);
}

static int migration_run(struct migrating *m, struct err *err)
{
	int result;

	if (!runs_outside(m->migration))
		result = db_transaction(m->db, migration_in, m, err);
	else if (db_script(m->db, SCANS_ALLOWED, err) < 0 || statements_run(m, err) < 0)
		result = -1;
	else
		result = migration_note(m, err);
	return result < 0 ? err_context(err, "migration %s", m->migration->name) : 0;
}

/* Takes the lock for the time of the connection. It does not wait: a waiting transaction would keep another process
 * from building an index concurrently. */
static int migration_lock(struct db *db, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(db, &rows, err, migration_lock) < 0)
		return -1;
	if (!row_of(migration_lock, &rows, 0)->taken)
		return err_set(err, ERR_UNAVAILABLE, "another process migrates the database");
	return 0;
}

static int migrate_locked(struct db *db, bool contract, struct err *err)
{
	_cleanup_(schema_release) struct schema schema = SCHEMA_INIT;
	struct migrating m = {.db = db};

	if (db_script(db,
		    "create table if not exists schema_migrations (name text primary key, "
		    "migrated_at timestamptz not null default now())",
		    err) < 0 ||
		schema_read(db, &schema, err) < 0)
		return -1;
	contract |= schema.version == 0;
	for (size_t i = 0; i < migrations_count; i++) {
		m.migration = &migrations[i];
		if (schema_has(&schema, m.migration->name) || (contract_of(m.migration) && !contract))
			continue;
		if (migration_run(&m, err) < 0)
			return -1;
	}
	return 0;
}

int schema_migrate(const char *database_url, bool contract, struct err *err)
{
	_cleanup_(schema_release) struct schema schema = SCHEMA_INIT;
	struct db *db = db_open(database_url);
	int result;

	result = schema_read(db, &schema, err);
	if (result == 0)
		result = refuse_old_program(&schema, err);
	if (result == 0 && schema_missing(&schema, contract) &&
		(migration_lock(db, err) < 0 || migrate_locked(db, contract, err) < 0))
		result = -1;
	db_close(db);
	return result;
}

/* ---- the plan ---- */

/* The names of tables that the printed statements make: nothing else uses these tables yet. */
struct new_tables {
	char names[64][SQL_NAME_SIZE];
	size_t count;
};

static bool table_is_new(const struct new_tables *tables, const char *name)
{
	for (size_t i = 0; i < tables->count; i++)
		if (text_equal(tables->names[i], name))
			return true;
	return false;
}

static void statement_print(const struct sql_statement *statement, struct new_tables *tables, FILE *out)
{
	const char *lock = sql_lock(statement);
	char table[SQL_NAME_SIZE];

	if (tables->count < ARRAY_LEN(tables->names) && sql_makes_table(statement, tables->names[tables->count]))
		tables->count++;
	sql_table(statement, table);
	if (table_is_new(tables, table))
		lock = "none";
	fprintf(out, "-- lock: %s", lock);
	if (!text_equal(lock, "none"))
		fprintf(out, " (blocks %s)", sql_lock_blocks(lock));
	fprintf(out, "\n%.*s\n", (int)statement->len, statement->text);
}

static void migration_print(const struct migration *migration, struct new_tables *tables, FILE *out)
{
	const char *at = migration->sql;
	struct sql_statement statement;

	fprintf(out, "-- migration %s: %s%s\n", migration->name,
		contract_of(migration) ? "contracts, by migrate --contract" : "expands",
		runs_outside(migration) ? "; outside a transaction" : "");
	while (sql_next(&at, &statement))
		statement_print(&statement, tables, out);
	fputc('\n', out);
}

int schema_plan(struct db *db, FILE *out, struct err *err)
{
	_cleanup_(schema_release) struct schema schema = SCHEMA_INIT;
	struct new_tables tables = {.count = 0};

	if (schema_read(db, &schema, err) < 0)
		return -1;
	fprintf(out, "-- the schema has version %d, this program has version %d\n", schema.version,
		schema_program_version());
	for (size_t i = 0; i < migrations_count; i++)
		if (!schema_has(&schema, migrations[i].name))
			migration_print(&migrations[i], &tables, out);
	return 0;
}
