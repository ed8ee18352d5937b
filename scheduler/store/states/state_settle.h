/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_STATES_STATE_SETTLE_H
#define SCHEDULER_STORE_STATES_STATE_SETTLE_H

/* Whole states from bases and differences (store/states/state_bases.h), for applies whose worker was lost before it
 * sent the last state whole. */

#include "scheduler/store/store.h"

/* Converts remaining bases of ended jobs, and extracts outputs and resources of the states. A state that can't be read
 * is logged, is not changed, and is retried after 10 minutes. *ret_count: how many were due; there may be more if it is
 * SETTLE_MAX. */
enum { SETTLE_MAX = 20 };
int state_settle_due(struct store *store, long long *ret_count, struct err *err);

#endif
