/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SAML_RESPONSES_H
#define SCHEDULER_SAML_RESPONSES_H

/* The operation that checks a Response of a sign-in. */

#include "common/json/json.h"

struct err;

int response_check(const json_t *request, json_t *answer, struct err *err);

#endif
