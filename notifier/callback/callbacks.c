/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/callback/callbacks.h"

#include <stdio.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/http/httpd.h"
#include "common/ids.h"
#include "notifier/deadlines/deadlines.h"
#include "notifier/delivery/dispatch.h"
#include "notifier/lane.h"
#include "notifier/metrics.h"
#include "notifier/notifier.h"
#include "notifier/scheduler_client/kafka_client.h"

/* The longest time until a service gets its answer, and the bounds on reports that are queued for the scheduler. */
enum { ANSWER_MS = 8 * 1000, MAX_WAITING = 20000, MAX_WAITING_BYTES = 256 << 20 };

struct callback {
	struct visit visit; /* first */
	struct lane_item item;
	struct callbacks *callbacks;
	struct id id;
	char *text; /* the report to the scheduler; the lane takes it */
	bool final;
	json_t *document; /* the scheduler's answer, kept until the broker has acknowledged the message */
	struct kafka_client_published published;
	int64_t came_ms;
	struct callback *next, **at; /* in the list of open callbacks */
};

struct callbacks {
	struct notifier *notifier;
	struct lane *lane;
	struct callback *first, **last; /* oldest first */
	size_t open;
	struct loop_timer timer;
};

/* ---- answers ---- */

void answer_json(struct http_answer *answer, int status, json_t *document)
{
	char *text = json_text(document);

	json_decref(document);
	answer->status = status;
	answer->content_type = "application/vnd.api+json";
	answer->body = (struct buf){.data = text, .len = strlen(text), .cap = strlen(text) + 1, .limit = SIZE_MAX / 2};
}

void answer_error(struct http_answer *answer, const struct err *err)
{
	char status[16];
	json_t *error;

	snprintf(status, sizeof(status), "%d", err_http_status(err->kind));
	error = json_pack("{ss ss ss}", "status", status, "title", err_title(err), "detail", err->message);
	if (!error) /* the detail quotes bytes of the request that are not UTF-8 */
		error = json_pack("{ss ss}", "status", status, "title", err_title(err));
	if (err->pointer[0]) {
		json_t *pointer = json_string(err->pointer);

		/* NULL if the pointer was cut inside a UTF-8 character. */
		if (pointer)
			json_object_set_new(error, "source", json_pack("{so}", "pointer", pointer));
	}
	if (err->kind == ERR_UNAVAILABLE)
		text_copy(answer->retry_after, sizeof(answer->retry_after), "2");
	answer_json(answer, err_http_status(err->kind), json_pack("{s[o]}", "errors", error));
}

/* ---- open callbacks ---- */

static void open_add(struct callbacks *callbacks, struct callback *callback)
{
	callback->at = callbacks->last;
	*callbacks->last = callback;
	callbacks->last = &callback->next;
	callbacks->open++;
}

static void open_remove(struct callbacks *callbacks, struct callback *callback)
{
	*callback->at = callback->next;
	if (callback->next)
		callback->next->at = callback->at;
	else
		callbacks->last = callback->at;
	callbacks->open--;
}

/* Sends the answer, once. Does not free the callback: the lane or the Kafka client may still hold it. */
static void answer_send(struct callback *callback, struct http_answer *answer)
{
	struct callbacks *callbacks = callback->callbacks;

	if (!callback->visit.http) {
		buf_release(&answer->body);
		return;
	}
	metric_addf(M_CALLBACKS, 1, "status=\"%d\"", answer->status);
	metric_observef(M_CALLBACK_SECONDS, (double)(clock_mono_ms() - callback->came_ms) / 1000, "%s", "");
	open_remove(callbacks, callback);
	metric_set(M_CALLBACKS_OPEN, "", (double)callbacks->open);
	http_answer_now(callback->visit.http, answer);
	callback->visit.http = NULL;
}

static void refuse(struct callback *callback, enum err_kind kind, const char *why)
{
	struct http_answer answer = {.status = 500};
	struct err err = ERR_INIT;

	err_set(&err, kind, "%s", why);
	answer_error(&answer, &err);
	answer_send(callback, &answer);
}

static void accept_document(struct callback *callback, json_t *document)
{
	struct http_answer answer = {.status = 200};

	answer_json(&answer, 200, json_is_object(document) ? json_incref(document) : json_object());
	answer_send(callback, &answer);
}

static void release(struct callback *callback)
{
	free(callback->text);
	json_decref(callback->document);
	free(callback);
}

/* ---- timeout ---- */

static void late(void *data)
{
	struct callbacks *callbacks = data;
	struct callback *callback;
	int64_t now = clock_mono_ms();

	while ((callback = callbacks->first) && callback->came_ms + ANSWER_MS <= now) {
		bool with_scheduler = !callback->document;

		refuse(callback, ERR_UNAVAILABLE,
			with_scheduler ? "The result could not be stored in time. Send it again."
				       : "The result could not be published in time. Send it again.");
		if (with_scheduler)
			lane_cancel(callbacks->lane, &callback->item);
	}
	if (callback)
		loop_timer_set(callbacks->notifier->loop, &callbacks->timer, callback->came_ms + ANSWER_MS - now, late,
			callbacks);
}

/* ---- processing ---- */

static void published(void *data, bool ok)
{
	struct callback *callback = data;

	if (ok)
		accept_document(callback, callback->document);
	else
		refuse(callback, ERR_UNAVAILABLE, "The result could not be published. Send it again.");
	release(callback);
}

/* The scheduler has stored the report. A final report also stops further tries of the request. */
static void accepted(struct callback *callback, const json_t *answer)
{
	struct notifier *notifier = callback->callbacks->notifier;

	deadlines_set(notifier->deadlines, callback->id.text, json_int_at(answer, "due-in-ms", DEADLINE_NONE));
	if (!callback->final) {
		accept_document(callback, json_object_get(answer, "document"));
		release(callback);
		return;
	}
	dispatch_settle(notifier->dispatch, callback->id.text, 0);
	callback->document = json_object_get(answer, "document");
	callback->document = callback->document ? json_incref(callback->document) : json_object();
	callback->published = (struct kafka_client_published){.fn = published, .data = callback};
	kafka_client_publish(notifier->client, callback->id.text, json_string_at(answer, "run"), &callback->published);
}

static void answered(void *data, struct lane_item *item, const json_t *answer)
{
	struct callback *callback = table_owner(item, struct callback, item);

	(void)data;
	switch (json_int_at(answer, "answer", 0)) {
	case 200:
		accepted(callback, answer);
		return;
	case 401:
		refuse(callback, ERR_UNAUTHORIZED, "The token is not this task result's, or its time is over.");
		break;
	case 404:
		refuse(callback, ERR_NOT_FOUND, "There is no such task result.");
		break;
	case 409:
		refuse(callback, ERR_CONFLICT, "The task result has its final status already.");
		break;
	case 422:
		refuse(callback, ERR_INVALID,
			"The report is not valid, or gives its task result too many outcomes together with earlier "
			"ones.");
		break;
	default:
		refuse(callback, ERR_UNAVAILABLE, "The result could not be stored. Send it again.");
		break;
	}
	release(callback);
}

static void came(void *data, struct visit *visit)
{
	struct notifier *notifier = data;
	struct callbacks *callbacks = notifier->callbacks;
	struct callback *callback = (struct callback *)(void *)visit;
	char *text = callback->text;

	callback->callbacks = callbacks;
	callback->came_ms = clock_mono_ms();
	open_add(callbacks, callback);
	metric_set(M_CALLBACKS_OPEN, "", (double)callbacks->open);
	if (lane_count(callbacks->lane) >= MAX_WAITING || lane_bytes(callbacks->lane) >= MAX_WAITING_BYTES) {
		refuse(callback, ERR_UNAVAILABLE, "Too many results wait to be stored. Send it again.");
		release(callback);
		return;
	}
	if (!callbacks->timer.due_ms)
		loop_timer_set(notifier->loop, &callbacks->timer, ANSWER_MS, late, callbacks);
	callback->text = NULL;
	lane_add(callbacks->lane, &callback->item, callback->id.text, text, strlen(text));
}

/* ---- from the server's threads ---- */

struct visit *callback_new(const char *id, const char *token, json_t *report)
{
	struct callback *callback = mem_new(1, sizeof(*callback));

	text_copy(callback->id.text, sizeof(callback->id.text), id);
	callback->final = !text_equal(json_string_at(report, "status"), "running");
	json_object_set_new(report, "task-result", json_string(id));
	json_object_set_new(report, "token", json_string(token));
	callback->text = json_text(report);
	json_decref(report);
	callback->visit.come = came;
	return &callback->visit;
}

void callback_free(struct visit *visit)
{
	release((struct callback *)(void *)visit);
}

/* ---- open and free ---- */

struct callbacks *callbacks_new(struct notifier *notifier)
{
	struct callbacks *callbacks = mem_new(1, sizeof(*callbacks));
	const struct lane_spec lane = {.scheduler = &notifier->scheduler,
		.lanes = &notifier->lanes,
		.kind = "callbacks",
		.list = "callbacks",
		.member = "task-result",
		.data = callbacks,
		.answered = answered};

	callbacks->notifier = notifier;
	callbacks->last = &callbacks->first;
	callbacks->lane = lane_new(&lane);
	return callbacks;
}

size_t callbacks_busy(const struct callbacks *callbacks)
{
	return callbacks->open;
}

void callbacks_close(struct callbacks *callbacks)
{
	while (callbacks->first)
		refuse(callbacks->first, ERR_UNAVAILABLE, "This notifier stops. Send it again.");
}

void callbacks_free(struct callbacks *callbacks)
{
	if (!callbacks)
		return;
	loop_timer_clear(callbacks->notifier->loop, &callbacks->timer);
	lane_free(callbacks->lane);
	free(callbacks);
}
