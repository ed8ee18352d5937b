/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/policies/policy_set_versions.h"

#include "scheduler/db/sql_time.h"
#include "scheduler/store/content/blobs.h"

/* `ingress`: the commit that it came from, or null. */
#define VIEW                                                                                                           \
	"select v.*, s.organization_id, (select jsonb_build_object('commit-sha', k.sha, 'commit-url', "                \
	"k.detail->>'commit-url', 'identifier', k.detail->>'identifier') from policy_set_version_commits k "           \
	"where k.policy_set_version_id = v.id) as ingress "                                                            \
	"from policy_set_versions v join policy_sets s on s.id = v.policy_set_id "

static int not_found(struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "policy set version not found");
}

struct creation {
	struct store *store;
	const char *policy_set_id;
	struct id id;
};

static int create_in(void *data, struct err *err)
{
	struct creation *c = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	c->id = id_new("polsetver");
	if (db_query(c->store->db, &rows, err,
		    "update policy_sets s set newest_version_id = $2 where id = $1 "
		    "and not exists (select 1 from policy_set_policies where policy_set_id = s.id)",
		    P_TEXT(c->policy_set_id), P_TEXT(c->id.text)) < 0)
		return -1;
	if (!db_affected(&rows))
		return err_set(err, ERR_CONFLICT, "the policy set has single policies: it can't have versions too");
	return db_query(c->store->db, NULL, err,
		"insert into policy_set_versions (id, policy_set_id, status_timestamps) values ($1, $2, " SQL_STAMP(
			"pending-at") ")",
		P_TEXT(c->id.text), P_TEXT(c->policy_set_id));
}

int policy_set_version_create(struct store *store, const char *policy_set_id, struct id *ret_id, struct err *err)
{
	struct creation c = {.store = store, .policy_set_id = policy_set_id};

	if (db_transaction(store->db, create_in, &c, err) < 0)
		return -1;
	*ret_id = c.id;
	return 0;
}

int policy_set_version_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, VIEW "where v.id = $1", P_TEXT(id)) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

int policy_set_versions_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, VIEW "where v.id = any($1::text[]) order by v.created_at, v.id",
		P_ARRAY(ids));
}

/* ---- the archive ---- */

struct upload {
	struct store *store;
	const char *id;
	const void *bytes;
	size_t len;
};

static int upload_in(void *data, struct err *err)
{
	const struct upload *u = data;
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;
	struct id blob;

	if (db_query(u->store->db, &rows, err,
		    "select policy_set_id, status, blob_id from policy_set_versions where id = $1 for update",
		    P_TEXT(u->id)) < 0)
		return -1;
	if (!rows.count)
		return not_found(err);
	if (blob_put_shared(u->store, u->bytes, u->len, &blob, err) < 0)
		return -1;
	if (text_equal(row_text(&rows, 0, "status"), "ready"))
		return text_equal(row_text(&rows, 0, "blob_id"), blob.text)
			? 0
			: err_set(err, ERR_CONFLICT, "the policy set version was uploaded already");
	if (db_query(u->store->db, NULL, err,
		    "update policy_set_versions set status = 'ready', blob_id = $2, error = null, "
		    "error_message = null, status_timestamps = status_timestamps || " SQL_STAMP(
			    "ingressing-at") " || " SQL_STAMP("ready-at") ", updated_at = now() where id = $1",
		    P_TEXT(u->id), P_TEXT(blob.text)) < 0)
		return -1;
	return db_query(u->store->db, NULL, err,
		"update policy_sets set current_version_id = (select id from policy_set_versions "
		"where policy_set_id = $1 and status = 'ready' order by created_at desc, id desc limit 1) where id = "
		"$1",
		P_TEXT(row_text(&rows, 0, "policy_set_id")));
}

int policy_set_version_upload(struct store *store, const char *id, const void *bytes, size_t len, struct err *err)
{
	struct upload u = {store, id, bytes, len};

	return db_transaction(store->db, upload_in, &u, err);
}

int policy_set_version_refuse(struct store *store, const char *id, const char *why, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update policy_set_versions set status = 'errored', error = 'invalid_archive', error_message = $2, "
		"status_timestamps = status_timestamps || " SQL_STAMP(
			"errored-at") ", updated_at = now() where id = $1 and status <> 'ready'",
		P_TEXT(id), P_TEXT(why));
}
