/* SPDX-License-Identifier: MPL-2.0 */
/* What the server answers. */
#include <errno.h>
#include <poll.h>
#include <string.h>

#include "common/clock.h"
#include "common/loop/progress.h"
#include "scheduler/db/connection.h"
#include "scheduler/metrics.h"

void note_trip(int statements)
{
	metric_add(M_DATABASE_TRIPS, "", 1);
	metric_add(M_DATABASE_STATEMENTS, "", statements);
}

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
PGresult *result_next(struct db *db, int max_ms)
{
	return answer_wait(db, max_ms) ? PQgetResult(db->conn) : NULL;
}

/* The last result of a statement that was sent outside of a pipeline; NULL if the connection is lost or given up. */
PGresult *result_last(struct db *db, bool sent, int max_ms)
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

bool result_good(const PGresult *result)
{
	ExecStatusType status = PQresultStatus(result);

	return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK;
}

int statement_failed(struct db *db, const PGresult *result, struct err *err)
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

int script(struct db *db, const char *sql, int max_ms, struct err *err)
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
