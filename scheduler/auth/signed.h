/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_SIGNED_H
#define SCHEDULER_AUTH_SIGNED_H

/*
 * Addresses that carry their own right: uploads and logs, which clients ask without a token and with a query string
 * of their own, so the signature stands in the path: /signed/<expiry>-<hmac>/<path>.
 * They hold for two to three days; the expiry is a whole day's end, so that an object read twice shows the same one.
 */

#include "scheduler/store/store.h"

#define SIGNED_PREFIX "/signed"

/* The full address for a path such as "/logs/plan-X". The caller frees it. */
char *signed_url(const struct store *store, const char *path);
/* True if `path` (the request's whole path) is below SIGNED_PREFIX, signed with a key of the keyring and not expired.
 */
bool signed_valid(const struct keyring *keyring, const char *path);

#endif
