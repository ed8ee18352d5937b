/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/calls/event_asks.h"

#include "scheduler/store/vcs/calls/calls.h"

enum { FILES_SECONDS = 60, COMMIT_SECONDS = 3600 };

int vcs_commit_ask(struct store *store, const char *event_id, const char *repository_id, struct err *err)
{
	const struct vcs_call call = {.repository_id = repository_id, .purpose = VCS_FOR_COMMIT, .subject = event_id};

	if (db_query(store->db, NULL, err,
		    "update vcs_events set state = 'looking', due_at = now() + make_interval(secs => $2) where id = $1",
		    P_TEXT(event_id), P_INT(COMMIT_SECONDS)) < 0)
		return -1;
	return vcs_call_add(store, &call, err);
}

int vcs_files_ask(struct store *store, const char *event_id, const char *why, bool *ret_asked, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct vcs_call call = {.purpose = VCS_FOR_FILES, .subject = event_id};

	*ret_asked = false;
	if (db_query(store->db, &rows, err,
		    "update vcs_events e set files_note = $2, due_at = now() + make_interval(secs => $3) from "
		    "vcs_repositories r left join vcs_connections c on c.id = r.connection_id where e.id = $1 and "
		    "e.state = 'comparing' and r.id = e.repository_id and c.provider is distinct from 'git' returning "
		    "e.repository_id",
		    P_TEXT(event_id), P_TEXT(why), P_INT(FILES_SECONDS)) < 0)
		return -1;
	if (!rows.count)
		return 0;
	*ret_asked = true;
	call.repository_id = row_text(&rows, 0, "repository_id");
	return vcs_call_add(store, &call, err);
}

int vcs_event_reads_expire(struct store *store, struct err *err)
{
	if (db_query(store->db, NULL, err,
		    "update vcs_events set state = 'waiting', due_at = now() where state = 'comparing' and due_at <= "
		    "now() and files_note is not null") < 0)
		return -1;
	return db_query(store->db, NULL, err,
		"update vcs_events set state = 'done', level = 'error', done_at = now(), message = 'The head commit of "
		"the pull request is not known: the provider did not answer.' where state = 'looking' and due_at <= "
		"now() and sha = '' and pull_request is not null");
}
