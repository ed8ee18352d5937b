/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/policies/policy_runs.h"

#include "proto/states.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/content/seals.h"

enum { SOURCE_LIMIT = 64 << 20 };

#define AS_TIME(column) "to_char(" column " at time zone 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.MS\"Z\"')"

/* ---- creation, with the run ---- */

/* Creates the run's evaluations, one per kind of policy, each with a copy of the sets that apply; returns the kinds.
 * The organization's sets, and what belongs to each, are found in the indexes that begin with their owner's id.
 *
 * A set applies if it is global or attached to the workspace or its project, unless the workspace or its project is
 * excluded.
 */
static const char create_sql[] =
	"with own as (select s.* from policy_sets s join workspaces w on w.organization_id = s.organization_id "
	"where w.id = $2 and (s.global "
	"or exists (select 1 from policy_set_workspaces x where x.policy_set_id = s.id and x.workspace_id = w.id "
	"and not x.excluded) or exists (select 1 from policy_set_projects x where x.policy_set_id = s.id "
	"and x.project_id = w.project_id and not x.excluded)) "
	"and not exists (select 1 from policy_set_workspaces x where x.policy_set_id = s.id and x.workspace_id = w.id "
	"and x.excluded) and not exists (select 1 from policy_set_projects x where x.policy_set_id = s.id "
	"and x.project_id = w.project_id and x.excluded)), "
	"sets as (select s.kind, s.name, jsonb_build_object('id', s.id, 'name', s.name, 'description', s.description, "
	"'overridable', s.overridable, 'tool-version', s.policy_tool_version, "
	"'tool-archs', (select t.archs from tool_versions t where t.tool = s.kind and t.enabled "
	"and t.version = ltrim(s.policy_tool_version, '=v ')), 'policies-path', s.policies_path, "
	"'archive', (select v.blob_id from policy_set_versions v where v.id = s.current_version_id), "
	"'policies', (select coalesce(jsonb_agg(jsonb_build_object('id', p.id, 'name', p.name, 'description', "
	"p.description, 'query', p.query, 'enforcement', p.enforcement, 'blob', p.blob_id) order by p.name), '[]') "
	"from policy_set_policies m join policies p on p.id = m.policy_id "
	"where m.policy_set_id = s.id and p.blob_id is not null), "
	"'parameters', (select coalesce(jsonb_agg(jsonb_build_object('id', a.id, 'key', a.key, 'sensitive', "
	"a.sensitive, 'sealed', "
	"encode(a.value_sealed, 'base64')) order by a.key), '[]') from policy_set_parameters a "
	"where a.policy_set_id = s.id)) as document from own s) "
	"insert into policy_evaluations (id, run_id, kind, bundle) select case kind when 'opa' then 'poleval-' else "
	"'polchk-' end || substr(md5($1 || kind), 1, 16), $1, kind, jsonb_agg(document order by name) from sets "
	"group by kind returning kind";

int policy_runs_create(
	struct store *store, const char *run_id, const char *workspace_id, uint32_t *ret_stages, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, create_sql, P_TEXT(run_id), P_TEXT(workspace_id)) < 0)
		return -1;
	*ret_stages = 0;
	for (int i = 0; i < rows.count; i++)
		*ret_stages |= STAGE_BIT(stage_parse(row_text(&rows, i, "kind")));
	if (!(*ret_stages & STAGE_BIT(STAGE_OPA)))
		return 0;
	/* In the API, OPA evaluations belong to the post_plan task stage, so the stage must exist even without a
	 * task. */
	return db_query(store->db, NULL, err,
		"insert into task_stages (id, run_id, stage) values ('ts-' || substr(md5($1 || 'post_plan'), 1, 16), "
		"$1, "
		"'post_plan') on conflict (run_id, stage) do nothing",
		P_TEXT(run_id));
}

/* ---- evaluation ---- */

static int blob_text(struct store *store, const char *blob_id, struct buf *out, struct err *err)
{
	buf_reset(out);
	return blob_get(store, blob_id, out, err);
}

static int policies_open(struct store *store, json_t *policies, struct err *err)
{
	_cleanup_(buf_release) struct buf source = BUF_INIT(SOURCE_LIMIT);
	json_t *policy;
	size_t i;

	json_array_foreach(policies, i, policy)
	{
		if (blob_text(store, json_string_at(policy, "blob"), &source, err) < 0)
			return err_context(err, "policy %s", json_string_at(policy, "name"));
		json_object_set_new(policy, "source", json_string(buf_str(&source)));
		json_object_del(policy, "blob");
	}
	return 0;
}

int policy_parameter_sealed(const json_t *parameter, struct buf *ret_sealed)
{
	_cleanup_(freep) char *base64 = mem_text(text_or_empty(json_string_at(parameter, "sealed")));
	char *to = base64;

	/* PostgreSQL breaks base64 into lines. */
	for (const char *from = base64; *from; from++)
		if (*from != '\n')
			*to++ = *from;
	*to = '\0';
	return crypto_base64_decode(base64, ret_sealed);
}

static int parameters_open(struct store *store, json_t *parameters, struct err *err)
{
	json_t *parameter;
	size_t i;

	json_array_foreach(parameters, i, parameter)
	{
		_cleanup_(buf_release) struct buf sealed = BUF_INIT(SOURCE_LIMIT), value = BUF_INIT(SOURCE_LIMIT);

		if (policy_parameter_sealed(parameter, &sealed) < 0 ||
			keyring_open(store->keyring, text_or_empty(json_string_at(parameter, "id")), buf_bytes(&sealed),
				&value, err) < 0)
			return err_context(err, "parameter %s", json_string_at(parameter, "key"));
		json_object_set_new(parameter, "value", json_string(buf_str(&value)));
		json_object_del(parameter, "sealed");
	}
	return 0;
}

static int set_open(struct store *store, json_t *set, struct err *err)
{
	_cleanup_(buf_release) struct buf archive = BUF_INIT(SOURCE_LIMIT);
	const char *blob = json_string_at(set, "archive");

	if (blob && blob_text(store, blob, &archive, err) < 0)
		return err_context(err, "policy set %s", json_string_at(set, "name"));
	if (blob) {
		_cleanup_(freep) char *base64 = crypto_base64(archive.data, archive.len);

		json_object_set_new(set, "archive", json_string(base64));
	}
	if (policies_open(store, json_object_get(set, "policies"), err) < 0)
		return -1;
	return parameters_open(store, json_object_get(set, "parameters"), err);
}

/* ---- facts of a run ---- */

/* One row: the facts about a run with the names of the API (proto/README, Policies), but for `variables`, and what is
 * sealed of its variables. Every join is by a primary or unique key; tags are found by their workspace or project. */
/* clang-format off */
static const char facts_sql[] =
	"select r.id, jsonb_build_object('id', r.id, 'message', i.message, 'created-at', " AS_TIME("r.created_at") ", "
		"'created-by', u.username, "
		"'commit-sha', (select k.sha from configuration_commits k where k.configuration_version_id = i.configuration_version_id), "
		"'is-destroy', i.is_destroy, 'refresh', i.refresh, 'refresh-only', i.refresh_only, 'speculative', r.plan_only, "
		"'replace-addrs', nullif(i.replace_addrs, '[]'), 'target-addrs', nullif(i.target_addrs, '[]'), "
		"'project', jsonb_build_object('id', p.id, 'name', p.name), "
		"'organization', jsonb_build_object('name', o.name), "
		"'workspace', jsonb_build_object('id', w.id, 'name', w.name, 'created-at', " AS_TIME("w.created_at") ", "
			"'description', nullif(w.description, ''), 'execution-mode', w.execution_mode, 'auto-apply', w.auto_apply, "
			"'working-directory', nullif(w.working_directory, ''), "
			"'tags', (select coalesce(jsonb_agg(t.key order by t.key), '[]') from effective_tags t "
				"where t.workspace_id = w.id and t.inherited_from is null and t.value = ''), "
			"'tag-bindings', (select coalesce(jsonb_agg(jsonb_build_object('key', t.key, 'value', nullif(t.value, ''), "
				"'inherited', t.inherited_from is not null) order by t.key), '[]') from effective_tags t where t.workspace_id = w.id), "
			"'vcs-repo', (select jsonb_build_object('identifier', v.identifier, 'display-identifier', v.identifier, "
				"'branch', c.branch, 'ingress-submodules', c.ingress_submodules) from workspace_repositories c "
				"join vcs_repositories v on v.id = c.repository_id where c.workspace_id = w.id)), "
		"'cost-estimate', (select jsonb_build_object('prior-monthly-cost', c.document->>'prior-monthly-cost', "
			"'proposed-monthly-cost', c.document->>'proposed-monthly-cost', "
			"'delta-monthly-cost', c.document->>'delta-monthly-cost') "
			"from cost_estimates c where c.run_id = r.id and c.document->>'status' = 'finished')) as run, "
	"i.snapshot_sealed, i.variables_sealed "
	"from runs r join run_inputs i on i.run_id = r.id join workspaces w on w.id = r.workspace_id "
	"join projects p on p.id = w.project_id join organizations o on o.id = r.organization_id "
	"left join users u on u.id = i.created_by where r.id = $1";
/* clang-format on */

/* The variables in a sealed column; none if it is null. A new reference, or NULL with *err. */
static json_t *variables_open(struct store *store, const struct rows *rows, const char *column, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(SOURCE_LIMIT);
	json_t *list = NULL;

	if (row_null(rows, 0, column))
		return json_array();
	if (seal_open(store, row_text(rows, 0, "id"), (struct sealed_column){rows, 0, column}, &text, err) < 0 ||
		json_parse(buf_str(&text), text.len, &list, err) < 0)
		return NULL;
	return list;
}

static void fact_add(json_t *variables, const json_t *variable, const char *category, bool sensitive)
{
	json_object_set_new(variables, text_or_empty(json_string_at(variable, "key")),
		json_pack("{ss sb}", "category", category, "sensitive", sensitive));
}

/* The variables of the snapshot that override the run's own, or the others. */
static void facts_of_snapshot(json_t *variables, const json_t *snapshot, bool stronger)
{
	const json_t *variable;
	size_t i;

	json_array_foreach(snapshot, i, variable)
	{
		if (json_bool_at(variable, "beats-run", false) == stronger)
			fact_add(variables, variable, text_or_empty(json_string_at(variable, "category")),
				json_bool_at(variable, "sensitive", false));
	}
}

/* {"name": {"category", "sensitive"}}, without values: as a job gets them (runs/job_document.c), the last of a name
 * counts. A new reference, or NULL with *err. */
static json_t *variable_facts(struct store *store, const struct rows *rows, struct err *err)
{
	json_auto_t *snapshot = variables_open(store, rows, "snapshot_sealed", err);
	json_auto_t *own = snapshot ? variables_open(store, rows, "variables_sealed", err) : NULL;
	json_t *all, *variable;
	size_t i;

	if (!own)
		return NULL;
	all = json_object();
	facts_of_snapshot(all, snapshot, false);
	json_array_foreach(own, i, variable) fact_add(all, variable, "terraform", false);
	facts_of_snapshot(all, snapshot, true);
	return all;
}

int policy_run_facts(struct store *store, const char *run_id, json_t **ret_run, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_t *variables;

	if (db_query(store->db, &rows, err, facts_sql, P_TEXT(run_id)) < 0)
		return -1;
	if (!rows.count) {
		*ret_run = json_null();
		return 0;
	}
	variables = variable_facts(store, &rows, err);
	if (!variables)
		return err_context(err, "the variables of run %s", run_id);
	*ret_run = row_json(&rows, 0, "run");
	json_object_set_new(*ret_run, "variables", variables);
	return 0;
}

/* ---- the document of an evaluation ---- */

int policy_run_bundle(struct store *store, const char *run_id, const char *kind, json_t **ret_bundle, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *sets = NULL, *run = NULL;
	json_t *set;
	size_t i;

	if (db_query(store->db, &rows, err, "select bundle from policy_evaluations where run_id = $1 and kind = $2",
		    P_TEXT(run_id), P_TEXT(kind)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "the run has no policies of that kind");
	sets = row_json(&rows, 0, "bundle");
	json_array_foreach(sets, i, set) if (set_open(store, set, err) < 0) return -1;
	if (policy_run_facts(store, run_id, &run, err) < 0)
		return -1;
	*ret_bundle = json_pack("{ss sO sO}", "kind", kind, "run", run, "sets", sets);
	return 0;
}

/* ---- results ---- */

/* The counter of a policy's outcome, by its enforcement level. "mandatory" is a level of OPA, the others are
 * Sentinel's. */
static const char *count_of(const char *status, const char *level)
{
	if (text_equal(status, "passed"))
		return "passed";
	if (text_equal(status, "errored"))
		return "errored";
	if (text_equal(level, "mandatory"))
		return "mandatory-failed";
	if (text_equal(level, "hard-mandatory"))
		return "hard-failed";
	return text_equal(level, "soft-mandatory") ? "soft-failed" : "advisory-failed";
}

static void counts_begin(json_t *counts, const char *kind)
{
	static const char *const opa[] = {"passed", "errored", "mandatory-failed", "advisory-failed", NULL};
	static const char *const sentinel[] = {
		"passed", "errored", "hard-failed", "soft-failed", "advisory-failed", NULL};

	for (const char *const *name = text_equal(kind, "opa") ? opa : sentinel; *name; name++)
		json_object_set_new(counts, *name, json_integer(0));
}

static void counts_add(json_t *counts, const char *name)
{
	json_object_set_new(counts, name, json_integer(json_int_at(counts, name, 0) + 1));
}

struct keeping {
	struct store *store;
	const char *run_id, *kind;
	const json_t *results;
};

static int set_keep(struct keeping *k, const char *evaluation, const json_t *set, json_t *all, struct err *err)
{
	json_auto_t *counts = json_object();
	json_t *outcome;
	size_t i;

	counts_begin(counts, k->kind);
	json_array_foreach(json_object_get(set, "outcomes"), i, outcome)
	{
		const char *name =
			count_of(json_string_at(outcome, "status"), json_string_at(outcome, "enforcement_level"));

		counts_add(counts, name);
		counts_add(all, name);
	}
	_cleanup_(freep) char *counted = json_text(counts);
	_cleanup_(freep) char *outcomes = json_text(json_object_get(set, "outcomes"));
	return db_query(k->store->db, NULL, err,
		"insert into policy_set_outcomes (id, policy_evaluation_id, policy_set_id, name, description, "
		"overridable, "
		"outcomes, error, result_count) select 'psout-' || substr(md5($1 || $2), 1, 16), $1, $2, s ->> 'name', "
		"s ->> 'description', (s ->> 'overridable')::boolean, $3::jsonb, $4, $5::jsonb "
		"from policy_evaluations e, jsonb_array_elements(e.bundle) s where e.id = $1 and s ->> 'id' = $2 "
		"on conflict (id) do update set outcomes = excluded.outcomes, error = excluded.error, "
		"result_count = excluded.result_count",
		P_TEXT(evaluation), P_TEXT(json_string_at(set, "id")), P_TEXT(outcomes),
		P_TEXT(json_string_at(set, "error")), P_TEXT(counted));
}

static int results_keep(void *data, struct err *err)
{
	struct keeping *k = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *counts = json_object();
	json_t *set;
	size_t i;

	counts_begin(counts, k->kind);
	if (db_query(k->store->db, &rows, err,
		    "select id from policy_evaluations where run_id = $1 and kind = $2 for update", P_TEXT(k->run_id),
		    P_TEXT(k->kind)) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "the run has no policies of that kind");
	json_array_foreach(json_object_get(k->results, "sets"), i,
		set) if (set_keep(k, row_text(&rows, 0, "id"), set, counts, err) < 0) return -1;
	_cleanup_(freep) char *counted = json_text(counts);
	_cleanup_(freep) char *result = json_text(json_object_get(k->results, "sets"));
	return db_query(k->store->db, NULL, err,
		"update policy_evaluations set result_count = $2::jsonb, result = $3::jsonb, output = $4, updated_at = "
		"now() "
		"where id = $1",
		P_TEXT(row_text(&rows, 0, "id")), P_TEXT(counted), P_TEXT(result),
		P_TEXT(text_or_empty(json_string_at(k->results, "output"))));
}

static int results_check(const json_t *results, struct err *err)
{
	const json_t *sets = json_object_get(results, "sets");
	const json_t *set;
	size_t i;

	if (!json_is_array(sets))
		return err_at(err, "/sets", "Sets must be an array");
	json_array_foreach((json_t *)sets, i, set) if (!json_string_at(set, "id") ||
		!json_is_array(json_object_get(set, "outcomes"))) return err_at(err, "/sets",
		"Set %zu must have an id and outcomes", i);
	return 0;
}

int policy_run_results(
	struct store *store, const char *run_id, const char *kind, const json_t *results, struct err *err)
{
	struct keeping k = {.store = store, .run_id = run_id, .kind = kind, .results = results};

	return results_check(results, err) < 0 ? -1 : db_transaction(store->db, results_keep, &k, err);
}
