/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/scheduler_client/lease.h"

#include "common/clock.h"
#include "common/loop/retry.h"
#include "notifier/delivery/dispatch.h"
#include "notifier/metrics.h"
#include "notifier/notifier.h"
#include "notifier/scheduler_client/scheduler.h"

/* Ten thousand deliveries take ten calls, one after the other. */
enum { LEASE_MS = 60 * 1000, NAMES_AT_ONCE = 1000 };

struct lease {
	struct notifier *notifier;
	int64_t lease_ms;
	int64_t renewed_ms; /* the start of the last complete round */
	int64_t began_ms;
	json_t *names; /* deliveries of this round */
	size_t listed;
	struct fetch *call;
	int failures;
	struct loop_timer timer;
};

static void beat(void *data);
static void answered(void *data, struct fetch_answer *answer);

struct lease *lease_new(struct notifier *notifier)
{
	struct lease *lease = mem_new(1, sizeof(*lease));

	lease->notifier = notifier;
	lease->lease_ms = LEASE_MS;
	lease->renewed_ms = clock_mono_ms();
	loop_timer_set(notifier->loop, &lease->timer, 0, beat, lease);
	return lease;
}

void lease_free(struct lease *lease)
{
	if (!lease)
		return;
	loop_timer_clear(lease->notifier->loop, &lease->timer);
	fetch_abort(lease->call);
	json_decref(lease->names);
	free(lease);
}

void lease_granted(struct lease *lease, int64_t lease_ms)
{
	if (lease_ms <= 0 || lease_ms == lease->lease_ms)
		return;
	lease->lease_ms = lease_ms;
	if (!lease->call)
		loop_timer_set(lease->notifier->loop, &lease->timer, jitter(lease_ms / 4), beat, lease);
}

static void heartbeat_send(struct lease *lease)
{
	json_t *names = json_array();

	for (size_t i = 0; i < NAMES_AT_ONCE && lease->listed < json_array_size(lease->names); i++)
		json_array_append(names, json_array_get(lease->names, lease->listed++));
	lease->call = scheduler_post_json(&lease->notifier->scheduler, "heartbeat",
		json_pack("{ss so}", "notifier", lease->notifier->options.name, "requests", names), answered, lease);
}

static void answer_take(struct lease *lease, const json_t *answer)
{
	const json_t *item;
	size_t i;

	json_array_foreach(json_at(answer, "requests"), i, item)
	{
		if (!json_bool_at(item, "held", true))
			dispatch_settle(lease->notifier->dispatch, text_or_empty(json_string_at(item, "id")),
				(int)json_int_at(item, "attempt", 0));
	}
}

static void round_failed(struct lease *lease, int retry_after)
{
	metric_addf(M_HEARTBEATS, 1, "outcome=\"failed\"");
	lease->failures++;
	if (clock_mono_ms() - lease->renewed_ms > lease->lease_ms)
		dispatch_lose(lease->notifier->dispatch);
	loop_timer_set(lease->notifier->loop, &lease->timer,
		retry_wait(&retry_scheduler, lease->failures, retry_after, chance()), beat, lease);
}

static void answered(void *data, struct fetch_answer *answer)
{
	struct lease *lease = data;
	json_auto_t *value = scheduler_answer(&lease->notifier->scheduler, answer);

	lease->call = NULL;
	if (!value) {
		round_failed(lease, answer->retry_after);
		return;
	}
	answer_take(lease, value);
	if (lease->listed < json_array_size(lease->names)) {
		heartbeat_send(lease);
		return;
	}
	metric_addf(M_HEARTBEATS, 1, "outcome=\"ok\"");
	lease->failures = 0;
	lease->renewed_ms = lease->began_ms;
	loop_timer_set(lease->notifier->loop, &lease->timer, jitter(lease->lease_ms / 4), beat, lease);
}

/* A heartbeat is sent without deliveries, too: it tells this process whether the scheduler answers. */
static void beat(void *data)
{
	struct lease *lease = data;

	if (lease->call)
		return;
	json_decref(lease->names);
	lease->names = dispatch_names(lease->notifier->dispatch);
	lease->listed = 0;
	lease->began_ms = clock_mono_ms();
	heartbeat_send(lease);
}
