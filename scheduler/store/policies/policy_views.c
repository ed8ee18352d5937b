/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/policies/policy_views.h"

#include "scheduler/store/access/response_scope.h"

/* The duration is from the first to the last status timestamp. The override's timestamp is excluded, since a user sets
 * it later. */
#define VIEW(user)                                                                                                     \
	"select e.*, n.organization_id, n.workspace_id, n.status as run_status, n.stage as "                           \
	"run_stage, " RIGHTS_IN_WORKSPACE(user, "n.organization_id",                                                   \
		"n.workspace_id") "as rights, "                                                                        \
				  "(select t.id from task_stages t where t.run_id = e.run_id and t.stage = "           \
				  "'post_plan') as task_stage_id, "                                                    \
				  "coalesce(s.ids, '[]') as outcomes, coalesce(s.sets, '[]') as sets, (select "        \
				  "coalesce(extract(epoch from "                                                       \
				  "max(value::timestamptz) - min(value::timestamptz)) * 1000, 0)::bigint "             \
				  "from jsonb_each_text(e.status_timestamps) where key <> 'overridden-at') as took "   \
				  "from policy_evaluations e join runs n on n.id = e.run_id left join lateral "        \
				  "(select "                                                                           \
				  "jsonb_agg(o.id order by o.name, o.id) as ids, "                                     \
				  "jsonb_agg(jsonb_build_object('name', o.name, 'overridable', "                       \
				  "o.overridable, 'outcomes', o.outcomes, 'error', o.error) order by o.name, o.id) "   \
				  "as sets "                                                                           \
				  "from policy_set_outcomes o where o.policy_evaluation_id = e.id) s on true "

int policy_evaluations_view(
	struct store *store, const char *run_id, const char *kind, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, VIEW("$3") "where e.run_id = $1 and e.kind = $2", P_TEXT(run_id),
		P_TEXT(kind), P_TEXT(response_scope_user(store->scope)));
}

int policy_evaluation_view(
	struct store *store, const char *id, const char *kind, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, VIEW("$3") "where e.id = $1 and e.kind = $2", P_TEXT(id), P_TEXT(kind),
		    P_TEXT(response_scope_user(store->scope))) < 0)
		return -1;
	return ret_rows->count
		? 0
		: err_set(err, ERR_NOT_FOUND, "policy %s not found", text_equal(kind, "opa") ? "evaluation" : "check");
}

int policy_evaluation_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, VIEW("$2") "where e.id = any($1::text[])", P_ARRAY(ids),
		P_TEXT(response_scope_user(store->scope)));
}

int policy_outcomes_view(struct store *store, const char *evaluation_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select * from policy_set_outcomes where policy_evaluation_id = $1 order by name, id",
		P_TEXT(evaluation_id));
}

int policy_outcome_view(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select o.*, n.organization_id, n.workspace_id from policy_set_outcomes o "
		    "join policy_evaluations e on e.id = o.policy_evaluation_id join runs n on n.id = e.run_id "
		    "where o.id = $1",
		    P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "policy set outcome not found");
}
