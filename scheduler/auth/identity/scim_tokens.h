/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_IDENTITY_SCIM_TOKENS_H
#define SCHEDULER_AUTH_IDENTITY_SCIM_TOKENS_H

/* Tokens with which identity providers call /scim/v2. The database has their digests only. They are valid nowhere else.
 */

#include "scheduler/store/store.h"

#define SCIM_TOKEN_PREFIX "ry_scim_"

struct scim_token {
	struct id id;
	bool is_enabled, is_paused; /* the settings of SCIM */
};

/* Finds the token by its digest, and records its use at most once a minute. ERR_UNAUTHORIZED. */
int scim_token_find(struct store *store, const char *hash, struct scim_token *ret_token, struct err *err);
/* The shape `scim_token`. */
int scim_tokens_list(struct store *store, struct rows *ret_rows, struct err *err);
/* ERR_NOT_FOUND. */
int scim_token_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
struct scim_token_order {
	const char *description; /* or NULL */
	const char *created_by;
	const char *expires_at; /* a time PostgreSQL reads; NULL: in 365 days */
};
/* The caller frees the text. ERR_MALFORMED for a time that is not 29 to 365 days ahead. */
int scim_token_create(struct store *store, const struct scim_token_order *order, char **ret_token,
	struct rows *ret_rows, struct err *err);
int scim_token_delete(struct store *store, const char *id, struct err *err);

#endif
