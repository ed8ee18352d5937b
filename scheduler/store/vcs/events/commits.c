/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/events/commits.h"

#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/events/commits.sql.h"
#include "scheduler/store/vcs/git_jobs.h"
#include "scheduler/store/vcs/github_app.h"

/* ---- contents ---- */

static int content_read(struct store *store, const struct vcs_commit *commit, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_content_find, .repository_id = commit->repository_id,
		.sha = commit->sha, .submodules = commit->submodules, .directory = commit->directory);
}

int vcs_content_of(
	struct store *store, const struct vcs_commit *commit, struct id *ret_id, bool *ret_stored, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_content_find_row *row;

	if (content_read(store, commit, &rows, err) < 0)
		return -1;
	if (!rows.count) {
		rows_release(&rows);
		rows = (struct rows)ROWS_INIT;
		if (db_query(store->db, NULL, err, vcs_content_ensure, .new_id = id_new("vc").text,
			    .repository_id = commit->repository_id, .sha = commit->sha,
			    .submodules = commit->submodules, .directory = commit->directory) < 0 ||
			content_read(store, commit, &rows, err) < 0)
			return -1;
	}
	if (!rows.count)
		return err_set(err, ERR_UNAVAILABLE, "the content was deleted meanwhile");
	row = row_of(vcs_content_find, &rows, 0);
	text_copy(ret_id->text, ID_SIZE, row->id);
	*ret_stored = row->stored;
	return 0;
}

/* ---- configuration versions ---- */

int vcs_configurations_create(
	struct store *store, const struct vcs_ingress *ingress, const json_t *versions, struct err *err)
{
	_cleanup_(freep) char *text = json_text(versions), *detail = json_text(ingress->detail);
	long long number = ingress->pull_request;

	if (db_queue(store->db, err, vcs_configurations_insert, .versions = text, .source = ingress->source,
		    .speculative = number != 0, .actor = ingress->actor) < 0)
		return -1;
	if (db_queue(store->db, err, vcs_configuration_commits_insert, .versions = text, .event_id = ingress->event_id,
		    .sha = ingress->sha, .branch = ingress->branch, .tag = ingress->tag,
		    .pull_request = number ? &number : NULL, .detail = detail) < 0)
		return -1;
	if (number)
		return 0;
	return db_queue(store->db, err, vcs_configurations_current, .versions = text);
}

int vcs_commit_describe(
	struct store *store, const char *repository_id, const char *sha, const json_t *commit, struct err *err)
{
	const char *message = json_string_at(commit, "message");

	if (!message || !*message)
		return 0;
	if (db_query(store->db, NULL, err, vcs_commit_describe_events, .repository_id = repository_id, .sha = sha,
		    .message = message, .author = text_or_empty(json_string_at(commit, "author"))) < 0)
		return -1;
	if (db_query(store->db, NULL, err, vcs_commit_describe_runs, .repository_id = repository_id, .sha = sha,
		    .message = message) < 0)
		return -1;
	return db_query(store->db, NULL, err, vcs_commit_describe_configurations, .repository_id = repository_id,
		.sha = sha, .message = message);
}

int vcs_ingress_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, vcs_ingress_read_all, .ids = ids);
}

/* ---- policy sets ---- */

int vcs_policy_repository_read(struct store *store, const char *policy_set_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, vcs_policy_repository_read, .policy_set_id = policy_set_id,
		    .github_app_url = github_app_url(store->settings->github_app)) < 0)
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

/* The rows whose content is here are ready at once (vcs_policy_versions_end). */
int vcs_policy_versions_create(
	struct store *store, const struct vcs_ingress *ingress, const json_t *versions, struct err *err)
{
	_cleanup_(freep) char *text = json_text(versions), *detail = json_text(ingress->detail);

	if (db_query(store->db, NULL, err, vcs_policy_versions_insert, .versions = text, .source = ingress->source) < 0)
		return -1;
	if (db_query(store->db, NULL, err, vcs_policy_commits_insert, .versions = text, .event_id = ingress->event_id,
		    .sha = ingress->sha, .detail = detail) < 0)
		return -1;
	return policy_contents_fetch(store, versions, err);
}

int vcs_policy_versions_end(struct store *store, const char *content_id, const char *sentence, struct err *err)
{
	if (db_query(store->db, NULL, err, vcs_policy_versions_end, .content_id = content_id, .sentence = sentence) < 0)
		return -1;
	return db_query(store->db, NULL, err, vcs_policy_sets_current, .content_id = content_id, .sentence = sentence);
}
