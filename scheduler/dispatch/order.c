/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/dispatch/order.h"

#include "scheduler/dispatch/happen.h"
#include "scheduler/store/cost_estimates.h"
#include "scheduler/store/notifications.h"
#include "scheduler/store/policy_runs.h"
#include "scheduler/store/pools.h"
#include "scheduler/store/task_results.h"
#include "scheduler/store/variables.h"
#include "scheduler/store/viewer.h"

enum { SNAPSHOT_LIMIT = 64 << 20 };

struct ordering {
	struct store *store;
	const struct run_order *order;
	struct id run, configuration;
	struct run created;
	bool speculative_configuration;
	bool has_queue;       /* others are before it */
	struct buf snapshot;  /* sealed */
	struct buf variables; /* sealed; empty: none */
	struct outbox outbox;
};

static int order_check(const struct run_order *order, struct err *err)
{
	if (order->is_destroy && order->refresh_only)
		return err_at(err, "/data/attributes/refresh-only", "Refresh only can't be combined with is-destroy");
	if (order->refresh_only && order->no_refresh)
		return err_at(err, "/data/attributes/refresh", "Refresh can't be false for a refresh-only run");
	if (json_array_size(order->replace_addrs) && (order->is_destroy || order->refresh_only))
		return err_at(err, "/data/attributes/replace-addrs",
			"Replace addrs can't be combined with is-destroy or refresh-only");
	if (order->save_plan && order->plan_only == CHOICE_YES)
		return err_at(err, "/data/attributes/save-plan", "Save plan can't be combined with plan-only");
	if (order->terraform_version && order->plan_only != CHOICE_YES)
		return err_at(err, "/data/attributes/terraform-version",
			"Terraform version can be given only for a plan-only run");
	return 0;
}

/* And whether others wait in the queue: a later statement than the one that has waited for the workspace's lock, so
 * that it sees what was committed meanwhile. */
static int find_configuration(struct ordering *o, struct err *err)
{
	static const char pointer[] = "/data/relationships/configuration-version";
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *wanted = o->order->configuration_version_id;

	if (db_query(o->store->db, &rows, err,
		    "select id, status, speculative, exists (select 1 from runs where workspace_id = $1 and queued and "
		    "not "
		    "plan_only) as has_queue from configuration_versions where workspace_id = $1 "
		    "and case when $2::text is null then status = 'uploaded' and not provisional "
		    "and not (speculative and $3) else id = $2 end order by created_at desc limit 1",
		    P_TEXT(o->order->workspace_id), P_TEXT(wanted), P_BOOL(o->order->plan_only == CHOICE_NO)) < 0)
		return -1;
	if (!rows.count)
		return err_at(err, pointer,
			wanted ? "Configuration version is not one of this workspace"
			       : "Configuration version must exist: upload one first");
	if (!text_equal(row_text(&rows, 0, "status"), "uploaded"))
		return err_at(err, pointer, "Configuration version is %s, not uploaded", row_text(&rows, 0, "status"));
	text_copy(o->configuration.text, sizeof(o->configuration.text), row_text(&rows, 0, "id"));
	o->speculative_configuration = row_bool(&rows, 0, "speculative");
	o->has_queue = row_bool(&rows, 0, "has_queue");
	return 0;
}

/* Every variable's value as it is now. */
static int take_snapshot(struct ordering *o, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *all = json_array();

	if (variables_effective(o->store, o->order->workspace_id, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		_cleanup_(buf_release) struct buf value = BUF_INIT(SNAPSHOT_LIMIT);

		if (store_open(o->store, row_text(&rows, i, "id"), &rows, i, "value_sealed", &value, err) < 0)
			return -1;
		json_array_append_new(all,
			json_pack("{ss ss ss sb sb sb}", "key", row_text(&rows, i, "key"), "value", buf_str(&value),
				"category", row_text(&rows, i, "category"), "hcl", row_bool(&rows, i, "hcl"),
				"sensitive", row_bool(&rows, i, "sensitive"), "beats-run",
				row_bool(&rows, i, "beats_run")));
	}
	_cleanup_(freep) char *text = json_text(all);
	store_seal(o->store, o->run.text, text, &o->snapshot);
	return 0;
}

static void take_variables(struct ordering *o)
{
	if (!json_array_size(o->order->variables))
		return;
	_cleanup_(freep) char *text = json_text(o->order->variables);
	store_seal(o->store, o->run.text, text, &o->variables);
}

static int insert_run(struct ordering *o, const struct rows *workspace, struct err *err)
{
	const struct run_order *order = o->order;
	struct run *run = &o->created;
	bool auto_apply = order->auto_apply == CHOICE_UNSET ? row_bool(workspace, 0, "auto_apply")
							    : order->auto_apply == CHOICE_YES;

	*run = run_created(0);
	run->plan_only =
		order->plan_only == CHOICE_UNSET ? o->speculative_configuration : order->plan_only == CHOICE_YES;
	run->auto_apply = auto_apply && !run->plan_only && row_bool(workspace, 0, "may_apply");
	run->save_plan = order->save_plan;
	run->allow_empty_apply = order->allow_empty_apply;
	return db_queue(o->store->db, err,
		"insert into runs (id, workspace_id, organization_id, status, stage, stages, plan_only, save_plan, "
		"auto_apply, allow_empty_apply, status_timestamps) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, "
		"jsonb_build_object($11::text, to_char(now() at time zone 'UTC', "
		"'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')))",
		P_TEXT(o->run.text), P_TEXT(order->workspace_id), P_TEXT(row_text(workspace, 0, "organization_id")),
		P_TEXT(run_statuses[run->status].name), P_TEXT(stages[run->stage].name), P_INT(run->stages),
		P_BOOL(run->plan_only), P_BOOL(run->save_plan), P_BOOL(run->auto_apply), P_BOOL(run->allow_empty_apply),
		P_TEXT(run_statuses[run->status].timestamp));
}

static int insert_inputs(struct ordering *o, const struct rows *workspace, struct err *err)
{
	const struct run_order *order = o->order;
	_cleanup_(freep) char *targets = order->target_addrs ? json_text(order->target_addrs) : NULL;
	_cleanup_(freep) char *replaces = order->replace_addrs ? json_text(order->replace_addrs) : NULL;
	_cleanup_(freep) char *paths = json_is_array(order->policy_paths) ? json_text(order->policy_paths) : NULL;
	_cleanup_(freep) char *actions =
		json_is_array(order->invoke_action_addrs) ? json_text(order->invoke_action_addrs) : NULL;
	struct db_param variables = {.kind = DB_NULL};

	if (o->variables.len)
		variables = (struct db_param)P_BYTES(o->variables.data, o->variables.len);
	return db_queue(o->store->db, err,
		"insert into run_inputs (run_id, configuration_version_id, pool_id, message, source, is_destroy, "
		"refresh, "
		"refresh_only, allow_config_generation, json_log, target_addrs, replace_addrs, terraform_version, "
		"working_directory, snapshot_sealed, variables_sealed, created_by, trigger_reason, "
		"debugging_mode, policy_paths, invoke_action_addrs) "
		"values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12::jsonb, $13, $14, $15, $16, $17, "
		"coalesce($18, 'manual'), $19, coalesce($20::jsonb, '[]'), coalesce($21::jsonb, '[]'))",
		P_TEXT(o->run.text), P_TEXT(o->configuration.text), P_TEXT(row_text(workspace, 0, "pool_id")),
		P_TEXT(order->message ? order->message : "Queued manually via the Terraform Enterprise API"),
		P_TEXT(order->source), P_BOOL(order->is_destroy), P_BOOL(!order->no_refresh),
		P_BOOL(order->refresh_only), P_BOOL(order->allow_config_generation),
		P_BOOL(row_bool(workspace, 0, "structured_run_output") && !order->plain_log), P_TEXT(targets),
		P_TEXT(replaces),
		P_TEXT(order->terraform_version ? order->terraform_version
						: row_text(workspace, 0, "terraform_version")),
		P_TEXT(row_text(workspace, 0, "working_directory")), P_BYTES(o->snapshot.data, o->snapshot.len),
		variables, P_TEXT(order->actor), P_TEXT(order->trigger_reason), P_BOOL(order->debugging_mode),
		P_TEXT(paths), P_TEXT(actions));
}

static int insert_operations(struct ordering *o, struct err *err)
{
	return db_queue(o->store->db, err,
		"with o as (insert into operations (id, run_id) values ($1, $3), ($2, $3)) "
		"insert into run_events (id, run_id, action, actor_id) values ($4, $3, 'created', $5)",
		P_TEXT(id_sibling(o->run.text, "plan").text), P_TEXT(id_sibling(o->run.text, "apply").text),
		P_TEXT(o->run.text), P_TEXT(id_new("re").text), P_TEXT(o->order->actor));
}

/* The stages that are configured for it now are its own for good. Most organizations have none of a kind. */
static int order_stages(struct ordering *o, const struct rows *workspace, struct err *err)
{
	uint32_t tasks = 0, policies = 0, costs = 0, configured;
	bool targeted = json_array_size(o->order->target_addrs) > 0;

	if (row_bool(workspace, 0, "has_tasks") &&
		task_results_create(o->store, o->run.text, o->order->workspace_id, &tasks, err) < 0)
		return -1;
	if (row_bool(workspace, 0, "has_policies") &&
		policy_runs_create(o->store, o->run.text, o->order->workspace_id, &policies, err) < 0)
		return -1;
	if (row_bool(workspace, 0, "has_costs") &&
		cost_estimate_create(o->store, o->run.text, targeted, &costs, err) < 0)
		return -1;
	configured = tasks | policies | costs;
	if (!configured)
		return 0;
	o->created.stages |= configured;
	return db_queue(o->store->db, err, "update runs set stages = $2 where id = $1", P_TEXT(o->run.text),
		P_INT(o->created.stages));
}

/* The first thing that is told of a run. Its ticket goes out with those of its start, if there are any, or by itself.
 */
static int tell_created(struct ordering *o, const struct rows *workspace, struct err *err)
{
	json_auto_t *events = json_array();
	_cleanup_(outbox_release) struct outbox tickets = {.rows = NULL};

	if (o->created.plan_only || !row_bool(workspace, 0, "watched"))
		return 0;
	outbox_init(&tickets);
	notification_event_add(events,
		&(struct notification_event){.run_id = o->run.text,
			.workspace_id = o->order->workspace_id,
			.trigger = TRIGGER_CREATED,
			.status = o->created.status,
			.at = row_text(workspace, 0, "now"),
			.actor = o->order->actor});
	if (notifications_put_up(o->store, events, &tickets, err) < 0 || outbox_insert(o->store, &tickets, err) < 0)
		return -1;
	json_array_extend(o->outbox.rows, tickets.rows);
	return 0;
}

/* Where others are before it and no run is current, somebody is perhaps about to let them go on: it is done for him. */
static int order_queue(struct ordering *o, const struct rows *workspace, struct err *err)
{
	_cleanup_(db_array_release) struct db_array kicked = DB_ARRAY_INIT;

	if (!row_null(workspace, 0, "current_run_id"))
		return 0;
	db_array_add(&kicked, o->order->workspace_id);
	return happen_within(o->store, NULL, 0, &kicked, &o->outbox, err);
}

/* A plan-only run takes its turn at once; any other when its workspace's queue comes to it, which may be now. */
static int order_start(struct ordering *o, const struct rows *workspace, struct err *err)
{
	struct workspace_row place = {.locked = true};
	struct run_row row = {.id = o->run, .run = o->created};
	struct run_set set = {.runs = &row,
		.run_count = 1,
		.workspaces = &place,
		.workspace_count = 1,
		.watched = row_bool(workspace, 0, "watched")};

	if (!o->created.plan_only && o->has_queue)
		return order_queue(o, workspace, err);
	text_copy(row.workspace.text, ID_SIZE, o->order->workspace_id);
	text_copy(row.organization.text, ID_SIZE, row_text(workspace, 0, "organization_id"));
	text_copy(row.pool.text, ID_SIZE, row_text(workspace, 0, "pool_id"));
	place.id = row.workspace;
	workspace_row_read(workspace, 0, &place);
	text_copy(set.now, sizeof(set.now), row_text(workspace, 0, "now"));
	return happen_created(o->store, &set, &o->outbox, err);
}

/* The pool may have been closed to the workspace since it was chosen. */
static int order_pool(struct ordering *o, const struct rows *workspace, struct err *err)
{
	const struct pool_use use = {
		.organization_id = row_text(workspace, 0, "organization_id"), .workspace_id = o->order->workspace_id};

	if (row_null(workspace, 0, "own_pool_id"))
		return 0;
	return pool_use_check(
		o->store, row_text(workspace, 0, "own_pool_id"), &use, "/data/relationships/workspace", err);
}

static int workspace_check(const struct ordering *o, const struct rows *workspace, struct err *err)
{
	if (text_equal(row_text(workspace, 0, "execution_mode"), "local"))
		return err_at(err, "/data/relationships/workspace",
			"Workspace must not use local execution: it runs nothing here");
	if (o->order->is_destroy && !row_bool(workspace, 0, "destroyable"))
		return err_at(err, "/data/attributes/is-destroy", "Is destroy is not allowed by the workspace");
	return 0;
}

/* Whether the workspace's owner estimates costs, the run's actor may apply it, and anybody is told of it. */
#define HAS_COSTS  COST_ESTIMATION("w", "o")
#define MAY_APPLY  RIGHTS_IN_WORKSPACE("$2", "w.organization_id", "w.id")
#define IS_WATCHED WORKSPACE_IS_WATCHED("w")

static const char workspace_sql[] =
	"select w.organization_id, w.auto_apply, w.terraform_version, w.working_directory, w.structured_run_output, "
	"w.pool_id as own_pool_id, coalesce(w.pool_id, (select id from agent_pools where organization_id is null)) "
	"as pool_id, w.execution_mode, coalesce((w.settings ->> 'allow-destroy-plan')::boolean, true) as destroyable, "
	"exists (select 1 from tasks t where t.organization_id = o.id) as has_tasks, "
	"exists (select 1 from policy_sets s where s.organization_id = o.id) as has_policies, " HAS_COSTS
	" as has_costs, " WORKSPACE_ROW(
		"w") ", $2::text is null or "
		     "(select is_site_admin from users where id = $2) "
		     "or (" MAY_APPLY ") & $3 <> 0 as may_apply, " IS_WATCHED " as watched, "
		     "to_char(now() at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"') as now "
		     "from workspaces w join organizations o on o.id = w.organization_id where w.id = $1 for no key "
		     "update of w";

static int order_run(void *data, struct err *err)
{
	struct ordering *o = data;
	_cleanup_(rows_release) struct rows workspace = ROWS_INIT;

	json_array_clear(o->outbox.rows);
	buf_reset(&o->snapshot);
	buf_reset(&o->variables);
	if (db_query(o->store->db, &workspace, err, workspace_sql, P_TEXT(o->order->workspace_id),
		    P_TEXT(o->order->actor), P_INT((long long)right_of(CAN_APPLY))) < 0)
		return -1;
	if (!workspace.count)
		return err_set(err, ERR_NOT_FOUND, "workspace not found");
	take_variables(o);
	if (workspace_check(o, &workspace, err) < 0 || order_pool(o, &workspace, err) < 0 ||
		find_configuration(o, err) < 0 || take_snapshot(o, err) < 0 || insert_run(o, &workspace, err) < 0 ||
		insert_inputs(o, &workspace, err) < 0 || insert_operations(o, err) < 0 ||
		order_stages(o, &workspace, err) < 0 || tell_created(o, &workspace, err) < 0)
		return -1;
	return order_start(o, &workspace, err);
}

int run_create(struct store *store, const struct run_order *order, struct id *ret_id, struct err *err)
{
	struct ordering o = {.store = store,
		.order = order,
		.run = id_new("run"),
		.snapshot = BUF_INIT(SNAPSHOT_LIMIT),
		.variables = BUF_INIT(SNAPSHOT_LIMIT)};
	int result;

	if (order_check(order, err) < 0)
		return -1;
	outbox_init(&o.outbox);
	result = db_transaction(store->db, order_run, &o, err);
	if (result == 0) {
		outbox_committed(store, &o.outbox);
		*ret_id = o.run;
	}
	outbox_release(&o.outbox);
	buf_release(&o.snapshot);
	buf_release(&o.variables);
	return result;
}
