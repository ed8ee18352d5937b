/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/policies/policies.h"

#include "scheduler/store/names.h"
#include "scheduler/store/content/blobs.h"
#include "scheduler/store/policies/policies.sql.h"

int policies_list(struct store *store, const struct policy_list *list, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, policies_list, .organization_id = list->organization_id,
		.search = list->search, .kind = list->kind, .sort = list->sort, .limit = list->limit,
		.offset = list->offset);
}

int policy_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err)
{
	if (db_query(store->db, ret_rows, err, policy_read, .id = id) < 0)
		return -1;
	return ret_rows->count ? 0 : err_set(err, ERR_NOT_FOUND, "policy not found");
}

int policies_read_all(struct store *store, struct db_array *ids, struct rows *ret_rows, struct err *err)
{
	return db_ask(store->db, ret_rows, err, policies_read_all, .ids = ids);
}

int policy_create(struct store *store, const char *organization_id, const struct policy *policy, struct id *ret_id,
	struct err *err)
{
	struct id id = id_new("pol");

	if (db_query(store->db, NULL, err, policy_create, .id = id.text, .organization_id = organization_id,
		    .name = policy->name, .kind = policy->kind, .description = policy->description,
		    .query = policy->query, .enforcement = policy->enforcement) < 0)
		return name_taken(store, "policies_name", err);
	*ret_id = id;
	return 0;
}

int policy_update(struct store *store, const char *id, const struct policy *policy, struct err *err)
{
	return db_query(store->db, NULL, err, policy_update, .id = id, .description = policy->description,
		.query = policy->query, .enforcement = policy->enforcement);
}

int policy_delete(struct store *store, const char *id, struct err *err)
{
	return db_query(store->db, NULL, err, policy_delete, .id = id);
}

/* ---- the policy's text ---- */

struct upload {
	struct store *store;
	const char *id;
	const void *bytes;
	size_t len;
};

static int upload_in(void *data, struct err *err)
{
	const struct upload *u = data;
	struct id blob;

	if (blob_put_shared(u->store, u->bytes, u->len, &blob, err) < 0)
		return -1;
	return db_query(u->store->db, NULL, err, policy_upload, .id = u->id, .blob = blob.text);
}

int policy_upload(struct store *store, const char *id, const void *bytes, size_t len, struct err *err)
{
	struct upload u = {store, id, bytes, len};

	return db_transaction(store->db, upload_in, &u, err);
}
