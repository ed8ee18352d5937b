/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_SITE_SETTINGS_H
#define SCHEDULER_STORE_SITE_SETTINGS_H

/* Settings of the installation, named as in the API (scheduler/api/site/admin_settings.c). Site admins change them. */

#include "scheduler/store/store.h"

/* Reads the settings that were set; options and defaults determine the others. A new reference. */
int site_settings_read(struct store *store, json_t **ret_settings, struct err *err);
/* Changes the members of `changes`, and updates this process's rate limit. Returns all settings that are set, as a new
 * reference. */
int site_settings_update(struct store *store, const json_t *changes, json_t **ret_settings, struct err *err);

/*
 * The rate limit of this process, in requests per second; 0: unlimited. It starts with the value of --rate-limit. Each
 * scheduler checks every ten seconds whether a site admin has changed it. Call site_rate_limit_begin before other
 * threads are started.
 */
void site_rate_limit_begin(long long per_second);
long long site_rate_limit(void);
int site_rate_limit_watch(struct store *store, struct err *err);

#endif
