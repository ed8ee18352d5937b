/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/expiry_rules.h"

#include "scheduler/store/content/expiry_rules.sql.h"

#include <stddef.h>

/* ---- rules of ended runs ---- */

static int logs_expire(struct store *store, const struct expiry_batch *batch, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, logs_expire, .ids = batch->ids);
}

static int plan_files_expire(
	struct store *store, const struct expiry_batch *batch, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, plan_files_expire, .ids = batch->ids);
}

static int plans_expire(struct store *store, const struct expiry_batch *batch, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, plans_expire, .ids = batch->ids);
}

/* ---- rules of versions that have a newer one ---- */

/* A state with status detached loses its job_id. The unique index state_versions_job would otherwise reject its new
 * status if the job has another state. No worker sends the state again: no hold refers to the job any more. */
static int states_expire(struct store *store, const struct expiry_batch *batch, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, expiry_rules_states, .ids = batch->ids, .by_policy = batch->by_policy,
		.days = batch->days, .states_newest = batch->limits->states_newest);
}

static int configurations_expire(
	struct store *store, const struct expiry_batch *batch, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, expiry_rules_configurations, .ids = batch->ids,
		.by_policy = batch->by_policy, .days = batch->days);
}

#define DAYS(field) offsetof(struct expiry_limits, field)

const struct expiry_rule expiry_rules[EXPIRY_RULES] = {
	{"logs", "log", DAYS(logs_days), WALK_RUNS, false, logs_expire},
	{"plan-files", "plan_file", DAYS(plan_files_days), WALK_RUNS, false, plan_files_expire},
	{"plans", "plan", DAYS(plans_days), WALK_RUNS, false, plans_expire},
	{"states", "state_version", DAYS(states_days), WALK_STATES, true, states_expire},
	{"configurations", "configuration_version", DAYS(configurations_days), WALK_CONFIGURATIONS, true,
		configurations_expire},
};

/* ---- rules of soft-deleted versions ---- */

#define HIDDEN(table)                                                                                                  \
	"with due as (select id from " table " where status = 'backing_data_soft_deleted' "                            \
	"and hidden_at <= now() - make_interval(days => $1::int) order by hidden_at limit $2 for update skip "         \
	"locked), "

const struct hidden_rule hidden_rules[HIDDEN_RULES] = {
	{"hidden-states", "state_version",
		HIDDEN("state_versions") "outputs as (delete from state_version_outputs o using due "
					 "where o.state_version_id = due.id), gone as (update state_versions s set "
					 "blob_id = null, "
					 "json_blob_id = null, status = 'backing_data_permanently_deleted' from due "
					 "where s.id = due.id "
					 "returning s.id, s.workspace_id) select w.organization_id, g.id from gone g "
					 "join workspaces w on w.id = g.workspace_id order by w.organization_id"},
	{"hidden-configurations", "configuration_version",
		HIDDEN("configuration_versions") "gone as (update configuration_versions c set blob_id = null, "
						 "status = 'backing_data_permanently_deleted' from due where c.id = "
						 "due.id "
						 "returning c.id, c.workspace_id) select w.organization_id, g.id from "
						 "gone g "
						 "join workspaces w on w.id = g.workspace_id order by "
						 "w.organization_id"},
};
