/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_UI_SIGN_IN_PROVIDERS_H
#define SCHEDULER_UI_SIGN_IN_PROVIDERS_H

/* The identity providers of the sign-in page. */

#include "scheduler/ui/page.h"

/* Links to the enabled providers, and a field for an address if a provider lists domains. `back` is the return path. */
int sign_in_providers_show(struct page_buf *page, const struct request *req, const char *back, struct err *err);
/* The answer to a sign-out: the sign-in page, or the page that leads to the sign-out at the provider behind the
 * session. */
int sign_in_provider_farewell(struct request *req, struct response *res, struct err *err);
/* The path at which a sign-in through the provider begins. The caller frees it. */
char *sign_in_provider_path(const char *kind, const char *id, const char *back);

#endif
