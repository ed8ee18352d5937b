/* SPDX-License-Identifier: MPL-2.0 */
/* Configurations in HCL. */
#include <string.h>

#include "common/buf.h"
#include "common/hcl/hcl.h"
#include "worker/inspect/description.h"
#include "worker/inspect/values.h"

struct native {
	struct folder_description *folder;
	struct hcl_reader reader;
	struct place place; /* of the file; its line is set where it is needed */
	size_t counted;     /* the offset up to which `line` was counted */
	size_t line;
};

/* ---- places and texts ---- */

/* Offsets only grow, so each byte is looked at once. An error may stand before the last place. */
static struct place place_at(struct native *native, size_t offset)
{
	struct place place = native->place;

	if (offset < native->counted) {
		native->counted = 0;
		native->line = 1;
	}
	for (; native->counted < offset && native->counted < native->reader.len; native->counted++)
		native->line += native->reader.text[native->counted] == '\n';
	place.line = native->line;
	return place;
}

/* What the text stands for. The caller frees it. It ends at the first zero byte. */
static char *text_of(const struct native *native, const struct hcl_text *text)
{
	char *out = mem_new(text->end - text->begin + 1, 1);

	out[hcl_text_bytes(&native->reader, text, out)] = '\0';
	return out;
}

/* ---- values ---- */

static bool string_read(struct native *native, struct described_value *value)
{
	struct hcl_reader *reader = &native->reader;
	const bool quoted = hcl_peek(reader, 0) == '"';
	struct hcl_text text;

	if (!quoted && !(hcl_peek(reader, 0) == '<' && hcl_peek(reader, 1) == '<'))
		return true;
	if (!(quoted ? hcl_string : hcl_heredoc)(reader, &text) || !hcl_skip_spaces(reader))
		return false;
	if (hcl_at_end(reader) && !text.template)
		value->string = text_of(native, &text);
	return true;
}

/* Whether the text before `at` is a whole value, and the rest only comments. */
static bool is_comment(const struct described_value *value, size_t at)
{
	struct hcl_reader before = hcl_reader(value->source, at), rest = hcl_reader(value->source, value->len);

	rest.at = at;
	return hcl_skip_value(&before) && hcl_ended(&before) && hcl_skip_spaces(&rest) && hcl_ended(&rest);
}

/* Leaves out blanks and a comment behind the value. */
static void value_trim(struct described_value *value)
{
	enum { MAX_TRIES = 16 }; /* a value may have many such bytes in its texts */
	int tries = 0;

	for (size_t at = 1; at < value->len && tries < MAX_TRIES; at++) {
		if (value->source[at] != '#' && value->source[at] != '/')
			continue;
		if (is_comment(value, at))
			value->len = at;
		tries++;
	}
	while (value->len && strchr(" \t\r\n", value->source[value->len - 1]))
		value->len--;
}

/* Reads the value here, which begins at value->source. */
static bool value_read(struct native *native, struct described_value *value)
{
	struct hcl_reader *reader = &native->reader;
	const size_t begin = reader->at;

	*value = (struct described_value){.source = reader->text + begin};
	if (!string_read(native, value) || (!hcl_at_end(reader) && !hcl_skip_value(reader)))
		return false;
	if (reader->at == begin)
		return hcl_fail(reader, begin, "a value is missing");
	value->len = reader->at - begin;
	value_trim(value);
	return true;
}

/* ---- blocks ---- */

/* Reads the body of `block`. Calls `attribute` for its attributes, and `inner`, if it is not NULL, for its blocks. */
struct body {
	void (*attribute)(void *data, const char *name, const struct described_value *value);
	bool (*inner)(struct native *native, const struct hcl_item *item);
	void *data;
};

static bool attribute_read(struct native *native, const struct hcl_item *item, const struct body *body)
{
	_cleanup_(freep) char *name = text_of(native, &item->name);
	_cleanup_(described_value_release) struct described_value value = {.string = NULL};

	if (!value_read(native, &value))
		return false;
	if (body->attribute)
		body->attribute(body->data, name, &value);
	return true;
}

static bool body_read(struct native *native, const struct hcl_item *block, const struct body *body)
{
	struct hcl_reader *reader = &native->reader;
	struct hcl_item item;

	while (hcl_next(reader, block, &item)) {
		const bool read = !item.block ? attribute_read(native, &item, body)
			: body->inner         ? body->inner(native, &item)
					      : hcl_skip_block(reader);

		if (!read || !hcl_end(reader, &item))
			return false;
	}
	return !hcl_failed(reader);
}

/* A block of one kind with a label, whose attributes describe an object. */
static bool object_read(struct native *native, const struct hcl_item *item, const struct described_kind *kind)
{
	struct folder_description *folder = native->folder;
	const struct place place = place_at(native, item->begin);
	_cleanup_(freep) char *name = text_of(native, &item->labels[0]);
	struct described_object object = {folder, kind->begin(folder, name, &place)};

	return body_read(native, item, &(struct body){.attribute = kind->attribute, .data = &object});
}

/* ---- resources ---- */

static void resource_attribute(void *data, const char *name, const struct described_value *value)
{
	char **provider = data;

	if (text_equal(name, "provider") && !*provider)
		*provider = mem_printf(
			"%.*s", (int)(value->len < MAX_NAME_BYTES ? value->len : MAX_NAME_BYTES), value->source);
}

static bool resource_read(struct native *native, const struct hcl_item *item, const char *mode)
{
	const struct place place = place_at(native, item->begin);
	_cleanup_(freep) char *type = text_of(native, &item->labels[0]);
	_cleanup_(freep) char *name = text_of(native, &item->labels[1]);
	_cleanup_(freep) char *provider = NULL;
	struct described_resource resource = {.mode = mode, .type = type, .name = name};

	if (!body_read(native, item, &(struct body){.attribute = resource_attribute, .data = &provider}))
		return false;
	resource.provider = provider;
	folder_resource(native->folder, &resource, &place);
	return true;
}

/* ---- settings ---- */

static bool provider_required(struct native *native, const struct hcl_item *item)
{
	const struct place place = place_at(native, item->begin);
	_cleanup_(freep) char *name = text_of(native, &item->name);
	struct described_object object = {native->folder, folder_provider(native->folder, name, &place)};
	const struct body body = {.attribute = provider_attribute, .data = &object};
	_cleanup_(described_value_release) struct described_value value = {.string = NULL};

	if (hcl_take(&native->reader, '{'))
		return body_read(native, item, &body);
	if (!value_read(native, &value))
		return false;
	provider_attribute(&object, "version", &value);
	return true;
}

static bool providers_read(struct native *native, const struct hcl_item *block)
{
	struct hcl_reader *reader = &native->reader;
	struct hcl_item item;

	while (hcl_next(reader, block, &item))
		if (!(item.block ? hcl_skip_block(reader) : provider_required(native, &item)) ||
			!hcl_end(reader, &item))
			return false;
	return !hcl_failed(reader);
}

static bool setting_inner(struct native *native, const struct hcl_item *item)
{
	return hcl_text_is(&native->reader, &item->name, "required_providers") ? providers_read(native, item)
									       : hcl_skip_block(&native->reader);
}

static bool settings_read(struct native *native, const struct hcl_item *item)
{
	return body_read(native, item,
		&(struct body){.attribute = settings_attribute, .inner = setting_inner, .data = native->folder});
}

/* ---- a file ---- */

static bool block_read(struct native *native, const struct hcl_item *item)
{
	static const struct {
		const char *type;
		unsigned labels;
		const struct described_kind *kind;
		const char *mode;
	} types[] = {
		{"variable", 1, &described_variable, NULL},
		{"output", 1, &described_output, NULL},
		{"module", 1, &described_call, NULL},
		{"provider", 1, &described_provider, NULL},
		{"resource", 2, NULL, "managed"},
		{"data", 2, NULL, "data"},
		{"ephemeral", 2, NULL, "ephemeral"},
		{"terraform", 0, NULL, NULL},
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		if (!hcl_text_is(&native->reader, &item->name, types[i].type))
			continue;
		if (item->label_count != types[i].labels)
			return hcl_fail(&native->reader, item->begin, "the block \"%s\" must have %u labels",
				types[i].type, types[i].labels);
		if (types[i].kind)
			return object_read(native, item, types[i].kind);
		return types[i].mode ? resource_read(native, item, types[i].mode) : settings_read(native, item);
	}
	return hcl_skip_block(&native->reader);
}

void native_read(struct folder_description *folder, const char *text, size_t len, const struct place *place)
{
	struct native native = {.folder = folder, .reader = hcl_reader(text, len), .place = *place, .line = 1};
	struct hcl_reader *reader = &native.reader;
	struct hcl_item item;
	struct place failed;

	while (hcl_next(reader, NULL, &item))
		if (!(item.block ? block_read(&native, &item) : hcl_skip_value(reader)) || !hcl_end(reader, &item))
			break;
	if (!hcl_failed(reader) && !hcl_ended(reader))
		hcl_fail(reader, reader->at, "a bracket is closed that was not opened");
	if (!hcl_failed(reader))
		return;
	failed = place_at(&native, reader->error.offset);
	description_fail(folder->all, &failed, "%s", reader->error.message);
}
