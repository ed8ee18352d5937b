/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DB_DB_H
#define SCHEDULER_DB_DB_H

/*
 * One connection to PostgreSQL, for one thread. Statements stand in files *.sql beside the C files that run them, and
 * are prepared once per connection (README.md). Values are always parameters.
 *
 *     _cleanup_(rows_release) struct rows rows = ROWS_INIT;
 *     if (db_query(db, &rows, err, team_read, .id = id, .user = user) < 0) ...
 *     for (int i = 0; i < rows.count; i++)
 *             show(row_of(team, &rows, i)->name);
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

enum db_kind {
	DB_TEXT, /* const char *; NULL is null */
	DB_INT,  /* long long */
	DB_BOOL,
	DB_FLOAT,       /* double */
	DB_BYTES,       /* a parameter: struct db_blob; a column: struct db_hex */
	DB_ARRAY,       /* struct db_array *; NULL is null */
	DB_BYTES_ARRAY, /* struct db_bytes * */
	DB_INT_OR_NULL, /* a parameter: const long long *; NULL is null */
};

/* A parameter or a column of a statement, as a member of a struct that is made of its file (README.md). Small, since
 * there are thousands. */
struct db_field {
	unsigned short at;      /* where it is in the struct */
	unsigned short null_at; /* where the bool is that says whether a column is null; 0: there is none */
	unsigned char kind;     /* enum db_kind */
	bool optional;          /* a column that some statements with this shape do not return: it is null then */
};

/* The columns that a statement returns: the struct `<name>_row`. */
struct db_shape {
	const char *name, *names; /* `names`: those of the columns, one after the other, each with its 0 */
	size_t size;              /* of the struct */
	const struct db_field *columns;
	size_t count;
};
/* The column with that name; NULL: there is none. */
const struct db_field *shape_column(const struct db_shape *shape, const char *name);

struct db_statement {
	const char *name; /* also of the prepared statement, which PostgreSQL's log shows */
	const char *sql;
	const struct db_field *takes; /* the struct `<name>_params` */
	size_t takes_count;
	const struct db_shape *gives; /* NULL: nothing */
};

/* Bytes as a parameter. NULL is null. */
struct db_blob {
	const void *data;
	size_t len;
};
static inline struct db_blob db_blob(const void *data, size_t len)
{
	return (struct db_blob){data, len};
}

/* Bytes as a column, in PostgreSQL's text form, borrowed from the rows. */
struct db_hex {
	const char *text; /* NULL is null */
	size_t len;
};

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

/* The rows of a statement. */
struct rows {
	void *result;
	int count;
	const struct db_shape *shape; /* NULL: without columns */
	void *cells;                  /* `count` structs of the shape */
};
#define ROWS_INIT                                                                                                      \
	{                                                                                                              \
		.result = NULL, .count = 0                                                                             \
	}

void rows_release(struct rows *rows);
/* The row as the shape's struct, borrowed from the rows: row_of(team, &rows, 0)->name. Texts of null columns are NULL,
 * other values are 0. The first of no rows is one of nulls. Another shape than the statement's, and another row that is
 * not there, are programming errors and abort the process. */
#define row_of(name, rows, row) ((const struct name##_row *)row_at(rows, row, &name##_shape))
const void *row_at(const struct rows *rows, int row, const struct db_shape *shape);
/* The row as it is, for code that knows no shape. */
const void *row_cells(const struct rows *rows, int row);
/* Parses a jsonb column; NULL gives JSON null. A new reference. */
json_t *json_shown(const char *text);
/* Decodes bytes and appends them. Null adds nothing. */
void hex_decode(struct db_hex hex, struct buf *out);

/* The parameters of a statement as a struct. Without all of them it does not compile. */
#define DB_PARAMS(name, ...)                                                                                           \
	(&(struct name##_params){.none = sizeof(struct {                                                               \
					 _Static_assert(DB_COUNT(name, ##__VA_ARGS__) == name##_takes,                 \
						 "a parameter is missing or too many");                                \
					 char none;                                                                    \
				 }) == 0,                                                                              \
		__VA_ARGS__})
#define DB_COUNT(name, ...)                                                                                            \
	DB_COUNT_OF(name, ##__VA_ARGS__, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31,   \
		30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4,  \
		3, 2, 1, 0)
#define DB_COUNT_OF(name, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20,   \
	a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, a35, a36, a37, a38, a39, a40, a41, a42,  \
	a43, a44, a45, a46, a47, a48, a49, count, ...)                                                                 \
	count

int db_run(struct db *db, struct rows *ret_rows, struct err *err, const struct db_statement *statement,
	const void *params);
int db_put(struct db *db, struct rows *ret_rows, struct err *err, const struct db_statement *statement,
	const void *params);
/* Runs the statement with that name: db_query(db, &rows, err, team_read, .id = id). ret_rows may be NULL; otherwise it
 * must be empty. */
#define db_query(db, ret_rows, err, name, ...)                                                                         \
	db_run(db, ret_rows, err, &name##_statement, DB_PARAMS(name, ##__VA_ARGS__))
/*
 * Within a transaction: queues one statement whose result is not needed, and does not wait for it. The next db_query or
 * the commit sends it, and reports its error as its own. So do not use it for a statement that may violate a unique
 * index. Outside of a transaction and of db_gather it runs at once.
 */
#define db_queue(db, err, name, ...) db_put(db, NULL, err, &name##_statement, DB_PARAMS(name, ##__VA_ARGS__))
/* The same for a statement whose rows are read later. The next db_query or the commit fills ret_rows, which must be
 * empty and must live until then. */
#define db_ask(db, ret_rows, err, name, ...)                                                                           \
	db_put(db, ret_rows, err, &name##_statement, DB_PARAMS(name, ##__VA_ARGS__))
/* The same for one of several statements that take what `name` takes (`takes: like name`). */
#define db_query_one_of(db, ret_rows, err, statement, name, ...)                                                       \
	db_run(db, ret_rows, err, db_like(statement, &name##_statement), DB_PARAMS(name, ##__VA_ARGS__))
#define db_queue_one_of(db, err, statement, name, ...)                                                                 \
	db_put(db, NULL, err, db_like(statement, &name##_statement), DB_PARAMS(name, ##__VA_ARGS__))
#define db_ask_one_of(db, ret_rows, err, statement, name, ...)                                                         \
	db_put(db, ret_rows, err, db_like(statement, &name##_statement), DB_PARAMS(name, ##__VA_ARGS__))
/* `statement`, which must take the same parameters: anything else aborts the process. */
const struct db_statement *db_like(const struct db_statement *statement, const struct db_statement *like);

/*
 * Sends several reads in one round trip, also outside of transactions. The results of every db_ask since db_gather are
 * available after db_gathered. Always call db_gathered. If `result` is not 0, it returns `result` and fills nothing.
 */
void db_gather(struct db *db);
int db_gathered(struct db *db, int result, struct err *err);
/* Outside of transactions: sends what was put since db_gather, which PostgreSQL runs and commits while the caller does
 * something else. The next call must be db_gathered. */
int db_send(struct db *db, struct err *err);
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
/* NULL for an empty array, and for NULL: a filter that is not set. */
struct db_array *db_array_or_null(struct db_array *array);
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
/* -1 if the array would exceed PostgreSQL's limit. */
int db_bytes_add(struct db_bytes *array, const void *bytes, size_t len);
const char *db_bytes_data(struct db_bytes *array); /* the array must not be empty */
void db_bytes_release(struct db_bytes *array);

#endif
