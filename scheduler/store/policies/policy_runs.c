/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/policies/policy_runs.h"

#include "proto/states.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/content/seals.h"
#include "scheduler/store/policies/policy_runs.sql.h"

enum { SOURCE_LIMIT = 64 << 20 };

/* ---- creation, with the run ---- */

int policy_runs_create(
	struct store *store, const char *run_id, const char *workspace_id, uint32_t *ret_stages, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, policy_runs_create, .run_id = run_id, .workspace_id = workspace_id) < 0)
		return -1;
	*ret_stages = 0;
	for (int i = 0; i < rows.count; i++)
		*ret_stages |= STAGE_BIT(stage_parse(row_of(policy_runs_create, &rows, i)->kind));
	if (!(*ret_stages & STAGE_BIT(STAGE_OPA)))
		return 0;
	/* In the API, OPA evaluations belong to the post_plan task stage, so the stage must exist even without a
	 * task. */
	return db_query(store->db, NULL, err, policy_runs_add_stage, .run_id = run_id);
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

/* The variables in a sealed column; none if it is null. A new reference, or NULL with *err. */
static json_t *variables_open(struct store *store, const char *run_id, struct db_hex sealed, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(SOURCE_LIMIT);
	json_t *list = NULL;

	if (!sealed.text)
		return json_array();
	if (seal_open(store, run_id, sealed, &text, err) < 0 || json_parse(buf_str(&text), text.len, &list, err) < 0)
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
static json_t *variable_facts(struct store *store, const struct policy_run_facts_row *row, struct err *err)
{
	json_auto_t *snapshot = variables_open(store, row->id, row->snapshot_sealed, err);
	json_auto_t *own = snapshot ? variables_open(store, row->id, row->variables_sealed, err) : NULL;
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

	if (db_query(store->db, &rows, err, policy_run_facts, .run_id = run_id) < 0)
		return -1;
	if (!rows.count) {
		*ret_run = json_null();
		return 0;
	}
	variables = variable_facts(store, row_of(policy_run_facts, &rows, 0), err);
	if (!variables)
		return err_context(err, "the variables of run %s", run_id);
	*ret_run = json_shown(row_of(policy_run_facts, &rows, 0)->run);
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

	if (db_query(store->db, &rows, err, policy_run_bundle, .run_id = run_id, .kind = kind) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "the run has no policies of that kind");
	sets = json_shown(row_of(policy_run_bundle, &rows, 0)->bundle);
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
	return db_query(k->store->db, NULL, err, policy_outcome_keep, .evaluation_id = evaluation,
		.set_id = json_string_at(set, "id"), .outcomes = outcomes, .error = json_string_at(set, "error"),
		.counts = counted);
}

static int results_keep(void *data, struct err *err)
{
	struct keeping *k = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	json_auto_t *counts = json_object();
	const char *evaluation;
	json_t *set;
	size_t i;

	counts_begin(counts, k->kind);
	if (db_query(k->store->db, &rows, err, policy_evaluation_lock, .run_id = k->run_id, .kind = k->kind) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_NOT_FOUND, "the run has no policies of that kind");
	evaluation = row_of(policy_evaluation_lock, &rows, 0)->id;
	json_array_foreach(json_object_get(k->results, "sets"), i, set)
	{
		if (set_keep(k, evaluation, set, counts, err) < 0)
			return -1;
	}
	_cleanup_(freep) char *counted = json_text(counts);
	_cleanup_(freep) char *result = json_text(json_object_get(k->results, "sets"));
	return db_query(k->store->db, NULL, err, policy_evaluation_keep, .id = evaluation, .counts = counted,
		.result = result, .output = text_or_empty(json_string_at(k->results, "output")));
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
