/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_IDENTITY_OIDC_PROVIDER_H
#define SCHEDULER_AUTH_IDENTITY_OIDC_PROVIDER_H

#include "common/json/json.h"
#include "scheduler/store/store.h"

/* A provider with its settings. The texts are owned. */
struct oidc_provider {
	struct id id;
	char *name, *issuer, *client_id, *secret; /* secret: "" for a public client */
	json_t *settings;
	bool is_enabled;
};
#define OIDC_PROVIDER_INIT                                                                                             \
	{                                                                                                              \
		.settings = NULL                                                                                       \
	}
void oidc_provider_release(struct oidc_provider *provider);
/* ERR_NOT_FOUND for an id that is none of an OIDC provider. */
int oidc_provider_read(struct store *store, const char *id, struct oidc_provider *ret_provider, struct err *err);
/* The address to which the provider sends browsers back, which must be registered there. The caller frees it. */
char *oidc_redirect_uri(const struct store *store, const struct oidc_provider *provider);

#endif
