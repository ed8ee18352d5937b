/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_SITE_SETTINGS_H
#define SCHEDULER_STORE_SITE_SETTINGS_H

/*
 * Settings of the installation, named as in the API (scheduler/api/site/). Site admins change them. Those of
 * general-settings are members of the whole; the other groups (smtp, customization and so on) are objects in it, by
 * their ids. Secrets are in a table of their own, sealed.
 */

#include "scheduler/store/store.h"

/* Reads the settings that were set; options and defaults determine the others. A new reference. */
int site_settings_read(struct store *store, json_t **ret_settings, struct err *err);
/* Changes the members of `changes`, and updates this process's rate limit. Returns all settings that are set, as a new
 * reference. */
int site_settings_update(struct store *store, const json_t *changes, json_t **ret_settings, struct err *err);
/* The same for the members of one group. */
int site_group_update(
	struct store *store, const char *group, const json_t *changes, json_t **ret_settings, struct err *err);

/* Stores a secret by its name; "" deletes it. */
int site_secret_set(struct store *store, const char *name, const char *value, struct err *err);
/* NULL if there is none. Free it with crypto_secret_freep. */
int site_secret_read(struct store *store, const char *name, char **ret_value, struct err *err);

/* The name of the secret of smtp-settings. */
#define SMTP_PASSWORD "smtp-password"
/* The mail server of the settings as a claim has it (proto/README.md): a new reference, or NULL if it is not enabled.
 */
int site_mail_server(struct store *store, json_t **ret_server, struct err *err);

/* The same of settings that are not stored yet. */
json_t *site_mail_server_of(const json_t *smtp, const char *password);

/*
 * What this process keeps of the settings, so that no request waits for them. It reads them every ten seconds.
 */
/* A setting that is on or off, and off by default. */
#define SITE_ALLOWS_FORKS  "allow-speculative-plans-on-pull-requests-from-forks"
#define SITE_PASSES_OTHERS "send-passing-statuses-for-untriggered-speculative-plans"
bool site_flag(const char *name);
/* Whether all people may sign in with a password; otherwise only break-glass accounts may. */
#define SITE_TAKES_PASSWORDS "password-sign-in-enabled"
bool site_takes_passwords(void);
/* A text of customization-settings, as HTML of a site admin, or "". The caller frees it. */
char *site_text(const char *name);

/*
 * The rate limit of this process, in requests per second; 0: unlimited. It starts with the value of --rate-limit. Each
 * scheduler checks every ten seconds whether a site admin has changed it. Call site_rate_limit_begin before other
 * threads are started.
 */
void site_rate_limit_begin(long long per_second);
long long site_rate_limit(void);
/* Reads the settings that this process keeps. */
int site_settings_watch(struct store *store, struct err *err);

#endif
