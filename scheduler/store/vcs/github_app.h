/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_VCS_GITHUB_APP_H
#define SCHEDULER_STORE_VCS_GITHUB_APP_H

/*
 * The site's GitHub App: its addresses and keys, from the options of the process. The App logs in with a JSON Web Token
 * (JWT) that its private key signs. With that it gets tokens of its installations.
 *
 * Nothing here changes after github_app_open, so all threads share it.
 */

#include "common/base.h"

struct err;

/* A JWT is valid for this time after it was made. With JWT_SKEW it is GitHub's limit, ten minutes. */
enum { JWT_SECONDS = 540, JWT_SKEW = 60 };

/* Texts of the options; borrowed. "" is not set. */
struct github_app_settings {
	const char *id, *key; /* PEM */
	const char *client_id, *client_secret;
	const char *webhook_secret;
	const char *url, *api_url;
};

struct github_app {
	char *url;     /* https://github.com, or that of GitHub Enterprise */
	char *api_url; /* https://api.github.com, or <url>/api/v3 */
	char *id;
	char *client_id, *client_secret; /* "": users can't connect installations */
	char *webhook_secret;            /* "": webhooks are refused */
	void *key;                       /* OpenSSL's; only github_app.c uses it */
};

/* *ret_app is NULL if the site has no App (no id). ERR_INVALID if the key is missing or is no RSA key. */
int github_app_open(const struct github_app_settings *settings, struct github_app **ret_app, struct err *err);
/* NULL-safe. */
void github_app_close(struct github_app *app);

/* True if the site has an App, and users can connect installations of it. NULL-safe. */
bool github_app_is_connectable(const struct github_app *app);

/* The addresses of the App's GitHub, for repositories of its installations. NULL, for a site that has no App any more,
 * means github.com. Borrowed. */
const char *github_app_url(const struct github_app *app);
const char *github_app_api_url(const struct github_app *app);

/* A JWT of the App, signed with RS256. It is valid from JWT_SKEW before `now` (seconds since 1970), because GitHub's
 * clock may be behind, until JWT_SECONDS after. The caller frees it. */
char *github_app_jwt(const struct github_app *app, long long now);

#endif
