/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_ACCESS_TOKENS_H
#define SCHEDULER_API_ACCESS_TOKENS_H

/* Functions that the endpoints of all kinds of tokens share. */

#include "scheduler/api/api.h"
#include "scheduler/api/resources.h"
#include "scheduler/auth/tokens.h"

/* Reads the description and the expiry from the body; texts are borrowed from it. */
int token_order_read(const struct request *req, struct token_order *order, struct err *err);
/* The same for a token that expires after two years if the body has no expiry. `fallback` holds that time's text. */
int token_order_read_expiring(const struct request *req, struct token_order *order, char fallback[32], struct err *err);
/* Creates the token and answers with it. The token is shown only in this answer. */
int token_make(struct request *req, struct response *res, const struct token_order *order, struct err *err);
extern const struct resource_kind kind_tokens;
/* The query's filter[unused-days]: *ret_days is `days`, or NULL without one. ERR_MALFORMED. */
int unused_days_read(const struct request *req, long long *days, const long long **ret_days, struct err *err);
/* Checks the setting unused-token-days of a site or an organization. ERR_INVALID. */
int unused_days_check(const json_t *set, struct err *err);
/* Whether the actor sees the workspace to which a new token is to be limited. ERR_NOT_FOUND. */
int token_workspace_visible(const struct request *req, const char *workspace_id, struct err *err);
/* Refuses (ERR_NOT_FOUND) an actor that may manage neither the tokens of all teams nor those of this team as its
 * member. */
struct team_row;
int team_tokens_may(const struct request *req, const struct team_row *team, struct err *err);
/* Answers with one page of a user's or a pool's tokens. Fills in the page of the list. */
int tokens_show(struct request *req, struct response *res, struct token_list *list, struct err *err);

#endif
