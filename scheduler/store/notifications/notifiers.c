/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/notifications/notifiers.h"

/* A notifier claims every two seconds, so most claims do not write here. */
int notifier_seen(struct store *store, const struct notifier_mark *mark, struct err *err)
{
	return db_query(store->db, NULL, err,
		"with old as (delete from notifiers where seen_at < now() - interval '1 hour' and url <> $1) "
		"insert into notifiers (url, name, version, protocol) values ($1, $2, $3, $4) on conflict (url) do "
		"update "
		"set seen_at = now(), name = $2, version = $3, protocol = $4 "
		"where notifiers.seen_at < now() - interval '5 seconds' or notifiers.version <> $3 or "
		"notifiers.protocol <> $4",
		P_TEXT(mark->url), P_TEXT(mark->name), P_TEXT(mark->version), P_INT(mark->protocol));
}

int notifiers_live(struct store *store, int max, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err,
		"select url from notifiers where seen_at > now() - interval '2 minutes' "
		"order by seen_at < now() - interval '15 seconds', random() limit $1",
		P_INT(max));
}
