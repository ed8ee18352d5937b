/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/events/refs.h"

#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/events/refs.sql.h"
#include "scheduler/store/vcs/git_jobs.h"
#include "scheduler/store/vcs/events/wake.h"
#include "scheduler/store/vcs/github_app.h"
#include "scheduler/vcs/event.h"

enum { MAX_LOOKS = 100, LOOK_AGAIN_SECONDS = 600 };

int vcs_repository_lock(struct store *store, const char *repository_id, struct rows *ret_rows, struct err *err)
{
	if (db_queue(store->db, err, vcs_repository_lock, .repository_id = repository_id) < 0)
		return -1;
	return db_query(store->db, ret_rows, err, vcs_repository_locked, .repository_id = repository_id,
		.app_url = github_app_url(store->settings->github_app));
}

/* Holds no lock while it makes the job, because the result of a look locks the job first, then the repository. The
 * result sets the time of the next look, and until then the repository is not due. But if a look was requested after
 * `due` was read, the repository stays due, since this look may have begun before the request. */
static int look_begin(struct store *store, const char *repository_id, const char *due, struct err *err)
{
	if (git_job_look(store, repository_id, err) < 0)
		return -1;
	return db_query(store->db, NULL, err, vcs_look_begin, .repository_id = repository_id,
		.look_again_seconds = LOOK_AGAIN_SECONDS, .due = due);
}

int vcs_looks_due(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, vcs_looks_due, .max = MAX_LOOKS) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++) {
		const struct vcs_looks_due_row *row = row_of(vcs_looks_due, &rows, i);

		if (look_begin(store, row->id, row->look_due, err) < 0)
			return -1;
	}
	return 0;
}

int vcs_look_now(struct store *store, const char *repository_id, struct err *err)
{
	if (db_query(store->db, NULL, err, vcs_look_now, .repository_id = repository_id) < 0)
		return -1;
	return vcs_wake(store, err);
}

/* ---- refs ---- */

int vcs_refs_read(struct store *store, const char *repository_id, const char *began, json_t **ret_refs,
	json_t **ret_newer, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, vcs_refs_read, .repository_id = repository_id, .began = began) < 0)
		return -1;
	*ret_refs = json_object();
	*ret_newer = json_object();
	for (int i = 0; i < rows.count; i++) {
		const struct vcs_refs_read_row *ref = row_of(vcs_refs_read, &rows, i);

		json_object_set_new(*ret_refs, ref->name, json_string(ref->sha));
		if (ref->newer)
			json_object_set_new(*ret_newer, ref->name, json_true());
	}
	return 0;
}

int vcs_ref_read(struct store *store, const char *repository_id, const char *ref, const char *other,
	struct vcs_seen *ret_seen, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_ref_read_row *row;

	if (db_query(store->db, &rows, err, vcs_ref_read, .repository_id = repository_id, .ref = ref, .other = other) <
		0)
		return -1;
	row = row_of(vcs_ref_read, &rows, 0);
	text_copy(ret_seen->ref, sizeof(ret_seen->ref), text_or_empty(row->ref));
	text_copy(ret_seen->other, sizeof(ret_seen->other), text_or_empty(row->other));
	return 0;
}

int vcs_refs_write(
	struct store *store, const char *repository_id, const char *began, const json_t *refs, struct err *err)
{
	_cleanup_(freep) char *text = json_text(refs);

	return db_query(
		store->db, NULL, err, vcs_refs_write, .repository_id = repository_id, .began = began, .refs = text);
}

int vcs_ref_write(struct store *store, const char *repository_id, const char *ref, const char *sha, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_ref_write, .repository_id = repository_id, .ref = ref, .sha = sha);
}

int vcs_branches_followed(struct store *store, const char *repository_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_branches_followed, .repository_id = repository_id);
}

int vcs_subject_branch(
	struct store *store, const char *repository_id, const char *subject_id, char **ret_branch, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, vcs_subject_branch, .repository_id = repository_id,
		    .subject_id = subject_id) < 0)
		return -1;
	*ret_branch = rows.count ? mem_text(row_of(vcs_subject_branch, &rows, 0)->branch) : NULL;
	return 0;
}

/* ---- pull requests ---- */

int vcs_pull_requests_read(struct store *store, const char *repository_id, long long number, const char *began,
	struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_pull_requests_read, .repository_id = repository_id,
		.number = number, .began = began);
}

int vcs_pull_requests_of_head(
	struct store *store, const char *repository_id, const char *sha, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_pull_requests_of_head, .repository_id = repository_id, .sha = sha,
		.max = VCS_EVENTS_MAX);
}

int vcs_pull_request_write(struct store *store, const struct vcs_pull_request *pull_request, struct err *err)
{
	_cleanup_(freep) char *text = json_text(pull_request->detail);

	return db_query(store->db, NULL, err, vcs_pull_request_write, .repository_id = pull_request->repository_id,
		.number = pull_request->number, .head_sha = pull_request->head_sha, .is_open = pull_request->is_open,
		.detail = text);
}

/* ---- the repository itself ---- */

int vcs_repository_rename(struct store *store, const char *repository_id, const char *identifier,
	struct vcs_renaming *ret_renaming, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_repository_rename_row *row = NULL;

	if (db_query(store->db, &rows, err, vcs_repository_rename, .repository_id = repository_id,
		    .identifier = identifier) < 0)
		return -1;
	if (rows.count)
		row = row_of(vcs_repository_rename, &rows, 0);
	*ret_renaming = (struct vcs_renaming){
		.changed = row && row->changed, .taken = row && row->taken, .before = mem_text(row ? row->before : "")};
	return 0;
}

int vcs_repository_note(
	struct store *store, const char *repository_id, const char *default_branch, const char *error, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_repository_note, .repository_id = repository_id,
		.default_branch = default_branch, .error = error);
}

int vcs_repository_doubt(struct store *store, const char *repository_id, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_repository_doubt, .repository_id = repository_id);
}

int vcs_commit_came(struct store *store, const char *repository_id, const char *sha, bool *ret_came, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, vcs_commit_came, .repository_id = repository_id, .sha = sha) < 0)
		return -1;
	*ret_came = row_of(vcs_commit_came, &rows, 0)->came;
	return 0;
}
