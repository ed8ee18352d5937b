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
/* Appends the URL of a row with the column `url_sealed`; nothing if it is null. */
int notification_url_open(struct store *store, const struct rows *rows, int row, struct buf *ret_url, struct err *err);

/* A response's URL in the column `responses`, which notification_responses_open reads. `r` is notification_responses.
 */
#define RESPONSE_URL_MEMBERS "'url', '', 'url-sealed', translate(encode(r.url_sealed, 'base64'), E'\\n', '')"
/* The row's `responses` with decrypted URLs, as a new reference. */
int notification_responses_open(
	struct store *store, const struct rows *rows, int row, json_t **ret_responses, struct err *err);

#endif
