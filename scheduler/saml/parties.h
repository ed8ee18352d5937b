/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SAML_PARTIES_H
#define SCHEDULER_SAML_PARTIES_H

/* Both parties of a request: this server and the identity provider, with their certificates and keys. */

#include <lasso/lasso.h>

#include "common/buf.h"
#include "common/json/json.h"

struct err;

enum { MAX_CERTIFICATES = 8 };

struct party_own {
	const char *entity_id, *acs_url, *slo_url;
	const char *certificate, *private_key; /* PEM, or NULL */
	LassoSignatureMethod method;
	bool signs; /* requests are signed */
};
struct party_provider {
	const char *entity_id; /* NULL: not known */
	const char *sso_url, *slo_url;
	const char *certificates[MAX_CERTIFICATES]; /* PEM or base64, as the operator gave them */
	size_t count;
};
/* Borrowed from the request. */
struct parties {
	struct party_own own;
	struct party_provider provider;
	long long now;
};

/* ERR_INTERNAL if the request is not as wire.h says. */
int parties_read(const json_t *request, struct parties *ret_parties, struct err *err);

/* Without the white space that some providers put into base64. The caller frees it. */
char *base64_tidy(const char *text, size_t len);
/* A certificate's bytes as one line of base64; NULL if the text is none, with the reason in *err (ERR_INVALID). The
 * caller frees it. */
char *certificate_base64(const char *text, struct err *err);
/* Whether the text is a private key in PEM without a password. */
bool private_key_valid(const char *text);
/* Adds sentences about what does not fit: certificates that are none or have expired, a key of another certificate. */
void parties_problems(const struct parties *parties, json_t *problems);

/* The key that signs. ERR_CONFLICT if there is none. Release with g_object_unref. */
int signing_key(const struct party_own *own, LassoKey **ret_key, struct err *err);
/* Verifies the query with the certificates. ERR_INVALID. */
int query_verify(const struct party_provider *provider, const char *query, struct err *err);

#endif
