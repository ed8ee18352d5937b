/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/tasks/task_views.h"

#include "scheduler/outbox/outbox.h"
#include "scheduler/store/access/response_scope.h"

#define STAGE_VIEW(user)                                                                                               \
	"select s.*, n.organization_id, n.workspace_id, n.status as run_status, n.stage as "                           \
	"run_stage, " RIGHTS_IN_WORKSPACE(user, "n.organization_id",                                                   \
		"n.workspace_id") "as rights, "                                                                        \
				  "(select coalesce(jsonb_agg(r.id order by r.task_name), '[]') from task_results r "  \
				  "where r.task_stage_id = s.id) as results, "                                         \
				  "case when e.id is null then '[]' else jsonb_build_array(e.id) end as evaluations, " \
				  "e.status as evaluation_status, exists (select 1 from policy_set_outcomes o "        \
				  "where o.policy_evaluation_id = e.id and not o.overridable and (o.error is not "     \
				  "null "                                                                              \
				  "or exists (select 1 from jsonb_array_elements(o.outcomes) x "                       \
				  "where x ->> 'enforcement_level' = 'mandatory' and x ->> 'status' <> 'passed'))) "   \
				  "as override_barred "                                                                \
				  "from task_stages s join runs n on n.id = s.run_id left join policy_evaluations e "  \
				  "on e.run_id = s.run_id and e.kind = 'opa' and s.stage = 'post_plan' "

int task_stages_view(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		STAGE_VIEW("$2") "where s.run_id = $1 "
				 "order by array_position(array['pre_plan', 'post_plan', 'pre_apply', 'post_apply'], "
				 "s.stage)",
		P_TEXT(run_id), P_TEXT(response_scope_user(store->scope)));
}

int task_stage_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, STAGE_VIEW("$2") "where s.id = any($1::text[])", P_ARRAY(ids),
		P_TEXT(response_scope_user(store->scope)));
}

int task_stage_view(struct store *store, const char *stage_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, STAGE_VIEW("$2") "where s.id = $1", P_TEXT(stage_id),
		    P_TEXT(response_scope_user(store->scope))) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "task stage not found");
}

#define RESULT_VIEW                                                                                                    \
	"select r.*, n.organization_id, n.workspace_id, n.plan_only, (select coalesce(jsonb_agg(o.id order by "        \
	"o.position), '[]') from task_result_outcomes o where o.task_result_id = r.id) as outcomes "                   \
	"from task_results r join runs n on n.id = r.run_id "

int task_result_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, RESULT_VIEW "where r.id = any($1::text[]) order by r.task_name, r.id",
		P_ARRAY(ids));
}

int task_results_view(
	struct store *store, struct db_array *ids, const char *stage_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		RESULT_VIEW "where r.id in (select unnest($1::text[]) union all "
			    "select x.id from task_results x where x.task_stage_id = $2) order by r.task_name, r.id",
		P_TEXT(ids ? db_array_text(ids) : "{}"), P_TEXT(stage_id));
}

int task_result_view(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;

	db_array_add(&ids, id);
	if (task_results_view(store, &ids, NULL, ret_rows, err) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "task result not found");
}

int task_outcomes_view(struct store *store, const char *task_result_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select * from task_result_outcomes where task_result_id = $1 order by position, id",
		P_TEXT(task_result_id));
}

int task_outcome_view(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select o.*, n.organization_id, n.workspace_id from task_result_outcomes o join task_results r on "
		    "r.id = "
		    "o.task_result_id "
		    "join runs n on n.id = r.run_id where o.id = $1",
		    P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "task result outcome not found");
}

int task_deliveries_view(struct store *store, const char *task_result_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select id, sent_at, status, seconds, answer, error from task_deliveries where task_result_id = $1 "
		"order by id desc limit 100",
		P_TEXT(task_result_id));
}

struct redelivering {
	struct store *store;
	const char *id;
};

static int redeliver_run(void *data, struct err *err)
{
	struct redelivering *r = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(outbox_release) struct outbox outbox;

	outbox_init(&outbox);
	if (db_query(r->store->db, &rows, err,
		    "update task_results set delivery = 'waiting', due_at = null, updated_at = now(), "
		    "give_up_at = now() + make_interval(secs => $2) where id = $1 and reported is null "
		    "and status in ('pending', 'running') and delivery <> 'none' returning run_id",
		    P_TEXT(r->id), P_INT(r->store->settings->task_limits.delivery_seconds)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_CONFLICT, "the task is over, or its stage does not run yet");
	outbox_add_task(&outbox, r->id, row_text(&rows, 0, "run_id"));
	return outbox_insert(&outbox, r->store->db, r->store->sink, err);
}

int task_result_redeliver(struct store *store, const char *task_result_id, struct err *err)
{
	struct redelivering r = {.store = store, .id = task_result_id};

	return db_transaction(store->db, redeliver_run, &r, err);
}
