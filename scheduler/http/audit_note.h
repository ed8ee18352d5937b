/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_HTTP_AUDIT_NOTE_H
#define SCHEDULER_HTTP_AUDIT_NOTE_H

/* The content of a request's audit event (api/request_audit.h), collected while the handler runs: the place that it
 * passes to may(), and the resource of the answer. */

#include "common/json/json.h"
#include "scheduler/store/access/audit.h"

struct place;

/* The fields of an audit event that are collected during one request. */
struct audit_note {
	struct id organization, project, workspace;
	char type[64], resource[AUDIT_TEXT]; /* of the resource in the answer */
	char address[64];
	char request[AUDIT_UUID_SIZE]; /* empty until the first event needs it */
	json_t *details;               /* further facts, or NULL; owned */
	const char *action;            /* NULL: the route and its method say it */
};

/* Called by may() and by respond_*. The note may be NULL. */
void audit_note_place(struct audit_note *audit, const struct place *place);
void audit_note_document(struct audit_note *audit, const json_t *resource);
/* A fact of the event. */
void audit_note_detail(struct audit_note *audit, const char *name, const char *value);
void audit_note_release(struct audit_note *audit);
/* Replaces hyphens. */
void audit_underscores(char *text);
/* Converts a resource type to its name in the trail: "registry-modules" to "registry_module". */
void audit_singular(const char *type, char *ret_name, size_t size);

#endif
