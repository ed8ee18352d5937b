/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_SIGNED_H
#define SCHEDULER_AUTH_SIGNED_H

/*
 * Signed URLs of uploads and logs: /signed/<expiry>-<hmac>/<path>. Clients use them without a token. The signature is
 * in the path because clients add a query string of their own. A URL is valid for two to three days: it expires at the
 * end of a day, so that an object that is read twice shows the same URL.
 */

#include "scheduler/store/store.h"

#define SIGNED_PREFIX "/signed"

/* Returns the full URL for a path such as "/logs/plan-X". The caller frees it. */
char *signed_url(const struct store *store, const char *path);
/* The same for a URL that is valid for so many seconds. */
char *signed_url_for(const struct store *store, const char *path, int seconds);
/* Returns true if `path` (the request's whole path) is below SIGNED_PREFIX, signed with a key of the keyring and not
 * expired. */
bool signed_valid(const struct keyring *keyring, const char *path);

#endif
