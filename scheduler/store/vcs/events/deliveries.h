/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_EVENTS_DELIVERIES_H
#define SCHEDULER_STORE_VCS_EVENTS_DELIVERIES_H

/* Deliveries of providers that wait for the VCS thread (vcs_deliveries). Their bodies are sealed. */

#include "scheduler/store/store.h"
#include "scheduler/store/vcs/events/deliveries.sql.h"

/* The limits of a batch: its number of deliveries, and the bytes of their bodies. The first one may have more bytes. */
enum { VCS_DELIVERIES_MAX = 100, VCS_DELIVERIES_BYTES = 8 << 20 };

/* Locks at most `max` deliveries that are due and that no other transaction has locked, the oldest first. In a
 * transaction. Columns: the table's; identifier and external_id of the repository, null if it was
 * deleted; provider and api_url of its connection. */
int vcs_deliveries_pick(struct store *store, int max, struct rows *ret_rows, struct err *err);
/* Appends the body of such a row. ERR_UNAVAILABLE: another scheduler has the key. */
int vcs_delivery_open(
	struct store *store, const struct vcs_deliveries_pick_row *delivery, struct buf *ret_body, struct err *err);
/* Ends deliveries that were read. */
int vcs_deliveries_end(struct store *store, struct db_array *sequences, struct err *err);
/* Deletes the delivery. */
int vcs_delivery_drop(struct store *store, long long sequence, struct err *err);
/* Ends a delivery that can't be read. `why` is a sentence. */
int vcs_delivery_fail(struct store *store, long long sequence, const char *why, struct err *err);
/* Lets the delivery wait, to be read again later. */
int vcs_delivery_postpone(struct store *store, long long sequence, const char *why, struct err *err);
/* Makes the repository's postponed deliveries due now. */
int vcs_deliveries_hasten(struct store *store, const char *repository_id, struct err *err);

#endif
