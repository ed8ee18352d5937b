/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_CONTROL_H
#define SCHEDULER_API_CONTROL_H

/*
 * Workers' requests that wait for something to stop (proto/README.md, `POST control`). Such a request costs a suspended
 * connection and nothing else: one thread asks PostgreSQL for all of them together, a few times a second, which
 * attempts are to stop, and only while any request waits. So a stop reaches its worker whichever scheduler was asked
 * for it, and without the broker.
 */

#include "common/httpd.h"
#include "common/json.h"

struct control;
struct err;

int control_start(const char *database_url, struct control **ret_control, struct err *err);
/* Takes the request over from its handler, which returns at once: it is answered when an attempt of that worker is to
 * stop that is not in `told` (an array as an answer's `stops`), or after a while. `answer` carries the headers. False
 * if as many wait as may. */
bool control_hold(struct control *control, const struct http_request *http, const struct http_answer *answer,
	const char *worker_id, json_t *told);
/* Answers what waits and takes nothing more. NULL-safe. */
void control_stop(struct control *control);
/* After control_stop, once no request can come any more. NULL-safe. */
void control_free(struct control *control);

#endif
