/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_SITE_TEST_MAIL_H
#define SCHEDULER_API_SITE_TEST_MAIL_H

#include "common/json/json.h"
#include "scheduler/store/store.h"

/* Sends a test mail through the server (site_mail_server), which must be public or on --task-allow, and waits for at
 * most 15 s. ERR_INVALID with the reason; ERR_UNAUTHORIZED if the server refuses the login. For BLOCKING_CALL routes.
 */
int test_mail_send(const struct store *store, const json_t *server, const char *recipient, struct err *err);

#endif
