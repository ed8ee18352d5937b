/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/runs/run_views.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/runs/holds.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/runs/run_views.sql.h"

enum { SNAPSHOT_LIMIT = 64 << 20 };

/* `rights` is an expression of the requester's rights in the run's workspace. Most runs have no optional stages, and so
 * no task stages, cost estimates or policies: the conditions on r.stages skip these lookups. */
#define VIEW_WITH(rights)                                                                                              \
	"select r.*, " HOLD_COLUMNS ", " rights "as rights, "                                                          \
	"i.configuration_version_id, i.message, i.source, i.trigger_reason, i.is_destroy, "                            \
	"i.refresh, "                                                                                                  \
	"i.refresh_only, i.allow_config_generation, i.json_log, i.target_addrs, "                                      \
	"i.replace_addrs, i.policy_paths, "                                                                            \
	"i.invoke_action_addrs, coalesce(nullif(p.terraform_version, ''), "                                            \
	"i.terraform_version) as "                                                                                     \
	"terraform_version, i.variables_sealed, i.error, i.created_by, i.confirmed_by, "                               \
	"i.canceled_by, "                                                                                              \
	"case when r.status in ('canceled', 'force_canceled') and r.stage in ('apply', "                               \
	"'post_apply') then "                                                                                          \
	"(select jsonb_build_array(a.additions, a.changes, a.destructions) from operations "                           \
	"a where a.id = 'apply' || substr(r.id, 4)) end as applied, "                                                  \
	"p.base_state_id, coalesce(r.force_cancel_available_at <= now(), false) as "                                   \
	"cooled_off, "                                                                                                 \
	"case when r.queued then 1 + (select count(*) from runs b where b.workspace_id = "                             \
	"r.workspace_id "                                                                                              \
	"and b.queued and b.position < r.position) else 0 end as queue_position, "                                     \
	"case when r.stages = 0 then '[]' else (select coalesce(jsonb_agg(t.id order by "                              \
	"array_position("                                                                                              \
	"array['pre_plan', 'post_plan', 'pre_apply', 'post_apply'], t.stage)), '[]') "                                 \
	"from task_stages t where t.run_id = r.id) end as task_stages, "                                               \
	"case when r.stages = 0 then null else (select ce.id from cost_estimates ce where "                            \
	"ce.run_id = r.id) end "                                                                                       \
	"as cost_estimate_id, "                                                                                        \
	"case when r.stages = 0 then '[]' else (select coalesce(jsonb_agg(e.id), '[]') "                               \
	"from policy_evaluations e where e.run_id = r.id and e.kind = 'sentinel') end as "                             \
	"policy_checks, "                                                                                              \
	"array_to_json(array(select c.id from comments c where c.run_id = r.id order by "                              \
	"c.created_at)) as comments, "                                                                                 \
	"array_to_json(array(select e.id from run_events e where e.run_id = r.id order by "                            \
	"e.created_at)) as events "

/* `user` is the number of the requester's parameter (store/access/response_scope.h). */
#define VIEW(user) VIEW_WITH(RIGHTS_IN_WORKSPACE(user, "r.organization_id", "r.workspace_id"))

#define VIEW_JOINS                                                                                                     \
	"join run_inputs i on i.run_id = r.id join operations p on p.id = 'plan' || substr(r.id, 4) " HOLD_JOIN

#define ONE_RUN "from runs r " VIEW_JOINS "where r.id = $1"

/* PostgreSQL initializes every subquery of a statement, also those that a `case` skips. So the statement for requesters
 * with all rights has no lookup of rights. */
static const char view_sql[] = VIEW("$2") ONE_RUN, view_for_all_rights_sql[] = VIEW_WITH("-1 ") ONE_RUN;

int run_view(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	const char *user = response_scope_user(store->scope);
	int result = user ? db_query_sql(store->db, ret_rows, err, view_sql, P_TEXT(run_id), P_TEXT(user))
			  : db_query_sql(store->db, ret_rows, err, view_for_all_rights_sql, P_TEXT(run_id));

	if (result < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "run not found");
}

int run_view_ask(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	const char *user = response_scope_user(store->scope);

	if (!user)
		return db_ask_sql(store->db, ret_rows, err, view_for_all_rights_sql, P_TEXT(run_id));
	return db_ask_sql(store->db, ret_rows, err, view_sql, P_TEXT(run_id), P_TEXT(user));
}

int run_views_ask(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, run_views_ask, .ids = ids, .user = response_scope_user(store->scope));
}

int run_belongs(struct store *store, const char *run_id, const char *workspace_id, bool *ret_belongs, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, run_belongs, .run_id = run_id, .workspace_id = workspace_id) < 0)
		return -1;
	*ret_belongs = rows.count > 0;
	return 0;
}

struct run run_of_words(const char *status, const char *stage, const struct run *rest)
{
	int status_read = run_status_parse(status), stage_read = stage_parse(stage);
	struct run run = *rest;

	run.status = status_read < 0 ? RUN_ERRORED : (enum run_status)status_read;
	run.stage = stage_read < 0 ? STAGE_NONE : (enum stage)stage_read;
	return run;
}

/* The value for the filter `operation`, computed from a run's row. */
#define OPERATION                                                                                                      \
	"case when r.plan_only then 'plan_only' when i.refresh_only then 'refresh_only' when i.is_destroy then "       \
	"'destroy' when r.allow_empty_apply then 'empty_apply' when r.save_plan then 'save_plan' else "                \
	"'plan_and_apply' end"

/* The creator's name in lower case. */
#define CREATOR "(select coalesce(max(lower(u.username)), '') from users u where u.id = i.created_by)"

/* The name that the provider knows the commit's sender by, in lower case. */
#define SENDER                                                                                                         \
	"(select coalesce(max(lower(k.detail->>'sender-username')), '') from configuration_commits k "                 \
	"where k.configuration_version_id = i.configuration_version_id)"

/* The runs of commits whose hashes begin with the text, in the order of configuration_commits_sha: no hexadecimal digit
 * is greater than f. */
#define OF_COMMIT(text)                                                                                                \
	"r.id in (select c.run_id from configuration_commits k "                                                       \
	"join run_inputs c on c.configuration_version_id = k.configuration_version_id "                                \
	"where k.sha >= lower(" text ") and k.sha < lower(" text ") || 'g')"

#define DISCARDABLE                                                                                                    \
	"('pending', 'planned', 'planned_and_saved', 'cost_estimated', 'policy_checked', 'policy_override', "          \
	"'post_plan_running', 'post_plan_completed')"

/* The filter of one workspace's runs has no organization. */
#define OWN "coalesce($1::text, (select organization_id from workspaces where id = $2)) "

/* Plans are generic (db/db.c), so `among` states the condition that an index serves, without parameters that may be
 * null. Conditions on the run's row are separate from conditions on its inputs. */
#define BY_RUN(among)                                                                                                  \
	"where " among " and ($2::text is null or r.workspace_id = $2) "                                               \
	"and ($3::text is null or r.status = any(string_to_array($3, ','))) "                                          \
	"and ($4::text is null or case when r.ended then 'final' else 'non_final' end = any(string_to_array($4, "      \
	"',')) "                                                                                                       \
	"or r.status in " DISCARDABLE " and 'discardable' = any(string_to_array($4, ','))) "                           \
	"and ($7::text is null or r.workspace_id in (select id from workspaces w where w.organization_id = " OWN       \
	"and w.name = any(string_to_array($7, ',')))) "                                                                \
	"and (not $9::boolean or not r.ended and r.status <> 'planned_and_saved') "                                    \
	"and ($12::bigint = 0 or extract(year from r.created_at at time zone 'UTC') = $12) "                           \
	"and (not $13::boolean or r.created_at > now() - interval '1 year') "                                          \
	"and ($14::text is null or " OF_COMMIT("$14") ") "                                                             \
						      "and " RUNS_IN_SCOPE("$15", "$16", "r.workspace_id")

#define BY_INPUTS                                                                                                      \
	"and case when $5::text is null then not r.plan_only or $9 else " OPERATION                                    \
	" = any(string_to_array($5, ',')) end "                                                                        \
	"and ($6::text is null or i.source = any(string_to_array($6, ','))) "                                          \
	"and ($8::text is null or r.id = $8 or strpos(lower(i.message), lower($8)) > 0 "                               \
	"or strpos(" CREATOR ", lower($8)) > 0 or strpos(" SENDER ", lower($8)) > 0 "                                  \
	"or length($8) >= 7 and " OF_COMMIT("$8") ") "                                                                 \
						  "and ($10::text is null or i.pool_id in (select id from "            \
						  "agent_pools p where p.organization_id = " OWN                       \
						  "and p.name = any(string_to_array($10, ',')))) "                     \
						  "and ($11::text is null or strpos(" CREATOR                          \
						  ", lower($11)) > 0 or strpos(" SENDER ", lower($11)) > 0) "

#define BY_NO_INPUTS                                                                                                   \
	"and coalesce($5::text, $6::text, $8::text, $10::text, $11::text) is null and (not r.plan_only or $9) "

#define FILTER_VALUES(store, f)                                                                                        \
	P_TEXT((f)->organization_id), P_TEXT((f)->workspace_id), P_TEXT((f)->status), P_TEXT((f)->status_group),       \
		P_TEXT((f)->operation), P_TEXT((f)->source), P_TEXT((f)->workspace_names), P_TEXT((f)->search),        \
		P_BOOL((f)->queue), P_TEXT((f)->pool_names), P_TEXT((f)->user), P_INT((f)->year),                      \
		P_BOOL((f)->past_year), P_TEXT((f)->commit),                                                           \
		P_BOOL((f)->workspace_id || response_scope_all((store)->scope, (f)->organization_id, CAN_READ_RUNS)),  \
		P_TEXT(response_scope_user((store)->scope))

#define IN_ORGANIZATION "r.organization_id = $1"
#define IN_WORKSPACE    "r.workspace_id = $2"
#define LIVE            IN_ORGANIZATION " and not r.ended"

#define JOIN_INPUTS "join run_inputs i on i.run_id = r.id "

/* The page is selected before the other columns are looked up, so that skipped runs need no lookups. */
#define CUT(joins, conditions, order)                                                                                  \
	VIEW("$16")                                                                                                    \
	"from (select r.* from runs r " joins conditions "order by r.position " order                                  \
	" limit $17 offset $18) r " VIEW_JOINS "order by r.position " order
/* run_inputs is joined only if the filter refers to it. */
#define VIEWS(among, order)                                                                                            \
	{                                                                                                              \
		CUT("", BY_RUN(among) BY_NO_INPUTS, order), CUT(JOIN_INPUTS, BY_RUN(among) BY_INPUTS, order)           \
	}
#define COUNT(among)                                                                                                   \
	{                                                                                                              \
		"select count(*) as total from runs r " BY_RUN(among) BY_NO_INPUTS,                                    \
			"select count(*) as total from runs r " JOIN_INPUTS BY_RUN(among) BY_INPUTS                    \
	}

/* Whether the filter excludes ended runs. */
static bool filter_is_live(const struct run_filter *filter)
{
	return filter->queue || text_equal(filter->status_group, "non_final") ||
		text_equal(filter->status_group, "discardable") || run_statuses_are_live(filter->status);
}

static bool filter_is_by_inputs(const struct run_filter *filter)
{
	return filter->operation || filter->source || filter->search || filter->pool_names || filter->user;
}

/* The conditions that an index serves. */
static const struct {
	const char *views[2], *count[2]; /* [1]: for filters that refer to run_inputs */
} places[] = {
	{VIEWS(LIVE, ""), COUNT(LIVE)}, /* a queue lists the longest waiting run first */
	{VIEWS(IN_WORKSPACE, "desc"), COUNT(IN_WORKSPACE)},
	{VIEWS(LIVE, "desc"), COUNT(LIVE)},
	{VIEWS(IN_ORGANIZATION, "desc"), COUNT(IN_ORGANIZATION)},
};

static size_t filter_place(const struct run_filter *filter)
{
	if (filter->queue)
		return 0;
	if (filter->workspace_id)
		return 1;
	return filter_is_live(filter) ? 2 : 3;
}

static bool filter_is_whole(const struct run_filter *filter)
{
	return filter->workspace_id && !filter->status && !filter->status_group && !filter->workspace_names &&
		!filter->year && !filter->past_year && !filter->commit && !filter->queue &&
		!filter_is_by_inputs(filter);
}

int run_views_ask_page(struct store *store, const struct run_filter *filter, struct rows *ret_rows, struct err *err)
{
	return db_ask_sql(store->db, ret_rows, err, places[filter_place(filter)].views[filter_is_by_inputs(filter)],
		FILTER_VALUES(store, filter), P_INT(filter->limit), P_INT(filter->offset));
}

int run_views_ask_count(struct store *store, const struct run_filter *filter, struct rows *ret_rows, struct err *err)
{
	if (filter_is_whole(filter))
		return db_ask(store->db, ret_rows, err, run_views_ask_count, .workspace_id = filter->workspace_id);
	return db_ask_sql(store->db, ret_rows, err, places[filter_place(filter)].count[filter_is_by_inputs(filter)],
		FILTER_VALUES(store, filter));
}

/* The index runs_workspace gives the newest runs of each workspace. */
int runs_recent_of(struct store *store, struct db_array *workspace_ids, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, runs_recent_of, .workspace_ids = workspace_ids,
		.user = response_scope_user(store->scope));
}

int operation_view(struct store *store, const char *operation_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, operation_view, .operation_id = operation_id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "%.5s not found", operation_id);
}

int operation_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, operation_views_of, .ids = ids);
}

/* Appends the values of the sensitive variables in a row of run_inputs. */
static int secrets_add(struct store *store, const struct rows *rows, int row, json_t *values, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(SNAPSHOT_LIMIT);
	json_auto_t *snapshot = NULL;
	json_t *variable;
	size_t i;

	if (seal_open(store, row_of(run_secrets, rows, row)->run_id,
		    (struct sealed_column){rows, row, "snapshot_sealed"}, &text, err) < 0 ||
		json_parse(buf_str(&text), text.len, &snapshot, err) < 0)
		return -1;
	json_array_foreach(snapshot, i, variable) if (json_bool_at(variable, "sensitive", false))
		json_array_append(values, json_object_get(variable, "value"));
	return 0;
}

int run_secrets(struct store *store, const char *run_id, json_t **ret_values, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *values = json_array();

	if (db_query(store->db, &rows, err, run_secrets, .run_id = run_id) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "run not found");
	for (int i = 0; i < rows.count; i++)
		if (secrets_add(store, &rows, i, values, err) < 0)
			return -1;
	*ret_values = json_incref(values);
	return 0;
}

/* ---- the runs of all organizations ---- */

int site_runs_list(struct store *store, const struct site_runs *list, struct rows *ret_rows, struct err *err)
{
	if (list->run_id)
		return db_query(store->db, ret_rows, err, site_runs_list_read, .run_id = list->run_id,
			.limit = list->limit, .offset = list->offset);
	return db_query(store->db, ret_rows, err, site_runs_list_read_2, .statuses = list->statuses,
		.search = list->search, .from = list->from, .to = list->to, .limit = list->limit,
		.offset = list->offset);
}
