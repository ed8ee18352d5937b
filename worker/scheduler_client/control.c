/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/scheduler_client/control.h"

#include "common/err.h"
#include "common/http/fetch.h"
#include "common/loop/retry.h"
#include "worker/runtime/worker.h"
#include "worker/scheduler_client/control_topic.h"
#include "worker/scheduler_client/scheduler.h"

struct control {
	struct worker *worker;
	struct control_topic *topic;
	struct fetch *asking;
	json_t *told; /* the stops in the last answer */
	struct loop_timer timer;
	struct backoff backoff;
};

struct control *control_new(struct worker *worker)
{
	struct control *control = mem_new(1, sizeof(*control));

	control->worker = worker;
	control->told = json_array();
	control->topic = control_topic_new(worker);
	return control;
}

void control_free(struct control *control)
{
	if (!control)
		return;
	loop_timer_clear(control->worker->loop, &control->timer);
	fetch_abort(control->asking);
	json_decref(control->told);
	control_topic_free(control->topic);
	free(control);
}

enum stop control_told(const struct control *control, const char *job, int attempt)
{
	enum stop told = STOP_NONE;
	const json_t *stop;
	size_t i;

	json_array_foreach(control->told, i, stop)
	{
		if (text_equal(json_string_at(stop, "job"), job) && json_int_at(stop, "attempt", 0) == attempt)
			told = stop_wish(json_string_at(stop, "stop"));
	}
	return told;
}

/* Accepts only arrays, because the next request echoes the value and must send an array. */
static void stops_take(struct control *control, const struct fetch_answer *answer)
{
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;
	const json_t *stop;
	json_t *stops;
	size_t i;

	if (json_parse(buf_str(&answer->body), answer->body.len, &value, &err) < 0)
		return;
	stops = json_object_get(value, "stops");
	if (!json_is_array(stops))
		return;
	json_decref(control->told);
	control->told = json_incref(stops);
	json_array_foreach(stops, i, stop)
	{
		slots_stop(control->worker, text_or_empty(json_string_at(stop, "job")),
			(int)json_int_at(stop, "attempt", 0), stop_wish(json_string_at(stop, "stop")), "http");
	}
}

static void ask_again(void *data)
{
	control_listen(data);
}

static void answered(void *data, struct fetch_answer *answer)
{
	struct control *control = data;

	control->asking = NULL;
	if (answer->status == 200) {
		control->backoff.failures = 0;
		stops_take(control, answer);
		control_listen(control);
	} else {
		loop_timer_set(control->worker->loop, &control->timer,
			backoff_next(&control->backoff, answer->retry_after), ask_again, control);
	}
}

void control_listen(struct control *control)
{
	struct worker *worker = control->worker;
	struct scheduler_call call = {.path = "control", .own_token = true, .timeout_ms = SCHEDULER_POLL_MS};

	if (worker->busy == 0)
		return;
	control_topic_listen(control->topic);
	if (control->asking || !scheduler_worker(worker->scheduler))
		return;
	loop_timer_clear(worker->loop, &control->timer);
	call.body = json_pack("{sO}", "told", control->told);
	control->asking = scheduler_post(worker->scheduler, &call, answered, control);
}
