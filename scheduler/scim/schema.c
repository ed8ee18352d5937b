/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/scim/schema.h"

#include <stdarg.h>
#include <stdio.h>
#include <strings.h>

#define READ_WRITE "readWrite"
#define PLAIN(name)                                                                                                    \
	{                                                                                                              \
		name, SCIM_TEXT, false, false, READ_WRITE, NULL, NULL, 0                                               \
	}
#define FLAG(name)                                                                                                     \
	{                                                                                                              \
		name, SCIM_BOOLEAN, false, false, READ_WRITE, NULL, NULL, 0                                            \
	}
#define LIST_OF(name, required, subs)                                                                                  \
	{                                                                                                              \
		name, SCIM_COMPLEX, true, required, READ_WRITE, NULL, subs, ARRAY_LEN(subs)                            \
	}

static const struct scim_field name_fields[] = {
	PLAIN("formatted"),
	PLAIN("familyName"),
	PLAIN("givenName"),
	PLAIN("middleName"),
	PLAIN("honorificPrefix"),
	PLAIN("honorificSuffix"),
};

static const struct scim_field email_fields[] = {
	{"value", SCIM_TEXT, false, true, READ_WRITE, NULL, NULL, 0},
	PLAIN("display"),
	PLAIN("type"),
	FLAG("primary"),
};

static const struct scim_field value_fields[] = {PLAIN("value"), PLAIN("display"), PLAIN("type"), FLAG("primary")};

static const struct scim_field address_fields[] = {
	PLAIN("formatted"),
	PLAIN("streetAddress"),
	PLAIN("locality"),
	PLAIN("region"),
	PLAIN("postalCode"),
	PLAIN("country"),
	PLAIN("type"),
	FLAG("primary"),
};

static const struct scim_field user_fields[] = {
	{"userName", SCIM_TEXT, false, true, READ_WRITE, NULL, NULL, 0},
	{"name", SCIM_COMPLEX, false, false, READ_WRITE, NULL, name_fields, ARRAY_LEN(name_fields)},
	PLAIN("displayName"),
	PLAIN("nickName"),
	{"profileUrl", SCIM_REFERENCE, false, false, READ_WRITE, "external", NULL, 0},
	PLAIN("title"),
	PLAIN("userType"),
	PLAIN("preferredLanguage"),
	PLAIN("locale"),
	PLAIN("timezone"),
	{"active", SCIM_BOOLEAN, false, true, READ_WRITE, NULL, NULL, 0},
	LIST_OF("emails", true, email_fields),
	LIST_OF("phoneNumbers", false, value_fields),
	LIST_OF("addresses", false, address_fields),
	LIST_OF("entitlements", false, value_fields),
	LIST_OF("roles", false, value_fields),
};

static const struct scim_field manager_fields[] = {
	PLAIN("value"),
	{"$ref", SCIM_REFERENCE, false, false, READ_WRITE, "User", NULL, 0},
	{"displayName", SCIM_TEXT, false, false, "readOnly", NULL, NULL, 0},
};

static const struct scim_field enterprise_fields[] = {
	PLAIN("employeeNumber"),
	PLAIN("costCenter"),
	PLAIN("organization"),
	PLAIN("division"),
	PLAIN("department"),
	{"manager", SCIM_COMPLEX, false, false, READ_WRITE, NULL, manager_fields, ARRAY_LEN(manager_fields)},
};

static const struct scim_field member_fields[] = {
	{"value", SCIM_TEXT, false, false, "immutable", NULL, NULL, 0},
	{"$ref", SCIM_REFERENCE, false, false, "immutable", "User", NULL, 0},
	PLAIN("display"),
};

static const struct scim_field group_fields[] = {
	{"displayName", SCIM_TEXT, false, true, READ_WRITE, NULL, NULL, 0},
	LIST_OF("members", false, member_fields),
};

#define SCHEMA(urn, name, description, fields)                                                                         \
	{                                                                                                              \
		urn, name, description, fields, ARRAY_LEN(fields)                                                      \
	}
const struct scim_schema scim_user_schema = SCHEMA(SCIM_USER, "User", "An account of a person", user_fields);
const struct scim_schema scim_enterprise_schema =
	SCHEMA(SCIM_ENTERPRISE, "EnterpriseUser", "A person's place in a company", enterprise_fields);
const struct scim_schema scim_group_schema =
	SCHEMA(SCIM_GROUP, "Group", "A group of people, which teams can follow", group_fields);

const struct scim_field *scim_field_find(const struct scim_field *fields, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcasecmp(fields[i].name, name) == 0)
			return &fields[i];
	return NULL;
}

const struct scim_schema *scim_extension_find(const char *urn)
{
	return strcasecmp(urn, SCIM_ENTERPRISE) == 0 ? &scim_enterprise_schema : NULL;
}

bool scim_is_core(const char *urn)
{
	return strcasecmp(urn, SCIM_USER) == 0 || strcasecmp(urn, SCIM_GROUP) == 0;
}

bool scim_is_exact(const char *name)
{
	return strcasecmp(name, "id") == 0 || strcasecmp(name, "externalId") == 0;
}

json_t *scim_member(const json_t *object, const char *name)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value) if (strcasecmp(key, name) == 0) return value;
	return NULL;
}

/* ---- at /Schemas ---- */

static json_t *field_shown(const struct scim_field *field)
{
	static const char *const types[] = {
		[SCIM_TEXT] = "string",
		[SCIM_BOOLEAN] = "boolean",
		[SCIM_REFERENCE] = "reference",
		[SCIM_COMPLEX] = "complex",
	};
	bool unique = strcasecmp(field->name, "userName") == 0;
	json_t *shown = json_pack("{ss ss sb sb ss ss ss sb}", "name", field->name, "type", types[field->type],
		"multiValued", field->is_list, "required", field->is_required, "mutability", field->mutability,
		"returned", "default", "uniqueness", unique ? "server" : "none", "caseExact", 0);
	json_t *subs = json_array();

	if (field->references)
		json_object_set_new(shown, "referenceTypes", json_pack("[s]", field->references));
	for (size_t i = 0; i < field->subs_count; i++)
		json_array_append_new(subs, field_shown(&field->subs[i]));
	if (field->type == SCIM_COMPLEX)
		json_object_set(shown, "subAttributes", subs);
	json_decref(subs);
	return shown;
}

json_t *scim_schema_shown(const struct scim_schema *schema)
{
	json_t *fields = json_array();

	for (size_t i = 0; i < schema->count; i++)
		json_array_append_new(fields, field_shown(&schema->fields[i]));
	return json_pack("{s[s] ss ss ss so}", "schemas", "urn:ietf:params:scim:schemas:core:2.0:Schema", "id",
		schema->urn, "name", schema->name, "description", schema->description, "attributes", fields);
}

/* ---- errors ---- */

int scim_wrong(struct err *err, const char *type, const char *format, ...)
{
	char message[sizeof(err->message)];
	va_list args;

	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	err_set(err, ERR_MALFORMED, "%s", message);
	text_copy(err->title, sizeof(err->title), type);
	return -1;
}
