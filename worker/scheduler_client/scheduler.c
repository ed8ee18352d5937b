/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/scheduler_client/scheduler.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "proto/protocol.h"

enum { CALL_MS = 20 * 1000, ANSWER_LIMIT = 64 << 20 };

struct scheduler {
	struct scheduler_spec spec;
	char *worker;                               /* this worker's id; NULL: not registered */
	char *token;                                /* the worker's own */
	char complaint[64 + PROTOCOL_REFUSAL_SIZE]; /* the logged reason why the scheduler can't be reached; "": it can
						       be reached */
	bool refused;
	atomic_bool ready;
};

struct scheduler *scheduler_new(const struct scheduler_spec *spec)
{
	struct scheduler *scheduler = mem_new(1, sizeof(*scheduler));

	scheduler->spec = *spec;
	return scheduler;
}

void scheduler_free(struct scheduler *scheduler)
{
	if (!scheduler)
		return;
	free(scheduler->worker);
	free(scheduler->token);
	free(scheduler);
}

struct fetch *scheduler_post(struct scheduler *scheduler, const struct scheduler_call *call, fetch_fn fn, void *data)
{
	_cleanup_(freep) char *url = mem_printf("%s/api/worker/v1/%s", scheduler->spec.url, call->path);
	_cleanup_(freep) char *text = json_text(call->body);
	const struct fetch_request request = {
		.method = "POST",
		.url = url,
		.bearer = call->own_token ? scheduler->token : scheduler->spec.pool_token,
		.content_type = "application/json",
		.body = text,
		.body_len = strlen(text),
		.answer_limit = ANSWER_LIMIT,
		.timeout_ms = call->timeout_ms ? call->timeout_ms : CALL_MS,
		.introduces = call->introduces,
	};

	json_decref(call->body);
	return fetch_start(scheduler->spec.fetcher, &request, fn, data);
}

const char *scheduler_worker(const struct scheduler *scheduler)
{
	return scheduler->worker;
}

bool scheduler_ready(const struct scheduler *scheduler)
{
	return atomic_load(&scheduler->ready);
}

static void succeeded(struct scheduler *scheduler)
{
	atomic_store(&scheduler->ready, true);
	scheduler->complaint[0] = '\0';
}

void scheduler_registered(struct scheduler *scheduler, const char *worker, const char *token)
{
	free(scheduler->worker);
	free(scheduler->token);
	scheduler->worker = mem_text(worker);
	scheduler->token = mem_text(token);
	succeeded(scheduler);
}

/* Logs each cause once until the scheduler answers. */
static void complain(struct scheduler *scheduler, const struct fetch_answer *answer)
{
	char why[sizeof(scheduler->complaint)], refusal[PROTOCOL_REFUSAL_SIZE];

	snprintf(why, sizeof(why), "status %d", answer->status);
	if (answer->status == PROTOCOL_REFUSED) {
		protocol_refusal(buf_str(&answer->body), answer->body.len, refusal);
		snprintf(why, sizeof(why), "status %d: %s", answer->status, refusal);
	}
	if (answer->error)
		text_copy(why, sizeof(why), answer->error);
	if (text_equal(scheduler->complaint, why))
		return;
	text_copy(scheduler->complaint, sizeof(scheduler->complaint), why);
	log_warn("the scheduler can't be reached; trying again", "scheduler", scheduler->spec.url, "why", why, NULL);
}

bool scheduler_failed(struct scheduler *scheduler, const struct fetch_answer *answer)
{
	atomic_store(&scheduler->ready, false);
	if (answer->status != 401) {
		complain(scheduler, answer);
		return true;
	}
	if (!scheduler->refused) {
		scheduler->refused = true;
		log_error("the scheduler does not take this worker's agent token: it is not one of an agent pool, was "
			  "revoked, or has expired; running jobs finish, then the worker ends",
			"scheduler", scheduler->spec.url, NULL);
		scheduler->spec.refused(scheduler->spec.data);
	}
	return false;
}

bool scheduler_heard(struct scheduler *scheduler, const struct fetch_answer *answer)
{
	if (answer->status >= 200 && answer->status < 300) {
		succeeded(scheduler);
		return true;
	}
	scheduler_failed(scheduler, answer);
	if (answer->status == 404 && !scheduler->refused)
		scheduler->spec.forgotten(scheduler->spec.data);
	return false;
}
