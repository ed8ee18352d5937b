/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_LIMITS_H
#define SCHEDULER_API_LIMITS_H

/*
 * Who asks, by address, and how often they may: each token so many requests a second, and each address without one.
 * Each scheduler counts for itself. Workers, notifiers and addresses with a signature are not counted.
 */

#include "scheduler/api/api.h"

struct guard;

/* The address that the request came from: behind proxies that are trusted, the one they were asked by. */
void limits_address(const struct http_request *http, const struct guard *proxies, char *ret_address, size_t size);
/* Takes one of the request's own `per_second` (0: nobody is limited) and says in its answer how many are left.
 * ERR_BUSY if there is none. */
int limits_take(struct request *req, struct response *res, long long per_second, struct err *err);
/* Whether a token that was refused comes into the audit trail: a few for each address, or one who guesses would fill
 * it. */
bool limits_note_refusal(const struct request *req);

#endif
