/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/calls/event_asks.h"

#include "scheduler/store/vcs/calls/calls.h"
#include "scheduler/store/vcs/calls/event_asks.sql.h"

enum { FILES_SECONDS = 60, COMMIT_SECONDS = 3600 };

int vcs_commit_ask(struct store *store, const char *event_id, const char *repository_id, struct err *err)
{
	const struct vcs_call call = {.repository_id = repository_id, .purpose = VCS_FOR_COMMIT, .subject = event_id};

	if (db_query(store->db, NULL, err, vcs_event_await_commit, .event_id = event_id,
		    .max_seconds = COMMIT_SECONDS) < 0)
		return -1;
	return vcs_call_add(store, &call, err);
}

int vcs_files_ask(struct store *store, const char *event_id, const char *why, bool *ret_asked, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct vcs_call call = {.purpose = VCS_FOR_FILES, .subject = event_id};

	*ret_asked = false;
	if (db_query(store->db, &rows, err, vcs_event_await_files, .event_id = event_id, .why = why,
		    .max_seconds = FILES_SECONDS) < 0)
		return -1;
	if (!rows.count)
		return 0;
	*ret_asked = true;
	call.repository_id = row_of(vcs_event_await_files, &rows, 0)->repository_id;
	return vcs_call_add(store, &call, err);
}

int vcs_event_reads_expire(struct store *store, struct err *err)
{
	if (db_query(store->db, NULL, err, vcs_files_expire) < 0)
		return -1;
	return db_query(store->db, NULL, err, vcs_commits_expire);
}
