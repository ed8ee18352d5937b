/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_FORWARDS_FORWARDS_H
#define SCHEDULER_STORE_FORWARDS_FORWARDS_H

/*
 * HTTP requests that a worker of an agent pool sends, because only its network has the service (proto/README.md,
 * "Requests that workers send"). A row is one try of one request. Notifiers and threads of schedulers insert it, a
 * worker claims it and stores the answer, and the inserter reads it. Requests and answers are sealed.
 *
 * There are no retries here. A try without a claim ends without an answer, and so does that of a lost worker. The
 * inserter decides about another try, which is another row.
 */

#include "scheduler/store/store.h"

enum { FORWARDS_CLAIMED_MAX = 16, FORWARDS_READ_MAX = 16, FORWARD_ANSWER_MAX = 2 << 20, FORWARD_TIME_MAX = 600 * 1000 };

struct forward {
	const char *id; /* "fwd-…", of the inserter */
	const char *pool_id;
	const char *receiver;  /* a key for forward_wait_key; NULL: the inserter polls */
	const json_t *request; /* proto/README.md */
};

/* The key of claim_waiters (outbox/claim_waiters.h) for the requests of a pool, for a worker's wait for one, and for a
 * receiver's wait for answers. */
void forward_wait_key(const char *id, char ret_key[ID_SIZE]);

/* ERR_INVALID if the form is wrong. */
int forward_check(const struct forward *forward, struct err *err);
/* Inserts the request, which forward_check accepted, unless it is there. *ret_refusal: NULL, or why it can't be sent:
 * an answer, as below. */
int forward_add(const struct store *store, const struct forward *forward, json_t **ret_refusal, struct err *err);

/* The answers to those of `ids` (an array of texts) that have ended, at most FORWARDS_READ_MAX: an array of
 * {"id","status","seconds","error","headers","body","internal","forbidden","too-large","retry-after","unserved"}. Those
 * that did not succeed may have only id, status (0) and error. A new reference. */
int forwards_read(const struct store *store, const json_t *ids, json_t **ret_answers, struct err *err);
/* Deletes requests whose answers were read. */
int forwards_done(const struct store *store, const json_t *ids, struct err *err);
/* Deletes requests whose answers were not read in time. */
int forwards_expire(struct store *store, struct err *err);

/* Sends the request, whose `receiver` is NULL, and waits for the answer, for at most a few seconds more than the
 * request may take. Never within a transaction. -1 for an error of the database. */
int forward_send(const struct store *store, const struct forward *forward, json_t **ret_answer, struct err *err);

/* ---- of workers ---- */

struct forward_claim {
	const char *pool_id, *worker_id;
	int max; /* at most FORWARDS_CLAIMED_MAX */
};
/* Claims the oldest requests: [{"id","request"}], a new reference. ERR_NOT_FOUND if the worker is not registered in the
 * pool. */
int forwards_claim(struct store *store, const struct forward_claim *claim, json_t **ret_requests, struct err *err);
/* Stores the answer of the claim's worker. ERR_INVALID if its form is wrong, ERR_NOT_FOUND if the request has ended. */
int forward_end(
	struct store *store, const char *id, const struct forward_claim *claim, const json_t *answer, struct err *err);

#endif
