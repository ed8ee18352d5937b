/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CONTENT_BLOB_BATCH_H
#define SCHEDULER_STORE_CONTENT_BLOB_BATCH_H

/* Inserts several blobs (store/content/blobs.h) with one statement, within the transaction that refers to them. */

#include "scheduler/store/store.h"

struct blob_batch {
	struct db_array ids, sizes;
	struct db_bytes sealed;
};
#define BLOB_BATCH_INIT                                                                                                \
	{                                                                                                              \
		.ids = DB_ARRAY_INIT, .sizes = DB_ARRAY_INIT, .sealed = DB_BYTES_INIT                                  \
	}

/* Seals the bytes, adds them to the batch and returns their blob's id: a new one, or for blob_add_shared that of the
 * same content. */
int blob_add(struct blob_batch *batch, struct store *store, struct bytes content, struct id *ret_id, struct err *err);
int blob_add_shared(
	struct blob_batch *batch, struct store *store, struct bytes content, struct id *ret_id, struct err *err);
/* Adds a new blob that is sealed for one use. Only blob_open opens it, with that use. */
struct blob_content {
	struct bytes bytes;
	const char *use; /* NULL: as blob_add */
};
int blob_add_as(
	struct blob_batch *batch, struct store *store, struct blob_content content, struct id *ret_id, struct err *err);
int blobs_insert(struct blob_batch *batch, struct store *store, struct err *err);
void blob_batch_release(struct blob_batch *batch);

#endif
