/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_REQUEST_AUDIT_H
#define SCHEDULER_API_REQUEST_AUDIT_H

/*
 * Audit events of requests that change something. Handlers need no code for them. An event has:
 *  - the place that the handler passed to may();
 *  - the resource of the answer, or else the resource in the route's path;
 *  - the names of the body's attributes.
 *
 * Such a handler runs in one transaction, which includes the audit event. After a deadlock the handler runs again from
 * the start. There are three exceptions:
 *  - Handlers that may block (route_blocks) make their own transactions. The first one that commits includes the event.
 *  - Signed uploads do the same, because they keep a record of refused content.
 *  - The event of a batched request is written in the transaction of its batch.
 */

#include "scheduler/http/request.h"
#include "scheduler/store/access/audit.h"

/* The action and resource of a request, derived from the route's pattern and the request's path. */
struct audit_action {
	char action[64];
	char type[64];
	const char *id; /* borrowed from the match, or NULL */
};

/* Runs the route's handler, and writes the audit event if the route changes something. */
int request_audit_run(struct request *req, struct response *res, struct err *err);
/* Begins a transaction in a handler that makes its own. The transaction ends with the handler. */
int request_audit_begin(struct request *req, struct err *err);

/* Adds an event to the batch: the request created the resource. */
int request_audit_add(
	struct request *req, const char *type, const char *id, struct audit_batch *batch, struct err *err);
/* Writes an event that request_audit_run can't derive from a route, such as a sign-in or a refused token. */
int request_audit_write(struct request *req, const char *action, const char *type, const char *id, struct err *err);
/* The same with details (store/access/audit.h), which it takes. */
int request_audit_detailed(struct request *req, const struct audit_action *action, json_t *details, struct err *err);

/* A further event of a request, in a place that need not be the request's. Takes the details. */
struct request_event {
	const char *organization, *workspace; /* NULL: the site */
	const char *action, *type, *id;
	json_t *details;
};
int request_audit_event(struct request *req, const struct request_event *event, struct err *err);
/* The same for several, with one statement. */
int request_audit_events(struct request *req, const struct request_event *events, size_t count, struct err *err);

/* The route's pattern must be below /api/v2, /scim/v2 or /signed. */
void audit_action_read(const struct route *route, const struct route_match *match, struct audit_action *ret_action);

#endif
