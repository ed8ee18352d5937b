/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/policies/policy_views.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/policies/policy_views.sql.h"

int policy_evaluations_view(
	struct store *store, const char *run_id, const char *kind, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, policy_evaluations_view, .run_id = run_id, .kind = kind,
		.user = response_scope_user(store->scope));
}

int policy_evaluation_view(
	struct store *store, const char *id, const char *kind, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, policy_evaluation_view, .id = id, .kind = kind,
		    .user = response_scope_user(store->scope)) < 0)
		return -1;
	return ret_rows->count
		? 0
		: err_set(err, ERR_NOT_FOUND, "policy %s not found", text_equal(kind, "opa") ? "evaluation" : "check");
}

int policy_evaluation_views_of(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, policy_evaluation_views_of, .ids = ids,
		.user = response_scope_user(store->scope));
}

int policy_outcomes_view(struct store *store, const char *evaluation_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, policy_outcomes_view, .evaluation_id = evaluation_id);
}

int policy_outcome_view(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, policy_outcome_view, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "policy set outcome not found");
}
