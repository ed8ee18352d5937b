/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/permissions.h"
#include "scheduler/api/runs.h"
#include "scheduler/store/run_views.h"

enum { VARIABLES_LIMIT = 16 << 20 };

/* Each of the API's `actions` is an event that the lifecycle would take now (API 3.1). */
static json_t *run_actions(const struct rows *rows, int row)
{
	struct run run = run_of_view(rows, row);
	bool forced = run_situation(&run) == AT_STOPPING && row_bool(rows, row, "cooled_off");

	return json_pack("{sb sb sb sb}", "is-cancelable", run_accepts(&run, EV_CANCELED), "is-confirmable",
		run_accepts(&run, EV_CONFIRMED), "is-discardable", run_accepts(&run, EV_DISCARDED),
		"is-force-cancelable", forced);
}

static const struct permission_shown permissions[] = {
	{"can-apply", CAN_APPLY},
	{"can-cancel", CAN_APPLY},
	{"can-comment", CAN_READ_RUNS},
	{"can-discard", CAN_APPLY},
	{"can-force-cancel", CAN_MANAGE_WORKSPACE},
	{"can-force-execute", CAN_MANAGE_WORKSPACE},
	{"can-override-policy-check", CAN_OVERRIDE},
};

static int run_variables(struct store *store, const struct rows *rows, int row, json_t **ret_variables, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(VARIABLES_LIMIT);

	if (row_null(rows, row, "variables_sealed")) {
		*ret_variables = json_array();
		return 0;
	}
	if (store_open(store, row_text(rows, row, "id"), rows, row, "variables_sealed", &text, err) < 0)
		return -1;
	return json_parse(buf_str(&text), text.len, ret_variables, err);
}

static json_t *run_relationships(const struct rows *rows, int row)
{
	const char *run = row_text(rows, row, "id");

	return json_pack("{so so so so so so so so so so so so so}", "workspace",
		to_one("workspaces", row_text(rows, row, "workspace_id")), "configuration-version",
		to_one("configuration-versions", row_text(rows, row, "configuration_version_id")), "plan",
		to_one("plans", id_sibling(run, "plan").text), "apply",
		to_one("applies", id_sibling(run, "apply").text), "created-by",
		to_one("users", row_text(rows, row, "created_by")), "confirmed-by",
		to_one("users", row_text(rows, row, "confirmed_by")), "canceled-by",
		to_one("users", row_text(rows, row, "canceled_by")), "cost-estimate",
		to_one("cost-estimates", row_text(rows, row, "cost_estimate_id")), "policy-checks",
		row_many(rows, row, "policy_checks", "policy-checks"), "task-stages",
		row_many(rows, row, "task_stages", "task-stages"), "comments",
		row_many(rows, row, "comments", "comments"), "run-events", row_many(rows, row, "events", "run-events"),
		"input-state-version", to_one("state-versions", row_text(rows, row, "base_state_id")));
}

int run_resource(struct store *store, const struct rows *rows, int row, json_t **ret_resource, struct err *err)
{
	json_t *variables = NULL;
	json_t *attributes;

	if (run_variables(store, rows, row, &variables, err) < 0)
		return -1;
	attributes = json_pack("{so so so so so so so so so so so}", "status", row_string(rows, row, "status"),
		"status-timestamps", row_json(rows, row, "status_timestamps"), "source",
		row_string(rows, row, "source"), "message", row_string(rows, row, "message"), "trigger-reason",
		row_string(rows, row, "trigger_reason"), "created-at", row_time(rows, row, "created_at"), "updated-at",
		row_time(rows, row, "updated_at"), "canceled-at", row_time(rows, row, "canceled_at"),
		"force-cancel-available-at", row_time(rows, row, "force_cancel_available_at"), "variables", variables,
		"error", row_string(rows, row, "error"));
	json_object_update_new(attributes,
		json_pack("{sb sb sb sb sb sb sb sb sb sI so so so so so so so}", "has-changes",
			row_bool(rows, row, "has_changes"), "is-destroy", row_bool(rows, row, "is_destroy"),
			"plan-only", row_bool(rows, row, "plan_only"), "refresh", row_bool(rows, row, "refresh"),
			"refresh-only", row_bool(rows, row, "refresh_only"), "save-plan",
			row_bool(rows, row, "save_plan"), "auto-apply", row_bool(rows, row, "auto_apply"),
			"allow-empty-apply", row_bool(rows, row, "allow_empty_apply"), "allow-config-generation",
			row_bool(rows, row, "allow_config_generation"), "position-in-queue",
			(json_int_t)row_int(rows, row, "queue_position"), "terraform-version",
			row_string(rows, row, "terraform_version"), "target-addrs", row_json(rows, row, "target_addrs"),
			"replace-addrs", row_json(rows, row, "replace_addrs"), "policy-paths",
			row_json(rows, row, "policy_paths"), "invoke-action-addrs",
			row_json(rows, row, "invoke_action_addrs"), "actions", run_actions(rows, row), "permissions",
			permissions_shown(permissions, ARRAY_LEN(permissions), rows, row)));
	*ret_resource = resource_new("runs", row_text(rows, row, "id"), attributes, run_relationships(rows, row));
	return 0;
}
