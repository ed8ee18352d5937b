/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_TASK_RESULTS_H
#define SCHEDULER_STORE_TASK_RESULTS_H

/*
 * Task stages and task results as rows. A task result becomes final once, by a compare-and-set on its status. A later
 * callback, deadline or cancel changes nothing.
 */

#include "scheduler/dispatch/outbox.h"

/* Makes the stages and results that a new run has by its workspace's and organization's tasks, and returns the
 * STAGE_BITs of those with something in them. In the transaction that creates the run. */
int task_results_create(
	struct store *store, const char *run_id, const char *workspace_id, uint32_t *ret_stages, struct err *err);

/* Follows what became of task stages (an array of {run_id, stage, status, over}): the results of one that runs are put
 * up for the notifiers; those that are open when it is over are canceled. */
int task_results_follow(struct store *store, const json_t *task_stages, struct outbox *outbox, struct err *err);

#endif
