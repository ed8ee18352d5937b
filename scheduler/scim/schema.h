/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_SCIM_SCHEMA_H
#define SCHEDULER_SCIM_SCHEMA_H

/* The schemas of users and groups (RFC 7643): which attributes there are, and how clients may write them. Pure. */

#include "common/err.h"
#include "common/json/json.h"

#define SCIM_USER       "urn:ietf:params:scim:schemas:core:2.0:User"
#define SCIM_GROUP      "urn:ietf:params:scim:schemas:core:2.0:Group"
#define SCIM_ENTERPRISE "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"

enum scim_type { SCIM_TEXT, SCIM_BOOLEAN, SCIM_REFERENCE, SCIM_COMPLEX };

struct scim_field {
	const char *name;
	enum scim_type type;
	bool is_list, is_required;
	const char *mutability; /* "readWrite", "readOnly", "immutable" */
	const char *references; /* the type to which a reference leads, or NULL */
	const struct scim_field *subs;
	size_t subs_count;
};

struct scim_schema {
	const char *urn, *name, *description;
	const struct scim_field *fields;
	size_t count;
};

extern const struct scim_schema scim_user_schema, scim_enterprise_schema, scim_group_schema;

/* The attribute with that name, in any case, or NULL. Names of SCIM have no case. */
const struct scim_field *scim_field_find(const struct scim_field *fields, size_t count, const char *name);
/* The schema of an extension of users, or NULL. */
const struct scim_schema *scim_extension_find(const char *urn);
/* Whether the URN is that of a core schema, whose attributes need no URN. */
bool scim_is_core(const char *urn);
/* Whether the values of the attribute are compared with their case. */
bool scim_is_exact(const char *name);
/* The member with that name, in any case; NULL: there is none. Borrowed. */
json_t *scim_member(const json_t *object, const char *name);
/* The document of the schema at /Schemas. A new reference. */
json_t *scim_schema_shown(const struct scim_schema *schema);

/* Sets ERR_MALFORMED with the SCIM error type as its title ("invalidValue"). Returns -1. */
int scim_wrong(struct err *err, const char *type, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
