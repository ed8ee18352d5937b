/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_NOTIFIERS_H
#define SCHEDULER_STORE_NOTIFIERS_H

/* The notifiers that claimed lately, and where schedulers reach them. */

#include "scheduler/store/store.h"

/* Records that the notifier at that URL is alive. Old records are deleted. */
int notifier_seen(struct store *store, const char *url, struct err *err);
/* Rows (url) of at most `most` notifiers, in random order, those that claimed within seconds first. */
int notifiers_live(struct store *store, int most, struct rows *ret_rows, struct err *err);

#endif
