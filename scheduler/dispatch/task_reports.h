/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_DISPATCH_TASK_REPORTS_H
#define SCHEDULER_DISPATCH_TASK_REPORTS_H

/* What was reported of run tasks, decided: a result is final once, and a stage is over when all its results are; then
 * the most restrictive outcome counts. */

#include "scheduler/dispatch/intake.h"

/* For an intake of runyard.task-results. */
int task_reports_settle(struct intake *intake, const struct kafka_message *messages, size_t count);
/* Decides what was reported of these task results, in one transaction. */
int task_reports_decide(struct store *store, struct db_array *task_result_ids, struct err *err);

#endif
