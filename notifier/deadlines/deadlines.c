/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/deadlines/deadlines.h"

#include <poll.h>
#include <stdatomic.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/ids.h"
#include "common/log.h"
#include "common/loop/retry.h"
#include "notifier/deadlines/redis.h"
#include "notifier/deadlines/scripts.h"
#include "notifier/delivery/dispatch.h"
#include "notifier/lane.h"
#include "notifier/metrics.h"
#include "notifier/notifier.h"
#include "notifier/scheduler_client/kafka_client.h"
#include "notifier/scheduler_client/scheduler.h"

enum {
	SOON_MS = 5,    /* changes are batched for this long */
	ASK_MS = 1000,  /* how late this process may notice another notifier's changes */
	AWAY_MS = 2000, /* between attempts while Redis is unavailable */
	VISIBLE_MS = 30 * 1000,
	WHOLE_MS = 60 * 1000,
	LIST_PAGE = 1000,
	MAX_CHANGES = 200 * 1000,
};

/* The input and output of one loop_work call. The loop does not touch it while the call is under way. */
struct errand {
	struct redis *redis;
	struct deadline_change *changes;
	size_t count;
	bool unlisted;
	struct deadline_claim claim;
	bool failed;
	struct err err;
	atomic_bool under_way; /* the worker thread uses it */
};

struct deadlines {
	struct notifier *notifier;
	struct redis redis;
	struct errand errand;
	bool running;                    /* from the start of the errand until errand_done */
	struct deadline_change *changes; /* since the errand began */
	size_t count, room;
	bool unlisted; /* a reading of the scheduler's list is needed; the next errand sets this in Redis */
	bool away, told;
	struct loop_timer timer, list_timer;

	struct lane *timeouts;
	struct table fired; /* timeouts being reported, by id */
	struct fetch *listing;
	bool listed_once;
	char after[ID_SIZE];
};

struct timeout {
	struct lane_item item; /* first */
	struct table_entry entry;
	struct id id;
};

static void run(void *data);

/* ---- changes ---- */

static void run_within(struct deadlines *deadlines, int64_t ms)
{
	struct loop_timer *timer = &deadlines->timer;

	if (deadlines->running || (timer->due_ms && timer->due_ms <= clock_mono_ms() + ms))
		return;
	loop_timer_set(deadlines->notifier->loop, timer, ms, run, deadlines);
}

/* Drops the pending changes. A later reading of the scheduler's list restores them. */
static void changes_drop(struct deadlines *deadlines)
{
	deadlines->count = 0;
	deadlines->unlisted = true;
}

void deadlines_set(struct deadlines *deadlines, const char *id, int64_t in_ms)
{
	struct deadline_change *change;

	if (deadlines->count >= MAX_CHANGES)
		changes_drop(deadlines);
	if (deadlines->count == deadlines->room) {
		deadlines->room = deadlines->room ? deadlines->room * 2 : 256;
		deadlines->changes = mem_resize(deadlines->changes, deadlines->room, sizeof(*deadlines->changes));
	}
	change = &deadlines->changes[deadlines->count++];
	text_copy(change->id, sizeof(change->id), id);
	change->in_ms = in_ms < 0 ? DEADLINE_NONE : in_ms;
	if (!deadlines->away)
		run_within(deadlines, SOON_MS);
}

/* ---- timeouts ---- */

static void timeout_ended(void *data, struct lane_item *item, const json_t *answer)
{
	struct timeout *timeout = (struct timeout *)(void *)item;
	struct deadlines *deadlines = data;
	int64_t due = json_int_at(answer, "due-in-ms", DEADLINE_NONE);
	bool reported = json_bool_at(answer, "reported", false);

	table_remove(&deadlines->fired, &timeout->entry);
	if (answer) {
		metric_addf(M_DEADLINES_FIRED, 1, "outcome=\"%s\"", reported ? "reported" : due < 0 ? "over" : "moved");
		deadlines_set(deadlines, timeout->id.text, due);
	}
	if (reported) {
		dispatch_settle(deadlines->notifier->dispatch, timeout->id.text, 0);
		kafka_client_publish(
			deadlines->notifier->client, timeout->id.text, json_string_at(answer, "run"), NULL);
	}
	free(timeout);
}

static void fire(struct deadlines *deadlines, const char *id)
{
	struct timeout *timeout;
	char *text;

	if (!id_valid(id, "taskrs") || table_find(&deadlines->fired, id))
		return;
	timeout = mem_new(1, sizeof(*timeout));
	text_copy(timeout->id.text, sizeof(timeout->id.text), id);
	table_add(&deadlines->fired, &timeout->entry, timeout->id.text);
	text = mem_printf("\"%s\"", id);
	lane_add(deadlines->timeouts, &timeout->item, timeout->id.text, text, strlen(text));
}

size_t deadlines_busy(const struct deadlines *deadlines)
{
	return lane_count(deadlines->timeouts);
}

/* ---- the scheduler's list ---- */

static void list_page(struct deadlines *deadlines);

static void list_begin(void *data)
{
	struct deadlines *deadlines = data;

	if (deadlines->listing)
		return;
	deadlines->after[0] = '\0';
	list_page(deadlines);
}

static void list_take(struct deadlines *deadlines, const json_t *item)
{
	const char *id = json_string_at(item, "task-result");
	int64_t due = json_int_at(item, "due-in-ms", 0);

	if (!id_valid(id, "taskrs"))
		return;
	text_copy(deadlines->after, sizeof(deadlines->after), id);
	if (due <= 0)
		fire(deadlines, id);
	else if (!deadlines->away && !table_find(&deadlines->fired, id))
		deadlines_set(deadlines, id, due);
}

static void list_answered(void *data, struct fetch_answer *answer)
{
	struct deadlines *deadlines = data;
	json_auto_t *value = scheduler_answer(&deadlines->notifier->scheduler, answer);
	const json_t *list = json_at(value, "deadlines"), *item;
	size_t i;

	deadlines->listing = NULL;
	metric_addf(M_DEADLINES_LISTED, 1, "outcome=\"%s\"", list ? "ok" : "failed");
	json_array_foreach(list, i, item)
	{
		list_take(deadlines, item);
	}
	if (json_array_size(list) >= LIST_PAGE) {
		list_page(deadlines);
		return;
	}
	deadlines->unlisted |= !list;
	deadlines->listed_once |= list != NULL;
	/* Redis can't say now when the next reading is due, so this process keeps the time. */
	if (deadlines->away || !deadlines->listed_once)
		loop_timer_set(deadlines->notifier->loop, &deadlines->list_timer,
			jitter(deadlines->listed_once ? WHOLE_MS : AWAY_MS), list_begin, deadlines);
}

static void list_page(struct deadlines *deadlines)
{
	_cleanup_(freep) char *path = mem_printf("deadlines?after=%s&limit=%d", deadlines->after, LIST_PAGE);

	deadlines->listing = scheduler_get(&deadlines->notifier->scheduler, path, list_answered, deadlines);
}

/* ---- the errand ---- */

static void errand_work(void *data)
{
	struct errand *errand = data;

	errand->failed = scripts_change(errand->redis, errand->changes, errand->count, &errand->err) < 0 ||
		(errand->unlisted && scripts_unlisted(errand->redis, &errand->err) < 0) ||
		scripts_claim(errand->redis, VISIBLE_MS, WHOLE_MS, &errand->claim, &errand->err) < 0;
	atomic_store(&errand->under_way, false);
}

static void redis_away(struct deadlines *deadlines)
{
	const struct err *err = &deadlines->errand.err;

	if (!deadlines->away)
		log_warn("Redis is away; deadlines are read from the scheduler meanwhile", "why", err->message, NULL);
	/* Changes that did not reach Redis are in the scheduler's list. */
	changes_drop(deadlines);
	if (!deadlines->away && deadlines->listed_once && !deadlines->listing)
		loop_timer_set(
			deadlines->notifier->loop, &deadlines->list_timer, jitter(WHOLE_MS / 4), list_begin, deadlines);
	deadlines->away = true;
}

static void redis_answers(struct deadlines *deadlines)
{
	const struct deadline_claim *claim = &deadlines->errand.claim;

	if (deadlines->away)
		log_info("Redis answers again", NULL);
	deadlines->away = false;
	for (size_t i = 0; i < claim->count; i++)
		fire(deadlines, claim->due[i]);
	if (claim->list && deadlines->listed_once)
		list_begin(deadlines);
}

static int64_t next_run(const struct deadlines *deadlines)
{
	const struct deadline_claim *claim = &deadlines->errand.claim;

	if (deadlines->away)
		return jitter(AWAY_MS);
	if (deadlines->count)
		return SOON_MS;
	if (claim->count == MAX_CLAIM)
		return 0;
	return claim->next_ms >= 0 && claim->next_ms < ASK_MS ? claim->next_ms + 1 : jitter(ASK_MS);
}

static void errand_done(void *data)
{
	struct deadlines *deadlines = table_owner(data, struct deadlines, errand);

	deadlines->running = false;
	free(deadlines->errand.changes);
	deadlines->errand.changes = NULL;
	metric_set(M_REDIS_UP, "", !deadlines->errand.failed);
	if (deadlines->errand.failed)
		redis_away(deadlines);
	else
		redis_answers(deadlines);
	loop_timer_set(deadlines->notifier->loop, &deadlines->timer, next_run(deadlines), run, deadlines);
}

static void run(void *data)
{
	struct deadlines *deadlines = data;
	struct errand *errand = &deadlines->errand;

	if (deadlines->running)
		return;
	*errand = (struct errand){.redis = &deadlines->redis,
		.changes = deadlines->changes,
		.count = deadlines->count,
		.unlisted = deadlines->unlisted,
		.under_way = true};
	deadlines->changes = NULL;
	deadlines->count = deadlines->room = 0;
	deadlines->unlisted = false;
	deadlines->running = true;
	loop_work(deadlines->notifier->loop, errand_work, errand_done, errand);
}

/* ---- open and free ---- */

int deadlines_open(struct notifier *notifier, struct deadlines **ret_deadlines, struct err *err)
{
	struct deadlines *deadlines = mem_new(1, sizeof(*deadlines));
	const struct lane_spec timeouts = {.scheduler = &notifier->scheduler,
		.lanes = &notifier->lanes,
		.kind = "timeouts",
		.list = "task-results",
		.member = "task-result",
		.data = deadlines,
		.answered = timeout_ended};

	deadlines->notifier = notifier;
	*ret_deadlines = deadlines;
	if (redis_parse(notifier->options.redis_url, &deadlines->redis, err) < 0)
		return -1;
	deadlines->timeouts = lane_new(&timeouts);
	loop_timer_set(notifier->loop, &deadlines->timer, 0, run, deadlines);
	loop_timer_set(notifier->loop, &deadlines->list_timer, 0, list_begin, deadlines);
	return 0;
}

void deadlines_free(struct deadlines *deadlines)
{
	struct loop *loop;

	if (!deadlines)
		return;
	loop = deadlines->notifier->loop;
	/* Terminates: the thread's calls have timeouts. */
	while (atomic_load(&deadlines->errand.under_way))
		poll(NULL, 0, 5);
	loop_timer_clear(loop, &deadlines->timer);
	loop_timer_clear(loop, &deadlines->list_timer);
	fetch_abort(deadlines->listing);
	lane_free(deadlines->timeouts);
	loop_timer_clear(loop, &deadlines->timer);
	redis_release(&deadlines->redis);
	table_release(&deadlines->fired);
	free(deadlines->changes);
	free(deadlines->errand.changes);
	free(deadlines);
}
