/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/job_document.h"

#include <time.h>

#include "scheduler/auth/workload/identity.h"
#include "scheduler/lifecycle/run.h"
#include "scheduler/runs/job_document.sql.h"
#include "scheduler/store/content/object_url.h"
#include "scheduler/store/content/rescues.h"
#include "scheduler/store/content/seals.h"

/* Bounds each of the two variable texts of a run: an earlier version created runs with more than RUN_VARIABLES_LIMIT
 * (store/variables/variables.h). */
enum { JOB_VARIABLES_LIMIT = 24 << 20, SSH_KEY_LIMIT = 1 << 20 };

/* The stages that read the plan's JSON before the apply or after it. */
static const uint32_t reads_json = STAGE_BIT(STAGE_POST_PLAN) | STAGE_BIT(STAGE_OPA) | STAGE_BIT(STAGE_COST) |
	STAGE_BIT(STAGE_SENTINEL) | STAGE_BIT(STAGE_PRE_APPLY) | STAGE_BIT(STAGE_POST_APPLY);

int job_documents_ask(struct store *store, struct db_array *job_ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, job_document, .jobs = job_ids, .reads_json = reads_json);
}

/* ---- sealed members ---- */

/* Returns the JSON of a sealed column of the run's, an empty array if it is null, or NULL with *err. A new reference.
 */
static json_t *open_json(struct store *store, const char *run_id, struct db_hex sealed, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(JOB_VARIABLES_LIMIT);
	json_t *value;

	if (!sealed.text)
		return json_array();
	if (seal_open(store, run_id, sealed, &text, err) < 0 || json_parse(buf_str(&text), text.len, &value, err) < 0)
		return NULL;
	return value;
}

/* Appends the snapshot's variables that override the run's own variables (`stronger`), or the others. */
static void add_snapshot(json_t *variables, const json_t *snapshot, bool stronger)
{
	json_t *variable;
	size_t i;

	json_array_foreach((json_t *)snapshot, i, variable)
	{
		if (json_bool_at(variable, "beats-run", false) == stronger)
			json_array_append(variables, variable);
	}
}

/* Lists the variables in ascending order of precedence: those effective at the run's creation, the run's own (whose
 * values are expressions), and those of the snapshot that override them. A new reference, or NULL with *err. */
static json_t *job_variables(struct store *store, const struct job_document_row *row, struct err *err)
{
	json_auto_t *snapshot = open_json(store, row->run, row->snapshot_sealed, err);
	json_auto_t *own = snapshot ? open_json(store, row->run, row->variables_sealed, err) : NULL;
	json_t *variable, *all;
	size_t i;

	if (!own)
		return NULL;
	all = json_array();
	add_snapshot(all, snapshot, false);
	json_array_foreach(own, i, variable) json_array_append_new(all,
		json_pack("{ss ss ss sb sb}", "key", json_string_at(variable, "key"), "value",
			json_string_at(variable, "value"), "category", "terraform", "hcl", 1, "sensitive", 0));
	add_snapshot(all, snapshot, true);
	return all;
}

/* The stages in which no code of the configuration runs have no identity. */
static int identity_add(struct store *store, const struct job_document_row *row, const struct job_tokens *tokens,
	json_t *job, struct err *err)
{
	json_auto_t *workspace = json_shown(row->workspace);
	struct id run = id_sibling(row->run, row->module ? "trun" : "run");
	const struct workload_job wanted = {.workload = {.organization = row->organization,
						    .organization_id = row->organization_id,
						    .project = row->project,
						    .project_id = row->project_id,
						    .workspace = json_string_at(workspace, "name"),
						    .workspace_id = json_string_at(workspace, "id"),
						    .module = row->module,
						    .run = run.text,
						    .phase = row->stage,
						    .attempt = row->attempt,
						    .seconds = row->time_limit},
		.from_fork = row->from_fork,
		.plan_only = row->plan_only,
		.worker_knows = tokens->credentials};

	if (!text_equal(row->stage, "plan") && !text_equal(row->stage, "apply"))
		return 0;
	return workload_identity_add(store, &wanted, job, err);
}

/* The configurations of providers for a no-code workspace. A worker that ignored them would plan with others. */
static int provider_sets_add(
	const struct job_document_row *row, const struct job_tokens *tokens, json_t *job, struct err *err)
{
	if (!row->provider_sets)
		return 0;
	if (!tokens->provider_sets)
		return err_set(err, ERR_INVALID,
			"a provider set applies to the workspace, but the run's worker is of an earlier version, which "
			"can't use it. Upgrade the workers of its pool.");
	json_object_set_new(job, "provider-sets", json_shown(row->provider_sets));
	return 0;
}

/* The private key that the run fetches modules with; "" if its workspace has no key. A new reference, or NULL with
 * *err. */
static json_t *job_ssh_key(struct store *store, const struct job_document_row *row, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(SSH_KEY_LIMIT);

	if (row->ssh_key_id && seal_open(store, row->ssh_key_id, row->ssh_key_sealed, &text, err) < 0)
		return NULL;
	return json_string(buf_str(&text));
}

/* ---- all members ---- */

/* Returns the URL of the apply's rescue object and the key that encrypts it, as a new reference. NULL: the site has no
 * object store for rescues. */
static json_t *job_rescue(const struct store *store, const struct rescue_grant *grant)
{
	_cleanup_(freep) char *url = NULL;

	if (!grant->object)
		return NULL;
	url = object_put_url(objects_settings(store->settings->rescue), grant->object, time(NULL));
	return json_pack("{ss ss}", "url", url, "key", grant->key);
}

/* The members that name the run, its workspace and its configuration. */
static json_t *job_subject(const struct job_document_row *row)
{
	return json_pack("{ss sI ss ss ss ss ss ss so ss ss so}", "job", row->job, "attempt", (json_int_t)row->attempt,
		"stage", row->stage, "run", row->run, "log", row->log, "organization", row->organization,
		"organization-id", row->organization_id, "project", row->project, "workspace",
		json_shown(row->workspace), "working-directory", row->working_directory, "configuration-version",
		row->configuration_version, "commit", json_shown(row->commit));
}

/* The members for the engine. `state-differences`: the worker may send states as differences
 * (store/states/state_bases.h). `packages`: it may send the configuration's packages (store/explorer/explorer_index.h).
 */
static json_t *job_options(const struct job_document_row *row)
{
	return json_pack("{ss ss sb sb sb sb sb so sb sb so so so sb sb sb sb sb sb sb sI ss}", "engine", row->engine,
		"terraform-version", row->terraform_version, "destroy", row->destroy, "refresh", row->refresh,
		"refresh-only", row->refresh_only, "generate-config", row->generate_config, "query", row->query, "test",
		json_shown(row->test), "debug", row->debug, "json-log", row->json_log, "target-addrs",
		json_shown(row->target_addrs), "replace-addrs", json_shown(row->replace_addrs), "invoke-addrs",
		json_shown(row->invoke_addrs), "has-state", row->has_state, "has-init", row->has_init, "has-plan-json",
		row->has_plan_json, "state-differences", 1, "packages", 1, "watched", row->watched, "json-later",
		row->json_later, "time-limit", (json_int_t)row->time_limit, "stop", stop_name((enum stop)row->stop));
}

json_t *job_document(
	struct store *store, const struct job_document_row *row, const struct job_tokens *tokens, struct err *err)
{
	json_auto_t *ssh_key = job_ssh_key(store, row, err);
	json_auto_t *variables = ssh_key ? job_variables(store, row, err) : NULL;
	json_auto_t *job = NULL, *subject = NULL, *options = NULL;

	if (!variables)
		return NULL;
	job = json_pack("{ss ss ss sb sO sO so*}", "token", tokens->token, "run-token", tokens->run_token, "api-url",
		store->settings->public_url, "provider-mirror", store->settings->has_provider_mirror, "ssh-key",
		ssh_key, "variables", variables, "rescue", job_rescue(store, tokens->rescue));
	if (identity_add(store, row, tokens, job, err) < 0 || provider_sets_add(row, tokens, job, err) < 0)
		return NULL;
	subject = job_subject(row);
	options = job_options(row);
	if (json_object_update(job, subject) < 0 || json_object_update(job, options) < 0) {
		err_set(err, ERR_INTERNAL, "%s has a job that can't be written as JSON", row->run);
		return NULL;
	}
	return json_incref(job);
}
