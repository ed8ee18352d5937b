/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_PASSWORD_H
#define SCHEDULER_API_PASSWORD_H

struct err;
struct request;

struct password_change {
	const char *current, *wanted, *again; /* NULL: not sent */
};

/* Changes the password of who asks, in a transaction that ends with the handler, and ends their other sessions.
 * ERR_INVALID with what is wrong, ERR_BUSY for who guesses. For handlers that stand aside: it hashes. */
int password_change(struct request *req, const struct password_change *change, struct err *err);

#endif
