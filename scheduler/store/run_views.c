/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/run_views.h"

enum { SNAPSHOT_LIMIT = 64 << 20 };

#define VIEW                                                                                                           \
	"select r.*, i.configuration_version_id, i.message, i.source, i.trigger_reason, i.is_destroy, i.refresh, "     \
	"i.refresh_only, i.allow_config_generation, i.json_log, i.target_addrs, i.replace_addrs, "                     \
	"coalesce(nullif(p.terraform_version, ''), i.terraform_version) as terraform_version, i.variables_sealed, "    \
	"i.error, i.created_by, i.confirmed_by, i.canceled_by, p.base_state_id, "                                      \
	"coalesce(r.force_cancel_available_at <= now(), false) as cooled_off, "                                        \
	"case when r.queued then 1 + (select count(*) from runs b where b.workspace_id = r.workspace_id "              \
	"and b.queued and b.position < r.position) else 0 end as queue_position, "                                     \
	"(select coalesce(jsonb_agg(t.id order by array_position(array['pre_plan', 'post_plan', 'pre_apply', "         \
	"'post_apply'], t.stage)), '[]') from task_stages t where t.run_id = r.id) as task_stages, "                   \
	"(select ce.id from cost_estimates ce where ce.run_id = r.id) as cost_estimate_id, "                           \
	"(select coalesce(jsonb_agg(e.id), '[]') from policy_evaluations e where e.run_id = r.id "                     \
	"and e.kind = 'sentinel') as policy_checks, "                                                                  \
	"(select coalesce(jsonb_agg(c.id order by c.created_at), '[]') from comments c where c.run_id = r.id) "        \
	"as comments, "                                                                                                \
	"(select coalesce(jsonb_agg(e.id order by e.created_at), '[]') from run_events e where e.run_id = r.id) "      \
	"as events "

#define VIEW_TABLES                                                                                                    \
	"from runs r join run_inputs i on i.run_id = r.id join operations p on p.id = 'plan' || substr(r.id, 4) "

int run_view(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, VIEW VIEW_TABLES "where r.id = $1", P_TEXT(run_id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "run not found");
}

struct run run_of_view(const struct rows *rows, int row)
{
	int status = run_status_parse(row_text(rows, row, "status"));
	int stage = stage_parse(row_text(rows, row, "stage"));

	return (struct run){
		.status = status < 0 ? RUN_ERRORED : (enum run_status)status,
		.stage = stage < 0 ? STAGE_NONE : (enum stage)stage,
		.stages = (uint32_t)row_int(rows, row, "stages"),
		.plan_only = row_bool(rows, row, "plan_only"),
		.save_plan = row_bool(rows, row, "save_plan"),
		.auto_apply = row_bool(rows, row, "auto_apply"),
		.allow_empty_apply = row_bool(rows, row, "allow_empty_apply"),
		.has_changes = row_bool(rows, row, "has_changes"),
		.queued = row_bool(rows, row, "queued"),
		.underway = row_bool(rows, row, "underway"),
		.stopping = (enum stop)row_int(rows, row, "stopping"),
	};
}

/* What `operation` means, as conditions on a run's row. */
#define OPERATION                                                                                                      \
	"case when r.plan_only then 'plan_only' when i.refresh_only then 'refresh_only' when i.is_destroy then "       \
	"'destroy' when r.allow_empty_apply then 'empty_apply' when r.save_plan then 'save_plan' else "                \
	"'plan_and_apply' end"

#define DISCARDABLE                                                                                                    \
	"('pending', 'planned', 'planned_and_saved', 'cost_estimated', 'policy_checked', 'policy_override', "          \
	"'post_plan_running', 'post_plan_completed')"

#define FILTER                                                                                                         \
	"where r.organization_id = $1 and ($2::text is null or r.workspace_id = $2) "                                  \
	"and ($3::text is null or r.status = any(string_to_array($3, ','))) "                                          \
	"and case $4 when 'final' then r.ended when 'non_final' then not r.ended when 'discardable' then r.status "    \
	"in " DISCARDABLE " else true end "                                                                            \
	"and case when $5::text is null then not r.plan_only or $9 else " OPERATION                                    \
	" = any(string_to_array($5, ',')) end "                                                                        \
	"and ($6::text is null or i.source = any(string_to_array($6, ','))) "                                          \
	"and ($7::text is null or r.workspace_id in (select id from workspaces w where w.organization_id = $1 "        \
	"and w.name = any(string_to_array($7, ',')))) "                                                                \
	"and ($8::text is null or r.id = $8 or i.message ilike '%' || $8 || '%') "                                     \
	"and (not $9::boolean or not r.ended and r.status <> 'planned_and_saved') "

int run_views(struct store *store, const struct run_filter *filter, struct rows *ret_rows, long long *ret_total,
	struct err *err)
{
	_cleanup_(rows_release) struct rows total = ROWS_INIT;
	const struct run_filter *f = filter;

	if (db_query(store->db, &total, err, "select count(*) as total " VIEW_TABLES FILTER, P_TEXT(f->organization_id),
		    P_TEXT(f->workspace_id), P_TEXT(f->status), P_TEXT(f->status_group), P_TEXT(f->operation),
		    P_TEXT(f->source), P_TEXT(f->workspace_names), P_TEXT(f->search), P_BOOL(f->queue)) < 0)
		return -1;
	*ret_total = row_int(&total, 0, "total");
	return db_query(store->db, ret_rows, err,
		VIEW VIEW_TABLES FILTER
		"order by case when $9 then r.position else -r.position end limit $10 offset $11",
		P_TEXT(f->organization_id), P_TEXT(f->workspace_id), P_TEXT(f->status), P_TEXT(f->status_group),
		P_TEXT(f->operation), P_TEXT(f->source), P_TEXT(f->workspace_names), P_TEXT(f->search),
		P_BOOL(f->queue), P_INT(f->limit), P_INT(f->offset));
}

int operation_view(struct store *store, const char *operation_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select o.*, r.organization_id, r.has_changes, i.json_log, "
		    "(select coalesce(jsonb_agg(s.id order by s.created_at desc), '[]') from state_versions s "
		    "where s.run_id = o.run_id) as states from operations o join runs r on r.id = o.run_id "
		    "join run_inputs i on i.run_id = o.run_id where o.id = $1",
		    P_TEXT(operation_id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "%.5s not found", operation_id);
}

int run_secrets(struct store *store, const char *run_id, json_t **ret_values, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(buf_release) struct buf text = BUF_INIT(SNAPSHOT_LIMIT);
	json_auto_t *snapshot = NULL;
	json_t *variable;
	size_t i;

	if (db_query(store->db, &rows, err, "select snapshot_sealed from run_inputs where run_id = $1",
		    P_TEXT(run_id)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "run not found");
	if (store_open(store, run_id, &rows, 0, "snapshot_sealed", &text, err) < 0 ||
		json_parse(buf_str(&text), text.len, &snapshot, err) < 0)
		return -1;
	*ret_values = json_array();
	json_array_foreach(snapshot, i, variable) if (json_bool_at(variable, "sensitive", false))
		json_array_append(*ret_values, json_object_get(variable, "value"));
	return 0;
}

int run_events_view(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select id, action, description, actor_id, comment_id, created_at from run_events where run_id = $1 "
		"order by created_at, action <> 'created', id", /* its queue's turn may come in the same moment */
		P_TEXT(run_id));
}

int comments_view(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select id, run_id, body, created_by, created_at from comments where run_id = $1 order by created_at, "
		"id",
		P_TEXT(run_id));
}

int comment_view(struct store *store, const char *comment_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select c.id, c.run_id, c.body, c.created_by, c.created_at, r.organization_id from comments c "
		    "join runs r on r.id = c.run_id where c.id = $1",
		    P_TEXT(comment_id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "comment not found");
}

int comment_create(struct store *store, const char *run_id, const char *user_id, const char *body, struct id *ret_id,
	struct err *err)
{
	struct id id = id_new("wsc");

	if (db_query(store->db, NULL, err,
		    "insert into comments (id, run_id, body, created_by) values ($1, $2, $3, $4)", P_TEXT(id.text),
		    P_TEXT(run_id), P_TEXT(body), P_TEXT(user_id)) < 0)
		return -1;
	*ret_id = id;
	return 0;
}
