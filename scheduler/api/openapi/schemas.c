/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/openapi/schemas.h"

#include <string.h>

#include "proto/states.h"

enum row_kind { ROW_RESOURCE, ROW_OBJECT, ROW_ATTRIBUTE, ROW_TO_ONE, ROW_TO_MANY, ROW_TO_LIST, ROW_LINKS };

enum value_type {
	VALUE_TEXT,
	VALUE_TIME,
	VALUE_NUMBER,
	VALUE_DECIMAL,
	VALUE_FLAG,
	VALUE_NULL,
	VALUE_JSON,
	VALUE_TEXTS,
	VALUE_TIMES,
	VALUE_CHOICE,
	VALUE_RUN_STATUS,
	VALUE_FLAGS,
	VALUE_OBJECT,
	VALUE_OBJECTS
};

enum { READ = 1, WRITE = 2, NULLABLE = 4, OPTIONAL = 8 };

struct row {
	enum row_kind kind;
	const char *name;
	enum value_type type;
	unsigned use;
	const char *of;
};

static const struct row table[] = {
#define RESOURCE(name, type)              {ROW_RESOURCE, name, VALUE_OBJECT, 0, type},
#define OBJECT(name)                      {ROW_OBJECT, name, VALUE_OBJECT, 0, NULL},
#define ATTRIBUTE(name, type, use)        {ROW_ATTRIBUTE, name, VALUE_##type, use, NULL},
#define ATTRIBUTE_OF(name, type, of, use) {ROW_ATTRIBUTE, name, VALUE_##type, use, of},
#define TO_ONE(name, types, use)          {ROW_TO_ONE, name, VALUE_OBJECT, use, types},
#define TO_MANY(name, types, use)         {ROW_TO_MANY, name, VALUE_OBJECTS, use, types},
#define TO_LIST(name)                     {ROW_TO_LIST, name, VALUE_OBJECT, READ, NULL},
#define LINKS(names)                      {ROW_LINKS, NULL, VALUE_OBJECT, READ, names},
#include "scheduler/api/openapi/resources.def"
};

static bool row_opens(const struct row *row)
{
	return row == table + ARRAY_LEN(table) || row->kind == ROW_RESOURCE || row->kind == ROW_OBJECT;
}

static const struct row *row_named(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (row_opens(&table[i]) && text_equal(table[i].name, name))
			return &table[i];
	return NULL;
}

json_t *schema_words(const char *text)
{
	json_t *words = json_array();

	for (size_t len; *text; text += len + (text[len] == ' ')) {
		len = strcspn(text, " ");
		json_array_append_new(words, json_stringn(text, len));
	}
	return words;
}

/* ---- values ---- */

/* An object of exactly these members; `required` lists those that are always present. Takes both. */
static json_t *closed_object(json_t *properties, json_t *required)
{
	return json_pack("{ss so so sb}", "type", "object", "required", required, "properties", properties,
		"additionalProperties", 0);
}

static json_t *run_status_schema(void)
{
	json_t *names = json_array();

	for (size_t i = 0; i < RUN_STATUS_COUNT; i++)
		json_array_append_new(names, json_string(run_statuses[i].name));
	return json_pack("{ss so}", "type", "string", "enum", names);
}

static json_t *scalar_schema(enum value_type type)
{
	static const struct {
		const char *type, *format;
	} scalars[] = {
		[VALUE_TEXT] = {"string", NULL},
		[VALUE_TIME] = {"string", "date-time"},
		[VALUE_NUMBER] = {"integer", NULL},
		[VALUE_DECIMAL] = {"number", NULL},
		[VALUE_FLAG] = {"boolean", NULL},
		[VALUE_NULL] = {"null", NULL},
		[VALUE_JSON] = {NULL, NULL},
	};

	return json_pack("{ss* ss*}", "type", scalars[type].type, "format", scalars[type].format);
}

static json_t *flags_schema(const char *names)
{
	json_t *required = schema_words(names), *properties = json_object(), *name;
	size_t i;

	json_array_foreach(required, i, name)
		json_object_set_new(properties, json_string_value(name), scalar_schema(VALUE_FLAG));
	return closed_object(properties, required);
}

static json_t *array_schema(json_t *item)
{
	return json_pack("{ss so}", "type", "array", "items", item);
}

static json_t *map_schema(json_t *value)
{
	return json_pack("{ss so}", "type", "object", "additionalProperties", value);
}

/* Without a name, any object. */
static json_t *named_schema(json_t *schemas, const char *name, enum schema_side side)
{
	return name ? schemas_ref(schemas, name, side) : json_pack("{ss}", "type", "object");
}

static json_t *value_schema(json_t *schemas, const struct row *row, enum schema_side side)
{
	switch (row->type) {
	case VALUE_CHOICE:
		return json_pack("{ss so}", "type", "string", "enum", schema_words(row->of));
	case VALUE_RUN_STATUS:
		return run_status_schema();
	case VALUE_FLAGS:
		return side == SCHEMA_ANSWER ? flags_schema(row->of) : map_schema(scalar_schema(VALUE_FLAG));
	case VALUE_TEXTS:
		return array_schema(scalar_schema(VALUE_TEXT));
	case VALUE_TIMES:
		return map_schema(scalar_schema(VALUE_TIME));
	case VALUE_OBJECT:
		return named_schema(schemas, row->of, side);
	case VALUE_OBJECTS:
		return array_schema(named_schema(schemas, row->of, side));
	default:
		return scalar_schema(row->type);
	}
}

/* The same schema, or null. Takes the schema. */
static json_t *or_null(json_t *schema)
{
	json_t *type = json_object_get(schema, "type"), *values = json_object_get(schema, "enum");

	if (!type)
		return json_pack("{s[o{ss}]}", "anyOf", schema, "type", "null");
	json_object_set_new(schema, "type", json_pack("[Os]", type, "null"));
	if (values)
		json_array_append_new(values, json_null());
	return schema;
}

/* ---- relations ---- */

json_t *schema_linkage(const char *types, bool nullable)
{
	json_t *schema = closed_object(json_pack("{s{ss} s{ss so}}", "id", "type", "string", "type", "type", "string",
					       "enum", schema_words(types)),
		json_pack("[ss]", "id", "type"));

	return nullable ? or_null(schema) : schema;
}

/* Some relations have only a link, to a list. */
static json_t *relation_schema(json_t *schemas, const struct row *row)
{
	json_t *links = schemas_ref(schemas, "relation-links", SCHEMA_ANSWER), *linkage;

	if (row->kind == ROW_TO_LIST)
		return closed_object(json_pack("{so}", "links", links), json_pack("[s]", "links"));
	linkage = schema_linkage(row->of, row->kind == ROW_TO_ONE);
	return closed_object(
		json_pack("{so so}", "data", row->kind == ROW_TO_ONE ? linkage : array_schema(linkage), "links", links),
		row->use & OPTIONAL ? json_array() : json_pack("[s]", "data"));
}

/* ---- resources and objects ---- */

struct members {
	json_t *attributes, *required, *relations, *links;
};

static void attribute_add(json_t *schemas, const struct row *row, enum schema_side side, struct members *to)
{
	json_t *schema = value_schema(schemas, row, side);

	json_object_set_new(to->attributes, row->name, row->use & NULLABLE ? or_null(schema) : schema);
	if (!(row->use & OPTIONAL))
		json_array_append_new(to->required, json_string(row->name));
}

static void links_add(const char *names, json_t *links)
{
	json_auto_t *words = schema_words(names);
	json_t *word;
	size_t i;

	json_array_foreach(words, i, word)
		json_object_set_new(links, json_string_value(word), or_null(scalar_schema(VALUE_TEXT)));
}

/* The rows after `opening` that the side has. */
static struct members members_of(json_t *schemas, const struct row *opening, enum schema_side side)
{
	struct members members = {json_object(), json_array(), json_object(), json_object()};

	for (const struct row *row = opening + 1; !row_opens(row); row++) {
		if (!(row->use & (side == SCHEMA_ANSWER ? READ : WRITE)))
			continue;
		if (row->kind == ROW_ATTRIBUTE)
			attribute_add(schemas, row, side, &members);
		else if (row->kind == ROW_LINKS)
			links_add(row->of, members.links);
		else
			json_object_set_new(members.relations, row->name, relation_schema(schemas, row));
	}
	return members;
}

/* Requests need not have any member, and unknown members are ignored. */
static json_t *object_schema(const struct members *members, enum schema_side side)
{
	if (side == SCHEMA_ANSWER)
		return closed_object(json_incref(members->attributes), json_incref(members->required));
	return json_pack("{ss sO}", "type", "object", "properties", members->attributes);
}

/* A relation is missing where it would lead back to the resource that includes it. */
static json_t *relations_schema(const struct members *members, enum schema_side side)
{
	if (side == SCHEMA_ANSWER)
		return closed_object(json_incref(members->relations), json_array());
	return json_pack("{ss sO}", "type", "object", "properties", members->relations);
}

static json_t *resource_schema(const struct row *opening, const struct members *members, enum schema_side side)
{
	json_t *properties =
		json_pack("{s{ss} so}", "type", "type", "string", "attributes", object_schema(members, side));

	if (json_object_size(members->relations))
		json_object_set_new(properties, "relationships", relations_schema(members, side));
	if (side == SCHEMA_REQUEST)
		return json_pack("{ss so}", "type", "object", "properties", properties);
	json_object_set_new(properties, "id", json_pack("{ss}", "type", "string"));
	json_object_set_new(properties, "type", json_pack("{ss}", "const", opening->of));
	if (json_object_size(members->links))
		json_object_set_new(properties, "links", closed_object(json_incref(members->links), json_array()));
	return closed_object(properties, json_pack("[sss]", "id", "type", "attributes"));
}

/* Adds the schema under the key, unless it is there or is being made. */
static void schema_add(json_t *schemas, const char *key, const struct row *opening, enum schema_side side)
{
	struct members members;

	if (json_object_get(schemas, key))
		return;
	json_object_set_new(schemas, key, json_object());
	members = members_of(schemas, opening, side);
	json_object_set_new(schemas, key,
		opening->kind == ROW_OBJECT ? object_schema(&members, side) : resource_schema(opening, &members, side));
	json_decref(members.attributes);
	json_decref(members.required);
	json_decref(members.relations);
	json_decref(members.links);
}

static json_t *schema_ref(json_t *schemas, const char *name, enum schema_side side)
{
	_cleanup_(freep) char *key = mem_printf("%s%s", name, side == SCHEMA_REQUEST ? "-input" : "");
	_cleanup_(freep) char *at = mem_printf("#/components/schemas/%s", key);
	const struct row *opening = row_named(name);

	if (opening)
		schema_add(schemas, key, opening, side);
	return json_pack("{ss}", "$ref", at);
}

json_t *schemas_ref(json_t *schemas, const char *names, enum schema_side side)
{
	json_auto_t *words = schema_words(names);
	json_t *refs, *word;
	size_t i;

	if (json_array_size(words) == 1)
		return schema_ref(schemas, names, side);
	refs = json_array();
	json_array_foreach(words, i, word)
		json_array_append_new(refs, schema_ref(schemas, json_string_value(word), side));
	return json_pack("{so}", "anyOf", refs);
}
