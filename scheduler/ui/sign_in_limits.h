/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_UI_SIGN_IN_LIMITS_H
#define SCHEDULER_UI_SIGN_IN_LIMITS_H

/*
 * Limits on attempts to sign in: per address, per address and name, and, with a much higher limit, per name. The last
 * limit exempts addresses at which the user has a session, so guesses can't lock a user out. An attempt that succeeds
 * does not count.
 */

#include "common/http/http_clients.h"
#include "scheduler/api/api.h"

enum { MAX_SIGN_IN_NAME = 128 };

struct sign_in_limits {
	char address[HTTP_ADDRESS_SIZE], name[MAX_SIGN_IN_NAME + 1], pair[HTTP_ADDRESS_SIZE + MAX_SIGN_IN_NAME + 2];
	double now;
	bool name_taken; /* from LIMIT_SIGN_IN_NAME */
};
struct sign_in_limits sign_in_limits_of(const struct request *req, const char *username);
/* Whether the limits allow the attempt. */
int sign_in_limits_take(const struct request *req, struct sign_in_limits *attempt, bool *ret_allowed, struct err *err);
void sign_in_limits_return(const struct request *req, const struct sign_in_limits *attempt);

/* The same for an attempt whose user is not known yet: per address alone. */
bool sign_in_address_allowed(const struct request *req);
void sign_in_address_succeeded(const struct request *req);

#endif
