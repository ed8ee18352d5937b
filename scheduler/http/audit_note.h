/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_AUDIT_NOTE_H
#define SCHEDULER_HTTP_AUDIT_NOTE_H

/*
 * The audit trail of requests that change something. Handlers need no code for it. An event has:
 *  - the place that the handler passed to may();
 *  - the resource of the answer, or else the resource in the route's path;
 *  - the names of the body's attributes.
 *
 * Such a handler runs in one transaction, which includes the audit event. After a deadlock the handler runs again from
 * the start. There are three exceptions:
 *  - Handlers that may block (route_blocks) make their own transactions. The first one that commits
 *    includes the event.
 *  - Signed uploads do the same, because they keep a record of refused content.
 *  - The event of a batched request is written in the transaction of its batch.
 */

#include "scheduler/store/access/audit.h"

struct request;
struct response;
struct place;
struct route;
struct route_match;

/* The fields of an audit event that are collected during one request. */
struct audit_note {
	struct id organization, project, workspace;
	char type[64], resource[AUDIT_TEXT]; /* of the resource in the answer */
	char address[64];
	char request[AUDIT_UUID_SIZE]; /* empty until the first event needs it */
};

/* The action and resource of a request, derived from the route's pattern and the request's path. */
struct audit_action {
	char action[64];
	char type[64];
	const char *id; /* borrowed from the match, or NULL */
};

/* Runs the route's handler, and writes the audit event if the route changes something. */
int audit_note_serve(struct request *req, struct response *res, struct err *err);
/* Begins a transaction in a handler that makes its own. The transaction ends with the handler. */
int audit_note_begin(struct request *req, struct err *err);
/* Called by may() and by respond_*. The trail may be NULL. */
void audit_note_place(struct audit_note *audit, const struct place *place);
void audit_note_document(struct audit_note *audit, const json_t *resource);

/* The route's pattern must be below /api/v2 or /signed. */
void audit_action_read(const struct route *route, const struct route_match *match, struct audit_action *ret_action);
/* Converts a resource type to its name in the trail: "registry-modules" to "registry_module". */
void audit_singular(const char *type, char *ret_name, size_t size);

/* Adds an event to the batch: the request created the resource. */
int audit_note_add(struct request *req, const char *type, const char *id, struct audit_batch *batch, struct err *err);
/* Writes an event that audit_note_serve can't derive from a route, such as a sign-in or a refused token. */
int audit_note_write(struct request *req, const char *action, const char *type, const char *id, struct err *err);

#endif
