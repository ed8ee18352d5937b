/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/inspect/values.h"

#include <string.h>

#include "common/buf.h"

void described_value_release(struct described_value *value)
{
	free(value->string);
}

/* ---- setting members ---- */

static void set_string(const struct described_object *object, const char *member, const struct described_value *value)
{
	const char *text = text_or_empty(value->string);

	if (object->object)
		json_object_set_new(object->object, member,
			described_text(object->folder->all, text, strlen(text), MAX_TEXT_BYTES));
}

static void set_source(const struct described_object *object, const char *member, const struct described_value *value)
{
	if (object->object)
		json_object_set_new(object->object, member,
			described_text(object->folder->all, value->source, value->len, MAX_TEXT_BYTES));
}

static bool is_true(const struct described_value *value)
{
	static const char word[] = "true";

	return value->len == strlen(word) && memcmp(value->source, word, value->len) == 0;
}

/* The object with its name, and with "" for the other members. */
static json_t *named(struct folder_description *folder, json_t *object, const char *name, const char *const *texts)
{
	if (!object || json_object_size(object))
		return object;
	json_object_set_new(object, "name", described_text(folder->all, name, strlen(name), MAX_NAME_BYTES));
	for (; *texts; texts++)
		json_object_set_new(object, *texts, json_string(""));
	return object;
}

/* ---- variables ---- */

static json_t *variable_begin(struct folder_description *folder, const char *name, const struct place *place)
{
	static const char *const texts[] = {"type", "description", "default", NULL};
	json_t *object = named(folder, folder_object(folder, folder->inputs, name, place, "variable"), name, texts);

	if (object && !json_object_get(object, "required")) {
		json_object_set_new(object, "required", json_true());
		json_object_set_new(object, "sensitive", json_false());
	}
	return object;
}

/* The default of a sensitive variable is not described, wherever it stands. */
static void variable_attribute(void *data, const char *name, const struct described_value *value)
{
	const struct described_object *object = data;

	if (!object->object)
		return;
	if (text_equal(name, "type"))
		set_source(object, name, value);
	if (text_equal(name, "description"))
		set_string(object, name, value);
	if (text_equal(name, "default")) {
		json_object_set_new(object->object, "required", json_false());
		if (!json_bool_at(object->object, "sensitive", false))
			set_source(object, name, value);
	}
	if (text_equal(name, "sensitive")) {
		json_object_set_new(object->object, "sensitive", json_boolean(is_true(value)));
		if (is_true(value))
			json_object_set_new(object->object, "default", json_string(""));
	}
}

/* ---- outputs ---- */

static json_t *output_begin(struct folder_description *folder, const char *name, const struct place *place)
{
	static const char *const texts[] = {"description", NULL};
	json_t *object = named(folder, folder_object(folder, folder->outputs, name, place, "output"), name, texts);

	if (object && !json_object_get(object, "sensitive"))
		json_object_set_new(object, "sensitive", json_false());
	return object;
}

static void output_attribute(void *data, const char *name, const struct described_value *value)
{
	const struct described_object *object = data;

	if (text_equal(name, "description"))
		set_string(object, name, value);
	if (text_equal(name, "sensitive") && object->object)
		json_object_set_new(object->object, "sensitive", json_boolean(is_true(value)));
}

/* ---- calls of modules ---- */

static json_t *call_begin(struct folder_description *folder, const char *name, const struct place *place)
{
	static const char *const texts[] = {"source", "version", NULL};

	return named(folder, folder_object(folder, folder->dependencies, name, place, "module"), name, texts);
}

static void call_attribute(void *data, const char *name, const struct described_value *value)
{
	if (text_equal(name, "source") || text_equal(name, "version"))
		set_string(data, name, value);
}

/* ---- providers ---- */

static void source_set(const struct described_object *object, const struct described_value *value)
{
	_cleanup_(freep) char *copy = mem_text(text_or_empty(value->string));
	char *last = strrchr(copy, '/'), *namespace;

	set_string(object, "source", value);
	if (!last)
		return;
	*last = '\0';
	namespace = strrchr(copy, '/');
	namespace = namespace ? namespace + 1 : copy;
	json_object_set_new(object->object, "namespace",
		described_text(object->folder->all, namespace, strlen(namespace), MAX_NAME_BYTES));
}

void provider_attribute(void *data, const char *name, const struct described_value *value)
{
	const struct described_object *object = data;

	if (!object->object || !value->string)
		return;
	if (text_equal(name, "source"))
		source_set(object, value);
	if (text_equal(name, "version"))
		set_string(object, name, value);
}

/* A configuration of a provider may have a version, which is an older form of a requirement. */
static void configuration_attribute(void *data, const char *name, const struct described_value *value)
{
	if (text_equal(name, "version"))
		provider_attribute(data, name, value);
}

void settings_attribute(void *data, const char *name, const struct described_value *value)
{
	struct folder_description *folder = data;
	const char *text = text_or_empty(value->string);

	if (!text_equal(name, "required_version") || !*text)
		return;
	json_decref(folder->required_version);
	folder->required_version = described_text(folder->all, text, strlen(text), MAX_NAME_BYTES);
}

const struct described_kind described_variable = {variable_begin, variable_attribute};
const struct described_kind described_output = {output_begin, output_attribute};
const struct described_kind described_call = {call_begin, call_attribute};
const struct described_kind described_provider = {folder_provider, configuration_attribute};
