/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/db/db.h"

#include <endian.h>
#include <errno.h>
#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop/progress.h"
#include "scheduler/lifecycle/history.h"
#include "scheduler/metrics.h"

enum { MAX_STATEMENTS = 2048, MAX_TRIES = 6, MAX_QUEUED = 64, MAX_SENT = 2 * MAX_QUEUED };
/* Statements time out after 30 s (db_connect), so a server that is silent for longer is considered lost. */
enum { SILENT_MS = 35000, CHECK_MS = 10000, HISTORY_MS = 5000, FOR_EVER = -1 };
enum { SLOW_MS = 100, REPLAN_MS = 10000 }; /* plans_refresh */
enum { LARGE = 4 << 20 };                  /* bytes of a statement's parameter or result */

struct db {
	char *url;
	PGconn *conn;
	const struct db_statement *statements[MAX_STATEMENTS]; /* prepared on this connection, by their address */
	bool relaxed;
	bool unguarded;
	char history[HISTORY_SIZE]; /* of the connected server */
	const char *channel;        /* the channel it listens to, or NULL */
	bool in_transaction, gathering;
	int queued; /* statements sent whose results are not read yet; if not 0, the connection is in pipeline mode */
	struct rows *asked[MAX_SENT]; /* where each of their results goes, or NULL */
	bool preparing;               /* some of them prepare statements */
	const char *given_up;         /* why the connection was given up, or NULL */
	bool outdated;                /* a prepared statement is no longer valid: the connection is to be replaced */
	bool try_again;               /* the last failure was a deadlock, a serialization failure, or `outdated` */
	bool slow;                    /* an answer took SLOW_MS since the last plans_refresh */
	int64_t replanned_ms;         /* when plans_refresh last discarded the plans */
	bool large;                   /* libpq's buffers have grown for a statement of at least LARGE */
	char constraint[64];
	int (*before_commit)(void *data, struct err *err);
	void *before_data;
	struct after *after; /* callbacks for the end of the transaction, in order */
	size_t after_count;
};

struct after {
	void (*fn)(void *data, bool committed);
	void *data;
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

struct db *db_open_listening(const char *url, const char *channel)
{
	struct db *db = db_open_relaxed(url);

	db->channel = channel;
	return db;
}

struct db *db_open_unguarded(const char *url)
{
	struct db *db = db_open(url);

	db->unguarded = true;
	return db;
}

/* ---- the history of the server ---- */

static struct {
	pthread_mutex_t mutex;
	char admitted[HISTORY_SIZE];
	bool doubted;
} histories = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void db_history_admit(const char *history)
{
	pthread_mutex_lock(&histories.mutex);
	text_copy(histories.admitted, sizeof(histories.admitted), history);
	histories.doubted = false;
	pthread_mutex_unlock(&histories.mutex);
}

bool db_history_doubted(void)
{
	bool doubted;

	pthread_mutex_lock(&histories.mutex);
	doubted = histories.doubted;
	pthread_mutex_unlock(&histories.mutex);
	return doubted;
}

const char *db_history(const struct db *db)
{
	return db->history;
}

static bool history_admitted(const struct db *db)
{
	bool admitted;

	if (db->unguarded)
		return true;
	pthread_mutex_lock(&histories.mutex);
	admitted = !*histories.admitted || text_equal(histories.admitted, db->history);
	histories.doubted |= !admitted;
	pthread_mutex_unlock(&histories.mutex);
	return admitted;
}

int db_socket(const struct db *db)
{
	return db->conn && PQstatus(db->conn) == CONNECTION_OK ? PQsocket(db->conn) : -1;
}

bool db_notice(struct db *db, char *ret_notice, size_t size)
{
	PGnotify *notice;
	bool own;

	if (!db->conn)
		return false;
	PQconsumeInput(db->conn);
	do {
		notice = PQnotifies(db->conn);
		own = notice && notice->be_pid == PQbackendPID(db->conn);
		if (notice && !own)
			text_copy(ret_notice, size, notice->extra);
		PQfreemem(notice);
	} while (own);
	return notice != NULL;
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

/* Whether the last attempt of any thread reached the server: shown as runyard_database_up. */
static void note_up(bool up)
{
	static atomic_int shown = -1;

	if (atomic_load_explicit(&shown, memory_order_relaxed) == up)
		return;
	atomic_store(&shown, up);
	metric_set(M_DATABASE_UP, "", up);
}

/* Reports libpq's reason, one line only. Closes the connection. The URL, which may contain the password, is not in
 * it. */
static int connection_failed(struct db *db, struct err *err)
{
	const char *said = db->conn ? PQerrorMessage(db->conn) : "no memory";
	_cleanup_(freep) char *reason = mem_text(db->given_up ? db->given_up : said);

	note_up(false);
	reason[strcspn(reason, "\n")] = '\0';
	PQfinish(db->conn);
	db->conn = NULL;
	db->given_up = NULL;
	db->queued = 0;
	return err_set(err, ERR_UNAVAILABLE, "PostgreSQL: service unavailable: %s", reason);
}

/* A connection that the server closed while it was idle is readable: the reason, then end of file. */
static bool connection_alive(struct db *db)
{
	struct pollfd fd = {.fd = PQsocket(db->conn), .events = POLLIN};

	while (PQstatus(db->conn) == CONNECTION_OK && poll(&fd, 1, 0) > 0)
		if (!PQconsumeInput(db->conn))
			return false;
	return PQstatus(db->conn) == CONNECTION_OK;
}

static int script(struct db *db, const char *sql, int max_ms, struct err *err);
static void note_trip(int statements);
static PGresult *result_last(struct db *db, bool sent, int max_ms);
static bool result_good(const PGresult *result);

/* The statement fails on a standby, which has no history of its own. */
static int history_read(struct db *db, struct err *err)
{
	PGresult *result;

	note_trip(1);
	result = result_last(db,
		PQsendQuery(db->conn,
			"select system_identifier || '/' || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) "
			"from pg_control_system()"),
		HISTORY_MS);
	if (!result_good(result)) {
		PQclear(result);
		return connection_failed(db, err);
	}
	text_copy(db->history, sizeof(db->history), PQgetvalue(result, 0, 0));
	PQclear(result);
	if (history_admitted(db))
		return 0;
	db->given_up = "it failed over or was restored, and lost commits are looked for";
	return connection_failed(db, err);
}

static int channel_listen(struct db *db, struct err *err)
{
	_cleanup_(freep) char *sql = mem_printf("set application_name = '%s'; listen %s", db->channel, db->channel);

	return script(db, sql, SILENT_MS, err);
}

/* An unreachable host sends nothing: the connection ends after 35 s without an answer. Values in the URL take
 * precedence. */
static PGconn *connection_open(const char *url)
{
	static const char *const names[] = {"connect_timeout", "keepalives_idle", "keepalives_interval",
		"keepalives_count", "tcp_user_timeout", "dbname", NULL};
	const char *const values[] = {"10", "15", "5", "4", "35000", url, NULL};

	PGconn *conn;

	progress_wait();
	conn = PQconnectdbParams(names, values, 1);
	progress_go_on();
	return conn;
}

/* ---- a changed password ---- */

static struct {
	pthread_mutex_t mutex;
	char *(*read)(void *data);
	void *data;
} url_source = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void db_url_source(char *(*read)(void *data), void *data)
{
	pthread_mutex_lock(&url_source.mutex);
	url_source.read = read;
	url_source.data = data;
	pthread_mutex_unlock(&url_source.mutex);
}

/* Reads the connection string again. Returns true if it differs from the one that failed. */
static bool url_reread(struct db *db)
{
	char *url = NULL;

	pthread_mutex_lock(&url_source.mutex);
	if (url_source.read)
		url = url_source.read(url_source.data);
	pthread_mutex_unlock(&url_source.mutex);
	if (!url || text_equal(url, db->url)) {
		free(url);
		return false;
	}
	free(db->url);
	db->url = url;
	log_info("the connection string of PostgreSQL was read again", NULL);
	return true;
}

/* ---- a check of the connection string ---- */

/* Like connection_open, but messages contain the error codes. */
static PGconn *connection_try(const char *url)
{
	static const char *const names[] = {"dbname", NULL};
	const char *const values[] = {url, NULL};
	PGconn *conn = PQconnectStartParams(names, values, 1);
	PostgresPollingStatusType status = PGRES_POLLING_WRITING;
	int64_t give_up = clock_mono_ms() + CHECK_MS;

	if (!conn || PQstatus(conn) == CONNECTION_BAD)
		return conn;
	PQsetErrorVerbosity(conn, PQERRORS_VERBOSE);
	while (status != PGRES_POLLING_OK && status != PGRES_POLLING_FAILED) {
		struct pollfd fd = {.fd = PQsocket(conn), .events = status == PGRES_POLLING_READING ? POLLIN : POLLOUT};
		int64_t left = give_up - clock_mono_ms();

		if (left <= 0 || poll(&fd, 1, (int)left) == 0)
			break;
		status = PQconnectPoll(conn);
	}
	return conn;
}

/* Errors that persist until the connection string or the server is changed: invalid_password,
 * invalid_authorization_specification, invalid_catalog_name, and the errors that libpq detects itself. */
static bool is_refused(const char *message)
{
	static const char *const marks[] = {" 28P01: ", " 28000: ", " 3D000: ", "no password supplied"};

	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (strstr(message, marks[i]))
			return true;
	return text_starts(message, "invalid ");
}

/* An unescaped password with @, / or : is parsed as host and port. Error messages name these, and would reveal the
 * password. */
static bool is_place(const PQconninfoOption *option)
{
	const char *value = text_or_empty(option->val);

	if (text_equal(option->keyword, "host"))
		return !strchr(value, '@');
	return !text_equal(option->keyword, "port") || value[strspn(value, "0123456789,")] == '\0';
}

static int url_check(const char *url, struct err *err)
{
	PQconninfoOption *options = *url ? PQconninfoParse(url, NULL) : NULL;
	bool placed = true;

	for (const PQconninfoOption *option = options; option && option->keyword; option++)
		placed = placed && is_place(option);
	PQconninfoFree(options);
	if (!options)
		return err_set(err, ERR_INVALID,
			"--database-url is no connection string of PostgreSQL: "
			"postgresql://user:password@host:5432/database "
			"is needed");
	if (!placed)
		return err_set(err, ERR_INVALID,
			"--database-url has no valid host or port: in a password @ is written %%40, / is %%2F and : is "
			"%%3A");
	return 0;
}

int db_check(const char *url, struct err *err)
{
	_cleanup_(freep) char *said = NULL;
	PGconn *conn;
	bool connected;

	if (url_check(url, err) < 0)
		return -1;
	conn = connection_try(url);
	connected = conn && PQstatus(conn) == CONNECTION_OK;
	said = mem_text(conn ? PQerrorMessage(conn) : "no memory");
	PQfinish(conn);
	if (connected)
		return 0;
	said[strcspn(said, "\n")] = '\0';
	if (is_refused(said))
		return err_set(err, ERR_INVALID, "PostgreSQL does not take --database-url: %s", said);
	return err_set(
		err, ERR_UNAVAILABLE, "PostgreSQL: service unavailable: %s", *said ? said : "it does not answer");
}

/* ---- a connection ---- */

/* libpq's buffers keep the size of the largest statement and result (twice the size of content, in hex) until the
 * connection is closed. Opening a new connection takes a few milliseconds, little compared to a transfer of that
 * size. */
static void connection_shrink(struct db *db)
{
	if (!db->large || db->in_transaction || db->gathering || db->queued || db->channel)
		return;
	PQfinish(db->conn);
	db->conn = NULL;
	db->large = false;
}

/* A cached plan may be of a time when a table was nearly empty, and read all of it since then. Such a plan makes an
 * answer slow once: then all plans are discarded, at most every REPLAN_MS. PostgreSQL plans by the present sizes of the
 * tables' files, whether or not it has analyzed the tables since. */
static void plans_refresh(struct db *db)
{
	struct err ignored = ERR_INIT;
	int64_t now = clock_mono_ms();

	if (!db->slow || now < db->replanned_ms + REPLAN_MS)
		return;
	db->slow = false;
	db->replanned_ms = now;
	script(db, "discard plans", SILENT_MS, &ignored);
}

static int db_connect(struct db *db, struct err *err)
{
	if (db->conn && !db->outdated && connection_alive(db)) {
		plans_refresh(db);
		if (db->conn)
			return 0;
	}
	PQfinish(db->conn);
	memset(db->statements, 0, sizeof(db->statements));
	db->preparing = db->outdated = false;
	db->given_up = NULL;
	db->conn = connection_open(db->url);
	if (PQstatus(db->conn) != CONNECTION_OK && url_reread(db)) {
		PQfinish(db->conn);
		db->conn = connection_open(db->url);
	}
	if (PQstatus(db->conn) != CONNECTION_OK)
		return connection_failed(db, err);
	PQsetNoticeReceiver(db->conn, notice_ignore, NULL);
	/* A statement that hangs would block its thread forever, and a session that is idle in a transaction holds
	 * locks; hence the timeouts. With default settings the planner reads a whole table or index where a few rows
	 * are needed: it estimates a hundred rows for jsonb_to_recordset. With 1,300 jobs, a heartbeat then takes 0.20
	 * ms instead of 0.07, and the deletion of 500 unreferenced blobs seconds instead of 0.3 s; most statements are
	 * as fast. Statements here read a few rows by an index, for which parallel workers cost more than they save. */
	if (script(db,
		    "set timezone = 'UTC'; set datestyle = 'ISO'; set statement_timeout = '30s'; "
		    "set idle_in_transaction_session_timeout = '30s'; set plan_cache_mode = 'force_generic_plan'; "
		    "set jit = off; set random_page_cost = 1.1; set enable_mergejoin = off; set enable_hashjoin = off; "
		    "set enable_seqscan = off; set max_parallel_workers_per_gather = 0",
		    SILENT_MS, err) < 0)
		return -1;
	if (history_read(db, err) < 0)
		return -1;
	if (db->relaxed && script(db, "set synchronous_commit = off", SILENT_MS, err) < 0)
		return -1;
	return db->channel ? channel_listen(db, err) : 0;
}

void rows_release(struct rows *rows)
{
	PQclear(rows->result);
	free(rows->cells);
	*rows = (struct rows)ROWS_INIT;
}

/* ---- rows ---- */

/* The number of the column in the result; -1: there is none. It is mostly the shape's own number. */
static int column_number(const PGresult *result, const struct db_shape *shape, size_t i)
{
	const char *name = shape->columns[i].name;
	int count = PQnfields(result);

	if ((int)i < count && text_equal(PQfname(result, (int)i), name))
		return (int)i;
	for (int number = 0; number < count; number++)
		if (text_equal(PQfname(result, number), name))
			return number;
	if (shape->columns[i].optional)
		return -1;
	log_error("a statement lacks a column of its shape", "shape", shape->name, "column", name, NULL);
	abort();
}

static void cell_read(const PGresult *result, int row, int number, const struct db_field *column, char *cells)
{
	void *cell = cells + column->at;
	const char *text = PQgetvalue(result, row, number);

	if (PQgetisnull(result, row, number)) {
		if (column->null_at)
			*(bool *)(cells + column->null_at) = true;
		return;
	}
	switch (column->kind) {
	case DB_INT:
		*(long long *)cell = strtoll(text, NULL, 10);
		break;
	case DB_BOOL:
		*(bool *)cell = *text == 't';
		break;
	case DB_FLOAT:
		*(double *)cell = strtod(text, NULL);
		break;
	case DB_BYTES:
		*(struct db_hex *)cell = (struct db_hex){text, (size_t)PQgetlength(result, row, number)};
		break;
	default:
		*(const char **)cell = text;
	}
}

static void column_read(struct rows *rows, size_t i)
{
	int number = column_number(rows->result, rows->shape, i);
	const struct db_field *column = &rows->shape->columns[i];

	for (int row = 0; row < rows->count; row++) {
		char *cells = (char *)rows->cells + (size_t)row * rows->shape->size;

		if (number >= 0)
			cell_read(rows->result, row, number, column, cells);
		else if (column->null_at)
			*(bool *)(cells + column->null_at) = true;
	}
}

/* Takes the result. The rows know their shape already. */
static void rows_fill(struct rows *rows, PGresult *result)
{
	rows->result = result;
	rows->count = PQntuples(result);
	if (!rows->shape || !rows->count)
		return;
	rows->cells = mem_new((size_t)rows->count, rows->shape->size);
	for (size_t i = 0; i < rows->shape->count; i++)
		column_read(rows, i);
}

const void *row_cells(const struct rows *rows, int row)
{
	return row_at(rows, row, rows->shape);
}

const void *row_at(const struct rows *rows, int row, const struct db_shape *shape)
{
	if (rows->shape == shape && row >= 0 && row < rows->count)
		return (const char *)rows->cells + (size_t)row * shape->size;
	log_error("no such row of that shape", "shape", shape->name, NULL);
	abort();
}

/* The column's number. PQfnumber would copy the name and fold its case. */
static int column_find(const struct rows *rows, const char *column)
{
	int count = PQnfields(rows->result), found = -1;

	for (int number = 0; number < count; number++) {
		if (strcmp(PQfname(rows->result, number), column) != 0)
			continue;
		if (found >= 0) {
			log_error("a statement has two such columns", "column", column, NULL);
			abort();
		}
		found = number;
	}
	if (found >= 0)
		return found;
	log_error("a statement has no such column", "column", column, NULL);
	abort();
}

/* Caches the last position of each name: it is the same in the next row, and in the next result of the statement. */
static int column_of(const struct rows *rows, const char *column)
{
	static _Thread_local int found[1024];
	int count = PQnfields(rows->result);
	int *at = &found[((uintptr_t)column ^ (uintptr_t)count * 61) % ARRAY_LEN(found)];

	if (*at >= count || strcmp(PQfname(rows->result, *at), column) != 0)
		*at = column_find(rows, column);
	return *at;
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

json_t *json_shown(const char *text)
{
	return text ? json_of(text) : json_null();
}

json_t *row_json(const struct rows *rows, int row, const char *column)
{
	const char *text = row_text(rows, row, column);

	return text ? json_of(text) : json_null();
}

/* The value of a hex digit that PostgreSQL wrote. */
static unsigned char nibble(char digit)
{
	return (unsigned char)((digit & 0xf) + (digit >> 6) * 9);
}

/* Decodes logs and plans. PQunescapeBytea would read each digit twice, and allocate twice. */
static void hex_append(const char *text, size_t len, struct buf *out)
{
	unsigned char part[4096];

	for (size_t left = len / 2; left;) {
		size_t count = left < sizeof(part) ? left : sizeof(part);

		for (size_t i = 0; i < count; i++, text += 2)
			part[i] = (unsigned char)(nibble(text[0]) << 4 | nibble(text[1]));
		buf_append(out, part, count);
		left -= count;
	}
}

void hex_decode(struct db_hex hex, struct buf *out)
{
	unsigned char *bytes;
	size_t len;

	if (!hex.text)
		return;
	if (text_starts(hex.text, "\\x")) {
		hex_append(hex.text + 2, hex.len - 2, out);
	} else if ((bytes = PQunescapeBytea((const unsigned char *)hex.text, &len))) {
		buf_append(out, bytes, len);
		PQfreemem(bytes);
	}
}

void row_bytes(const struct rows *rows, int row, const char *column, struct buf *out)
{
	int number = column_of(rows, column);

	hex_decode(
		(struct db_hex){PQgetvalue(rows->result, row, number), (size_t)PQgetlength(rows->result, row, number)},
		out);
}

int db_affected(const struct rows *rows)
{
	return (int)strtol(text_or_empty(PQcmdTuples(rows->result)), NULL, 10);
}

static int statement_failed(struct db *db, const PGresult *result, struct err *err)
{
	const char *state = text_or_empty(PQresultErrorField(result, PG_DIAG_SQLSTATE));
	const char *message = text_or_empty(PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY));

	/* A migration added a column to a table of which the statement returns all columns: it must be prepared again.
	 */
	db->outdated |= text_equal(state, "0A000") &&
		text_equal(PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION), "RevalidateCachedQuery");
	db->try_again = db->outdated || text_equal(state, "40P01") || text_equal(state, "40001");
	/* Without an SQLSTATE the error is libpq's, not the server's: the state of the connection is unknown. A server
	 * that became a standby (25006) is left, so that the next connection reaches the new primary. */
	if (PQstatus(db->conn) != CONNECTION_OK || !*state || text_starts(state, "57P") || text_starts(state, "08") ||
		text_equal(state, "25006"))
		return connection_failed(db, err);
	if (text_equal(state, "23505")) {
		text_copy(db->constraint, sizeof(db->constraint), PQresultErrorField(result, PG_DIAG_CONSTRAINT_NAME));
		return err_set(err, ERR_CONFLICT, "it exists already");
	}
	if (db->try_again || text_starts(state, "53") || text_equal(state, "57014") || text_equal(state, "55P03"))
		return err_set(err, ERR_UNAVAILABLE, "PostgreSQL: service unavailable: %s", message);
	return err_set(err, ERR_INTERNAL, "PostgreSQL: %s (%s)", message, state);
}

static void note_trip(int statements)
{
	metric_add(M_DATABASE_TRIPS, "", 1);
	metric_add(M_DATABASE_STATEMENTS, "", statements);
}

/* At most two entries for each statement: it may have to be prepared. */
static void note_sent(struct db *db, struct rows *asked)
{
	db->asked[db->queued++] = asked;
}

static void note_size(struct db *db, size_t size)
{
	db->large = db->large || size >= LARGE;
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

/* ---- answers ---- */

/* On a line of its own: a message of the server begins with its severity. */
static bool libpq_had_no_memory(const struct db *db)
{
	const char *said = PQerrorMessage(db->conn);

	return text_starts(said, "out of memory\n") || strstr(said, "\nout of memory\n");
}

static int answer_poll(struct pollfd *fd, int max_ms)
{
	int ready;

	progress_wait();
	ready = poll(fd, 1, max_ms);
	progress_go_on();
	return ready;
}

/* False if there will be no answer: the server is silent for too long, or libpq ran out of memory at the end of a
 * pipeline and waits forever. */
static bool answer_wait(struct db *db, int max_ms)
{
	int64_t began_us = clock_mono_us(), took_us;
	bool waited = false;

	while (PQisBusy(db->conn)) {
		struct pollfd fd = {.fd = PQsocket(db->conn), .events = POLLIN};
		int ready;

		waited = true;
		if (libpq_had_no_memory(db))
			db->given_up = "out of memory";
		else if ((ready = answer_poll(&fd, max_ms)) == 0 || (ready < 0 && errno != EINTR))
			db->given_up = "it does not answer";
		else if (ready > 0 && !PQconsumeInput(db->conn))
			return true; /* the next result says why */
		if (db->given_up)
			return false;
	}
	took_us = clock_mono_us() - began_us;
	db->slow |= took_us >= SLOW_MS * 1000;
	if (waited)
		metric_observe(M_DATABASE_WAIT, "", (double)took_us / 1e6);
	note_up(true);
	return true;
}

/* NULL: there are no more results, or the connection is lost or given up. */
static PGresult *result_next(struct db *db, int max_ms)
{
	return answer_wait(db, max_ms) ? PQgetResult(db->conn) : NULL;
}

/* The last result of a statement that was sent outside of a pipeline; NULL if the connection is lost or given up. */
static PGresult *result_last(struct db *db, bool sent, int max_ms)
{
	PGresult *last = NULL, *next;

	while (sent && (next = result_next(db, max_ms))) {
		PQclear(last);
		last = next;
	}
	if (!db->given_up)
		return last;
	PQclear(last);
	return NULL;
}

static bool result_good(const PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
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

/* ---- parameters ---- */

enum { MAX_PARAMS = 49, NUMBER_SIZE = 32 };

struct packed {
	int count;
	const char *values[MAX_PARAMS];
	int lengths[MAX_PARAMS], formats[MAX_PARAMS];
	char numbers[MAX_PARAMS][NUMBER_SIZE];
};

static const char *number_text(char text[NUMBER_SIZE], const long long *number)
{
	if (number)
		snprintf(text, NUMBER_SIZE, "%lld", *number);
	return number ? text : NULL;
}

static const char *float_text(char text[NUMBER_SIZE], const double *number)
{
	if (number)
		snprintf(text, NUMBER_SIZE, "%.17g", *number);
	return number ? text : NULL;
}

static const char *bool_text(const bool *value)
{
	if (!value)
		return NULL;
	return *value ? "t" : "f";
}

static void bytes_pack(struct packed *packed, int i, const void *data, size_t len)
{
	packed->values[i] = data;
	packed->lengths[i] = (int)len;
	packed->formats[i] = 1;
}

static void param_pack(struct packed *packed, int i, enum db_kind kind, const void *value)
{
	struct db_array *array;
	struct db_bytes *bytes;

	packed->lengths[i] = packed->formats[i] = 0;
	switch (kind) {
	case DB_TEXT:
		packed->values[i] = *(const char *const *)value;
		break;
	case DB_INT:
		packed->values[i] = number_text(packed->numbers[i], value);
		break;
	case DB_INT_OR_NULL:
		packed->values[i] = number_text(packed->numbers[i], *(const long long *const *)value);
		break;
	case DB_FLOAT:
		packed->values[i] = float_text(packed->numbers[i], value);
		break;
	case DB_FLOAT_OR_NULL:
		packed->values[i] = float_text(packed->numbers[i], *(const double *const *)value);
		break;
	case DB_BOOL:
		packed->values[i] = bool_text(value);
		break;
	case DB_BOOL_OR_NULL:
		packed->values[i] = bool_text(*(const bool *const *)value);
		break;
	case DB_BYTES:
		bytes_pack(packed, i, ((const struct db_blob *)value)->data, ((const struct db_blob *)value)->len);
		break;
	case DB_ARRAY:
		array = *(struct db_array *const *)value;
		packed->values[i] = array ? db_array_text(array) : NULL;
		break;
	case DB_BYTES_ARRAY:
		bytes = *(struct db_bytes *const *)value;
		bytes_pack(packed, i, db_bytes_data(bytes), bytes->data.len);
		break;
	}
}

static void params_pack(
	struct db *db, const struct db_statement *statement, const void *params, struct packed *ret_packed)
{
	ret_packed->count = (int)statement->takes_count;
	for (int i = 0; i < ret_packed->count; i++) {
		param_pack(ret_packed, i, statement->takes[i].kind, (const char *)params + statement->takes[i].at);
		note_size(db, (size_t)ret_packed->lengths[i]);
	}
}

const struct db_statement *db_like(const struct db_statement *statement, const struct db_statement *like)
{
	if (statement->takes == like->takes)
		return statement;
	log_error("a statement takes other parameters", "statement", statement->name, "like", like->name, NULL);
	abort();
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
	if (!PQpipelineSync(db->conn))
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
	if (PQsendQueryPrepared(
		    db->conn, statement->name, packed->count, packed->values, packed->lengths, packed->formats, 0))
		return 0;
	return connection_failed(db, err);
}

static int statement_ready(struct db *db, const struct db_statement *statement, struct err *err)
{
	db->try_again = false;
	if (!db->in_transaction && !db->queued && db_connect(db, err) < 0)
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
	params_pack(db, statement, params, &packed);
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

	params_pack(db, statement, params, &packed);
	return run(db, ret_rows, err, statement, &packed);
}

/* ---- statements in C ---- */

static const struct db_statement *statement_of_sql(const char *sql)
{
	static struct db_statement found[512];
	static char names[512][16];
	static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
	size_t i = 0;

	pthread_mutex_lock(&mutex);
	while (i < 511 && found[i].sql && found[i].sql != sql)
		i++;
	found[i].sql = sql;
	snprintf(names[i], 16, "s%zu", i);
	found[i].name = names[i];
	pthread_mutex_unlock(&mutex);
	return &found[i];
}

static void params_pack_sql(const struct db_param *params, size_t count, struct packed *ret_packed)
{
	ret_packed->count = (int)count - 1;
	for (int i = 0; i < ret_packed->count; i++) {
		const struct db_param *param = &params[i + 1];
		bool value = param->number;

		ret_packed->lengths[i] = ret_packed->formats[i] = 0;
		ret_packed->values[i] = param->kind == P_NULL ? NULL : param->text;
		if (param->kind == P_IS_BOOL)
			ret_packed->values[i] = bool_text(&value);
		if (param->kind == P_IS_INT)
			ret_packed->values[i] = number_text(ret_packed->numbers[i], &param->number);
		if (param->kind == P_IS_BYTES)
			bytes_pack(ret_packed, i, param->text, param->len);
	}
}

int db_put_sql(
	struct db *db, struct rows *ret_rows, struct err *err, const char *sql, struct db_param *params, size_t count)
{
	struct packed packed;

	params_pack_sql(params, count, &packed);
	if (!db->in_transaction && !db->gathering)
		return run(db, ret_rows, err, statement_of_sql(sql), &packed);
	return put(db, ret_rows, err, statement_of_sql(sql), &packed);
}

int db_run_sql(
	struct db *db, struct rows *ret_rows, struct err *err, const char *sql, struct db_param *params, size_t count)
{
	struct packed packed;

	params_pack_sql(params, count, &packed);
	return run(db, ret_rows, err, statement_of_sql(sql), &packed);
}

bool db_outdated(const struct db *db)
{
	return db->outdated;
}

void db_gather(struct db *db)
{
	db->gathering = true;
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

static int script(struct db *db, const char *sql, int max_ms, struct err *err)
{
	PGresult *result;
	int failed = 0;

	note_trip(1);
	result = result_last(db, PQsendQuery(db->conn, sql), max_ms);
	if (!result_good(result))
		failed = statement_failed(db, result, err);
	PQclear(result);
	return failed;
}

int db_script(struct db *db, const char *sql, struct err *err)
{
	if (!db->conn && db_connect(db, err) < 0)
		return -1;
	if (db->queued && pipeline_end(db, NULL, err) < 0)
		return -1;
	return script(db, sql, FOR_EVER, err);
}

int db_begin(struct db *db, struct err *err)
{
	/* `begin` is sent with the first statement, and statements queued before the end are sent with the commit. */
	if (db_connect(db, err) < 0 || pipeline_script(db, "begin", err) < 0)
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

void db_array_add_texts(struct db_array *array, const json_t *texts)
{
	const json_t *text;
	size_t i;

	json_array_foreach(texts, i, text) db_array_add(array, json_string_value(text));
}

const char *db_array_text(struct db_array *array)
{
	/* Adds the closing brace for the reader; the next item overwrites it. */
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

/* The header of a binary array: dimensions, whether there are nulls, the element's type, then size and lower bound of
 * the only dimension. */
struct bytes_head {
	uint32_t dimensions, nulls, type, size, low;
};

enum { BYTEA_TYPE = 17 };

int db_bytes_add(struct db_bytes *array, const void *bytes, size_t len)
{
	static const struct bytes_head empty;
	uint32_t size = htobe32((uint32_t)len);

	if (!array->count && buf_append(&array->data, &empty, sizeof(empty)) < 0)
		return -1;
	if (len > array->data.limit || array->data.len + sizeof(size) + len > array->data.limit)
		return -1;
	array->count++;
	buf_append(&array->data, &size, sizeof(size));
	return buf_append(&array->data, bytes, len);
}

const char *db_bytes_data(struct db_bytes *array)
{
	struct bytes_head head = {htobe32(1), 0, htobe32(BYTEA_TYPE), htobe32(array->count), htobe32(1)};

	memcpy(array->data.data, &head, sizeof(head));
	return array->data.data;
}

void db_bytes_release(struct db_bytes *array)
{
	buf_release(&array->data);
	array->count = 0;
}
