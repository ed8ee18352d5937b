/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/access/permissions.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/http/columns.h"
#include "scheduler/store/runs/holds.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/content/seals.h"

enum { VARIABLES_LIMIT = 16 << 20 };

/* Each of the API's `actions` corresponds to an event that the run, or the hold of its lost apply, would accept now. */
static json_t *run_actions(const struct rows *rows, int row)
{
	struct run run = run_of_view(rows, row);
	struct hold hold = hold_of_view(rows, row);
	bool forced = run_situation(&run) == AT_STOPPING && row_bool(rows, row, "cooled_off");

	return json_pack("{sb sb sb sb}", "is-cancelable",
		run_accepts(&run, EV_CANCELED) || hold_accepts(&hold, HOLD_CANCELED), "is-confirmable",
		run_accepts(&run, EV_CONFIRMED), "is-discardable", run_accepts(&run, EV_DISCARDED),
		"is-force-cancelable", forced || hold_accepts(&hold, HOLD_FORCE_CANCELED));
}

/* The label of a canceled apply: the number of resources that it changed. Without numbers, the worker was lost. */
static json_t *canceled_label(const json_t *applied)
{
	long long numbers[3], sum = 0;

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		const json_t *number = json_array_get(applied, i);

		if (!json_is_integer(number))
			return json_string("Canceled during the apply");
		sum += numbers[i] = json_integer_value(number);
	}
	if (!sum)
		return json_string("Canceled, nothing applied");
	return json_sprintf(
		"Canceled, applied: %lld added, %lld changed, %lld destroyed", numbers[0], numbers[1], numbers[2]);
}

static json_t *status_label(const struct rows *rows, int row)
{
	json_auto_t *applied = row_json(rows, row, "applied");
	struct run run = run_of_view(rows, row);

	return json_is_array(applied) ? canceled_label(applied) : json_string(run_label(&run));
}

static const struct permission_shown permissions[] = {
	{"can-apply", CAN_APPLY},
	{"can-cancel", CAN_APPLY},
	{"can-comment", CAN_READ_RUNS},
	{"can-discard", CAN_APPLY},
	{"can-force-cancel", CAN_MANAGE_WORKSPACE},
	{"can-force-execute", CAN_MANAGE_WORKSPACE},
	{"can-override-policy-check", CAN_OVERRIDE},
	{"can-read-plan-json", CAN_READ_PLAN_JSON},
};

static int run_variables(struct store *store, const struct rows *rows, int row, json_t **ret_variables, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(VARIABLES_LIMIT);

	if (row_null(rows, row, "variables_sealed")) {
		*ret_variables = json_array();
		return 0;
	}
	if (seal_open(store, row_text(rows, row, "id"), (struct sealed_column){rows, row, "variables_sealed"}, &text,
		    err) < 0)
		return -1;
	return json_parse(buf_str(&text), text.len, ret_variables, err);
}

static const struct column_shown attributes[] = {
	{"status", row_string, "status"},
	{"status-timestamps", row_json, "status_timestamps"},
	{"source", row_string, "source"},
	{"message", row_string, "message"},
	{"trigger-reason", row_string, "trigger_reason"},
	{"created-at", row_time, "created_at"},
	{"updated-at", row_time, "updated_at"},
	{"canceled-at", row_time, "canceled_at"},
	{"force-cancel-available-at", row_time, "force_cancel_available_at"},
	{"error", row_string, "error"},
	{"has-changes", row_boolean, "has_changes"},
	{"is-destroy", row_boolean, "is_destroy"},
	{"plan-only", row_boolean, "plan_only"},
	{"refresh", row_boolean, "refresh"},
	{"refresh-only", row_boolean, "refresh_only"},
	{"save-plan", row_boolean, "save_plan"},
	{"auto-apply", row_boolean, "auto_apply"},
	{"allow-empty-apply", row_boolean, "allow_empty_apply"},
	{"allow-config-generation", row_boolean, "allow_config_generation"},
	{"position-in-queue", row_number, "queue_position"},
	{"terraform-version", row_string, "terraform_version"},
	{"target-addrs", row_json, "target_addrs"},
	{"replace-addrs", row_json, "replace_addrs"},
	{"policy-paths", row_json, "policy_paths"},
	{"invoke-action-addrs", row_json, "invoke_action_addrs"},
};

static const struct relation_shown relations[] = {
	{"workspace", "workspaces", "workspace_id"},
	{"configuration-version", "configuration-versions", "configuration_version_id"},
	{"created-by", "users", "created_by"},
	{"confirmed-by", "users", "confirmed_by"},
	{"canceled-by", "users", "canceled_by"},
	{"cost-estimate", "cost-estimates", "cost_estimate_id"},
	{"input-state-version", "state-versions", "base_state_id"},
};

static const struct relation_shown many[] = {
	{"policy-checks", "policy-checks", "policy_checks"},
	{"task-stages", "task-stages", "task_stages"},
	{"comments", "comments", "comments"},
	{"run-events", "run-events", "events"},
};

/* Links the relations that have a route below the run. */
static void run_links(const char *run, json_t *relationships)
{
	static const char *const served[] = {"plan", "apply", "configuration-version", "cost-estimate", "created-by",
		"input-state-version", "policy-checks", "task-stages", "comments", "run-events", "waiting"};

	for (size_t i = 0; i < ARRAY_LEN(served); i++) {
		json_t *relation = json_object_get(relationships, served[i]);

		if (!json_is_null(json_object_get(relation, "data")))
			relation_linked(relation, "runs", run, served[i]);
	}
}

static json_t *run_relationships(const struct rows *rows, int row)
{
	const char *run = row_text(rows, row, "id");
	json_t *object = relations_shown(relations, ARRAY_LEN(relations), rows, row);

	json_object_set_new(object, "plan", to_one("plans", id_sibling(run, "plan").text));
	json_object_set_new(object, "apply", to_one("applies", id_sibling(run, "apply").text));
	json_object_set_new(object, "waiting", to_one("run-waits", row_bool(rows, row, "ended") ? NULL : run));
	for (size_t i = 0; i < ARRAY_LEN(many); i++)
		json_object_set_new(object, many[i].name, row_many(rows, row, many[i].column, many[i].type));
	run_links(run, object);
	return object;
}

int run_resource(struct store *store, const struct rows *rows, int row, json_t **ret_resource, struct err *err)
{
	json_t *variables = NULL, *shown;

	if (run_variables(store, rows, row, &variables, err) < 0)
		return -1;
	shown = columns_shown(attributes, ARRAY_LEN(attributes), rows, row);
	json_object_set_new(shown, "variables", variables);
	json_object_set_new(shown, "status-label", status_label(rows, row));
	json_object_set_new(shown, "actions", run_actions(rows, row));
	json_object_set_new(shown, "permissions", permissions_shown(permissions, ARRAY_LEN(permissions), rows, row));
	*ret_resource = resource_new("runs", row_text(rows, row, "id"), shown, run_relationships(rows, row));
	return 0;
}
