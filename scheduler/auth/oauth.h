/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_OAUTH_H
#define SCHEDULER_AUTH_OAUTH_H

/*
 * The authorization of `terraform login`: OAuth's authorization code with PKCE. The browser opens a page that asks the
 * person for consent (ui/oauth.c). It then returns to the CLI, on the same machine, with a code that is valid once and
 * for five minutes. The CLI exchanges the code for a token of that person.
 *
 * These values are in the discovery document (login.v1).
 */

#define OAUTH_AUTHORIZE_PATH "/oauth/authorize"
#define OAUTH_TOKEN_PATH     "/oauth/token"
#define OAUTH_CLIENT         "terraform-cli"

/* The ports at which the CLI may listen. */
enum { OAUTH_PORT_LOW = 10000, OAUTH_PORT_HIGH = 10010 };

#endif
