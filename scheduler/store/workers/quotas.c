/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/quotas.h"

int quota_set(struct store *store, const struct quota_owner *owner, long long runs, struct err *err)
{
	if (runs < 0)
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
