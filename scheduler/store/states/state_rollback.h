/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STATES_STATE_ROLLBACK_H
#define SCHEDULER_STORE_STATES_STATE_ROLLBACK_H

#include "scheduler/store/store.h"

struct state_rollback {
	const char *workspace_id;
	const char *to_id; /* the earlier state version */
	const char *user_id;
};
/* Creates a state version with the content of an earlier one of the workspace and the next serial, and makes it
 * current. ERR_INVALID if the earlier one is not the workspace's or has no content any more. */
int state_rollback(struct store *store, const struct state_rollback *rollback, struct id *ret_id, struct err *err);

#endif
