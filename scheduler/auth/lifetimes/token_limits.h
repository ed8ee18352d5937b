/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_LIFETIMES_TOKEN_LIMITS_H
#define SCHEDULER_AUTH_LIFETIMES_TOKEN_LIMITS_H

/*
 * Limits of the lifetime of tokens. There are two kinds:
 *
 *  - An organization's longest lifetime of each kind of token (token_ttl_policies), while its setting max-ttl-enabled
 *    is on. Tokens of the organization and its teams are not valid afterwards. A person's token is valid, but not in
 *    this organization. A change of the limit acts on tokens that exist.
 *  - The days after which unused tokens are deleted: `unused-token-days` of the site's settings, for tokens of people,
 *    teams and organizations, and of an organization's settings, for its own and its teams' tokens. The shorter one
 *    counts. Tokens of agent pools and notifiers stay: a pool may be idle for long.
 */

#include "scheduler/store/store.h"

/* The kinds of tokens that have a limit, as in the API: organization, team, user, audit_trails. */
enum { TOKEN_KINDS = 4 };
/* The longest lifetime of a kind without a limit of its own: two years of 365.2425 days. */
#define TOKEN_TTL_USUAL_MS 63113904000LL

/* The organization's limit of each kind, with `total`: the shape `token_ttl`. */
struct token_ttl_page {
	long long limit, offset;
};
int token_ttls_read(struct store *store, const char *organization_id, const struct token_ttl_page *page,
	struct rows *ret_rows, struct err *err);
/* An array of {"token-type", "max-ttl-ms"}. Other kinds stay as they are. */
int token_ttls_update(struct store *store, const char *organization_id, const json_t *policies, struct err *err);
/* Stores the usual limit of the kinds that have none. Called when the limits are switched on. */
int token_ttls_ensure(struct store *store, const char *organization_id, struct err *err);

/* A token that is about to be made. */
struct token_lifetime {
	const char *team_id, *user_id; /* its owner: a team, or else a person */
	const char *expires_at;        /* NULL: never */
};
/* Whether it would outlast the limit of the team's organization, or the shortest one of the person's organizations;
 * ret_until is the latest expiry then. */
int token_limit_read(struct store *store, const struct token_lifetime *token, bool *ret_exceeded, char ret_until[64],
	struct err *err);

/* Deletes unused tokens, with an audit event for each. */
int tokens_unused_sweep(struct store *store, struct err *err);

#endif
