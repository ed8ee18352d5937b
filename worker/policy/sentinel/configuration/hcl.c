/* SPDX-License-Identifier: MPL-2.0 */
/* Blocks and attributes. */
#include "worker/policy/sentinel/configuration/hcl.h"

#include <string.h>

#include "common/base.h"
#include "worker/policy/sentinel/configuration/hcl_reader.h"

static void read_items(struct hcl_reader *reader, struct hcl_body *body, const struct hcl_block *of);

static struct hcl_reader reader_begin(struct run *run, const struct source *source)
{
	struct hcl_reader reader = {.run = run, .source = source};

	if (source->len >= 3 && memcmp(source->text, "\xef\xbb\xbf", 3) == 0)
		reader.at = 3;
	return reader;
}

/* ---- blocks ---- */

static void read_label(struct hcl_reader *reader, struct hcl_block *block)
{
	size_t begin = reader->at;
	const char *label = reader_peek(reader, 0) == '"' ? reader_text(reader, begin, reader_string(reader))
							  : reader_identifier(reader);

	if (!label)
		reader_fail(reader, begin, "= or a block is missing behind \"%s\"", block->type);
	if (block->label_count == HCL_LABELS)
		reader_fail(reader, begin, "the block \"%s\" has too many labels", block->type);
	block->labels[block->label_count++] = label;
	reader_skip_spaces(reader);
}

static struct hcl_block *read_block(struct hcl_reader *reader, const char *type, size_t begin)
{
	struct hcl_block *block = run_alloc(reader->run, 1, sizeof(*block));

	*block = (struct hcl_block){.type = type, .begin = (uint32_t)begin};
	while (!reader_take(reader, '{'))
		read_label(reader, block);
	reader->run->at = (struct place){.source = reader->source, .offset = block->begin};
	run_enter(reader->run);
	read_items(reader, &block->body, block);
	run_leave(reader->run);
	block->end = (uint32_t)reader->at;
	return block;
}

/* ---- attributes ---- */

static void refuse_repeated(struct hcl_reader *reader, const struct hcl_body *body, const char *name, size_t offset)
{
	for (const struct hcl_attribute *other = body->attributes; other; other = other->next) {
		run_step(reader->run, 1);
		if (strcmp(other->name, name) == 0)
			reader_fail(reader, offset, "\"%s\" is given twice", name);
	}
}

static struct hcl_attribute *read_attribute(struct hcl_reader *reader, const char *name, size_t offset)
{
	struct hcl_attribute *attribute = run_alloc(reader->run, 1, sizeof(*attribute));

	reader_skip_spaces(reader);
	*attribute = (struct hcl_attribute){
		.name = name,
		.offset = (uint32_t)offset,
		.value = reader_value(reader),
	};
	return attribute;
}

/* ---- bodies ---- */

struct tails {
	struct hcl_attribute **attribute;
	struct hcl_block **block;
};

static const char *read_name(struct hcl_reader *reader)
{
	size_t begin = reader->at;
	const char *name = reader_peek(reader, 0) == '"' ? reader_text(reader, begin, reader_string(reader))
							 : reader_identifier(reader);

	if (!name)
		reader_fail(reader, begin, "the name of a block or attribute is missing");
	reader_skip_spaces(reader);
	return name;
}

static void read_item(struct hcl_reader *reader, struct hcl_body *body, struct tails *tails)
{
	size_t begin = reader->at;
	const char *name = read_name(reader);

	if (reader_take(reader, '=') || reader_take(reader, ':')) {
		refuse_repeated(reader, body, name, begin);
		*tails->attribute = read_attribute(reader, name, begin);
		tails->attribute = &(*tails->attribute)->next;
	} else {
		*tails->block = read_block(reader, name, begin);
		tails->block = &(*tails->block)->next;
	}
	reader_skip_spaces(reader);
	if (!reader_take(reader, ',') && !reader_ended(reader) && reader_peek(reader, 0) != '\n' &&
		reader_peek(reader, 0) != '}')
		reader_fail(reader, reader->at, "a new line is missing behind \"%s\"", name);
}

/* The items of a block up to its }, or of the file (`of` is NULL) up to its end. */
static void read_items(struct hcl_reader *reader, struct hcl_body *body, const struct hcl_block *of)
{
	struct tails tails = {&body->attributes, &body->blocks};

	for (;;) {
		reader_skip_blanks(reader);
		if (of && reader_take(reader, '}'))
			return;
		if (reader_ended(reader) && of)
			reader_fail(reader, of->begin, "the block \"%s\" is not closed", of->type);
		if (reader_ended(reader))
			return;
		read_item(reader, body, &tails);
	}
}

struct hcl_body *hcl_read(struct run *run, const struct source *source)
{
	struct hcl_reader reader = reader_begin(run, source);
	struct hcl_body *body = run_alloc(run, 1, sizeof(*body));

	read_items(&reader, body, NULL);
	return body;
}

struct value hcl_literal(struct run *run, const struct source *source)
{
	struct hcl_reader reader = reader_begin(run, source);
	struct value value;

	reader_skip_blanks(&reader);
	value = reader_value(&reader);
	reader_skip_blanks(&reader);
	if (!reader_ended(&reader))
		reader_fail_expression(&reader, reader.at);
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
