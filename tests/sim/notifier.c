/* SPDX-License-Identifier: MPL-2.0 */
#include "common/loop/retry.h"
#include "tests/sim/world.h"

/*
 * A notifier and the services. The notifier claims requests of run tasks and sends each until it is acknowledged or
 * its time is over. It reports to the scheduler, receives callbacks, and reports the tasks whose deadline has passed
 * in Redis. The services call back, sometimes twice or never.
 */

static void send(struct world *w, const struct note *note);

static struct notifier *notifier_of(struct world *w, const struct note *note)
{
	return &w->notifiers[note->of->number];
}

static struct request *request_find(struct notifier *notifier, int task, int attempt)
{
	for (int i = 0; i < CALLS; i++)
		if (notifier->requests[i].exists && notifier->requests[i].task == task &&
			notifier->requests[i].attempt == attempt)
			return &notifier->requests[i];
	return NULL;
}

static int requests_free(const struct notifier *notifier)
{
	int count = 0;

	for (int i = 0; i < CALLS; i++)
		count += !notifier->requests[i].exists;
	return count;
}

/* ---- callbacks ---- */

static void service_calls(struct world *w, const struct note *note);

static void called_back(struct world *w, const struct note *note)
{
	const struct message result_message = {
		.topic = ON_TASK_RESULTS, .run = w->db.tasks[note->task].run, .task = note->task};

	if (note->answer == ANSWER_NONE && note->count < 5)
		schedule(w, NULL, between(w, SECOND, 10 * SECOND), service_calls,
			&(struct note){.task = note->task, .word = note->word, .count = note->count + 1});
	else if (note->answer == ANSWER_OK && note->word != TASK_RUNNING)
		produce(w, note->of, &result_message, NULL);
	else if (note->answer == ANSWER_OK)
		w->redis_due[note->task] = w->now + TASK_PROGRESS;
}

static void service_calls(struct world *w, const struct note *note)
{
	struct notifier *notifier = &w->notifiers[roll(w, NOTIFIERS)];

	if (notifier->process.up)
		call(w, &notifier->process, serve_task_callback, called_back, note);
	else if (note->count < 5)
		schedule(w, NULL, between(w, SECOND, 10 * SECOND), service_calls,
			&(struct note){.task = note->task, .word = note->word, .count = note->count + 1});
}

/* After a service has acknowledged a request, it may report progress, and then sends its result or nothing. */
static void service_takes(struct world *w, int task)
{
	struct note note = {.task = task, .word = TASK_RUNNING};

	if (roll(w, 4) == 0)
		schedule(w, NULL, between(w, SECOND, 40 * SECOND), service_calls, &note);
	note.word = roll(w, 5) ? TASK_PASSED : TASK_FAILED;
	if (roll(w, 8))
		schedule(w, NULL, between(w, 100, 50 * SECOND), service_calls, &note);
	if (fault_chance(w, 100))
		schedule(w, NULL, between(w, 100, 200 * SECOND), service_calls, &note);
}

/* ---- deliveries ---- */

static void report_delivery(struct world *w, const struct note *note);

static void delivery_reported(struct world *w, const struct note *note)
{
	struct request *request = request_find(notifier_of(w, note), note->task, note->attempt);

	if (!request)
		return;
	if (note->answer == ANSWER_NONE) {
		schedule(w, note->of, between(w, 100, 5 * SECOND), report_delivery, note);
		return;
	}
	if (note->due >= 0)
		w->redis_due[note->task] = w->now + note->due;
	request->exists = false;
}

static void report_delivery(struct world *w, const struct note *note)
{
	const struct note delivered = {.task = note->task, .attempt = note->attempt, .flag = note->flag};

	call(w, note->of, serve_task_delivered, delivery_reported, &delivered);
}

static void sent(struct world *w, const struct note *note)
{
	struct request *request = request_find(notifier_of(w, note), note->task, note->attempt);
	struct note result = *note;
	int64_t now = clock_of(w, note->of), at;

	if (!request)
		return;
	result.flag = !fault_chance(w, 250);
	if (!result.flag) {
		at = retry_at(retry_wait(&retry_service, ++request->failures, 0, roll(w, UINT32_MAX)), now,
			request->give_up_ms);
		if (at >= 0) {
			schedule(w, note->of, real_time(note->of, at - now), send, note);
			return;
		}
	} else {
		service_takes(w, note->task);
	}
	report_delivery(w, &result);
}

static void send(struct world *w, const struct note *note)
{
	if (request_find(notifier_of(w, note), note->task, note->attempt))
		schedule(w, note->of, between(w, 10, fault_chance(w, 50) ? 30 * SECOND : SECOND), sent, note);
}

/* ---- claims ---- */

static void claimed(struct world *w, const struct note *note)
{
	struct notifier *notifier = notifier_of(w, note);

	notifier->claiming = false;
	for (int i = 0; note->answer == ANSWER_OK && i < note->count; i++) {
		const struct named *named = &note->named[i];
		struct request *request = notifier->requests;

		while (request < notifier->requests + CALLS && request->exists)
			request++;
		if (request == notifier->requests + CALLS)
			return; /* it is claimed again when its lease is over */
		*request = (struct request){.exists = true,
			.task = named->job,
			.attempt = named->attempt,
			.give_up_ms = clock_of(w, note->of) + named->token};
		send(w, &(struct note){.of = note->of, .task = named->job, .attempt = named->attempt});
	}
}

static void claim(struct world *w, struct notifier *notifier, int task)
{
	const struct note note = {.task = task, .count = requests_free(notifier)};

	if (notifier->claiming || !note.count)
		return;
	notifier->claiming = true;
	call(w, &notifier->process, serve_task_claim, claimed, &note);
}

void notifier_reads(struct world *w, struct notifier *notifier, const struct message *message)
{
	claim(w, notifier, message->task);
}

static void idle(struct world *w, const struct note *note)
{
	claim(w, notifier_of(w, note), NONE);
	schedule(w, note->of, between(w, 2 * SECOND, 20 * SECOND), idle, NULL);
}

/* ---- leases ---- */

static void beat(struct world *w, const struct note *note);

static void beat_answered(struct world *w, const struct note *note)
{
	for (int i = 0; note->answer == ANSWER_OK && i < note->count; i++) {
		struct request *request =
			request_find(notifier_of(w, note), note->named[i].job, note->named[i].attempt);

		if (request && !note->named[i].held)
			request->exists = false;
	}
	schedule(w, note->of, between(w, LEASE * 3 / 16, LEASE * 5 / 16), beat, NULL);
}

static void beat(struct world *w, const struct note *note)
{
	const struct notifier *notifier = notifier_of(w, note);
	struct note names = {.count = 0};

	for (int i = 0; i < CALLS; i++)
		if (notifier->requests[i].exists)
			names.named[names.count++] = (struct named){
				.job = notifier->requests[i].task, .attempt = notifier->requests[i].attempt};
	call(w, note->of, serve_task_beat, beat_answered, &names);
}

/* ---- deadlines ---- */

static void reported(struct world *w, const struct note *note)
{
	const struct message result_message = {
		.topic = ON_TASK_RESULTS, .run = w->db.tasks[note->task].run, .task = note->task};

	if (note->answer != ANSWER_OK)
		return; /* Redis returns it again */
	w->redis_due[note->task] = note->due >= 0 ? w->now + note->due : 0;
	if (note->flag)
		produce(w, note->of, &result_message, NULL);
}

static void deadlines(struct world *w, const struct note *note)
{
	for (int task = 0; task < w->db.task_count; task++)
		if (w->redis_due[task] && w->redis_due[task] <= w->now) {
			w->redis_due[task] = w->now + 30 * SECOND;
			call(w, note->of, serve_task_late, reported, &(struct note){.task = task});
		}
	schedule(w, note->of, between(w, SECOND, 20 * SECOND), deadlines, NULL);
}

void notifier_up(struct world *w, struct notifier *notifier)
{
	for (int i = 0; i < CALLS; i++)
		notifier->requests[i].exists = false;
	notifier->claiming = false;
	schedule(w, &notifier->process, between(w, 0, SECOND), idle, NULL);
	schedule(w, &notifier->process, between(w, 0, SECOND), beat, NULL);
	schedule(w, &notifier->process, between(w, 0, SECOND), deadlines, NULL);
}
