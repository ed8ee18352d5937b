/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/tasks/callback_relay.h"

#include <pthread.h>
#include <string.h>

#include "common/err.h"
#include "common/http/fetch.h"
#include "common/log.h"
#include "common/loop/inbox.h"
#include "common/loop/loop.h"
#include "scheduler/api/api.h"

/* A notifier answers within 8 s (notifier/callback). It has 1,000 connections for an address
 * (--connections-per-address), so callbacks beyond MAX_TRYING wait here. */
enum { MAX_OPEN = 4096, MAX_TRYING = 500, TRY_MS = 10 * 1000, ANSWER_LIMIT = 1 << 20 };

struct callback_relay {
	pthread_t thread;
	struct loop *loop;
	struct fetcher *fetcher;
	struct inbox *inbox;
	struct relayed *open; /* this and the following members belong to the loop's thread */
	size_t open_count, trying;
	struct relayed *waiting, **waiting_end; /* open callbacks that were not sent to a notifier yet, oldest first */
	bool stopping;
};

struct relayed {
	struct visit visit; /* must be the first member: a visit is cast to its struct relayed */
	const struct http_request *http;
	const char *(*headers)[2];
	struct callback_relay *relay;
	struct callback callback;
	size_t next_url;
	struct fetch *fetch;
	bool trying;
	struct relayed *next, **at;   /* links of the open list; at is NULL until the loop has it */
	struct relayed *next_waiting; /* link of the waiting list */
};

static void waiting_begin(struct callback_relay *relay);

/* ---- the end of a callback ---- */

static void open_remove(struct relayed *relayed)
{
	struct callback_relay *relay = relayed->relay;

	*relayed->at = relayed->next;
	if (relayed->next)
		relayed->next->at = relayed->at;
	relay->open_count--;
	relay->trying -= relayed->trying;
	waiting_begin(relay);
}

/* Another thread calls this for a callback that never reached the loop. */
static void relayed_end(struct relayed *relayed, struct http_answer *answer)
{
	if (relayed->at)
		open_remove(relayed);
	answer->extra = relayed->headers;
	http_answer_now(relayed->visit.http, answer);
	for (size_t i = 0; i < relayed->callback.url_count; i++)
		free(relayed->callback.urls[i]);
	free(relayed->callback.bearer);
	free(relayed);
}

static void relayed_refuse(struct relayed *relayed, const char *why)
{
	struct http_answer answer = {.status = 503, .body = BUF_INIT(ANSWER_LIMIT)};
	struct response res = {.http = &answer};
	struct err err = ERR_INIT;

	err_set(&err, ERR_UNAVAILABLE, "%s", why);
	respond_error(&res, &err);
	relayed_end(relayed, &answer);
}

/* ---- one attempt ---- */

static void relayed_try(struct relayed *relayed);

static bool next_may_do_better(const struct fetch_answer *answer)
{
	return answer->status == 0 || answer->status == 502 || answer->status == 503 || answer->status == 504;
}

static void answered(void *data, struct fetch_answer *got)
{
	struct relayed *relayed = data;
	struct http_answer answer = {.status = got->status, .content_type = "application/vnd.api+json"};
	size_t len = got->body.len;
	char *text;

	relayed->fetch = NULL;
	if (got->status == 0)
		log_warn("a notifier did not answer a callback", "notifier",
			relayed->callback.urls[relayed->next_url - 1], "task-result",
			relayed->callback.task_result.text, "why", text_or_empty(got->error), NULL);
	if (next_may_do_better(got) && relayed->next_url < relayed->callback.url_count) {
		relayed_try(relayed);
		return;
	}
	if (got->status == 0) {
		relayed_refuse(relayed, "No notifier answers. Send the result again.");
		return;
	}
	if (got->status == 503)
		text_copy(answer.retry_after, sizeof(answer.retry_after), "2");
	text = buf_take(&got->body);
	answer.body = (struct buf){.data = text, .len = len, .cap = len + 1, .limit = SIZE_MAX / 2};
	relayed_end(relayed, &answer);
}

static void relayed_try(struct relayed *relayed)
{
	const struct http_request *http = relayed->http;
	_cleanup_(freep) char *url = mem_printf("%s/api/v2/task-results/%s/callback",
		relayed->callback.urls[relayed->next_url++], relayed->callback.task_result.text);
	const struct fetch_request request = {.method = "PATCH",
		.url = url,
		.bearer = relayed->callback.bearer,
		.content_type = "application/vnd.api+json",
		.body = buf_str(&http->body),
		.body_len = http->body.len,
		.answer_limit = ANSWER_LIMIT,
		.timeout_ms = TRY_MS};

	relayed->fetch = fetch_start(relayed->relay->fetcher, &request, answered, relayed);
}

static void open_add(struct callback_relay *relay, struct relayed *relayed)
{
	relayed->next = relay->open;
	relayed->at = &relay->open;
	if (relay->open)
		relay->open->at = &relayed->next;
	relay->open = relayed;
	relay->open_count++;
}

static void came(void *data, struct visit *visit)
{
	struct callback_relay *relay = data;
	struct relayed *relayed = (struct relayed *)(void *)visit;

	if (relay->stopping || relay->open_count >= MAX_OPEN) {
		relayed_refuse(relayed, "Too many results wait to be stored. Send the result again.");
		return;
	}
	open_add(relay, relayed);
	*relay->waiting_end = relayed;
	relay->waiting_end = &relayed->next_waiting;
	waiting_begin(relay);
}

static void waiting_begin(struct callback_relay *relay)
{
	struct relayed *relayed;

	while (!relay->stopping && relay->trying < MAX_TRYING && (relayed = relay->waiting)) {
		relay->waiting = relayed->next_waiting;
		if (!relay->waiting)
			relay->waiting_end = &relay->waiting;
		relay->trying++;
		relayed->trying = true;
		relayed_try(relayed);
	}
}

void callback_relay_pass(struct callback_relay *relay, const struct http_request *http,
	const struct http_answer *answer, const struct callback *callback)
{
	struct relayed *relayed = mem_new(1, sizeof(*relayed));

	*relayed = (struct relayed){.visit = {.http = http_later(http), .come = came},
		.http = http,
		.headers = answer->extra,
		.relay = relay,
		.callback = *callback};
	if (!inbox_put(relay->inbox, &relayed->visit))
		relayed_refuse(relayed, "This scheduler stops. Send the result again.");
}

/* ---- start and stop ---- */

static void *thread_run(void *data)
{
	const struct callback_relay *relay = data;

	loop_run(relay->loop);
	return NULL;
}

int callback_relay_start(struct callback_relay **ret_relay, struct err *err)
{
	struct callback_relay *relay = mem_new(1, sizeof(*relay));

	relay->waiting_end = &relay->waiting;
	relay->loop = loop_new();
	relay->fetcher = fetcher_new(relay->loop);
	relay->inbox = inbox_new(relay->loop, relay);
	if (pthread_create(&relay->thread, NULL, thread_run, relay) == 0) {
		*ret_relay = relay;
		return 0;
	}
	callback_relay_free(relay);
	return err_set(err, ERR_INTERNAL, "the thread of callbacks can't be started");
}

static void stop_came(void *data, struct visit *visit)
{
	struct callback_relay *relay = data;

	free(visit);
	relay->stopping = true;
	inbox_close(relay->inbox);
	while (relay->open) {
		fetch_abort(relay->open->fetch);
		relayed_refuse(relay->open, "This scheduler stops. Send the result again.");
	}
	loop_stop(relay->loop);
}

void callback_relay_stop(struct callback_relay *relay)
{
	struct visit *visit;

	if (!relay || relay->stopping)
		return;
	visit = mem_new(1, sizeof(*visit));
	visit->come = stop_came;
	if (inbox_put(relay->inbox, visit))
		pthread_join(relay->thread, NULL);
	else
		free(visit);
}

void callback_relay_free(struct callback_relay *relay)
{
	if (!relay)
		return;
	inbox_free(relay->inbox);
	fetcher_free(relay->fetcher);
	loop_free(relay->loop);
	free(relay);
}
