/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STATE_ROLLBACK_H
#define SCHEDULER_STORE_STATE_ROLLBACK_H

#include "scheduler/store/store.h"

/* Makes a state version of the same content as an earlier one of the workspace, with the serial that comes next, and
 * makes it current. ERR_INVALID if that is none of the workspace's or has no content any more. */
int state_rollback(struct store *store, const char *workspace_id, const char *to_id, const char *user_id,
	struct id *ret_id, struct err *err);

#endif
