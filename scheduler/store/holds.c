/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/holds.h"

#include "scheduler/store/audit.h"

int holds_begin(struct store *store, const json_t *holds, struct err *err)
{
	_cleanup_(freep) char *text = json_text(holds);

	if (!json_array_size(holds))
		return 0;
	return db_queue(store->db, err,
		"with begun as (insert into workspace_holds (job_id, workspace_id, run_id, worker, token_hash, until) "
		"select j.id, j.workspace_id, j.run_id, coalesce(w.name, j.worker_id, ''), j.token_hash, "
		"now() + make_interval(secs => $2) from jsonb_to_recordset($1::jsonb) as u(job text) "
		"join jobs j on j.id = u.job left join workers w on w.id = j.worker_id where j.token_hash is not null "
		"on conflict (job_id) do nothing returning job_id, workspace_id, run_id, until), "
		"held as (update workspaces w set hold_job_id = b.job_id from begun b where w.id = b.workspace_id "
		"returning w.id, w.organization_id), "
		"told as (insert into run_events (id, run_id, action, description) select u.event, b.run_id, "
		"'workspace-held', 'The workspace is held until the last state of the apply has arrived, until ' || "
		"to_char(b.until at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS \"UTC\"') || ' at the longest.' "
		"from begun b join jsonb_to_recordset($1::jsonb) as u(job text, event text) on u.job = b.job_id) "
		"insert into audit_events (id, organization_id, actor_type, actor_name, request_id, action, "
		"resource_type, resource_id, workspace_id) select gen_random_uuid(), organization_id, 'system', "
		"'runyard-scheduler', gen_random_uuid(), 'hold', 'workspace', id, id from held",
		P_TEXT(text), P_INT(store->hold_seconds));
}

/* ---- the end ---- */

static const char *const ends[] = {
	[HOLD_STATE_CAME] = "The last state of the apply has arrived.",
	[HOLD_TIME_OVER] = "The time to wait for the last state of the apply is over.",
	[HOLD_OPERATOR] = "An operator ended the wait for the last state of the apply",
};

static char *end_sentence(const struct hold_order *order)
{
	const char *reason = text_or_empty(order->reason);

	if (order->why != HOLD_OPERATOR)
		return mem_text(ends[order->why]);
	return *reason ? mem_printf("%s: %s", ends[order->why], reason) : mem_printf("%s.", ends[order->why]);
}

/* What an API request does has its event already. */
static int end_audit(struct store *store, const struct hold_order *order, const char *organization, struct err *err)
{
	char request[AUDIT_UUID_SIZE];
	const struct audit_event event = {.organization = organization,
		.actor_type = "system",
		.actor_name = "runyard-scheduler",
		.request = request,
		.action = "release",
		.resource_type = "workspace",
		.resource_id = order->workspace_id,
		.workspace = order->workspace_id};

	if (order->actor)
		return 0;
	audit_uuid(request);
	return audit_write(store, &event, err);
}

struct ending {
	struct store *store;
	const struct hold_order *order;
	bool ended;
};

static int end_in(void *data, struct err *err)
{
	struct ending *ending = data;
	const struct hold_order *order = ending->order;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *sentence = end_sentence(order);

	if (db_query(ending->store->db, &rows, err,
		    "select h.job_id, h.run_id, w.organization_id from workspaces w join workspace_holds h on h.job_id "
		    "= "
		    "w.hold_job_id where w.id = $1 and ($2::text is null or h.job_id = $2) for update of w, h",
		    P_TEXT(order->workspace_id), P_TEXT(order->job_id)) < 0)
		return -1;
	ending->ended = rows.count > 0;
	if (!ending->ended)
		return 0;
	if (db_query(ending->store->db, NULL, err,
		    "with free as (update workspaces set hold_job_id = null where id = $1), "
		    "over as (update workspace_holds set until = null where job_id = $2) "
		    "insert into run_events (id, run_id, action, description, actor_id) "
		    "values ($3, $4, 'workspace-released', $5, $6)",
		    P_TEXT(order->workspace_id), P_TEXT(row_text(&rows, 0, "job_id")), P_TEXT(id_new("re").text),
		    P_TEXT(row_text(&rows, 0, "run_id")), P_TEXT(sentence), P_TEXT(order->actor)) < 0)
		return -1;
	return end_audit(ending->store, order, row_text(&rows, 0, "organization_id"), err);
}

int hold_end(struct store *store, const struct hold_order *order, bool *ret_ended, struct err *err)
{
	struct ending ending = {.store = store, .order = order};

	if (db_transaction(store->db, end_in, &ending, err) < 0)
		return -1;
	*ret_ended = ending.ended;
	return 0;
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
	return db_query(store->db, NULL, err, "delete from workspace_holds where job_id = $1", P_TEXT(job_id));
}

/* ---- lists ---- */

int holds_due(struct store *store, int most, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select h.workspace_id, h.job_id from workspace_holds h join workspaces w on w.id = h.workspace_id "
		"and w.hold_job_id = h.job_id where h.until < now() order by h.until limit $1",
		P_INT(most));
}

int holds_list(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select w.id as workspace_id, w.name as workspace, o.name as organization, h.run_id, h.worker, "
		"h.began_at, h.until from workspace_holds h join workspaces w on w.hold_job_id = h.job_id and w.id = "
		"h.workspace_id join organizations o on o.id = w.organization_id where h.until is not null "
		"order by h.began_at");
}
