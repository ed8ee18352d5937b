/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/events/approvals.h"

#include "scheduler/store/vcs/events/approvals.sql.h"
#include "scheduler/store/vcs/events/wake.h"

static int not_allowed(struct err *err, const char *why)
{
	err_set(err, ERR_CONFLICT, "%s", why);
	text_copy(err->title, sizeof(err->title), "transition not allowed");
	return -1;
}

int vcs_approval_read(struct store *store, const char *event_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, vcs_approval_workspaces, .event_id = event_id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "event not found");
}

struct approval {
	struct store *store;
	const char *event_id;
	struct db_array *workspace_ids;
};

static int give_in(void *data, struct err *err)
{
	const struct approval *a = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(a->store->db, &rows, err, vcs_pull_request_approve, .event_id = a->event_id,
		    .workspace_ids = a->workspace_ids) < 0)
		return -1;
	if (!db_affected(&rows))
		return not_allowed(err,
			"the event does not wait for an approval, or the pull request is closed or has a newer head");
	if (db_query(a->store->db, NULL, err, vcs_event_approved, .event_id = a->event_id) < 0)
		return -1;
	return vcs_wake(a->store, err);
}

int vcs_approval_give(struct store *store, const char *event_id, struct db_array *workspace_ids, struct err *err)
{
	struct approval a = {store, event_id, workspace_ids};

	return db_transaction(store->db, give_in, &a, err);
}

int vcs_repository_of_workspace(
	struct store *store, const char *workspace_id, struct id *ret_repository, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, vcs_repository_of_workspace, .workspace_id = workspace_id) < 0)
		return -1;
	if (!rows.count)
		return not_allowed(err, "the workspace is not connected to a repository");
	text_copy(ret_repository->text, ID_SIZE, row_of(vcs_repository_of_workspace, &rows, 0)->repository_id);
	return 0;
}
