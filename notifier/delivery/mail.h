/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_MAIL_H
#define NOTIFIER_DELIVERY_MAIL_H

/* A notification as a mail: what people read, in the form that mail servers take. */

#include <time.h>

#include "common/json/json.h"

struct mail {
	const char *id; /* of the notification: one that comes twice has the same Message-ID */
	const char *from;
	const char *subject;
	const json_t *to; /* addresses; those that can't be written as they are, are left out */
	const char *text; /* UTF-8 */
	time_t at;
};

/* How many can be sent to. */
size_t mail_recipients(const json_t *to);
/* The message with its headers, its lines ended as SMTP wants them. The caller frees it. */
char *mail_write(const struct mail *mail);

#endif
