/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/holds.h"

#include "proto/mac.h"
#include "scheduler/store/access/audit.h"
#include "scheduler/store/runs/holds.sql.h"

int holds_begin(struct store *store, const json_t *holds, struct err *err)
{
	_cleanup_(freep) char *text = json_text(holds);

	if (!json_array_size(holds))
		return 0;
	return db_queue(store->db, err, holds_begin, .holds = text);
}

/* ---- an order ---- */

static const char *const sentences[HOLD_EVENT_COUNT] = {
	[HOLD_LAST_STATE] = "The last state of the apply has arrived.",
	[HOLD_DEADLINE] = "The deadline of the apply has passed: the worker has ended its terraform by then.",
	[HOLD_RELEASED] = "An operator ended the wait for the last state of the apply",
	[HOLD_DISMISSED] = "The unrecorded resources of the apply were dismissed.",
	[HOLD_CANCELED] = "The worker is asked to interrupt the terraform of the lost apply.",
	[HOLD_FORCE_CANCELED] = "The worker is asked to kill the terraform of the lost apply.",
};

static const char *const actions[HOLD_EVENT_COUNT] = {
	[HOLD_LAST_STATE] = "workspace-released",
	[HOLD_DEADLINE] = "workspace-released",
	[HOLD_RELEASED] = "workspace-released",
	[HOLD_DISMISSED] = "workspace-released",
	[HOLD_CANCELED] = "canceled",
	[HOLD_FORCE_CANCELED] = "force-canceled",
};

static char *sentence_of(const struct hold_order *order, const struct hold_verdict *verdict)
{
	const char *reason = text_or_empty(order->reason),
		   *risk = verdict->risks ? ", while its terraform could still run" : "";

	if (order->event != HOLD_RELEASED)
		return mem_text(sentences[order->event]);
	return *reason ? mem_printf("%s%s: %s", sentences[HOLD_RELEASED], risk, reason)
		       : mem_printf("%s%s.", sentences[HOLD_RELEASED], risk);
}

struct hold_work {
	struct store *store;
	const struct hold_order *order;
	struct hold_outcome *outcome;
};

/* An API request writes its own audit event. */
static int audit_end(const struct hold_work *d, const char *organization, struct err *err)
{
	const struct audit_event event = {.organization = organization,
		.action = "release",
		.resource_type = "workspace",
		.resource_id = d->outcome->workspace.text,
		.workspace = d->outcome->workspace.text};

	return d->order->actor ? 0 : audit_write_system(d->store, &event, err);
}

static int event_write(const struct hold_work *d, struct err *err)
{
	_cleanup_(freep) char *sentence = sentence_of(d->order, &d->outcome->verdict);

	return db_query(d->store->db, NULL, err, hold_event_add, .id = id_new("re").text,
		.run_id = d->outcome->run.text, .action = actions[d->order->event], .description = sentence,
		.actor_id = d->order->actor);
}

static int end_write(const struct hold_work *d, const struct hold_lock_row *hold, struct err *err)
{
	if (db_query(d->store->db, NULL, err, hold_end, .workspace_id = hold->workspace_id, .job_id = hold->job_id) < 0)
		return -1;
	return audit_end(d, hold->organization_id, err);
}

/* The caller publishes the message after the commit. A worker that misses it learns of the stop from the row
 * (store/workers/workers.c, api/internal/control.c). */
static int stop_write(const struct hold_work *d, const struct hold_lock_row *hold, struct err *err)
{
	struct job_stop stop = {.attempt = (int)hold->attempt, .stop = d->outcome->verdict.stop};

	if (db_query(d->store->db, NULL, err, hold_stop, .job_id = hold->job_id, .stop = stop.stop,
		    .run_id = hold->run_id, .actor_id = d->order->actor) < 0)
		return -1;
	text_copy(stop.job.text, sizeof(stop.job.text), hold->job_id);
	job_stop_sign(&stop, hold->token_hash);
	d->outcome->stop = job_stop_encode(&stop);
	return 0;
}

static int apply_in(void *data, struct err *err)
{
	const struct hold_work *d = data;
	const struct hold_order *order = d->order;
	struct hold_outcome *outcome = d->outcome;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct hold_lock_row *row = NULL;
	struct hold hold = {.holds = false};

	hold_outcome_release(outcome);
	if (db_query(d->store->db, &rows, err, hold_lock, .workspace_id = order->workspace_id, .run_id = order->run_id,
		    .job_id = order->job_id) < 0)
		return -1;
	if (rows.count) {
		row = row_of(hold_lock, &rows, 0);
		hold = HOLD_OF_ROW(row);
		text_copy(outcome->workspace.text, ID_SIZE, row->workspace_id);
		text_copy(outcome->run.text, ID_SIZE, row->run_id);
	}
	outcome->verdict = hold_step(&hold, order->event);
	/* Without a hold every event is refused. */
	if (outcome->verdict.refused || !row)
		return 0;
	if (outcome->verdict.settles)
		return db_query(d->store->db, NULL, err, hold_settle, .job_id = row->job_id);
	if ((outcome->verdict.ends && end_write(d, row, err) < 0) ||
		(outcome->verdict.signals && stop_write(d, row, err) < 0))
		return -1;
	return event_write(d, err);
}

void hold_outcome_release(struct hold_outcome *outcome)
{
	free(outcome->stop);
	*outcome = (struct hold_outcome){.stop = NULL};
}

int hold_apply(struct store *store, const struct hold_order *order, struct hold_outcome *ret_outcome, struct err *err)
{
	struct hold_work work = {.store = store, .order = order, .outcome = ret_outcome};

	return db_transaction(store->db, apply_in, &work, err);
}

/* ---- by the attempt's token ---- */

int hold_of_token(
	struct store *store, const char *job_id, const char *token_hash, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, hold_of_token, .job_id = job_id, .token_hash = token_hash);
}

int hold_forget(struct store *store, const char *job_id, struct err *err)
{
	return db_query(store->db, NULL, err, hold_forget, .job_id = job_id);
}

/* ---- lists ---- */

int holds_due(struct store *store, int max, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, holds_due, .max = max);
}

int holds_alert(struct store *store, int max, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, holds_alert, .alert_seconds = store->settings->hold_alert_seconds,
		.max = max);
}

int hold_of_workspace(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, hold_of_workspace, .workspace_id = workspace_id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "workspace not found");
}

int holds_list(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, holds_list);
}
