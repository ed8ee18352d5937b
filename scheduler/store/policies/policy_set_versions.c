/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/policies/policy_set_versions.h"

#include "scheduler/store/content/blobs.h"
#include "scheduler/store/policies/policy_set_versions.sql.h"

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
	if (db_query(c->store->db, &rows, err, policy_set_version_take, .policy_set_id = c->policy_set_id,
		    .id = c->id.text) < 0)
		return -1;
	if (!db_affected(&rows))
		return err_set(err, ERR_CONFLICT, "the policy set has single policies: it can't have versions too");
	return db_query(c->store->db, NULL, err, policy_set_version_create, .id = c->id.text,
		.policy_set_id = c->policy_set_id);
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
	if (db_query(store->db, ret_rows, err, policy_set_version_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : not_found(err);
}

int policy_set_versions_list(
	struct store *store, const char *policy_set_id, struct list_range range, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, policy_set_versions_list, .policy_set_id = policy_set_id,
		.limit = range.limit, .offset = range.offset);
}

int policy_set_versions_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, policy_set_versions_read_all, .ids = ids);
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
	const struct policy_set_version_lock_row *version;
	struct id blob;

	if (db_query(u->store->db, &rows, err, policy_set_version_lock, .id = u->id) < 0)
		return -1;
	if (!rows.count)
		return not_found(err);
	version = row_of(policy_set_version_lock, &rows, 0);
	if (blob_put_shared(u->store, u->bytes, u->len, &blob, err) < 0)
		return -1;
	if (text_equal(version->status, "ready"))
		return text_equal(version->blob_id, blob.text)
			? 0
			: err_set(err, ERR_CONFLICT, "the policy set version was uploaded already");
	if (db_query(u->store->db, NULL, err, policy_set_version_ready, .id = u->id, .blob = blob.text) < 0)
		return -1;
	return db_query(u->store->db, NULL, err, policy_set_use_newest, .policy_set_id = version->policy_set_id);
}

int policy_set_version_upload(struct store *store, const char *id, const void *bytes, size_t len, struct err *err)
{
	struct upload u = {store, id, bytes, len};

	return db_transaction(store->db, upload_in, &u, err);
}

int policy_set_version_refuse(struct store *store, const char *id, const char *why, struct err *err)
{
	return db_query(store->db, NULL, err, policy_set_version_refuse, .id = id, .why = why);
}
