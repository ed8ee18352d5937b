/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_API_H
#define SCHEDULER_API_API_H

/* The declarations that handlers share: every handler of routes.def, and the answers to batched requests. */

#include "scheduler/api/handlers.h"
#include "scheduler/http/request.h"

/* Answers with the results of all uploads that the request's handler added, or returns -1 with the error. */
int uploads_respond(
	const struct request *req, struct response *res, const struct upload *uploads, size_t count, struct err *err);
/* Answers with the outcome of a report: 204, or -1 with its error. */
int report_respond(struct response *res, const struct report *report, struct err *err);

#endif
