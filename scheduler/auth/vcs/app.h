/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_VCS_APP_H
#define SCHEDULER_AUTH_VCS_APP_H

/*
 * Requests of the site's GitHub App to GitHub. Each function waits for the answers, so none may be called within a
 * transaction. The site must have an App (store->settings->github_app).
 */

#include "scheduler/auth/vcs/oauth_connection.h"
#include "scheduler/store/vcs/installations.h"

enum { APP_WHY_SIZE = 320 };

/* The address of the page on which users install the App, with our state. NULL and the reason if GitHub does not return
 * it. The caller frees it. */
char *app_install_url(const struct store *store, const char *state, char ret_why[APP_WHY_SIZE]);

/* The application with which users log in to GitHub. `redirect` is borrowed; the caller releases the connection. */
void app_login(const struct store *store, const char *redirect, struct oauth_connection *ret_connection);

/* An installation at GitHub. The texts are owned. */
struct app_installation {
	struct installation installation; /* borrows the texts below */
	char *account, *icon_url, *web_url;
	long long account_id;
	bool suspended;
};
void app_installation_release(struct app_installation *installation);

enum app_outcome {
	APP_DONE,
	APP_REFUSED, /* GitHub refuses the App itself, such as for a wrong key: try later */
	APP_GONE,    /* there is no such installation */
	APP_PASSING, /* GitHub did not answer, or had an internal error */
};
enum app_outcome app_installation_ask(const struct store *store, long long number,
	struct app_installation *ret_installation, char ret_why[APP_WHY_SIZE]);

/* Whether the owner of the user's token owns the account of the installation: it is that user, or an organization whose
 * owner the user is. */
bool app_user_owns(const struct store *store, const struct app_installation *installation, const char *user_token,
	char ret_why[APP_WHY_SIZE]);

/* A token for an installation, from GitHub. */
struct app_token {
	char *token;          /* owned; app_token_release cleanses it */
	long long expires_in; /* seconds */
	int retry_after;      /* of APP_PASSING: seconds, or 0 */
};
void app_token_release(struct app_token *token);
enum app_outcome app_token_ask(
	const struct store *store, long long number, struct app_token *ret_token, char ret_why[APP_WHY_SIZE]);

#endif
