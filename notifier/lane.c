/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/lane.h"

#include <string.h>

#include "common/err.h"
#include "common/log.h"
#include "common/loop/loop.h"
#include "common/loop/retry.h"
#include "notifier/metrics.h"
#include "notifier/scheduler_client/scheduler.h"

enum { LINGER_MS = 3, MAX_CALLS = 2, MAX_ITEMS = 500, ENOUGH_BYTES = 8 << 20, MAX_BYTES = 256 << 20 };

struct lane_call {
	struct lane *lane;
	struct fetch *fetch;
	struct lane_item *items;
	size_t count;
	struct lane_call *next;
};

struct lane {
	struct lane_spec spec;
	struct lane_item *head, **tail; /* not sent yet */
	size_t count, bytes;
	struct lane_call *calls;
	size_t call_count;
	size_t alone; /* the next items, this many, are sent one per call: the scheduler refused a call with them */
	int failures;
	struct loop_timer timer;
	struct lane *next; /* of the lanes */
};

static void lane_send(void *data);

struct lane *lane_new(const struct lane_spec *spec)
{
	struct lane *lane = mem_new(1, sizeof(*lane));

	lane->spec = *spec;
	lane->tail = &lane->head;
	lane->next = spec->lanes->first;
	spec->lanes->first = lane;
	return lane;
}

size_t lane_count(const struct lane *lane)
{
	return lane->count;
}

size_t lane_bytes(const struct lane *lane)
{
	return lane->bytes;
}

static void item_end(struct lane *lane, struct lane_item *item, const json_t *answer)
{
	lane->count--;
	lane->bytes -= item->len;
	free(item->text);
	item->text = NULL;
	lane->spec.answered(lane->spec.data, item, answer);
}

/* ---- batching ---- */

static bool goes_along(const struct lane_call *call, const struct lane_item *item, size_t bytes)
{
	if (call->count == 0)
		return true;
	return call->count < MAX_ITEMS && bytes + item->len <= ENOUGH_BYTES && !call->lane->alone;
}

/* Moves the items that may be sent now from the queue to the call. Ends canceled items. Returns the bytes. */
static size_t call_gather(struct lane_call *call)
{
	struct lane *lane = call->lane;
	struct lane_item **at = &lane->head, **end = &call->items, *item, *canceled = NULL;
	size_t bytes = 0;

	while ((item = *at)) {
		if (!item->canceled && table_find(&lane->spec.lanes->under_way, item->key)) {
			at = &item->next;
			continue;
		}
		if (!item->canceled && !goes_along(call, item, bytes))
			break;
		*at = item->next;
		item->next = NULL;
		if (item->canceled) {
			item->next = canceled;
			canceled = item;
			continue;
		}
		table_add(&lane->spec.lanes->under_way, &item->under_way, item->key);
		bytes += item->len + 1;
		call->count++;
		*end = item;
		end = &item->next;
	}
	if (!*at)
		lane->tail = at;
	while ((item = canceled)) {
		canceled = item->next;
		item_end(lane, item, NULL);
	}
	return bytes;
}

/* The call's body, to be released. `bytes`: of its items. */
static struct buf call_body(const struct lane_call *call, size_t bytes)
{
	struct buf text = BUF_INIT(MAX_BYTES);

	text.cap = bytes + 64;
	text.data = mem_new(text.cap, 1);
	buf_printf(&text, "{\"%s\":[", call->lane->spec.list);
	for (const struct lane_item *item = call->items; item; item = item->next) {
		buf_append(&text, item->text, item->len);
		buf_text(&text, item->next ? "," : "]}");
	}
	return text;
}

/* ---- calls ---- */

static void call_free(struct lane_call *call)
{
	struct lane_call **at = &call->lane->calls;

	while (*at != call)
		at = &(*at)->next;
	*at = call->next;
	call->lane->call_count--;
	free(call);
}

static void send_after(struct lane *lane, int64_t ms)
{
	if (lane->head && !lane->timer.due_ms)
		loop_timer_set(lane->spec.scheduler->loop, &lane->timer, ms, lane_send, lane);
}

/* A call has ended: sends items of other lanes that had to wait for its task results. */
static void others_send(const struct lane *lane)
{
	for (struct lane *other = lane->spec.lanes->first; other; other = other->next)
		if (other != lane)
			send_after(other, 0);
}

/* Puts the items back at the head of the queue, in their order. No later item of the same task result precedes them:
 * such items are not sent while the call is in flight. */
static void call_requeue(struct lane_call *call)
{
	struct lane *lane = call->lane;
	struct lane_item **end = &call->items;

	for (; *end; end = &(*end)->next)
		table_remove(&lane->spec.lanes->under_way, &(*end)->under_way);
	*end = lane->head;
	if (!lane->head)
		lane->tail = end;
	lane->head = call->items;
	call->items = NULL;
}

static void call_ended(struct lane_call *call, const json_t *answers)
{
	struct lane *lane = call->lane;
	struct lane_item *item;

	for (size_t i = 0; (item = call->items); i++) {
		const json_t *answer = json_array_get(answers, i);

		call->items = item->next;
		item->next = NULL;
		table_remove(&lane->spec.lanes->under_way, &item->under_way);
		if (answer && !text_equal(json_string_at(answer, lane->spec.member), item->key))
			answer = NULL;
		metric_addf(M_REPORTS, 1, "kind=\"%s\",outcome=\"%s\"", lane->spec.kind, answer ? "ok" : "refused");
		if (lane->alone > 0)
			lane->alone--;
		item_end(lane, item, answer);
	}
}

/* True if the scheduler rejects the contents, so that a repetition would fail as well. */
static bool refused(const struct fetch_answer *answer)
{
	return answer->status == 400 || answer->status == 413 || answer->status == 422;
}

static void call_failed(struct lane_call *call, const struct fetch_answer *answer)
{
	struct lane *lane = call->lane;

	metric_addf(M_REPORT_CALLS, 1, "kind=\"%s\",outcome=\"failed\"", lane->spec.kind);
	if (refused(answer) && call->count == 1) {
		log_warn("the scheduler refuses a report; it is dropped", "kind", lane->spec.kind, lane->spec.member,
			call->items->key, NULL);
		call_ended(call, NULL);
		return;
	}
	if (refused(answer))
		lane->alone = call->count;
	else
		lane->failures++;
	call_requeue(call);
}

static void call_answered(void *data, struct fetch_answer *answer)
{
	struct lane_call *call = data;
	struct lane *lane = call->lane;
	json_auto_t *value = scheduler_answer(lane->spec.scheduler, answer);
	const json_t *answers = json_at(value, lane->spec.list);
	int64_t wait = 0;

	call->fetch = NULL;
	if (answers) {
		lane->failures = 0;
		metric_addf(M_REPORT_CALLS, 1, "kind=\"%s\",outcome=\"ok\"", lane->spec.kind);
		call_ended(call, answers);
	} else {
		call_failed(call, answer);
		if (lane->failures)
			wait = retry_wait(&retry_scheduler, lane->failures, answer->retry_after, chance());
	}
	call_free(call);
	send_after(lane, wait);
	others_send(lane);
}

static void call_start(struct lane *lane)
{
	struct lane_call *call = mem_new(1, sizeof(*call));
	size_t bytes;

	call->lane = lane;
	bytes = call_gather(call);
	if (call->count == 0) {
		free(call);
		return;
	}
	call->next = lane->calls;
	lane->calls = call;
	lane->call_count++;
	_cleanup_(buf_release) struct buf body = call_body(call, bytes);
	call->fetch = scheduler_post(lane->spec.scheduler, lane->spec.kind, &body, call_answered, call);
}

/* After a failure only one call at a time is made, to find out when the scheduler is back. */
static void lane_send(void *data)
{
	struct lane *lane = data;
	size_t max = lane->failures || lane->alone ? 1 : MAX_CALLS, before;

	do {
		before = lane->call_count;
		if (before < max)
			call_start(lane);
	} while (lane->head && lane->call_count > before);
}

void lane_add(struct lane *lane, struct lane_item *item, const char *key, char *text, size_t len)
{
	*item = (struct lane_item){.key = key, .text = text, .len = len};
	*lane->tail = item;
	lane->tail = &item->next;
	lane->count++;
	lane->bytes += len;
	/* Otherwise a call in flight sends the item when it ends. */
	if (lane->call_count == 0 || (lane->call_count < MAX_CALLS && !lane->failures))
		send_after(lane, LINGER_MS);
}

void lane_cancel(struct lane *lane, struct lane_item *item)
{
	item->canceled = true;
	send_after(lane, LINGER_MS);
}

void lane_free(struct lane *lane)
{
	struct lane_call *call;
	struct lane_item *item;
	struct lane **at;

	if (!lane)
		return;
	loop_timer_clear(lane->spec.scheduler->loop, &lane->timer);
	while ((call = lane->calls)) {
		fetch_abort(call->fetch);
		call_ended(call, NULL);
		call_free(call);
	}
	while ((item = lane->head)) {
		lane->head = item->next;
		item_end(lane, item, NULL);
	}
	for (at = &lane->spec.lanes->first; *at != lane; at = &(*at)->next)
		;
	*at = lane->next;
	free(lane);
}
