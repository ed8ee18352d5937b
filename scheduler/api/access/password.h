/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_ACCESS_PASSWORD_H
#define SCHEDULER_API_ACCESS_PASSWORD_H

struct err;
struct request;

struct password_change {
	const char *current, *wanted, *again; /* NULL: not sent */
};

/* Changes the actor's password in a transaction that ends with the handler, and ends the actor's other sessions.
 * ERR_INVALID with the reason; ERR_BUSY after too many attempts. It hashes, so the route must be JSON_BLOCKING or
 * FORM_BLOCKING. */
int password_change(struct request *req, const struct password_change *change, struct err *err);
/* Compares the actor's password with the text. ERR_INVALID; ERR_BUSY after too many attempts. Slow, as above. */
int password_current_check(struct request *req, const char *current, struct err *err);

#endif
