/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SCIM_DOCUMENT_H
#define SCHEDULER_SCIM_DOCUMENT_H

/*
 * Documents of users in the form in which they are stored: names as the schema spells them, values of the schema's
 * types, and nothing that the schema does not have. Extensions are members named by their URNs. Pure.
 *
 * Identity providers differ from RFC 7644 in what they send, and are understood: booleans as texts, names in another
 * case, a single value for a list, dotted paths as names, values in a removal.
 */

#include "scheduler/scim/document_value.h"

/* Reads the document of a POST or a PUT. Members that the schema does not have are ignored. A new reference. */
int scim_document_read(const json_t *body, json_t **ret_document, struct err *err);
/* The operations of a PATCH: an array of objects. Borrowed. */
int scim_operations_read(const json_t *body, const json_t **ret_operations, struct err *err);

/* The operation's verb, in any case. */
int scim_verb_read(const json_t *operation, enum scim_verb *ret_verb, struct err *err);

/* Applies the operations to the user's document. Required attributes can't be removed: such a removal has no effect. A
 * removed `name` is null in the document. */
int scim_document_patch(json_t *document, const json_t *operations, struct err *err);

/* Whether an answer has the attribute, by the query's `attributes` and `excludedAttributes`, which may be NULL. */
struct scim_selection {
	const char *attributes, *excluded;
};
bool scim_selects(const struct scim_selection *selection, const char *name);
/* Takes away what the selection leaves out. */
void scim_select(const struct scim_selection *selection, json_t *resource);

#endif
