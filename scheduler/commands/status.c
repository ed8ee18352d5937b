/* SPDX-License-Identifier: MPL-2.0 */
/* `status`: the state of the installation on one screen. */
#include <stdio.h>
#include <stdlib.h>

#include "scheduler/commands/topics.h"
#include "scheduler/http/columns.h"
#include "scheduler/runs/waiting/run_waits.h"
#include "scheduler/store/maintenance.h"
#include "scheduler/store/site_status.h"
#include "scheduler/store/site_status.sql.h"

static const struct command_column process_columns[] = {
	{"PROCESS", "kind", 0},
	{"VERSION", "version", 0},
	{"COUNT", "count", 0},
	{"SEEN", "seen-at", COMMAND_TIME},
	{NULL, NULL, 0},
};

static const struct command_column pool_columns[] = {
	{"POOL", "pool", 0},
	{"WAITING", "waiting", 0},
	{"OLDEST (S)", "oldest-seconds", 0},
	{"RUNNING", "running", 0},
	{"WORKERS", "workers", 0},
	{"SLOTS", "slots", 0},
	{"FREE", "free", 0},
	{"QUOTA", "concurrent-run-limit", 0},
	{"DRAINED", "drained-at", COMMAND_TIME},
	{NULL, NULL, 0},
};

static const struct command_column topic_columns[] = {
	{"TOPIC", "topic", 0},
	{"POOL", "pool", 0},
	{"LAG", "lag", 0},
	{"WHY", "failure", 0},
	{NULL, NULL, 0},
};

static const struct command_column total_columns[] = {
	{"OUTBOX", "outbox", 0},
	{"OLDEST (S)", "outbox-seconds", 0},
	{"DEAD LETTERS", "dead-letters", 0},
	{"HOLDS", "holds", 0},
	{"MAINTENANCE", "maintenance", 0},
	{NULL, NULL, 0},
};

/* A numeric column of whole seconds, or null. */
static json_t *seconds(const char *numeric)
{
	return numeric ? json_integer(strtoll(numeric, NULL, 10)) : json_null();
}

static const struct cell_shown process_cells[] = {
	CELL("kind", site_status_processes, kind),
	CELL("version", site_status_processes, version),
	CELL("count", site_status_processes, count),
	CELL("seen-at", site_status_processes, seen_at),
};

static int processes_add(struct store *store, json_t *status, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *items;

	if (status_processes(store, &rows, err) < 0)
		return -1;
	items = json_array();
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(items, cells_shown(process_cells, ARRAY_LEN(process_cells), row_cells(&rows, i)));
	return json_object_set_new(status, "processes", items);
}

static json_t *pool_shown(const struct site_status_pools_row *pool)
{
	return json_pack("{so sI so sI sI sI sI so so}", "pool", json_string_or_null(pool->pool), "waiting",
		(json_int_t)pool->waiting, "oldest-seconds", seconds(pool->oldest_seconds), "running",
		(json_int_t)pool->running, "workers", (json_int_t)pool->workers, "slots", (json_int_t)pool->slots,
		"free", (json_int_t)pool->free, "concurrent-run-limit",
		pool->run_limit_null ? json_null() : json_integer(pool->run_limit), "drained-at",
		json_string_or_null(pool->drained_at));
}

static int pools_add(struct store *store, json_t *status, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *items;

	if (status_pools(store, &rows, err) < 0)
		return -1;
	items = json_array();
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(items, pool_shown(row_of(site_status_pools, &rows, i)));
	return json_object_set_new(status, "pools", items);
}

/* Those that a group reads. */
static int topics_add(struct scheduler *s, json_t *status, struct err *err)
{
	json_auto_t *all = NULL;
	json_t *items, *topic;
	size_t i;

	if (topics_read(s, &all, err) < 0)
		return -1;
	items = json_array();
	json_array_foreach(all, i, topic)
	{
		if (json_string_at(topic, "group"))
			json_array_append_new(items,
				json_pack("{sO sO sO sO}", "topic", json_object_get(topic, "topic"), "pool",
					json_object_get(topic, "pool"), "lag", json_object_get(topic, "lag"), "failure",
					json_object_get(topic, "failure")));
	}
	return json_object_set_new(status, "topics", items);
}

static int oldest_add(struct store *store, json_t *status, const char *run_id, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	struct run_wait wait;
	struct run_waits waits = {.items = &wait, .room = 1};

	db_array_add(&ids, run_id);
	if (run_id && waits_read(store, &ids, &waits, err) < 0)
		return -1;
	return json_object_set_new(status, "oldest-waiting",
		waits.count ? json_pack("{ss ss ss so}", "run", wait.run.text, "code", wait_code(wait.kind), "text",
				      wait.text.text, "since", json_string_or_null(*wait.since ? wait.since : NULL))
			    : json_null());
}

static int totals_add(struct store *store, json_t *status, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct site_status_totals_row *totals;
	struct maintenance maintenance;

	if (status_totals(store, &rows, err) < 0 || maintenance_read(store, &maintenance, err) < 0)
		return -1;
	totals = row_of(site_status_totals, &rows, 0);
	json_object_update_new(status,
		json_pack("{sI so sI sI so}", "outbox", (json_int_t)totals->outbox, "outbox-seconds",
			seconds(totals->outbox_seconds), "dead-letters", (json_int_t)totals->dead_letters, "holds",
			(json_int_t)totals->holds, "maintenance",
			json_string_or_null(maintenance.on ? maintenance.reason : NULL)));
	return oldest_add(store, status, totals->oldest_run, err);
}

static void oldest_print(const json_t *status)
{
	const char *run = json_string_at(status, "oldest-waiting.run");

	if (run)
		printf("\nThe oldest waiting run is %s, since %s: %s\n", run,
			text_or_empty(json_string_at(status, "oldest-waiting.since")),
			json_string_at(status, "oldest-waiting.text"));
	else
		printf("\nNo run waits for a worker or its turn.\n");
}

static void status_print(json_t *status)
{
	json_auto_t *one = json_pack("[O]", status);

	command_print_table(json_at(status, "processes"), process_columns);
	putchar('\n');
	command_print_table(json_at(status, "pools"), pool_columns);
	putchar('\n');
	command_print_table(json_at(status, "topics"), topic_columns);
	putchar('\n');
	command_print_table(one, total_columns);
	oldest_print(status);
}

int command_status(struct scheduler *s, const struct command_line *line, struct err *err)
{
	json_auto_t *status = json_object();

	if (processes_add(&s->store, status, err) < 0 || pools_add(&s->store, status, err) < 0 ||
		topics_add(s, status, err) < 0 || totals_add(&s->store, status, err) < 0)
		return -1;
	if (line->as_json)
		command_print_json(status);
	else
		status_print(status);
	return 0;
}
