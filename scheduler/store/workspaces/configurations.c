/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workspaces/configurations.h"

#include "scheduler/store/content/blobs.h"
#include "scheduler/store/workspaces/configurations.sql.h"

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "configuration version not found");
}

struct creation {
	struct store *store;
	const struct configuration_order *order;
	struct id id;
};

static int create_in(void *data, struct err *err)
{
	struct creation *c = data;
	const struct configuration_order *order = c->order;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	c->id = id_new("cv");
	if (db_query(c->store->db, &rows, err, configuration_insert, .id = c->id.text,
		    .workspace_id = order->workspace_id, .source = order->source,
		    .auto_queue_runs = order->auto_queue_runs, .speculative = order->speculative,
		    .provisional = order->provisional, .created_by = order->created_by) < 0)
		return -1;
	if (!rows.count)
		return err_set(err, ERR_CONFLICT,
			"the workspace was made from a no-code module, which has its configuration: upgrade it "
			"instead");
	if (row_of(configuration_insert, &rows, 0)->speculative || order->provisional)
		return 0;
	return db_query(c->store->db, NULL, err, configuration_make_current, .workspace_id = order->workspace_id,
		.id = c->id.text);
}

int configuration_create(
	struct store *store, const struct configuration_order *order, struct id *ret_id, struct err *err)
{
	struct creation c = {.store = store, .order = order};

	if (db_transaction(store->db, create_in, &c, err) < 0)
		return -1;
	*ret_id = c.id;
	return 0;
}

int configuration_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, configuration_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

int configuration_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, configuration_of_run, .run_id = run_id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "run not found");
}

int configurations_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, configurations_read_all, .ids = ids);
}

int configuration_files_current(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, configuration_files_current, .workspace_id = workspace_id);
}

int configurations_list(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, configurations_list, .workspace_id = workspace_id,
		.limit = range.limit, .offset = range.offset);
}

/* ---- the archive ---- */

struct upload {
	struct store *store;
	const char *id;
	struct bytes archive;
	bool first;
};

static int upload_in(void *data, struct err *err)
{
	struct upload *u = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct configuration_lock_row *old;
	struct id blob;

	if (db_query(u->store->db, &rows, err, configuration_lock, .id = u->id) < 0)
		return -1;
	if (!rows.count)
		return not_found(err);
	if (blob_put_shared(u->store, u->archive.data, u->archive.len, &blob, err) < 0)
		return -1;
	old = row_of(configuration_lock, &rows, 0);
	u->first = !text_equal(old->status, "uploaded") || !text_equal(old->blob_id, blob.text);
	if (!u->first)
		return 0;
	if (text_equal(old->status, "archived") || old->used)
		return err_set(err, ERR_CONFLICT, "the configuration version was uploaded already, and is in use");
	return db_query(u->store->db, NULL, err, configuration_set_uploaded, .id = u->id, .blob_id = blob.text);
}

int configuration_upload(struct store *store, const char *id, struct bytes archive, bool *ret_first, struct err *err)
{
	struct upload u = {.store = store, .id = id, .archive = archive};

	if (db_transaction(store->db, upload_in, &u, err) < 0)
		return -1;
	*ret_first = u.first;
	return 0;
}

int configuration_set_files(struct store *store, const char *id, const char *blob_id, struct err *err)
{
	return db_query(store->db, NULL, err, configuration_set_uploaded, .id = id, .blob_id = blob_id);
}

int configuration_refuse(struct store *store, const char *id, const char *why, struct err *err)
{
	return db_query(store->db, NULL, err, configuration_refuse, .id = id, .why = why);
}

struct archiving {
	struct store *store;
	const char *id;
};

static int not_allowed(struct err *err, const char *why)
{
	err_set(err, ERR_CONFLICT, "%s", why);
	text_copy(err->title, sizeof(err->title), "transition not allowed");
	return -1;
}

static int archive_in(void *data, struct err *err)
{
	const struct archiving *a = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	const struct configuration_use_lock_row *version;

	if (db_query(a->store->db, &rows, err, configuration_use_lock, .id = a->id) < 0)
		return -1;
	if (!rows.count)
		return not_found(err);
	version = row_of(configuration_use_lock, &rows, 0);
	if (version->is_commit)
		return not_allowed(err,
			"configuration could not be archived because it came from a repository: it is archived when no "
			"run needs it");
	if (!text_equal(version->status, "uploaded"))
		return not_allowed(err, "configuration could not be archived because it is not uploaded");
	if (version->current)
		return not_allowed(err, "configuration could not be archived because it is current");
	if (version->used)
		return not_allowed(err, "configuration could not be archived because a run needs it");
	return db_query(a->store->db, NULL, err, configuration_set_archived, .id = a->id);
}

int configuration_archive(struct store *store, const char *id, struct err *err)
{
	struct archiving a = {store, id};

	return db_transaction(store->db, archive_in, &a, err);
}
