/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/sim/world.h"

/* A worker: worker/runtime/lease.c, worker/scheduler_client/job_source.c and worker/upload/result_sink.c. Its jobs are
 * in work.c. */

static void register_again(struct world *w, const struct note *note);
static void post(struct world *w, struct worker *worker, struct kept *kept);

static struct worker *worker_of(struct world *w, const struct note *note)
{
	return &w->workers[note->of->number];
}

/* ---- claims ---- */

static int slots_free(const struct worker *worker)
{
	int count = 0;

	for (int i = 0; i < SLOTS; i++)
		count += !worker->works[i].exists;
	return worker->draining ? 0 : count;
}

static void claim_answered(struct world *w, const struct note *note)
{
	struct worker *worker = worker_of(w, note);

	worker->claiming = false;
	if (note->answer != ANSWER_OK)
		return;
	for (int i = 0; i < note->count; i++)
		work_begin(w, worker, &note->named[i], note->sent);
	if (note->count)
		worker_wake(w, worker);
}

void worker_wake(struct world *w, struct worker *worker)
{
	const struct note note = {.who = worker->agent, .count = slots_free(worker)};

	if (worker->claiming || worker->agent == NONE || !note.count)
		return;
	worker->claiming = true;
	call(w, &worker->process, serve_claim, claim_answered, &note);
}

static void idle(struct world *w, const struct note *note)
{
	worker_wake(w, worker_of(w, note));
	schedule(w, note->of, between(w, 2 * SECOND, 15 * SECOND), idle, NULL);
}

void worker_freed(struct world *w, struct worker *worker)
{
	worker_wake(w, worker);
}

/* ---- heartbeats ---- */

static void name(struct note *note, int run, int job, int attempt)
{
	note->named[note->count++] = (struct named){.run = run, .job = job, .attempt = attempt};
}

static void beat_names(const struct worker *worker, struct note *note)
{
	for (int i = 0; i < SLOTS; i++)
		if (worker->works[i].exists)
			name(note, worker->works[i].run, worker->works[i].job, worker->works[i].attempt);
	for (int i = 0; i < KEPT; i++)
		if (worker->kept[i].exists)
			name(note, worker->kept[i].run, worker->kept[i].job, worker->kept[i].attempt);
}

static struct kept *kept_find(struct worker *worker, int job, int attempt)
{
	for (int i = 0; i < KEPT; i++)
		if (worker->kept[i].exists && worker->kept[i].job == job && worker->kept[i].attempt == attempt)
			return &worker->kept[i];
	return NULL;
}

static void kept_drop(struct world *w, struct worker *worker, struct kept *kept, bool awaited)
{
	unsent_confirmed(w, worker, kept, awaited);
	kept->exists = false;
}

static void result_confirm(struct world *w, struct worker *worker, const struct named *named)
{
	struct kept *kept = kept_find(worker, named->job, named->attempt);

	if (kept && !named->held)
		kept_drop(w, worker, kept, named->awaited);
	else if (kept && clock_of(w, &worker->process) - kept->since_ms > STILL_HELD)
		post(w, worker, kept);
}

static void job_confirm(struct world *w, struct worker *worker, const struct named *named, int64_t sent)
{
	struct work *work = work_find(worker, named->job, named->attempt);

	if (!work) {
		result_confirm(w, worker, named);
		return;
	}
	if (!named->held) {
		work_lose(w, worker, work);
		work_stop(w, worker, work, named->stop);
		return;
	}
	work->held_ms = sent;
	if (work->engine != NONE)
		engine_renewed(w, &w->engines[work->engine], sent);
	work_stop(w, worker, work, named->stop);
}

/* lease.c, lease_expired: stops all work that the scheduler may have given to another worker. */
static void leases_expire(struct world *w, struct worker *worker)
{
	for (int i = 0; i < SLOTS; i++) {
		struct work *work = &worker->works[i];

		if (work->exists && work->stage != STAGE_APPLY && clock_of(w, &worker->process) - work->held_ms > LEASE)
			work_lose(w, worker, work);
	}
}

static void beat(struct world *w, const struct note *note);

static void beat_answered(struct world *w, const struct note *note)
{
	struct worker *worker = worker_of(w, note);
	bool well = note->answer == ANSWER_OK;

	for (int i = 0; well && i < note->count; i++)
		job_confirm(w, worker, &note->named[i], note->sent);
	if (!well)
		leases_expire(w, worker);
	schedule(w, note->of, well ? between(w, LEASE * 3 / 16, LEASE * 5 / 16) : between(w, 100, 10 * SECOND), beat,
		NULL);
}

/* drain.c, drain_check. */
static bool drained(const struct worker *worker)
{
	for (int i = 0; i < KEPT; i++)
		if (worker->kept[i].exists && !worker->kept[i].delivered)
			return false;
	for (int i = 0; i < SLOTS; i++)
		if (worker->works[i].exists)
			return false;
	return worker->draining;
}

static void beat(struct world *w, const struct note *note)
{
	struct worker *worker = worker_of(w, note);
	struct note names = {.who = worker->agent};

	if (drained(worker)) {
		process_kill(w, &worker->process, "drained");
		return;
	}
	beat_names(worker, &names);
	call(w, note->of, serve_beat, beat_answered, &names);
}

/* runyard.control; the next heartbeat repeats messages that were missed. */
void worker_stop(struct world *w, struct worker *worker, const struct message *message)
{
	struct work *work = work_find(worker, message->job, message->attempt);

	if (work && (work->token == message->mac || w->plan.flaw == FLAW_PROOF))
		work_stop(w, worker, work, (enum stop)message->word);
}

/* ---- results ---- */

static void post_later(struct world *w, const struct note *note)
{
	struct worker *worker = worker_of(w, note);
	struct kept *kept = kept_find(worker, note->job, note->attempt);

	if (kept)
		post(w, worker, kept);
}

static void post_answered(struct world *w, const struct note *note)
{
	struct worker *worker = worker_of(w, note);
	struct kept *kept = kept_find(worker, note->job, note->attempt);

	if (!kept)
		return;
	kept->posting = false;
	if (note->answer != ANSWER_NONE)
		kept_drop(w, worker, kept, note->answer == ANSWER_OVER);
	else
		schedule(w, note->of, between(w, 100, 10 * SECOND), post_later, note);
}

static void post(struct world *w, struct worker *worker, struct kept *kept)
{
	const struct note note = {.run = kept->run,
		.job = kept->job,
		.attempt = kept->attempt,
		.token = kept->token,
		.word = (int)kept->outcome,
		.flag = kept->has_changes,
		.owed = kept->owed};

	if (kept->posting)
		return;
	kept->posting = true;
	call(w, &worker->process, serve_result, post_answered, &note);
}

static void result_published(struct world *w, const struct note *note)
{
	struct worker *worker = worker_of(w, note);
	struct kept *kept = kept_find(worker, note->message.job, note->message.attempt);

	if (kept && note->answer == ANSWER_OK)
		kept->delivered = true;
	else if (kept)
		post(w, worker, kept);
}

static void broker_slow(struct world *w, const struct note *note)
{
	struct worker *worker = worker_of(w, note);
	struct kept *kept = kept_find(worker, note->job, note->attempt);

	if (kept && !kept->delivered)
		post(w, worker, kept);
}

void result_add(struct world *w, struct worker *worker, const struct work *work)
{
	struct message message = {.topic = ON_RESULTS,
		.run = work->run,
		.job = work->job,
		.attempt = work->attempt,
		.word = (int)work->outcome,
		.has_changes = work->has_changes,
		.owed = work->owed,
		.mac = work->token};
	struct kept *kept = worker->kept;

	while (kept < worker->kept + KEPT && kept->exists)
		kept++;
	if (kept == worker->kept + KEPT) {
		check_failed(w, "worker-%d keeps more than %d results", worker->process.number, KEPT);
		return;
	}
	*kept = (struct kept){.exists = true,
		.run = work->run,
		.job = work->job,
		.attempt = work->attempt,
		.token = work->token,
		.outcome = work->outcome,
		.has_changes = work->has_changes,
		.owed = work->owed,
		.since_ms = clock_of(w, &worker->process)};
	produce(w, &worker->process, &message, result_published);
	schedule(w, &worker->process, BROKER_SLOW, broker_slow,
		&(struct note){.job = work->job, .attempt = work->attempt});
}

/* ---- registration ---- */

static void registered(struct world *w, const struct note *note)
{
	struct worker *worker = worker_of(w, note);

	if (note->answer != ANSWER_OK) {
		schedule(w, note->of, between(w, 100, 10 * SECOND), register_again, NULL);
		return;
	}
	worker->agent = note->who;
	schedule(w, note->of, between(w, 0, LEASE / 4), beat, NULL);
	schedule(w, note->of, 0, idle, NULL);
}

static void register_again(struct world *w, const struct note *note)
{
	call(w, note->of, serve_register, registered, &(struct note){.count = 0});
}

void worker_up(struct world *w, struct worker *worker)
{
	worker->agent = NONE;
	worker->draining = worker->claiming = false;
	for (int i = 0; i < SLOTS; i++)
		worker->works[i] = (struct work){.engine = NONE, .folder = NONE};
	for (int i = 0; i < KEPT; i++)
		worker->kept[i] = (struct kept){.exists = false};
	unsent_recover(w, worker);
	schedule(w, &worker->process, 0, register_again, NULL);
}
