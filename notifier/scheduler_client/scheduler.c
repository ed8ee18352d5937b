/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/scheduler_client/scheduler.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "proto/protocol.h"

enum { CALL_MS = 20 * 1000, POLL_MS = 40 * 1000, ANSWER_LIMIT = 64 << 20 };

void scheduler_init(struct scheduler *scheduler, struct loop *loop, const char *url, const char *token)
{
	*scheduler = (struct scheduler){.loop = loop, .url = url, .token = token, .fetcher = fetcher_new(loop)};
	fetcher_expect(scheduler->fetcher, &scheduler->origin);
}

void scheduler_release(struct scheduler *scheduler)
{
	fetcher_free(scheduler->fetcher);
}

/* The parameters of one call. */
struct call {
	const char *path;
	const struct buf *body; /* NULL: a GET */
	long timeout_ms;
};

static struct fetch *call_start(struct scheduler *scheduler, const struct call *call, fetch_fn fn, void *data)
{
	const struct buf *body = call->body;
	_cleanup_(freep) char *url = mem_printf("%s/api/notifier/v1/%s", scheduler->url, call->path);
	const struct fetch_request request = {
		.method = body ? "POST" : "GET",
		.url = url,
		.bearer = scheduler->token,
		.content_type = body ? "application/json" : NULL,
		.body = body ? body->data : NULL,
		.body_len = body ? body->len : 0,
		.answer_limit = ANSWER_LIMIT,
		.timeout_ms = call->timeout_ms,
		.introduces = true,
	};

	return fetch_start(scheduler->fetcher, &request, fn, data);
}

struct fetch *scheduler_post(
	struct scheduler *scheduler, const char *path, const struct buf *body, fetch_fn fn, void *data)
{
	return call_start(scheduler, &(struct call){path, body, CALL_MS}, fn, data);
}

/* Takes `body`. */
static struct fetch *json_send(struct scheduler *scheduler, struct call call, json_t *body, fetch_fn fn, void *data)
{
	_cleanup_(freep) char *text = json_text(body);
	const struct buf bytes = {.data = text, .len = strlen(text)};

	json_decref(body);
	call.body = &bytes;
	return call_start(scheduler, &call, fn, data);
}

struct fetch *scheduler_post_json(struct scheduler *scheduler, const char *path, json_t *body, fetch_fn fn, void *data)
{
	return json_send(scheduler, (struct call){.path = path, .timeout_ms = CALL_MS}, body, fn, data);
}

struct fetch *scheduler_poll_json(struct scheduler *scheduler, const char *path, json_t *body, fetch_fn fn, void *data)
{
	return json_send(scheduler, (struct call){.path = path, .timeout_ms = POLL_MS}, body, fn, data);
}

struct fetch *scheduler_get(struct scheduler *scheduler, const char *path, fetch_fn fn, void *data)
{
	return call_start(scheduler, &(struct call){path, NULL, CALL_MS}, fn, data);
}

static void complain(struct scheduler *scheduler, const struct fetch_answer *answer)
{
	char status[32 + PROTOCOL_REFUSAL_SIZE], refusal[PROTOCOL_REFUSAL_SIZE];

	atomic_store(&scheduler->answers, false);
	if (scheduler->away)
		return;
	scheduler->away = true;
	snprintf(status, sizeof(status), "status %d", answer->status);
	if (answer->status == PROTOCOL_REFUSED) {
		protocol_refusal(buf_str(&answer->body), answer->body.len, refusal);
		snprintf(status, sizeof(status), "status %d: %s", answer->status, refusal);
	}
	if (answer->status == 401)
		log_error("the scheduler does not know this notifier's token: set --notifier-token-file", "scheduler",
			scheduler->url, NULL);
	else
		log_warn("scheduler away: requests to it are tried again", "scheduler", scheduler->url, "why",
			answer->error ? answer->error : status, NULL);
}

bool scheduler_heard(struct scheduler *scheduler, const struct fetch_answer *answer)
{
	if (answer->status < 200 || answer->status >= 300) {
		complain(scheduler, answer);
		return false;
	}
	if (scheduler->away)
		log_info("the scheduler answers again", NULL);
	scheduler->away = false;
	atomic_store(&scheduler->answers, true);
	return true;
}

json_t *scheduler_answer(struct scheduler *scheduler, const struct fetch_answer *answer)
{
	json_t *value = NULL;
	struct err err = ERR_INIT;

	if (!scheduler_heard(scheduler, answer))
		return NULL;
	if (json_parse(buf_str(&answer->body), answer->body.len, &value, &err) < 0) {
		log_error("an answer of the scheduler can't be read", "why", err.message, NULL);
		return NULL;
	}
	origin_recognize(&scheduler->origin, scheduler->url);
	return value;
}
