/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_UI_SAML_SAML_LOGOUT_H
#define SCHEDULER_UI_SAML_SAML_LOGOUT_H

#include "scheduler/api/api.h"

/* Redirects from the sign-out to the page that ends the session here and at the provider. The sign-out itself does not
 * wait for the helper of SAML. */
int saml_logout_redirect(const struct request *req, struct response *res);

#endif
