/* SPDX-License-Identifier: MPL-2.0 */
#include "common/log.h"
#include "common/metrics.h"
#include "proto/limits.h"
#include "proto/protocol.h"
#include "proto/topics.h"
#include "scheduler/api/api.h"
#include "scheduler/api/internal/claim_wait.h"
#include "scheduler/api/internal/control.h"
#include "scheduler/http/audit_note.h"
#include "scheduler/lifecycle/hold.h"
#include "scheduler/metrics.h"
#include "scheduler/outbox/claim_waiters.h"
#include "scheduler/outbox/publisher.h"
#include "scheduler/runs/claim.h"
#include "scheduler/runs/epoch.h"
#include "scheduler/store/workers/workers.h"

/* The requests of workers, with the token of their pool or their own (proto/README.md). Bodies are plain JSON, not
 * JSON:API documents. */

/* MAX_ATTEMPTS: running attempts, and those whose results are not acknowledged yet. */
enum { MAX_SLOTS = 256, MAX_ATTEMPTS = 1024, MAX_CAPABILITIES = 128, MAX_CAPABILITY = 80, MAX_UNDELIVERED = 1000000 };

static int body_number(const struct request *req, const char *name, long long max, int *ret_number, struct err *err)
{
	long long number = json_int_at(req->body, name, -1);

	if (number < 0 || number > max)
		return err_set(err, ERR_INVALID, "'%s' must be a whole number from 0 to %lld", name, max);
	*ret_number = (int)number;
	return 0;
}

/* A worker of an earlier version does not send it. */
static int body_undelivered(const struct request *req, int *ret_number, struct err *err)
{
	if (json_object_get(req->body, "undelivered"))
		return body_number(req, "undelivered", MAX_UNDELIVERED, ret_number, err);
	*ret_number = 0;
	return 0;
}

/* NULL if a worker of an earlier version does not send them. Borrowed. */
static int body_capabilities(struct request *req, const json_t **ret_capabilities, struct err *err)
{
	const json_t *list = json_object_get(req->body, "capabilities"), *item;
	bool fits = !list || (json_is_array(list) && json_array_size(list) <= MAX_CAPABILITIES);
	size_t i;

	json_array_foreach((json_t *)list, i, item)
	{
		fits = fits && json_is_string(item) && json_string_length(item) <= MAX_CAPABILITY;
	}
	if (!fits)
		return err_set(err, ERR_INVALID, "'capabilities' must be an array of at most %d texts of %d bytes",
			MAX_CAPABILITIES, MAX_CAPABILITY);
	*ret_capabilities = list;
	return 0;
}

int worker_arrives(struct request *req, struct response *res, struct err *err)
{
	struct worker_arrival arrival = {
		.pool_id = req->actor.pool.text,
		.name = json_string_at(req->body, "name"),
		.version = text_or_empty(json_string_at(req->body, "version")),
		.address = req->audit->address,
		.token_id = req->actor.token.text,
		.jobs = json_at(req->body, "jobs"),
	};
	_cleanup_(freep) char *token = NULL;
	char topic[TOPIC_NAME_SIZE];
	struct id id;

	if (!arrival.name)
		return err_set(err, ERR_INVALID, "'name' is missing");
	if (arrival.jobs && (!json_is_array(arrival.jobs) || json_array_size(arrival.jobs) > MAX_ATTEMPTS))
		return err_set(err, ERR_INVALID, "'jobs' must be an array of at most %d attempts", MAX_ATTEMPTS);
	if (protocol_agree(json_at(req->body, "protocols"), "worker", &arrival.protocol, err) < 0 ||
		body_number(req, "slots", MAX_SLOTS, &arrival.slots, err) < 0 ||
		body_capabilities(req, &arrival.capabilities, err) < 0 ||
		worker_register(req->store, &arrival, &id, &token, err) < 0)
		return -1;
	topic_of_pool(arrival.pool_id, topic);
	publisher_topic(req->services->publisher, topic, &topics[TOPIC_JOBS]);
	log_info("a worker arrived", "worker", id.text, "name", arrival.name, "pool", arrival.pool_id, "address",
		arrival.address, "agent_token", arrival.token_id, NULL);
	return respond_json(res, 200,
		json_pack("{ss ss ss ss si si}", "worker", id.text, "token", token, "pool", arrival.pool_id, "topic",
			topic, "lease-seconds", req->store->settings->lease_seconds, "protocol", arrival.protocol));
}

int worker_claims(struct request *req, struct response *res, struct err *err)
{
	struct claim_request claim = {.pool_id = req->actor.pool.text,
		.worker_id = json_string_at(req->body, "worker"),
		.apply_seconds = json_int_at(req->body, "apply-seconds", 0)};
	json_t *jobs = NULL;
	bool more = false;

	if (!claim.worker_id)
		return err_set(err, ERR_INVALID, "'worker' is missing");
	if (claim.apply_seconds < 0 || claim.apply_seconds > HOLD_APPLY_SECONDS_MAX)
		return err_set(err, ERR_INVALID, "'apply-seconds' must be a whole number from 0 to %d",
			HOLD_APPLY_SECONDS_MAX);
	if (body_number(req, "slots", MAX_SLOTS, &claim.slots, err) < 0 ||
		body_capabilities(req, &claim.capabilities, err) < 0 ||
		jobs_claim(req->store, &claim, &jobs, &more, err) < 0)
		return -1;
	return respond_json(res, 200,
		json_pack("{si so sb}", "lease-seconds", req->store->settings->lease_seconds, "jobs", jobs, "more",
			more));
}

int worker_waits(struct request *req, struct response *res, struct err *err)
{
	struct worker_wait wait = {.pool_id = req->actor.pool.text, .worker_id = json_string_at(req->body, "worker")};
	const struct claim_wait claim = {.pool_id = wait.pool_id,
		.worker_id = wait.worker_id,
		.mark = claim_waiters_mark(req->services->waiters),
		.some = "{\"jobs\":true}",
		.none = "{\"jobs\":false}"};
	bool jobs = false;

	if (!wait.worker_id)
		return err_set(err, ERR_INVALID, "'worker' is missing");
	if (body_number(req, "slots", MAX_SLOTS, &wait.free, err) < 0 ||
		worker_waits_for(req->store, &wait, &jobs, err) < 0)
		return -1;
	if (jobs) {
		metric_add(M_WAITS_ENDED, "by=\"request\"", 1);
		return respond_json(res, 200, json_pack("{sb}", "jobs", true));
	}
	return claim_wait(req, res, &claim, err);
}

static bool announced_fit(const json_t *announced)
{
	const json_t *job;
	size_t i;

	json_array_foreach((json_t *)announced, i, job)
	{
		if (!id_valid(text_or_empty(json_string_value(job)), "job"))
			return false;
	}
	return !announced || (json_is_array(announced) && json_array_size(announced) <= MAX_ANNOUNCED_JOBS);
}

static int beat_read(struct request *req, struct worker_beat *ret_beat, struct err *err)
{
	*ret_beat = (struct worker_beat){.token = req->bearer,
		.draining = json_bool_at(req->body, "draining", false),
		.partitions = json_at(req->body, "partitions"),
		.jobs = json_at(req->body, "jobs"),
		.announced = json_at(req->body, "announced")};
	if (!json_is_array(ret_beat->partitions) || !json_is_array(ret_beat->jobs))
		return err_set(err, ERR_INVALID, "'partitions' and 'jobs' must be arrays");
	if (!announced_fit(ret_beat->announced))
		return err_set(err, ERR_INVALID, "'announced' must be an array of at most %d ids", MAX_ANNOUNCED_JOBS);
	if (body_number(req, "free", MAX_SLOTS, &ret_beat->free, err) < 0 ||
		body_capabilities(req, &ret_beat->capabilities, err) < 0)
		return -1;
	return body_undelivered(req, &ret_beat->undelivered, err) < 0
		? -1
		: body_number(req, "slots", MAX_SLOTS, &ret_beat->slots, err);
}

int worker_beats(struct request *req, struct response *res, struct err *err)
{
	struct worker_beat beat;
	struct err wrong = ERR_INIT;
	struct id worker;
	json_t *answer = NULL;

	/* An invalid body is reported only to a registered worker. */
	if (beat_read(req, &beat, &wrong) < 0) {
		if (worker_find(req->store, req->bearer, &worker, err) == 0)
			*err = wrong;
		return -1;
	}
	if (worker_beat(req->store, &beat, &answer, err) < 0)
		return -1;
	if (epoch_names_unknown(&beat, json_object_get(answer, "jobs"))) {
		json_decref(answer);
		if (epoch_hear_applies(req->store, &beat, err) < 0 || worker_beat(req->store, &beat, &answer, err) < 0)
			return -1;
	}
	json_object_set_new(answer, "lease-seconds", json_integer(req->store->settings->lease_seconds));
	return respond_json(res, 200, answer);
}

int worker_listens(struct request *req, struct response *res, struct err *err)
{
	json_t *told = json_object_get(req->body, "told");
	struct id worker;

	if (worker_find(req->store, req->bearer, &worker, err) < 0)
		return -1;
	if (!json_is_array(told))
		return err_set(err, ERR_INVALID, "'told' must be an array");
	if (!control_hold(req->services->control, req->http, res->http, worker.text, told))
		return err_set(err, ERR_UNAVAILABLE, "too many workers listen: try again");
	return 0;
}

int worker_leaves(struct request *req, struct response *res, struct err *err)
{
	struct worker_departure departure = {.failed = json_bool_at(req->body, "failed", false)};
	struct id worker;

	if (worker_find(req->store, req->bearer, &worker, err) < 0)
		return -1;
	departure.worker_id = worker.text;
	if (body_undelivered(req, &departure.undelivered, err) < 0 || worker_leave(req->store, &departure, err) < 0)
		return -1;
	claim_waiters_forget(req->services->waiters, worker.text);
	return respond_empty(res, 204);
}
