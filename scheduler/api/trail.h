/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_API_TRAIL_H
#define SCHEDULER_API_TRAIL_H

/*
 * How a request that changes something comes into the audit trail without its handler's help: the place is what may()
 * was asked of, the resource is what was answered or else what the route's path names, and the attributes are those of
 * the body.
 *
 * Such a handler runs in one transaction, which ends with its audit event. It is run again from the start after a
 * deadlock. Two kinds are not: those that wait for somebody else's server (JSON_ASIDE) and uploads, which keep what
 * they refused. They make their own transactions, and the first that commits carries the event. What is done together
 * with others (JSON_TOGETHER) has its event written with theirs.
 */

#include "scheduler/store/audit.h"

struct request;
struct response;
struct place;
struct route;
struct route_match;

/* What is gathered during one request. */
struct trail {
	struct id organization, project, workspace;
	char type[64], resource[AUDIT_TEXT]; /* of the document that was answered */
	char address[64];
	char request[AUDIT_UUID_SIZE]; /* empty until somebody needs it */
};

/* What a row of routes.def does to which resource, as its pattern and the request's path say. */
struct trail_deed {
	char action[64];
	char type[64];
	const char *id; /* borrowed from the match, or NULL */
};

/* Runs the route's handler. */
int trail_serve(struct request *req, struct response *res, struct err *err);
/* From here on a handler that waited for somebody works in one transaction, which ends with the handler. */
int trail_begin(struct request *req, struct err *err);
/* Called by may() and by respond_*: the trail may be NULL. */
void trail_note_place(struct trail *trail, const struct place *place);
void trail_note_document(struct trail *trail, const json_t *resource);

/* The pattern is one below /api/v2 or /signed. */
void trail_deed_read(const struct route *route, const struct route_match *match, struct trail_deed *ret_deed);
/* "registry-modules" is a registry_module. */
void trail_singular(const char *type, char *ret_name, size_t size);

/* Adds that the request has made the resource. */
int trail_add(struct request *req, const char *type, const char *id, struct audit_batch *batch, struct err *err);
/* Writes what no handler of routes.def stands for: a sign-in, a token that was refused. */
int trail_write(struct request *req, const char *action, const char *type, const char *id, struct err *err);

#endif
