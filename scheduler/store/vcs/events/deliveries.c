/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/events/deliveries.h"

#include "scheduler/store/content/seals.h"
#include "scheduler/store/vcs/connections.h"

enum { POSTPONED_SECONDS = 15 };

int vcs_deliveries_pick(struct store *store, int max, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, vcs_deliveries_pick, .max = max, .max_bytes = VCS_DELIVERIES_BYTES);
}

int vcs_delivery_open(
	struct store *store, const struct vcs_deliveries_pick_row *delivery, struct buf *ret_body, struct err *err)
{
	return seal_open(store, delivery->delivery_id, delivery->body_sealed, ret_body, err);
}

int vcs_deliveries_end(struct store *store, struct db_array *sequences, struct err *err)
{
	return sequences->count ? db_queue(store->db, err, vcs_deliveries_end, .sequences = sequences) : 0;
}

int vcs_delivery_drop(struct store *store, long long sequence, struct err *err)
{
	return db_queue(store->db, err, vcs_delivery_drop, .sequence = sequence);
}

int vcs_delivery_fail(struct store *store, long long sequence, const char *why, struct err *err)
{
	return db_queue(store->db, err, vcs_delivery_fail, .sequence = sequence, .why = why);
}

int vcs_delivery_postpone(struct store *store, long long sequence, const char *why, struct err *err)
{
	return db_queue(store->db, err, vcs_delivery_postpone, .sequence = sequence, .why = why,
		.postponed_seconds = POSTPONED_SECONDS);
}

int vcs_deliveries_hasten(struct store *store, const char *repository_id, struct err *err)
{
	return db_query(store->db, NULL, err, vcs_deliveries_hasten, .repository_id = repository_id);
}
