/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/holds.h"

#include "proto/mac.h"
#include "scheduler/store/access/audit.h"

int holds_begin(struct store *store, const json_t *holds, struct err *err)
{
	_cleanup_(freep) char *text = json_text(holds);

	if (!json_array_size(holds))
		return 0;
	/* Returns nothing. Jobs, workers and workspaces are read by their primary keys; the jobs' ids are an array
	 * (db/db.h, "plans"). */
	return db_queue(store->db, err,
		"with begun as (insert into workspace_holds (job_id, workspace_id, run_id, worker, token_hash, until, "
		"attempt, worker_id, stop, engine_ended) "
		"select j.id, j.workspace_id, j.run_id, coalesce(w.name, j.worker_id, ''), coalesce(j.token_hash, ''), "
		"coalesce(j.deadline, 'infinity'), j.attempt, j.worker_id, j.stop, u.engine_ended "
		"from jsonb_to_recordset($1::jsonb) as u(job text, engine_ended boolean) "
		"join jobs j on j.id = u.job and j.id = any(array(select d.job from jsonb_to_recordset($1::jsonb) as "
		"d(job text))) left join workers w on w.id = j.worker_id "
		"on conflict (job_id) do nothing returning job_id, workspace_id, run_id, until), "
		"held as (update workspaces w set hold_job_id = b.job_id from begun b where w.id = b.workspace_id "
		"returning w.id, w.organization_id), "
		"noted as (insert into run_events (id, run_id, action, description) select u.event, b.run_id, "
		"'workspace-held', 'The workspace is held until the last state of the apply has arrived' || "
		"coalesce(', or until ' || to_char(b.until at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS \"UTC\"') || "
		"', when the worker must have ended terraform', '') || '.' "
		"from begun b join jsonb_to_recordset($1::jsonb) as u(job text, event text) on u.job = b.job_id) "
		"insert into audit_events (id, organization_id, actor_type, actor_name, request_id, action, "
		"resource_type, resource_id, workspace_id) select gen_random_uuid(), organization_id, 'system', "
		"'runyard-scheduler', gen_random_uuid(), 'hold', 'workspace', id, id from held",
		P_TEXT(text));
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

	return db_query(d->store->db, NULL, err,
		"insert into run_events (id, run_id, action, description, actor_id) values ($1, $2, $3, $4, $5)",
		P_TEXT(id_new("re").text), P_TEXT(d->outcome->run.text), P_TEXT(actions[d->order->event]),
		P_TEXT(sentence), P_TEXT(d->order->actor));
}

static int end_write(const struct hold_work *d, const struct rows *rows, struct err *err)
{
	if (db_query(d->store->db, NULL, err,
		    "with free as (update workspaces set hold_job_id = null where id = $1) "
		    "update workspace_holds set until = null where job_id = $2",
		    P_TEXT(d->outcome->workspace.text), P_TEXT(row_text(rows, 0, "job_id"))) < 0)
		return -1;
	return audit_end(d, row_text(rows, 0, "organization_id"), err);
}

static int settle_write(const struct hold_work *d, const struct rows *rows, struct err *err)
{
	return db_query(d->store->db, NULL, err,
		"update workspace_holds set settled_at = coalesce(settled_at, now()) where job_id = $1",
		P_TEXT(row_text(rows, 0, "job_id")));
}

/* The caller publishes the message after the commit. A worker that misses it learns of the stop from the row
 * (store/workers/workers.c, api/internal/control.c). */
static int stop_write(const struct hold_work *d, const struct rows *rows, struct err *err)
{
	struct job_stop stop = {.attempt = (int)row_int(rows, 0, "attempt"), .stop = d->outcome->verdict.stop};

	if (db_query(d->store->db, NULL, err,
		    "with asked as (update workspace_holds set stop = $2 where job_id = $1), "
		    "shown as (update run_inputs set canceled_by = coalesce(canceled_by, $4) where run_id = $3) "
		    "update runs set canceled_at = coalesce(canceled_at, now()), force_cancel_available_at = "
		    "coalesce(force_cancel_available_at, now() + interval '10 seconds') where id = $3",
		    P_TEXT(row_text(rows, 0, "job_id")), P_INT(stop.stop), P_TEXT(d->outcome->run.text),
		    P_TEXT(d->order->actor)) < 0)
		return -1;
	text_copy(stop.job.text, sizeof(stop.job.text), row_text(rows, 0, "job_id"));
	job_stop_sign(&stop, row_text(rows, 0, "token_hash"));
	d->outcome->stop = job_stop_encode(&stop);
	return 0;
}

/* Locks the workspace and its hold. */
static int hold_read(const struct hold_work *d, struct rows *ret_rows, struct err *err)
{
	const struct hold_order *order = d->order;

	return db_query(d->store->db, ret_rows, err,
		"select h.job_id, h.run_id, h.workspace_id, h.attempt, h.token_hash, w.organization_id, "
		"coalesce(r.force_cancel_available_at <= now(), false) as cooled_off, " HOLD_COLUMNS
		"from workspaces w join workspace_holds h on h.job_id = w.hold_job_id join runs r on r.id = h.run_id "
		"where w.id = coalesce($1, (select workspace_id from runs where id = $2)) "
		"and ($2::text is null or h.run_id = $2) and ($3::text is null or h.job_id = $3) for update of w, h",
		P_TEXT(order->workspace_id), P_TEXT(order->run_id), P_TEXT(order->job_id));
}

static int apply_in(void *data, struct err *err)
{
	const struct hold_work *d = data;
	struct hold_outcome *outcome = d->outcome;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct hold hold = {.holds = false};

	hold_outcome_release(outcome);
	if (hold_read(d, &rows, err) < 0)
		return -1;
	if (rows.count) {
		hold = hold_of_view(&rows, 0);
		text_copy(outcome->workspace.text, ID_SIZE, row_text(&rows, 0, "workspace_id"));
		text_copy(outcome->run.text, ID_SIZE, row_text(&rows, 0, "run_id"));
	}
	outcome->verdict = hold_step(&hold, d->order->event);
	if (outcome->verdict.refused)
		return 0;
	if (outcome->verdict.settles)
		return settle_write(d, &rows, err);
	if ((outcome->verdict.ends && end_write(d, &rows, err) < 0) ||
		(outcome->verdict.signals && stop_write(d, &rows, err) < 0))
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

struct hold hold_of_view(const struct rows *rows, int row)
{
	return (struct hold){.holds = !row_null(rows, row, "hold_stop"),
		.engine_ended = row_bool(rows, row, "hold_engine_ended"),
		.past_deadline = row_bool(rows, row, "hold_past_deadline"),
		.settled = row_bool(rows, row, "hold_settled"),
		.unrecorded = row_bool(rows, row, "hold_unrecorded"),
		.restored = row_bool(rows, row, "hold_restored"),
		.cooled_off = row_bool(rows, row, "cooled_off"),
		.stop = (enum stop)row_int(rows, row, "hold_stop")};
}

/* ---- by the attempt's token ---- */

int hold_of_token(
	struct store *store, const char *job_id, const char *token_hash, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select h.job_id, h.run_id, h.workspace_id, coalesce(w.hold_job_id = h.job_id, false) as holds "
		"from workspace_holds h join workspaces w on w.id = h.workspace_id "
		"where h.job_id = $1 and h.token_hash = $2",
		P_TEXT(job_id), P_TEXT(token_hash));
}

int hold_forget(struct store *store, const char *job_id, struct err *err)
{
	return db_query(store->db, NULL, err,
		"delete from workspace_holds where job_id = $1 and not exists "
		"(select 1 from workspaces where hold_job_id = $1)",
		P_TEXT(job_id));
}

/* ---- lists ---- */

int holds_due(struct store *store, int max, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select h.workspace_id, h.job_id from workspace_holds h join workspaces w on w.id = h.workspace_id "
		"and w.hold_job_id = h.job_id where h.until < now() and h.settled_at is null order by h.until limit $1",
		P_INT(max));
}

int holds_alert(struct store *store, int max, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"update workspace_holds set alerted_at = now() where job_id in (select job_id from workspace_holds "
		"where until is not null and alerted_at is null and began_at < now() - make_interval(secs => $1) "
		"order by began_at limit $2 for update skip locked) "
		"returning workspace_id, run_id, worker, began_at, until",
		P_INT(store->settings->hold_alert_seconds), P_INT(max));
}

int hold_of_workspace(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select w.id as workspace_id, w.name as workspace, w.organization_id, "
		    "(select name from organizations o where o.id = w.organization_id) as organization, h.run_id, "
		    "h.worker, to_char(h.began_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS \"UTC\"') as since, "
		    "to_char(h.until at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS \"UTC\"') as until, "
		    "coalesce(r.force_cancel_available_at <= now(), false) as cooled_off, " HOLD_COLUMNS
		    "from workspaces w left join workspace_holds h on h.job_id = w.hold_job_id "
		    "left join runs r on r.id = h.run_id where w.id = $1",
		    P_TEXT(workspace_id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "workspace not found");
}

int holds_list(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select w.id as workspace_id, w.name as workspace, o.name as organization, h.run_id, h.worker, "
		"h.began_at, case when isfinite(h.until) then h.until end as until, h.stop from workspaces w "
		"join workspace_holds h on w.hold_job_id = h.job_id and w.id = "
		"h.workspace_id join organizations o on o.id = w.organization_id where h.until is not null "
		"order by h.began_at");
}
