/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/dispatch/order.h"

#include "scheduler/dispatch/happen.h"
#include "scheduler/store/cost_estimates.h"
#include "scheduler/store/policy_runs.h"
#include "scheduler/store/task_results.h"

enum { SNAPSHOT_LIMIT = 64 << 20 };

struct ordering {
	struct store *store;
	const struct run_order *order;
	struct id run, configuration;
	struct run created;
	bool speculative_configuration;
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
	if (order->save_plan && order->plan_only == CHOICE_YES)
		return err_at(err, "/data/attributes/save-plan", "Save plan can't be combined with plan-only");
	if (order->terraform_version && order->plan_only != CHOICE_YES)
		return err_at(err, "/data/attributes/terraform-version",
			"Terraform version can be given only for a plan-only run");
	return 0;
}

static int find_configuration(struct ordering *o, struct err *err)
{
	static const char pointer[] = "/data/relationships/configuration-version";
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const char *wanted = o->order->configuration_version_id;

	if (db_query(o->store->db, &rows, err,
		    "select id, status, speculative from configuration_versions where workspace_id = $1 "
		    "and case when $2::text is null then status = 'uploaded' and not provisional else id = $2 end "
		    "order by created_at desc limit 1",
		    P_TEXT(o->order->workspace_id), P_TEXT(wanted)) < 0)
		return -1;
	if (!rows.count)
		return err_at(err, pointer,
			wanted ? "Configuration version is not one of this workspace"
			       : "Configuration version must exist: upload one first");
	if (!text_equal(row_text(&rows, 0, "status"), "uploaded"))
		return err_at(err, pointer, "Configuration version is %s, not uploaded", row_text(&rows, 0, "status"));
	text_copy(o->configuration.text, sizeof(o->configuration.text), row_text(&rows, 0, "id"));
	o->speculative_configuration = row_bool(&rows, 0, "speculative");
	return 0;
}

/* Every variable's value as it is now, the weakest first; the run's own come last. */
static int take_snapshot(struct ordering *o, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *all = json_array();

	if (db_query(o->store->db, &rows, err,
		    "select id, key, value_sealed, category, hcl, sensitive from variables where workspace_id = $1 "
		    "order by category, key",
		    P_TEXT(o->order->workspace_id)) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		_cleanup_(buf_release) struct buf value = BUF_INIT(SNAPSHOT_LIMIT);

		if (store_open(o->store, row_text(&rows, i, "id"), &rows, i, "value_sealed", &value, err) < 0)
			return -1;
		json_array_append_new(all,
			json_pack("{ss ss ss sb sb}", "key", row_text(&rows, i, "key"), "value", buf_str(&value),
				"category", row_text(&rows, i, "category"), "hcl", row_bool(&rows, i, "hcl"),
				"sensitive", row_bool(&rows, i, "sensitive")));
	}
	_cleanup_(freep) char *text = json_text(all);
	store_seal(o->store, o->run.text, text, &o->snapshot);
	return 0;
}

static int take_variables(struct ordering *o, struct err *err)
{
	const json_t *variable;
	size_t i;

	if (!json_array_size(o->order->variables))
		return 0;
	json_array_foreach((json_t *)o->order->variables, i,
		variable) if (!json_string_at(variable, "key") || !json_string_at(variable, "value")) return err_at(err,
		"/data/attributes/variables", "Variables must have a key and a value");
	_cleanup_(freep) char *text = json_text(o->order->variables);
	store_seal(o->store, o->run.text, text, &o->variables);
	return 0;
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
	run->auto_apply = auto_apply && !run->plan_only;
	run->save_plan = order->save_plan;
	run->allow_empty_apply = order->allow_empty_apply;
	return db_query(o->store->db, NULL, err,
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
	struct db_param variables = {.kind = DB_NULL};

	if (o->variables.len)
		variables = (struct db_param)P_BYTES(o->variables.data, o->variables.len);
	return db_query(o->store->db, NULL, err,
		"insert into run_inputs (run_id, configuration_version_id, pool_id, message, source, is_destroy, "
		"refresh, "
		"refresh_only, allow_config_generation, json_log, target_addrs, replace_addrs, terraform_version, "
		"working_directory, snapshot_sealed, variables_sealed, created_by) "
		"values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11::jsonb, $12::jsonb, $13, $14, $15, $16, $17)",
		P_TEXT(o->run.text), P_TEXT(o->configuration.text), P_TEXT(row_text(workspace, 0, "pool_id")),
		P_TEXT(order->message ? order->message : "Queued manually via the Terraform Enterprise API"),
		P_TEXT(order->source), P_BOOL(order->is_destroy), P_BOOL(!order->no_refresh),
		P_BOOL(order->refresh_only), P_BOOL(order->allow_config_generation),
		P_BOOL(row_bool(workspace, 0, "structured_run_output") && !order->plain_log), P_TEXT(targets),
		P_TEXT(replaces),
		P_TEXT(order->terraform_version ? order->terraform_version
						: row_text(workspace, 0, "terraform_version")),
		P_TEXT(row_text(workspace, 0, "working_directory")), P_BYTES(o->snapshot.data, o->snapshot.len),
		variables, P_TEXT(order->actor));
}

static int insert_operations(struct ordering *o, struct err *err)
{
	return db_query(o->store->db, NULL, err,
		"with o as (insert into operations (id, run_id) values ($1, $3), ($2, $3)) "
		"insert into run_events (id, run_id, action, actor_id) values ($4, $3, 'created', $5)",
		P_TEXT(id_sibling(o->run.text, "plan").text), P_TEXT(id_sibling(o->run.text, "apply").text),
		P_TEXT(o->run.text), P_TEXT(id_new("re").text), P_TEXT(o->order->actor));
}

/* The stages that are configured for it now are its own for good. */
static int order_stages(struct ordering *o, struct err *err)
{
	uint32_t tasks = 0, policies = 0, costs = 0, configured;

	if (task_results_create(o->store, o->run.text, o->order->workspace_id, &tasks, err) < 0 ||
		policy_runs_create(o->store, o->run.text, o->order->workspace_id, &policies, err) < 0 ||
		cost_estimate_create(o->store, o->run.text, json_array_size(o->order->target_addrs) > 0, &costs, err) <
			0)
		return -1;
	configured = tasks | policies | costs;
	if (!configured)
		return 0;
	o->created.stages |= configured;
	return db_query(o->store->db, NULL, err, "update runs set stages = $2 where id = $1", P_TEXT(o->run.text),
		P_INT(o->created.stages));
}

/* A plan-only run takes its turn at once; any other when its workspace's queue comes to it. */
static int order_start(struct ordering *o, struct err *err)
{
	_cleanup_(db_array_release) struct db_array kicked = DB_ARRAY_INIT;
	struct happening turn = {.run = o->run, .event = {.kind = EV_TURN}};

	if (!o->created.plan_only)
		db_array_add(&kicked, o->order->workspace_id);
	return happen_within(o->store, &turn, o->created.plan_only ? 1 : 0, &kicked, &o->outbox, err);
}

static int order_run(void *data, struct err *err)
{
	struct ordering *o = data;
	_cleanup_(rows_release) struct rows workspace = ROWS_INIT;

	json_array_clear(o->outbox.rows);
	buf_reset(&o->snapshot);
	buf_reset(&o->variables);
	if (db_query(o->store->db, &workspace, err,
		    "select organization_id, auto_apply, terraform_version, working_directory, structured_run_output, "
		    "coalesce(pool_id, (select id from agent_pools where organization_id is null)) as pool_id, "
		    "execution_mode from workspaces where id = $1 for no key update",
		    P_TEXT(o->order->workspace_id)) < 0)
		return -1;
	if (!workspace.count)
		return err_set(err, ERR_NOT_FOUND, "workspace not found");
	if (text_equal(row_text(&workspace, 0, "execution_mode"), "local"))
		return err_at(err, "/data/relationships/workspace",
			"Workspace must not use local execution: it runs nothing here");
	if (find_configuration(o, err) < 0 || take_snapshot(o, err) < 0 || take_variables(o, err) < 0 ||
		insert_run(o, &workspace, err) < 0 || insert_inputs(o, &workspace, err) < 0 ||
		insert_operations(o, err) < 0 || order_stages(o, err) < 0)
		return -1;
	return order_start(o, err);
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
	if (result == 0 && !db_in_transaction(store->db))
		outbox_committed(store, &o.outbox);
	if (result == 0)
		*ret_id = o.run;
	outbox_release(&o.outbox);
	buf_release(&o.snapshot);
	buf_release(&o.variables);
	return result;
}
