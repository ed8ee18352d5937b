/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_TASKS_TASK_RESULTS_H
#define SCHEDULER_STORE_TASKS_TASK_RESULTS_H

/*
 * Task stages and task results as rows. A task result becomes final once, by a compare-and-set on its status. A later
 * callback, deadline or cancel changes nothing.
 */

#include "scheduler/outbox/outbox.h"
#include "scheduler/store/store.h"

struct task_result_changed_row;

/* Creates the task stages and results of a new run, from the run tasks of its workspace and its organization. Returns
 * the STAGE_BITs of stages with task results. Call it in the transaction that creates the run. */
int task_results_create(
	struct store *store, const char *run_id, const char *workspace_id, uint32_t *ret_stages, struct err *err);

/* Updates task results after changes of their stages (an array of {run_id, stage, status, over}). Results of a stage
 * that is running become claimable by notifiers. Results that are open when their stage ends are canceled. */
int task_results_follow(struct store *store, const json_t *task_stages, struct outbox *outbox, struct err *err);
/* Announces on runyard.events that a task result changed. */
void task_result_tell(struct outbox *outbox, const struct task_result_changed_row *result);

#endif
