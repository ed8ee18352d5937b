/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_IDENTITY_FIRST_PROVIDER_H
#define SCHEDULER_AUTH_IDENTITY_FIRST_PROVIDER_H

/* The OpenID provider that the options of a new installation name. */

#include "scheduler/store/store.h"

struct first_provider {
	const char *issuer; /* "": none */
	const char *client_id, *client_secret;
	long long token_days;
};

/* Creates the provider if none has the issuer. ERR_INVALID if the options lack one another. */
int first_provider_ensure(struct store *store, const struct first_provider *provider, struct err *err);

#endif
