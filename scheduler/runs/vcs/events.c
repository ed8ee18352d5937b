/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/runs/vcs/events.h"

int vcs_refs_seen(struct store *store, const char *repository_id, const json_t *refs, struct err *err)
{
	_cleanup_(freep) char *text = json_text(refs);

	return db_query(store->db, NULL, err,
		"with seen as (select key as name, value as sha from jsonb_each_text($2::jsonb)), "
		"gone as (delete from vcs_refs r where r.repository_id = $1 and not exists (select 1 from seen s "
		"where s.name = r.name)) "
		"insert into vcs_refs (repository_id, name, sha) select $1, name, sha from seen "
		"on conflict (repository_id, name) do update set sha = excluded.sha where vcs_refs.sha <> excluded.sha",
		P_TEXT(repository_id), P_TEXT(text));
}

int vcs_look_failed(struct store *store, const char *repository_id, const char *sentence, struct err *err)
{
	(void)store;
	(void)repository_id;
	(void)sentence;
	(void)err;
	return 0;
}

int vcs_files_known(struct store *store, const char *event_id, const json_t *files, const char *note, struct err *err)
{
	_cleanup_(freep) char *text = files ? json_text(files) : NULL;

	return db_query(store->db, NULL, err,
		"update vcs_events set files = $2::jsonb, files_note = $3, state = 'waiting' where id = $1",
		P_TEXT(event_id), P_TEXT(text), P_TEXT(note));
}

int vcs_commit_known(
	struct store *store, const char *repository_id, const char *sha, const json_t *commit, struct err *err)
{
	_cleanup_(freep) char *text = json_text(commit);

	return db_query(store->db, NULL, err,
		"update vcs_events set detail = detail || $3::jsonb where repository_id = $1 and sha = $2 "
		"and coalesce(detail ->> 'message', '') = ''",
		P_TEXT(repository_id), P_TEXT(sha), P_TEXT(text));
}
