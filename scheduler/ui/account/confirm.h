/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_UI_ACCOUNT_CONFIRM_H
#define SCHEDULER_UI_ACCOUNT_CONFIRM_H

/* Pages that change how an account signs in. They need a password that was given in the last 15 minutes, so that an
 * unlocked browser or a stolen session can't add a factor. A site admin who acts as the user can't change them. */

#include "scheduler/api/api.h"

/* Returns 1 if the signed-in user may go on; else the handler returns this value: *res asks for the password, and then
 * leads to `back`, or refuses. */
int confirm_need(struct request *req, struct response *res, const char *back, struct err *err);
/* The same for requests of scripts: ERR_FORBIDDEN. */
int confirm_check(struct request *req, struct err *err);

#endif
