/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/scheduler_client/claims.h"

#include "common/build_info.h"
#include "common/clock.h"
#include "common/loop/retry.h"
#include "notifier/delivery/dispatch.h"
#include "notifier/metrics.h"
#include "notifier/notifier.h"
#include "notifier/scheduler_client/kafka_client.h"
#include "notifier/scheduler_client/lease.h"
#include "notifier/scheduler_client/scheduler.h"
#include "proto/protocol.h"

/* Two claims overlap, so that the scheduler works on the next one while this process reads an answer. */
enum { IDLE_MS = 2000, MAX_IDS = 200, MAX_CLAIMS = 2 };

struct claim {
	struct claims *claims;
	struct fetch *fetch;
	const char *ids[MAX_IDS]; /* borrowed from the Kafka client */
	size_t client;            /* how many of `ids`; 0: the claim asks for the oldest requests instead */
	size_t max;               /* how many requests the answer may have */
	bool done;                /* answered, but an older claim is not */
	int64_t sent_ms;
	struct loop_timer timer; /* repeats the claim after a failure */
};

struct claims {
	struct notifier *notifier;
	struct claim under_way[MAX_CLAIMS]; /* a ring, oldest first: offsets are stored in this order */
	size_t first, count;
	bool more; /* the last claim without messages returned as many requests as it could */
	int failures;
	struct loop_timer timer;
};

static void idle(void *data);
static void answered(void *data, struct fetch_answer *answer);

struct claims *claims_new(struct notifier *notifier)
{
	struct claims *claims = mem_new(1, sizeof(*claims));

	claims->notifier = notifier;
	loop_timer_set(notifier->loop, &claims->timer, 0, idle, claims);
	return claims;
}

void claims_free(struct claims *claims)
{
	if (!claims)
		return;
	loop_timer_clear(claims->notifier->loop, &claims->timer);
	for (size_t i = 0; i < MAX_CLAIMS; i++) {
		loop_timer_clear(claims->notifier->loop, &claims->under_way[i].timer);
		fetch_abort(claims->under_way[i].fetch);
	}
	free(claims);
}

bool claims_busy(const struct claims *claims)
{
	for (size_t i = 0; i < MAX_CLAIMS; i++)
		if (claims->under_way[i].fetch)
			return true;
	return false;
}

/* The number of further requests that fit. Counts claims under way at their most. */
static size_t room(const struct claims *claims)
{
	size_t left = dispatch_room(claims->notifier->dispatch), coming = 0;

	for (size_t i = 0; i < claims->count; i++)
		coming += claims->under_way[(claims->first + i) % MAX_CLAIMS].max;
	left = left > coming ? left - coming : 0;
	return left < MAX_IDS ? left : (size_t)MAX_IDS;
}

static void ask(void *data)
{
	struct claim *claim = data;
	struct notifier *notifier = claim->claims->notifier;
	json_t *list = json_array();

	if (notifier->draining) {
		json_decref(list);
		return;
	}
	for (size_t i = 0; i < claim->client; i++)
		json_array_append_new(list, json_string(claim->ids[i]));
	claim->sent_ms = clock_mono_ms();
	claim->fetch = scheduler_post_json(&notifier->scheduler, "claim",
		json_pack("{ss ss ss sI so ss so sb sb}", "notifier", notifier->options.name, "callback-url",
			notifier->public_url, "internal-url", notifier->internal_url, "max", (json_int_t)claim->max,
			"ids", list, "version", build_version, "protocols", protocol_versions(), "calls", 1, "forwards",
			1),
		answered, claim);
}

static struct claim *claim_next(struct claims *claims)
{
	struct claim *claim = &claims->under_way[(claims->first + claims->count) % MAX_CLAIMS];

	claims->count++;
	claim->claims = claims;
	claim->done = false;
	return claim;
}

static void claim_send(struct claims *claims, size_t fits)
{
	struct claim *claim = claim_next(claims);

	claim->client = kafka_client_take(claims->notifier->client, fits, claim->ids);
	claim->max = claim->client ? claim->client : fits;
	ask(claim);
}

void claims_wake(struct claims *claims)
{
	size_t fits;

	while (!claims->failures && claims->count < MAX_CLAIMS &&
		(kafka_client_waiting(claims->notifier->client) > 0 || claims->more) && (fits = room(claims)) > 0)
		claim_send(claims, fits);
}

/* Claims without messages. This finds requests that have no message, whose message was lost, or whose notifier has
 * died. */
static void idle(void *data)
{
	struct claims *claims = data;
	size_t fits = claims->count ? 0 : room(claims);

	loop_timer_set(claims->notifier->loop, &claims->timer, jitter(IDLE_MS), idle, claims);
	if (fits)
		claim_send(claims, fits);
}

/* Removes answered claims, from the oldest on. */
static void settle(struct claims *claims)
{
	struct claim *claim;

	while (claims->count > 0 && (claim = &claims->under_way[claims->first])->done) {
		claim->done = false;
		claims->first = (claims->first + 1) % MAX_CLAIMS;
		claims->count--;
		kafka_client_claimed(claims->notifier->client, claim->client);
	}
}

static size_t take(struct claims *claims, const json_t *answer)
{
	const json_t *list = json_at(answer, "requests"), *item;
	size_t i;

	lease_granted(claims->notifier->lease, json_int_at(answer, "lease-seconds", 0) * 1000);
	json_array_foreach(list, i, item)
	{
		dispatch_take(claims->notifier->dispatch, item);
	}
	return json_array_size(list);
}

static void answered(void *data, struct fetch_answer *answer)
{
	struct claim *claim = data;
	struct claims *claims = claim->claims;
	json_auto_t *value = scheduler_answer(&claims->notifier->scheduler, answer);
	size_t got;

	claim->fetch = NULL;
	metric_observef(M_CLAIM_SECONDS, (double)(clock_mono_ms() - claim->sent_ms) / 1000, "%s", "");
	if (!value) {
		metric_addf(M_CLAIMS, 1, "outcome=\"failed\"");
		claims->failures++;
		loop_timer_set(claims->notifier->loop, &claim->timer,
			retry_wait(&retry_scheduler, claims->failures, answer->retry_after, chance()), ask, claim);
		return;
	}
	claims->failures = 0;
	got = take(claims, value);
	if (claim->client == 0)
		claims->more = got > 0 && got >= claim->max;
	metric_addf(M_CLAIMS, 1, "outcome=\"%s\"", got ? "some" : "none");
	claim->done = true;
	settle(claims);
	claims_wake(claims);
}
