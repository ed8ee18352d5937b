/* SPDX-License-Identifier: MPL-2.0 */
#include "common/terraform/import_values.h"

#include <string.h>

/* A row of the table. */
struct member {
	enum import_shape shape;
	const char *name, *source;
	enum import_kind kind;
	enum import_shape of;
};

static const struct member members[] = {
#define MEMBER(shape_, name_, source_, kind_, of_) {SHAPE_##shape_, #name_, source_, KIND_##kind_, SHAPE_##of_},
#include "common/terraform/imports.def"
};

/* An object of an import: its JSON in the plan, and what its place says. Borrowed. */
struct object {
	enum import_shape shape;
	const json_t *part;
	const char *module, *name, *address;
};

/* Adds the objects of a collection. */
struct collection {
	const struct member *member;
	json_t *elements;
};

static json_t *object_make(const struct object *object);

/* ---- helpers ---- */

static const char *text_at(const json_t *object, const char *name)
{
	return text_or_empty(json_string_value(json_object_get(object, name)));
}

/* Without a separator if one of the texts is empty. Owned by the caller. */
static char *joined(const char *a, const char *separator, const char *b)
{
	return mem_printf("%s%s%s", a, *a && *b ? separator : "", b);
}

static void add(const struct collection *collection, const char *key, const struct object *object)
{
	json_object_set_new(collection->elements, key, object_make(object));
}

/* ---- the plan and states ---- */

static void add_named(const struct collection *collection, const json_t *by_name, const char *module)
{
	const char *name;
	json_t *part;

	json_object_foreach((json_t *)by_name, name, part)
	{
		_cleanup_(freep) char *key = joined(module, ":", name);

		add(collection, key,
			&(struct object){
				.shape = collection->member->of, .part = part, .module = module, .name = name});
	}
}

static void add_listed(const struct collection *collection, const json_t *list, const char *module)
{
	const json_t *part;
	size_t i;

	json_array_foreach(list, i, part)
	{
		const char *deposed = text_at(part, "deposed");
		_cleanup_(freep) char *key =
			joined(text_at(part, "address"), ":", *deposed ? deposed : text_at(part, "deposed_key"));

		add(collection, key, &(struct object){.shape = collection->member->of, .part = part, .module = module});
	}
}

static void add_states(const struct collection *collection, const json_t *module)
{
	const json_t *child;
	size_t i;

	add_listed(collection, json_object_get(module, "resources"), text_at(module, "address"));
	json_array_foreach(json_object_get(module, "child_modules"), i, child) add_states(collection, child);
}

/* ---- the configuration ---- */

typedef void (*module_function)(const struct collection *collection, const json_t *module, const char *address);

static void each_module(
	const struct collection *collection, module_function function, const json_t *module, const char *address)
{
	const char *name;
	json_t *call;

	function(collection, module, address);
	json_object_foreach(json_object_get(module, "module_calls"), name, call)
	{
		_cleanup_(freep) char *step = joined("module", ".", name);
		_cleanup_(freep) char *inner = joined(address, ".", step);

		each_module(collection, function, json_object_get(call, "module"), inner);
	}
}

static void add_scoped(const struct collection *collection, const json_t *module, const char *address)
{
	add_named(collection, json_object_get(module, collection->member->name), address);
}

static void add_called(const struct collection *collection, const json_t *module, const char *address)
{
	const json_t *part;
	size_t i;

	json_array_foreach(json_object_get(module, "resources"), i, part)
	{
		_cleanup_(freep) char *key = joined(address, ".", text_at(part, "address"));

		add(collection, key,
			&(struct object){
				.shape = collection->member->of, .part = part, .module = address, .address = key});
	}
}

static json_t *provisioners_of(enum import_shape shape, const json_t *resource, const char *address)
{
	json_t *list = json_array();
	const json_t *part;
	size_t i;

	json_array_foreach(json_object_get(resource, "provisioners"), i, part)
	{
		_cleanup_(freep) char *number = mem_printf("%zu", i);

		json_array_append_new(list,
			object_make(
				&(struct object){.shape = shape, .part = part, .address = address, .name = number}));
	}
	return list;
}

static void add_provisioned(const struct collection *collection, const json_t *module, const char *address)
{
	const json_t *part;
	size_t i;

	json_array_foreach(json_object_get(module, "resources"), i, part)
	{
		_cleanup_(freep) char *resource = joined(address, ".", text_at(part, "address"));
		json_auto_t *list = provisioners_of(collection->member->of, part, resource);
		json_t *provisioner;
		size_t n;

		json_array_foreach(list, n, provisioner)
		{
			_cleanup_(freep) char *key = joined(resource, ":", text_at(provisioner, "index"));

			json_object_set(collection->elements, key, provisioner);
		}
	}
}

static void collect(const struct collection *collection, const json_t *part)
{
	static const module_function in_modules[] = {
		[KIND_CALLED] = add_called,
		[KIND_SCOPED] = add_scoped,
		[KIND_PROVISIONED] = add_provisioned,
	};

	if (collection->member->kind == KIND_NAMED)
		add_named(collection, part, "");
	else if (collection->member->kind == KIND_LISTED)
		add_listed(collection, part, "");
	else if (collection->member->kind == KIND_STATES)
		add_states(collection, part);
	else
		each_module(collection, in_modules[collection->member->kind], part, "");
}

/* ---- objects ---- */

/* The first of the paths, with '|' between them, at which there is a value. */
static json_t *source_of(const json_t *part, const char *paths)
{
	_cleanup_(freep) char *copy = mem_text(paths);
	char *rest = copy, *path;
	const json_t *found = *paths ? NULL : part;

	while (!found && (path = strsep(&rest, "|")))
		found = json_at(part, path);
	return (json_t *)found;
}

static json_t *collection_of(const struct member *member, const json_t *part)
{
	const struct collection collection = {.member = member, .elements = json_object()};

	collect(&collection, part);
	return collection.elements;
}

/* A copy, or what stands for a value that the plan lacks. */
static json_t *plain_value(const struct member *member, json_t *part)
{
	if (member->kind == KIND_FLAG)
		return json_boolean(json_is_true(part));
	if (part && (member->kind == KIND_KNOWN || !json_is_null(part)))
		return json_incref(part);
	switch (member->kind) {
	case KIND_TEXT:
		return json_string("");
	case KIND_LIST:
		return json_array();
	case KIND_MAP:
		return json_object();
	case KIND_KNOWN:
		return NULL;
	default:
		return json_null();
	}
}

/* A new reference; NULL if the member is left out. */
static json_t *member_value(const struct member *member, const struct object *object, json_t *part)
{
	struct object inner = *object;

	switch (member->kind) {
	case KIND_MODULE:
		return json_string(object->module);
	case KIND_NAME:
		return json_string(object->name);
	case KIND_ADDRESS:
		return json_string(object->address);
	case KIND_PART:
		inner.shape = member->of;
		inner.part = part;
		return object_make(&inner);
	case KIND_PROVISIONERS:
		return provisioners_of(member->of, object->part, object->address);
	default:
		return member->kind >= KIND_NAMED ? collection_of(member, part) : plain_value(member, part);
	}
}

static json_t *object_make(const struct object *object)
{
	json_t *made = json_object();

	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		const struct member *member = &members[i];
		json_t *value;

		if (member->shape != object->shape)
			continue;
		value = member_value(member, object, source_of(object->part, member->source));
		if (value)
			json_object_set_new(made, member->name, value);
	}
	return made;
}

json_t *import_values(enum import_shape import, const json_t *plan)
{
	return object_make(&(struct object){.shape = import, .part = plan});
}
