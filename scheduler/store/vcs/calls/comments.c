/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/calls/comments.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/store/vcs/calls/comment_text.h"
#include "scheduler/store/vcs/calls/comments.sql.h"

enum { MAX_ENQUEUED = 500, MAX_PAGES = 10, MAX_ROWS = 60, FIRST_ERROR = 2000 };

int vcs_comment_renew(struct store *store, const char *event_id, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_comment_renew, .event_id = event_id);
}

int vcs_comments_enqueue(struct store *store, struct err *err)
{
	return vcs_calls_enqueue(store, VCS_FOR_COMMENT, &vcs_comments_enqueue_statement, MAX_ENQUEUED, err);
}

/* ---- the request ---- */

static long long number_of(const struct vcs_claimed *call)
{
	long long number = 0;

	text_number(call->subject, 1, INT64_MAX, &number);
	return number;
}

static int comment_read(struct store *store, const struct vcs_claimed *call, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_comment_lock, .repository_id = call->repository_id,
		.number = number_of(call));
}

/* The workspaces that the pull request's newest event affects, and their runs: the newest of each for the commit. */
static int affected_read(
	struct store *store, const struct vcs_comment_lock_row *comment, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_comment_runs, .repository_id = comment->repository_id,
		.pull_request = comment->pull_request, .first_error = FIRST_ERROR, .sha = text_or_empty(comment->sha),
		.max_rows = MAX_ROWS);
}

static struct comment_line line_of(const struct vcs_comment_runs_row *row)
{
	return (struct comment_line){.workspace = row->workspace,
		.run = row->run,
		.status = row->status,
		.error = row->error,
		.planned = !row->additions_null,
		.additions = row->additions_null ? 0 : row->additions,
		.changes = row->changes_null ? 0 : row->changes,
		.destructions = row->destructions_null ? 0 : row->destructions};
}

static int body_make(struct store *store, const struct vcs_comment_lock_row *comment, char **ret_body, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct comment_line lines[MAX_ROWS];
	struct comment_text text = {.public_url = store->settings->public_url,
		.organization = comment->organization,
		.marker = comment->marker,
		.event = comment->event_id,
		.sha = comment->sha,
		.closed = text_equal(comment->kind, "pr_close"),
		.lines = lines};

	if (affected_read(store, comment, &rows, err) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		lines[text.count++] = line_of(row_of(vcs_comment_runs, &rows, i));
	text.total = rows.count ? row_of(vcs_comment_runs, &rows, 0)->total : 0;
	*ret_body = comment_write(&text);
	return 0;
}

/* Prepares an edit of the known comment, or a new one. */
static int write_prepare(struct store *store, const struct vcs_claimed *call,
	const struct vcs_comment_lock_row *comment, struct vcs_prepared *prepared, struct err *err)
{
	const char *external = comment->external_id;
	_cleanup_(freep) char *body = NULL;

	if (body_make(store, comment, &body, err) < 0)
		return -1;
	prepared->arguments = json_pack("{sI ss sI}", "number", (json_int_t)number_of(call), "body", body, "version",
		(json_int_t)(comment->external_version_null ? 0 : comment->external_version));
	prepared->operation = external ? VCS_OP_COMMENT_EDIT : VCS_OP_COMMENT_CREATE;
	if (external)
		json_object_set_new(prepared->arguments, "comment", json_string(external));
	/* From now on there may be a comment that is not known, until the answer is here. */
	if (external)
		return 0;
	return db_query(store->db, NULL, err, vcs_comment_unsure, .repository_id = call->repository_id,
		.number = number_of(call));
}

int vcs_comment_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_comment_lock_row *comment;

	ret_prepared->operation = VCS_OPERATIONS;
	if (comment_read(store, call, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	comment = row_of(vcs_comment_lock, &rows, 0);
	if (comment->sent_version >= comment->version)
		return 0;
	ret_prepared->version = comment->version;
	if (!comment->external_id && comment->unsure) {
		ret_prepared->operation = VCS_OP_COMMENTS;
		ret_prepared->arguments = json_pack("{sI sI}", "number", (json_int_t)number_of(call), "page",
			(json_int_t)json_int_at(call->arguments, "page", 1));
		return 0;
	}
	return write_prepare(store, call, comment, ret_prepared, err);
}

/* ---- answers ---- */

/* `unsure` ends: the comment is known, or it is known that there is none. */
static int known_store(struct store *store, const struct vcs_claimed *call, const json_t *comment, struct err *err)
{
	const json_t *version = json_at(comment, "version");
	long long number = json_int_at(comment, "version", 0);

	return db_query(store->db, NULL, err, vcs_comment_known, .repository_id = call->repository_id,
		.pull_request = number_of(call), .external_id = json_string_at(comment, "id"),
		.external_version = json_is_integer(version) ? &number : NULL);
}

static const json_t *marked_find(const char *name, const json_t *result)
{
	const json_t *items = json_at(result, "items");
	_cleanup_(freep) char *marker = comment_marker(name);

	for (size_t i = 0; i < json_array_size(items); i++) {
		const char *body = json_string_at(json_array_get(items, i), "body");

		if (body && strstr(body, marker))
			return json_array_get(items, i);
	}
	return NULL;
}

static int listed(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_comment_lock_row *comment;
	long long next = json_int_at(result, "next", 0);
	const json_t *marked;

	if (comment_read(store, call, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	comment = row_of(vcs_comment_lock, &rows, 0);
	marked = marked_find(comment->marker, result);
	if (!marked && next && next <= MAX_PAGES) {
		*ret_goes_on = json_pack("{sI}", "page", (json_int_t)next);
		return 0;
	}
	*ret_goes_on = json_object();
	return known_store(store, call, marked, err);
}

int vcs_comment_step(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err)
{
	if (call->operation == VCS_OP_COMMENTS)
		return listed(store, call, result, ret_goes_on, err);
	if (known_store(store, call, result, err) < 0)
		return -1;
	return db_query(store->db, NULL, err, vcs_comment_sent, .repository_id = call->repository_id,
		.number = number_of(call), .version = call->version);
}

/* A comment that was deleted, or changed by others since, is looked for again. */
int vcs_comment_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err)
{
	if (call->operation == VCS_OP_COMMENT_EDIT && !json_bool_at(call->arguments, "anew", false)) {
		*ret_goes_on = json_object();
		return db_query(store->db, NULL, err, vcs_comment_forget, .repository_id = call->repository_id,
			.number = number_of(call));
	}
	return db_query(store->db, NULL, err, vcs_comment_refused, .repository_id = call->repository_id,
		.number = number_of(call), .version = call->version, .why = verdict->why);
}
