/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_AUTH_HELPER_HELPER_H
#define SCHEDULER_AUTH_HELPER_HELPER_H

/*
 * A helper process that reads what the scheduler does not trust, and can reach nothing (scheduler/helper/). It answers
 * one request at a time. It is killed if it does not answer in time, and started again when it has ended. Thread-safe.
 */

#include "common/json/json.h"

struct err;
struct helper;

struct helper_spec {
	const char *program; /* common/process.h: process_helper */
	int seconds;         /* for one request */
	/* Sentences for the client, for ERR_UNAVAILABLE: the helper does not answer; too many requests wait for it. */
	const char *unavailable, *busy;
};

/* Starts the process. A process that can't be started is tried again by each request. Borrows the spec. */
struct helper *helper_new(const struct helper_spec *spec);
/* Ends the process. No request may be under way. NULL-safe. */
void helper_free(struct helper *helper);

/* Sends the request, which it takes, and waits for the answer: at most one second until the helper is free, and
 * the seconds of the spec for the answer. *ret_answer is a new reference. -1:
 *   ERR_INVALID      what came from outside is not acceptable
 *   ERR_CONFLICT     the settings do not allow it
 *   ERR_UNAVAILABLE  no answer; the message is one sentence for the client */
int helper_ask(struct helper *helper, json_t *request, json_t **ret_answer, struct err *err);

#endif
