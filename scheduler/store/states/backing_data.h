/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STATES_BACKING_DATA_H
#define SCHEDULER_STORE_STATES_BACKING_DATA_H

/* Deletes the content of configuration and state versions in two steps: soft deletion, which can be undone, then
 * permanent deletion. Content that the workspace or a run still needs is kept. */

#include "scheduler/store/store.h"

enum backing { BACKING_CONFIGURATION, BACKING_STATE };
enum backing_change { BACKING_SOFT_DELETE, BACKING_RESTORE, BACKING_DELETE };

/* ERR_NOT_FOUND; ERR_CONFLICT "transition not allowed". */
int backing_data_change(
	struct store *store, enum backing backing, enum backing_change change, const char *id, struct err *err);

#endif
