/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_WORKLOAD_KEYS_H
#define SCHEDULER_AUTH_WORKLOAD_KEYS_H

/*
 * Keys that sign the identities of runs. They are of the site: all schedulers sign with the same one.
 *
 * Every 90 days a new key is made. It is published a day before it signs, so that whoever keeps the keys in memory
 * knows it, and for a week after the next key signs. Times are those of PostgreSQL.
 */

#include "common/jose/sign.h"
#include "scheduler/store/store.h"

enum { WORKLOAD_KEY_DAYS = 90 };

/* {"keys": [JWK, ...]}: those that are published. A new reference. */
int workload_keys_published(struct store *store, json_t **ret_keys, struct err *err);
/* The key that signs now. Kept in memory for a minute. Borrowed, for the life of the process. Makes the first key. */
int workload_signer(struct store *store, const struct jose_signer **ret_signer, struct err *err);

/* [{"id", "signs-from", "state": "next", "signs" or "published"}, ...], the newest first. A new reference. */
int workload_keys_list(struct store *store, json_t **ret_keys, struct err *err);
/* Makes the next key, which signs in a day. ERR_CONFLICT if there is one already. */
int workload_keys_rotate(struct store *store, struct err *err);
/* Makes the next key, if it is time, and deletes those that are not published any more. */
int workload_keys_sweep(struct store *store, struct err *err);
/* Makes a key that signs at once. Those before it are no longer published: identities that they signed end. */
int workload_keys_replace(struct store *store, struct err *err);

#endif
