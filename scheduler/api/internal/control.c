/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/internal/control.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/ids.h"
#include "common/loop/progress.h"
#include "proto/messages.h"
#include "scheduler/store/workers/workers.h"
#include "scheduler/store/workers/workers.sql.h"

enum { LOOK_MS = 200, HOLD_MS = 25000, MAX_HELD = 8192, ANSWER_LIMIT = 1 << 20 };

struct held {
	struct http_pending *pending;
	const char *(*headers)[2];
	struct id worker;
	json_t *known_stops;
	json_t *stops; /* the answer, or NULL */
	int64_t until_ms;
	struct held *next;
};

struct control {
	struct db *db;
	pthread_t thread;
	pthread_mutex_t mutex; /* guards the members below */
	pthread_cond_t changed;
	struct held *held;
	size_t count;
	bool stopping;
};

/* ---- the answer ---- */

static bool is_known(const json_t *known_stops, const json_t *stop)
{
	const json_t *known;
	size_t i;

	json_array_foreach((json_t *)known_stops, i, known)
	{
		if (text_equal(json_string_at(known, "job"), json_string_at(stop, "job")) &&
			json_int_at(known, "attempt", 0) == json_int_at(stop, "attempt", 0) &&
			stop_parse(json_string_at(known, "stop")) >= stop_parse(json_string_at(stop, "stop")))
			return true;
	}
	return false;
}

/* All stops for that worker. Sets *ret_has_new if one of them is not in `known_stops`. */
static json_t *stops_of(const struct held *held, const struct rows *rows, bool *ret_has_new)
{
	json_t *stops = json_array();

	for (int i = 0; i < rows->count; i++) {
		const struct workers_stops_row *job = row_of(workers_stops, rows, i);
		json_t *stop;

		if (!text_equal(job->worker_id, held->worker.text))
			continue;
		stop = json_pack("{ss si ss}", "job", job->id, "attempt", (int)job->attempt, "stop",
			stop_name((enum stop)job->stop));
		*ret_has_new |= !is_known(held->known_stops, stop);
		json_array_append_new(stops, stop);
	}
	return stops;
}

static void held_answer(struct held *held)
{
	struct http_answer answer = {.status = 200,
		.content_type = "application/json",
		.body = BUF_INIT(ANSWER_LIMIT),
		.extra = held->headers};
	json_auto_t *document = json_pack("{so}", "stops", held->stops ? held->stops : json_array());
	_cleanup_(freep) char *text = json_text(document);

	buf_text(&answer.body, text);
	http_answer_now(held->pending, &answer);
	json_decref(held->known_stops);
	free(held);
}

/* ---- the thread ---- */

/* Removes from the list the requests that have a new stop or have timed out. */
static struct held *held_take(struct control *control, const struct rows *rows)
{
	struct held *taken = NULL;
	int64_t now = clock_mono_ms();

	pthread_mutex_lock(&control->mutex);
	for (struct held **at = &control->held; *at;) {
		struct held *held = *at;
		bool has_new = false;
		json_t *stops;

		if (!rows->count && now < held->until_ms) {
			at = &held->next;
			continue;
		}
		stops = stops_of(held, rows, &has_new);
		if (!has_new && now < held->until_ms) {
			json_decref(stops);
			at = &held->next;
			continue;
		}
		held->stops = stops;
		*at = held->next;
		held->next = taken;
		taken = held;
		control->count--;
	}
	pthread_mutex_unlock(&control->mutex);
	return taken;
}

static void held_answer_all(struct held *held)
{
	while (held) {
		struct held *next = held->next;

		held_answer(held);
		held = next;
	}
}

/* If the query fails there are no rows. Requests that have timed out then get an empty answer, and the worker
 * retries. */
static void control_look(struct control *control)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct err err = ERR_INIT;

	workers_stops(control->db, &rows, &err);
	held_answer_all(held_take(control, &rows));
}

/* Blocks until a request is held, then sleeps for LOOK_MS. False after the stop. */
static bool control_wait(struct control *control)
{
	const struct timespec moment = {.tv_nsec = LOOK_MS * 1000000L};
	bool goes_on;

	pthread_mutex_lock(&control->mutex);
	while (!control->held && !control->stopping)
		pthread_cond_wait(&control->changed, &control->mutex);
	goes_on = !control->stopping;
	pthread_mutex_unlock(&control->mutex);
	if (goes_on)
		nanosleep(&moment, NULL);
	return goes_on;
}

static void *control_thread(void *data)
{
	struct control *control = data;

	while (control_wait(control)) {
		progress_busy("control");
		control_look(control);
		progress_idle();
	}
	return NULL;
}

/* ---- interface ---- */

int control_start(const char *database_url, struct control **ret_control, struct err *err)
{
	struct control *control = mem_new(1, sizeof(*control));

	pthread_mutex_init(&control->mutex, NULL);
	pthread_cond_init(&control->changed, NULL);
	control->db = db_open(database_url);
	if (pthread_create(&control->thread, NULL, control_thread, control) != 0) {
		control->stopping = true;
		control_free(control);
		return err_set(err, ERR_INTERNAL, "no more threads");
	}
	*ret_control = control;
	return 0;
}

bool control_hold(struct control *control, const struct http_request *http, const struct http_answer *answer,
	const char *worker_id, json_t *known_stops)
{
	struct held *held = NULL;

	pthread_mutex_lock(&control->mutex);
	if (control->count < MAX_HELD && !control->stopping) {
		held = mem_new(1, sizeof(*held));
		*held = (struct held){.pending = http_later(http),
			.headers = answer->extra,
			.known_stops = json_incref(known_stops),
			.until_ms = clock_mono_ms() + HOLD_MS,
			.next = control->held};
		text_copy(held->worker.text, sizeof(held->worker.text), worker_id);
		control->held = held;
		control->count++;
		pthread_cond_signal(&control->changed);
	}
	pthread_mutex_unlock(&control->mutex);
	return held != NULL;
}

void control_stop(struct control *control)
{
	if (!control || control->stopping)
		return;
	pthread_mutex_lock(&control->mutex);
	control->stopping = true;
	pthread_cond_signal(&control->changed);
	pthread_mutex_unlock(&control->mutex);
	pthread_join(control->thread, NULL);
	held_answer_all(control->held);
	control->held = NULL;
}

void control_free(struct control *control)
{
	if (!control)
		return;
	db_close(control->db);
	pthread_cond_destroy(&control->changed);
	pthread_mutex_destroy(&control->mutex);
	free(control);
}
