/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_SERVER_ANSWERS_H
#define SCHEDULER_API_SERVER_ANSWERS_H

/* The parts of an answer that do not depend on its handler: headers, refusals and their log lines. */

#include "common/http/httpd.h"
#include "common/ids.h"

struct err;

/* Sets the installation's id, which every answer carries. Call it once, before the first request. Borrows it. */
void answers_init(const struct id *installation);
/* Frees the answer's parts and initializes it, with the headers of every answer. */
void answer_reset(struct http_answer *answer);
/* Answers with the error, and logs it. */
void answer_refuse(const struct http_request *http, struct http_answer *answer, const struct err *err);
/* The same for a request that the HTTP server refused, and without a log line. */
void answer_refused_by_server(int status, const char *why, struct http_answer *answer);
/* Logs an answer of 500 or above. The pattern is the route's, or "other". */
void answer_failure_log(const struct http_request *http, const char *pattern, int status, const struct err *err);

#endif
