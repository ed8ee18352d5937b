/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_DB_H
#define SCHEDULER_STORE_DB_H

/*
 * One connection to PostgreSQL, for one thread. Statements are prepared once a connection (by the address of their
 * text, so pass literals), values are always parameters, results are read by column name.
 *
 *     _cleanup_(rows_release) struct rows rows = ROWS_INIT;
 *     if (db_query(db, &rows, err, "select name from workspaces where id = $1", P_TEXT(id)) < 0) ...
 *
 * A lost connection is ERR_UNAVAILABLE, and is opened again by the next statement outside a transaction. A server that
 * has not said a word for 35 s counts as lost.
 * A broken unique index is ERR_CONFLICT with the index's name in db->constraint.
 */

#include "common/buf.h"
#include "common/err.h"
#include "common/json.h"

struct db_param {
	enum { DB_NULL, DB_TEXT, DB_INT, DB_BOOL, DB_BYTES } kind;
	const char *text;
	long long number;
	size_t len;
	char digits[24];
};

#define P_TEXT(value)                                                                                                  \
	{                                                                                                              \
		.kind = DB_TEXT, .text = (value)                                                                       \
	} /* NULL is null */
#define P_INT(value)                                                                                                   \
	{                                                                                                              \
		.kind = DB_INT, .number = (value)                                                                      \
	}
#define P_BOOL(value)                                                                                                  \
	{                                                                                                              \
		.kind = DB_BOOL, .number = (value)                                                                     \
	}
#define P_BYTES(bytes, n)                                                                                              \
	{                                                                                                              \
		.kind = DB_BYTES, .text = (const char *)(bytes), .len = (n)                                            \
	}
#define P_ARRAY(array)                                                                                                 \
	{                                                                                                              \
		.kind = DB_TEXT, .text = db_array_text(array)                                                          \
	}

struct db;

/* Connects once. ERR_INVALID: the text is no connection string, or the server refuses its user, password or database.
 * ERR_UNAVAILABLE: the server can't be reached, or starts. No message has the password. */
int db_check(const char *url, struct err *err);
/* Connects with the first statement. */
struct db *db_open(const char *url);
/* The same for work that is done again if a crash of PostgreSQL forgets it: its commits do not wait for the disk. */
struct db *db_open_relaxed(const char *url);
/* The same for a connection that hears the channel's notices (NOTIFY) too, also after it was lost and opened again.
 * `channel` is an identifier, a literal; in pg_stat_activity it is the application's name. */
struct db *db_open_listening(const char *url, const char *channel);
/* The same for a connection to whichever server answers: see db_history_admit. */
struct db *db_open_unguarded(const char *url);
/* Only servers of that history (lifecycle/history.h) are let through from now on, in the whole process: a connection to
 * another one fails with ERR_UNAVAILABLE. Before the first call any server is. */
void db_history_admit(const char *history);
/* True if a connection was refused since. */
bool db_history_doubted(void);
/* The history of the server that it is connected to; "" before the first statement. */
const char *db_history(const struct db *db);
/* What poll is to wait on for a notice; -1 while there is no connection. */
int db_socket(const struct db *db);
/* The next notice that another connection has sent; false if there is none. Never blocks. */
bool db_notice(struct db *db, char *ret_notice, size_t size);
void db_close(struct db *db);
/* The name of the index that the last ERR_CONFLICT broke, or "". */
const char *db_constraint(const struct db *db);

struct rows {
	void *result;
	int count;
};
#define ROWS_INIT                                                                                                      \
	{                                                                                                              \
		.result = NULL, .count = 0                                                                             \
	}

void rows_release(struct rows *rows);
/* Whether the value is null. A column that is not there, or there twice, is a programming error and ends the process.
 */
bool row_null(const struct rows *rows, int row, const char *column);
/* The value as text, or NULL. Borrowed from rows. */
const char *row_text(const struct rows *rows, int row, const char *column);
long long row_int(const struct rows *rows, int row, const char *column);
bool row_bool(const struct rows *rows, int row, const char *column);
/* A jsonb column parsed; null gives JSON null. A new reference. */
json_t *row_json(const struct rows *rows, int row, const char *column);
/* A bytea column, decoded and appended. */
void row_bytes(const struct rows *rows, int row, const char *column, struct buf *out);

int db_run(
	struct db *db, struct rows *ret_rows, struct err *err, const char *sql, struct db_param *params, size_t count);
/* Runs one statement; ret_rows (empty before) may be NULL. */
#define db_query(db, ret_rows, err, sql, ...)                                                                          \
	db_run(db, ret_rows, err, sql, (struct db_param[]){{.kind = DB_NULL}, ##__VA_ARGS__},                          \
		sizeof((struct db_param[]){{.kind = DB_NULL}, ##__VA_ARGS__}) / sizeof(struct db_param))
int db_put(
	struct db *db, struct rows *ret_rows, struct err *err, const char *sql, struct db_param *params, size_t count);
/*
 * Within a transaction: sends one statement whose rows nobody reads, and does not wait for it. It goes with the next
 * db_query or the commit, and what is wrong with it is what is wrong with that: so not for what may break an index.
 */
#define db_queue(db, err, sql, ...)                                                                                    \
	db_put(db, NULL, err, sql, (struct db_param[]){{.kind = DB_NULL}, ##__VA_ARGS__},                              \
		sizeof((struct db_param[]){{.kind = DB_NULL}, ##__VA_ARGS__}) / sizeof(struct db_param))
/* The same for a statement whose rows are read later: ret_rows (empty before) is filled by the next db_query, or by the
 * commit, and has to live until then. */
#define db_ask(db, ret_rows, err, sql, ...)                                                                            \
	db_put(db, ret_rows, err, sql, (struct db_param[]){{.kind = DB_NULL}, ##__VA_ARGS__},                          \
		sizeof((struct db_param[]){{.kind = DB_NULL}, ##__VA_ARGS__}) / sizeof(struct db_param))
/*
 * Reads that do not wait for one another, also outside of transactions: what is asked (db_ask) from db_gather on is
 * there after db_gathered, and is one round trip. db_gathered is called whatever happened; unless `result` is 0 it
 * returns that, and nothing is filled.
 */
void db_gather(struct db *db);
int db_gathered(struct db *db, int result, struct err *err);
/*
 * Sends a statement ahead of the next db_query or db_gathered, in the same round trip if those only read (they begin
 * with `select`, or with `with` in a parenthesis): `judge` says of its rows whether theirs, and all that follow, are of
 * use. False if it can't be sent now. Outside of transactions. Each needs its db_ahead_holds before anybody is told of
 * what was read: whether the judge agreed. Until then `data` stays.
 */
bool db_put_ahead(struct db *db, bool (*judge)(void *data, const struct rows *rows), void *data, const char *sql,
	struct db_param *params, size_t count);
#define db_ahead(db, judge, data, sql, ...)                                                                            \
	db_put_ahead(db, judge, data, sql, (struct db_param[]){{.kind = DB_NULL}, ##__VA_ARGS__},                      \
		sizeof((struct db_param[]){{.kind = DB_NULL}, ##__VA_ARGS__}) / sizeof(struct db_param))
bool db_ahead_holds(struct db *db);
/* How many connections it has had: on another one, another server may answer. */
unsigned long long db_connections(const struct db *db);
/* How many rows the statement changed. */
int db_affected(const struct rows *rows);

/* Several statements in one text, without parameters: migrations. */
int db_script(struct db *db, const char *sql, struct err *err);

/* Runs fn in one transaction: commits if it returns 0, else rolls back. A deadlock or a serialization failure runs it
 * again (so fn must set its outputs anew). Nested calls join the outer transaction. */
int db_transaction(struct db *db, int (*fn)(void *data, struct err *err), void *data, struct err *err);

/* A transaction that does not stand within one function; a failure does not run anything again. db_end commits if
 * `result` is 0, and returns -1 if it did not. */
int db_begin(struct db *db, struct err *err);
int db_end(struct db *db, int result, struct err *err);

/* True within db_transaction's fn, and between db_begin and db_end. */
bool db_in_transaction(const struct db *db);

/* Has fn run as the last part of each outermost transaction that is about to commit, until it is NULL. */
void db_before_commit(struct db *db, int (*fn)(void *data, struct err *err), void *data);
/* Runs fn once when the outermost transaction has ended, with whether it committed; at once outside of any. It must not
 * use the connection. */
void db_after_commit(struct db *db, void (*fn)(void *data, bool committed), void *data);

/* An array parameter for `= any($1::text[])` and unnest: {"a","b",NULL}. */
struct db_array {
	struct buf text;
	size_t count;
};
#define DB_ARRAY_INIT                                                                                                  \
	{                                                                                                              \
		.text = BUF_INIT((size_t)1 << 30), .count = 0                                                          \
	}
void db_array_add(struct db_array *array, const char *value); /* NULL is null */
void db_array_add_int(struct db_array *array, long long value);
void db_array_add_bool(struct db_array *array, bool value);
void db_array_add_texts(struct db_array *array, const json_t *texts); /* of a JSON array */
const char *db_array_text(struct db_array *array);
void db_array_release(struct db_array *array);

/* The same of bytes, for `unnest($1::bytea[])`: in PostgreSQL's binary form, so that nothing is written out as hex. */
struct db_bytes {
	struct buf data;
	uint32_t count;
};
#define DB_BYTES_INIT                                                                                                  \
	{                                                                                                              \
		.data = BUF_INIT((size_t)1 << 30), .count = 0                                                          \
	}
#define P_BYTES_ARRAY(array) P_BYTES(db_bytes_data(array), (array)->data.len)
/* -1 if the array would be larger than PostgreSQL takes. */
int db_bytes_add(struct db_bytes *array, const void *bytes, size_t len);
const char *db_bytes_data(struct db_bytes *array); /* of an array that is not empty */
void db_bytes_release(struct db_bytes *array);

#endif
