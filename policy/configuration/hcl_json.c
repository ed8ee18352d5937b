/* SPDX-License-Identifier: MPL-2.0 */
/* The JSON form of configurations: {"policy": {"NAME": {"source": …}}}; in place of an object also a list of them. */
#include <string.h>

#include "policy/configuration/hcl.h"
#include "policy/library/json.h"

struct json_reader {
	struct run *run;
	const struct source *source;
};

static _Noreturn void fail(const struct json_reader *reader, const char *type, const char *reason)
{
	run_fail_at(reader->run, (struct place){.source = reader->source}, "\"%s\" %s", type, reason);
}

/* A member of that name is a comment. */
static const char comment[] = "//";

static const char *key_text(const struct json_reader *reader, struct value key)
{
	if (memchr(string_bytes(key), '\0', string_len(key)))
		run_fail_at(reader->run, (struct place){.source = reader->source}, "a name has a zero byte");
	return run_copy(reader->run, string_bytes(key), string_len(key));
}

/* ---- bodies ---- */

static void read_members(
	const struct json_reader *reader, struct hcl_body *body, struct value members, const struct hcl_type *types);

/* A map with members of the type alone. An empty one is a value where a value may stand. */
static bool is_body(const struct json_reader *reader, const struct hcl_type *type, struct value value)
{
	struct iterator at;

	if (!value_is(value, VALUE_MAP) || (type->shorthand && map_len(value) == 0))
		return false;
	at = value_iterate(reader->run, value);
	while (iterator_next(reader->run, &at)) {
		const char *name = key_text(reader, at.key);

		if (strcmp(name, comment) != 0 && !hcl_has_attribute(type, name) && !hcl_type(type->nested, name))
			return false;
	}
	return true;
}

static bool is_bodies(const struct json_reader *reader, const struct hcl_type *type, struct value value)
{
	struct iterator at;

	if (!value_is(value, VALUE_LIST) || list_len(value) == 0)
		return false;
	at = value_iterate(reader->run, value);
	while (iterator_next(reader->run, &at))
		if (!is_body(reader, type, at.element))
			return false;
	return true;
}

static void add_attribute(const struct json_reader *reader, struct hcl_body *body, const char *name, struct value value)
{
	struct hcl_attribute *attribute = run_alloc(reader->run, 1, sizeof(*attribute));
	struct hcl_attribute **tail = &body->attributes;

	*attribute = (struct hcl_attribute){.name = name, .value = value};
	for (; *tail; tail = &(*tail)->next)
		run_step(reader->run, 1);
	*tail = attribute;
}

/* ---- blocks ---- */

/* A block of the type whose labels are known so far. */
struct pending {
	const struct hcl_type *type;
	const char *labels[HCL_LABELS];
	unsigned label_count;
	struct hcl_block **tail; /* where blocks are added; moves on */
};

static struct hcl_body *add_block(const struct json_reader *reader, struct pending *pending)
{
	struct hcl_block *block = run_alloc(reader->run, 1, sizeof(*block));

	*block = (struct hcl_block){
		.type = pending->type->name,
		.label_count = pending->label_count,
		.source = reader->source,
	};
	memcpy(block->labels, pending->labels, sizeof(block->labels));
	*pending->tail = block;
	pending->tail = &block->next;
	return &block->body;
}

static void read_bodies(const struct json_reader *reader, struct pending *pending, struct value value)
{
	const struct hcl_type *type = pending->type;
	struct iterator at;

	if (is_bodies(reader, type, value)) {
		at = value_iterate(reader->run, value);
		while (iterator_next(reader->run, &at))
			read_members(reader, add_block(reader, pending), at.element, type->nested);
	} else if (is_body(reader, type, value)) {
		read_members(reader, add_block(reader, pending), value, type->nested);
	} else if (type->shorthand) {
		add_attribute(reader, add_block(reader, pending), type->shorthand, value);
	} else {
		fail(reader, type->name, "is no object of its attributes");
	}
}

static void read_labels(const struct json_reader *reader, struct pending *pending, struct value value);

static void read_label_maps(const struct json_reader *reader, struct pending *pending, struct value list)
{
	struct iterator at = value_iterate(reader->run, list);

	while (iterator_next(reader->run, &at)) {
		if (!value_is(at.element, VALUE_MAP))
			fail(reader, pending->type->name, "is no object by name");
		read_labels(reader, pending, at.element);
	}
}

static void read_labels(const struct json_reader *reader, struct pending *pending, struct value value)
{
	struct iterator at;

	if (pending->label_count == pending->type->labels) {
		read_bodies(reader, pending, value);
		return;
	}
	if (value_is(value, VALUE_LIST)) {
		read_label_maps(reader, pending, value);
		return;
	}
	if (!value_is(value, VALUE_MAP))
		fail(reader, pending->type->name, "is no object by name");
	at = value_iterate(reader->run, value);
	while (iterator_next(reader->run, &at)) {
		pending->labels[pending->label_count++] = key_text(reader, at.key);
		read_labels(reader, pending, at.element);
		pending->label_count--;
	}
}

static void read_members(
	const struct json_reader *reader, struct hcl_body *body, struct value members, const struct hcl_type *types)
{
	struct pending pending = {.tail = &body->blocks};
	struct iterator at = value_iterate(reader->run, members);

	while (iterator_next(reader->run, &at)) {
		const char *name = key_text(reader, at.key);

		pending.type = hcl_type(types, name);
		if (pending.type)
			read_labels(reader, &pending, at.element);
		else if (strcmp(name, comment) != 0)
			add_attribute(reader, body, name, at.element);
	}
}

struct hcl_body *hcl_read_json(struct run *run, const struct source *source, const struct hcl_type *types)
{
	struct json_reader reader = {.run = run, .source = source};
	struct hcl_body *body = run_alloc(run, 1, sizeof(*body));
	struct json_error error;
	struct value value;

	run->at = (struct place){.source = source};
	if (!json_read_file(run, source->text, source->len, &value, &error))
		run_fail_at(
			run, (struct place){.source = source, .offset = (uint32_t)error.offset}, "%s", error.message);
	if (!value_is(value, VALUE_MAP))
		run_fail_at(run, (struct place){.source = source}, "the configuration is no object");
	read_members(&reader, body, value, types);
	return body;
}
