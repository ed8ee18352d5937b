/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_INTERNAL_CONTROL_H
#define SCHEDULER_API_INTERNAL_CONTROL_H

/*
 * Holds workers' `POST control` requests until an attempt must stop (proto/README.md). A held request costs one
 * suspended connection. While any request is held, one thread polls PostgreSQL a few times a second for the attempts
 * that must stop. So a stop reaches its worker through any scheduler, and without the broker.
 */

#include "common/http/httpd.h"
#include "common/json/json.h"

struct control;
struct err;

int control_start(const char *database_url, struct control **ret_control, struct err *err);
/* Takes the request over from its handler, which returns at once. The request is answered when an attempt of that
 * worker must stop that is not in `known_stops` (an array in the form of an answer's `stops`), or after 25 s. `answer`
 * carries the headers. Takes a new reference to `known_stops`. Returns false if too many requests are held. */
bool control_hold(struct control *control, const struct http_request *http, const struct http_answer *answer,
	const char *worker_id, json_t *known_stops);
/* Answers the held requests and takes no more. NULL-safe. */
void control_stop(struct control *control);
/* Frees it. Call it after control_stop, when no more requests can arrive. NULL-safe. */
void control_free(struct control *control);

#endif
