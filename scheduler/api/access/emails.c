/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/access/emails.h"

#include <string.h>

#include "common/err.h"

enum { MAX_EMAIL = 254 };

int email_check(const char *email, struct err *err)
{
	const char *at = email ? strchr(email, '@') : NULL;

	if (!email || !*email)
		return err_at(err, "/data/attributes/email", "Email can't be blank");
	if (!at || at == email || !at[1] || strpbrk(email, " \t\r\n") || strlen(email) > MAX_EMAIL)
		return err_at(err, "/data/attributes/email", "Email is invalid");
	return 0;
}
