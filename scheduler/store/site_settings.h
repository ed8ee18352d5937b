/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_SITE_SETTINGS_H
#define SCHEDULER_STORE_SITE_SETTINGS_H

/* The settings of the installation, by the names of the API (scheduler/api/admin_settings.c). Site admins change them.
 */

#include "scheduler/store/store.h"

/* A new reference: what was set; the rest is as options say, or by default. */
int site_settings_read(struct store *store, json_t **ret_settings, struct err *err);
/* Changes the members of `changes`, and this process's rate limit with them. A new reference: all that is set then. */
int site_settings_update(struct store *store, const json_t *changes, json_t **ret_settings, struct err *err);

/*
 * The rate limit of this process in requests a second, 0: none. It begins as --rate-limit says. Each scheduler looks
 * every ten seconds whether a site admin has set another. It begins before the process has other threads that ask.
 */
void site_rate_limit_begin(long long per_second);
long long site_rate_limit(void);
int site_rate_limit_watch(struct store *store, struct err *err);

#endif
