/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_NOTIFICATIONS_NOTIFICATION_VERIFY_H
#define SCHEDULER_API_NOTIFICATIONS_NOTIFICATION_VERIFY_H

/* Verifies the destination of a notification configuration, at a save or on request. */

#include "scheduler/api/tasks/test_request.h"
#include "scheduler/store/notifications/notification_configurations.h"

/* The result of a verification: a response, and the data that it borrows. */
struct notification_verification {
	struct test_request_answer answer;
	struct notification_response response;
	char code[16];
	char *body;
};

void notification_verification_release(struct notification_verification *verification);
/* Sends the verification, signed with the token ("": not signed), and waits for the answer. Returns -1 with
 * ERR_MALFORMED unless the answer is 2xx. Fills *ret_verification in any case. */
int notification_verify(const struct store *store, const struct notification_configuration *configuration,
	const char *token, struct notification_verification *ret_verification, struct err *err);

#endif
