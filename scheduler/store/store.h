/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STORE_H
#define SCHEDULER_STORE_STORE_H

/* What a thread needs to work on stored data: a connection, the keys and the settings, and for whom it reads. */

#include "common/crypto.h"
#include "common/ids.h"
#include "scheduler/db/db.h"

struct contents;
struct guard;
struct outbox_sink;
struct viewer;

/* The time limits of run tasks. */
struct task_limits {
	int delivery_seconds; /* seconds from delivery to its acknowledgement */
	int progress_seconds; /* seconds without progress after that */
	int total_seconds;    /* seconds in total, whatever the task reports */
};

/* The replication of commits to PostgreSQL's standby. It decides what a failover may lose. */
enum replication {
	REPLICATION_NONE,
	REPLICATION_ASYNC,
	REPLICATION_SYNC,
};

/* The same for the whole process. */
struct store_settings {
	const char *public_url; /* without a trailing slash */
	enum replication replication;
	int lease_seconds;
	int hold_alert_seconds; /* a hold that lasts longer raises an alert (store/runs/holds.h) */
	struct task_limits task_limits;
	int notification_seconds;       /* how long delivery of a notification is retried */
	const struct guard *task_guard; /* allowed targets of run tasks and notifications (common/http/guard.h) */
};

struct store {
	struct db *db; /* the thread's own */
	const struct keyring *keyring;
	const struct store_settings *settings;
	const struct outbox_sink *sink; /* notified of committed messages, or NULL (outbox/outbox.h) */
	/* Of one request: */
	const struct viewer *viewer; /* the requesting user (store/access/viewer.h); NULL: the scheduler itself */
	struct contents *contents;   /* fetched objects (store/content/contents.h), or NULL */
};

/* Applies all migrations that are missing. It holds a lock, so replicas may start at the same time. */
int store_migrate(struct db *db, struct err *err);
/* Reads the installation's id, which every migrated database has. */
int store_installation(struct db *db, struct id *ret_id, struct err *err);

/*
 * ---- blobs: sealed bytes of any kind, up to a few hundred MB (store/content/blobs.c) ----
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

/* Stores the bytes under a new id. */
int blob_put(struct store *store, const void *bytes, size_t len, struct id *ret_id, struct err *err);
/* The same for content that many rows share. Its id is a keyed digest of it, and it is stored once. */
int blob_put_shared(struct store *store, const void *bytes, size_t len, struct id *ret_id, struct err *err);
/* The id that shared content has, given its SHA-256. */
struct id blob_shared_id(struct store *store, const char *sha256_hex);
/* Stores bytes that are read in parts. Each piece is sealed by itself. */
int blob_put_pieces(struct store *store, const void *bytes, size_t len, struct id *ret_id, struct err *err);
/* Appends the bytes. ERR_NOT_FOUND if there is no such blob (a NULL id too). */
int blob_get(struct store *store, const char *id, struct buf *out, struct err *err);
/* The same from a row of a statement that begins with BLOB_SELECT and reads blobs as b. */
#define BLOB_SELECT "select b.id as blob_id, b.object_key, b.bytes_sealed as sealed "
int blob_of_row(struct store *store, const struct rows *rows, int row, struct buf *out, struct err *err);
/* The same for a blob that was sealed for one use (blob_add_as); blob_of_row can't open it. */
int blob_of_row_as(
	struct store *store, const struct rows *rows, int row, const char *use, struct buf *out, struct err *err);
/* Appends the range [from, from + len) of a blob that was stored with blob_put_pieces, or less at its end. */
int blob_get_part(struct store *store, const char *id, long long from, long long len, struct buf *out, struct err *err);

/* ---- small sealed values ---- */

/* Seals a text for a bytea column: pass P_BYTES(sealed.data, sealed.len). The context names the row. */
void store_seal(struct store *store, const char *context, const char *text, struct buf *ret_sealed);
/* Opens a sealed column into ret_text. */
int store_open(struct store *store, const char *context, const struct rows *rows, int row, const char *column,
	struct buf *ret_text, struct err *err);

#endif
