/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/holds.h"

#include "common/log.h"
#include "scheduler/runs/job_grants.h"
#include "scheduler/runs/epoch.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/runs/unrecorded.h"
#include "scheduler/store/runs/unrecorded.sql.h"

struct ordering {
	struct store *store;
	const struct hold_order *order;
	struct hold_outcome outcome;
};

static int order_in(void *data, struct err *err)
{
	struct ordering *o = data;
	_cleanup_(outbox_release) struct outbox outbox;

	outbox_init(&outbox);
	if (hold_apply(o->store, o->order, &o->outcome, err) < 0)
		return -1;
	if (o->outcome.verdict.refused)
		return 0;
	if (o->outcome.verdict.ends && workspace_kick(o->store, o->outcome.workspace.text, err) < 0)
		return -1;
	if (o->outcome.stop)
		outbox_add(&outbox, topics[TOPIC_CONTROL].name, NULL, mem_text(o->outcome.stop));
	return outbox_insert(&outbox, o->store->db, o->store->sink, err);
}

int hold_order_commit(
	struct store *store, const struct hold_order *order, struct hold_verdict *ret_verdict, struct err *err)
{
	struct ordering o = {.store = store, .order = order};
	int result;

	result = db_transaction(store->db, order_in, &o, err);
	*ret_verdict = o.outcome.verdict;
	hold_outcome_release(&o.outcome);
	return result;
}

int hold_release(struct store *store, const struct hold_order *order, bool *ret_ended, struct err *err)
{
	struct hold_verdict verdict;

	if (hold_order_commit(store, order, &verdict, err) < 0)
		return -1;
	if (ret_ended)
		*ret_ended = verdict.ends;
	return 0;
}

/* ---- orders of people ---- */

int hold_stop(struct store *store, const char *run_id, enum hold_event event, const char *actor, struct err *err)
{
	const struct hold_order order = {.event = event, .run_id = run_id, .actor = actor};
	struct hold_verdict verdict;

	if (hold_order_commit(store, &order, &verdict, err) < 0)
		return -1;
	if (!verdict.refused)
		return 0;
	err_set(err, verdict.held ? ERR_CONFLICT : ERR_NOT_FOUND, "%s", verdict.refused);
	text_copy(err->title, sizeof(err->title), "transition not allowed");
	return -1;
}

/* ---- reports of workers ---- */

struct settling {
	struct store *store;
	const struct job_grant *grant;
};

static int settle_late(void *data, struct err *err)
{
	const struct settling *s = data;
	const struct hold_order order = {
		.workspace_id = s->grant->workspace.text, .job_id = s->grant->job.text, .event = HOLD_LAST_STATE};

	if (hold_release(s->store, &order, NULL, err) < 0)
		return -1;
	return hold_forget(s->store, s->grant->job.text, err);
}

/* Ends the attempt as lost before its lease ends: its worker has restarted and has nothing left of the apply. `holds`:
 * unrecorded resources hold the workspace. *ret_over is true if they do, or if the lease ended in the meantime. */
static int settle_now(struct store *store, const struct job_grant *grant, bool holds, bool *ret_over, struct err *err)
{
	struct run_transition item = {.run = grant->run,
		.event = {.kind = EV_LOST, .state_owed = holds},
		.job = grant->job,
		.attempt = grant->attempt,
		.reason = holds ? "The worker was stopped during the apply. An apply is never tried again. Resources "
				  "that it reported are in no state: the workspace is held until they are dismissed."
				: "The worker was stopped during the apply. An apply is never tried again; the state "
				  "that it left is the workspace's current one."};

	if (grant->stage != STAGE_APPLY)
		return err_set(err, ERR_INVALID, "the job is no apply");
	if (runs_apply_transitions(store, &item, 1, err) < 0)
		return -1;
	*ret_over = item.outcome == TRANSITION_LATE || holds;
	return 0;
}

int apply_settled(struct store *store, const char *job_id, const char *token, struct err *err)
{
	struct job_grant grant;
	struct settling settling = {store, &grant};
	bool over = true, open = false;

	if (state_granted(store, job_id, token, &grant, err) < 0 || unrecorded_is_open(store, job_id, &open, err) < 0)
		return -1;
	/* A worker whose heartbeat has not arrived yet may be applying the run (runs/epoch.h). */
	if (grant.late && epoch_check_young(store, err) < 0)
		return -1;
	if (!grant.late &&
		(settle_now(store, &grant, open, &over, err) < 0 ||
			(over && state_granted(store, job_id, token, &grant, err) < 0)))
		return -1;
	if (!over)
		return 0;
	if (db_transaction(store->db, settle_late, &settling, err) < 0)
		return -1;
	log_info("the last state of a lost apply has come", "run", grant.run.text, "workspace", grant.workspace.text,
		NULL);
	return 0;
}

/* ---- dismissals of unrecorded resources ---- */

struct dismissing {
	struct store *store;
	struct dismissal dismissal;
};

static int dismiss_in(void *data, struct err *err)
{
	const struct dismissing *d = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (unrecorded_dismiss(d->store, &d->dismissal, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct unrecorded_released_row *hold = row_of(unrecorded_released, &rows, i);
		const struct hold_order order = {.workspace_id = hold->workspace_id,
			.job_id = hold->job_id,
			.event = HOLD_DISMISSED,
			.actor = d->dismissal.actor};

		/* The token stays valid: the worker may still return with a state. */
		if (hold_release(d->store, &order, NULL, err) < 0)
			return -1;
	}
	return 0;
}

int hold_dismiss(struct store *store, const char *run_id, const char *ids, const char *actor, struct err *err)
{
	struct dismissing dismissing = {store, {.run_id = run_id, .actor = actor, .ids = ids}};

	return db_transaction(store->db, dismiss_in, &dismissing, err);
}
