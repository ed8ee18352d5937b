/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/blob_gc.h"

/* Whether a row of the table refers to the blob. One lookup in the column's index per blob: PostgreSQL may answer
 * "not exists" for each blob by reading the whole index, if many rows have the same content. */
#define REFERRED(table, column) "(select true from " table " where " column " = l.blob_id limit 1) "

/*
 * Deletes blobs that nothing refers to, among the $1 that are due the longest (loose_blobs_look), and returns how many
 * it looked at. Keeps two kinds of blobs and checks them again after 10 minutes. The first are named in the bundle of a
 * policy evaluation that has no result yet (policy_evaluations_open). The second are locked by an upload that is about
 * to refer to them.
 */
static const char sweep_sql[] =
	"with looked as (select blob_id, of_policy from loose_blobs where look_at <= now() "
	"order by look_at limit $1 for update skip locked), "
	"loose as (select l.blob_id, l.of_policy and exists (select 1 from policy_evaluations e "
	"join runs r on r.id = e.run_id where e.result is null and not r.ended "
	"and position(l.blob_id in e.bundle::text) > 0) as awaited from looked l where coalesce(" REFERRED(
		"configuration_versions", "blob_id") ", " REFERRED("state_versions",
		"blob_id") ", " REFERRED("state_versions", "json_blob_id") ", " REFERRED("operation_blobs",
		"blob_id") ", " REFERRED("operations", "log_blob") ", " REFERRED("vcs_contents",
		"blob_id") ", " REFERRED("git_jobs", "blob_id") ", " REFERRED("policies",
		"blob_id") ", " REFERRED("policy_set_versions",
		"blob_id") ") is null), "
			   "free as (select id from blobs where id = any(array(select blob_id from loose where not "
			   "awaited)) "
			   "for update skip locked), "
			   "gone as (delete from blobs where id = any(array(select id from free))), "
			   "again as (select l.blob_id from loose l where l.awaited or exists (select 1 from blobs b "
			   "where b.id = l.blob_id) and l.blob_id <> all(array(select id from free))), "
			   "later as (update loose_blobs set look_at = now() + interval '10 minutes' "
			   "where blob_id = any(array(select blob_id from again))), "
			   "done as (delete from loose_blobs where blob_id = any(array("
			   "select blob_id from looked except select blob_id from again))) "
			   "select count(*) as looked from looked";

int blob_gc_sweep(struct store *store, long long *ret_count, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, sweep_sql, P_INT(UNUSED_BLOBS_MAX)) < 0)
		return -1;
	*ret_count = row_int(&rows, 0, "looked");
	return 0;
}
