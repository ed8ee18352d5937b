/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/events/heads.h"

#include "scheduler/store/vcs/events/heads.sql.h"

int vcs_subjects_read(struct store *store, const char *repository_id, const char *subject_id,
	const struct vcs_head *head, struct rows *ret_rows, struct err *err)
{
	const struct db_statement *statement = subject_id ? &vcs_subject_read_statement : &vcs_subjects_read_statement;

	return db_query_one_of(store->db, ret_rows, err, statement, vcs_subjects_read, .repository_id = repository_id,
		.subject_id = subject_id, .kind = head->kind, .pull_request = head->pull_request, .sha = head->sha,
		.event_id = head->event_id);
}

int vcs_outcomes_write(struct store *store, const char *event_id, const json_t *outcomes, struct err *err)
{
	_cleanup_(freep) char *text = json_text(outcomes);

	return db_queue(store->db, err, vcs_outcomes_write, .event_id = event_id, .outcomes = text);
}

int vcs_heads_write(struct store *store, const struct vcs_head *head, const json_t *outcomes, struct err *err)
{
	_cleanup_(freep) char *text = json_text(outcomes);

	return db_queue(store->db, err, vcs_heads_write, .event_id = head->event_id, .outcomes = text,
		.kind = head->kind, .pull_request = head->pull_request, .sha = head->sha);
}

/* ---- earlier runs ---- */

static const struct db_statement *const earlier[] = {
	[VCS_EARLIER_PENDING] = &vcs_earlier_pending_statement,
	[VCS_EARLIER_HEADS] = &vcs_earlier_heads_statement,
	[VCS_EARLIER_ALL] = &vcs_earlier_all_statement,
};

int vcs_earlier_runs_read(
	struct store *store, const struct vcs_earlier_runs *runs, struct rows *ret_rows, struct err *err)
{
	return db_query_one_of(store->db, ret_rows, err, earlier[runs->which], vcs_earlier_pending,
		.workspace_ids = runs->workspace_ids, .branch = text_or_empty(runs->branch),
		.sha = text_or_empty(runs->sha), .pull_request = runs->pull_request);
}
