/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/internal/claim_wait.h"

#include "scheduler/outbox/claim_waiters.h"

enum { ANSWER_LIMIT = 64 };

/* A suspended request, and the headers of its answer. */
struct waiting {
	struct http_pending *pending;
	const char *(*headers)[2];
	const char *some, *none;
};

static void waiting_end(void *data, bool jobs)
{
	struct waiting *waiting = data;
	struct http_answer answer = {.status = 200,
		.content_type = "application/json",
		.body = BUF_INIT(ANSWER_LIMIT),
		.extra = waiting->headers};

	buf_text(&answer.body, jobs ? waiting->some : waiting->none);
	http_answer_now(waiting->pending, &answer);
	free(waiting);
}

int claim_wait(struct request *req, struct response *res, const struct claim_wait *wait, struct err *err)
{
	struct claim_waiters *waiters = req->services->waiters;
	struct waiting *waiting;

	if (claim_waiters_full(waiters))
		return err_set(err, ERR_UNAVAILABLE, "too many workers wait: try again");
	waiting = mem_new(1, sizeof(*waiting));
	*waiting = (struct waiting){http_later(req->http), res->http->extra, wait->some, wait->none};
	claim_waiters_begin(waiters,
		&(struct wait_spec){
			.pool_id = wait->pool_id, .worker_id = wait->worker_id, .end = waiting_end, .data = waiting},
		wait->mark);
	return 0;
}
