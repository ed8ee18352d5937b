/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_RETENTION_H
#define SCHEDULER_STORE_RETENTION_H

/* How long an organization's or a workspace's data are kept: for a number of days, or for ever (store/expiry.h acts).
 */

#include "scheduler/store/store.h"

/* Whose policy it is: one of the two is not NULL. */
struct retention_owner {
	const char *organization_id, *workspace_id;
};

/* Columns id, days (null: for ever). ERR_NOT_FOUND. */
int retention_read(struct store *store, struct retention_owner owner, struct rows *ret_rows, struct err *err);
/* 0 days: for ever. */
int retention_write(struct store *store, struct retention_owner owner, long long days, struct err *err);
int retention_delete(struct store *store, struct retention_owner owner, struct err *err);

#endif
