/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_TASKS_CALLBACK_RELAY_H
#define SCHEDULER_API_TASKS_CALLBACK_RELAY_H

/*
 * Relays callbacks of run tasks to the notifiers. Run tasks send callbacks to the API's own address. One thread passes
 * each callback to a notifier, and to the next one if the answer is missing or is 502, 503 or 504. A duplicate of a
 * callback is harmless. A pending callback costs a suspended connection and its body.
 */

#include "common/http/httpd.h"
#include "common/ids.h"

enum { RELAY_NOTIFIERS_MAX = 4 };

struct callback_relay;
struct err;

struct callback {
	struct id task_result;
	char *bearer;                    /* taken over by callback_relay_pass */
	char *urls[RELAY_NOTIFIERS_MAX]; /* of the notifiers, in the order of the attempts; taken over too */
	size_t url_count;
};

int callback_relay_start(struct callback_relay **ret_relay, struct err *err);
/* Takes the request over from its handler, which returns at once. `answer` carries the headers. */
void callback_relay_pass(struct callback_relay *relay, const struct http_request *http,
	const struct http_answer *answer, const struct callback *callback);
/* Answers pending callbacks, and all later ones, with 503. NULL-safe. */
void callback_relay_stop(struct callback_relay *relay);
/* Frees it. Call it after callback_relay_stop, when no more requests can arrive. NULL-safe. */
void callback_relay_free(struct callback_relay *relay);

#endif
