/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_VCS_CONSENTS_H
#define SCHEDULER_AUTH_VCS_CONSENTS_H

/*
 * Consents that users are giving at a VCS provider, in their browsers. A consent is known by a random text, OAuth's
 * `state`: the provider's redirect brings it back. The database has only its digest. It is used once, within ten
 * minutes, by the browser session that began it. So a user can't be led to finish the consent of another person.
 */

#include "scheduler/store/store.h"

struct consent_order {
	const char *cookie; /* of the browser's session */
	const char *organization_id;
	const char *connection_id; /* NULL: an installation of the site's GitHub App */
	long long installation;    /* its number; 0: it is not known yet. consent_redeem does not read it */
};

/* The texts of a consent. Owned; consent_release cleanses them. */
struct consent {
	char *state;
	char *verifier; /* PKCE's (RFC 7636), whose crypto_challenge the provider gets */
	/* Of consent_redeem: */
	struct id organization_id;
	char *organization_name;
	long long installation;
};
#define CONSENT_INIT                                                                                                   \
	{                                                                                                              \
		.state = NULL                                                                                          \
	}

void consent_release(struct consent *consent);
int consent_begin(struct store *store, const struct consent_order *order, struct consent *ret_consent, struct err *err);
/* Deletes the consent with that state. ERR_FORBIDDEN if it is not known, is too old, or began in another session or for
 * another connection. The order's organization is not read. */
int consent_redeem(struct store *store, const struct consent_order *order, const char *state,
	struct consent *ret_consent, struct err *err);
/* Deletes consents that were not given. */
int consents_sweep(struct store *store, struct err *err);

#endif
