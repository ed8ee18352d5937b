/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/job_document.h"

#include <time.h>

#include "scheduler/lifecycle/run.h"
#include "scheduler/store/content/object_url.h"
#include "scheduler/store/content/rescues.h"
#include "scheduler/store/content/seals.h"

/* Bounds each of the two variable texts of a run: an earlier version created runs with more than RUN_VARIABLES_LIMIT
 * (store/variables/variables.h). */
enum { JOB_VARIABLES_LIMIT = 24 << 20, SSH_KEY_LIMIT = 1 << 20 };

/* The stages that read the plan's JSON before the apply or after it. */
static const uint32_t reads_json = STAGE_BIT(STAGE_POST_PLAN) | STAGE_BIT(STAGE_OPA) | STAGE_BIT(STAGE_COST) |
	STAGE_BIT(STAGE_SENTINEL) | STAGE_BIT(STAGE_PRE_APPLY) | STAGE_BIT(STAGE_POST_APPLY);

#define HAS_BLOB(kind)                                                                                                 \
	"(select blob_id from operation_blobs where operation_id = p.id and kind = '" kind "') is not null"

/* One row per job of $1, with the columns of job_document.def; $2 is reads_json. Every table is read by its primary
 * key. */
static const char documents_sql[] =
	"select 1 as one"
#define MEMBER(name, kind, sql) ", " sql " as \"" name "\""
#define COLUMN(name, sql)       ", " sql " as " name
#include "scheduler/runs/job_document.def"
#undef MEMBER
#undef COLUMN
	" from jobs j cross join lateral (select case when j.stage = 'apply' then 'apply-seconds' else 'plan-seconds' "
	"end as name) t join runs r on r.id = j.run_id join run_inputs i on i.run_id = r.id "
	"join workspaces w on w.id = j.workspace_id join organizations g on g.id = w.organization_id "
	"join projects x on x.id = w.project_id "
	"left join ssh_keys s on s.id = w.ssh_key_id and j.stage in ('plan', 'apply') "
	"and not exists (select 1 from configuration_commits k where k.configuration_version_id = "
	"i.configuration_version_id and k.detail @> '{\"from-fork\": true}') "
	"join operations p on p.id = 'plan' || substr(r.id, 4) join agent_pools ap on ap.id = j.pool_id "
	"left join organizations ao on ao.id = ap.organization_id where j.id = any($1::text[])";

int job_documents_ask(struct store *store, struct db_array *job_ids, struct rows *ret_rows, struct err *err)
{
	return db_ask_sql(store->db, ret_rows, err, documents_sql, P_ARRAY(job_ids), P_INT(reads_json));
}

/* ---- sealed members ---- */

/* Returns the sealed column's JSON, an empty array if it is null, or NULL with *err. A new reference. */
static json_t *open_json(struct store *store, const struct rows *rows, int row, const char *column, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(JOB_VARIABLES_LIMIT);
	json_t *value;

	if (row_null(rows, row, column))
		return json_array();
	if (seal_open(store, row_text(rows, row, "run"), (struct sealed_column){rows, row, column}, &text, err) < 0 ||
		json_parse(buf_str(&text), text.len, &value, err) < 0)
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
static json_t *job_variables(struct store *store, const struct rows *rows, int row, struct err *err)
{
	json_auto_t *snapshot = open_json(store, rows, row, "snapshot_sealed", err);
	json_auto_t *own = snapshot ? open_json(store, rows, row, "variables_sealed", err) : NULL;
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

/* The private key that the run fetches modules with; "" if its workspace has no key. A new reference, or NULL with
 * *err. */
static json_t *job_ssh_key(struct store *store, const struct rows *rows, int row, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(SSH_KEY_LIMIT);
	const char *id = row_text(rows, row, "ssh_key_id");

	if (id && seal_open(store, id, (struct sealed_column){rows, row, "ssh_key_sealed"}, &text, err) < 0)
		return NULL;
	return json_string(buf_str(&text));
}

/* ---- all members ---- */

enum member_kind { TEXT, NUMBER, FLAG, TREE };

static const struct member {
	const char *name;
	enum member_kind kind;
} members[] = {
#define MEMBER(name, kind, sql) {name, kind},
#define COLUMN(name, sql)
#include "scheduler/runs/job_document.def"
#undef MEMBER
#undef COLUMN
};

/* NULL if the column is null. */
static json_t *member_value(const struct rows *rows, int row, const struct member *member)
{
	if (row_null(rows, row, member->name))
		return NULL;
	switch (member->kind) {
	case TEXT:
		return json_string(row_text(rows, row, member->name));
	case NUMBER:
		return json_integer(row_int(rows, row, member->name));
	case FLAG:
		return json_boolean(row_bool(rows, row, member->name));
	case TREE:
		return row_json(rows, row, member->name);
	}
	return NULL;
}

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

json_t *job_document(
	struct store *store, const struct rows *rows, int row, const struct job_tokens *tokens, struct err *err)
{
	json_auto_t *ssh_key = job_ssh_key(store, rows, row, err);
	json_auto_t *variables = ssh_key ? job_variables(store, rows, row, err) : NULL;
	json_auto_t *job = NULL;

	if (!variables)
		return NULL;
	job = json_pack("{ss ss ss ss sO sO so*}", "token", tokens->token, "run-token", tokens->run_token, "api-url",
		store->settings->public_url, "stop", stop_name((enum stop)row_int(rows, row, "stop")), "ssh-key",
		ssh_key, "variables", variables, "rescue", job_rescue(store, tokens->rescue));
	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (json_object_set_new(job, members[i].name, member_value(rows, row, &members[i])) < 0) {
			err_set(err, ERR_INTERNAL, "%s has no %s that can be written down", row_text(rows, row, "run"),
				members[i].name);
			return NULL;
		}
	return json_incref(job);
}
