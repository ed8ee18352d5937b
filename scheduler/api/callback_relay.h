/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_CALLBACK_RELAY_H
#define SCHEDULER_API_CALLBACK_RELAY_H

/*
 * Run tasks call back at the API's own address, and notifiers take the callbacks in. One thread passes each callback to
 * a notifier, and to the next one if that gives no answer. The same callback twice does no harm. A callback that waits
 * costs a suspended connection and its body.
 */

#include "common/httpd.h"
#include "common/ids.h"

enum { RELAY_MOST_NOTIFIERS = 4 };

struct callback_relay;
struct err;

struct callback {
	struct id task_result;
	char *bearer;                     /* taken */
	char *urls[RELAY_MOST_NOTIFIERS]; /* of the notifiers, in the order in which they are tried; taken */
	size_t url_count;
};

int callback_relay_start(struct callback_relay **ret_relay, struct err *err);
/* Takes the request over from its handler, which returns at once. `answer` carries the headers. */
void callback_relay_pass(struct callback_relay *relay, const struct http_request *http,
	const struct http_answer *answer, const struct callback *callback);
/* Answers what waits and everything that still comes with 503. NULL-safe. */
void callback_relay_stop(struct callback_relay *relay);
/* After callback_relay_stop, once no request can come any more. NULL-safe. */
void callback_relay_free(struct callback_relay *relay);

#endif
