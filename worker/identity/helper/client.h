/* SPDX-License-Identifier: MPL-2.0 */
#ifndef WORKER_IDENTITY_HELPER_CLIENT_H
#define WORKER_IDENTITY_HELPER_CLIENT_H

/*
 * Requests to a Vault, one at a time, each over a connection of its own.
 *
 *  - Only http and https. Certificates are verified, with the system's CAs (or those of SSL_CERT_FILE) and the server's
 *    own.
 *  - A redirect is followed to the same scheme, host and port alone, because the request has a token.
 *  - The size and the time of an answer are limited. SIGINT, which the program blocks, ends a request.
 */

#include "common/json/json.h"

/* Borrows its texts. */
struct server {
	const char *title;   /* of its credentials, for messages */
	const char *address; /* without a slash at its end */
	const char *name_space;
	const char *ca; /* PEM, or "" */
};

struct call {
	const struct server *server;
	const char *path;  /* below /v1/ */
	const char *token; /* or NULL */
	long timeout_ms;   /* 0: a minute */
	json_t *body;      /* makes the request a POST; borrowed; or NULL: a GET */
	bool last;         /* of a revocation: SIGINT does not end it, and its time is short */
};

struct reply {
	long status;     /* 0: there is no complete answer */
	json_t *body;    /* of a success with a body: an object; owned; or NULL */
	char error[600]; /* the first error of the answer, or why there is none; printable */
	bool again;      /* the same request may succeed soon */
};

/* Sends the request, and again if that may help. */
void client_call(const struct call *call, struct reply *ret_reply);
void reply_release(struct reply *reply);
bool reply_succeeded(const struct reply *reply);

/* Waits for SIGINT. True if it has come, now or earlier. */
bool interrupt_wait(int64_t ms);

#endif
