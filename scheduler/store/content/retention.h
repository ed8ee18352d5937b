/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_CONTENT_RETENTION_H
#define SCHEDULER_STORE_CONTENT_RETENTION_H

/* Retention policies: how long the data of an organization or a workspace are kept, in days or forever
 * (store/content/expiry.h deletes them). */

#include "scheduler/store/store.h"

/* The owner of a policy: exactly one of the two is not NULL. */
struct retention_owner {
	const char *organization_id, *workspace_id;
};

/* Columns id, days (null: forever). ERR_NOT_FOUND. */
int retention_read(struct store *store, struct retention_owner owner, struct rows *ret_rows, struct err *err);
/* 0 days: forever. */
int retention_write(struct store *store, struct retention_owner owner, long long days, struct err *err);
int retention_delete(struct store *store, struct retention_owner owner, struct err *err);

#endif
