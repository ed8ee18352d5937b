/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/db/connection.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/loop/progress.h"
#include "scheduler/metrics.h"

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
void note_up(bool up)
{
	static atomic_int shown = -1;

	if (atomic_load_explicit(&shown, memory_order_relaxed) == up)
		return;
	atomic_store(&shown, up);
	metric_set(M_DATABASE_UP, "", up);
}

/* Reports libpq's reason, one line only. Closes the connection. The URL, which may contain the password, is not in
 * it. */
int connection_failed(struct db *db, struct err *err)
{
	const char *said = db->conn ? PQerrorMessage(db->conn) : "no memory";
	_cleanup_(freep) char *reason = mem_text(db->given_up ? db->given_up : said);

	note_up(false);
	reason[strcspn(reason, "\n")] = '\0';
	PQfinish(db->conn);
	db->conn = NULL;
	db->given_up = NULL;
	db->queued = 0;
	db->synced = false;
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

/* libpq's buffers keep the size of the largest statement and result (twice the size of content, in hex) until the
 * connection is closed. Opening a new connection takes a few milliseconds, little compared to a transfer of that
 * size. */
void connection_shrink(struct db *db)
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

int connection_ready(struct db *db, struct err *err)
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
