/* SPDX-License-Identifier: MPL-2.0 */
#include "notifier/drain.h"

#include "common/clock.h"
#include "common/log.h"
#include "common/loop/service_manager.h"
#include "notifier/callback/callbacks.h"
#include "notifier/deadlines/deadlines.h"
#include "notifier/delivery/dispatch.h"
#include "notifier/metrics.h"
#include "notifier/notifier.h"
#include "notifier/scheduler_client/claims.h"
#include "notifier/scheduler_client/kafka_client.h"
#include "notifier/scheduler_client/scheduler.h"

/* Service managers kill after 90 s or later, so there is time to finish requests. A request that is handed back is
 * sent again. */
enum { LOOK_MS = 20, PATIENCE_MS = 20 * 1000, LAST_CALLS_MS = 3000, NAMES_AT_ONCE = 1000 };

struct drain {
	struct notifier *notifier;
	int64_t began_ms;    /* 0: not begun */
	size_t handing_back; /* calls in flight */
	struct loop_timer timer;
};

struct drain *drain_new(struct notifier *notifier)
{
	struct drain *drain = mem_new(1, sizeof(*drain));

	drain->notifier = notifier;
	return drain;
}

void drain_free(struct drain *drain)
{
	if (!drain)
		return;
	loop_timer_clear(drain->notifier->loop, &drain->timer);
	free(drain);
}

static void handed_back(void *data, struct fetch_answer *answer)
{
	struct drain *drain = data;

	drain->handing_back--;
	if (answer->status < 200 || answer->status >= 300)
		log_warn("requests could not be handed back; another notifier gets them when the lease is over", NULL);
}

/* Takes the names. */
static void hand_back(struct drain *drain, json_t *names)
{
	size_t count = json_array_size(names);
	json_t *some;

	for (size_t i = 0; i < count;) {
		some = json_array();
		for (size_t end = i + NAMES_AT_ONCE; i < count && i < end; i++)
			json_array_append(some, json_array_get(names, i));
		drain->handing_back++;
		scheduler_post_json(&drain->notifier->scheduler, "release",
			json_pack("{ss so}", "notifier", drain->notifier->options.name, "requests", some), handed_back,
			drain);
	}
	json_decref(names);
}

static bool busy(const struct drain *drain)
{
	const struct notifier *notifier = drain->notifier;

	return dispatch_busy(notifier->dispatch) > 0 || callbacks_busy(notifier->callbacks) > 0 ||
		deadlines_busy(notifier->deadlines) > 0 || claims_busy(notifier->claims) || drain->handing_back > 0;
}

static void look(void *data)
{
	struct drain *drain = data;
	struct notifier *notifier = drain->notifier;
	int64_t spent = clock_mono_ms() - drain->began_ms;

	hand_back(drain, dispatch_hand_back(notifier->dispatch, spent > PATIENCE_MS));
	if (!busy(drain) || spent > PATIENCE_MS + LAST_CALLS_MS)
		loop_stop(notifier->loop);
	else
		loop_timer_set(notifier->loop, &drain->timer, LOOK_MS, look, drain);
}

void drain_begin(struct drain *drain)
{
	struct notifier *notifier = drain->notifier;

	if (drain->began_ms) {
		log_warn("stopping at once", NULL);
		loop_stop(notifier->loop);
		return;
	}
	log_info("draining: requests under way end, no new ones are taken; a second signal stops them", NULL);
	service_manager_stopping();
	drain->began_ms = clock_mono_ms();
	notifier->draining = true;
	metric_set(M_DRAINING, "", 1);
	kafka_client_go_on(notifier->client);
	look(drain);
}
