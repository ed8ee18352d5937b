/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CONTENT_BLOBS_H
#define SCHEDULER_STORE_CONTENT_BLOBS_H

/*
 * Sealed bytes of any kind, up to a few hundred MB.
 *
 * A blob is written to PostgreSQL first, so that no upload depends on another service. Large blobs are moved to an
 * object store later, still sealed (store/content/blob_offload.h). A blob that no row refers to any more is deleted by
 * a sweep (store/content/blob_gc.h). So put a blob in the transaction that refers to it.
 *
 * Errors of reading:
 *  - ERR_UNAVAILABLE: the bytes are in an object that is not fetched yet (store/content/contents.h).
 *  - ERR_INTERNAL: the bytes are not those that were sealed for that blob. The seal verifies what an object store
 *    returns.
 */

#include "scheduler/store/store.h"

/* Stores the bytes under a new id. */
int blob_put(struct store *store, const void *bytes, size_t len, struct id *ret_id, struct err *err);
/* The same for content that many rows share. Its id is a keyed digest of it, and it is stored once. */
int blob_put_shared(struct store *store, const void *bytes, size_t len, struct id *ret_id, struct err *err);
/* The id that shared content has, given its SHA-256. */
struct id blob_shared_id(struct store *store, const char *sha256_hex);
/* Stores bytes that are read in parts. Each piece is sealed by itself. */
int blob_put_pieces(struct store *store, const void *bytes, size_t len, struct id *ret_id, struct err *err);
/* Appends the bytes. ERR_NOT_FOUND if there is no such blob (a NULL id too). ERR_UNAVAILABLE and ERR_TOO_LARGE of
 * memory_take. */
int blob_get(struct store *store, const char *id, struct buf *out, struct err *err);
/* The columns of :blob_select. Borrowed from the rows. */
struct sealed_blob {
	const char *blob_id, *object_key;
	struct db_hex sealed;
	const char *use; /* the use of blob_add_as; NULL: none */
};
/*
 * Reads a content in one round trip if it is small. A large one is read when there is memory for its copies
 * (common/memory.h), in a second one, or in more if it grows meanwhile. `read` queries the row with `most`, sets
 * *ret_size to the row's size, and opens the content unless that is more than `most`.
 */
typedef int (*blob_read_fn)(
	struct store *store, const void *data, long long most, struct buf *out, long long *ret_size, struct err *err);
int blob_read_within(struct store *store, blob_read_fn read, const void *data, struct buf *out, struct err *err);
/* The same for a blob that a statement has read. */
int blob_open(struct store *store, const struct sealed_blob *blob, struct buf *out, struct err *err);
/* Appends the bytes that seal the same content with the first key, for the blob of that id. */
int blob_reseal(struct store *store, const char *id, struct bytes sealed, struct buf *out, struct err *err);
#define BLOB_USE_BASE "base" /* of store/states/state_bases.c */
/* Appends the range [from, from + len) of a blob that was stored with blob_put_pieces, or less at its end. */
struct blob_range {
	const char *id;
	long long from, len;
};
int blob_get_part(struct store *store, const struct blob_range *range, struct buf *out, struct err *err);

#endif
