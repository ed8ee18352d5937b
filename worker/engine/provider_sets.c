/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/engine/provider_sets.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "common/hcl/blocks.h"
#include "common/hcl/hcl.h"
#include "worker/exec/workdir.h"

enum { FILE_LIMIT = 16 * 1024 * 1024, MAX_LOCAL = 128, MAX_NAME = 90 };

/* ---- one set ---- */

struct set {
	const char *name, *source, *text;
	char label[MAX_LOCAL];  /* of its block */
	size_t body_begin, end; /* of the block's text, behind the label */
};

/* The label becomes a name in required_providers, which has no quotes. */
static bool label_read(struct hcl_reader *reader, const struct hcl_item *block, struct set *set)
{
	const struct hcl_text *label = &block->labels[0];
	const char *text = reader->text + label->begin;
	size_t len = label->end - label->begin;

	for (size_t i = 0; i < len; i++)
		if (!hcl_is_letter(text[i]) && (i == 0 || !strchr("0123456789-", text[i])))
			return hcl_fail(reader, label->begin, "the label of the provider is not a name");
	if (!len || len >= sizeof(set->label))
		return hcl_fail(reader, label->begin, "the label of the provider is empty or too long");
	snprintf(set->label, sizeof(set->label), "%.*s", (int)len, text);
	set->body_begin = label->end + (label->kind == HCL_QUOTED);
	return true;
}

static bool body_read(struct hcl_reader *reader, const struct hcl_item *block)
{
	struct hcl_item item;

	while (hcl_next(reader, block, &item)) {
		if (hcl_text_is(reader, &item.name, "alias") && !item.block)
			return hcl_fail(
				reader, item.begin, "a provider set has no alias: modules get no such provider");
		if (!(item.block ? hcl_skip_block(reader) : hcl_skip_value(reader)) || !hcl_end(reader, &item))
			return false;
	}
	return !hcl_failed(reader);
}

static bool block_read(struct hcl_reader *reader, struct set *set)
{
	struct hcl_item item;

	while (hcl_next(reader, NULL, &item)) {
		if (!item.block || !hcl_text_is(reader, &item.name, "provider") || item.label_count != 1 || set->end)
			return hcl_fail(reader, item.begin, "a provider set is one block: provider \"NAME\" { ... }");
		if (!label_read(reader, &item, set) || !body_read(reader, &item))
			return false;
		set->end = reader->at;
		if (!hcl_end(reader, &item))
			return false;
	}
	return !hcl_failed(reader) && (set->end || hcl_fail(reader, 0, "there is no block: provider \"NAME\" { ... }"));
}

static int set_read(const json_t *item, struct set *ret_set, struct err *err)
{
	struct set set = {.name = text_or_empty(json_string_at(item, "name")),
		.source = text_or_empty(json_string_at(item, "source")),
		.text = text_or_empty(json_string_at(item, "configuration"))};
	struct hcl_reader reader = hcl_reader(set.text, strlen(set.text));

	if (block_read(&reader, &set)) {
		*ret_set = set;
		return 0;
	}
	return err_set(err, ERR_INVALID, "The provider set \"%.*s\" can't be used: line %zu: %s.", MAX_NAME, set.name,
		hcl_error_line(&reader), reader.error.message);
}

/* ---- the file ---- */

struct writing {
	const struct assignment *assignment;
	json_t *locals;   /* {local name: true} */
	json_t *declared; /* {variable: true} */
	struct buf *required, *blocks, *variables;
};

/* Two sets may have the same label and different sources. The second one gets another name. */
static char *local_name(struct writing *to, const char *label)
{
	char *name = mem_text(label);

	for (int n = 2; json_object_get(to->locals, name); n++) {
		free(name);
		name = mem_printf("%s-%d", label, n);
	}
	json_object_set_new(to->locals, name, json_true());
	return name;
}

static bool mentions(const char *text, const char *variable)
{
	_cleanup_(freep) char *wanted = mem_printf("var.%s", variable);

	for (const char *at = strstr(text, wanted); at; at = strstr(at + 1, wanted)) {
		char next = at[strlen(wanted)];

		if (!hcl_is_letter(next) && !(next >= '0' && next <= '9') && next != '-')
			return true;
	}
	return false;
}

/* A variable that the workspace lacks stays undeclared, and the engine says so. */
static void variables_declare(struct writing *to, const char *text)
{
	for (size_t i = 0; i < to->assignment->variable_count; i++) {
		const struct variable *variable = &to->assignment->variables[i];

		if (variable->env || json_object_get(to->declared, variable->key) || !mentions(text, variable->key))
			continue;
		json_object_set_new(to->declared, variable->key, json_true());
		buf_printf(to->variables, "\nvariable \"%s\" {\n  sensitive = %s\n}\n", variable->key,
			variable->sensitive ? "true" : "false");
	}
}

static void set_write(struct writing *to, const struct set *set)
{
	_cleanup_(freep) char *local = local_name(to, set->label);

	buf_printf(to->required, "    %s = {\n      source = \"%s\"\n    }\n", local, set->source);
	buf_printf(to->blocks, "\nprovider \"%s\"", local);
	buf_append(to->blocks, set->text + set->body_begin, set->end - set->body_begin);
	buf_text(to->blocks, "\n");
	variables_declare(to, set->text);
}

int provider_sets_text(const struct assignment *assignment, const json_t *declared, struct buf *out, struct err *err)
{
	_cleanup_(buf_release) struct buf blocks = BUF_INIT(FILE_LIMIT), variables = BUF_INIT(FILE_LIMIT);
	json_auto_t *locals = json_object(), *names = declared ? json_copy((json_t *)declared) : json_object();
	struct writing to = {assignment, locals, names, out, &blocks, &variables};
	const json_t *item;
	struct set set;
	size_t i;

	buf_text(out, "terraform {\n  required_providers {\n");
	json_array_foreach((json_t *)assignment->provider_sets, i, item)
	{
		if (set_read(item, &set, err) < 0)
			return -1;
		set_write(&to, &set);
	}
	if (buf_printf(out, "  }\n}\n%s%s", buf_str(&blocks), buf_str(&variables)) < 0)
		return err_set(err, ERR_TOO_LARGE, "The provider sets of the workspace are too large.");
	return 0;
}

/* The variables of the configuration, which the scheduler wrote (scheduler/api/registry/no_code/configuration.h). */
static json_t *declared_read(int folder)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(FILE_LIMIT);
	json_auto_t *blocks = NULL;
	json_t *declared = json_object();
	struct err ignored = ERR_INIT;
	const json_t *block;
	size_t i;

	if (beneath_read(folder, "main.tf", &text, &ignored) < 0 ||
		hcl_blocks(buf_str(&text), text.len, &blocks, &ignored) < 0)
		return declared;
	json_array_foreach(blocks, i, block)
	{
		if (text_equal(json_string_at(block, "type"), "variable"))
			json_object_set_new(declared, json_string_at(block, "label"), json_true());
	}
	return declared;
}

int provider_sets_write(int folder, const struct assignment *assignment, struct err *err)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(FILE_LIMIT);
	json_auto_t *declared = NULL;

	if (!json_array_size(assignment->provider_sets))
		return 0;
	declared = declared_read(folder);
	if (provider_sets_text(assignment, declared, &text, err) < 0)
		return -1;
	return beneath_write(folder, WORKDIR_PROVIDERS, 0644, buf_bytes(&text), err);
}
