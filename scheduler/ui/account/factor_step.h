/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_UI_ACCOUNT_FACTOR_STEP_H
#define SCHEDULER_UI_ACCOUNT_FACTOR_STEP_H

/* The step between a right password and the session: the second factor. */

#include "scheduler/ui/sign_in.h"

#define FACTOR_PATH "/app/login/factor"

/*
 * The person has proved the password. An account with a second factor gets the page that asks for it, and no session
 * yet. One that needs a factor and has none gets a session, and the page that sets one up. Any other goes on with
 * sign_in_complete.
 */
int factor_step(struct request *req, struct response *res, const struct sign_in *how, struct err *err);

#endif
