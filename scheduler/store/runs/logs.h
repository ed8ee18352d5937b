/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RUNS_LOGS_H
#define SCHEDULER_STORE_RUNS_LOGS_H

/*
 * Logs of plans and applies. A client reads a stream of bytes: STX, then the output, then ETX once the operation has
 * ended. The output is the worker's; the scheduler adds lines that say why a run waits, and why it ended if no worker
 * could say it. STX and ETX are not stored: they are derived from the operation's row. The stream of a deleted log
 * (store/content/expiry.h) is one line that says so.
 */

#include "scheduler/store/store.h"

/* Pieces of logs that are inserted with one statement, in the transaction that updates the logs' lengths
 * (store/runs/uploads.c). */
struct chunk_batch {
	struct db_array operations, starts, lengths;
	struct db_bytes sealed;
};
#define CHUNK_BATCH_INIT                                                                                               \
	{                                                                                                              \
		.operations = DB_ARRAY_INIT, .starts = DB_ARRAY_INIT, .lengths = DB_ARRAY_INIT,                        \
		.sealed = DB_BYTES_INIT                                                                                \
	}
/* A piece that begins at `start` (counted from the first byte after the STX). */
struct log_piece {
	const char *operation_id;
	long long start;
	const char *bytes;
	size_t len;
};
/* Adds the piece as one or several chunks. */
int chunks_add(struct chunk_batch *batch, struct store *store, const struct log_piece *piece, struct err *err);
int chunks_insert(struct chunk_batch *batch, struct store *store, struct err *err);
void chunk_batch_release(struct chunk_batch *batch);
/* Adds a line of the scheduler's own to what the worker sent, in the open transaction. The caller holds locks under
 * which the worker sends nothing. */
int log_line_add(struct store *store, const char *operation_id, const char *line, struct err *err);
struct log_range {
	const char *operation_id;
	long long offset, limit;
};
/* Appends the range [offset, offset + limit) of the stream to ret_bytes. It is no error if nothing is there yet.
 * ERR_NOT_FOUND. */
int log_read(struct store *store, const struct log_range *range, struct buf *ret_bytes, struct err *err);

/* One log_lookup_row. ERR_NOT_FOUND. */
int log_lookup(struct store *store, const char *operation_id, struct rows *ret_rows, struct err *err);
/* Appends a range of the output, without STX and ETX. The offset counts from its first byte. */
int log_output_read(struct store *store, const struct log_range *range, struct buf *ret_bytes, struct err *err);

/* The lengths of the streams of these logs: logs_lengths_row. */
int logs_lengths(struct store *store, struct db_array *operation_ids, struct rows *ret_rows, struct err *err);

/* Merges the chunks of a complete log of at least from_bytes into one blob, which can be moved to an object store.
 * Other logs are not changed. */
int log_pack(struct store *store, const char *operation_id, long long from_bytes, struct err *err);

#endif
