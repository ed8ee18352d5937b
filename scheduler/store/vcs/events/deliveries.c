/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/vcs/events/deliveries.h"

#include "scheduler/store/content/seals.h"

enum { MAX_PICKED = 20, POSTPONED_SECONDS = 15 };

int vcs_deliveries_pick(struct store *store, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select d.sequence, d.repository_id, d.delivery_id, d.event, d.body_sealed, d.tries, "
		"r.identifier, r.external_id, coalesce(c.provider, 'github_app') as provider, c.api_url "
		"from vcs_deliveries d left join "
		"vcs_repositories r on r.id = d.repository_id left join vcs_connections c on c.id = r.connection_id "
		"where d.state = 'waiting' and d.due_at <= now() order by d.due_at, d.sequence limit $1 "
		"for update of d skip locked",
		P_INT(MAX_PICKED));
}

int vcs_delivery_open(struct store *store, const struct rows *rows, int row, struct buf *ret_body, struct err *err)
{
	return seal_open(store, row_text(rows, row, "delivery_id"), (struct sealed_column){rows, row, "body_sealed"},
		ret_body, err);
}

int vcs_delivery_end(struct store *store, long long sequence, const char *error, struct err *err)
{
	return db_queue(store->db, err,
		"update vcs_deliveries set state = case when $2::text is null then 'done' else 'failed' end, error = "
		"$2 where sequence = $1",
		P_INT(sequence), P_TEXT(error));
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

int vcs_repositories_of_app(
	struct store *store, long long installation, const char *identifier, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select r.id from vcs_installations i join vcs_repositories r on r.installation_id = i.id where "
		"i.installation_id = $1 and lower(r.identifier) = lower($2) order by r.id",
		P_INT(installation), P_TEXT(identifier));
}
