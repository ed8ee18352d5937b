/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/quotas.h"

int quota_set(struct store *store, const struct quota_owner *owner, long long runs, struct err *err)
{
	if (!runs)
		return db_query(store->db, NULL, err,
			"delete from run_quotas where organization_id = $1 or pool_id = $2",
			P_TEXT(owner->organization_id), P_TEXT(owner->pool_id));
	if (owner->pool_id)
		return db_query(store->db, NULL, err,
			"insert into run_quotas (pool_id, runs) values ($1, $2) on conflict (pool_id) do update set "
			"runs = excluded.runs",
			P_TEXT(owner->pool_id), P_INT(runs));
	return db_query(store->db, NULL, err,
		"insert into run_quotas (organization_id, runs) values ($1, $2) on conflict (organization_id) do "
		"update set runs = excluded.runs",
		P_TEXT(owner->organization_id), P_INT(runs));
}

/* Two statements, so that the second one sees what was committed while the first waited. The order of the locks is the
 * same in each claim. */
int quotas_lock(struct store *store, const char *pool_id, struct db_array *organizations, struct rows *ret_rows,
	struct err *err)
{
	if (db_queue(store->db, err,
		    "select 1 from run_quotas where organization_id = any($1::text[]) or pool_id = $2 "
		    "order by coalesce(organization_id, pool_id) for no key update",
		    P_ARRAY(organizations), P_TEXT(pool_id)) < 0)
		return -1;
	return db_query(store->db, ret_rows, err, QUOTA_ROOMS("select unnest($1::text[])", "$2"),
		P_ARRAY(organizations), P_TEXT(pool_id));
}
