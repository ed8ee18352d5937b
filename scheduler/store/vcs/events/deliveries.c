/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/events/deliveries.h"

#include "scheduler/store/content/seals.h"
#include "scheduler/store/vcs/connections.h"

enum { POSTPONED_SECONDS = 15 };

/* Locks at most $1 deliveries, the oldest first. Reads the first of them, and the next ones until their bodies have $2
 * bytes. Uses the index vcs_deliveries_waiting. */
/* clang-format off */
static const char pick_sql[] =
	"with due as materialized (select sequence, due_at, octet_length(body_sealed) as size from vcs_deliveries "
	"where state = 'waiting' and due_at <= now() order by due_at, sequence limit $1 for update skip locked), "
	"sized as (select sequence, due_at, sum(size) over (order by due_at, sequence) - size as before from due) "
	"select d.sequence, d.repository_id, d.delivery_id, d.event, d.body_sealed, d.tries, r.identifier, r.external_id, "
	VCS_DIALECT_COLUMNS " from sized s join vcs_deliveries d using (sequence) "
	"left join vcs_repositories r on r.id = d.repository_id left join vcs_connections c on c.id = r.connection_id "
	"where s.before < $2 order by s.due_at, s.sequence";
/* clang-format on */

int vcs_deliveries_pick(struct store *store, int max, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, pick_sql, P_INT(max), P_INT(VCS_DELIVERIES_BYTES));
}

int vcs_delivery_open(struct store *store, const struct rows *rows, int row, struct buf *ret_body, struct err *err)
{
	return seal_open(store, row_text(rows, row, "delivery_id"), (struct sealed_column){rows, row, "body_sealed"},
		ret_body, err);
}

int vcs_deliveries_end(struct store *store, struct db_array *sequences, struct err *err)
{
	return sequences->count ? db_queue(store->db, err,
					  "update vcs_deliveries set state = 'done', error = null where sequence = "
					  "any($1::bigint[])",
					  P_ARRAY(sequences))
				: 0;
}

int vcs_delivery_drop(struct store *store, long long sequence, struct err *err)
{
	return db_queue(store->db, err, "delete from vcs_deliveries where sequence = $1", P_INT(sequence));
}

int vcs_delivery_fail(struct store *store, long long sequence, const char *why, struct err *err)
{
	return db_queue(store->db, err, "update vcs_deliveries set state = 'failed', error = $2 where sequence = $1",
		P_INT(sequence), P_TEXT(why));
}

int vcs_delivery_postpone(struct store *store, long long sequence, const char *why, struct err *err)
{
	return db_queue(store->db, err,
		"update vcs_deliveries set tries = tries + 1, error = $2, due_at = now() + make_interval(secs => $3) "
		"where sequence = $1",
		P_INT(sequence), P_TEXT(why), P_INT(POSTPONED_SECONDS));
}

int vcs_deliveries_hasten(struct store *store, const char *repository_id, struct err *err)
{
	return db_query(store->db, NULL, err,
		"update vcs_deliveries set due_at = now() where repository_id = $1 and state = 'waiting'",
		P_TEXT(repository_id));
}
