/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_RUNS_RESULTS_H
#define SCHEDULER_RUNS_RESULTS_H

/*
 * Applies the results of jobs that workers report, many in one transaction.
 *
 * A result that the run's row refuses is not dropped. The message becomes a dead letter, and the worker keeps the
 * attempt. It sends the result again over HTTP (runs/reports.h) until a heartbeat's answer says that the attempt
 * has ended.
 */

#include "scheduler/intake/intake.h"
#include "scheduler/runs/transition.h"

/* For an intake of runyard.results. */
int results_settle(struct intake *intake, const struct kafka_message *messages, size_t count);

/* Returns the event that a result means for its run. Borrows the result. */
struct run_transition result_transition(const struct job_result *result);

/* Counts a result that was applied or came too late, whichever way it came. */
void result_count(const struct run_transition *item);

/* Returns true if the run's row refused the current attempt's result. Only the attempt's worker can send it again. */
bool result_is_refused(const struct run_transition *item);
/* Reports such a result: an error in the log and an event of the run, once for each run, and a metric each time. */
void result_refused_note(struct store *store, const struct run_transition *item);

#endif
