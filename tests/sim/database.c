/* SPDX-License-Identifier: MPL-2.0 */
#include <string.h>

#include "scheduler/lifecycle/triggers.h"
#include "tests/sim/world.h"

/*
 * Runs, jobs, queues and the outbox: how runs/transition.c and store/runs/changes.c apply a verdict. Every function is
 * a transaction, or a part of its caller's transaction.
 */

struct id job_id(int number)
{
	struct id id = {""};

	if (number != NONE)
		snprintf(id.text, sizeof(id.text), "job-%d", number);
	return id;
}

struct attempt attempt_now(const struct world *w, const struct run_row *row)
{
	struct attempt now = {.id = {""}};

	if (row->job.exists)
		now = row->job.attempt;
	now.lease_over = now.claimed && row->job.lease_until < w->now;
	return now;
}

void outbox_put(struct world *w, const struct message *message)
{
	struct outbox_row *row = w->db.outbox;

	while (row < w->db.outbox + OUTBOX && row->id)
		row++;
	if (row == w->db.outbox + OUTBOX) {
		check_failed(w, "the outbox holds more than %d rows", OUTBOX);
		return;
	}
	*row = (struct outbox_row){.id = ++w->db.last_row, .created_at = w->now, .message = *message};
	row->message.row = row->id;
}

/* ---- applying a verdict (store/runs/changes.c) ---- */

static void put_message(struct world *w, int run)
{
	outbox_put(w, &(struct message){.topic = ON_JOBS, .run = run, .job = w->db.runs[run].job.number});
}

static void job_new(struct world *w, int run)
{
	struct run_row *row = &w->db.runs[run];
	int number = ++w->db.last_job;

	row->job = (struct job){.exists = true,
		.number = number,
		.agent = NONE,
		.stage = row->run.stage,
		.class = job_class_of(&row->run),
		.announced_at = w->now,
		.created_at = w->now,
		.attempt = {.id = job_id(number), .attempt = 1}};
	put_message(w, run);
}

static void job_again(struct world *w, int run, bool lost)
{
	struct job *job = &w->db.runs[run].job;

	job->attempt.claimed = job->attempt.started = false;
	job->attempt.attempt++;
	job->attempt.losses += lost;
	if (job->attempt.losses > 1)
		check_failed(w, "job-%d was lost with its workers twice and is tried again", job->number);
	job->stop = STOP_NONE;
	job->agent = NONE;
	job->token = 0;
	job->announced_at = w->now;
	put_message(w, run);
}

static void job_signal(struct world *w, int run)
{
	struct job *job = &w->db.runs[run].job;

	job->stop = w->db.runs[run].run.stopping;
	outbox_put(w,
		&(struct message){.topic = ON_CONTROL,
			.run = run,
			.job = job->number,
			.attempt = job->attempt.attempt,
			.word = (int)job->stop,
			.mac = job->token});
}

static void change_save(struct world *w, const struct item *item, const struct verdict *v)
{
	const int run = item->run;
	struct run_row *row = &w->db.runs[run];
	struct workspace *workspace = &w->db.workspaces[row->workspace];
	bool held = run_holds(&row->run), holds = run_holds(&v->run);

	row->run = v->run;
	if (v->holds_workspace && w->plan.flaw != FLAW_HOLD)
		hold_begin(w, run, item->is_result);
	if (v->ends_job)
		row->job = (struct job){.agent = NONE};
	if (v->starts && stages[v->run.stage].doer == BY_WORKER)
		job_new(w, run);
	if (v->retries)
		job_again(w, run, item->event.kind == EV_LOST);
	if (v->signals)
		job_signal(w, run);
	tasks_follow(w, run, v);
	if ((v->run.stopping || v->run.status == RUN_CANCELED) && !row->cooled_at)
		row->cooled_at = w->now + COOL_OFF;
	if (held != holds)
		workspace->current = holds ? run : NONE;
	if (v->reached_count) {
		outbox_put(w, &(struct message){.topic = ON_EVENTS, .run = run, .word = (int)v->run.status});
		row->reached |= 1ull << v->run.status;
	}
}

/* ---- the step (runs/transition.c) ---- */

static bool step(struct world *w, struct item *item, unsigned *kicked)
{
	const struct run_event *event = &item->event;
	const int run = item->run;
	struct run_row *row = &w->db.runs[run];
	struct run before = row->run;
	struct verdict v = run_step(&row->run, event);
	const char *wrong = v.refused ? NULL : run_check(&v.run);
	enum trigger trigger;

	item->refused = v.refused;
	if (v.refused)
		return false;
	if (w->plan.flaw == FLAW_CANCEL_AT_ONCE && v.signals) {
		const struct run_event stopped = {.kind = EV_STOPPED};

		v = run_step(&v.run, &stopped);
	}
	if (wrong)
		check_failed(w, "run-%d + %s breaks invariant %s", run, run_event_name(event->kind), wrong);
	trigger = trigger_of(&v);
	row->ends += trigger == TRIGGER_COMPLETED || trigger == TRIGGER_ERRORED;
	change_save(w, item, &v);
	TRACE(w, NULL, "run-%d of workspace-%d: %s -> %s%s", run, row->workspace, run_event_name(event->kind),
		run_statuses[v.run.status].name, v.run.stopping ? " (stopping)" : "");
	if (event->kind == EV_TURN)
		check_turn(w, run);
	if (queue_may_move(&before, &v.run))
		*kicked |= 1u << row->workspace;
	return true;
}

static void item_apply(struct world *w, struct item *item, unsigned *kicked)
{
	const struct run_row *row = &w->db.runs[item->run];
	const struct attempt now = attempt_now(w, row);
	const struct attempt_ref ref = {job_id(item->job), item->attempt, item->only_if_lease_over};
	struct run_event *event = &item->event;
	int losses = 0;
	bool late = attempt_is_late(&now, &ref);

	if (w->plan.flaw == FLAW_LEASE_FENCE && item->job != NONE && now.claimed)
		late = false;
	if (w->plan.flaw == FLAW_LEASE_AGAIN && item->only_if_lease_over && now.claimed && ref.attempt == now.attempt)
		late = false;
	if (late) {
		TRACE(w, NULL, "run-%d: %s of job-%d (attempt %d) is late", item->run, run_event_name(event->kind),
			item->job, item->attempt);
		return;
	}
	if (event->kind == EV_LOST && !item->by_worker)
		check_lost(w, item->run);
	if (w->plan.flaw != FLAW_POISON)
		losses = now.losses + (event->kind == EV_LOST);
	event->may_retry =
		job_may_retry(row->run.stage, now.started, now.attempt, losses) || w->plan.flaw == FLAW_APPLY_AGAIN;
	/* Maintenance windows: a fifth of the runs is confirmed outside of one. A person opens it (people.c). */
	event->window_closed = event->kind != EV_OPENED && !w->calm && roll(w, 5) == 0;
	event->cooled_off = row->cooled_at && row->cooled_at <= w->now;
	event->started = now.started;
	item->applied = step(w, item, kicked);
}

/* ---- queues (transition.c, queues_advance) ---- */

static void queue_step(struct world *w, int run, const struct queue_view *view, unsigned *again)
{
	const struct run_row *row = &w->db.runs[run];
	bool stale = row->base_state != w->db.workspaces[row->workspace].state.id;
	struct item item = {.run = run, .job = NONE, .event = {.kind = queue_event(view, &row->run, stale)}};
	bool queued = row->run.queued;
	unsigned ignored = 0;

	if (item.event.kind == EVENT_COUNT)
		return;
	step(w, &item, &ignored);
	if (item.event.kind == EV_STALE && queued)
		*again |= 1u << row->workspace;
}

static int queue_head(const struct world *w, int workspace)
{
	int run = 0;

	while (run < w->db.run_count &&
		!(w->db.runs[run].workspace == workspace && w->db.runs[run].run.queued &&
			!w->db.runs[run].run.plan_only))
		run++;
	return run < w->db.run_count ? run : NONE;
}

static void queue_advance(struct world *w, int workspace, unsigned *again)
{
	const struct workspace *place = &w->db.workspaces[workspace];
	const struct queue_view view = {.locked = place->locked,
		.has_current = place->current != NONE && w->plan.flaw != FLAW_QUEUE,
		.held = place->hold.exists};
	int head = queue_head(w, workspace);

	for (int run = 0; run < w->db.run_count; run++)
		if (w->db.runs[run].workspace == workspace &&
			(run == head || w->db.runs[run].run.status == RUN_PLANNED_AND_SAVED))
			queue_step(w, run, &view, again);
}

static void queues_advance(struct world *w, unsigned kicked)
{
	while (kicked) {
		unsigned again = 0;

		for (int workspace = 0; workspace < WORKSPACES; workspace++)
			if (kicked & 1u << workspace)
				queue_advance(w, workspace, &again);
		kicked = again;
	}
}

void db_apply_transitions(struct world *w, struct item *items, size_t count)
{
	unsigned kicked = 0;

	for (size_t i = 0; i < count; i++)
		item_apply(w, &items[i], &kicked);
	queues_advance(w, kicked);
}

void db_advance_queue(struct world *w, int workspace)
{
	queues_advance(w, 1u << workspace);
}

/* ---- orders (runs/run_create.c) ---- */

void db_create_run(struct world *w, int workspace, const struct run *run)
{
	int number = w->db.run_count++;
	struct item turn = {.run = number, .job = NONE, .event = {.kind = EV_TURN}};

	w->db.runs[number] = (struct run_row){.run = *run, .workspace = workspace, .job = {.agent = NONE}};
	tasks_make(w, number);
	TRACE(w, NULL, "run-%d of workspace-%d is ordered%s%s%s", number, workspace,
		run->plan_only ? ", plan-only" : "", run->save_plan ? ", save-plan" : "",
		run->auto_apply ? ", auto-apply" : "");
	if (run->plan_only)
		db_apply_transitions(w, &turn, 1);
	else
		db_advance_queue(w, workspace);
}
