/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/contents.h"

#include "proto/states.h"
#include "scheduler/db/sql_time.h"
#include "scheduler/store/vcs/contents.sql.h"
#include "scheduler/store/vcs/git_jobs.h"

/* The runs of the content `v` that have not ended, as r: found by configuration_commits_content and
 * run_inputs_configuration. */
#define RUNS_OF(v)                                                                                                     \
	"from configuration_commits k join run_inputs i on i.configuration_version_id = k.configuration_version_id "   \
	"join runs r on r.id = i.run_id where k.content_id = " v " and not r.ended "
#define FETCHES "and r.stages & 1 <> 0 and r.status in ('pending', 'fetching') "
_Static_assert(STAGE_BIT(STAGE_FETCH) == 1, "the fragment holds it as a number");

/* ---- those who need a content ---- */

int vcs_contents_share(
	struct store *store, struct db_array *configuration_ids, struct db_array *workspace_ids, struct err *err)
{
	return db_queue(store->db, err, vcs_contents_share, .configuration_ids = configuration_ids,
		.workspace_ids = workspace_ids);
}

int vcs_contents_read_shared(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_contents_read_shared, .ids = ids);
}

int vcs_contents_fetch(struct store *store, struct db_array *configuration_ids, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, vcs_contents_fetch, .configuration_ids = configuration_ids) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		if (git_job_fetch(store, row_of(vcs_contents_fetch, &rows, i)->content_id, err) < 0)
			return -1;
	return 0;
}

/* The ids are on both sides of the join, because a content may have the commits of a thousand workspaces. */
int vcs_contents_take(struct store *store, struct db_array *configuration_ids, struct err *err)
{
	return db_queue(store->db, err, vcs_contents_take, .configuration_ids = configuration_ids);
}

/* ---- those who bring it ---- */

static int configurations_store(struct store *store, const struct vcs_content *content, struct err *err)
{
	return db_queue(store->db, err, configurations_store, .id = content->id, .blob_id = content->blob_id);
}

int vcs_content_store(
	struct store *store, const struct vcs_content *content, bool *ret_known, bool *ret_differs, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, vcs_content_store, .id = content->id, .blob_id = content->blob_id,
		    .hash = content->hash, .size = content->size) < 0)
		return -1;
	*ret_known = rows.count > 0;
	*ret_differs = rows.count > 0 && row_of(vcs_content_store, &rows, 0)->differs;
	return rows.count ? configurations_store(store, content, err) : 0;
}

int vcs_content_fail(struct store *store, const char *id, const char *sentence, bool *ret_known, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, vcs_content_fail_update, .id = id, .sentence = sentence) < 0)
		return -1;
	*ret_known = rows.count > 0;
	if (!rows.count)
		return 0;
	return db_queue(store->db, err, vcs_content_fail_update_2, .id = id, .sentence = sentence);
}

int vcs_content_runs(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_content_runs, .id = id);
}

/* ---- the sweep ---- */

enum { MAX_SWEPT = 50 };

struct sweep {
	struct store *store;
	bool any;
};

/* Collects the ids of the locked contents. */
static int locked_read(struct sweep *s, const char *sql, struct db_array *ret_ids, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query_sql(s->store->db, &rows, err, sql, P_INT(MAX_SWEPT)) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		db_array_add(ret_ids, row_text(&rows, i, "id"));
	s->any = rows.count > 0;
	return 0;
}

/* Whether a run of the configuration version `c` has not ended. */
#define IN_USE(c)                                                                                                      \
	"exists (select 1 from run_inputs i join runs r on r.id = i.run_id where i.configuration_version_id = " c      \
	" and not r.ended) "

/* The statements after the lock see what was committed while another transaction held it. */
static int archive_in(void *data, struct err *err)
{
	struct sweep *s = data;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;

	if (locked_read(s,
		    "select v.id from vcs_contents v where v.state = 'stored' and (exists (select 1 from "
		    "configuration_commits k join configuration_versions c on c.id = k.configuration_version_id where "
		    "k.content_id = v.id and c.status = 'uploaded' and not " IN_USE(
			    "c.id") ") or not exists (select 1 from configuration_commits k join "
				    "configuration_versions c on c.id = "
				    "k.configuration_version_id where k.content_id = v.id and c.status = 'uploaded')) "
				    "order by v.id limit $1 for update of v skip locked",
		    &ids, err) < 0)
		return -1;
	if (!s->any)
		return 0;
	if (db_query(s->store->db, NULL, err, contents_archive_update, .ids = &ids) < 0)
		return -1;
	return db_query(s->store->db, NULL, err, contents_archive_update_2, .ids = &ids);
}

#define NEEDED(v)                                                                                                      \
	"(exists (select 1 " RUNS_OF(v) FETCHES                                                                        \
		") or exists (select 1 from policy_set_version_commits p join "                                        \
		"policy_set_versions s on s.id = p.policy_set_version_id where p.content_id = " v " and s.status = "   \
		"'ingressing')) "

static int give_up_in(void *data, struct err *err)
{
	struct sweep *s = data;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;

	if (locked_read(s,
		    "select v.id from git_jobs g join vcs_contents v on v.id = g.content_id where g.kind = 'fetch' and "
		    "not " NEEDED("v.id") "order by v.id limit $1 for update of v, g skip locked",
		    &ids, err) < 0)
		return -1;
	if (!s->any)
		return 0;
	if (db_query(s->store->db, NULL, err, contents_give_up_delete, .ids = &ids) < 0)
		return -1;
	return db_query(s->store->db, NULL, err, contents_give_up_update, .ids = &ids);
}

/* Creates missing git jobs of contents for which configuration versions wait. */
static int jobs_restore(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, jobs_restore, .max_swept = MAX_SWEPT) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		if (git_job_fetch(store, row_of(jobs_restore, &rows, i)->id, err) < 0)
			return -1;
	return 0;
}

int vcs_contents_sweep(struct store *store, struct err *err)
{
	struct sweep s = {.store = store};

	if (jobs_restore(store, err) < 0 || db_transaction(store->db, give_up_in, &s, err) < 0)
		return -1;
	return db_transaction(store->db, archive_in, &s, err);
}
