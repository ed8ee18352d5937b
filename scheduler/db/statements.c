/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/db/connection.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"

static void note_size(struct db *db, size_t size)
{
	db->large = db->large || size >= LARGE;
}

/* At most two entries for each statement: it may have to be prepared. */
static void note_sent(struct db *db, struct rows *asked)
{
	db->asked[db->queued++] = asked;
}

/* The statement's own slot, or a free one. */
static int statement_slot(const struct db *db, const struct db_statement *statement, size_t *ret_slot, struct err *err)
{
	size_t slot = ((uintptr_t)statement >> 3) % MAX_STATEMENTS;

	for (size_t tries = 0; db->statements[slot] && db->statements[slot] != statement; tries++) {
		if (tries == MAX_STATEMENTS)
			return err_set(err, ERR_INTERNAL, "more than %d statements", MAX_STATEMENTS);
		slot = (slot + 1) % MAX_STATEMENTS;
	}
	*ret_slot = slot;
	return 0;
}

/* ---- statements ---- */

/* Prepares the statement on this connection if necessary. Within a pipeline the preparation is only sent. -1 with
 * *err. */
static int statement_prepare(struct db *db, const struct db_statement *statement, struct err *err)
{
	PGresult *result;
	size_t slot = 0;
	int failed = 0;

	if (statement_slot(db, statement, &slot, err) < 0)
		return -1;
	if (db->statements[slot])
		return 0;
	if (db->queued) {
		if (!PQsendPrepare(db->conn, statement->name, statement->sql, 0, NULL))
			return connection_failed(db, err);
		note_sent(db, NULL);
		db->preparing = true;
		db->statements[slot] = statement;
		return 0;
	}
	note_trip(1);
	result = result_last(db, PQsendPrepare(db->conn, statement->name, statement->sql, 0, NULL), SILENT_MS);
	if (result_good(result))
		db->statements[slot] = statement;
	else
		failed = statement_failed(db, result, err);
	PQclear(result);
	return failed;
}

/* ---- pipelines: statements run in order, and the first failure skips the rest ---- */

/* The next result of the pipeline; NULL if the connection is lost. */
static PGresult *pipeline_result(struct db *db)
{
	PGresult *result = result_next(db, SILENT_MS);

	/* Each statement's results end with a null. */
	if (result && PQresultStatus(result) != PGRES_PIPELINE_SYNC)
		PQclear(result_next(db, SILENT_MS));
	return result;
}

/* After a failed pipeline it is unknown which statements were prepared: drops all of them. */
static void statements_doubt(struct db *db)
{
	struct err ignored = ERR_INIT;

	if (!db->conn || !db->preparing)
		return;
	memset(db->statements, 0, sizeof(db->statements));
	script(db, "deallocate all", SILENT_MS, &ignored);
	db->preparing = false;
}

/* Reads all pending results. The last statement's result goes to *ret_last unless one failed. */
static int pipeline_end(struct db *db, PGresult **ret_last, struct err *err)
{
	int expected = db->queued;
	bool failed = false;
	PGresult *result;

	note_trip(expected);
	if (!db->synced && !PQpipelineSync(db->conn))
		return connection_failed(db, err);
	for (int i = 0; i < expected; i++) {
		result = pipeline_result(db);
		if (!result || (!result_good(result) && !failed)) {
			failed = true;
			statement_failed(db, result, err);
		}
		note_size(db, result ? PQresultMemorySize(result) : 0);
		if (i == expected - 1 && ret_last && !failed)
			*ret_last = result;
		else if (db->asked[i] && !failed)
			rows_fill(db->asked[i], result);
		else
			PQclear(result);
		if (!db->conn)
			return -1;
	}
	PQclear(pipeline_result(db));
	db->queued = 0;
	db->synced = false;
	if (!PQexitPipelineMode(db->conn)) {
		PQfinish(db->conn);
		db->conn = NULL;
	}
	if (!failed)
		db->preparing = false;
	else if (!db->in_transaction)
		statements_doubt(db);
	return failed ? -1 : 0;
}

/* Appends a statement without parameters to the pipeline; begins the pipeline if there is none. */
static int pipeline_script(struct db *db, const char *sql, struct err *err)
{
	if (!db->queued && !PQenterPipelineMode(db->conn))
		return connection_failed(db, err);
	if (!PQsendQueryParams(db->conn, sql, 0, NULL, NULL, NULL, NULL, 0))
		return connection_failed(db, err);
	note_sent(db, NULL);
	return 0;
}

static int statement_send(
	struct db *db, const struct db_statement *statement, const struct packed *packed, struct err *err)
{
	for (int i = 0; i < packed->count; i++)
		note_size(db, (size_t)packed->lengths[i]);
	if (PQsendQueryPrepared(
		    db->conn, statement->name, packed->count, packed->values, packed->lengths, packed->formats, 0))
		return 0;
	return connection_failed(db, err);
}

static int statement_ready(struct db *db, const struct db_statement *statement, struct err *err)
{
	db->try_again = false;
	if (!db->in_transaction && !db->queued && connection_ready(db, err) < 0)
		return -1;
	if (!db->conn)
		return err_set(err, ERR_UNAVAILABLE, "PostgreSQL: service unavailable: the connection was lost");
	return statement_prepare(db, statement, err);
}

static int put(struct db *db, struct rows *ret_rows, struct err *err, const struct db_statement *statement,
	const struct packed *packed)
{
	if (statement_ready(db, statement, err) < 0)
		return -1;
	if (!db->queued && !PQenterPipelineMode(db->conn))
		return connection_failed(db, err);
	if (statement_send(db, statement, packed, err) < 0)
		return -1;
	if (ret_rows)
		ret_rows->shape = statement->gives;
	note_sent(db, ret_rows);
	return db->queued < MAX_QUEUED ? 0 : pipeline_end(db, NULL, err);
}

int db_put(
	struct db *db, struct rows *ret_rows, struct err *err, const struct db_statement *statement, const void *params)
{
	struct packed packed;

	if (!db->in_transaction && !db->gathering)
		return db_run(db, ret_rows, err, statement, params);
	params_pack(statement, params, &packed);
	return put(db, ret_rows, err, statement, &packed);
}

static int run_once(struct db *db, struct rows *ret_rows, struct err *err, const struct db_statement *statement,
	const struct packed *packed)
{
	PGresult *result = NULL;

	if (statement_ready(db, statement, err) < 0 || statement_send(db, statement, packed, err) < 0)
		return -1;
	if (db->queued) {
		note_sent(db, NULL);
		if (pipeline_end(db, &result, err) < 0)
			return -1;
	} else {
		note_trip(1);
		result = result_last(db, true, SILENT_MS);
		if (!result_good(result)) {
			statement_failed(db, result, err);
			PQclear(result);
			return -1;
		}
	}
	note_size(db, PQresultMemorySize(result));
	if (ret_rows) {
		ret_rows->shape = statement->gives;
		rows_fill(ret_rows, result);
	} else {
		PQclear(result);
	}
	connection_shrink(db);
	return 0;
}

static int run(struct db *db, struct rows *ret_rows, struct err *err, const struct db_statement *statement,
	const struct packed *packed)
{
	bool alone = !db->in_transaction && !db->queued;
	int result = run_once(db, ret_rows, err, statement, packed);

	return result < 0 && alone && db->outdated ? run_once(db, ret_rows, err, statement, packed) : result;
}

int db_run(
	struct db *db, struct rows *ret_rows, struct err *err, const struct db_statement *statement, const void *params)
{
	struct packed packed;

	params_pack(statement, params, &packed);
	return run(db, ret_rows, err, statement, &packed);
}

bool db_outdated(const struct db *db)
{
	return db->outdated;
}

void db_gather(struct db *db)
{
	db->gathering = true;
}

int db_send(struct db *db, struct err *err)
{
	if (!db->queued || db->synced)
		return 0;
	if (!PQpipelineSync(db->conn))
		return connection_failed(db, err);
	db->synced = true;
	return 0;
}

int db_gathered(struct db *db, int result, struct err *err)
{
	struct err ignored = ERR_INIT;

	db->gathering = false;
	if (!db->queued)
		return result;
	if (result == 0) {
		result = pipeline_end(db, NULL, err);
		connection_shrink(db);
		return result;
	}
	/* The caller does not read the results any more. */
	memset(db->asked, 0, sizeof(db->asked));
	pipeline_end(db, NULL, &ignored);
	return result;
}

int db_script(struct db *db, const char *sql, struct err *err)
{
	if (!db->conn && connection_ready(db, err) < 0)
		return -1;
	if (db->queued && pipeline_end(db, NULL, err) < 0)
		return -1;
	return script(db, sql, FOR_EVER, err);
}

int db_begin(struct db *db, struct err *err)
{
	/* `begin` is sent with the first statement, and statements queued before the end are sent with the commit. */
	if (connection_ready(db, err) < 0 || pipeline_script(db, "begin", err) < 0)
		return -1;
	db->in_transaction = true;
	return 0;
}

/* PostgreSQL answers "commit" with a rollback, and no error, if a statement of the transaction failed. */
static int transaction_commit(struct db *db, struct err *err)
{
	PGresult *result = NULL;
	int failed = 0;

	if (!db->conn)
		return err_set(err, ERR_UNAVAILABLE, "PostgreSQL: service unavailable: the connection was lost");
	if (pipeline_script(db, "commit", err) < 0 || pipeline_end(db, &result, err) < 0)
		return -1;
	if (!text_equal(PQcmdStatus(result), "COMMIT"))
		failed = err_set(err, ERR_INTERNAL, "a transaction went on after one of its statements had failed");
	PQclear(result);
	return failed;
}

static void transaction_rollback(struct db *db)
{
	struct err ignored = ERR_INIT;
	bool try_again = db->try_again;

	/* The caller may have returned, so the results have no destination any more. */
	memset(db->asked, 0, sizeof(db->asked));
	if (db->conn && db->queued)
		pipeline_end(db, NULL, &ignored);
	if (db->conn)
		script(db, "rollback", SILENT_MS, &ignored);
	statements_doubt(db);
	db->try_again = try_again;
}

static void after_run(struct db *db, bool committed)
{
	_cleanup_(freep) struct after *after = db->after;
	size_t count = db->after_count;

	db->after = NULL;
	db->after_count = 0;
	for (size_t i = 0; i < count; i++)
		after[i].fn(after[i].data, committed);
}

int db_end(struct db *db, int result, struct err *err)
{
	if (result == 0 && db->before_commit)
		result = db->before_commit(db->before_data, err);
	if (result == 0)
		result = transaction_commit(db, err);
	if (result < 0)
		transaction_rollback(db);
	db->in_transaction = false;
	connection_shrink(db);
	after_run(db, result == 0);
	return result;
}

static int transaction_once(struct db *db, int (*fn)(void *data, struct err *err), void *data, struct err *err)
{
	if (db_begin(db, err) < 0)
		return -1;
	return db_end(db, fn(data, err), err);
}

int db_transaction(struct db *db, int (*fn)(void *data, struct err *err), void *data, struct err *err)
{
	int result = -1;

	if (db->in_transaction)
		return fn(data, err);
	for (int tries = 0; tries < MAX_TRIES; tries++) {
		db->try_again = false;
		result = transaction_once(db, fn, data, err);
		if (result == 0 || !db->try_again)
			break;
	}
	return result;
}

bool db_in_transaction(const struct db *db)
{
	return db->in_transaction;
}

void db_before_commit(struct db *db, int (*fn)(void *data, struct err *err), void *data)
{
	db->before_commit = fn;
	db->before_data = data;
}

void db_after_commit(struct db *db, void (*fn)(void *data, bool committed), void *data)
{
	if (!db->in_transaction) {
		fn(data, true);
		return;
	}
	db->after = mem_resize(db->after, db->after_count + 1, sizeof(*db->after));
	db->after[db->after_count++] = (struct after){fn, data};
}
