/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STORE_H
#define SCHEDULER_STORE_STORE_H

/* What a thread needs to work on what lasts: its connection, the keys, and what was set for the whole process. */

#include "common/crypto.h"
#include "common/ids.h"
#include "scheduler/store/db.h"

struct guard;
struct publisher;

/* How long run tasks may take (RUNTASKS). */
struct task_limits {
	int delivery_seconds; /* to be acknowledged at all */
	int progress_seconds; /* without a word after that */
	int total_seconds;    /* whatever they say */
};

struct store {
	struct db *db;
	const struct keyring *keyring;
	const char *public_url; /* without a slash at its end */
	int lease_seconds;
	struct task_limits task_limits;
	const struct guard *task_guard; /* where run tasks may be (common/guard.h) */
	struct publisher *publisher;    /* told of outbox rows once they committed; NULL: its poll finds them */
};

/* Brings the schema up to date, under a lock, so that replicas may start together. */
int store_migrate(struct db *db, struct err *err);

/* ---- blobs: bytes of any kind, sealed, up to a few hundred MB (store/blobs.c) ---- */

/* Stores the bytes under a new id. */
int blob_put(struct store *store, const void *bytes, size_t len, struct id *ret_id, struct err *err);
/* The same for content that many rows share: its id is a keyed digest of it, and it is stored once. */
int blob_put_shared(struct store *store, const void *bytes, size_t len, struct id *ret_id, struct err *err);
/* The id that such content has, by the SHA-256 of it. */
struct id blob_shared_id(struct store *store, const char *sha256_hex);
/* Appends the bytes. ERR_NOT_FOUND if there is no such blob (a NULL id too). */
int blob_get(struct store *store, const char *id, struct buf *out, struct err *err);

/* ---- small sealed values ---- */

/* A sealed column's bytes for a parameter: P_BYTES(sealed.data, sealed.len). The context names the row. */
void store_seal(struct store *store, const char *context, const char *text, struct buf *ret_sealed);
/* Opens a sealed column into ret_text. */
int store_open(struct store *store, const char *context, const struct rows *rows, int row, const char *column,
	struct buf *ret_text, struct err *err);

#endif
