/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/background/wait_notes.h"

#include "scheduler/background/sweep_failures.h"
#include "scheduler/background/wait_notes.sql.h"
#include "scheduler/runs/waiting/run_waits.h"
#include "scheduler/store/runs/logs.h"
#include "scheduler/store/runs/run_events.h"

enum { MAX_LOOKED_AT = 100, NOTED_SECONDS = 5 };

enum { CURSOR_COLUMNS = 5 };

/* The values of the index's columns in the last row that was looked at; all empty: the beginning. */
struct cursor {
	struct id values[CURSOR_COLUMNS];
};

/* Only the reaper's thread uses them. */
static struct cursor queue_cursor, job_cursor;

static void cursor_move(struct cursor *cursor, const struct wait_candidate_row *row)
{
	const char *const values[CURSOR_COLUMNS] = {row->c0, row->c1, row->c2, row->c3, row->c4};

	for (size_t i = 0; i < CURSOR_COLUMNS; i++)
		text_copy(cursor->values[i].text, ID_SIZE, values[i]);
}

/* Adds the runs that have waited for a while, and moves the cursor: behind the last one, or to the beginning. */
static int candidates_read(struct store *store, const struct db_statement *statement, struct cursor *cursor,
	struct db_array *runs, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct id *at = cursor->values;

	if (db_query_one_of(store->db, &rows, err, statement, wait_queued, .c0 = at[0].text, .c1 = at[1].text,
		    .c2 = at[2].text, .c3 = at[3].text, .c4 = at[4].text, .max = MAX_LOOKED_AT,
		    .noted_seconds = NOTED_SECONDS) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct wait_candidate_row *row = row_of(wait_candidate, &rows, i);

		if (row->lasts)
			db_array_add(runs, row->id);
	}
	*cursor = (struct cursor){.values = {{""}}};
	if (rows.count == MAX_LOOKED_AT)
		cursor_move(cursor, row_of(wait_candidate, &rows, rows.count - 1));
	return 0;
}

struct noting {
	struct store *store;
	const struct run_wait *wait;
};

/* Locks what a claim or a turn would change, so that the line is written before the stage's own output. No row: the run
 * does not wait any more. Returns the stage's plan or apply, or null if the stage has no log. */
static int wait_lock(const struct noting *n, struct rows *ret_rows, struct err *err)
{
	if (n->wait->job.text[0])
		return db_query(
			n->store->db, ret_rows, err, wait_lock_job, .job = n->wait->job.text, .run = n->wait->run.text);
	return db_query(n->store->db, ret_rows, err, wait_lock_run, .run = n->wait->run.text);
}

static int line_add(const struct noting *n, const struct rows *rows, struct err *err)
{
	_cleanup_(freep) char *line = mem_printf("Waiting: %s\n", n->wait->text.text);
	const char *operation = row_of(wait_operation, rows, 0)->id;

	return operation ? log_line_add(n->store, operation, line, err) : 0;
}

static int note_in(void *data, struct err *err)
{
	const struct noting *n = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct run_event_row event = {
		.run_id = n->wait->run.text, .action = wait_event(n->wait->kind), .description = n->wait->text.text};
	bool added = false;

	if (wait_lock(n, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	if (run_event_add_once(n->store, &event, &added, err) < 0)
		return -1;
	return added ? line_add(n, &rows, err) : 0;
}

/* Removes the waits that are not to be noted, or are already. Returns the number that is left, or -1. */
static int waits_filter(struct store *store, struct run_wait *waits, size_t count, struct err *err)
{
	_cleanup_(db_array_release) struct db_array runs = DB_ARRAY_INIT, actions = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	int kept = 0;

	for (size_t i = 0; i < count; i++) {
		db_array_add(&runs, waits[i].run.text);
		db_array_add(&actions, wait_event(waits[i].kind));
	}
	if (db_query(store->db, &rows, err, waits_filter, .runs = &runs, .actions = &actions) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		waits[kept++] = waits[row_of(waits_filter, &rows, i)->n];
	return kept;
}

static int runs_note(struct store *store, struct db_array *runs, struct err *err)
{
	_cleanup_(freep) struct run_wait *items = mem_new(2 * MAX_LOOKED_AT, sizeof(*items));
	struct run_waits waits = {.items = items, .room = 2 * MAX_LOOKED_AT};
	struct sweep_failures failures = {0};
	int kept;

	if (waits_read(store, runs, &waits, err) < 0)
		return -1;
	kept = waits_filter(store, items, waits.count, err);
	for (int i = 0; i < kept; i++) {
		struct noting noting = {store, &items[i]};
		struct err why = ERR_INIT;

		if (db_transaction(store->db, note_in, &noting, &why) < 0 &&
			sweep_failed(&failures, items[i].run.text, &why, err) < 0)
			return -1;
	}
	sweep_failures_note(&failures, "wait notes");
	return kept < 0 ? -1 : 0;
}

int wait_notes_sweep(struct store *store, struct err *err)
{
	_cleanup_(db_array_release) struct db_array runs = DB_ARRAY_INIT;

	if (candidates_read(store, &wait_queued_statement, &queue_cursor, &runs, err) < 0 ||
		candidates_read(store, &wait_jobs_statement, &job_cursor, &runs, err) < 0)
		return -1;
	return runs.count ? runs_note(store, &runs, err) : 0;
}
