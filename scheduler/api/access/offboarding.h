/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_ACCESS_OFFBOARDING_H
#define SCHEDULER_API_ACCESS_OFFBOARDING_H

#include "scheduler/http/request.h"

/* Suspends the person and ends their access (auth/identity/offboard.h), with audit events of what ended, a warning for
 * each organization that has no other owner, and an end of the waits of workers whose tokens ended. ERR_NOT_FOUND. */
int user_end_access(struct request *req, const char *user_id, struct err *err);

#endif
