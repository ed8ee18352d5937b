/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_TASK_CALLS_H
#define SCHEDULER_STORE_TASK_CALLS_H

/*
 * What notifiers ask and report (proto/README.md, The notifier's side), many task results a statement. Arrays come and
 * go in the order and form that page has; each answer is a new reference.
 */

#include "scheduler/store/requests.h"

/* What the access token of a request begins with. */
#define TASK_TOKEN_PREFIX "ry_task_"

/* Appends to `requests`, in a transaction. */
int task_calls_claim(struct store *store, const struct request_claim *claim, json_t *requests, struct err *err);
/* Writes the delivery log. What was given up is reported as failed, or unreachable if it was never answered; their ids
 * are added to `decided`, for task_reports_decide. */
int task_calls_delivered(struct store *store, const json_t *deliveries, json_t **ret_deliveries,
	struct db_array *decided, struct err *err);
/* Each answer is 200, 401, 404 or 409. Final ones are kept as reports, to be decided. */
int task_calls_back(struct store *store, const json_t *callbacks, json_t **ret_callbacks, struct err *err);
/* 0 if the token is the task result's, over or not. ERR_NOT_FOUND, ERR_UNAUTHORIZED. */
int task_token_check(struct store *store, const char *task_result_id, const char *token, struct err *err);
int task_calls_late(struct store *store, const json_t *task_results, json_t **ret_late, struct err *err);
/* Those with a deadline, by id, after `after` ("" : from the first). */
int task_calls_deadlines(struct store *store, const char *after, int limit, json_t **ret_deadlines, struct err *err);

#endif
