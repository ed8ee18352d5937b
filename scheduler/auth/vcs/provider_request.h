/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_VCS_PROVIDER_REQUEST_H
#define SCHEDULER_AUTH_VCS_PROVIDER_REQUEST_H

/*
 * One request to a VCS provider or an identity provider. The caller waits for the answer. It takes at most 10 s,
 * follows no redirect, and connects only to addresses that the guard permits (--vcs-allow, --identity-allow). A worker
 * that sends it has the same time once it has claimed it, and its own guard. For handlers of BLOCKING_CALL routes and
 * for threads of their own; never within a transaction.
 */

#include "common/buf.h"
#include "common/json/json.h"

struct guard;
struct store;

enum { PROVIDER_HEADERS = 4 };

struct provider_request {
	const char *method; /* "GET" */
	const char *url;
	const char *headers[PROVIDER_HEADERS]; /* "Name: value"; NULL: none */
	const char *body;                      /* NULL: none */
	const struct store *store;             /* with pool_id */
	const char *pool_id;                   /* the pool whose workers send the request; NULL: this process does */
	struct buf *document;                  /* gets the body of an answer that is not JSON; NULL: it is JSON */
};

struct provider_answer {
	int status;      /* 0: no answer */
	char why[512];   /* readable: the error, or the status. Never a part of the body */
	bool too_large;  /* more than 1 MiB, or than `document` takes */
	json_t *body;    /* NULL: no JSON, too large, or `document` was given */
	int retry_after; /* seconds, or 0 */
};

void provider_answer_release(struct provider_answer *answer);
/* Fills *ret_answer in any case. */
void provider_request_send(
	const struct guard *guard, const struct provider_request *request, struct provider_answer *ret_answer);
/* True if the same request may succeed later: no answer, 429 or 5xx. */
bool provider_answer_is_passing(const struct provider_answer *answer);

#endif
