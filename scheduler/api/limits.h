/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_LIMITS_H
#define SCHEDULER_API_LIMITS_H

/*
 * Rate limits: each token has so many requests a second, and so has each address for its
 * requests without a token that has authenticated before. Each scheduler counts for itself. Requests of workers and
 * notifiers, and signed links, are not counted.
 */

#include "scheduler/api/api.h"

/* Takes one request from the bucket of the request's token, or of its address; `per_second` 0: there is no limit. The
 * answer's headers tell what is left. ERR_BUSY if the bucket is empty. */
int limits_take(struct request *req, struct response *res, long long per_second, struct err *err);
/* Gives the request's token, which has authenticated, a bucket of its own from now on. */
void limits_note_authenticated(struct request *req);
/* Whether a token that was refused comes into the audit trail: a few for each address, or one who guesses would fill
 * it. */
bool limits_note_refusal(const struct request *req);

#endif
