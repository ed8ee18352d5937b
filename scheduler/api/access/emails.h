/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_ACCESS_EMAILS_H
#define SCHEDULER_API_ACCESS_EMAILS_H

struct err;

/* ERR_INVALID, pointing at `email`, if the text can't be an e-mail address. */
int email_check(const char *email, struct err *err);

#endif
