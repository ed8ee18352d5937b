/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/db.h"

#include <libpq-fe.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"

enum { MOST_STATEMENTS = 512, MOST_TRIES = 6 };

struct db {
	char *url;
	PGconn *conn;
	const char *statements[MOST_STATEMENTS]; /* prepared on this connection, by the address of their text */
	bool relaxed;
	bool in_transaction;
	bool try_again; /* the last failure was a deadlock or a serialization failure */
	char constraint[64];
};

struct db *db_open(const char *url)
{
	struct db *db = mem_new(1, sizeof(*db));

	db->url = mem_text(url);
	return db;
}

struct db *db_open_relaxed(const char *url)
{
	struct db *db = db_open(url);

	db->relaxed = true;
	return db;
}

void db_close(struct db *db)
{
	if (!db)
		return;
	PQfinish(db->conn);
	free(db->url);
	free(db);
}

const char *db_constraint(const struct db *db)
{
	return db->constraint;
}

static void notice_ignore(void *arg, const PGresult *result)
{
	(void)arg;
	(void)result;
}

/* The reason without the connection's own text, which may hold the address but also the user's password. */
static int connection_failed(struct db *db, struct err *err)
{
	_cleanup_(freep) char *reason = mem_text(db->conn ? PQerrorMessage(db->conn) : "no memory");

	reason[strcspn(reason, "\n")] = '\0';
	PQfinish(db->conn);
	db->conn = NULL;
	return err_set(err, ERR_UNAVAILABLE, "PostgreSQL: service unavailable: %s", reason);
}

/* A connection that the server closed while nobody used it has something to read: why it did, then the end. */
static bool connection_alive(struct db *db)
{
	struct pollfd fd = {.fd = PQsocket(db->conn), .events = POLLIN};

	while (PQstatus(db->conn) == CONNECTION_OK && poll(&fd, 1, 0) > 0)
		if (!PQconsumeInput(db->conn))
			return false;
	return PQstatus(db->conn) == CONNECTION_OK;
}

static int db_connect(struct db *db, struct err *err)
{
	if (db->conn && connection_alive(db))
		return 0;
	PQfinish(db->conn);
	memset(db->statements, 0, sizeof(db->statements));
	db->conn = PQconnectdb(db->url);
	if (PQstatus(db->conn) != CONNECTION_OK)
		return connection_failed(db, err);
	PQsetNoticeReceiver(db->conn, notice_ignore, NULL);
	/* A statement that hangs would hold a thread for ever; a session that is idle in a transaction holds locks. */
	if (db_script(db,
		    "set timezone = 'UTC'; set datestyle = 'ISO'; set statement_timeout = '30s'; "
		    "set idle_in_transaction_session_timeout = '30s'; set plan_cache_mode = 'force_generic_plan'; set "
		    "jit = off",
		    err) < 0)
		return -1;
	return db->relaxed ? db_script(db, "set synchronous_commit = off", err) : 0;
}

void rows_release(struct rows *rows)
{
	PQclear(rows->result);
	rows->result = NULL;
	rows->count = 0;
}

static int column_of(const struct rows *rows, const char *column)
{
	int number = PQfnumber(rows->result, column);

	if (number < 0) {
		log_error("a statement has no such column", "column", column, NULL);
		abort();
	}
	return number;
}

bool row_null(const struct rows *rows, int row, const char *column)
{
	return PQgetisnull(rows->result, row, column_of(rows, column));
}

const char *row_text(const struct rows *rows, int row, const char *column)
{
	int number = column_of(rows, column);

	return PQgetisnull(rows->result, row, number) ? NULL : PQgetvalue(rows->result, row, number);
}

long long row_int(const struct rows *rows, int row, const char *column)
{
	const char *text = row_text(rows, row, column);

	return text ? strtoll(text, NULL, 10) : 0;
}

bool row_bool(const struct rows *rows, int row, const char *column)
{
	return text_equal(row_text(rows, row, column), "t");
}

json_t *row_json(const struct rows *rows, int row, const char *column)
{
	const char *text = row_text(rows, row, column);
	json_t *value = text ? json_loads(text, JSON_DECODE_ANY, NULL) : NULL;

	return value ? value : json_null();
}

void row_bytes(const struct rows *rows, int row, const char *column, struct buf *out)
{
	const char *text = row_text(rows, row, column);
	size_t len = 0;
	unsigned char *bytes = text ? PQunescapeBytea((const unsigned char *)text, &len) : NULL;

	if (bytes)
		buf_append(out, bytes, len);
	PQfreemem(bytes);
}

int db_affected(const struct rows *rows)
{
	return (int)strtol(text_or_empty(PQcmdTuples(rows->result)), NULL, 10);
}

static int statement_failed(struct db *db, const PGresult *result, struct err *err)
{
	const char *state = text_or_empty(PQresultErrorField(result, PG_DIAG_SQLSTATE));
	const char *message = text_or_empty(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));

	db->try_again = text_equal(state, "40P01") || text_equal(state, "40001");
	if (PQstatus(db->conn) != CONNECTION_OK || text_starts(state, "57P") || text_starts(state, "08"))
		return connection_failed(db, err);
	if (text_equal(state, "23505")) {
		text_copy(db->constraint, sizeof(db->constraint), PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME));
		return err_set(err, ERR_CONFLICT, "it exists already");
	}
	if (db->try_again || text_starts(state, "53") || text_equal(state, "57014"))
		return err_set(err, ERR_UNAVAILABLE, "PostgreSQL: service unavailable: %s", message);
	return err_set(err, ERR_INTERNAL, "PostgreSQL: %s (%s)", message, state);
}

/* The statement's name, prepared on this connection; -1 with *err. */
static int statement_prepare(struct db *db, const char *sql, char ret_name[24], struct err *err)
{
	size_t slot = ((uintptr_t)sql >> 3) % MOST_STATEMENTS;
	PGresult *result;
	int failed = 0;

	for (size_t tries = 0; db->statements[slot] && db->statements[slot] != sql; tries++) {
		if (tries == MOST_STATEMENTS)
			return err_set(err, ERR_INTERNAL, "more statements than MOST_STATEMENTS");
		slot = (slot + 1) % MOST_STATEMENTS;
	}
	snprintf(ret_name, 24, "s%zu", slot);
	if (db->statements[slot])
		return 0;
	result = PQprepare(db->conn, ret_name, sql, 0, NULL);
	if (PQresultStatus(result) == PGRES_COMMAND_OK)
		db->statements[slot] = sql;
	else
		failed = statement_failed(db, result, err);
	PQclear(result);
	return failed;
}

enum { MOST_PARAMS = 48 };

static void param_pack(struct db_param *param, const char **ret_value, int *ret_length, int *ret_format)
{
	*ret_format = param->kind == DB_BYTES;
	*ret_length = (int)param->len;
	*ret_value = param->text;
	if (param->kind == DB_NULL)
		*ret_value = NULL;
	if (param->kind == DB_BOOL)
		*ret_value = param->number ? "t" : "f";
	if (param->kind == DB_INT) {
		snprintf(param->digits, sizeof(param->digits), "%lld", param->number);
		*ret_value = param->digits;
	}
}

int db_run(
	struct db *db, struct rows *ret_rows, struct err *err, const char *sql, struct db_param *params, size_t count)
{
	const char *values[MOST_PARAMS];
	int lengths[MOST_PARAMS], formats[MOST_PARAMS];
	int used = (int)count - 1; /* the first is the macro's place holder */
	char name[24];
	PGresult *result;
	ExecStatusType status;

	db->try_again = false;
	if (count > MOST_PARAMS)
		return err_set(err, ERR_INTERNAL, "more parameters than MOST_PARAMS");
	if (!db->in_transaction && db_connect(db, err) < 0)
		return -1;
	if (!db->conn)
		return err_set(err, ERR_UNAVAILABLE, "PostgreSQL: service unavailable: the connection was lost");
	if (statement_prepare(db, sql, name, err) < 0)
		return -1;
	for (int i = 0; i < used; i++)
		param_pack(&params[i + 1], &values[i], &lengths[i], &formats[i]);
	result = PQexecPrepared(db->conn, name, used, values, lengths, formats, 0);
	status = PQresultStatus(result);
	if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK) {
		statement_failed(db, result, err);
		PQclear(result);
		return -1;
	}
	if (ret_rows) {
		ret_rows->result = result;
		ret_rows->count = PQntuples(result);
	} else {
		PQclear(result);
	}
	return 0;
}

int db_script(struct db *db, const char *sql, struct err *err)
{
	PGresult *result;
	int failed = 0;

	if (!db->conn && db_connect(db, err) < 0)
		return -1;
	result = PQexec(db->conn, sql);
	if (PQresultStatus(result) != PGRES_COMMAND_OK && PQresultStatus(result) != PGRES_TUPLES_OK)
		failed = statement_failed(db, result, err);
	PQclear(result);
	return failed;
}

static int transaction_once(struct db *db, int (*fn)(void *data, struct err *err), void *data, struct err *err)
{
	struct err ignored = ERR_INIT;
	int result;

	if (db_connect(db, err) < 0 || db_script(db, "begin", err) < 0)
		return -1;
	db->in_transaction = true;
	result = fn(data, err);
	if (result == 0 && db->conn)
		result = db_script(db, "commit", err);
	else if (db->conn) {
		bool try_again = db->try_again;

		db_script(db, "rollback", &ignored);
		db->try_again = try_again;
	}
	db->in_transaction = false;
	return result;
}

int db_transaction(struct db *db, int (*fn)(void *data, struct err *err), void *data, struct err *err)
{
	int result = -1;

	if (db->in_transaction)
		return fn(data, err);
	for (int tries = 0; tries < MOST_TRIES; tries++) {
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

/* ---- arrays ---- */

static void array_item(struct db_array *array, const char *text)
{
	buf_text(&array->text, array->count++ ? "," : "{");
	buf_text(&array->text, text);
}

void db_array_add(struct db_array *array, const char *value)
{
	if (!value) {
		array_item(array, "NULL");
		return;
	}
	array_item(array, "\"");
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			buf_append(&array->text, "\\", 1);
		buf_append(&array->text, value, 1);
	}
	buf_append(&array->text, "\"", 1);
}

void db_array_add_int(struct db_array *array, long long value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%lld", value);
	array_item(array, digits);
}

void db_array_add_bool(struct db_array *array, bool value)
{
	array_item(array, value ? "t" : "f");
}

const char *db_array_text(struct db_array *array)
{
	/* Closed for reading, and open again for the next item. */
	if (!array->count)
		return "{}";
	buf_append(&array->text, "}", 1);
	array->text.len--;
	return array->text.data;
}

void db_array_release(struct db_array *array)
{
	buf_release(&array->text);
	array->count = 0;
}
