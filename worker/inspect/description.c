/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/inspect/description.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"

enum { OBJECT_ROOM = 256 }; /* bytes of an object's punctuation and member names */

/* ---- texts ---- */

/* The length of the UTF-8 sequence here; 0 if it is none. */
static size_t rune_len(const unsigned char *at, size_t left)
{
	const size_t len = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
	static const unsigned lowest[] = {0, 0x01, 0x80, 0x800, 0x10000};
	unsigned rune = len == 1 ? at[0] : at[0] & (0xffu >> (len + 1));

	if (len > left || (len > 1 && (at[0] < 0xc2 || at[0] > 0xf4)))
		return 0;
	for (size_t i = 1; i < len; i++) {
		if ((at[i] & 0xc0) != 0x80)
			return 0;
		rune = rune << 6 | (at[i] & 0x3f);
	}
	return rune < lowest[len] || (rune >= 0xd800 && rune < 0xe000) || rune > 0x10ffff ? 0 : len;
}

/* Bytes that JSON needs for a byte of ASCII. */
static size_t encoded(unsigned char byte)
{
	if (byte < 0x20)
		return 6;
	return byte == '"' || byte == '\\' ? 2 : 1;
}

json_t *described_text(struct description *all, const char *bytes, size_t len, size_t max)
{
	_cleanup_(freep) char *out = mem_new(1, (len < max ? len : max) + 4);
	size_t used = 0, cost = 0, at = 0;

	while (at < len) {
		const unsigned char *from = (const unsigned char *)bytes + at;
		const size_t rune = rune_len(from, len - at), step = rune ? rune : 1;
		const size_t adds = rune > 1 ? rune : rune ? encoded(*from) : 1;

		if (used + step > max || cost + adds > all->room)
			break;
		memcpy(out + used, rune ? (const char *)from : "?", step);
		used += step;
		cost += adds;
		at += step;
	}
	all->cut |= at < len;
	all->room -= cost;
	return json_stringn(out, used);
}

void description_fail(struct description *all, const struct place *place, const char *format, ...)
{
	char message[400];
	va_list args;

	if (*all->error)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	if (place->line)
		snprintf(all->error, sizeof(all->error), "%.100s:%zu: %.380s", place->path, place->line, message);
	else
		snprintf(all->error, sizeof(all->error), "%.100s: %.380s", place->path, message);
}

/* ---- a folder ---- */

void folder_open(struct folder_description *folder, struct description *all, const char *path, const char *name)
{
	*folder = (struct folder_description){.all = all,
		.path = path,
		.name = name,
		.empty = true,
		.readme = json_string(""),
		.required_version = json_string(""),
		.inputs = json_object(),
		.outputs = json_object(),
		.dependencies = json_object(),
		.providers = json_object(),
		.resources = json_object()};
}

/* The values of an object as an array. Takes the object. */
static json_t *values_of(json_t *object)
{
	json_t *values = json_array(), *value;
	const char *key;

	json_object_foreach(object, key, value) json_array_append(values, value);
	json_decref(object);
	return values;
}

json_t *folder_close(struct folder_description *folder)
{
	struct description *all = folder->all;

	return json_pack("{so so so sb so so so so so so}", "path",
		described_text(all, folder->path, strlen(folder->path), MAX_TEXT_BYTES), "name",
		described_text(all, folder->name, strlen(folder->name), MAX_NAME_BYTES), "readme", folder->readme,
		"empty", folder->empty, "required_version", folder->required_version, "inputs",
		values_of(folder->inputs), "outputs", values_of(folder->outputs), "dependencies",
		values_of(folder->dependencies), "provider_dependencies", values_of(folder->providers), "resources",
		values_of(folder->resources));
}

json_t *folder_object(struct folder_description *folder, json_t *objects, const char *key, const struct place *place,
	const char *what)
{
	struct description *all = folder->all;
	json_t *object = json_object_get(objects, key);

	if (object) {
		if (!place->is_override)
			description_fail(all, place, "%s \"%.100s\" is declared twice", what, key);
		return object;
	}
	if (all->room < OBJECT_ROOM) {
		all->cut = true;
		return NULL;
	}
	all->room -= OBJECT_ROOM;
	object = json_object();
	json_object_set_new(objects, key, object);
	return object;
}

json_t *folder_provider(struct folder_description *folder, const char *name, const struct place *place)
{
	static const char hashicorp[] = "hashicorp";
	json_t *provider = json_object_get(folder->providers, name);
	_cleanup_(freep) char *source = NULL;

	if (provider || text_equal(name, "terraform"))
		return provider;
	provider = folder_object(folder, folder->providers, name, place, "provider");
	if (!provider)
		return NULL;
	source = mem_printf("%s/%s", hashicorp, name);
	json_object_set_new(provider, "name", described_text(folder->all, name, strlen(name), MAX_NAME_BYTES));
	json_object_set_new(provider, "namespace", json_string(hashicorp));
	json_object_set_new(provider, "source", described_text(folder->all, source, strlen(source), MAX_NAME_BYTES));
	json_object_set_new(provider, "version", json_string(""));
	return provider;
}

void folder_resource(
	struct folder_description *folder, const struct described_resource *resource, const struct place *place)
{
	struct description *all = folder->all;
	_cleanup_(freep) char *key = mem_printf("%s %s.%s", resource->mode, resource->type, resource->name);
	_cleanup_(freep) char *implied = mem_text(resource->provider ? resource->provider : resource->type);
	json_t *object = folder_object(folder, folder->resources, key, place, "resource");

	if (!object)
		return;
	json_object_set_new(
		object, "type", described_text(all, resource->type, strlen(resource->type), MAX_NAME_BYTES));
	json_object_set_new(
		object, "name", described_text(all, resource->name, strlen(resource->name), MAX_NAME_BYTES));
	json_object_set_new(object, "mode", json_string(resource->mode));
	implied[strcspn(implied, resource->provider ? ". " : "_")] = '\0';
	if (*implied)
		folder_provider(folder, implied, place);
}
