/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_CALLBACK_CALLBACKS_H
#define NOTIFIER_CALLBACK_CALLBACKS_H

/*
 * Processes the callbacks of services. A service gets a 200 only after these steps:
 *
 *  - the form of the callback was checked;
 *  - the scheduler has stored the report;
 *  - for a final report, the broker has acknowledged the message.
 *
 * A callback that takes too long is answered 503. The service may send it again: a repeated report has no effect.
 */

#include "common/json/json.h"
#include "common/loop/inbox.h"

struct callbacks;
struct http_answer;
struct err;
struct notifier;

struct callbacks *callbacks_new(struct notifier *notifier);
void callbacks_free(struct callbacks *callbacks);
/* Answers the open callbacks with 503. */
void callbacks_close(struct callbacks *callbacks);
/* Returns the number of open callbacks. */
size_t callbacks_busy(const struct callbacks *callbacks);

/* For the server's threads: a new callback with the report of a task result and the bearer token. Takes `report`. */
struct visit *callback_new(const char *id, const char *token, json_t *report);
/* Frees a visit that inbox_put refused. */
void callback_free(struct visit *visit);

/* Fills in the JSON:API error document of *err and its status. */
void answer_error(struct http_answer *answer, const struct err *err);
/* Fills in a JSON document. Takes `document`. */
void answer_json(struct http_answer *answer, int status, json_t *document);

#endif
