/* SPDX-License-Identifier: MPL-2.0 */
/* Configurations in JSON: {"variable": {"region": {"default": "eu"}}}, or arrays of such objects at each level. */
#include <string.h>

#include "common/buf.h"
#include "worker/inspect/description.h"
#include "worker/inspect/values.h"

struct json_form {
	struct folder_description *folder;
	const struct place *place;
};

typedef void (*member_fn)(struct json_form *form, const char *name, json_t *value, const void *data);

/* Calls `fn` for each member of the object, or of each object of the array. */
static void members_each(struct json_form *form, json_t *value, member_fn fn, const void *data)
{
	json_t *item;
	const char *name;
	size_t i;

	json_array_foreach(value, i, item)
	{
		if (json_is_object(item))
			members_each(form, item, fn, data);
	}
	json_object_foreach(value, name, item) fn(form, name, item, data);
}

static struct described_value value_of(json_t *json, char *text)
{
	const char *string = json_string_value(json);
	const bool plain = string && !strstr(string, "${") && !strstr(string, "%{");

	return (struct described_value){.source = text, .len = strlen(text), .string = plain ? mem_text(string) : NULL};
}

/* What attributes describe, and their reader. */
struct attributes {
	void (*attribute)(void *data, const char *name, const struct described_value *value);
	void *data;
};

/* The text of a type is an expression. */
static void attribute_read(struct json_form *form, const char *name, json_t *json, const void *data)
{
	const struct attributes *attributes = data;
	const bool expression = json_is_string(json) && text_equal(name, "type");
	_cleanup_(freep) char *text = expression ? mem_text(json_string_value(json)) : json_text(json);
	_cleanup_(described_value_release) struct described_value value = value_of(json, text);

	(void)form;
	attributes->attribute(attributes->data, name, &value);
}

static void object_read(struct json_form *form, const char *name, json_t *body, const void *data)
{
	const struct described_kind *kind = data;
	struct described_object object = {form->folder, kind->begin(form->folder, name, form->place)};
	const struct attributes attributes = {kind->attribute, &object};

	members_each(form, body, attribute_read, &attributes);
}

/* ---- resources ---- */

struct resource_type {
	const char *mode, *type;
};

static void resource_read(struct json_form *form, const char *name, json_t *body, const void *data)
{
	const struct resource_type *type = data;

	folder_resource(form->folder,
		&(struct described_resource){type->mode, type->type, name, json_string_at(body, "provider")},
		form->place);
}

static void type_read(struct json_form *form, const char *name, json_t *resources, const void *mode)
{
	const struct resource_type type = {mode, name};

	members_each(form, resources, resource_read, &type);
}

/* ---- settings ---- */

static void provider_required(struct json_form *form, const char *name, json_t *json, const void *data)
{
	struct described_object object = {form->folder, folder_provider(form->folder, name, form->place)};
	const struct attributes attributes = {provider_attribute, &object};

	(void)data;
	if (json_is_string(json))
		attribute_read(form, "version", json, &attributes);
	else
		members_each(form, json, attribute_read, &attributes);
}

static void setting_read(struct json_form *form, const char *name, json_t *json, const void *data)
{
	const struct attributes attributes = {settings_attribute, form->folder};

	(void)data;
	if (text_equal(name, "required_providers"))
		members_each(form, json, provider_required, NULL);
	else
		attribute_read(form, name, json, &attributes);
}

/* ---- a file ---- */

static void block_read(struct json_form *form, const char *name, json_t *json, const void *data)
{
	static const struct {
		const char *name;
		member_fn fn;
		const void *data;
	} types[] = {
		{"variable", object_read, &described_variable},
		{"output", object_read, &described_output},
		{"module", object_read, &described_call},
		{"provider", object_read, &described_provider},
		{"resource", type_read, "managed"},
		{"data", type_read, "data"},
		{"ephemeral", type_read, "ephemeral"},
		{"terraform", setting_read, NULL},
	};

	(void)data;
	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (text_equal(types[i].name, name))
			members_each(form, json, types[i].fn, types[i].data);
}

void json_read(struct folder_description *folder, const char *text, size_t len, const struct place *place)
{
	struct json_form form = {folder, place};
	struct place failed = *place;
	json_error_t error;
	json_auto_t *root = json_loadb(text, len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);

	if (!root) {
		failed.line = error.line > 0 ? (size_t)error.line : 0;
		description_fail(folder->all, &failed, "%s", error.text);
	} else if (!json_is_object(root) && !json_is_array(root)) {
		description_fail(folder->all, place, "the file must have a JSON object");
	} else {
		members_each(&form, root, block_read, NULL);
	}
}
