/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/contents.h"

#include "proto/states.h"
#include "scheduler/store/vcs/contents.sql.h"
#include "scheduler/store/vcs/git_jobs.h"

_Static_assert(STAGE_BIT(STAGE_FETCH) == 1, "the fragment contents_fetches holds it as a number");

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

int vcs_contents_take(struct store *store, struct db_array *configuration_ids, struct err *err)
{
	return db_queue(store->db, err, vcs_contents_take, .configuration_ids = configuration_ids);
}

/* ---- those who bring it ---- */

static int configurations_store(struct store *store, const struct vcs_content *content, struct err *err)
{
	return db_queue(store->db, err, vcs_configurations_store, .id = content->id, .blob_id = content->blob_id);
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

	if (db_query(store->db, &rows, err, vcs_content_fail, .id = id, .sentence = sentence) < 0)
		return -1;
	*ret_known = rows.count > 0;
	if (!rows.count)
		return 0;
	return db_queue(store->db, err, vcs_configurations_fail, .id = id, .sentence = sentence);
}

/* The statements after the locks see what was committed while other transactions held them. */
int vcs_contents_of_connection(struct store *store, const char *connection_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, NULL, err, vcs_contents_lock_repositories, .connection_id = connection_id) < 0 ||
		db_query(store->db, NULL, err, vcs_contents_lock, .connection_id = connection_id) < 0)
		return -1;
	return db_query(store->db, ret_rows, err, vcs_contents_awaited, .connection_id = connection_id);
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

/* Locks contents, at most MAX_SWEPT, and collects their ids. */
static int locked_read(struct sweep *s, const struct db_statement *statement, struct db_array *ret_ids, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query_one_of(s->store->db, &rows, err, statement, vcs_contents_unused, .max = MAX_SWEPT) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		db_array_add(ret_ids, row_of(vcs_content_id, &rows, i)->id);
	s->any = rows.count > 0;
	return 0;
}

/* The statements after the lock see what was committed while another transaction held it. */
static int archive_in(void *data, struct err *err)
{
	struct sweep *s = data;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;

	if (locked_read(s, &vcs_contents_unused_statement, &ids, err) < 0)
		return -1;
	if (!s->any)
		return 0;
	if (db_query(s->store->db, NULL, err, vcs_configurations_archive, .ids = &ids) < 0)
		return -1;
	return db_query(s->store->db, NULL, err, vcs_contents_archive, .ids = &ids);
}

static int give_up_in(void *data, struct err *err)
{
	struct sweep *s = data;
	_cleanup_(db_array_release) struct db_array ids = DB_ARRAY_INIT;

	if (locked_read(s, &vcs_fetches_unneeded_statement, &ids, err) < 0)
		return -1;
	if (!s->any)
		return 0;
	if (db_query(s->store->db, NULL, err, vcs_fetches_delete, .ids = &ids) < 0)
		return -1;
	return db_query(s->store->db, NULL, err, vcs_configurations_give_up, .ids = &ids);
}

/* Creates missing git jobs of contents for which configuration versions wait. */
static int jobs_restore(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, vcs_fetches_missing, .max = MAX_SWEPT) < 0)
		return -1;
	for (int i = 0; i < rows.count; i++)
		if (git_job_fetch(store, row_of(vcs_content_id, &rows, i)->id, err) < 0)
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
