/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/calls/pulls.h"

#include "scheduler/store/vcs/calls/pulls.sql.h"
#include "scheduler/store/vcs/git_jobs.h"

enum { MAX_ENQUEUED = 100, MAX_ASKED = 50, OLD_SECONDS = 240, REPOSITORY_SECONDS = 12 };

/* ---- when ---- */

/*
 * Refs do not show that a pull request was opened again. So a repository with a pull request that was closed less than
 * a week ago is read, too.
 *
 * Parameters: $1 the repository, $2 known_to, $3 read now, $6 the refs show new pull requests. A read is old after $4
 * seconds, but not before $5 seconds for each repository of the connection.
 */
/* clang-format off */
static const char want_sql[] =
	"insert into vcs_pull_reads as p (repository_id, known_to, due_at) select r.id, $2, now() "
	"from vcs_repositories r left join vcs_connections c on c.id = r.connection_id "
	"left join vcs_pull_reads d on d.repository_id = r.id "
	"where r.id = $1 and c.provider is distinct from 'git' "
	"and exists (select 1 from workspace_repositories w where w.repository_id = r.id) "
	"and (d.repository_id is null or d.due_at is null and ($3 or (not $6 or exists "
	"(select 1 from vcs_pull_requests q where q.repository_id = r.id and q.state = 'open') or exists "
	"(select 1 from vcs_pull_requests q where q.repository_id = r.id and q.state = 'closed' "
	"and q.updated_at > now() - interval '7 days')) "
	"and coalesce(d.read_at < now() - make_interval(secs => greatest($4, $5 * (select count(*) from vcs_repositories o "
	"where o.connection_id = r.connection_id or o.installation_id = r.installation_id))), true))) "
	"on conflict (repository_id) do update set due_at = coalesce(p.due_at, excluded.due_at)";
/* clang-format on */

int vcs_pulls_want(struct store *store, const struct vcs_pulls_wish *wish, struct err *err)
{
	struct db_param known_to = P_INT(wish->known_to);

	if (wish->known_to < 0)
		known_to.kind = P_NULL;
	return db_queue_sql(store->db, err, want_sql, P_TEXT(wish->repository_id), known_to, P_BOOL(wish->now),
		P_INT(OLD_SECONDS), P_INT(REPOSITORY_SECONDS), P_BOOL(wish->known_to >= 0));
}

/* clang-format off */
static const char enqueue_sql[] =
	"with due as (update vcs_pull_reads set due_at = null where repository_id = any(array(select repository_id "
	"from vcs_pull_reads where due_at <= now() order by due_at limit $4 for update skip locked)) "
	"returning repository_id) "
	CALLS_INSERT("organization_id, connection_id, installation_id, repository_id",
		"v.organization_id, v.connection_id, v.installation_id, v.id from due d "
		"join vcs_repositories v on v.id = d.repository_id");
/* clang-format on */

int vcs_pulls_enqueue(struct store *store, struct err *err)
{
	return db_query_sql(store->db, NULL, err, enqueue_sql, CALL_TRAITS(VCS_FOR_PULLS), P_INT(MAX_ENQUEUED));
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
	if (db_query(store->db, &rows, err, vcs_pulls_prepare) < 0)
		return -1;
	json_object_set_new(ret_prepared->arguments, "began", json_string(row_of(vcs_pulls_prepare, &rows, 0)->now));
	return 0;
}

/* ---- the pull requests in the database ---- */

int vcs_pulls_known_to(struct store *store, const char *repository_id, long long *ret_number, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, vcs_pulls_known_to, .repository_id = repository_id) < 0)
		return -1;
	*ret_number = rows.count && !row_of(vcs_pulls_known_to, &rows, 0)->known_to_null
		? row_of(vcs_pulls_known_to, &rows, 0)->known_to
		: -1;
	return 0;
}

int vcs_pulls_known(struct store *store, const char *repository_id, const json_t *numbers, const char *began,
	struct rows *ret_rows, struct err *err)
{
	_cleanup_(freep) char *text = json_text(numbers);

	return db_query(
		store->db, ret_rows, err, vcs_pulls_known, .repository_id = repository_id, .p2 = text, .began = began);
}

int vcs_pulls_unlisted(struct store *store, const char *repository_id, const json_t *seen, const char *began,
	json_t **ret_numbers, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	_cleanup_(freep) char *text = json_text(seen);

	if (db_query(store->db, &rows, err, vcs_pulls_unlisted, .repository_id = repository_id, .p2 = text,
		    .began = began, .max_asked = MAX_ASKED) < 0)
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
