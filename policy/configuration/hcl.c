/* SPDX-License-Identifier: MPL-2.0 */
/* Blocks and attributes. */
#include "policy/configuration/hcl.h"

#include <string.h>

#include "common/base.h"
#include "policy/configuration/hcl_reader.h"

/* ---- items ---- */

static void read_body(struct literal_reader *reader, struct hcl_body *body, const struct hcl_item *of);

static struct hcl_block *read_block(struct literal_reader *reader, const struct hcl_item *item)
{
	struct hcl_block *block = run_alloc(reader->run, 1, sizeof(*block));

	*block = (struct hcl_block){
		.type = reader_name(reader, &item->name),
		.label_count = item->label_count,
		.source = reader->source,
		.begin = (uint32_t)item->begin,
	};
	for (unsigned i = 0; i < item->label_count; i++)
		block->labels[i] = reader_name(reader, &item->labels[i]);
	reader->run->at = (struct place){.source = reader->source, .offset = block->begin};
	run_enter(reader->run);
	read_body(reader, &block->body, item);
	run_leave(reader->run);
	return block;
}

static void refuse_repeated(struct literal_reader *reader, const struct hcl_body *body, const char *name, size_t offset)
{
	for (const struct hcl_attribute *other = body->attributes; other; other = other->next) {
		run_step(reader->run, 1);
		if (strcmp(other->name, name) == 0)
			reader_fail(reader, offset, "\"%s\" is given twice", name);
	}
}

static struct hcl_attribute *read_attribute(
	struct literal_reader *reader, const struct hcl_body *body, const struct hcl_item *item)
{
	struct hcl_attribute *attribute = run_alloc(reader->run, 1, sizeof(*attribute));
	const char *name = reader_name(reader, &item->name);

	refuse_repeated(reader, body, name, item->begin);
	*attribute = (struct hcl_attribute){
		.name = name,
		.offset = (uint32_t)item->begin,
		.value = reader_value(reader),
	};
	return attribute;
}

/* The body of the block, or of the file (`of` is NULL). */
static void read_body(struct literal_reader *reader, struct hcl_body *body, const struct hcl_item *of)
{
	struct hcl_attribute **attribute = &body->attributes;
	struct hcl_block **block = &body->blocks;
	struct hcl_item item;

	while (hcl_next(&reader->hcl, of, &item)) {
		if (item.block) {
			*block = read_block(reader, &item);
			block = &(*block)->next;
		} else {
			*attribute = read_attribute(reader, body, &item);
			attribute = &(*attribute)->next;
		}
		hcl_end(&reader->hcl, &item);
		reader_check(reader);
	}
	reader_check(reader);
}

struct hcl_body *hcl_read(struct run *run, const struct source *source)
{
	struct literal_reader reader = reader_begin(run, source);
	struct hcl_body *body = run_alloc(run, 1, sizeof(*body));

	read_body(&reader, body, NULL);
	return body;
}

struct value hcl_literal(struct run *run, const struct source *source)
{
	struct literal_reader reader = reader_begin(run, source);
	struct value value;

	reader_skip_blanks(&reader);
	value = reader_value(&reader);
	reader_skip_blanks(&reader);
	if (!hcl_ended(&reader.hcl))
		reader_fail_expression(&reader, reader.hcl.at);
	return value;
}

/* ---- finding ---- */

static struct value body_map(struct run *run, const struct hcl_body *body)
{
	struct value map = map_new(run, 0);

	for (const struct hcl_attribute *attribute = body->attributes; attribute; attribute = attribute->next)
		map_set_text(run, map, attribute->name, attribute->value);
	run_enter(run);
	for (const struct hcl_block *block = body->blocks; block; block = block->next)
		map_set_text(run, map, block->type, body_map(run, &block->body));
	run_leave(run);
	return map;
}

bool hcl_get(struct run *run, const struct hcl_body *body, const char *name, struct value *ret_value)
{
	for (const struct hcl_attribute *attribute = body->attributes; attribute; attribute = attribute->next)
		if (strcmp(attribute->name, name) == 0) {
			*ret_value = attribute->value;
			return true;
		}
	for (const struct hcl_block *block = body->blocks; block; block = block->next)
		if (strcmp(block->type, name) == 0 && block->label_count == 0) {
			*ret_value = body_map(run, &block->body);
			return true;
		}
	return false;
}

const struct hcl_type *hcl_type(const struct hcl_type *types, const char *name)
{
	for (; types && types->name; types++)
		if (strcmp(types->name, name) == 0)
			return types;
	return NULL;
}

bool hcl_has_attribute(const struct hcl_type *type, const char *name)
{
	for (const char *const *attribute = type->attributes; *attribute; attribute++)
		if (strcmp(*attribute, name) == 0)
			return true;
	return false;
}
