/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/workers/queue_stats.h"

#include "scheduler/store/access/response_scope.h"
#include "scheduler/store/workers/queue_stats.sql.h"

/* ---- samples ---- */

int queue_sample(struct store *store, struct err *err)
{
	_cleanup_(rows_release) struct rows rows = ROWS_INIT;

	if (db_query(store->db, &rows, err, queue_sample_any) < 0)
		return -1;
	return rows.count ? 0 : db_query(store->db, NULL, err, queue_sample_take);
}

int queue_samples_read(struct store *store, const char *organization_id, struct rows *ret_rows, struct err *err)
{
	return db_query(
		store->db, ret_rows, err, queue_samples_read, .organization_id = text_or_empty(organization_id));
}

/* ---- numbers ---- */

int queue_numbers(struct store *store, const char *organization_id, struct rows *ret_rows, struct err *err)
{
	if (organization_id)
		return db_query(
			store->db, ret_rows, err, queue_numbers_of_organization, .organization_id = organization_id);
	return db_query(store->db, ret_rows, err, queue_numbers_of_site);
}

int queue_pools(struct store *store, const char *organization_id, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, queue_pools, .organization_id = organization_id);
}

int queue_tasks(struct store *store, const char *organization_id, struct rows *ret_rows, struct err *err)
{
	bool everywhere = !organization_id || response_scope_all(store->scope, organization_id, CAN_READ_RUNS);

	return db_query(store->db, ret_rows, err, queue_tasks, .organization_id = organization_id,
		.everywhere = everywhere, .user = response_scope_user(store->scope));
}

int queue_pending(struct store *store, const struct queue_page *page, struct rows *ret_rows, struct err *err)
{
	bool everywhere =
		!page->organization_id || response_scope_all(store->scope, page->organization_id, CAN_READ_RUNS);

	return db_query(store->db, ret_rows, err, queue_pending, .organization_id = page->organization_id,
		.everywhere = everywhere, .user = response_scope_user(store->scope), .limit = page->limit,
		.offset = page->offset);
}
