/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SAML_ASSERTION_H
#define SCHEDULER_SAML_ASSERTION_H

/* Checks and reads an assertion whose signature was verified. Pure. */

#include <libxml/tree.h>

#include "common/json/json.h"

struct err;

struct assertion_rules {
	const char *audience, *acs_url;
	const char *request_id; /* NULL: the provider may have begun the sign-in */
	long long now;
};

/* Adds the members of the answer (operations.def). ERR_INVALID with a sentence. */
int assertion_read(const xmlNode *assertion, const char *issuer, const struct assertion_rules *rules, json_t *answer,
	struct err *err);

#endif
