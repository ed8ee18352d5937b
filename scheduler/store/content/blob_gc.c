/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/blob_gc.h"

/* Keeps two kinds of blobs and checks them again after 10 minutes. The first are named in the bundle of a policy
 * evaluation that has no result yet. The second are locked by an upload that is about to refer to them. */
static const char sweep_sql[] =
	"with looked as materialized (select blob_id, of_policy from loose_blobs where look_at <= now() "
	"order by look_at limit $1 for update skip locked), "
	"loose as materialized (select l.blob_id, l.of_policy and exists (select 1 from policy_evaluations e "
	"join runs r on r.id = e.run_id where e.result is null and not r.ended "
	"and position(l.blob_id in e.bundle::text) > 0) as awaited from looked l "
	"where not exists (select 1 from configuration_versions where blob_id = l.blob_id) "
	"and not exists (select 1 from state_versions where blob_id = l.blob_id) "
	"and not exists (select 1 from state_versions where json_blob_id = l.blob_id) "
	"and not exists (select 1 from operation_blobs where blob_id = l.blob_id) "
	"and not exists (select 1 from operations where log_blob = l.blob_id) "
	"and not exists (select 1 from policies where blob_id = l.blob_id) "
	"and not exists (select 1 from policy_set_versions where blob_id = l.blob_id)), "
	"free as materialized (select b.id from blobs b join loose l on l.blob_id = b.id where not l.awaited "
	"for update of b skip locked), "
	"gone as (delete from blobs where id in (select id from free)), "
	"again as materialized (select l.blob_id from loose l where l.awaited or exists (select 1 from blobs b "
	"where b.id = l.blob_id) and l.blob_id not in (select id from free)), "
	"later as (update loose_blobs set look_at = now() + interval '10 minutes' "
	"where blob_id in (select blob_id from again)), "
	"done as (delete from loose_blobs where blob_id in (select blob_id from looked except select blob_id from "
	"again)) "
	"select count(*) as looked from looked";

int blob_gc_sweep(struct store *store, long long *ret_count, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, sweep_sql, P_INT(UNUSED_BLOBS_MAX)) < 0)
		return -1;
	*ret_count = row_int(&rows, 0, "looked");
	return 0;
}
