/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_TOKENS_H
#define SCHEDULER_AUTH_TOKENS_H

/* Tokens of users, teams, organizations (which act as teams) and agent pools. The database stores only their digests: a
 * token is shown once, when it is created. */

#include "scheduler/store/store.h"

/*
 * A token of a person may be scoped: it only reads (GET), or it has only what belongs to one workspace, or both
 * (actor_may and api/server/authenticate.c). It makes no tokens. Its digest is of its text with a prefix, so that a
 * scheduler of an earlier version, which does not know scopes, finds no such token.
 */
#define SCOPED_TOKEN_PREFIX "ry_scoped_"

/* The digest by which the database knows a token. */
void token_hash(const char *token, char ret_hash[SHA256_HEX_SIZE]);

struct token_order {
	const char *user_id, *pool_id; /* the owner: exactly one is not NULL... */
	bool notifier;                 /* ...unless the token is the notifiers' */
	const char *team_id;           /* of a team's token: user_id is the team's service user */
	const char *description;       /* NULL: none; a team has one token without */
	const char *expires_at;        /* a time PostgreSQL reads; NULL: never */
	bool expires_by_default;       /* the request named no time: a limit may make it earlier */
	bool read_only;                /* of a person's token: its scope */
	const char *workspace_id;      /* likewise: the only workspace, or NULL */
	const char *created_by;        /* the user who created it, or NULL */
	const char *provider_id; /* of a user's token: the identity provider that it is bound to; NULL or "": none */
};

/* Creates a token. A team's token without a description replaces the existing one. The caller frees the text; ret_id
 * may be NULL. ERR_INVALID for a description that another token of the team has, and for a team's token that expires
 * later than its organization permits (auth/lifetimes/token_limits.h). */
int token_create(
	struct store *store, const struct token_order *order, char **ret_token, struct id *ret_id, struct err *err);

/* The same unless the owner has a valid token; then *ret_token stays as it is. */
int token_ensure(struct store *store, const struct token_order *order, char **ret_token, struct err *err);

/* The default lifetime of a user's token. */
enum { TOKEN_YEARS = 2 };
/* Writes the time that is `days` from now, for token_order. */
void token_expiry(long long days, char ret_time[32]);
/* Writes the default expiry: TOKEN_YEARS calendar years from now. */
void token_expiry_usual(char ret_time[32]);

/* Reads a token. expired_at is never later than the organization's limit permits. Columns id, user_id, pool_id,
 * team_id, team_kind, organization_id (the pool's or the team's), creator_id (a user), notifier, description,
 * created_at, last_used_at, expired_at, read_only, workspace_id. ERR_NOT_FOUND. */
int token_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);

struct token_list {
	const char *user_id, *pool_id, *team_id; /* the owner: at most one is not NULL... */
	bool notifier;                           /* ...and none if the tokens are the notifiers' */
	const long long *unused_days;            /* of a user's: only those unused for so long; NULL: all */
	long long limit, offset;
};
/* Lists tokens, the newest first, with `total`; one row with a null id if the page is empty. */
int tokens_list(struct store *store, const struct token_list *list, struct rows *ret_rows, struct err *err);
int token_delete(struct store *store, const char *id, struct err *err);
/* The same for an array of ids. */
int tokens_delete_all(struct store *store, const json_t *ids, struct err *err);

struct team_token_list {
	const char *organization_id;
	const char *search; /* part of the team's name, or NULL */
	const char *sort;   /* team-name, created-by, expired-at or last-used-at; a leading hyphen reverses it */
	const long long *unused_days; /* only tokens that are unused for so long; NULL: all */
	long long limit, offset;
};
/* The same for all of an organization's teams that the requester may see. */
int tokens_of_teams(struct store *store, const struct team_token_list *list, struct rows *ret_rows, struct err *err);
/* Reads the team's token that has no description. ERR_NOT_FOUND. */
int token_of_team(struct store *store, const char *team_id, struct rows *ret_rows, struct err *err);

#endif
