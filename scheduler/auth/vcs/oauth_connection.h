/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_VCS_OAUTH_CONNECTION_H
#define SCHEDULER_AUTH_VCS_OAUTH_CONNECTION_H

/* Connections with OAuth: reads their application, and requests and stores their tokens. */

#include "scheduler/auth/vcs/oauth_provider.h"
#include "scheduler/store/store.h"

/* A connection with its application. All texts are owned. */
struct oauth_connection {
	struct oauth_application application; /* borrows the texts below */
	struct id id, organization;
	char *organization_name;
	char *provider_name; /* "GitHub Enterprise" */
	char *http_url, *api_url, *key, *redirect;
	char *pool_id;        /* the pool whose workers send its requests; NULL: this process does */
	char *secret;         /* NULL: the connection has no application */
	char *user;           /* the name of its token's owner; NULL: not known */
	char *refresh;        /* the refresh token, for oauth_connection_of_token; else NULL */
	long long generation; /* of its token; 0: there is none */
};
#define OAUTH_CONNECTION_INIT                                                                                          \
	{                                                                                                              \
		.secret = NULL                                                                                         \
	}

void oauth_connection_release(struct oauth_connection *connection);
/* The connection with that callback. ERR_NOT_FOUND. */
int oauth_connection_read(
	struct store *store, const char *callback_id, struct oauth_connection *ret_connection, struct err *err);
/* The connection of that token. ERR_NOT_FOUND if the token or its refresh token is gone. */
int oauth_connection_of_token(
	struct store *store, const char *token_id, struct oauth_connection *ret_connection, struct err *err);

enum oauth_outcome {
	OAUTH_DONE,
	OAUTH_REFUSED, /* by the provider: the same request will not succeed */
	OAUTH_PASSING, /* the provider did not answer, or had an internal error */
};
/* `why` is one sentence for a person, without a secret. */
struct oauth_result {
	enum oauth_outcome outcome;
	struct oauth_tokens tokens; /* of OAUTH_DONE */
	char *user;                 /* the owner's name; NULL: not known. Owned */
	char why[320];
	int retry_after; /* of OAUTH_PASSING: seconds, or 0 */
};
void oauth_result_release(struct oauth_result *result);

/* Both send a request to the provider and wait for the answer. Never within a transaction. They fill *ret_result in any
 * case. */
void oauth_exchange(const struct store *store, const struct oauth_connection *connection, const char *code,
	const char *verifier, struct oauth_result *ret_result);
void oauth_refresh(
	const struct store *store, const struct oauth_connection *connection, struct oauth_result *ret_result);

/* Stores the tokens of OAUTH_DONE, as verified, and when they are renewed. */
int oauth_store(struct store *store, const struct oauth_connection *connection, const struct oauth_result *result,
	struct err *err);

#endif
