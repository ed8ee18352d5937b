/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_TOKENS_H
#define SCHEDULER_API_TOKENS_H

/* What the endpoints of all kinds of tokens share. */

#include "scheduler/api/api.h"
#include "scheduler/api/including.h"
#include "scheduler/auth/tokens.h"

/* The description and the expiry that the body asks for; texts are borrowed from it. */
int token_order_read(const struct request *req, struct token_order *order, struct err *err);
/* The same for one that holds for two years without a wish; `fallback` keeps the text. */
int token_order_read_expiring(const struct request *req, struct token_order *order, char fallback[32], struct err *err);
/* Makes the token and answers with it: the only time that it is shown. */
int token_make(struct request *req, struct response *res, const struct token_order *order, struct err *err);
/* How tokens are listed (api/including.h). */
struct listing token_listing(const struct rows *rows);
/* Refuses (ERR_NOT_FOUND) who may not manage that team's tokens: neither all teams', nor those of their own team. */
int team_tokens_may(const struct request *req, const struct rows *team, struct err *err);
/* One page of a user's or a pool's tokens; fills in the rest of the list. */
int tokens_show(struct request *req, struct response *res, struct token_list *list, struct err *err);

#endif
