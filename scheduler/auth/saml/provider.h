/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_SAML_PROVIDER_H
#define SCHEDULER_AUTH_SAML_PROVIDER_H

/* The site's identity provider of SAML: its settings (settings.def), and the requests to the helper about it. */

#include "common/json/json.h"
#include "scheduler/store/access/identity_providers.h"

#define SAML_METADATA_PATH "/users/saml/metadata"
#define SAML_AUTH_PATH     "/users/saml/auth"
#define SAML_LOGOUT_PATH   "/users/saml/logout"

struct helper_spec;

enum { SAML_NONCE_BYTES = 20 };

/* Owned; saml_provider_release cleanses the key. */
struct saml_provider {
	struct id id; /* "": nothing was ever set */
	bool is_enabled;
	char *name;   /* for people: "SAML" */
	char *issuer; /* the entity id that answers must have; "": not known yet */
	json_t *settings;
	char *private_key; /* NULL: none */
};
#define SAML_PROVIDER_INIT                                                                                             \
	{                                                                                                              \
		.settings = NULL                                                                                       \
	}

void saml_provider_release(struct saml_provider *provider);
/* Reads the provider; without one, the defaults. */
int saml_provider_read(struct store *store, struct saml_provider *ret_provider, struct err *err);
/* The same, but ERR_NOT_FOUND if sign-in by SAML is switched off. */
int saml_provider_enabled(struct store *store, struct saml_provider *ret_provider, struct err *err);

/* Changes the members that are not NULL, and creates the provider if there is none. In a transaction of its own. */
int saml_provider_store(struct store *store, const struct saml_provider *provider,
	const struct identity_provider *change, struct err *err);

/* The value of a setting, or its default. Texts are "" for null. Borrowed. */
const char *saml_text(const struct saml_provider *provider, const char *name);
bool saml_flag(const struct saml_provider *provider, const char *name);
long long saml_number(const struct saml_provider *provider, const char *name);

/* The helper process runyard-saml, which alone reads SAML's XML (auth/helper/helper.h). */
extern const struct helper_spec saml_helper;
/* A request to the helper (scheduler/saml/wire.h) with both parties and the time. A new reference. */
json_t *saml_request(const struct store *store, const struct saml_provider *provider, const char *operation);
/* An id of a message: "_" and hexadecimal digits. The caller frees it. */
char *saml_message_id(void);

#endif
