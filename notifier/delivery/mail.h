/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_DELIVERY_MAIL_H
#define NOTIFIER_DELIVERY_MAIL_H

/* Formats a notification as an Internet mail. */

#include <time.h>

#include "common/json/json.h"

struct mail {
	const char *id; /* of the notification; a repeated notification has the same Message-ID */
	const char *from;
	const char *subject;
	const json_t *to; /* addresses; invalid ones are left out */
	const char *text; /* UTF-8 */
	time_t at;
};

/* Returns the number of valid addresses. */
size_t mail_recipients(const json_t *to);
/* The message with its headers and with CRLF line ends. The caller frees it. */
char *mail_write(const struct mail *mail);

#endif
