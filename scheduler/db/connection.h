/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DB_CONNECTION_H
#define SCHEDULER_DB_CONNECTION_H

/* What the files of this folder share: the connection behind struct db. Others include db.h. */

#include <libpq-fe.h>

#include "scheduler/db/db.h"
#include "scheduler/lifecycle/history.h"

enum { MAX_STATEMENTS = 2048, MAX_TRIES = 6, MAX_QUEUED = 64, MAX_SENT = 2 * MAX_QUEUED };
/* Statements time out after 30 s (connection_ready), so a server that is silent for longer is considered lost. */
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
	int queued;  /* statements sent whose results are not read yet; if not 0, the connection is in pipeline mode */
	bool synced; /* the pipeline has its end (PQpipelineSync): no statement may join it */
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

/* Connects if there is no usable connection. */
int connection_ready(struct db *db, struct err *err);
/* Closes the connection, and returns -1 with libpq's reason. */
int connection_failed(struct db *db, struct err *err);
/* Closes a connection whose buffers have grown, outside of transactions. */
void connection_shrink(struct db *db);
/* Notes whether the server was reached. */
void note_up(bool up);

/* ---- answers.c ---- */

void note_trip(int statements);
/* The next result; NULL: there are no more, or the connection is lost or given up. */
PGresult *result_next(struct db *db, int max_ms);
/* The last result of a statement that was sent outside of a pipeline; NULL if the connection is lost or given up. */
PGresult *result_last(struct db *db, bool sent, int max_ms);
bool result_good(const PGresult *result);
/* Sets *err to what the server says, and returns -1. */
int statement_failed(struct db *db, const PGresult *result, struct err *err);
/* Runs statements without parameters. FOR_EVER: without a limit of time. */
int script(struct db *db, const char *sql, int max_ms, struct err *err);

/* ---- rows.c, params.c ---- */

/* Takes the result. The rows know their shape already. */
void rows_fill(struct rows *rows, PGresult *result);

enum { MAX_PARAMS = 49, NUMBER_SIZE = 32 };

/* Parameters as libpq takes them. */
struct packed {
	int count;
	const char *values[MAX_PARAMS];
	int lengths[MAX_PARAMS], formats[MAX_PARAMS];
	char numbers[MAX_PARAMS][NUMBER_SIZE];
};
/* Borrows from `params`, a struct of what the statement takes. */
void params_pack(const struct db_statement *statement, const void *params, struct packed *ret_packed);

#endif
