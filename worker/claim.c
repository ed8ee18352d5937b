/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/claim.h"

#include "common/clock.h"
#include "common/err.h"
#include "common/fetch.h"
#include "common/log.h"
#include "worker/lease.h"
#include "worker/metrics.h"
#include "worker/ship/backoff.h"
#include "worker/tickets.h"
#include "worker/worker.h"

enum { IDLE_MS = 2000, SETTLING_MS = 200, FREED_MS = 20, SOON_MS = 25, MOST_SOON = 5 };

struct claims {
	struct worker *worker;
	struct fetch *claiming;
	bool again; /* something happened since it was sent */
	int64_t sent_ms;
	int64_t leased_ms; /* the same by the clock of leases */
	size_t asked;      /* slots */
	bool more_wait;    /* the last claim got as much as it asked for */
	int soon;          /* so often it asks again before long */
	struct loop_timer timer;
	struct backoff backoff;
};

static void idle(void *data)
{
	claims_wake(data);
}

struct claims *claims_new(struct worker *worker)
{
	struct claims *claims = mem_new(1, sizeof(*claims));

	claims->worker = worker;
	return claims;
}

void claims_free(struct claims *claims)
{
	if (!claims)
		return;
	loop_timer_clear(claims->worker->loop, &claims->timer);
	fetch_abort(claims->claiming);
	free(claims);
}

static size_t jobs_start(struct claims *claims, const struct fetch_answer *answer)
{
	struct worker *worker = claims->worker;
	struct keeper_lease lease;
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;
	const json_t *jobs, *item;
	size_t i;

	if (json_parse(buf_str(&answer->body), answer->body.len, &value, &err) < 0) {
		log_error("the scheduler's answer to a claim can't be read", "why", err.message, NULL);
		return 0;
	}
	jobs = json_at(value, "jobs");
	lease = lease_since(claims->leased_ms, json_int_at(value, "lease-seconds", 0));
	json_array_foreach(jobs, i, item)
	{
		slots_start(worker, item, &lease);
	}
	return json_array_size(jobs);
}

/* A worker that had no free slot has paused its partitions, and librdkafka takes some hundred milliseconds until it
 * fetches again: what was announced meanwhile is asked for. */
static int64_t next_ms(struct claims *claims)
{
	if (claims->soon > 0)
		return SOON_MS << (MOST_SOON - claims->soon--);
	return jitter(tickets_settling(claims->worker->tickets) ? SETTLING_MS : IDLE_MS);
}

static void claim_answered(void *data, struct fetch_answer *answer)
{
	struct claims *claims = data;
	struct worker *worker = claims->worker;
	int64_t next = next_ms(claims);
	size_t jobs = 0;

	claims->claiming = NULL;
	metric_observef(M_CLAIM_SECONDS, (double)(clock_mono_ms() - claims->sent_ms) / 1000, "%s", "");
	if (lease_heard(worker->lease, answer)) {
		backoff_reset(&claims->backoff);
		jobs = jobs_start(claims, answer);
		claims->more_wait = jobs >= claims->asked;
		metric_addf(M_CLAIMS, 1, "outcome=\"%s\"", jobs ? "jobs" : "none");
		tickets_answered(worker->tickets);
	} else {
		metric_addf(M_CLAIMS, 1, "outcome=\"failed\"");
		next = backoff_next(&claims->backoff, answer->retry_after);
		claims->again = false;
	}
	loop_timer_set(worker->loop, &claims->timer, next, idle, claims);
	if (claims->again)
		claims_wake(claims);
	else
		tickets_go_on(worker->tickets);
}

void claims_wake(struct claims *claims)
{
	struct worker *worker = claims->worker;
	size_t slots = slots_free(worker);

	tickets_go_on(worker->tickets);
	if (claims->claiming) {
		claims->again = true;
		return;
	}
	claims->again = false;
	if (slots == 0 || !lease_worker(worker->lease))
		return;
	tickets_asked(worker->tickets);
	claims->sent_ms = clock_mono_ms();
	claims->leased_ms = clock_boot_ms();
	claims->asked = slots;
	claims->claiming = lease_post(worker, "claim",
		json_pack("{sssI}", "worker", lease_worker(worker->lease), "slots", (json_int_t)slots), claim_answered,
		claims);
}

void claims_slot_freed(struct claims *claims)
{
	claims->soon = slots_free(claims->worker) == 1 ? MOST_SOON : 0;
	if (claims->more_wait || claims->claiming || !tickets_producer(claims->worker->tickets))
		claims_wake(claims);
	else
		loop_timer_set(claims->worker->loop, &claims->timer, FREED_MS, idle, claims);
	tickets_go_on(claims->worker->tickets);
}
