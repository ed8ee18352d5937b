/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/quotas.h"

#include "scheduler/store/workers/quotas.sql.h"

int quota_set(struct store *store, const struct quota_owner *owner, long long runs, struct err *err)
{
	if (!runs)
		return db_query(store->db, NULL, err, quota_delete, .organization_id = owner->organization_id,
			.pool_id = owner->pool_id);
	if (owner->pool_id)
		return db_query(store->db, NULL, err, pool_quota_set, .pool_id = owner->pool_id, .runs = runs);
	return db_query(
		store->db, NULL, err, organization_quota_set, .organization_id = owner->organization_id, .runs = runs);
}

int quotas_lock(struct store *store, const char *pool_id, struct db_array *organizations, struct rows *ret_rows,
	struct err *err)
{
	if (db_queue(store->db, err, quotas_lock, .organizations = organizations, .pool_id = pool_id) < 0)
		return -1;
	return db_query(store->db, ret_rows, err, quotas_lock_read, .organizations = organizations, .pool_id = pool_id);
}
