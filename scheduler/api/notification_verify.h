/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_NOTIFICATION_VERIFY_H
#define SCHEDULER_API_NOTIFICATION_VERIFY_H

/* Trying a notification's destination out, as it is saved or when somebody asks for it. */

#include "scheduler/api/tryout.h"
#include "scheduler/store/notification_configurations.h"

/* What came of it: a response, and what it borrows. */
struct notification_verification {
	struct tryout_answer answer;
	struct notification_response response;
	char code[16];
	char *body;
};

void notification_verification_release(struct notification_verification *verification);
/* Sends the verification, signed with the token ("": not signed), and waits for what comes of it. -1 with ERR_MALFORMED
 * if that is no 2xx; *ret_verification is filled all the same. */
int notification_verify(const struct store *store, const struct notification_configuration *configuration,
	const char *token, struct notification_verification *ret_verification, struct err *err);

#endif
