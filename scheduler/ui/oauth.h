/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_UI_OAUTH_H
#define SCHEDULER_UI_OAUTH_H

/*
 * What `terraform login` asks for: OAuth's authorization code with PKCE. The browser is sent to a page that
 * asks whether that is wanted, and goes back to the CLI, on the same machine, with a code that holds for five minutes
 * and once; the CLI changes it for a token of that person's.
 */

#include <jansson.h>

/* The value of login.v1 in the discovery document. A new reference. */
json_t *oauth_discovery(void);

#endif
