/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/scheduler_client/scheduler.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "notifier/notifier.h"

enum { CALL_MS = 20 * 1000, ANSWER_LIMIT = 64 << 20 };

static struct fetch *call(struct notifier *notifier, const char *method, const char *path, const char *body, size_t len,
	fetch_fn fn, void *data)
{
	_cleanup_(freep) char *url = mem_printf("%s/api/notifier/v1/%s", notifier->options.scheduler_url, path);
	const struct fetch_request request = {
		.method = method,
		.url = url,
		.bearer = notifier->options.notifier_token,
		.content_type = body ? "application/json" : NULL,
		.body = body,
		.body_len = len,
		.answer_limit = ANSWER_LIMIT,
		.timeout_ms = CALL_MS,
		.introduces = true,
	};

	return fetch_start(notifier->fetcher, &request, fn, data);
}

struct fetch *scheduler_post(
	struct notifier *notifier, const char *path, const char *body, size_t len, fetch_fn fn, void *data)
{
	return call(notifier, "POST", path, body, len, fn, data);
}

struct fetch *scheduler_post_json(struct notifier *notifier, const char *path, json_t *body, fetch_fn fn, void *data)
{
	_cleanup_(freep) char *text = json_text(body);

	json_decref(body);
	return call(notifier, "POST", path, text, strlen(text), fn, data);
}

struct fetch *scheduler_get(struct notifier *notifier, const char *path, fetch_fn fn, void *data)
{
	return call(notifier, "GET", path, NULL, 0, fn, data);
}

static void complain(struct notifier *notifier, const struct fetch_answer *answer)
{
	char status[32];

	atomic_store(&notifier->ready, false);
	if (notifier->scheduler_away)
		return;
	notifier->scheduler_away = true;
	snprintf(status, sizeof(status), "status %d", answer->status);
	if (answer->status == 401)
		log_error("the scheduler does not know this notifier's token: set --notifier-token-file", "scheduler",
			notifier->options.scheduler_url, NULL);
	else
		log_warn("scheduler away: requests to it are tried again", "scheduler", notifier->options.scheduler_url,
			"why", answer->error ? answer->error : status, NULL);
}

bool scheduler_heard(struct notifier *notifier, const struct fetch_answer *answer)
{
	if (answer->status < 200 || answer->status >= 300) {
		complain(notifier, answer);
		return false;
	}
	if (notifier->scheduler_away)
		log_info("the scheduler answers again", NULL);
	notifier->scheduler_away = false;
	atomic_store(&notifier->ready, !notifier->draining);
	return true;
}

json_t *scheduler_answer(struct notifier *notifier, const struct fetch_answer *answer)
{
	json_t *value = NULL;
	struct err err = ERR_INIT;

	if (!scheduler_heard(notifier, answer))
		return NULL;
	if (json_parse(buf_str(&answer->body), answer->body.len, &value, &err) < 0) {
		log_error("an answer of the scheduler can't be read", "why", err.message, NULL);
		return NULL;
	}
	origin_recognize(&notifier->origin, notifier->options.scheduler_url);
	return value;
}
