/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_KEY_ROTATION_H
#define SCHEDULER_STORE_KEY_ROTATION_H

/*
 * What is sealed with which key, and the rotation: everything that another key than the first one has sealed is sealed
 * again. A rotation goes through each table in the order of its keys, and commits small batches, so it can be stopped
 * at any time and begun again, also beside schedulers that serve.
 */

#include "scheduler/store/store.h"

struct objects;

/* An array of objects, one for each key:
 *   number, place      place: in the keyring, 0 is the first key; null: the keyring lacks it
 *   in-use             the record of store/keys.h
 *   rows, sealed-rows  {table.column: count} of what it seals, and the sum
 *   objects            that it seals
 *   unread-objects     whose key is not recorded; the same number for each key
 *   run-tasks          open ones whose token it derived
 *   links-until        when the last link that it signed expires; or null
 *   seals, can-go      whether it seals anything; whether nothing needs it
 * Reads each table from end to end. */
int keys_report(struct store *store, json_t **ret_report, struct err *err);
/* Seals everything with the first key. `objects` may be NULL if no content is in an object store. *ret_count: what was
 * sealed again. ERR_CONFLICT if another scheduler seals with an old key meanwhile. */
int keys_rotate(struct store *store, struct objects *objects, long long *ret_count, struct err *err);

#endif
