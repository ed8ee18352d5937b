/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_NOTIFICATIONS_NOTIFIERS_H
#define SCHEDULER_STORE_NOTIFICATIONS_NOTIFIERS_H

/* Notifiers that claimed recently, and the URLs at which schedulers reach them. */

#include "scheduler/store/store.h"

struct notifier_mark {
	const char *url, *name, *version;
	int protocol;
};
/* Records that the notifier at that URL is alive, and deletes old records. */
int notifier_seen(struct store *store, const struct notifier_mark *mark, struct err *err);
/* At most `max` live notifiers, notifiers_live_row: first those that claimed within 15 seconds, in random order. */
int notifiers_live(struct store *store, int max, struct rows *ret_rows, struct err *err);

#endif
