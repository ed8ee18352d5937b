/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DB_DB_H
#define SCHEDULER_DB_DB_H

/*
 * One connection to PostgreSQL, for one thread. Statements are prepared once per connection, by the address of their
 * text, so pass literals. Values are always parameters. Results are read by column name.
 *
 *     _cleanup_(rows_release) struct rows rows = ROWS_INIT;
 *     if (db_query(db, &rows, err, "select name from workspaces where id = $1", P_TEXT(id)) < 0) ...
 *
 * Plans are generic and cached (plan_cache_mode). A plan may be of a time when a table was empty, so:
 *  - A statement that changes rows of a queue by their ids names the ids as an array, `id = any(array(select ...))`.
 *    That is a lookup by the primary key, whatever the plan assumes; a join may become a scan of the queue per id.
 *  - After an answer that took 0.1 s or longer, the connection has all of its statements planned again, at most every
 *    10 s.
 *
 * A lost connection is ERR_UNAVAILABLE. The next statement outside of a transaction opens it again. A server that sends
 * nothing for 35 s counts as lost. A violated unique index is ERR_CONFLICT, with the index's name in db->constraint.
 */

#include "common/buf.h"
#include "common/err.h"
#include "common/json/json.h"

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

/* Connects once. ERR_INVALID: the text is no connection string, or the server rejects its user, password or database.
 * ERR_UNAVAILABLE: the server can't be reached, or is starting. No message contains the password. */
int db_check(const char *url, struct err *err);
/* Sets the function that reads the connection string again after a connection has failed, since its password may have
 * been changed. It is called from any thread, and its caller frees the text; NULL: the string can't be read. */
void db_url_source(char *(*read)(void *data), void *data);
/* Returns a connection that is opened by the first statement. */
struct db *db_open(const char *url);
/* The same for work that is repeated if a crash of PostgreSQL loses it: its commits do not wait for the disk
 * (synchronous_commit is off). */
struct db *db_open_relaxed(const char *url);
/* The same for a connection that also listens to the channel (NOTIFY), again after a reconnect. `channel` is an
 * identifier, and a literal. It is also the application_name in pg_stat_activity. */
struct db *db_open_listening(const char *url, const char *channel);
/* The same for a connection to a server of any history: see db_history_admit. */
struct db *db_open_unguarded(const char *url);
/* From now on this process connects only to servers of that history (lifecycle/history.h). A connection to another one
 * fails with ERR_UNAVAILABLE. Before the first call every server is accepted. */
void db_history_admit(const char *history);
/* True if a connection was rejected since the last db_history_admit. */
bool db_history_doubted(void);
/* The history of the connected server; "" before the first statement. */
const char *db_history(const struct db *db);
/* The socket to poll for notifications; -1 while there is no connection. */
int db_socket(const struct db *db);
/* The next notification that another connection sent; false if there is none. Never blocks. */
bool db_notice(struct db *db, char *ret_notice, size_t size);
void db_close(struct db *db);
/* The name of the index that the last ERR_CONFLICT violated, or "". */
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
/* Whether the value is null. A missing or a duplicate column is a programming error and aborts the process. */
bool row_null(const struct rows *rows, int row, const char *column);
/* The value as text, or NULL. Borrowed from rows. */
const char *row_text(const struct rows *rows, int row, const char *column);
long long row_int(const struct rows *rows, int row, const char *column);
bool row_bool(const struct rows *rows, int row, const char *column);
/* Parses a jsonb column; null gives JSON null. A new reference. */
json_t *row_json(const struct rows *rows, int row, const char *column);
/* Decodes a bytea column and appends it. */
void row_bytes(const struct rows *rows, int row, const char *column, struct buf *out);

int db_run(
	struct db *db, struct rows *ret_rows, struct err *err, const char *sql, struct db_param *params, size_t count);
/* Runs one statement. ret_rows may be NULL; otherwise it must be empty. */
#define db_query(db, ret_rows, err, sql, ...)                                                                          \
	db_run(db, ret_rows, err, sql, (struct db_param[]){{.kind = DB_NULL}, ##__VA_ARGS__},                          \
		sizeof((struct db_param[]){{.kind = DB_NULL}, ##__VA_ARGS__}) / sizeof(struct db_param))
int db_put(
	struct db *db, struct rows *ret_rows, struct err *err, const char *sql, struct db_param *params, size_t count);
/*
 * Within a transaction: queues one statement whose result is not needed, and does not wait for it. The next db_query or
 * the commit sends it, and reports its error as its own. So do not use it for a statement that may violate a unique
 * index. Outside of a transaction and of db_gather it runs at once.
 */
#define db_queue(db, err, sql, ...)                                                                                    \
	db_put(db, NULL, err, sql, (struct db_param[]){{.kind = DB_NULL}, ##__VA_ARGS__},                              \
		sizeof((struct db_param[]){{.kind = DB_NULL}, ##__VA_ARGS__}) / sizeof(struct db_param))
/* The same for a statement whose rows are read later. The next db_query or the commit fills ret_rows, which must be
 * empty and must live until then. */
#define db_ask(db, ret_rows, err, sql, ...)                                                                            \
	db_put(db, ret_rows, err, sql, (struct db_param[]){{.kind = DB_NULL}, ##__VA_ARGS__},                          \
		sizeof((struct db_param[]){{.kind = DB_NULL}, ##__VA_ARGS__}) / sizeof(struct db_param))
/*
 * Sends several reads in one round trip, also outside of transactions. The results of every db_ask since db_gather are
 * available after db_gathered. Always call db_gathered. If `result` is not 0, it returns `result` and fills nothing.
 */
void db_gather(struct db *db);
int db_gathered(struct db *db, int result, struct err *err);
/* True if the last failure was that a migration has changed what a prepared statement returns. Outside of transactions
 * and pipelines, db_query repeats such a statement by itself. */
bool db_outdated(const struct db *db);
/* The number of rows that the statement changed. */
int db_affected(const struct rows *rows);

/* Runs several statements in one text, without parameters: migrations. */
int db_script(struct db *db, const char *sql, struct err *err);

/* Runs fn in one transaction: commits if it returns 0, else rolls back. After a deadlock or a serialization failure fn
 * runs again, so it must set its outputs anew. Nested calls join the outer transaction. */
int db_transaction(struct db *db, int (*fn)(void *data, struct err *err), void *data, struct err *err);

/* Begins a transaction that spans several functions. Nothing is retried after a failure. db_end commits if `result` is
 * 0, and returns -1 if it did not commit. */
int db_begin(struct db *db, struct err *err);
int db_end(struct db *db, int result, struct err *err);

/* True within db_transaction's fn, and between db_begin and db_end. */
bool db_in_transaction(const struct db *db);

/* Sets a function that runs last in each outermost transaction that is about to commit; NULL unsets it. */
void db_before_commit(struct db *db, int (*fn)(void *data, struct err *err), void *data);
/* Runs fn once after the outermost transaction has ended, and passes whether it committed. Outside of a transaction fn
 * runs at once. It must not use the connection. */
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
void db_array_add_texts(struct db_array *array, const json_t *texts); /* the items of a JSON array */
const char *db_array_text(struct db_array *array);
void db_array_release(struct db_array *array);

/* An array of bytes for `unnest($1::bytea[])`. It is sent in PostgreSQL's binary format, which avoids encoding it as
 * hex. */
struct db_bytes {
	struct buf data;
	uint32_t count;
};
#define DB_BYTES_INIT                                                                                                  \
	{                                                                                                              \
		.data = BUF_INIT((size_t)1 << 30), .count = 0                                                          \
	}
#define P_BYTES_ARRAY(array) P_BYTES(db_bytes_data(array), (array)->data.len)
/* -1 if the array would exceed PostgreSQL's limit. */
int db_bytes_add(struct db_bytes *array, const void *bytes, size_t len);
const char *db_bytes_data(struct db_bytes *array); /* the array must not be empty */
void db_bytes_release(struct db_bytes *array);

#endif
