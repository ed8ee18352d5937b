/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_TOKENS_H
#define SCHEDULER_AUTH_TOKENS_H

/* Tokens of users and of agent pools. The database knows their digests only: a token is seen once, when it is made. */

#include "scheduler/store/store.h"

struct token_order {
	const char *user_id, *pool_id; /* whose it is: exactly one is not NULL... */
	bool notifier;                 /* ...unless it is the notifiers' */
	const char *description;       /* NULL: none */
	const char *expires_at;        /* a time PostgreSQL reads; NULL: never */
};

/* Makes a token. The caller frees its text; ret_id may be NULL. */
int token_create(
	struct store *store, const struct token_order *order, char **ret_token, struct id *ret_id, struct err *err);

/* Columns id, user_id, pool_id, description, created_at, last_used_at, expired_at. ERR_NOT_FOUND. */
int token_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);
/* A user's, the newest first, with `total`; a row with a null id if the page is empty. */
int tokens_of_user(struct store *store, const char *user_id, long long limit, long long offset, struct rows *ret_rows,
	struct err *err);
int token_delete(struct store *store, const char *id, struct err *err);

#endif
