/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_VCS_ANSWERS_H
#define SCHEDULER_RUNS_VCS_ANSWERS_H

/* Applies the answers of providers to the calls that asked for them (store/vcs/calls/calls.h). */

#include "scheduler/store/store.h"

/* `deliveries` is the list in a notifier's report. Entries that are not calls are ignored. Each answer is applied once,
 * in a separate transaction. If that fails, the error is logged and the call is repeated. -1 only if the database is
 * not available; then the notifier repeats its report. */
int vcs_answers_apply(struct store *store, const json_t *deliveries, struct err *err);

#endif
