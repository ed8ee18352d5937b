/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_NOTIFICATIONS_NOTIFICATION_URLS_H
#define SCHEDULER_STORE_NOTIFICATIONS_NOTIFICATION_URLS_H

/*
 * URLs of notifications contain secrets of chat services, so they are sealed.
 */

#include "scheduler/store/store.h"

enum { NOTIFICATION_URL_LIMIT = 4096 };

/* Seals the URL; NULL leaves *ret_sealed empty. */
void notification_url_seal(struct store *store, const char *url, struct buf *ret_sealed);
/* Appends the URL; nothing if it is null. */
int notification_url_open(struct store *store, struct db_hex sealed, struct buf *ret_url, struct err *err);
/* Returns a configuration's `responses` with opened URLs, as a new reference. */
int notification_responses_open(struct store *store, const char *sealed, json_t **ret_responses, struct err *err);

#endif
