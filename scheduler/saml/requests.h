/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SAML_REQUESTS_H
#define SCHEDULER_SAML_REQUESTS_H

/* Operations that make messages to the provider, as addresses to which the browser is redirected. */

#include "common/json/json.h"

struct err;

int authn_request_make(const json_t *request, json_t *answer, struct err *err);
int logout_request_make(const json_t *request, json_t *answer, struct err *err);
int logout_response_make(const json_t *request, json_t *answer, struct err *err);

#endif
