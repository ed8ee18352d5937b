/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/events.h"

#include "scheduler/store/vcs/git_jobs.h"

int vcs_wake(struct store *store, struct err *err)
{
	return db_queue(store->db, err, "select pg_notify('runyard_vcs', '')");
}

/* The organization and the connection of the repository $2. An id without a repository inserts nothing. */
#define INSERT                                                                                                         \
	"insert into vcs_events (id, organization_id, connection_id, repository_id, found_by, kind, ref, sha, "        \
	"detail, state) select $1, r.organization_id, r.connection_id, r.id, "

/* The members of a request are those of the event's detail, too. */
static json_t *request_detail(const struct vcs_request *request)
{
	json_t *detail = json_pack("{ss}", "subject", request->subject_id);

	if (request->actor)
		json_object_set_new(detail, "actor", json_string(request->actor));
	if (request->again)
		json_object_set_new(detail, "again", json_true());
	return detail;
}

int vcs_event_request(struct store *store, const struct vcs_request *request, struct id *ret_id, struct err *err)
{
	json_auto_t *detail = request_detail(request);
	_cleanup_(freep) char *text = json_text(detail);
	struct id id = id_new("ve");

	if (db_query(store->db, NULL, err,
		    INSERT "'request', 'push', '', coalesce($3, ''), $4::jsonb, 'looking' "
			   "from vcs_repositories r where r.id = $2",
		    P_TEXT(id.text), P_TEXT(request->repository_id), P_TEXT(request->sha), P_TEXT(text)) < 0 ||
		git_job_look(store, request->repository_id, err) < 0)
		return -1;
	*ret_id = id;
	return vcs_wake(store, err);
}
