/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SAML_LOGOUTS_H
#define SCHEDULER_SAML_LOGOUTS_H

/* The operation that checks a LogoutRequest or a LogoutResponse of the provider. Both must be signed. */

#include "common/json/json.h"

struct err;

int logout_message_check(const json_t *request, json_t *answer, struct err *err);

#endif
