/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/access/permissions.h"
#include "scheduler/api/runs/runs.h"
#include "scheduler/http/columns.h"
#include "scheduler/store/runs/holds.h"
#include "scheduler/store/runs/run_views.h"
#include "scheduler/store/runs/run_views.sql.h"
#include "scheduler/store/content/seals.h"

enum { VARIABLES_LIMIT = 16 << 20 };

bool run_is_force_cancelable(const struct run_view_row *row)
{
	struct run run = RUN_OF_ROW(row);

	return run_situation(&run) == AT_STOPPING && row->cooled_off;
}

/* Each of the API's `actions` corresponds to an event that the run, or the hold of its lost apply, would accept now. */
static json_t *run_actions(const struct run_view_row *row)
{
	struct run run = RUN_OF_ROW(row);
	struct hold hold = HOLD_OF_ROW(row);

	return json_pack("{sb sb sb sb sb}", "is-cancelable",
		run_accepts(&run, EV_CANCELED) || hold_accepts(&hold, HOLD_CANCELED), "is-confirmable",
		run_accepts(&run, EV_CONFIRMED), "is-discardable", run_accepts(&run, EV_DISCARDED),
		"is-force-cancelable", run_is_force_cancelable(row) || hold_accepts(&hold, HOLD_FORCE_CANCELED),
		"is-window-overridable", run_accepts(&run, EV_OPENED));
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

static json_t *status_label(const struct run_view_row *row)
{
	json_auto_t *applied = json_shown(row->applied);
	struct run run = RUN_OF_ROW(row);

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

int run_variables(struct store *store, const struct run_view_row *run, json_t **ret_variables, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(VARIABLES_LIMIT);

	if (!run->variables_sealed.text) {
		*ret_variables = json_array();
		return 0;
	}
	if (seal_open(store, run->id, run->variables_sealed, &text, err) < 0)
		return -1;
	return json_parse(buf_str(&text), text.len, ret_variables, err);
}

static const struct cell_shown attributes[] = {
	CELL("status", run_view, status),
	CELL_JSON("status-timestamps", run_view, status_timestamps),
	CELL("source", run_view, source),
	CELL("message", run_view, message),
	CELL("trigger-reason", run_view, trigger_reason),
	CELL_TIME("created-at", run_view, created_at),
	CELL_TIME("updated-at", run_view, updated_at),
	CELL_TIME("canceled-at", run_view, canceled_at),
	CELL_TIME("force-cancel-available-at", run_view, force_cancel_available_at),
	CELL("error", run_view, error),
	CELL("has-changes", run_view, has_changes),
	CELL("is-destroy", run_view, is_destroy),
	CELL("plan-only", run_view, plan_only),
	CELL("refresh", run_view, refresh),
	CELL("refresh-only", run_view, refresh_only),
	CELL("save-plan", run_view, save_plan),
	CELL("auto-apply", run_view, auto_apply),
	CELL("allow-empty-apply", run_view, allow_empty_apply),
	CELL("allow-config-generation", run_view, allow_config_generation),
	CELL("position-in-queue", run_view, queue_position),
	CELL("terraform-version", run_view, terraform_version),
	CELL_JSON("target-addrs", run_view, target_addrs),
	CELL_JSON("replace-addrs", run_view, replace_addrs),
	CELL_JSON("policy-paths", run_view, policy_paths),
	CELL_JSON("invoke-action-addrs", run_view, invoke_action_addrs),
};

static const struct relation relations[] = {
	ONE_CELL("workspace", "workspaces", run_view, workspace_id),
	ONE_CELL("configuration-version", "configuration-versions", run_view, configuration_version_id),
	ONE_CELL("created-by", "users", run_view, created_by),
	ONE_CELL("confirmed-by", "users", run_view, confirmed_by),
	ONE_CELL("canceled-by", "users", run_view, canceled_by),
	ONE_CELL("cost-estimate", "cost-estimates", run_view, cost_estimate_id),
	ONE_CELL("input-state-version", "state-versions", run_view, base_state_id),
	MANY_CELL("policy-checks", "policy-checks", run_view, policy_checks),
	MANY_CELL("task-stages", "task-stages", run_view, task_stages),
	MANY_CELL("comments", "comments", run_view, comments),
	MANY_CELL("run-events", "run-events", run_view, events),
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

static json_t *run_relationships(const struct run_view_row *run)
{
	json_t *object = relations_shown(relations, ARRAY_LEN(relations), run);

	json_object_set_new(object, "plan", to_one("plans", id_sibling(run->id, "plan").text));
	json_object_set_new(object, "apply", to_one("applies", id_sibling(run->id, "apply").text));
	json_object_set_new(object, "waiting", to_one("run-waits", run->ended ? NULL : run->id));
	run_links(run->id, object);
	return object;
}

int run_resource(struct store *store, const void *of_row, json_t **ret_resource, struct err *err)
{
	const struct run_view_row *run = of_row;
	json_t *variables = NULL, *shown;

	if (run_variables(store, run, &variables, err) < 0)
		return -1;
	shown = cells_shown(attributes, ARRAY_LEN(attributes), run);
	json_object_set_new(shown, "variables", variables);
	json_object_set_new(shown, "status-label", status_label(run));
	json_object_set_new(shown, "actions", run_actions(run));
	json_object_set_new(shown, "permissions", rights_shown(permissions, ARRAY_LEN(permissions), run->rights));
	*ret_resource = resource_new("runs", run->id, shown, run_relationships(run));
	return 0;
}
