/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/git_jobs.h"

/* Of the repository `r`: its pool, else the shared one. */
#define POOL                                                                                                           \
	"coalesce((select c.pool_id from vcs_connections c where c.id = r.connection_id), (select id from "            \
	"agent_pools where organization_id is null)) "
#define INSERT                                                                                                         \
	"insert into git_jobs (id, kind, organization_id, repository_id, content_id, event_id, pool_id) "              \
	"select $2, "

int git_job_look(struct store *store, const char *repository_id, struct err *err)
{
	return db_queue(store->db, err,
		INSERT "'look', r.organization_id, r.id, null, null, " POOL
		       "from vcs_repositories r where r.id = $1 on conflict do nothing",
		P_TEXT(repository_id), P_TEXT(id_new("gj").text));
}

int git_job_diff(struct store *store, const char *event_id, struct err *err)
{
	return db_queue(store->db, err,
		INSERT "'diff', r.organization_id, r.id, null, e.id, " POOL
		       "from vcs_events e join vcs_repositories r on r.id = e.repository_id where e.id = $1 "
		       "on conflict do nothing",
		P_TEXT(event_id), P_TEXT(id_new("gj").text));
}

int git_job_fetch(struct store *store, const char *content_id, struct err *err)
{
	return db_queue(store->db, err,
		INSERT "'fetch', r.organization_id, r.id, v.id, null, " POOL
		       "from vcs_contents v join vcs_repositories r on r.id = v.repository_id where v.id = $1 "
		       "on conflict do nothing",
		P_TEXT(content_id), P_TEXT(id_new("gj").text));
}
