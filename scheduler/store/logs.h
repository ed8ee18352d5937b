/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_LOGS_H
#define SCHEDULER_STORE_LOGS_H

/*
 * The logs of plans and applies. A client reads a stream of bytes: STX, then the output that the workers sent, then
 * ETX once the operation has ended. The two marks are not stored: they follow from the operation's row.
 * A log that was deleted (store/expiry.h) is a stream of one line that says so.
 */

#include "scheduler/store/store.h"

/* Pieces that are appended with one statement, within the transaction that makes the logs longer (store/uploads.c). */
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
/* As one chunk or several. */
int chunks_add(struct chunk_batch *batch, struct store *store, const struct log_piece *piece, struct err *err);
int chunks_insert(struct chunk_batch *batch, struct store *store, struct err *err);
void chunk_batch_release(struct chunk_batch *batch);
/* Appends to ret_bytes what is in [offset, offset + limit) of the stream; nothing new is no error. ERR_NOT_FOUND. */
int log_read(struct store *store, const char *operation_id, long long offset, long long limit, struct buf *ret_bytes,
	struct err *err);

/* Makes one blob of the chunks of a log that is complete and has at least from_bytes: it can be moved then. Others stay
 * as they are. */
int log_pack(struct store *store, const char *operation_id, long long from_bytes, struct err *err);

#endif
