/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STATES_STATE_BASES_H
#define SCHEDULER_STORE_STATES_STATE_BASES_H

/*
 * The content of state versions. Usually a state version's blob is its state. During an apply it may have a base
 * instead (table state_bases). The blob is then an earlier state of that apply, compressed, and the row has the newest
 * state as a difference to the base. So a read needs at most two parts, however many states the apply has sent.
 *
 * The seals of base and difference are bound to the blob, and zstd's frame has a checksum of the state. A damaged or
 * wrong base is therefore an error and never a state.
 *
 * The worker sends the last state whole. If it can't, state_settle_due builds a whole state from both parts after the
 * end of the job.
 */

#include "common/terraform/difference.h"
#include "scheduler/store/content/blob_batch.h"
#include "scheduler/store/content/blobs.h"

/* Appends the state's content. ERR_NOT_FOUND if there is no such state version, or it has no content. Otherwise as
 * blob_get. */
int state_content(struct store *store, const char *state_id, struct buf *out, struct err *err);

/* The columns of :state_content_select. Borrowed from the rows. */
struct sealed_state {
	const char *id;
	struct sealed_blob blob;
	const char *base_id;      /* NULL: the blob is the state */
	struct db_hex difference; /* from the base; null: the base is the state */
};
/* The same for a state whose blob a statement has read. */
int sealed_state_open(struct store *store, const struct sealed_state *state, struct buf *out, struct err *err);

/* ---- writing, in the transaction that writes the state versions (store/states/state_batch.h) ---- */

struct state_base_batch {
	struct db_array bases[3];       /* state version, blob, digest */
	struct db_array differences[3]; /* state version, serial, size */
	struct db_bytes sealed;         /* the differences */
};
#define STATE_BASE_BATCH_INIT                                                                                          \
	{                                                                                                              \
		.bases = {DB_ARRAY_INIT, DB_ARRAY_INIT, DB_ARRAY_INIT},                                                \
		.differences = {DB_ARRAY_INIT, DB_ARRAY_INIT, DB_ARRAY_INIT}, .sealed = DB_BYTES_INIT                  \
	}
void state_base_batch_release(struct state_base_batch *batch);

/* Adds a state that is to be a base to `blobs`, and returns the blob's id. ERR_TOO_LARGE. */
int state_base_blob_add(
	struct blob_batch *blobs, struct store *store, struct bytes state, struct id *ret_blob, struct err *err);
/* Makes that blob the base of the state version. */
void state_base_add(struct state_base_batch *batch, const char *state_id, const char *blob_id, struct bytes state);

struct state_difference_row {
	const char *state_id, *blob_id; /* of the base */
	long long serial, size;         /* of the state */
	struct bytes frame;
};
int state_difference_add(
	struct state_base_batch *batch, struct store *store, const struct state_difference_row *row, struct err *err);

/* Call it after the state versions and blobs were written. */
int state_bases_insert(struct state_base_batch *batch, struct store *store, struct err *err);

#endif
