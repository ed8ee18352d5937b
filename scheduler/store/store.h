/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STORE_H
#define SCHEDULER_STORE_STORE_H

/* What a thread needs to work on what lasts: its connection, the keys, and what was set for the whole process. */

#include "common/crypto.h"
#include "common/ids.h"
#include "scheduler/store/db.h"

struct clock_watch;
struct contents;
struct guard;
struct objects;
struct publisher;
struct recall;
struct viewer;
struct waits;

/* The time limits of run tasks. */
struct task_limits {
	int delivery_seconds; /* to be acknowledged at all */
	int progress_seconds; /* without a word after that */
	int total_seconds;    /* whatever they say */
};

/* How PostgreSQL's commits reach its standby: what a failover may lose. */
enum replication {
	REPLICATION_NONE,
	REPLICATION_ASYNC,
	REPLICATION_SYNC,
};

struct store {
	struct db *db;
	const struct keyring *keyring;
	const char *public_url; /* without a slash at its end */
	struct id installation; /* sent with every answer (common/origin.h) */
	enum replication replication;
	int lease_seconds;
	int hold_alert_seconds; /* a hold that lasts longer is worth an alert (store/holds.h) */
	struct task_limits task_limits;
	int notification_seconds;       /* how long a notification is tried */
	const struct guard *task_guard; /* where run tasks and notifications may go (common/guard.h) */
	const struct viewer *viewer;    /* for whom it works now (store/viewer.h); NULL: the scheduler itself */
	struct recall *recall;          /* whom this thread has seen (auth/recall.h), or NULL */
	struct objects *objects;        /* where large content is moved (store/objects.h), or NULL */
	struct contents *contents;      /* what this request has of it (store/contents.h), or NULL */
	struct publisher *publisher;    /* told of outbox rows once they committed; NULL: its poll finds them */
	struct clock_watch *clock;      /* of PostgreSQL's clock (store/clock_watch.h); NULL but in the sweeper */
	struct waits *waits;            /* told of jobs once they committed; NULL: its look finds them */
};

/* Brings the schema up to date, under a lock, so that replicas may start together. */
int store_migrate(struct db *db, struct err *err);
/* The installation's id, which every database has once it is migrated. */
int store_installation(struct db *db, struct id *ret_id, struct err *err);

/*
 * ---- blobs: bytes of any kind, sealed, up to a few hundred MB (store/blobs.c) ----
 *
 * They rest in PostgreSQL first, so that no upload waits for, or fails with, anything else; what is large is moved to
 * an object store after a while (store/moves.h), sealed as it is. A blob that a row stops naming is swept once no other
 * names it; so a blob is put in the transaction that names it.
 *
 * Reading gives ERR_UNAVAILABLE while the bytes are an object that is not fetched yet (store/contents.h), and
 * ERR_INTERNAL for bytes that are not what was sealed for that blob: the seal is the check of what an object store
 * gives back.
 */

/* Stores the bytes under a new id. */
int blob_put(struct store *store, const void *bytes, size_t len, struct id *ret_id, struct err *err);
/* The same for content that many rows share: its id is a keyed digest of it, and it is stored once. */
int blob_put_shared(struct store *store, const void *bytes, size_t len, struct id *ret_id, struct err *err);
/* The id that such content has, by the SHA-256 of it. */
struct id blob_shared_id(struct store *store, const char *sha256_hex);
/* Stores bytes that are read in parts: sealed in pieces, each by itself. */
int blob_put_pieces(struct store *store, const void *bytes, size_t len, struct id *ret_id, struct err *err);
/* Appends the bytes. ERR_NOT_FOUND if there is no such blob (a NULL id too). */
int blob_get(struct store *store, const char *id, struct buf *out, struct err *err);
/* The same of a row of a statement that begins with BLOB_SELECT and reads blobs as b. */
#define BLOB_SELECT "select b.id as blob_id, b.object_key, b.bytes_sealed as sealed "
int blob_of_row(struct store *store, const struct rows *rows, int row, struct buf *out, struct err *err);
/* The same of a blob that was sealed for one use (blob_add_as): nothing else opens it. */
int blob_of_row_as(
	struct store *store, const struct rows *rows, int row, const char *use, struct buf *out, struct err *err);
/* Appends [from, from + len) of what was put in pieces, or less where it ends. */
int blob_get_part(struct store *store, const char *id, long long from, long long len, struct buf *out, struct err *err);

/* ---- small sealed values ---- */

/* A sealed column's bytes for a parameter: P_BYTES(sealed.data, sealed.len). The context names the row. */
void store_seal(struct store *store, const char *context, const char *text, struct buf *ret_sealed);
/* Opens a sealed column into ret_text. */
int store_open(struct store *store, const char *context, const struct rows *rows, int row, const char *column,
	struct buf *ret_text, struct err *err);

#endif
