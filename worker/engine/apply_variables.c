/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/engine/apply_variables.h"

#include <fnmatch.h>
#include <string.h>

#include "common/err.h"
#include "common/hcl/blocks.h"
#include "worker/exec/beneath.h"

static const char block_type[] = "variable", word[] = "ephemeral";

bool engine_has_ephemeral(bool tofu, const struct version *version)
{
	static const struct version first_terraform = {.part = {1, 10, 0}}, first_tofu = {.part = {1, 11, 0}};
	const struct version *first = tofu ? &first_tofu : &first_terraform;

	for (size_t i = 0; i < ARRAY_LEN(version->part); i++)
		if (version->part[i] != first->part[i])
			return version->part[i] > first->part[i];
	return true;
}

/* ---- HCL ---- */

static void find_in_native(const char *text, size_t len, json_t *names)
{
	json_auto_t *blocks = NULL;
	struct err err = ERR_INIT;
	const json_t *block;
	size_t i;

	if (hcl_blocks(text, len, &blocks, &err) < 0)
		return;
	json_array_foreach(blocks, i, block)
	{
		const char *label = json_string_at(block, "label");
		long long begin = json_int_at(block, "begin", 0), end = json_int_at(block, "end", 0);

		if (label && text_equal(json_string_at(block, "type"), block_type) &&
			memmem(text + begin, (size_t)(end - begin), word, sizeof(word) - 1))
			json_object_set_new(names, label, json_true());
	}
}

/* ---- JSON ---- */

/* True if a block has the key. A block is an object, or an array of objects that the engine merges. */
static bool block_has(const json_t *block, const char *key)
{
	const json_t *item;
	size_t i;

	json_array_foreach(block, i, item)
	{
		if (json_object_get(item, key))
			return true;
	}
	return json_object_get(block, key) != NULL;
}

static void find_in_variables(const json_t *variables, json_t *names)
{
	const char *name;
	json_t *block;

	json_object_foreach((json_t *)variables, name, block)
	{
		if (block_has(block, word))
			json_object_set_new(names, name, json_true());
	}
}

static void find_in_root(const json_t *root, json_t *names)
{
	const json_t *variables = json_object_get(root, block_type), *item;
	size_t i;

	find_in_variables(variables, names);
	json_array_foreach(variables, i, item)
	{
		find_in_variables(item, names);
	}
}

static void find_in_json(const char *text, size_t len, json_t *names)
{
	json_auto_t *root = NULL;
	struct err err = ERR_INIT;
	const json_t *item;
	size_t i;

	if (json_parse(text, len, &root, &err) < 0)
		return;
	find_in_root(root, names);
	json_array_foreach(root, i, item)
	{
		find_in_root(item, names);
	}
}

void text_find_ephemeral(enum config_syntax syntax, const char *text, size_t len, json_t *names)
{
	if (syntax == CONFIG_NATIVE)
		find_in_native(text, len, names);
	else if (syntax == CONFIG_JSON)
		find_in_json(text, len, names);
}

/* ---- the files of a folder ---- */

static bool find_in_file(void *data, const struct config_file *file)
{
	if (file->text)
		text_find_ephemeral(file->syntax, file->text, file->len, data);
	return false;
}

json_t *folder_find_ephemeral(int folder)
{
	json_t *names = json_object();

	config_any(folder, find_in_file, names);
	return names;
}

/* ---- values that are weaker than the run's variables ---- */

enum { VALUES_LIMIT = 1024 * 1024 }; /* bytes of a file; of a larger one, all variables are taken to occur in it */

/* True for the name of a file of values that engines load by themselves. */
static bool values_are_loaded(const char *name)
{
	static const char *const patterns[] = {
		"terraform.tfvars", "terraform.tfvars.json", "*.auto.tfvars", "*.auto.tfvars.json"};

	for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
		if (fnmatch(patterns[i], name, 0) == 0)
			return true;
	return false;
}

static void find_in_values(int folder, const char *name, const struct assignment *assignment, json_t *names)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(VALUES_LIMIT);
	struct err err = ERR_INIT;
	bool all = beneath_read(folder, name, &text, &err) < 0;

	for (size_t i = 0; i < assignment->variable_count; i++) {
		const struct variable *variable = &assignment->variables[i];

		if (!variable->env && (all || memmem(buf_str(&text), text.len, variable->key, strlen(variable->key))))
			json_object_set_new(names, variable->key, json_true());
	}
}

static void find_in_environment(const struct assignment *assignment, json_t *names)
{
	static const char beginning[] = "TF_VAR_";

	for (size_t i = 0; i < assignment->variable_count; i++) {
		const struct variable *variable = &assignment->variables[i];

		if (variable->env && text_starts(variable->key, beginning))
			json_object_set_new(names, variable->key + strlen(beginning), json_true());
	}
}

void folder_find_weaker(int folder, const struct assignment *assignment, json_t *names)
{
	_cleanup_(list_closep) DIR *list = beneath_list(folder, ".");
	const char *name;

	find_in_environment(assignment, names);
	while (list && (name = list_next(list)))
		if (values_are_loaded(name))
			find_in_values(folder, name, assignment, names);
}
