/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/notifications/notifiers.h"

#include "scheduler/store/notifications/notifiers.sql.h"

/* A notifier claims every two seconds, so most claims do not write here. */
int notifier_seen(struct store *store, const struct notifier_mark *mark, struct err *err)
{
	return db_query(store->db, NULL, err, notifier_seen, .url = mark->url, .name = mark->name,
		.version = mark->version, .protocol = mark->protocol);
}

int notifiers_live(struct store *store, int max, struct rows *ret_rows, struct err *err)
{
	return db_query(store->db, ret_rows, err, notifiers_live, .max = max);
}
