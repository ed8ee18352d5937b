/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_SERVER_AUTHENTICATE_H
#define SCHEDULER_API_SERVER_AUTHENTICATE_H

/* Authentication of requests, and the check that a route accepts that kind of caller. Handlers check the permission in
 * the organization with may(). */

#include "scheduler/http/request.h"

/* Sets req->bearer. */
void bearer_read(struct request *req);
/* Checks the token, the session or the path's signature, before the body is read. Sets req->actor, unless the route's
 * handler checks the token (CAN_WORK_ON_JOB and CAN_KEEP_LEASES). */
int request_authenticate(struct request *req, struct err *err);
/* Checks whether the route accepts this kind of actor (rights/permissions.def). request_authenticate includes it. */
int actor_accepted(const struct request *req, struct err *err);
/* True if the token is that of the job's current attempt, or of the job that made the plan in the query. */
bool bearer_is_of_job(const struct request *req);

#endif
