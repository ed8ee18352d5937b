/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_TASKS_TASK_CALLS_H
#define SCHEDULER_STORE_TASKS_TASK_CALLS_H

/*
 * The run tasks' part of the notifiers' protocol (proto/README.md, The notifier's side). Each statement handles many
 * task results. Arrays have the order and form given there. Each response is a new reference.
 */

#include "scheduler/store/request_claim.h"

/* The prefix of access tokens in requests of run tasks. */
#define TASK_TOKEN_PREFIX "ry_task_"

/* Appends claimed task results to `requests`, in a transaction. */
int task_calls_claim(struct store *store, const struct request_claim *claim, json_t *requests, struct err *err);
/* Writes the delivery log. A request that was given up is reported as failed, or as unreachable if it never got an
 * answer. Its task result's id is added to `decided`, for task_reports_decide. */
int task_calls_delivered(struct store *store, const json_t *deliveries, json_t **ret_deliveries,
	struct db_array *decided, struct err *err);
/* Each response is 200, 401, 404 or 409. Final callbacks are stored as reports, to be decided. */
int task_calls_back(struct store *store, const json_t *callbacks, json_t **ret_callbacks, struct err *err);
/* 0 if the token belongs to the task result, even after its end. ERR_NOT_FOUND, ERR_UNAUTHORIZED. */
int task_token_check(struct store *store, const char *task_result_id, const char *token, struct err *err);
/* Finds the key that an open task result's token was derived from. False if this scheduler lacks it. */
bool task_token_key(const struct store *store, const char *task_result_id, const char *hash, uint32_t *ret_number);
int task_calls_late(struct store *store, const json_t *task_results, json_t **ret_late, struct err *err);
/* Task results with a deadline and an id after `after` ("": from the first), sorted by id. */
int task_calls_deadlines(struct store *store, const char *after, int limit, json_t **ret_deadlines, struct err *err);

#endif
