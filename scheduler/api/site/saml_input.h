/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_SITE_SAML_INPUT_H
#define SCHEDULER_API_SITE_SAML_INPUT_H

/* A change of the settings of SAML, from the body of a request. */

#include "scheduler/auth/saml/provider.h"
#include "scheduler/http/fields.h"

struct saml_change {
	json_t *settings;   /* members to change; null removes one */
	const char *name;   /* NULL: it stays */
	const char *issuer; /* NULL: it stays; "": the first answer of the provider tells it */
	const char *secret; /* the private key; NULL: it stays; "": none */
	bool is_enabled;    /* after the change */
	long long token_days;
	json_t *metadata; /* holds texts */
};
#define SAML_CHANGE_INIT                                                                                               \
	{                                                                                                              \
		.settings = NULL                                                                                       \
	}

void saml_change_release(struct saml_change *change);
/* Reads and checks the body, and the metadata that it has or names. Not within a transaction. */
int saml_change_read(const struct request *req, const struct saml_provider *provider, struct saml_change *ret_change,
	struct err *err);

/* The days for which tokens are valid after a sign-in, for a timeout in seconds. 0: no limit. */
long long saml_token_days(long long seconds);

/* The settings as attributes. */
extern const struct field saml_fields[];
extern const size_t saml_fields_count;

#endif
