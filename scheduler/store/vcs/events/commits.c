/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/events/commits.h"

#include "scheduler/db/sql_time.h"
#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/git_jobs.h"
#include "scheduler/store/vcs/github_app.h"

/* ---- contents ---- */

static int content_read(struct store *store, const struct vcs_commit *commit, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select id, state = 'stored' as stored from vcs_contents where repository_id = $1 and sha = $2 and "
		"submodules = $3 for share",
		P_TEXT(commit->repository_id), P_TEXT(commit->sha), P_BOOL(commit->submodules));
}

int vcs_content_of(
	struct store *store, const struct vcs_commit *commit, struct id *ret_id, bool *ret_stored, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (content_read(store, commit, &rows, err) < 0)
		return -1;
	if (!rows.count) {
		rows_release(&rows);
		rows = (struct rows)ROWS_INIT;
		if (db_query(store->db, NULL, err,
			    "insert into vcs_contents (id, repository_id, sha, submodules) values ($1, $2, $3, $4) "
			    "on conflict do nothing",
			    P_TEXT(id_new("vc").text), P_TEXT(commit->repository_id), P_TEXT(commit->sha),
			    P_BOOL(commit->submodules)) < 0 ||
			content_read(store, commit, &rows, err) < 0)
			return -1;
	}
	if (!rows.count)
		return err_set(err, ERR_UNAVAILABLE, "the content was deleted meanwhile");
	text_copy(ret_id->text, ID_SIZE, row_text(&rows, 0, "id"));
	*ret_stored = row_bool(&rows, 0, "stored");
	return 0;
}

/* ---- configuration versions ---- */

int vcs_configurations_create(
	struct store *store, const struct vcs_ingress *ingress, const json_t *versions, struct err *err)
{
	_cleanup_(freep) char *text = json_text(versions), *detail = json_text(ingress->detail);
	struct db_param number = P_INT(ingress->pull_request);

	if (!ingress->pull_request)
		number.kind = DB_NULL;
	if (db_queue(store->db, err,
		    "insert into configuration_versions (id, workspace_id, source, auto_queue_runs, speculative, "
		    "created_by) select u.id, u.workspace_id, $2, false, $3, $4 from jsonb_to_recordset($1::jsonb) as "
		    "u(id text, workspace_id text)",
		    P_TEXT(text), P_TEXT(ingress->source), P_BOOL(ingress->pull_request != 0),
		    P_TEXT(ingress->actor)) < 0)
		return -1;
	if (db_queue(store->db, err,
		    "insert into configuration_commits (configuration_version_id, id, content_id, event_id, sha, "
		    "branch, tag, pull_request, is_pull_request, detail) select u.id, 'ia' || substr(u.id, 3), "
		    "u.content_id, $2, $3, $4, $5, $6, $6::bigint is not null, $7::jsonb from "
		    "jsonb_to_recordset($1::jsonb) as u(id text, content_id text)",
		    P_TEXT(text), P_TEXT(ingress->event_id), P_TEXT(ingress->sha), P_TEXT(ingress->branch),
		    P_TEXT(ingress->tag), number, P_TEXT(detail)) < 0)
		return -1;
	if (ingress->pull_request)
		return 0;
	return db_queue(store->db, err,
		"update workspaces w set current_configuration_id = u.version from (select w.id, u.id as version from "
		"jsonb_to_recordset($1::jsonb) as u(id text, workspace_id text) join workspaces w on w.id = "
		"u.workspace_id order by w.id for no key update of w) u where w.id = u.id",
		P_TEXT(text));
}

int vcs_commit_describe(
	struct store *store, const char *repository_id, const char *sha, const json_t *commit, struct err *err)
{
	const char *message = json_string_at(commit, "message");

	if (!message || !*message)
		return 0;
	if (db_query(store->db, NULL, err,
		    "update vcs_events set detail = detail || jsonb_build_object('message', $3::text) || case when $4 "
		    "<> '' and coalesce(detail ->> 'author', '') = '' then jsonb_build_object('author', $4::text) else "
		    "'{}' end where repository_id = $1 and sha = $2 and coalesce(detail ->> 'message', '') = ''",
		    P_TEXT(repository_id), P_TEXT(sha), P_TEXT(message),
		    P_TEXT(text_or_empty(json_string_at(commit, "author")))) < 0)
		return -1;
	/* A run's message is that of its commit, once it is known. */
	if (db_query(store->db, NULL, err,
		    "update run_inputs i set message = left(split_part($3::text, E'\\n', 1), 500) from "
		    "configuration_commits k join vcs_contents v on v.id = k.content_id where v.repository_id = $1 and "
		    "k.sha = $2 and i.configuration_version_id = k.configuration_version_id and coalesce(k.detail ->> "
		    "'commit-message', '') = '' and i.source = 'tfe-configuration-version'",
		    P_TEXT(repository_id), P_TEXT(sha), P_TEXT(message)) < 0)
		return -1;
	return db_query(store->db, NULL, err,
		"update configuration_commits k set detail = k.detail || jsonb_build_object('commit-message', "
		"$3::text) from vcs_contents v where v.id = k.content_id and v.repository_id = $1 and k.sha = $2 and "
		"coalesce(k.detail ->> 'commit-message', '') = ''",
		P_TEXT(repository_id), P_TEXT(sha), P_TEXT(message));
}

int vcs_ingress_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err,
		"select k.*, r.identifier as repository, c.created_by, c.workspace_id from configuration_commits k "
		"join configuration_versions c on c.id = k.configuration_version_id left join vcs_contents v on v.id = "
		"k.content_id left join vcs_repositories r on r.id = v.repository_id where k.id = any($1::text[])",
		P_ARRAY(ids));
}

/* ---- policy sets ---- */

int vcs_policy_repository_read(struct store *store, const char *policy_set_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select a.repository_id, r.identifier, a.ingress_submodules, " VCS_DIALECT_COLUMNS
		    ", coalesce(c.http_url, $2) as http_url from policy_set_repositories a join "
		    "vcs_repositories r on r.id = a.repository_id left join vcs_connections c on c.id = "
		    "r.connection_id where a.policy_set_id = $1",
		    P_TEXT(policy_set_id), P_TEXT(github_app_url(store->settings->github_app))) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "the policy set has no repository");
}

static int policy_contents_fetch(struct store *store, const json_t *versions, struct err *err)
{
	const json_t *version;
	size_t i;

	json_array_foreach(versions, i, version)
	{
		if (!json_bool_at(version, "stored", false) &&
			git_job_fetch(store, json_string_at(version, "content_id"), err) < 0)
			return -1;
	}
	return 0;
}

/* clang-format off */
static const char versions_sql[] =
	"with version as (insert into policy_set_versions (id, policy_set_id, status, source, status_timestamps) "
	"select u.id, u.policy_set_id, 'ingressing', $2, " SQL_STAMP("pending-at") " || " SQL_STAMP("ingressing-at") " "
	"from jsonb_to_recordset($1::jsonb) as u(id text, policy_set_id text) returning id) "
	"update policy_sets s set newest_version_id = u.id from jsonb_to_recordset($1::jsonb) as "
	"u(id text, policy_set_id text) where s.id = u.policy_set_id";
/* clang-format on */

/* The rows whose content is here are ready at once (vcs_policy_versions_end). */
int vcs_policy_versions_create(
	struct store *store, const struct vcs_ingress *ingress, const json_t *versions, struct err *err)
{
	_cleanup_(freep) char *text = json_text(versions), *detail = json_text(ingress->detail);

	if (db_query(store->db, NULL, err, versions_sql, P_TEXT(text), P_TEXT(ingress->source)) < 0)
		return -1;
	if (db_query(store->db, NULL, err,
		    "insert into policy_set_version_commits (policy_set_version_id, content_id, event_id, sha, detail) "
		    "select u.id, u.content_id, $2, $3, $4::jsonb from jsonb_to_recordset($1::jsonb) as u(id text, "
		    "content_id text)",
		    P_TEXT(text), P_TEXT(ingress->event_id), P_TEXT(ingress->sha), P_TEXT(detail)) < 0)
		return -1;
	return policy_contents_fetch(store, versions, err);
}

/* clang-format off */
static const char ended_sql[] =
	"update policy_set_versions p set status = case when $2::text is null then 'ready' else 'errored' end, "
	"blob_id = case when $2::text is null then v.blob_id end, "
	"error = case when $2::text is not null then 'ingress_error' end, error_message = $2, "
	"status_timestamps = p.status_timestamps || case when $2::text is null then " SQL_STAMP("ready-at") " else "
	SQL_STAMP("errored-at") " end, updated_at = now() "
	"from policy_set_version_commits k join vcs_contents v on v.id = k.content_id "
	"where k.content_id = $1 and p.id = k.policy_set_version_id and p.status = 'ingressing'";
/* clang-format on */

int vcs_policy_versions_end(struct store *store, const char *content_id, const char *sentence, struct err *err)
{
	if (db_query(store->db, NULL, err, ended_sql, P_TEXT(content_id), P_TEXT(sentence)) < 0)
		return -1;
	return db_query(store->db, NULL, err,
		"update policy_sets s set current_version_id = (select id from policy_set_versions where "
		"policy_set_id = s.id and status = 'ready' order by created_at desc, id desc limit 1) where s.id = "
		"any(array(select p.policy_set_id from policy_set_version_commits k join policy_set_versions p on p.id "
		"= k.policy_set_version_id where k.content_id = $1)) and $2::text is null",
		P_TEXT(content_id), P_TEXT(sentence));
}
