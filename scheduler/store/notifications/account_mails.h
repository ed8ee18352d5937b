/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_STORE_NOTIFICATIONS_ACCOUNT_MAILS_H
#define SCHEDULER_STORE_NOTIFICATIONS_ACCOUNT_MAILS_H

/*
 * Mails to users about accounts. Each is a notification with a recipient (notifications.h), whose text is made when a
 * notifier claims it. No secret is stored: the code of a link is the sealed id of its row, which any key opens.
 */

#include "scheduler/store/store.h"

#define MAIL_PASSWORD_RESET "password_reset" /* the link that sets a password */
#define MAIL_NO_PASSWORD    "no_password"    /* the account has none: sign in through the provider */
#define MAIL_BREAK_GLASS    "break_glass"    /* a session of an account for emergencies has begun */

struct account_mail {
	const char *kind;
	const char *recipient_id;
	const char *reset_id;   /* of MAIL_PASSWORD_RESET, or NULL */
	const char *subject_id; /* the user in the mail's text, or NULL */
};
/* Queues the mail. Call it in the transaction of what it is about. */
int account_mail_queue(struct store *store, const struct account_mail *mail, struct err *err);
/* Queues a mail about the user to all site admins who have an address. */
int account_mail_to_admins(struct store *store, const char *kind, const char *subject_id, struct err *err);

/* The mail's subject, constant, and its text, which the caller frees. */
struct account_mail_facts {
	const char *kind;
	const char *username; /* of the recipient */
	const char *reset_id; /* or NULL */
	const char *subject;  /* the username in the mail's text, or NULL */
};
const char *account_mail_subject(const char *kind);
char *account_mail_text(const struct store *store, const struct account_mail_facts *facts);

/* Opens the code of a link that sets a password. False if it is none. */
bool reset_code_open(const struct store *store, const char *code, struct id *ret_id);

#endif
