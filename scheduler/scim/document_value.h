/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SCIM_DOCUMENT_VALUE_H
#define SCHEDULER_SCIM_DOCUMENT_VALUE_H

/* Values of attributes in a user's document (document.h), and changes of one attribute. Pure. */

#include "scheduler/scim/filter.h"
#include "scheduler/scim/schema.h"

enum { SCIM_MAX_TEXT = 2048, SCIM_MAX_VALUES = 100, SCIM_MAX_OPERATIONS = 100 };

/* The field of a user's core schema, or `externalId`; NULL: there is none. */
const struct scim_field *scim_user_field(const char *name);
/* Checks the value, and sets it in the object under the field's name. Null removes it. */
int scim_value_set(json_t *object, const struct scim_field *field, const json_t *value, struct err *err);

enum scim_verb { SCIM_ADD, SCIM_REPLACE, SCIM_REMOVE };
/* One operation on one attribute. */
struct scim_change {
	json_t *holder; /* the object with the attribute */
	const struct scim_field *field;
	const struct scim_path *path;
	enum scim_verb verb;
	const json_t *value; /* NULL: of a removal without a value */
};
int scim_change_apply(const struct scim_change *change, struct err *err);

#endif
