/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/scim/document.h"

#include <string.h>
#include <strings.h>

/* ---- whole documents ---- */

/* An extension's object. */
static int extension_read(const struct scim_schema *schema, const json_t *value, json_t **ret_value, struct err *err)
{
	json_auto_t *read = json_object();
	const char *key;
	json_t *member;

	if (!json_is_object(value))
		return scim_wrong(err, "invalidValue", "%s must be an object", schema->urn);
	json_object_foreach((json_t *)value, key, member)
	{
		const struct scim_field *field = scim_field_find(schema->fields, schema->count, key);

		if (field && scim_value_set(read, field, member, err) < 0)
			return -1;
	}
	*ret_value = json_incref(read);
	return 0;
}

/* Writes one member of a body into the document. */
static int member_read(json_t *document, const char *key, const json_t *value, struct err *err)
{
	const struct scim_schema *extension = scim_extension_find(key);
	const struct scim_field *field = scim_user_field(key);
	json_t *read = NULL;

	if (!extension)
		return field ? scim_value_set(document, field, value, err) : 0;
	if (extension_read(extension, value, &read, err) < 0)
		return -1;
	json_object_set_new(document, extension->urn, read);
	return 0;
}

int scim_document_read(const json_t *body, json_t **ret_document, struct err *err)
{
	json_auto_t *document = json_object();
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)body, key, value) if (member_read(document, key, value, err) < 0) return -1;
	*ret_document = json_incref(document);
	return 0;
}

/* ---- operations ---- */

int scim_operations_read(const json_t *body, const json_t **ret_operations, struct err *err)
{
	const json_t *operations = scim_member(body, "Operations"), *operation;
	size_t i;

	if (!json_is_array(operations) || !json_array_size(operations))
		return scim_wrong(err, "invalidSyntax", "Operations must be an array with at least one operation");
	if (json_array_size(operations) > SCIM_MAX_OPERATIONS)
		return scim_wrong(err, "tooMany", "Operations must have at most %d operations", SCIM_MAX_OPERATIONS);
	json_array_foreach(operations, i, operation) if (!json_is_object(operation)) return scim_wrong(
		err, "invalidSyntax", "an operation must be an object");
	*ret_operations = operations;
	return 0;
}

int scim_verb_read(const json_t *operation, enum scim_verb *ret_verb, struct err *err)
{
	static const char *const verbs[] = {[SCIM_ADD] = "add", [SCIM_REPLACE] = "replace", [SCIM_REMOVE] = "remove"};
	const char *verb = text_or_empty(json_string_value(scim_member(operation, "op")));

	for (size_t i = 0; i < ARRAY_LEN(verbs); i++)
		if (strcasecmp(verb, verbs[i]) == 0) {
			*ret_verb = (enum scim_verb)i;
			return 0;
		}
	return scim_wrong(err, "invalidSyntax", "op must be add, replace or remove");
}

struct patch {
	json_t *document;
	enum scim_verb verb;
	const json_t *value;
	struct err *err;
};

static int path_apply(struct patch *p, const char *path);

/* Each member of the value is an attribute, or a path. */
static int object_apply(struct patch *p)
{
	const json_t *whole = p->value;
	const char *key;
	json_t *value;

	if (!json_is_object(whole))
		return scim_wrong(p->err, "invalidValue", "the value of an operation without path must be an object");
	json_object_foreach((json_t *)whole, key, value)
	{
		p->value = value;
		if (strcasecmp(key, "schemas") == 0 || strcasecmp(key, "id") == 0 || strcasecmp(key, "meta") == 0)
			continue;
		if (path_apply(p, key) < 0) {
			if (!text_equal(p->err->title, "invalidPath"))
				return -1;
			*p->err = (struct err)ERR_INIT; /* an attribute that the schema does not have is ignored */
		}
	}
	return 0;
}

static int extension_apply(struct patch *p, const struct scim_schema *schema)
{
	json_t *old = json_object_get(p->document, schema->urn), *read = NULL;

	if (p->verb == SCIM_REMOVE || json_is_null(p->value)) {
		json_object_del(p->document, schema->urn);
		return 0;
	}
	if (extension_read(schema, p->value, &read, p->err) < 0)
		return -1;
	if (old)
		json_object_update_new(old, read);
	else
		json_object_set_new(p->document, schema->urn, read);
	return 0;
}

/* The object that has the attribute: the document, or that of an extension, which is created. */
static json_t *holder_find(struct patch *p, const struct scim_path *path, const struct scim_field **ret_field)
{
	const struct scim_attribute *attribute = &path->attribute;
	const struct scim_schema *schema = *attribute->urn ? scim_extension_find(attribute->urn) : NULL;
	json_t *holder;

	if (!*attribute->urn) {
		*ret_field = scim_user_field(attribute->name);
		return p->document;
	}
	*ret_field = schema ? scim_field_find(schema->fields, schema->count, attribute->name) : NULL;
	if (!*ret_field)
		return NULL;
	holder = json_object_get(p->document, schema->urn);
	if (!holder) {
		holder = json_object();
		json_object_set_new(p->document, schema->urn, holder);
	}
	return holder;
}

static int attribute_apply(struct patch *p, const struct scim_path *path, const char *text)
{
	const struct scim_field *field = NULL;
	json_t *holder = holder_find(p, path, &field);
	struct scim_change change = {
		.holder = holder, .field = field, .path = path, .verb = p->verb, .value = p->value};

	if (!field)
		return scim_wrong(p->err, "invalidPath", "there is no attribute '%.128s'", text);
	if (text_equal(field->mutability, "readOnly"))
		return scim_wrong(p->err, "mutability", "%s can't be changed", field->name);
	if (p->verb != SCIM_REMOVE && json_is_null(p->value))
		change.verb = SCIM_REMOVE;
	return scim_change_apply(&change, p->err);
}

static int path_apply(struct patch *p, const char *text)
{
	const struct scim_schema *extension = scim_extension_find(text);
	struct scim_path *path;
	int result;

	if (extension)
		return extension_apply(p, extension);
	path = mem_new(1, sizeof(*path));
	result = scim_path_parse(text, path, p->err);
	if (result == 0)
		result = attribute_apply(p, path, text);
	scim_filter_release(&path->filter);
	free(path);
	return result;
}

static int operation_apply(json_t *document, const json_t *operation, struct err *err)
{
	const json_t *path = scim_member(operation, "path");
	struct patch p = {.document = document, .value = scim_member(operation, "value"), .err = err};

	if (scim_verb_read(operation, &p.verb, err) < 0)
		return -1;
	if (path && !json_is_null(path) && !json_is_string(path))
		return scim_wrong(err, "invalidPath", "a path must be a text");
	if (p.verb != SCIM_REMOVE && !p.value)
		return scim_wrong(err, "invalidValue", "the operation has no value");
	if (*text_or_empty(json_string_value(path)))
		return path_apply(&p, json_string_value(path));
	return p.verb == SCIM_REMOVE ? scim_wrong(err, "noTarget", "a removal needs a path") : object_apply(&p);
}

int scim_document_patch(json_t *document, const json_t *operations, struct err *err)
{
	const json_t *operation;
	size_t i;

	json_array_foreach(operations, i, operation) if (operation_apply(document, operation, err) < 0) return -1;
	return 0;
}

/* ---- the attributes of an answer ---- */

/* The length of the list's entry that begins at `at`, without blanks around it. */
static size_t entry_length(const char **at)
{
	size_t len;

	*at += strspn(*at, ", ");
	len = strcspn(*at, ", ");
	return len;
}

/* Whether the list names the attribute: "userName", "name.formatted" or with the URN of a core schema. `whole`: not if
 * it names a part of it only. */
static bool list_names(const char *list, const char *name, bool whole)
{
	size_t len, name_len = strlen(name);

	for (const char *at = list; (len = entry_length(&at)); at += len) {
		const char *entry = at;
		size_t left = len;

		for (size_t i = 0; i < len; i++)
			if (at[i] == ':' && strncasecmp(at, name, name_len) != 0) {
				entry = at + i + 1;
				left = len - i - 1;
			}
		if (left >= name_len && strncasecmp(entry, name, name_len) == 0 &&
			(left == name_len || (!whole && (entry[name_len] == '.' || entry[name_len] == ':'))))
			return true;
	}
	return false;
}

bool scim_selects(const struct scim_selection *selection, const char *name)
{
	if (strcasecmp(name, "id") == 0 || strcasecmp(name, "schemas") == 0)
		return true;
	if (selection->attributes)
		return list_names(selection->attributes, name, false);
	return !selection->excluded || !list_names(selection->excluded, name, true);
}

/* Takes away the parts of a complex attribute that the lists name one by one. */
static void parts_select(const struct scim_selection *selection, const char *name, json_t *object)
{
	const char *key;
	json_t *value;
	void *next;

	if (selection->attributes && list_names(selection->attributes, name, true))
		return;
	json_object_foreach_safe(object, next, key, value)
	{
		_cleanup_(freep) char *part = mem_printf("%s.%s", name, key);
		bool stays = selection->attributes ? list_names(selection->attributes, part, true)
						   : !list_names(selection->excluded, part, true);

		if (!stays)
			json_object_del(object, key);
	}
}

static void member_select(const struct scim_selection *selection, const char *name, json_t *value)
{
	json_t *element;
	size_t i;

	if (json_is_object(value))
		parts_select(selection, name, value);
	json_array_foreach(value, i, element) if (json_is_object(element)) parts_select(selection, name, element);
}

void scim_select(const struct scim_selection *selection, json_t *resource)
{
	const char *key;
	json_t *value;
	void *next;

	if (!selection->attributes && !selection->excluded)
		return;
	json_object_foreach_safe(resource, next, key, value)
	{
		if (!scim_selects(selection, key))
			json_object_del(resource, key);
		else
			member_select(selection, key, value);
	}
}
