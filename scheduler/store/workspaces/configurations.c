/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workspaces/configurations.h"

#include "scheduler/db/sql_time.h"
#include "scheduler/store/content/blobs.h"

#define COLUMNS                                                                                                        \
	"c.id, c.workspace_id, c.status, c.source, c.auto_queue_runs, c.speculative, c.provisional, c.blob_id, "       \
	"c.error, c.error_message, c.status_timestamps, c.created_by, c.created_at, "                                  \
	"(select k.id from configuration_commits k where k.configuration_version_id = c.id) as ingress_id, "           \
	"(select i.run_id from run_inputs i join runs r on r.id = i.run_id "                                           \
	"where i.configuration_version_id = c.id order by r.position limit 1) as run_id "

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
	/* What is uploaded into a workspace with a repository can only be planned. */
	if (db_query(c->store->db, &rows, err,
		    "insert into configuration_versions (id, workspace_id, source, auto_queue_runs, speculative, "
		    "provisional, created_by) values ($1, $2, $3, $4, $5 or exists (select 1 from "
		    "workspace_repositories where workspace_id = $2), $6, $7) returning speculative",
		    P_TEXT(c->id.text), P_TEXT(order->workspace_id), P_TEXT(order->source),
		    P_BOOL(order->auto_queue_runs), P_BOOL(order->speculative), P_BOOL(order->provisional),
		    P_TEXT(order->created_by)) < 0)
		return -1;
	if (row_bool(&rows, 0, "speculative") || order->provisional)
		return 0;
	return db_query(c->store->db, NULL, err, "update workspaces set current_configuration_id = $2 where id = $1",
		P_TEXT(order->workspace_id), P_TEXT(c->id.text));
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
	if (db_query(store->db, ret_rows, err, "select " COLUMNS "from configuration_versions c where c.id = $1",
		    P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

int configuration_of_run(struct store *store, const char *run_id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err,
		    "select " COLUMNS "from configuration_versions c where c.id = "
		    "(select configuration_version_id from run_inputs where run_id = $1)",
		    P_TEXT(run_id)) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "run not found");
}

int configurations_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err,
		"select " COLUMNS "from configuration_versions c where c.id = any($1::text[])", P_ARRAY(ids));
}

int configuration_files_current(struct store *store, const char *workspace_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select c.blob_id, w.working_directory from workspaces w join configuration_versions c "
		"on c.id = w.current_configuration_id where w.id = $1 and c.blob_id is not null",
		P_TEXT(workspace_id));
}

int configurations_list(
	struct store *store, const char *workspace_id, struct list_range range, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select t.total, c.* from "
		"(select count(*) as total from configuration_versions where workspace_id = $1) t left join "
		"(select " COLUMNS "from configuration_versions c where c.workspace_id = $1 "
		"order by c.created_at desc, c.id limit $2 offset $3) c on true order by c.created_at desc, c.id",
		P_TEXT(workspace_id), P_INT(range.limit), P_INT(range.offset));
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
	struct id blob;
	const char *status;

	if (db_query(u->store->db, &rows, err,
		    "select status, blob_id, exists (select 1 from run_inputs where configuration_version_id = $1) "
		    "as used from configuration_versions where id = $1 for update",
		    P_TEXT(u->id)) < 0)
		return -1;
	if (!rows.count)
		return not_found(err);
	if (blob_put_shared(u->store, u->archive.data, u->archive.len, &blob, err) < 0)
		return -1;
	status = row_text(&rows, 0, "status");
	u->first = !text_equal(status, "uploaded") || !text_equal(row_text(&rows, 0, "blob_id"), blob.text);
	if (!u->first)
		return 0;
	if (text_equal(status, "archived") || row_bool(&rows, 0, "used"))
		return err_set(err, ERR_CONFLICT, "the configuration version was uploaded already, and is in use");
	return db_query(u->store->db, NULL, err,
		"update configuration_versions set status = 'uploaded', blob_id = $2, error = null, "
		"error_message = null, status_timestamps = status_timestamps || " SQL_STAMP(
			"finished-at") " where id = $1",
		P_TEXT(u->id), P_TEXT(blob.text));
}

int configuration_upload(struct store *store, const char *id, struct bytes archive, bool *ret_first, struct err *err)
{
	struct upload u = {.store = store, .id = id, .archive = archive};

	if (db_transaction(store->db, upload_in, &u, err) < 0)
		return -1;
	*ret_first = u.first;
	return 0;
}

int configuration_refuse(struct store *store, const char *id, const char *why, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update configuration_versions set status = 'errored', error = 'invalid_archive', error_message = $2 "
		"where id = $1 and status = 'pending'",
		P_TEXT(id), P_TEXT(why));
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

	if (db_query(a->store->db, &rows, err,
		    "select c.status, exists (select 1 from configuration_commits k where k.configuration_version_id = "
		    "c.id) as is_commit, exists (select 1 from workspaces w where w.current_configuration_id = c.id) "
		    "as "
		    "current, exists (select 1 from run_inputs i join runs r on r.id = i.run_id "
		    "where i.configuration_version_id = c.id and not r.ended) as used "
		    "from configuration_versions c where c.id = $1 for update",
		    P_TEXT(a->id)) < 0)
		return -1;
	if (!rows.count)
		return not_found(err);
	if (row_bool(&rows, 0, "is_commit"))
		return not_allowed(err,
			"configuration could not be archived because it came from a repository: it is archived when no "
			"run needs it");
	if (!text_equal(row_text(&rows, 0, "status"), "uploaded"))
		return not_allowed(err, "configuration could not be archived because it is not uploaded");
	if (row_bool(&rows, 0, "current"))
		return not_allowed(err, "configuration could not be archived because it is current");
	if (row_bool(&rows, 0, "used"))
		return not_allowed(err, "configuration could not be archived because a run needs it");
	return db_query(a->store->db, NULL, err,
		"update configuration_versions set status = 'archived', blob_id = null, "
		"status_timestamps = status_timestamps || " SQL_STAMP("archived-at") " where id = $1",
		P_TEXT(a->id));
}

int configuration_archive(struct store *store, const char *id, struct err *err)
{
	struct archiving a = {store, id};

	return db_transaction(store->db, archive_in, &a, err);
}
