/* SPDX-License-Identifier: MPL-2.0 */
#ifndef NOTIFIER_CALLBACK_CALLBACKS_H
#define NOTIFIER_CALLBACK_CALLBACKS_H

/*
 * What services report: a callback is checked for its form, taken in by the scheduler, and if it is final its ticket is
 * on the broker's disks, before its service gets a 200. What does not get that far in time is answered 503, and may be
 * sent again: the same report twice does no harm.
 */

#include "common/json/json.h"
#include "common/loop/inbox.h"

struct callbacks;
struct http_answer;
struct err;
struct notifier;

struct callbacks *callbacks_new(struct notifier *notifier);
void callbacks_free(struct callbacks *callbacks);
/* Takes no more, and answers those that wait with 503. */
void callbacks_close(struct callbacks *callbacks);
/* How many wait for their answer. */
size_t callbacks_busy(const struct callbacks *callbacks);

/* From the server's threads: the report of a task result, with the token that it came with. Takes the report. */
struct visit *callback_new(const char *id, const char *token, json_t *report);
/* For a visit that inbox_put did not take. */
void callback_free(struct visit *visit);

/* The JSON:API error document of *err, with its status. */
void answer_error(struct http_answer *answer, const struct err *err);
/* A JSON document, which it takes. */
void answer_json(struct http_answer *answer, int status, json_t *document);

#endif
