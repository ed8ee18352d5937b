/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/lifecycle/run.h"

/*
 * A run is a pipeline of the stages of stages.def that are configured for it, in order. Invariants (run_check):
 *
 *  1. A run that ended or is parked has no work underway and is not in the queue.
 *  2. Work is underway only in a stage that a process does. The status is then the one that the stage runs
 *     as.
 *  3. Only work underway can be stopping: a stop of anything else ends the run at once.
 *  4. A run is in its queue only as pending, or as a confirmed saved plan.
 *  5. A pending run is in no stage yet; any other is in one of its own, or at the decision.
 *  6. A plan-only run never reaches the decision or a later stage, and only a run with save_plan is ever parked.
 *  7. A run that ended as planned_and_finished was plan-only or had nothing to apply.
 *  8. An assessment is plan-only, and so are a query and a test run.
 *
 * A cancel only marks work as stopping. The run ends when the work has certainly ended.
 */

enum { MAX_ATTEMPTS = 10, MAX_LOSSES = 2 };

struct run run_created(uint32_t configured)
{
	return (struct run){
		.status = RUN_PENDING,
		.stage = STAGE_NONE,
		.stages = configured | STAGE_BIT(STAGE_PLAN) | STAGE_BIT(STAGE_CONFIRM) | STAGE_BIT(STAGE_APPLY),
		.queued = true,
	};
}

bool run_ended(const struct run *run)
{
	return run_statuses[run->status].group == FINAL;
}

bool run_is_hidden(const struct run *run)
{
	return run->assessment || run->query || run->test;
}

bool run_holds(const struct run *run)
{
	return run_statuses[run->status].group == OPEN && !run->plan_only && !run->queued;
}

enum situation run_situation(const struct run *run)
{
	if (run_ended(run))
		return AT_ENDED;
	if (run->queued)
		return AT_QUEUED;
	if (run_statuses[run->status].group == PARKED)
		return AT_SAVED;
	if (run->underway)
		return run->stopping ? AT_STOPPING : AT_RUNNING;
	if (run->status == RUN_POLICY_OVERRIDE)
		return AT_OVERRIDE;
	if (run->stage != STAGE_CONFIRM)
		return AT_WAITING;
	return run->status == RUN_CONFIRMED ? AT_WINDOW : AT_DECISION;
}

bool job_may_retry(enum stage stage, bool started, int attempt, int losses)
{
	return attempt < MAX_ATTEMPTS && losses < MAX_LOSSES && !(stage == STAGE_APPLY && started);
}

/* ---- parts of a verdict ---- */

static void reach(struct verdict *v, enum run_status status)
{
	if (v->run.status == status)
		return;
	v->run.status = status;
	v->reached[v->reached_count++] = status;
}

static void mark(struct verdict *v, enum stage stage, enum operation_status status)
{
	v->marks[v->mark_count].stage = stage;
	v->marks[v->mark_count++].status = status;
}

/* Records the end of the current stage's work. */
static void work_over(struct verdict *v, enum operation_status status)
{
	mark(v, v->run.stage, status);
	v->ends_job = stages[v->run.stage].doer == BY_WORKER;
	v->run.underway = false;
	v->run.stopping = STOP_NONE;
}

/* Ends the run and marks the stages that it did not reach as unreachable. */
static void end(struct verdict *v, enum run_status status)
{
	int next = v->run.stage == STAGE_NONE ? 0 : (int)v->run.stage + 1;

	for (; next < STAGE_COUNT; next++)
		if (stages[next].doer != BY_PERSON && (v->run.stages & STAGE_BIT(next)))
			mark(v, (enum stage)next, OPERATION_UNREACHABLE);
	v->run.queued = false;
	v->run.underway = false;
	v->run.stopping = STOP_NONE;
	reach(v, status);
}

static void enter(struct verdict *v, enum stage stage)
{
	v->run.stage = stage;
	/* Only the job of a worker is the run's own, and is claimed first. */
	v->run.underway = stages[stage].doer != BY_WORKER;
	v->starts = true;
	mark(v, stage, OPERATION_QUEUED);
	reach(v, stages[stage].waiters);
}

/* Decides after all stages before the apply. Returns true if the run continues without a person. */
static bool decide(struct verdict *v)
{
	struct run *run = &v->run;

	run->stage = STAGE_CONFIRM;
	if (run->plan_only || (!run->has_changes && !run->allow_empty_apply))
		end(v, RUN_PLANNED_AND_FINISHED);
	else if (run->save_plan)
		reach(v, RUN_PLANNED_AND_SAVED);
	else if (run->auto_apply)
		reach(v, RUN_CONFIRMED);
	return run->status == RUN_CONFIRMED;
}

/* Passes a stage whose work is done already. */
static void pass_by(struct verdict *v, enum stage stage)
{
	v->run.stage = stage;
	mark(v, stage, OPERATION_FINISHED);
	reach(v, stages[stage].waiters);
	reach(v, stages[stage].rests);
}

/* Enters the next configured stage. A confirmed run rests while applies may not start. */
static void advance(struct verdict *v, const struct run_event *event)
{
	int next = v->run.stage == STAGE_NONE ? 0 : (int)v->run.stage + 1;

	for (; next < STAGE_COUNT; next++) {
		if (v->run.stage == STAGE_CONFIRM && event->window_closed)
			return;
		if (next == STAGE_CONFIRM) {
			if (!decide(v))
				return;
		} else if (next == STAGE_FETCH && v->run.fetched && (v->run.stages & STAGE_BIT(next))) {
			pass_by(v, (enum stage)next);
		} else if (v->run.stages & STAGE_BIT(next)) {
			enter(v, (enum stage)next);
			return;
		}
	}
	end(v, RUN_APPLIED);
}

/* ---- actions: the third column of edges.def ---- */

static void goes_on(struct verdict *v, const struct run_event *event)
{
	v->run.queued = false;
	advance(v, event);
}

static void starts_work(struct verdict *v, const struct run_event *event)
{
	(void)event;
	v->run.underway = true;
	mark(v, v->run.stage, OPERATION_RUNNING);
	reach(v, stages[v->run.stage].runs);
}

/* Leaves the stage, whatever the outcome of its work. */
static void leaves(struct verdict *v, const struct run_event *event)
{
	if (v->run.stage == STAGE_PLAN)
		v->run.has_changes = event->has_changes;
	reach(v, stages[v->run.stage].rests);
	advance(v, event);
}

static void passes(struct verdict *v, const struct run_event *event)
{
	work_over(v, OPERATION_FINISHED);
	leaves(v, event);
}

static void is_overridden(struct verdict *v, const struct run_event *event)
{
	mark(v, v->run.stage, OPERATION_OVERRIDDEN);
	leaves(v, event);
}

static void ends_errored(struct verdict *v, const struct run_event *event)
{
	(void)event;
	if (!v->run.queued)
		work_over(v, OPERATION_ERRORED);
	end(v, RUN_ERRORED);
}

/* A policy failed, and a person may override it. */
static void awaits_override(struct verdict *v)
{
	work_over(v, OPERATION_FAILED);
	if (v->run.plan_only)
		end(v, RUN_POLICY_SOFT_FAILED);
	else
		reach(v, RUN_POLICY_OVERRIDE);
}

/* The stage's work failed or could not be done. The stage's row says what that means for the run. */
static void ends_by(struct verdict *v, const struct run_event *event, enum stage_end what, enum operation_status status)
{
	if (what == AWAITS_OVERRIDE) {
		awaits_override(v);
		return;
	}
	work_over(v, status);
	if (what == ENDS_ERRORED)
		end(v, RUN_ERRORED);
	else
		leaves(v, event);
}

static void fails(struct verdict *v, const struct run_event *event)
{
	ends_by(v, event, stages[v->run.stage].failure, OPERATION_FAILED);
}

/* Only policies fail softly. For any other stage, the event is a failure. */
static void fails_softly(struct verdict *v, const struct run_event *event)
{
	if (stages[v->run.stage].rests == RUN_POLICY_CHECKED)
		awaits_override(v);
	else
		fails(v, event);
}

static void errs(struct verdict *v, const struct run_event *event)
{
	ends_by(v, event, stages[v->run.stage].error, OPERATION_ERRORED);
}

static void ends_canceled(struct verdict *v, const struct run_event *event)
{
	(void)event;
	if (!v->run.queued)
		work_over(v, OPERATION_CANCELED);
	end(v, RUN_CANCELED);
}

static void ends_stopped(struct verdict *v, const struct run_event *event)
{
	enum run_status status = v->run.stopping == STOP_FORCE ? RUN_FORCE_CANCELED : RUN_CANCELED;

	(void)event;
	work_over(v, OPERATION_CANCELED);
	end(v, status);
}

/* The work ended before the stop reached it. An apply that has ended is applied; any other work is canceled as
 * requested. */
static void passes_too_late(struct verdict *v, const struct run_event *event)
{
	if (v->run.stage != STAGE_APPLY && v->run.stage != STAGE_POST_APPLY) {
		ends_stopped(v, event);
		return;
	}
	work_over(v, OPERATION_FINISHED);
	end(v, RUN_APPLIED);
}

/* The scheduler lost contact with the worker, or the worker had to stop the job. */
/* model: lost */
static void loses(struct verdict *v, const struct run_event *event)
{
	bool applying = v->run.stage == STAGE_APPLY && event->started;

	if (v->run.stopping && !applying) {
		ends_stopped(v, event); /* a plan's process ends before its lease does (worker/runtime/lease.h) */
	} else if (event->may_retry && !applying) {
		v->run.underway = false;
		v->retries = true;
		mark(v, v->run.stage, OPERATION_QUEUED);
		reach(v, stages[v->run.stage].waiters);
	} else {
		errs(v, event);
	}
}

/* model: cancel */
static void asks_to_stop(struct verdict *v, const struct run_event *event)
{
	if (stages[v->run.stage].doer != BY_WORKER) {
		ends_stopped(v, event); /* there is no process of this run to wait for */
		return;
	}
	v->run.stopping = STOP_CANCEL;
	v->signals = true;
}

/* model: force */
static void asks_to_kill(struct verdict *v, const struct run_event *event)
{
	if (!event->cooled_off) {
		v->refused = "the run was canceled just now: force-cancel-available-at says from when it can be forced";
		return;
	}
	v->run.stopping = STOP_FORCE;
	v->signals = true;
}

static void is_confirmed(struct verdict *v, const struct run_event *event)
{
	reach(v, RUN_CONFIRMED);
	advance(v, event);
}

/* Queues a saved plan again, since another run may be underway now. */
static void queues_saved(struct verdict *v, const struct run_event *event)
{
	(void)event;
	v->run.queued = true;
	reach(v, RUN_CONFIRMED);
}

static void end_at_rest(struct verdict *v, enum run_status status)
{
	if (v->run.status == RUN_POLICY_OVERRIDE)
		mark(v, v->run.stage, OPERATION_CANCELED); /* its override is no longer awaited */
	end(v, status);
}

static void ends_discarded(struct verdict *v, const struct run_event *event)
{
	(void)event;
	end_at_rest(v, RUN_DISCARDED);
}

/* Cancels a run without work underway. Only a site admin's force-cancel needs no earlier cancel, so only theirs has
 * `cooled_off` set. */
static void ends_canceled_at_rest(struct verdict *v, const struct run_event *event)
{
	if (!event->cooled_off) {
		v->refused = "a run that waits for a decision is discarded, not canceled";
		return;
	}
	end_at_rest(v, RUN_CANCELED);
}

static void leaves_window(struct verdict *v, const struct run_event *event)
{
	if (event->window_closed)
		v->refused = "its maintenance window has not opened";
	else
		advance(v, event);
}

static void ends_canceled_in_window(struct verdict *v, const struct run_event *event)
{
	(void)event;
	end(v, RUN_CANCELED);
}

/* The workspace's state has changed since the plan was saved. A pending run has no plan yet that could be stale. */
static void ends_stale(struct verdict *v, const struct run_event *event)
{
	(void)event;
	if (v->run.status == RUN_PENDING)
		v->refused = "the run holds no saved plan";
	else
		end(v, RUN_DISCARDED);
}

/* ---- the step ---- */

typedef void (*edge_fn)(struct verdict *v, const struct run_event *event);

static const edge_fn edges[SITUATION_COUNT][EVENT_COUNT] = {
#define EDGE(situation, event, follows) [AT_##situation][EV_##event] = follows,
#include "scheduler/lifecycle/edges.def"
#undef EDGE
};

static const struct {
	const char *name, *refusal;
} events[EVENT_COUNT] = {
#define EVENT(symbol, name, refusal) [EV_##symbol] = {name, refusal},
#include "scheduler/lifecycle/events.def"
#undef EVENT
};

static const char *const situation_names[SITUATION_COUNT] = {
#define SITUATION(symbol, name) [AT_##symbol] = name,
#include "scheduler/lifecycle/situations.def"
#undef SITUATION
};

/* Returns true if the event ends an apply whose last state may still arrive. */
static bool leaves_state_owed(const struct verdict *v, const struct run *run, const struct run_event *event)
{
	return v->ends_job && run->stage == STAGE_APPLY && event->started && event->state_owed;
}

/* An apply has not passed while the scheduler lacks its last state. */
static enum run_event_kind event_kind(const struct run *run, const struct run_event *event)
{
	bool passed = event->kind == EV_PASSED || event->kind == EV_WARNED;

	return passed && run->underway && run->stage == STAGE_APPLY && event->state_owed ? EV_ERRORED : event->kind;
}

struct verdict run_step(const struct run *run, const struct run_event *event)
{
	struct verdict v = {.run = *run};
	edge_fn follows = edges[run_situation(run)][event_kind(run, event)];

	if (follows)
		follows(&v, event);
	else
		v.refused = events[event->kind].refusal;
	if (v.refused)
		v = (struct verdict){.refused = v.refused, .run = *run};
	v.holds_workspace = leaves_state_owed(&v, run, event);
	return v;
}

struct verdict run_abandon(const struct run *run, const struct run_event *event)
{
	struct verdict v = {.run = *run, .ends_job = true};

	if (run->stage != STAGE_NONE && stages[run->stage].doer != BY_PERSON)
		mark(&v, run->stage, OPERATION_ERRORED);
	end(&v, RUN_ERRORED);
	v.holds_workspace = leaves_state_owed(&v, run, event);
	return v;
}

/* The labels of `errored` and of the statuses of a decision depend on the stage and the situation. */
const char *run_label(const struct run *run)
{
	bool decision = run_situation(run) == AT_DECISION;

	if (decision && (run->status == RUN_PLANNED || run->status == RUN_POST_PLAN_COMPLETED))
		return "Needs Confirmation";
	if (run->status == RUN_ERRORED)
		return run->stage >= STAGE_APPLY && run->stage < STAGE_COUNT ? "Apply Errored" : "Plan Errored";
	return run_statuses[run->status].label;
}

const char *query_status_name(const struct run *run)
{
	switch (run->status) {
	case RUN_PLANNED_AND_FINISHED:
		return "finished";
	case RUN_ERRORED:
		return "errored";
	case RUN_CANCELED:
	case RUN_FORCE_CANCELED:
		return "canceled";
	case RUN_QUEUING:
	case RUN_PLAN_QUEUED:
		return "queued";
	default:
		return run->stage == STAGE_PLAN ? "running" : "pending";
	}
}

bool run_accepts(const struct run *run, enum run_event_kind event)
{
	struct run_event probe = {.kind = event};

	return !run_step(run, &probe).refused;
}

static bool stage_is_own(const struct run *run)
{
	return run->stage != STAGE_NONE && (run->stages & STAGE_BIT(run->stage));
}

const char *run_check(const struct run *run)
{
	enum run_group group = run_statuses[run->status].group;

	if (group != OPEN && (run->underway || run->queued))
		return "1: an ended or parked run has work underway or is queued";
	if (run->underway &&
		(!stage_is_own(run) || stages[run->stage].doer == BY_PERSON || run->status != stages[run->stage].runs))
		return "2: work is underway outside of a stage that runs";
	if (run->stopping && !run->underway)
		return "3: something that is not underway is stopping";
	if (run->queued && run->status != RUN_PENDING && !(run->status == RUN_CONFIRMED && run->save_plan))
		return "4: a run is queued that is neither pending nor a confirmed saved plan";
	if (run->status == RUN_PENDING ? run->stage != STAGE_NONE || !run->queued : group == OPEN && !stage_is_own(run))
		return "5: the stage does not fit the status";
	if ((run->plan_only && group == OPEN && run->stage != STAGE_NONE && run->stage >= STAGE_CONFIRM) ||
		(group == PARKED && !run->save_plan))
		return "6: a plan-only run came to the decision, or a run without save_plan is parked";
	if (run->status == RUN_PLANNED_AND_FINISHED && !run->plan_only && run->has_changes)
		return "7: a run with changes ended as planned and finished";
	if (run_is_hidden(run) && !run->plan_only)
		return "8: an assessment, a query or a test run is not plan-only";
	return NULL;
}

const char *operation_status_name(enum operation_status status)
{
	static const char *const names[] = {"pending", "queued", "running", "finished", "failed", "overridden",
		"errored", "canceled", "unreachable"};

	return names[status];
}

bool edge_exists(enum situation situation, enum run_event_kind event)
{
	return edges[situation][event] != NULL;
}

const char *run_event_name(enum run_event_kind kind)
{
	return events[kind].name;
}

const char *situation_name(enum situation situation)
{
	return situation_names[situation];
}
