/* SPDX-License-Identifier: MPL-2.0 */
/* `check` looks at the settings, at the servers behind them and at the database, and changes nothing. */
#include <stdarg.h>
#include <stdio.h>

#include "common/kafka/kafka.h"
#include "scheduler/commands/command.h"
#include "scheduler/commands/check.sql.h"
#include "scheduler/db/schema.h"
#include "scheduler/runs/epoch.h"
#include "scheduler/store/content/objects.h"
#include "scheduler/store/keys.h"
#include "scheduler/store/workers/processes.h"

enum { DETAIL_SIZE = 512, BROKER_MS = 10000, PART_LIMIT = 1024 };

enum result { OK, WARNING, FAILED, SKIPPED };

static const char *const result_names[] = {
	[OK] = "ok", [WARNING] = "warning", [FAILED] = "failed", [SKIPPED] = "skipped"};

struct checking {
	struct scheduler *s;
	bool has_database, has_schema; /* what later checks need */
	char detail[DETAIL_SIZE];
};

static enum result say(struct checking *c, enum result result, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static enum result say(struct checking *c, enum result result, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(c->detail, sizeof(c->detail), format, args);
	va_end(args);
	return result;
}

static enum result check_database(struct checking *c)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct check_postgresql_row *server;
	struct err err = ERR_INIT;

	if (db_check(c->s->options.database_url, &err) < 0 ||
		db_query(c->s->store.db, &rows, &err, check_postgresql) < 0)
		return say(c, FAILED, "%s", err.message);
	c->has_database = true;
	server = row_of(check_postgresql, &rows, 0);
	return say(c, OK, "version %s, as %s, who %s change tables", server->version, server->name,
		server->creates ? "may" : "may not");
}

static enum result check_schema(struct checking *c)
{
	_cleanup_(schema_release) struct schema schema = SCHEMA_INIT;
	const struct migration *missing;
	struct err err = ERR_INIT;

	if (!c->has_database)
		return say(c, SKIPPED, "PostgreSQL does not answer");
	if (schema_read(c->s->store.db, &schema, &err) < 0)
		return say(c, FAILED, "%s", err.message);
	if (schema.oldest > schema_program_version())
		return say(c, FAILED, "version %d accepts programs from version %d on, and this program has version %d",
			schema.version, schema.oldest, schema_program_version());
	missing = schema_missing(&schema, false);
	c->has_schema = !missing;
	if (missing)
		return say(c, WARNING, "version %d lacks the migration %s: run 'runyard-scheduler migrate'",
			schema.version, missing->name);
	missing = schema_missing(&schema, true);
	if (missing)
		return say(c, OK, "version %d; 'migrate --contract' would apply %s", schema.version, missing->name);
	return say(c, OK, "version %d, of this program %d", schema.version, schema_program_version());
}

static enum result check_keys(struct checking *c)
{
	struct err err = ERR_INIT;

	if (!c->has_schema)
		return say(c, SKIPPED, "the schema is not this program's");
	if (keys_verify(&c->s->store, &err) < 0)
		return say(c, FAILED, "%s", err.message);
	return say(c, OK, "%zu, of which key %u seals", keyring_count(c->s->keyring), keyring_number(c->s->keyring, 0));
}

static enum result check_replication(struct checking *c)
{
	struct err err = ERR_INIT;
	bool durable = false;

	if (!c->has_database)
		return say(c, SKIPPED, "PostgreSQL does not answer");
	if (replication_is_durable(&c->s->store, &durable, &err) < 0)
		return say(c, FAILED, "%s", err.message);
	if (c->s->settings.replication == REPLICATION_SYNC && !durable)
		return say(c, FAILED, "commits do not wait for a standby, against --database-replication sync");
	return say(c, OK, "--database-replication %s; commits %s for a standby", c->s->options.database_replication,
		durable ? "wait" : "do not wait");
}

static enum result check_kafka(struct checking *c)
{
	const struct kafka_settings settings = scheduler_kafka(&c->s->options);
	struct kafka_producer *producer = NULL;
	struct err err = ERR_INIT;
	int brokers;

	if (kafka_producer_open(&settings, NULL, NULL, &producer, &err) < 0)
		return say(c, FAILED, "%s", err.message);
	brokers = kafka_brokers(producer, BROKER_MS, &err);
	kafka_producer_close(producer);
	return brokers < 0 ? say(c, FAILED, "%s", err.message) : say(c, OK, "%d brokers", brokers);
}

/* Reads the first bytes of an object, or asks for one that does not exist. */
static enum result check_objects(struct checking *c)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(PART_LIMIT);
	struct object_part part = {.key = "check/none", .len = KEY_NUMBER_SIZE};
	struct err err = ERR_INIT;

	if (!c->s->objects)
		return say(c, SKIPPED, "--object-store-url is empty");
	if (c->has_schema && db_query(c->s->store.db, &rows, &err, check_objects) == 0 && rows.count)
		text_copy(part.key, sizeof(part.key), row_of(check_objects, &rows, 0)->object_key);
	if (object_get(c->s->objects, &part, &bytes, &err) < 0 && (err.kind != ERR_NOT_FOUND || rows.count))
		return say(c, FAILED, "%s", err.message);
	return say(c, OK, "%s", rows.count ? "an object can be read" : "it answers, and has no objects yet");
}

static enum result check_processes(struct checking *c)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct err err = ERR_INIT;

	if (!c->has_schema)
		return say(c, SKIPPED, "the schema is not this program's");
	if (processes_check_older(&c->s->store, &err) < 0)
		return say(c, err.kind == ERR_CONFLICT ? WARNING : FAILED, "%s", err.message);
	if (processes_list(&c->s->store, &rows, &err) < 0)
		return say(c, FAILED, "%s", err.message);
	return say(c, OK, "%d were seen within the last hour, none is older than this program", rows.count);
}

static enum result check_backup(struct checking *c)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct err err = ERR_INIT;
	const struct check_backup_row *mark;

	if (!c->has_schema)
		return say(c, SKIPPED, "the schema is not this program's");
	if (db_query(c->s->store.db, &rows, &err, check_backup) < 0)
		return say(c, FAILED, "%s", err.message);
	mark = row_of(check_backup, &rows, 0);
	if (!mark->backup_at)
		return say(c, WARNING, "no backup was recorded: run 'runyard-scheduler backup-mark' after each one");
	return say(c, mark->old ? WARNING : OK, "the last one was recorded at %s", mark->backup_at);
}

/* In this order: a later check may need what an earlier one found. */
static const struct {
	const char *name;
	enum result (*check)(struct checking *c);
} checks[] = {
	{"postgresql", check_database},
	{"schema", check_schema},
	{"keys", check_keys},
	{"replication", check_replication},
	{"kafka", check_kafka},
	{"object-store", check_objects},
	{"processes", check_processes},
	{"backup", check_backup},
};

static const struct command_column columns[] = {
	{"CHECK", "check", 0},
	{"RESULT", "result", 0},
	{"DETAIL", "detail", 0},
	{NULL, NULL, 0},
};

/* The settings were checked before: a wrong one ends the process. */
int command_check(struct scheduler *s, const struct command_line *line, struct err *err)
{
	struct checking c = {.s = s};
	json_auto_t *found = json_array();
	int failed = 0;

	for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
		enum result result = checks[i].check(&c);

		failed += result == FAILED;
		json_array_append_new(found,
			json_pack("{ss ss ss}", "check", checks[i].name, "result", result_names[result], "detail",
				c.detail));
	}
	command_print(line, found, columns);
	return failed ? err_set(err, ERR_INVALID, "%d of %zu checks failed", failed, ARRAY_LEN(checks)) : 0;
}
