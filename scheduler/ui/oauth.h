/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_UI_OAUTH_H
#define SCHEDULER_UI_OAUTH_H

/*
 * The authorization of `terraform login`: OAuth's authorization code with PKCE. The browser opens a page that asks the
 * person for consent. It then returns to the CLI, on the same machine, with a code that is valid once and for five
 * minutes. The CLI exchanges the code for a token of that person.
 */

#include <jansson.h>

/* The value of login.v1 in the discovery document. A new reference. */
json_t *oauth_discovery(void);

#endif
