/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_TOKENS_H
#define SCHEDULER_AUTH_TOKENS_H

/* Tokens of users, of teams, of organizations (which are teams, too) and of agent pools. The database knows their
 * digests only: a token is seen once, when it is made. */

#include "scheduler/store/store.h"

struct token_order {
	const char *user_id, *pool_id; /* whose it is: exactly one is not NULL... */
	bool notifier;                 /* ...unless it is the notifiers' */
	const char *team_id;           /* of a team's: user_id is its service user */
	const char *description;       /* NULL: none; a team has one token without */
	const char *expires_at;        /* a time PostgreSQL reads; NULL: never */
	const char *created_by;        /* the user who asked for it, or NULL */
};

/* Makes a token; a team's without a description takes the place of the one there is. The caller frees its text; ret_id
 * may be NULL. ERR_INVALID for a description that another token of the team has. */
int token_create(
	struct store *store, const struct token_order *order, char **ret_token, struct id *ret_id, struct err *err);

/* How long a person's token holds without another wish. */
enum { TOKEN_YEARS = 2 };
/* So many days from now, for token_order. */
void token_expiry(long long days, char ret_time[32]);
/* Of tokens for which nobody said one: years of the calendar from now. */
void token_expiry_usual(char ret_time[32]);

/* Columns id, user_id, pool_id, team_id, team_kind, organization_id (the pool's or the team's), creator_id (a user),
 * description, created_at, last_used_at, expired_at. ERR_NOT_FOUND. */
int token_read(struct store *store, const char *id, struct rows *ret_rows, struct err *err);

struct token_list {
	const char *user_id, *pool_id; /* whose: one is not NULL */
	long long limit, offset;
};
/* The newest first, with `total`; a row with a null id if the page is empty. */
int tokens_list(struct store *store, const struct token_list *list, struct rows *ret_rows, struct err *err);
int token_delete(struct store *store, const char *id, struct err *err);

struct team_token_list {
	const char *organization_id;
	const char *search; /* part of the team's name, or NULL */
	const char *sort; /* team-name, created-by, expired-at, last-used-at, with a hyphen before it for the reverse */
	long long limit, offset;
};
/* The same of all of an organization's teams that the viewer sees. */
int tokens_of_teams(struct store *store, const struct team_token_list *list, struct rows *ret_rows, struct err *err);
/* The team's token that has no description. ERR_NOT_FOUND. */
int token_of_team(struct store *store, const char *team_id, struct rows *ret_rows, struct err *err);

#endif
