/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/api/api.h"
#include "scheduler/api/internal/claim_wait.h"
#include "scheduler/outbox/claim_waiters.h"
#include "scheduler/store/forwards/forwards.h"

/* The calls of notifiers and workers about requests that workers send (proto/README.md, "Requests that workers send").
 */

enum { MAX_ADDED = 64, MAX_AWAITED = 10000 };

/* Waits for a request of the pool, or for an answer to the receiver. The thread that ends the wait reads nothing: the
 * caller asks again at once. */
static int forward_wait(struct request *req, struct response *res, const struct claim_wait *wait, struct err *err)
{
	struct claim_wait keyed = *wait;
	char of[ID_SIZE], waiter[ID_SIZE];

	forward_wait_key(wait->pool_id, of);
	forward_wait_key(wait->worker_id, waiter);
	keyed.pool_id = of;
	keyed.worker_id = waiter;
	return claim_wait(req, res, &keyed, err);
}

/* ---- notifiers ---- */

static int ids_read(const struct request *req, const char *name, const json_t **ret_ids, struct err *err)
{
	const json_t *item;
	size_t i;

	*ret_ids = json_object_get(req->body, name);
	if (!json_is_array(*ret_ids) || json_array_size(*ret_ids) > MAX_AWAITED)
		return err_set(err, ERR_INVALID, "'%s' must be an array of at most %d ids", name, MAX_AWAITED);
	json_array_foreach(*ret_ids, i, item)
	{
		if (!id_valid(text_or_empty(json_string_value(item)), "fwd"))
			return err_set(err, ERR_INVALID, "'%s' must have ids of forwarded requests", name);
	}
	return 0;
}

static int receiver_read(const struct request *req, const char **ret_receiver, struct err *err)
{
	*ret_receiver = json_string_at(req->body, "receiver");
	return id_valid(text_or_empty(*ret_receiver), "fwdr")
		? 0
		: err_set(err, ERR_INVALID, "'receiver' must be an id of the notifier");
}

static struct forward forward_of(const json_t *item, const char *receiver)
{
	return (struct forward){.id = text_or_empty(json_string_at(item, "id")),
		.pool_id = text_or_empty(json_string_at(item, "pool")),
		.receiver = receiver,
		.request = json_object_get(item, "request")};
}

/* Adds one request. A request with a wrong form is refused alone: the others may be other organizations'. */
static int forward_take(const struct store *store, const struct forward *forward, json_t *refused, struct err *err)
{
	json_t *refusal = NULL;

	if (forward_check(forward, err) < 0 || forward_add(store, forward, &refusal, err) < 0) {
		if (err->kind != ERR_INVALID)
			return -1;
		refusal = json_pack(
			"{ss si ss sb}", "id", forward->id, "status", 0, "error", err->message, "forbidden", 1);
		*err = (struct err)ERR_INIT;
	}
	if (refusal)
		json_array_append_new(refused, refusal);
	return 0;
}

int notifier_forwards(struct request *req, struct response *res, struct err *err)
{
	const json_t *requests = json_object_get(req->body, "requests"), *item;
	json_auto_t *refused = json_array();
	const char *receiver;
	size_t i;

	if (receiver_read(req, &receiver, err) < 0)
		return -1;
	if (!json_is_array(requests) || json_array_size(requests) > MAX_ADDED)
		return err_set(err, ERR_INVALID, "'requests' must be an array of at most %d requests", MAX_ADDED);
	json_array_foreach(requests, i, item)
	{
		const struct forward forward = forward_of(item, receiver);

		if (forward_take(req->store, &forward, refused, err) < 0)
			return -1;
	}
	return respond_json(res, 200, json_pack("{sO}", "refused", refused));
}

int notifier_forwarded(struct request *req, struct response *res, struct err *err)
{
	uint64_t mark = claim_waiters_mark(req->services->waiters);
	static const char nothing[] = "{\"answers\":[]}";
	const json_t *awaited, *done;
	json_t *answers = NULL;
	const char *receiver;

	if (receiver_read(req, &receiver, err) < 0 || ids_read(req, "awaited", &awaited, err) < 0 ||
		ids_read(req, "done", &done, err) < 0 || forwards_done(req->store, done, err) < 0 ||
		forwards_read(req->store, awaited, &answers, err) < 0)
		return -1;
	if (json_array_size(answers) || !json_array_size(awaited))
		return respond_json(res, 200, json_pack("{so}", "answers", answers));
	json_decref(answers);
	return forward_wait(req, res,
		&(struct claim_wait){
			.pool_id = receiver, .worker_id = receiver, .mark = mark, .some = nothing, .none = nothing},
		err);
}

/* ---- workers ---- */

static int claim_read(const struct request *req, struct forward_claim *ret_claim, struct err *err)
{
	*ret_claim = (struct forward_claim){.pool_id = req->actor.pool.text,
		.worker_id = json_string_at(req->body, "worker"),
		.max = (int)json_int_at(req->body, "max", 0)};
	if (!ret_claim->worker_id || strlen(ret_claim->worker_id) >= ID_SIZE - strlen("fwd "))
		return err_set(err, ERR_INVALID, "'worker' is missing");
	return 0;
}

int worker_forwards(struct request *req, struct response *res, struct err *err)
{
	static const char nothing[] = "{\"requests\":[]}";
	uint64_t mark = claim_waiters_mark(req->services->waiters);
	json_t *requests = NULL;
	struct forward_claim claim;

	if (claim_read(req, &claim, err) < 0)
		return -1;
	if (claim.max < 1 || claim.max > FORWARDS_CLAIMED_MAX)
		return err_set(err, ERR_INVALID, "'max' must be a whole number from 1 to %d", FORWARDS_CLAIMED_MAX);
	if (forwards_claim(req->store, &claim, &requests, err) < 0)
		return -1;
	if (json_array_size(requests))
		return respond_json(res, 200, json_pack("{so}", "requests", requests));
	json_decref(requests);
	return forward_wait(req, res,
		&(struct claim_wait){.pool_id = claim.pool_id,
			.worker_id = claim.worker_id,
			.mark = mark,
			.some = nothing,
			.none = nothing},
		err);
}

int worker_forwarded(struct request *req, struct response *res, struct err *err)
{
	struct forward_claim claim;

	if (claim_read(req, &claim, err) < 0 ||
		forward_end(req->store, param(req, "forward"), &claim, json_object_get(req->body, "answer"), err) < 0)
		return -1;
	return respond_empty(res, 204);
}
