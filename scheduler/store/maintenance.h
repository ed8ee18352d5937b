/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_MAINTENANCE_H
#define SCHEDULER_STORE_MAINTENANCE_H

/*
 * Maintenance of the site. While it is on, no run leaves `pending` and no workspace is destroyed automatically. Runs
 * that have started finish, confirmed applies included.
 *
 * Every decision about a queue reads the row in its own transaction (:workspace_row in store/runs/runs.sql). A change
 * locks the table exclusively, which waits for those transactions. So once `on` has committed, no run starts, and `off`
 * sees every run that waits.
 */

#include "scheduler/store/store.h"

enum { MAX_MAINTENANCE_REASON = 200 };

struct maintenance {
	bool on, resuming;
	char reason[4 * MAX_MAINTENANCE_REASON + 1]; /* "": off */
	char since[64];                              /* when it was switched last, as in the API */
	long long changes;                           /* number of switches */
};

int maintenance_read(struct store *store, struct maintenance *ret_maintenance, struct err *err);
/* Switches it on with a reason, or off (NULL). On again replaces the reason. ERR_INVALID for an empty or too long one,
 * ERR_UNAVAILABLE if a transaction does not end within some seconds. Needs a transaction. */
int maintenance_set(struct store *store, const char *reason, struct err *err);
/* Marks that all runs which waited have started, unless it was switched since `changes` was read. */
int maintenance_resumed(struct store *store, long long changes, struct err *err);

#endif
