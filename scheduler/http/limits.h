/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_LIMITS_H
#define SCHEDULER_HTTP_LIMITS_H

/*
 * Rate limits of requests. A token has its own limit after its first successful authentication. All other requests are
 * limited per address. Each scheduler counts separately. Requests of workers and notifiers, callbacks of run tasks, and
 * signed links are not limited. Hooks of repositories have limits of their own (api/vcs/webhooks.c).
 */

#include "scheduler/http/request.h"

/* Takes one request from the bucket of the request's token or address. The answer's headers say how much is left.
 * `per_second` is the limit; 0: none. ERR_BUSY if the bucket is empty. */
int limits_take(struct request *req, struct response *res, long long per_second, struct err *err);
/* Gives the request's token its own bucket. Call it after the token has authenticated. */
void limits_note_authenticated(struct request *req);
/* Whether a refused token is added to the audit trail. It is limited per address, so that guessing does not fill the
 * trail. */
bool limits_note_refusal(const struct request *req);

#endif
