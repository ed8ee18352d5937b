/* SPDX-License-Identifier: MPL-2.0 */
#include "tests/sim/world.h"

/* A scheduler: requests, the publisher (outbox/publisher.c), the consumer (intake/intake.c) and the reaper. */

static void publish_row(struct world *w, const struct note *note);

/* ---- transactions ---- */

/* outbox_committed: passes the rows of the transaction to this process's own publisher. */
static void rows_offer(struct world *w, struct process *scheduler, long long since)
{
	for (struct outbox_row *row = w->db.outbox; row < w->db.outbox + OUTBOX; row++)
		if (row->id > since) {
			row->listed[scheduler->number] = scheduler->life;
			schedule(w, scheduler, between(w, 0, 20), publish_row, &(struct note){.message = row->message});
		}
}

static void rows_drop(struct world *w, long long since)
{
	for (struct outbox_row *row = w->db.outbox; row < w->db.outbox + OUTBOX; row++)
		if (row->id > since)
			row->id = 0;
}

bool transact(struct world *w, struct process *scheduler, serve_fn serve, struct note *note)
{
	long long since = w->db.last_row;

	if (fault_chance(w, 4)) {
		process_kill(w, scheduler, "before a commit");
		return false;
	}
	note->answer = serve(w, note);
	if (fault_chance(w, 6)) {
		if (w->plan.flaw == FLAW_OUTBOX_AFTER)
			rows_drop(w, since);
		process_kill(w, scheduler, "after a commit");
		return false;
	}
	if (w->db.last_row > since)
		rows_offer(w, scheduler, since);
	return true;
}

struct process *scheduler_any(struct world *w)
{
	int first = (int)roll(w, SCHEDULERS);

	for (int i = 0; i < SCHEDULERS; i++) {
		struct process *scheduler = &w->schedulers[(first + i) % SCHEDULERS];

		if (scheduler->up && scheduler->stalled_until <= w->now)
			return scheduler;
	}
	return NULL;
}

/* ---- requests ---- */

static void call_fails(struct world *w, const struct note *note)
{
	struct note answer = *note;

	answer.answer = ANSWER_NONE;
	note->answered(w, &answer);
}

static void call_arrives(struct world *w, const struct note *note)
{
	struct process *scheduler = scheduler_any(w);
	struct note answer = *note;
	bool well = scheduler && transact(w, scheduler, note->serve, &answer);

	if (!note->answered || note->caller->life != note->caller_life)
		return;
	if (well && !fault_chance(w, 15))
		schedule(w, note->caller, between(w, 1, 50), note->answered, &answer);
	else
		schedule(w, note->caller, between(w, 1, REQUEST_TIMEOUT), call_fails, note);
}

void call(struct world *w, struct process *from, serve_fn serve, act_fn answered, const struct note *note)
{
	struct note request = *note;
	int64_t way = message_delay(w);

	request.caller = from;
	request.caller_life = from->life;
	request.serve = serve;
	request.answered = answered;
	request.sent = clock_of(w, from);
	if (fault_chance(w, 20) || way >= REQUEST_TIMEOUT) {
		schedule(w, from, REQUEST_TIMEOUT, call_fails, &request);
		request.answered = NULL; /* a later answer is ignored */
	}
	if (request.answered || way >= REQUEST_TIMEOUT)
		schedule(w, NULL, way, call_arrives, &request);
	request.answered = NULL;
	if (fault_chance(w, 10))
		schedule(w, NULL, message_delay(w), call_arrives, &request);
}

/* ---- the publisher ---- */

static struct outbox_row *row_find(struct world *w, long long id)
{
	for (struct outbox_row *row = w->db.outbox; row < w->db.outbox + OUTBOX; row++)
		if (row->id == id)
			return row;
	return NULL;
}

static void row_published(struct world *w, const struct note *note)
{
	struct outbox_row *row = row_find(w, note->message.row);

	if (!row)
		return;
	if (note->answer == ANSWER_OK && !fault_chance(w, 10))
		row->id = 0;
	else
		row->listed[note->of->number] = 0; /* a later poll finds it again */
}

static void publish_row(struct world *w, const struct note *note)
{
	struct outbox_row *row = row_find(w, note->message.row);

	if (!row)
		return;
	if (w->plan.flaw == FLAW_OUTBOX_FIRST)
		row->id = 0;
	produce(w, note->of, &note->message, row_published);
}

static void publisher_poll(struct world *w, const struct note *note)
{
	struct process *scheduler = note->of;

	for (struct outbox_row *row = w->db.outbox; row < w->db.outbox + OUTBOX; row++)
		if (row->id && row->created_at < w->now - PUBLISH_AFTER &&
			row->listed[scheduler->number] != scheduler->life) {
			row->listed[scheduler->number] = scheduler->life;
			publish_row(w, &(struct note){.of = scheduler, .message = row->message});
		}
	schedule(w, scheduler, between(w, 1 * SECOND, 8 * SECOND), publisher_poll, NULL);
}

/* ---- the consumer ---- */

static enum answer serve_task_message(struct world *w, struct note *note)
{
	tasks_decide(w, note->task);
	return ANSWER_OK;
}

/* False if the message was not processed: its offset is not committed, so it is delivered again. */
bool scheduler_reads(struct world *w, struct process *scheduler, const struct message *message)
{
	struct note note = {.run = message->run,
		.job = message->job,
		.attempt = message->attempt,
		.task = message->task,
		.word = message->word,
		.flag = message->has_changes,
		.owed = message->owed,
		.message = *message};

	return transact(w, scheduler, message->topic == ON_RESULTS ? serve_result : serve_task_message, &note);
}

/* ---- sweeps (background/reaper.c) ---- */

static enum answer serve_lost(struct world *w, struct note *note)
{
	struct item items[SLOTS + KEPT];

	for (int i = 0; i < note->count; i++)
		items[i] = (struct item){.run = note->named[i].run,
			.job = note->named[i].job,
			.attempt = note->named[i].attempt,
			.event = {.kind = EV_LOST, .state_owed = true},
			.only_if_lease_over = true};
	db_apply_transitions(w, items, (size_t)note->count);
	return ANSWER_OK;
}

static void leases_end(struct world *w, const struct note *note)
{
	struct note lost = *note;

	transact(w, note->of, serve_lost, &lost);
}

/* The sweep reads, and decides a moment later in a separate transaction. */
static void sweep_leases(struct world *w, const struct note *note)
{
	struct note lost = {.count = 0};

	for (int run = 0; run < w->db.run_count && lost.count < (int)ARRAY_LEN(lost.named); run++) {
		const struct run_row *row = &w->db.runs[run];
		struct attempt now = attempt_now(w, row);

		if (now.lease_over)
			lost.named[lost.count++] =
				(struct named){.run = run, .job = row->job.number, .attempt = now.attempt};
	}
	if (lost.count)
		schedule(w, note->of, message_delay(w), leases_end, &lost);
	schedule(w, note->of, between(w, 1 * SECOND, 10 * SECOND), sweep_leases, NULL);
}

static void sweep_announcements(struct world *w)
{
	for (int run = 0; run < w->db.run_count; run++) {
		struct job *job = &w->db.runs[run].job;

		if (!job->exists || job->attempt.claimed || job->announced_at >= w->now - 5 * SECOND)
			continue;
		job->announced_at = w->now;
		outbox_put(w, &(struct message){.topic = ON_JOBS, .run = run, .job = job->number});
	}
}

static void sweep_holds(struct world *w)
{
	for (int i = 0; i < WORKSPACES; i++)
		hold_apply(w, i, HOLD_DEADLINE, "its deadline has passed");
}

/* A content arrives, or can't be fetched (runs/commit_contents.c). In the world, each run has its own. */
static void content_arrive(struct world *w, int number)
{
	struct run *run = &w->db.runs[number].run;
	struct item item = {.run = number, .job = NONE, .event = {.kind = roll(w, 8) ? EV_PASSED : EV_ERRORED}};

	if (!(run->stages & STAGE_BIT(STAGE_FETCH)) || run->fetched || !(run->queued || run->stage == STAGE_FETCH) ||
		run_ended(run) || roll(w, 3) == 0)
		return;
	run->fetched = item.event.kind == EV_PASSED;
	if (!run->queued || item.event.kind == EV_ERRORED)
		db_apply_transitions(w, &item, 1);
}

static void sweep_contents(struct world *w)
{
	for (int i = 0; i < w->db.run_count; i++)
		content_arrive(w, i);
}

static enum answer serve_sweeps(struct world *w, struct note *note)
{
	(void)note;
	sweep_announcements(w);
	sweep_tasks(w);
	sweep_contents(w);
	sweep_holds(w);
	return ANSWER_OK;
}

static void sweep(struct world *w, const struct note *note)
{
	struct note nothing = {.count = 0};

	if (transact(w, note->of, serve_sweeps, &nothing))
		schedule(w, note->of, between(w, 5 * SECOND, 20 * SECOND), sweep, NULL);
}

void scheduler_up(struct world *w, struct process *scheduler)
{
	if (w->plan.flaw != FLAW_SWEEP)
		schedule(w, scheduler, between(w, 0, 5 * SECOND), sweep_leases, NULL);
	schedule(w, scheduler, between(w, 0, 5 * SECOND), sweep, NULL);
	schedule(w, scheduler, between(w, 0, SECOND), publisher_poll, NULL);
}
