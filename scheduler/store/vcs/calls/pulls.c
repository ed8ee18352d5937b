/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/calls/pulls.h"

#include "scheduler/store/vcs/calls/pulls.sql.h"
#include "scheduler/store/vcs/git_jobs.h"

enum { MAX_ENQUEUED = 100, MAX_ASKED = 50, OLD_SECONDS = 240, REPOSITORY_SECONDS = 12 };

/* ---- when ---- */

int vcs_pulls_want(struct store *store, const struct vcs_pulls_wish *wish, struct err *err)
{
	return db_queue(store->db, err, vcs_pulls_want, .repository_id = wish->repository_id,
		.known_to = wish->known_to < 0 ? NULL : &wish->known_to, .now = wish->now, .old_s = OLD_SECONDS,
		.repository_s = REPOSITORY_SECONDS, .in_refs = wish->known_to >= 0);
}

int vcs_pulls_enqueue(struct store *store, struct err *err)
{
	return vcs_calls_enqueue(store, VCS_FOR_PULLS, &vcs_pulls_enqueue_statement, MAX_ENQUEUED, err);
}

/* ---- the request ---- */

int vcs_pulls_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const json_t *ask = json_at(call->arguments, "ask");

	ret_prepared->arguments = json_deep_copy(call->arguments);
	ret_prepared->operation = VCS_OP_PULLS;
	if (ask) {
		ret_prepared->operation = VCS_OP_PULL;
		json_object_set(ret_prepared->arguments, "number", json_array_get(ask, 0));
	}
	if (json_at(call->arguments, "began"))
		return 0;
	if (db_query(store->db, &rows, err, vcs_pulls_now) < 0)
		return -1;
	json_object_set_new(ret_prepared->arguments, "began", json_string(row_of(vcs_pulls_now, &rows, 0)->now));
	return 0;
}

/* ---- the pull requests in the database ---- */

int vcs_pulls_known_to(struct store *store, const char *repository_id, long long *ret_number, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_pulls_known_to_row *row = NULL;

	if (db_query(store->db, &rows, err, vcs_pulls_known_to, .repository_id = repository_id) < 0)
		return -1;
	if (rows.count)
		row = row_of(vcs_pulls_known_to, &rows, 0);
	*ret_number = row && !row->known_to_null ? row->known_to : -1;
	return 0;
}

int vcs_pulls_known(struct store *store, const char *repository_id, const json_t *numbers, const char *began,
	struct rows *ret_rows, struct err *err)
{
	_cleanup_(freep) char *text = json_text(numbers);

	return db_query(store->db, ret_rows, err, vcs_pulls_known, .repository_id = repository_id, .numbers = text,
		.began = began);
}

int vcs_pulls_unlisted(struct store *store, const char *repository_id, const json_t *seen, const char *began,
	json_t **ret_numbers, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *text = json_text(seen);

	if (db_query(store->db, &rows, err, vcs_pulls_unlisted, .repository_id = repository_id, .seen = text,
		    .began = began, .max = MAX_ASKED) < 0)
		return -1;
	*ret_numbers = json_array();
	for (int i = 0; i < rows.count; i++)
		json_array_append_new(*ret_numbers, json_integer(row_of(vcs_pulls_unlisted, &rows, i)->number));
	return 0;
}

int vcs_pulls_read_end(struct store *store, const char *repository_id, long long top, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_pulls_read_end, .repository_id = repository_id, .top = top);
}
