/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_SERVER_EXCHANGE_H
#define SCHEDULER_API_SERVER_EXCHANGE_H

/*
 * One request and its answer. exchange_run authenticates the request, reads its body and runs the handler. Then
 * exchange_answer completes the answer and records the request, and exchange_release frees the rest. For a batched
 * route, the item is committed in between (executors.c).
 */

#include "scheduler/http/audit_note.h"
#include "scheduler/http/batch.h"
#include "scheduler/http/path/path_object.h"
#include "scheduler/http/request.h"

struct exchange {
	struct request req;
	struct response res;
	struct audit_note audit;
	struct path_object object;
	struct http_answer answer; /* of a batched request, until it is sent */
	bool failed;               /* with err */
	struct err err;
	long long began_us;
};

/* Borrows all arguments; the answer must be initialized. The exchange must not move afterwards. */
void exchange_init(struct exchange *exchange, const struct http_request *http, struct http_answer *answer,
	struct store *store, const struct services *services);
/* Runs the handler, if the request is allowed to reach it. Sets `failed`. */
void exchange_run(struct exchange *exchange);
/* Answers with the error, if it failed, and records the request. */
void exchange_answer(struct exchange *exchange);
void exchange_release(struct exchange *exchange);

#endif
