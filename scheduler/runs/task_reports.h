/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_TASK_REPORTS_H
#define SCHEDULER_RUNS_TASK_REPORTS_H

/* Applies the reports of run tasks. A final result never changes. A stage ends when all its results are final, with the
 * most restrictive of their outcomes. */

#include "scheduler/intake/intake.h"

/* For an intake of runyard.task-results. */
int task_reports_settle(struct intake *intake, const struct kafka_message *messages, size_t count);
/* Applies the reports of these task results, in one transaction. */
int task_reports_decide(struct store *store, struct db_array *task_result_ids, struct err *err);

#endif
