/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/events/refs.h"

#include "scheduler/store/vcs/connections.h"
#include "scheduler/store/vcs/git_jobs.h"
#include "scheduler/store/vcs/events/wake.h"
#include "scheduler/store/vcs/github_app.h"
#include "scheduler/vcs/event.h"

enum { MAX_LOOKS = 100, LOOK_AGAIN_SECONDS = 600 };

/* clang-format off */
static const char locked_sql[] =
	"select r.id as repository_id, r.organization_id, r.identifier, r.default_branch, r.looked_at, " VCS_DIALECT_COLUMNS
	", coalesce(c.http_url, $2) as http_url, coalesce((select g.claimed_at from git_jobs g where g.kind = 'look' "
	"and g.repository_id = r.id), now()) as look_began from vcs_repositories r "
	"left join vcs_connections c on c.id = r.connection_id where r.id = $1";
/* clang-format on */

int vcs_repository_lock(struct store *store, const char *repository_id, struct rows *ret_rows, struct err *err)
{
	if (db_queue(store->db, err, "select 1 from vcs_repositories where id = $1 for no key update",
		    P_TEXT(repository_id)) < 0)
		return -1;
	return db_query(store->db, ret_rows, err, locked_sql, P_TEXT(repository_id),
		P_TEXT(github_app_url(store->settings->github_app)));
}

/* Holds no lock while it makes the job, because the result of a look locks the job first, then the repository. The
 * result sets the time of the next look, and until then the repository is not due. But if a look was requested after
 * `due` was read, the repository stays due, since this look may have begun before the request. */
static int look_begin(struct store *store, const char *repository_id, const char *due, struct err *err)
{
	if (git_job_look(store, repository_id, err) < 0)
		return -1;
	return db_query(store->db, NULL, err,
		"update vcs_repositories set look_due = now() + make_interval(secs => $2) where id = $1 and look_due = "
		"$3::timestamptz",
		P_TEXT(repository_id), P_INT(LOOK_AGAIN_SECONDS), P_TEXT(due));
}

int vcs_looks_due(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select r.id, r.look_due from vcs_repositories r where r.look_due <= now() and " REPOSITORY_IS_USED(
			    "r") "order by r.look_due limit $1",
		    P_INT(MAX_LOOKS)) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		if (look_begin(store, row_text(&rows, i, "id"), row_text(&rows, i, "look_due"), err) < 0)
			return -1;
	return 0;
}

int vcs_look_now(struct store *store, const char *repository_id, struct err *err)
{
	if (db_query(store->db, NULL, err, "update vcs_repositories set look_due = now() where id = $1",
		    P_TEXT(repository_id)) < 0)
		return -1;
	return vcs_wake(store, err);
}

/* ---- refs ---- */

int vcs_refs_read(struct store *store, const char *repository_id, const char *began, json_t **ret_refs,
	json_t **ret_newer, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select name, sha, updated_at >= $2::timestamptz as newer from vcs_refs where repository_id = $1",
		    P_TEXT(repository_id), P_TEXT(began)) < 0)
		return -1;
	*ret_refs = json_object();
	*ret_newer = json_object();
	for (int i = 0; i < rows.count; i++) {
		const char *name = row_text(&rows, i, "name");

		json_object_set_new(*ret_refs, name, json_string(row_text(&rows, i, "sha")));
		if (row_bool(&rows, i, "newer"))
			json_object_set_new(*ret_newer, name, json_true());
	}
	return 0;
}

int vcs_ref_read(struct store *store, const char *repository_id, const char *ref, const char *other,
	struct vcs_seen *ret_seen, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select (select sha from vcs_refs where repository_id = $1 and name = $2) as ref, "
		    "(select sha from vcs_refs where repository_id = $1 and name = $3) as other",
		    P_TEXT(repository_id), P_TEXT(ref), P_TEXT(other)) < 0)
		return -1;
	text_copy(ret_seen->ref, sizeof(ret_seen->ref), text_or_empty(row_text(&rows, 0, "ref")));
	text_copy(ret_seen->other, sizeof(ret_seen->other), text_or_empty(row_text(&rows, 0, "other")));
	return 0;
}

/* Leaves out unchanged refs, because a conflict would lock, and so write, each of their rows. */
int vcs_refs_write(
	struct store *store, const char *repository_id, const char *began, const json_t *refs, struct err *err)
{
	_cleanup_(freep) char *text = json_text(refs);

	return db_query(store->db, NULL, err,
		"with seen as materialized (select key as name, value as sha from jsonb_each_text($3::jsonb)), "
		"gone as (delete from vcs_refs r where r.repository_id = $1 and r.updated_at < $2::timestamptz and not "
		"exists (select 1 from seen s where s.name = r.name)) "
		"insert into vcs_refs (repository_id, name, sha) select $1, name, sha from seen s where not exists "
		"(select 1 from vcs_refs r where r.repository_id = $1 and r.name = s.name and r.sha = s.sha) "
		"on conflict (repository_id, name) do update set sha = excluded.sha, updated_at = excluded.updated_at "
		"where vcs_refs.sha <> excluded.sha and vcs_refs.updated_at < $2::timestamptz",
		P_TEXT(repository_id), P_TEXT(began), P_TEXT(text));
}

int vcs_ref_write(struct store *store, const char *repository_id, const char *ref, const char *sha, struct err *err)
{
	return db_query(store->db, NULL, err,
		"insert into vcs_refs (repository_id, name, sha) values ($1, $2, $3) "
		"on conflict (repository_id, name) do update set sha = excluded.sha, updated_at = excluded.updated_at",
		P_TEXT(repository_id), P_TEXT(ref), P_TEXT(sha));
}

int vcs_branches_followed(struct store *store, const char *repository_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select branch from workspace_repositories where repository_id = $1 union "
		"select branch from policy_set_repositories where repository_id = $1",
		P_TEXT(repository_id));
}

int vcs_subject_branch(
	struct store *store, const char *repository_id, const char *subject_id, char **ret_branch, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select branch from workspace_repositories where workspace_id = $2 and repository_id = $1 union "
		    "all select branch from policy_set_repositories where policy_set_id = $2 and repository_id = $1",
		    P_TEXT(repository_id), P_TEXT(subject_id)) < 0)
		return -1;
	*ret_branch = rows.count ? mem_text(row_text(&rows, 0, "branch")) : NULL;
	return 0;
}

/* ---- pull requests ---- */

int vcs_pull_requests_read(struct store *store, const char *repository_id, long long number, const char *began,
	struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select number, head_sha, state, detail from vcs_pull_requests where repository_id = $1 "
		"and case when $2 = 0 then state = 'open' and updated_at < $3::timestamptz else number = $2 end "
		"order by number",
		P_TEXT(repository_id), P_INT(number), P_TEXT(began));
}

int vcs_pull_requests_of_head(
	struct store *store, const char *repository_id, const char *sha, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select number, detail from vcs_pull_requests where repository_id = $1 and state = 'open' and head_sha "
		"= $2 order by number limit $3",
		P_TEXT(repository_id), P_TEXT(sha), P_INT(VCS_EVENTS_MAX));
}

int vcs_pull_request_write(struct store *store, const struct vcs_pull_request *pull_request, struct err *err)
{
	_cleanup_(freep) char *text = json_text(pull_request->detail);

	return db_query(store->db, NULL, err,
		"insert into vcs_pull_requests (repository_id, number, head_sha, state, detail) values ($1, $2, $3, "
		"case when $4 then 'open' else 'closed' end, $5::jsonb) on conflict (repository_id, number) do update "
		"set head_sha = excluded.head_sha, state = excluded.state, detail = excluded.detail, updated_at = "
		"now()",
		P_TEXT(pull_request->repository_id), P_INT(pull_request->number), P_TEXT(pull_request->head_sha),
		P_BOOL(pull_request->is_open), P_TEXT(text));
}

/* ---- the repository itself ---- */

/* clang-format off */
/* Uses the key of vcs_repositories, and vcs_repositories_connection or vcs_repositories_organization. */
static const char rename_sql[] =
	"with r as (select id, identifier, organization_id, connection_id, installation_id from vcs_repositories "
	"where id = $1), "
	"taken as (select 1 from r join vcs_repositories o on o.organization_id = r.organization_id and o.id <> r.id "
	"and o.connection_id is not distinct from r.connection_id and o.installation_id is not distinct from "
	"r.installation_id and lower(o.identifier) = lower($2)), "
	"changed as (update vcs_repositories v set identifier = $2 from r where v.id = r.id and "
	"lower(r.identifier) <> lower($2) and not exists (select 1 from taken) returning 1) "
	"select r.identifier as before, exists (select 1 from taken) as taken, exists (select 1 from changed) as "
	"changed from r";
/* clang-format on */

int vcs_repository_rename(struct store *store, const char *repository_id, const char *identifier,
	struct vcs_renaming *ret_renaming, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, rename_sql, P_TEXT(repository_id), P_TEXT(identifier)) < 0)
		return -1;
	*ret_renaming = (struct vcs_renaming){.changed = rows.count && row_bool(&rows, 0, "changed"),
		.taken = rows.count && row_bool(&rows, 0, "taken"),
		.before = mem_text(rows.count ? row_text(&rows, 0, "before") : "")};
	return 0;
}

int vcs_repository_note(
	struct store *store, const char *repository_id, const char *default_branch, const char *error, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update vcs_repositories set default_branch = coalesce(nullif($2, ''), default_branch), "
		"error = coalesce(left($3, 500), error), "
		"state = case when $3::text is null then state else 'errored' end where id = $1",
		P_TEXT(repository_id), P_TEXT(default_branch), P_TEXT(error));
}

int vcs_repository_doubt(struct store *store, const char *repository_id, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update vcs_repositories set state = 'unverified' where id = $1 and external_id is not null",
		P_TEXT(repository_id));
}

int vcs_commit_came(struct store *store, const char *repository_id, const char *sha, bool *ret_came, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err,
		    "select exists (select 1 from configuration_commits k join vcs_contents v on v.id = k.content_id "
		    "where k.sha = $2 and v.repository_id = $1 and not k.is_pull_request) or exists (select 1 from "
		    "vcs_events e where e.repository_id = $1 and e.sha = $2 and e.found_by <> 'request' and (e.kind in "
		    "('push', 'tag') or (e.kind in ('pr_open', 'pr_update') and e.detail ->> 'fork' = 'no'))) as came",
		    P_TEXT(repository_id), P_TEXT(sha)) < 0)
		return -1;
	*ret_came = row_bool(&rows, 0, "came");
	return 0;
}
