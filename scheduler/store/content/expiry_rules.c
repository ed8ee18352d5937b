/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/expiry_rules.h"

#include "scheduler/store/content/expiry_rules.sql.h"

#include <stddef.h>

/* ---- rules of ended runs ---- */

static int logs_expire(struct store *store, const struct expiry_batch *batch, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, expiry_logs, .ids = batch->ids);
}

static int plan_files_expire(
	struct store *store, const struct expiry_batch *batch, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, expiry_plan_files, .ids = batch->ids);
}

static int plans_expire(struct store *store, const struct expiry_batch *batch, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, expiry_plans, .ids = batch->ids);
}

/* ---- rules of versions that have a newer one ---- */

static int states_expire(struct store *store, const struct expiry_batch *batch, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, expiry_old_states, .ids = batch->ids, .by_policy = batch->by_policy,
		.days = batch->days, .states_newest = batch->limits->states_newest);
}

static int configurations_expire(
	struct store *store, const struct expiry_batch *batch, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, expiry_old_configurations, .ids = batch->ids,
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

const struct hidden_rule hidden_rules[HIDDEN_RULES] = {
	{"hidden-states", "state_version", &expiry_hidden_states_statement},
	{"hidden-configurations", "configuration_version", &expiry_hidden_configurations_statement},
};
