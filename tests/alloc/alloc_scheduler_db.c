/* SPDX-License-Identifier: MPL-2.0 */
/* ALLOC_DATABASE_URL: a database in which the test creates a table. */
#include <stdlib.h>
#include <string.h>

#include "scheduler/db/db.h"
#include "scheduler/metrics.h"
#include "tests/alloc/alloc.h"
#include "tests/alloc/alloc_scheduler_db.sql.h"

static const char *database(void)
{
	return getenv("ALLOC_DATABASE_URL");
}

static void create_table(void)
{
	struct db *db = db_open(database());
	struct err err = ERR_INIT;

	HOLDS(db_script(db, "drop table if exists alloc_of; create table alloc_of (number int primary key, text text)",
		      &err) == 0);
	db_close(db);
}

static long long count_rows(struct db *db)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct err err = ERR_INIT;

	HOLDS(db_query(db, &rows, &err, alloc_count) == 0);
	return row_of(alloc_count, &rows, 0)->count;
}

/* Three statements of each kind. */
static int insert_three_rows(void *data, struct err *err)
{
	_cleanup_(rows_release) struct rows queued_rows = ROWS_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct db *db = data;
	const char *text;

	if (db_queue(db, err, alloc_add, .number = 1, .text = "one") < 0 ||
		db_ask(db, &queued_rows, err, alloc_add, .number = 2, .text = "two") < 0 ||
		db_query(db, &rows, err, alloc_add, .number = 3, .text = "three") < 0)
		return -1;
	HOLDS(queued_rows.count == 1 && rows.count == 1);
	text = row_of(alloc_add, &queued_rows, 0)->text;
	HOLDS(text_equal(text, "two"));
	return 0;
}

/* If the transaction was reported as committed, all rows are in the table; otherwise none. */
static void transactions(void)
{
	struct err err = ERR_INIT;
	struct db *db;
	long long row_count;
	int result;

	metrics_setup(scheduler_metrics, M_COUNT);
	alloc_prepare(create_table);
	db = db_open(database());
	result = db_transaction(db, insert_three_rows, db, &err);
	HOLDS(result == 0 || err.kind == ERR_UNAVAILABLE);
	alloc_faults_end();
	row_count = count_rows(db);
	HOLDS(row_count == 3 || (row_count == 0 && result < 0));
	db_close(db);
}

/* A read returns the right rows, or fails as unavailable. The connection works after a failure. */
static void queries(void)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf bytes = BUF_INIT(1 << 20);
	struct db *db = db_open_listening(database(), "alloc_faults");
	struct err err = ERR_INIT;
	char notice[64];

	metrics_setup(scheduler_metrics, M_COUNT);
	for (int turn = 0; turn < 2; turn++) {
		rows_release(&rows);
		buf_reset(&bytes);
		if (db_query(db, &rows, &err, alloc_series) < 0) {
			HOLDS(err.kind == ERR_UNAVAILABLE);
			continue;
		}
		HOLDS(rows.count == 300);
		for (int i = 0; i < rows.count; i++)
			HOLDS(row_of(alloc_series, &rows, i)->n == i + 1 &&
				strlen(row_of(alloc_series, &rows, i)->text) == 1000);
		hex_decode(row_of(alloc_series, &rows, 299)->bytes, &bytes);
		HOLDS(bytes.len == 3 && memcmp(bytes.data, "abc", 3) == 0);
	}
	while (db_notice(db, notice, sizeof(notice)))
		;
	alloc_faults_end();
	rows_release(&rows);
	HOLDS(db_query(db, &rows, &err, alloc_one) == 0 && row_of(alloc_one, &rows, 0)->one == 1);
	db_close(db);
}

struct two {
	struct rows first, second;
};

static int query_two_statements(struct db *db, struct two *two, long long divisor, struct err *err)
{
	int result;

	rows_release(&two->first);
	rows_release(&two->second);
	db_gather(db);
	result = db_ask(db, &two->first, err, alloc_one);
	if (result == 0)
		result = db_ask(db, &two->second, err, alloc_half, .divisor = divisor);
	return db_gathered(db, result, err);
}

/* Both rows are returned, or neither. The next statements are not affected. */
static void batches(void)
{
	struct db *db = db_open(database());
	struct two two = {ROWS_INIT, ROWS_INIT};
	struct err err = ERR_INIT;

	metrics_setup(scheduler_metrics, M_COUNT);
	for (int turn = 0; turn < 3; turn++)
		if (query_two_statements(db, &two, 2, &err) < 0)
			HOLDS(err.kind == ERR_UNAVAILABLE);
		else
			HOLDS(row_of(alloc_one, &two.first, 0)->one == 1 &&
				row_of(alloc_half, &two.second, 0)->half == 2);
	alloc_faults_end();
	HOLDS(query_two_statements(db, &two, 0, &err) < 0 && err.kind == ERR_INTERNAL);
	HOLDS(query_two_statements(db, &two, 1, &err) == 0 && row_of(alloc_half, &two.second, 0)->half == 4);
	rows_release(&two.first);
	rows_release(&two.second);
	db_close(db);
	/* A failing statement is the first of its connection, so the statements to be prepared are not. */
	db = db_open(database());
	HOLDS(query_two_statements(db, &two, 0, &err) < 0 && err.kind == ERR_INTERNAL);
	HOLDS(query_two_statements(db, &two, 4, &err) == 0 && row_of(alloc_half, &two.second, 0)->half == 1);
	rows_release(&two.first);
	rows_release(&two.second);
	db_close(db);
}

/* The first of no rows is one of nulls. */
static void no_rows(void)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct alloc_none_row *row;
	struct err err = ERR_INIT;
	struct db *db;

	metrics_setup(scheduler_metrics, M_COUNT);
	alloc_prepare(create_table);
	db = db_open(database());
	if (db_query(db, &rows, &err, alloc_none) < 0) {
		HOLDS(err.kind == ERR_UNAVAILABLE);
		alloc_faults_end();
		db_close(db);
		return;
	}
	alloc_faults_end();
	row = row_of(alloc_none, &rows, 0);
	HOLDS(rows.count == 0 && row->number_null && !row->number && !row->text);
	db_close(db);
}

/* A violated index is reported as a conflict, or as unavailable. */
static void conflicts(void)
{
	struct db *db;
	struct err err = ERR_INIT;

	metrics_setup(scheduler_metrics, M_COUNT);
	alloc_prepare(create_table);
	db = db_open(database());
	for (int turn = 0; turn < 2; turn++)
		if (db_query(db, NULL, &err, alloc_add, .number = 1, .text = "one") < 0)
			HOLDS(err.kind == ERR_UNAVAILABLE ||
				(err.kind == ERR_CONFLICT && text_equal(db_constraint(db), "alloc_of_pkey")));
	alloc_faults_end();
	HOLDS(db_query(db, NULL, &err, alloc_add, .number = 2, .text = "two") == 0);
	db_close(db);
}

const struct alloc_case alloc_cases[] = {
	{.name = "transactions", .libraries = "libpq", .run = transactions},
	{.name = "queries", .libraries = "libpq", .run = queries},
	{.name = "batches", .libraries = "libpq", .run = batches},
	{.name = "no_rows", .libraries = "libpq", .run = no_rows},
	{.name = "conflicts", .libraries = "libpq", .run = conflicts},
	{0},
};
