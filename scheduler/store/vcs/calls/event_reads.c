/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/calls/event_reads.h"

#include "common/vcs/ref.h"
#include "scheduler/store/vcs/calls/event_reads.sql.h"
#include "scheduler/store/vcs/events.h"

enum { MAX_PAGES = 10, MAX_FILES = 5000 };

static int event_read(struct store *store, const struct vcs_claimed *call, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_event_commits, .event_id = call->subject);
}

/* ---- the commit ---- */

int vcs_commit_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_event_commits_row *event;

	if (event_read(store, call, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	event = row_of(vcs_event_commits, &rows, 0);
	if (*event->sha || !event->short_sha)
		return 0;
	ret_prepared->operation = VCS_OP_COMMIT;
	ret_prepared->arguments = json_pack("{ss}", "sha", event->short_sha);
	return 0;
}

static int commit_end(struct store *store, const struct vcs_claimed *call, const char *why, struct err *err)
{
	_cleanup_(freep) char *message = mem_printf("The head commit of the pull request is not known. %s", why);

	return vcs_event_end(store, &(struct vcs_end){.id = call->subject, .message = message, .is_error = true}, err);
}

int vcs_commit_step(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err)
{
	const char *sha = json_string_at(result, "sha"), *asked = json_string_at(call->arguments, "sha");

	(void)ret_goes_on;
	if (!vcs_sha_valid(sha) || !text_starts(sha, text_or_empty(asked)))
		return commit_end(store, call, "The provider answered with another commit.", err);
	if (db_query(store->db, NULL, err, vcs_event_commit_found, .event_id = call->subject, .sha = sha,
		    .message = json_string_at(result, "message"), .author = json_string_at(result, "author")) < 0)
		return -1;
	return vcs_wake(store, err);
}

int vcs_commit_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err)
{
	(void)ret_goes_on;
	return commit_end(store, call, verdict->why, err);
}

/* ---- the files ---- */

/* The arguments of a comparison. A new branch is compared with the default branch. */
static json_t *files_arguments(const struct vcs_event_commits_row *event)
{
	long long number = event->pull_request;
	const char *before = event->before_sha;
	const char *base = number ? event->base : *before ? before : event->default_branch;

	return json_pack("{sI ss ss}", "number", (json_int_t)number, "base", text_or_empty(base), "head", event->sha);
}

int vcs_files_prepare(
	struct store *store, const struct vcs_claimed *call, struct vcs_prepared *ret_prepared, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct vcs_event_commits_row *event;

	if (event_read(store, call, &rows, err) < 0)
		return -1;
	if (!rows.count)
		return 0;
	event = row_of(vcs_event_commits, &rows, 0);
	if (!text_equal(event->state, "comparing"))
		return 0;
	ret_prepared->arguments =
		json_at(call->arguments, "head") ? json_deep_copy(call->arguments) : files_arguments(event);
	ret_prepared->operation = event->pull_request ? VCS_OP_PULL_FILES : VCS_OP_COMPARE;
	if (!vcs_operation_exists(call->dialect, ret_prepared->operation))
		ret_prepared->operation = VCS_OP_COMPARE;
	return 0;
}

static int files_end(
	struct store *store, const struct vcs_claimed *call, const json_t *files, const char *why, struct err *err)
{
	_cleanup_(freep) char *text = files ? json_text(files) : NULL;

	if (db_query(store->db, NULL, err, vcs_event_files_found, .event_id = call->subject, .files = text,
		    .why = why) < 0)
		return -1;
	return vcs_wake(store, err);
}

int vcs_files_step(struct store *store, const struct vcs_claimed *call, const json_t *result, json_t **ret_goes_on,
	struct err *err)
{
	json_auto_t *files = json_copy((json_t *)json_at(result, "files"));
	json_t *before = (json_t *)json_at(call->arguments, "files");
	long long next = json_int_at(result, "next", 0);

	if (before)
		json_array_extend(files, before);
	if (!json_bool_at(result, "whole", false) || next > MAX_PAGES || json_array_size(files) > MAX_FILES)
		return files_end(store, call, NULL, "The provider does not list all changed files.", err);
	if (!next)
		return files_end(store, call, files, NULL, err);
	*ret_goes_on = json_deep_copy(call->arguments);
	json_object_set(*ret_goes_on, "files", files);
	json_object_set_new(*ret_goes_on, "page", json_integer(next));
	return 0;
}

int vcs_files_refused(struct store *store, const struct vcs_claimed *call, const struct vcs_verdict *verdict,
	json_t **ret_goes_on, struct err *err)
{
	(void)ret_goes_on;
	return files_end(store, call, NULL, verdict->why, err);
}
