/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/imports/terraform.h"

#include <string.h>

#include "common/base.h"
#include "policy/imports/arguments.h"
#include "policy/imports/terraform_object.h"

/* ---- documents ---- */

/* A file, and its value as soon as something of it is read. */
struct terraform_document {
	const struct source *source;
	struct plan_part whole;
	struct value object; /* `whole`, decoded as it is read; no map before the first use */
	struct terraform_document *next;
};

static struct terraform_document *document_find(const struct run *run, const char *name)
{
	struct terraform_document *document = run->documents;

	while (document && strcmp(document->source->name, name) != 0)
		document = document->next;
	return document;
}

const struct source *terraform_opened(const struct run *run, const char *name)
{
	const struct terraform_document *document = document_find(run, name);

	return document ? document->source : NULL;
}

static struct terraform_document *document_of(struct run *run, const struct source *source)
{
	struct terraform_document *document = document_find(run, source->name);

	if (document)
		return document;
	document = run_alloc(run, 1, sizeof(*document));
	*document = (struct terraform_document){.source = source, .next = run->documents};
	run->documents = document;
	return document;
}

static struct plan_part document_whole(struct run *run, struct terraform_document *document)
{
	if (!document->whole.plan)
		document->whole = plan_document(run, document->source);
	if (plan_kind(document->whole) != '{')
		run_fail_at(run, (struct place){.source = document->source}, "this JSON is no object");
	return document->whole;
}

/* The first of the paths, with '|' between them, at which there is a value. */
static struct plan_part document_first(struct run *run, struct terraform_document *document, const char *paths)
{
	struct plan_part part = {0};

	while (!part.plan && *paths) {
		const size_t len = strcspn(paths, "|");

		part = plan_at(run, document_whole(run, document), run_copy(run, paths, len));
		paths += len + (paths[len] == '|');
	}
	return part;
}

/* ---- fields ---- */

/* A field before it is made. */
struct field {
	struct terraform_document *document;
	const struct terraform_member *member;
};

/* The value of a field is no element that is made later. */
static struct value settled(struct run *run, struct value value)
{
	return value.type == VALUE_LAZY ? value.lazy->make(run, value.lazy->data, value.offset) : value;
}

struct value terraform_file(struct run *run, const struct source *source)
{
	struct terraform_document *document = document_of(run, source);

	if (document->object.type != VALUE_MAP)
		document->object = settled(run, plan_lazy(run, document_whole(run, document)));
	return document->object;
}

static struct value make_field(struct run *run, const void *data, uint32_t offset)
{
	const struct field *field = data;
	const struct terraform_object none = {.shape = field->member->shape};
	struct plan_part part = *field->member->source ? document_first(run, field->document, field->member->source)
						       : document_whole(run, field->document);

	(void)offset;
	return settled(run, terraform_member_value(run, field->member, &none, part));
}

static struct value fields_of(struct run *run, enum import_shape shape, const struct source *source)
{
	struct terraform_document *document = document_of(run, source);
	size_t count;
	const struct terraform_member *members = terraform_members(shape, &count);
	struct value fields = map_new(run, count);

	for (size_t i = 0; i < count; i++) {
		struct field *field = run_alloc(run, 1, sizeof(*field));

		*field = (struct field){.document = document, .member = &members[i]};
		map_set_lazy(run, fields, (struct value){.type = VALUE_STRING, .string = &members[i].name},
			(struct lazy){.make = make_field, .data = field});
	}
	return fields;
}

/* ---- imports of the plan ---- */

/* import->data is the value of the fields. */
static bool field_at(
	struct run *run, const struct import *import, const char *name, size_t len, struct value *ret_field)
{
	return map_get_bytes(run, *(const struct value *)import->data, name, len, ret_field);
}

static struct import *import_new(
	struct run *run, const char *name, enum import_shape shape, const struct source *source)
{
	struct import *import = run_alloc(run, 1, sizeof(*import));
	struct value *fields = run_alloc(run, 1, sizeof(*fields));

	*fields = fields_of(run, shape, source);
	*import = (struct import){.name = name, .field = field_at, .data = fields};
	return import;
}

static struct value as_value(const struct import *import)
{
	return (struct value){.type = VALUE_IMPORT, .import = import};
}

struct value import_tfplan(struct run *run, const struct source *source)
{
	return as_value(import_new(run, "tfplan/v2", SHAPE_TFPLAN, source));
}

struct value import_tfstate(struct run *run, const struct source *source)
{
	return as_value(import_new(run, "tfstate/v2", SHAPE_TFSTATE, source));
}

/* ---- tfconfig/v2 ---- */

/* Behind the quoted key that begins there. */
static const char *skip_key(const char *at, const char *end)
{
	for (at++; at < end && *at != '"'; at++)
		at += *at == '\\' && at + 1 < end;
	return at < end ? at + 1 : end;
}

/* Behind the index that begins there: a string may have brackets. */
static const char *skip_index(const char *at, const char *end)
{
	at++;
	if (at < end && *at == '"')
		at = skip_key(at, end);
	while (at < end && *at != ']')
		at++;
	return at < end ? at + 1 : end;
}

static struct value call_strip_index(struct run *run, const struct value *args, size_t count, const void *data)
{
	const char *at, *end;
	char *stripped;
	size_t len = 0;

	(void)data;
	arguments_check(run, "tfconfig.strip_index", "s", args, count);
	at = string_bytes(args[0]);
	end = at + string_len(args[0]);
	stripped = run_alloc(run, string_len(args[0]) + 1, 1);
	run_step_bytes(run, string_len(args[0]));
	while (at < end)
		if (*at == '[')
			at = skip_index(at, end);
		else
			stripped[len++] = *at++;
	return string_borrow(run, stripped, len);
}

static const struct native config_functions[] = {
	{"strip_index", 1, 1, false, call_strip_index},
};

struct value import_tfconfig(struct run *run, const struct source *source)
{
	struct import *import = import_new(run, "tfconfig/v2", SHAPE_TFCONFIG, source);

	import->functions = config_functions;
	import->function_count = ARRAY_LEN(config_functions);
	return as_value(import);
}

/* ---- tfrun ---- */

static bool run_field(
	struct run *run, const struct import *import, const char *name, size_t len, struct value *ret_field)
{
	return map_get_bytes(run, terraform_file(run, import->data), name, len, ret_field);
}

struct value import_tfrun(struct run *run, const struct source *source)
{
	struct import *import = run_alloc(run, 1, sizeof(*import));

	document_of(run, source);
	*import = (struct import){.name = "tfrun", .field = run_field, .data = source};
	return as_value(import);
}
