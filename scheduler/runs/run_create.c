/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/run_create.h"

#include <string.h>

#include "proto/capabilities.h"
#include "scheduler/runs/run_create.sql.h"
#include "scheduler/runs/transition.h"
#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/notifications/notifications.h"
#include "scheduler/store/policies/policy_runs.h"
#include "scheduler/store/runs/cost_estimates.h"
#include "scheduler/store/tasks/task_results.h"
#include "scheduler/store/variables/variables.h"
#include "scheduler/store/variables/variables.sql.h"
#include "scheduler/store/vcs/contents.h"
#include "scheduler/store/vcs/contents.sql.h"
#include "scheduler/store/workers/pools.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/vcs/rules.h"

enum { SEALED_LIMIT = RUN_VARIABLES_LIMIT + 1024 };

/* One order while it is processed. */
struct run_draft {
	struct run_creation *creation;
	struct run_row row;
	struct run_workspace place;
	const struct run_create_workspace_row *workspace;
	const struct run_create_configurations_row *configuration;
	bool behind;                    /* other runs are before it in the queue */
	const char *content;            /* of its configuration's commit, borrowed from `configurations`; NULL: none */
	bool stored;                    /* the content is here */
	struct buf snapshot, variables; /* sealed; variables empty: none */
};

/* One batch of orders, at most one for each workspace, so that the next round sees the changes of this one. */
struct round {
	struct store *store;
	bool ready; /* skip workspaces that are locked by another transaction */
	struct run_draft *drafts;
	size_t count;
	struct rows workspaces, configurations;
	struct changes changes;
};

static int order_check(const struct run_create_params *order, struct err *err)
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

/* ---- the rows that orders refer to ---- */

static int round_load(struct round *r, struct err *err)
{
	_cleanup_(db_array_release) struct db_array workspaces = DB_ARRAY_INIT, actors = DB_ARRAY_INIT;
	_cleanup_(db_array_release) struct db_array wanted = DB_ARRAY_INIT, applies = DB_ARRAY_INIT;

	for (size_t i = 0; i < r->count; i++) {
		const struct run_create_params *order = r->drafts[i].creation->order;

		db_array_add(&workspaces, order->workspace_id);
		db_array_add(&actors, order->actor);
		db_array_add(&wanted, order->configuration_version_id);
		db_array_add_bool(&applies, order->plan_only == CHOICE_NO);
	}
	if (db_ask_one_of(r->store->db, &r->workspaces, err,
		    r->ready ? &run_create_ready_statement : &run_create_workspaces_statement, run_create_workspaces,
		    .workspaces = &workspaces, .actors = &actors, .apply = (long long)right_of(CAN_APPLY)) < 0)
		return -1;
	if (db_query(r->store->db, &r->configurations, err, run_create_configurations, .workspaces = &workspaces,
		    .wanted = &wanted, .applies = &applies) < 0)
		return -1;
	/* Each order has one. */
	for (int row = 0; row < r->configurations.count; row++) {
		const struct run_create_configurations_row *configuration =
			row_of(run_create_configurations, &r->configurations, row);

		r->drafts[configuration->n].configuration = configuration;
	}
	return 0;
}

/* Finds which of the configurations' contents are here. Their locks are held until the commit (store/vcs/contents.h).
 */
static int contents_load(struct round *r, struct err *err)
{
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	for (size_t i = 0; i < r->count; i++)
		if (r->drafts[i].configuration->content_id)
			db_array_add(&ids, r->drafts[i].configuration->content_id);
	if (!ids.count)
		return 0;
	if (vcs_contents_read_shared(r->store, &ids, &rows, err) < 0)
		return -1;
	for (size_t i = 0; i < r->count; i++) {
		struct run_draft *p = &r->drafts[i];

		p->content = p->configuration->content_id;
		for (int row = 0; p->content && row < rows.count; row++)
			if (text_equal(row_of(vcs_contents_read_shared, &rows, row)->id, p->content))
				p->stored = row_of(vcs_contents_read_shared, &rows, row)->stored;
	}
	return 0;
}

/* Only commits of its branch are applied in a workspace that is connected to a repository: uploads and the heads of
 * pull requests are planned. */
static bool only_planned(const struct run_draft *p)
{
	return p->configuration->is_commit ? p->configuration->speculative : p->configuration->is_connected;
}

static int configuration_check(const struct run_draft *p, struct err *err)
{
	static const char pointer[] = "/data/relationships/configuration-version";
	const char *status = p->configuration->status;

	if (!status)
		return err_at(err, pointer,
			p->creation->order->configuration_version_id
				? "Configuration version is not one of this workspace"
				: "Configuration version must exist: upload one first");
	if (only_planned(p) && p->creation->order->plan_only == CHOICE_NO)
		return err_at(err, pointer,
			"Configuration version can only be planned: the workspace applies the commits of its branch");
	if (p->content || text_equal(status, "uploaded"))
		return 0;
	if (p->configuration->is_commit)
		return err_at(err, pointer,
			"Configuration version's files are not here, and its repository is no longer connected");
	return err_at(err, pointer, "Configuration version is %s, not uploaded", status);
}

/* The code of a fork runs only in the connection's pool for forks. Any other run needs access to the workspace's pool,
 * which the workspace may have lost. */
static int pool_check(const struct round *r, const struct run_draft *p, struct err *err)
{
	static const char pointer[] = "/data/relationships/workspace";
	const struct pool_use use = {.organization_id = p->workspace->organization_id,
		.workspace_id = p->creation->order->workspace_id,
		.any_scope = p->configuration->from_fork};
	const char *own = p->workspace->own_pool_id, *pool = own;

	if (p->configuration->from_fork) {
		pool = p->configuration->fork_pool_id;
		if (!pool || text_equal(pool, own))
			return err_at(err, pointer, "%s", vcs_reason_sentence(VCS_BECAUSE_FORK_POOL));
	}
	return pool ? pool_use_check(r->store, pool, &use, pointer, err) : 0;
}

/* The version of a constraint or of "latest" is known when a worker claims the job. */
static int query_check(const struct run_draft *p, struct err *err)
{
	const char *own = p->creation->order->terraform_version;
	const char *version = own ? own : p->workspace->terraform_version;

	if (!p->creation->order->query || version_has_query(version))
		return 0;
	return err_at(err, own ? "/data/attributes/terraform-version" : "/data/relationships/workspace",
		"%s Terraform version %s has no queries: terraform query needs 1.14 or later",
		own ? "Query's" : "Workspace's", version);
}

static int workspace_check(const struct run_draft *p, struct err *err)
{
	if (p->workspace->is_disabled)
		return err_at(err, "/data/relationships/workspace",
			"Workspace's organization is disabled by a site admin: nothing runs in it");
	if (p->workspace->version_is_disabled && !p->creation->order->terraform_version)
		return err_at(err, "/data/relationships/workspace",
			"Workspace's Terraform version %s is disabled on this installation: choose another",
			p->workspace->terraform_version);
	if (text_equal(p->workspace->execution_mode, "local"))
		return err_at(err, "/data/relationships/workspace",
			"Workspace must not use local execution: it runs nothing here");
	if (p->creation->order->is_destroy && !p->workspace->destroyable)
		return err_at(err, "/data/attributes/is-destroy", "Is destroy is not allowed by the workspace");
	return query_check(p, err);
}

/* ---- the fixed inputs of a run ---- */

static int snapshot_too_large(long long bytes, struct err *err)
{
	return err_at(err, "/data/relationships/workspace",
		"Workspace's variables, with those of its variable sets, take %lld bytes: a run can have %d. Remove or "
		"shorten some",
		bytes, RUN_VARIABLES_LIMIT);
}

static json_t *snapshot_variable(const struct variables_effective_within_row *row, const struct buf *value)
{
	return json_pack("{ss ss ss sb sb sb}", "key", row->key, "value", buf_str(value), "category", row->category,
		"hcl", row->hcl, "sensitive", row->sensitive, "beats-run", row->beats_run);
}

/* Reads the current values of all variables as JSON; of a fork's commit, only those that are no secrets. If a variable
 * cannot be read or the snapshot is too large, it sets the creation's own error, and returns 0 without *ret_text. */
static int snapshot_read(const struct round *r, const struct run_draft *p, char **ret_text, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct err *own = &p->creation->err;
	json_auto_t *all = json_array();

	if (p->configuration->has_variables &&
		variables_effective_within(
			r->store, p->creation->order->workspace_id, RUN_VARIABLES_LIMIT, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct variables_effective_within_row *variable = row_of(variables_effective_within, &rows, i);
		_cleanup_(buf_release) struct buf value = BUF_INIT(RUN_VARIABLES_LIMIT);

		if (p->configuration->from_fork && variable->sensitive)
			continue;
		if (!variable->value_sealed.text) {
			snapshot_too_large(variable->bytes, own);
			return 0;
		}
		if (seal_open(r->store, variable->id, variable->value_sealed, &value, own) < 0) {
			err_context(own, "the variable %s can't be read", variable->key);
			return 0;
		}
		json_array_append_new(all, snapshot_variable(variable, &value));
	}
	*ret_text = json_text(all);
	return 0;
}

/* Seals the snapshot and the run's own variables. Their total size is bounded, since the answer to a claim carries
 * both. */
static int variables_take(const struct round *r, struct run_draft *p, struct err *err)
{
	const json_t *variables = p->creation->order->variables;
	_cleanup_(freep) char *own = json_array_size(variables) ? json_text(variables) : NULL, *snapshot = NULL;
	size_t own_len = strlen(text_or_empty(own)), snapshot_len;

	if (snapshot_read(r, p, &snapshot, err) < 0)
		return -1;
	if (!snapshot)
		return 0;
	snapshot_len = strlen(snapshot);
	if (snapshot_len > RUN_VARIABLES_LIMIT) {
		snapshot_too_large((long long)snapshot_len, &p->creation->err);
		return 0;
	}
	if (own_len + snapshot_len > RUN_VARIABLES_LIMIT) {
		err_at(&p->creation->err, "/data/attributes/variables",
			"Variables take %zu bytes with those of the workspace: a run can have %d",
			own_len + snapshot_len, RUN_VARIABLES_LIMIT);
		return 0;
	}
	if (own)
		seal_text(r->store, p->row.id.text, own, &p->variables);
	seal_text(r->store, p->row.id.text, snapshot, &p->snapshot);
	return 0;
}

static struct run run_ordered(const struct run_draft *p)
{
	const struct run_create_params *order = p->creation->order;
	struct run run = run_created(p->content && !p->stored ? STAGE_BIT(STAGE_FETCH) : 0);
	bool auto_apply =
		order->auto_apply == CHOICE_UNSET ? p->workspace->auto_apply : order->auto_apply == CHOICE_YES;

	run.plan_only =
		order->plan_only == CHOICE_UNSET ? p->configuration->speculative : order->plan_only == CHOICE_YES;
	run.plan_only |= only_planned(p);
	run.assessment = order->assessment;
	run.query = order->query;
	run.test = order->test;
	run.auto_apply = auto_apply && !run.plan_only && p->workspace->may_apply;
	run.save_plan = order->save_plan;
	run.allow_empty_apply = order->allow_empty_apply;
	return run;
}

/* Prepares the run as it is before its first decision. An error in the order is stored in the creation. */
static int run_draft_begin(struct round *r, struct run_draft *p, struct err *err)
{
	struct err *own = &p->creation->err;

	if (workspace_check(p, own) < 0 || pool_check(r, p, own) < 0 || configuration_check(p, own) < 0) {
		if (own->kind == ERR_INVALID)
			return 0;
		*err = *own;
		return -1;
	}
	p->row = (struct run_row){.id = id_new("run"), .run = run_ordered(p)};
	text_copy(p->row.workspace.text, ID_SIZE, p->creation->order->workspace_id);
	text_copy(p->row.organization.text, ID_SIZE, p->workspace->organization_id);
	text_copy(p->row.pool.text, ID_SIZE,
		p->configuration->from_fork ? p->configuration->fork_pool_id : p->workspace->pool_id);
	p->place = WORKSPACE_OF_ROW(p->workspace);
	p->place.id = p->row.workspace;
	p->behind = !p->row.run.plan_only && p->configuration->has_queue;
	p->creation->run = p->row.id;
	return variables_take(r, p, err);
}

/* ---- writing ---- */

/* The array, or an empty one for NULL. A new reference. */
static json_t *array_or_empty(const json_t *array)
{
	return json_is_array(array) ? json_incref((json_t *)array) : json_array();
}

static json_t *input_row(const struct run_draft *p)
{
	const struct run_create_params *order = p->creation->order;
	json_t *row = json_pack("{ss ss ss ss ss so ss ss ss}", "run_id", p->row.id.text, "configuration_version_id",
		p->configuration->id, "pool_id", p->row.pool.text, "message",
		order->message ? order->message : "Queued manually via the Terraform Enterprise API", "source",
		order->source, "created_by", json_string_or_null(order->actor), "trigger_reason",
		order->trigger_reason ? order->trigger_reason : "manual", "terraform_version",
		order->terraform_version ? order->terraform_version : p->workspace->terraform_version,
		"working_directory", p->workspace->working_directory);

	json_object_update_new(row,
		json_pack("{sb sb sb sb sb sb sO? sO? so so sO?}", "is_destroy", order->is_destroy, "refresh",
			!order->no_refresh, "refresh_only", order->refresh_only, "allow_config_generation",
			order->allow_config_generation, "debugging_mode", order->debugging_mode, "json_log",
			order->query || order->test || (p->workspace->structured_run_output && !order->plain_log),
			"target_addrs", order->target_addrs, "replace_addrs", order->replace_addrs, "policy_paths",
			array_or_empty(order->policy_paths), "invoke_action_addrs",
			array_or_empty(order->invoke_action_addrs), "test", order->test));
	return row;
}

static int inputs_insert(struct round *r, struct err *err)
{
	_cleanup_(db_bytes_release) struct db_bytes snapshots = DB_BYTES_INIT, variables = DB_BYTES_INIT;
	json_auto_t *rows = json_array();

	for (size_t i = 0; i < r->count; i++) {
		const struct run_draft *p = &r->drafts[i];

		json_array_append_new(rows, input_row(p));
		if (db_bytes_add(&snapshots, buf_str(&p->snapshot), p->snapshot.len) < 0 ||
			db_bytes_add(&variables, buf_str(&p->variables), p->variables.len) < 0)
			return err_set(err, ERR_TOO_LARGE, "the runs' variables are too large");
	}
	_cleanup_(freep) char *text = json_text(rows);
	return db_queue(
		r->store->db, err, run_create_inputs, .inputs = text, .snapshots = &snapshots, .variables = &variables);
}

/* ---- the stages ---- */

static bool has_stages(const struct run_draft *p)
{
	return !run_is_hidden(&p->row.run) &&
		(p->workspace->has_tasks || p->workspace->has_policies || p->workspace->has_costs);
}

/* Fixes the run's stages to those that are configured now. Most organizations have no stage of one kind or another, so
 * each kind is read only if it is configured. */
static int stages_take(struct round *r, struct run_draft *p, struct err *err)
{
	const char *run = p->row.id.text, *workspace = p->row.workspace.text;
	uint32_t tasks = 0, policies = 0, costs = 0;
	bool targeted = json_array_size(p->creation->order->target_addrs) > 0;

	if (p->workspace->has_tasks && task_results_create(r->store, run, workspace, &tasks, err) < 0)
		return -1;
	if (p->workspace->has_policies && policy_runs_create(r->store, run, workspace, &policies, err) < 0)
		return -1;
	if (p->workspace->has_costs && cost_estimate_create(r->store, run, targeted, &costs, err) < 0)
		return -1;
	if (!(tasks | policies | costs))
		return 0;
	p->row.run.stages |= tasks | policies | costs;
	return db_queue(r->store->db, err, run_create_stages, .run_id = run, .stages = p->row.run.stages);
}

/* The rows of the stages reference the run's row, so the run is written first. */
static int round_stages(struct round *r, struct err *err)
{
	bool any = false;

	for (size_t i = 0; i < r->count; i++)
		any |= has_stages(&r->drafts[i]);
	if (any && changes_save_new(r->store, &r->changes, err) < 0)
		return -1;
	for (size_t i = 0; i < r->count; i++)
		if (has_stages(&r->drafts[i]) && stages_take(r, &r->drafts[i], err) < 0)
			return -1;
	return 0;
}

/* ---- the files of commits ---- */

/* Has missing contents fetched, and gives contents that are here to the configurations that lack them: those that are
 * archived or were never fetched. */
static int round_contents(struct round *r, struct err *err)
{
	_cleanup_(db_array_release) struct db_array missing = DB_ARRAY_INIT, here = DB_ARRAY_INIT;

	for (size_t i = 0; i < r->count; i++) {
		const struct run_draft *p = &r->drafts[i];
		const char *id = p->configuration->id;

		if (p->content && !p->stored)
			db_array_add(&missing, id);
		else if (p->content && !text_equal(p->configuration->status, "uploaded"))
			db_array_add(&here, id);
	}
	if (here.count && vcs_contents_take(r->store, &here, err) < 0)
		return -1;
	return missing.count ? vcs_contents_fetch(r->store, &missing, err) : 0;
}

/* ---- one round ---- */

/* Adds the notification that a run was created, which is the first one of a run. */
static void add_created_notification(struct round *r, const struct run_draft *p)
{
	if (p->row.run.plan_only || !p->workspace->watched)
		return;
	r->changes.watched = true;
	notification_event_add(r->changes.rows[CHANGED_NOTIFICATIONS],
		&(struct notification_event){.run_id = p->row.id.text,
			.workspace_id = p->row.workspace.text,
			.trigger = TRIGGER_CREATED,
			.status = p->row.run.status,
			.at = r->changes.now,
			.actor = p->creation->order->actor});
}

/* Prepares the orders from the rows of the round. Drops invalid orders and orders without a workspace. */
static int round_begin(struct round *r, struct err *err)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->count; i++)
		if (r->ready)
			err_set(&r->drafts[i].creation->err, ERR_UNAVAILABLE, "the workspace is being worked on");
		else
			err_set(&r->drafts[i].creation->err, ERR_NOT_FOUND, "workspace not found");
	for (int row = 0; row < r->workspaces.count; row++) {
		const struct run_create_workspace_row *workspace = row_of(run_create_workspace, &r->workspaces, row);
		struct run_draft *p = &r->drafts[workspace->n];

		p->workspace = workspace;
		p->creation->err = (struct err)ERR_INIT;
		text_copy(r->changes.now, sizeof(r->changes.now), workspace->now);
		if (run_draft_begin(r, p, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < r->count; i++) {
		struct run_draft p = r->drafts[i];

		if (p.creation->err.kind != ERR_NONE)
			continue;
		changes_create(&r->changes, &p.row, p.creation->order->actor);
		r->drafts[i] = r->drafts[kept];
		r->drafts[kept++] = p;
	}
	r->count = kept;
	return 0;
}

/* A plan-only run starts at once. Any other run starts when it is first in its workspace's queue, which may be now. If
 * others are before it and no run is current, another transaction is perhaps about to move the queue on. This
 * transaction does so in its place. */
static void round_decide(struct round *r, struct db_array *kicked)
{
	_cleanup_(run_set_release) struct run_set set = {
		.runs = mem_new(r->count, sizeof(*set.runs)), .workspaces = mem_new(r->count, sizeof(*set.workspaces))};

	for (size_t i = 0; i < r->count; i++) {
		const struct run_draft *p = &r->drafts[i];

		add_created_notification(r, p);
		if (!p->behind) {
			set.runs[set.run_count++] = p->row;
			set.workspaces[set.workspace_count++] = p->place;
		} else if (!p->place.current.text[0]) {
			db_array_add(kicked, p->row.workspace.text);
		}
	}
	transitions_of_created(&set, &r->changes);
}

/* A run cancels the assessment of its workspace. */
static int assessments_cancel(struct round *r, struct db_array *kicked, struct err *err)
{
	_cleanup_(freep) struct run_transition *items = mem_new(r->count, sizeof(*items));
	size_t count = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct run_draft *p = &r->drafts[i];

		if (run_is_hidden(&p->row.run) || !p->workspace->assessment_run_id)
			continue;
		text_copy(items[count].run.text, ID_SIZE, p->workspace->assessment_run_id);
		items[count].event.kind = EV_CANCELED;
		items[count++].reason = "A run of the workspace began.";
	}
	return count || kicked->count ? transitions_apply_within(r->store, items, count, kicked, err) : 0;
}

static int round_write(struct round *r, struct err *err)
{
	_cleanup_(db_array_release) struct db_array kicked = DB_ARRAY_INIT;

	if (!r->count)
		return 0;
	if (round_stages(r, err) < 0)
		return -1;
	round_decide(r, &kicked);
	/* The inputs reference the runs' rows. They precede the jobs, whose needs are derived from them. */
	if (changes_save_new(r->store, &r->changes, err) < 0 || inputs_insert(r, err) < 0 ||
		changes_save(r->store, &r->changes, err) < 0 || round_contents(r, err) < 0)
		return -1;
	return assessments_cancel(r, &kicked, err);
}

struct ordering {
	struct store *store;
	struct run_creation *creations;
	size_t count;
	bool ready;
};

static int round_run(const struct ordering *o, struct run_draft *drafts, size_t count, struct err *err)
{
	struct round r = {.store = o->store, .ready = o->ready, .drafts = drafts, .count = count};
	int result;

	changes_init(&r.changes, "");
	result = round_load(&r, err) < 0 || contents_load(&r, err) < 0 || round_begin(&r, err) < 0 ||
			round_write(&r, err) < 0
		? -1
		: 0;
	changes_release(&r.changes);
	rows_release(&r.workspaces);
	rows_release(&r.configurations);
	return result;
}

/* ---- all rounds ---- */

static bool round_has(const struct run_draft *drafts, size_t count, const struct run_creation *creation)
{
	for (size_t i = 0; i < count; i++)
		if (text_equal(drafts[i].creation->order->workspace_id, creation->order->workspace_id))
			return true;
	return false;
}

/* Chooses the first order of each workspace that is not done yet. */
static size_t round_choose(struct ordering *o, struct run_draft *drafts, bool *done)
{
	size_t count = 0;

	for (size_t i = 0; i < o->count; i++) {
		if (done[i] || round_has(drafts, count, &o->creations[i]))
			continue;
		done[i] = true;
		drafts[count++] = (struct run_draft){.creation = &o->creations[i],
			.snapshot = BUF_INIT(SEALED_LIMIT),
			.variables = BUF_INIT(SEALED_LIMIT)};
	}
	return count;
}

/* Locks contents before workspaces, as those do who store a content. */
static int contents_share(const struct ordering *o, struct err *err)
{
	_cleanup_(db_array_release) struct db_array configurations = DB_ARRAY_INIT, workspaces = DB_ARRAY_INIT;

	for (size_t i = 0; i < o->count; i++) {
		const struct run_create_params *order = o->creations[i].order;

		if (order->configuration_version_id)
			db_array_add(&configurations, order->configuration_version_id);
		else
			db_array_add(&workspaces, order->workspace_id);
	}
	return vcs_contents_share(o->store, &configurations, &workspaces, err);
}

static int orders_run(void *data, struct err *err)
{
	struct ordering *o = data;
	_cleanup_(freep) struct run_draft *drafts = mem_new(o->count, sizeof(*drafts));
	_cleanup_(freep) bool *done = mem_new(o->count, sizeof(*done));
	int result = contents_share(o, err);
	size_t count;

	for (size_t i = 0; i < o->count; i++) {
		o->creations[i].err = (struct err)ERR_INIT;
		done[i] = order_check(o->creations[i].order, &o->creations[i].err) < 0;
	}
	while (result == 0 && (count = round_choose(o, drafts, done))) {
		result = round_run(o, drafts, count, err);
		for (size_t i = 0; i < count; i++) {
			buf_release(&drafts[i].snapshot);
			buf_release(&drafts[i].variables);
		}
	}
	return result;
}

int run_creations_apply(struct store *store, struct run_creation *creations, size_t count, struct err *err)
{
	struct ordering o = {store, creations, count, .ready = false};

	return db_transaction(store->db, orders_run, &o, err);
}

int run_creations_apply_ready(struct store *store, struct run_creation *creations, size_t count, struct err *err)
{
	struct ordering o = {store, creations, count, .ready = true};

	return db_transaction(store->db, orders_run, &o, err);
}

int run_create(struct store *store, const struct run_create_params *order, struct id *ret_id, struct err *err)
{
	struct run_creation creation = {.order = order};

	if (run_creations_apply(store, &creation, 1, err) < 0)
		return -1;
	if (creation.err.kind != ERR_NONE) {
		*err = creation.err;
		return -1;
	}
	*ret_id = creation.run;
	return 0;
}
