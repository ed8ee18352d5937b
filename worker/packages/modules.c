/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/packages/modules.h"

#include <fcntl.h>
#include <string.h>

#include "common/err.h"
#include "worker/exec/beneath.h"
#include "common/hcl/blocks.h"

enum { FILE_LIMIT = 16 * 1024 * 1024 };

static const char module_type[] = "module";

static const struct ending {
	const char *text;
	enum config_syntax syntax;
} endings[] = {
	{".tf", CONFIG_NATIVE},
	{".tofu", CONFIG_NATIVE},
	{".tf.json", CONFIG_JSON},
	{".tofu.json", CONFIG_JSON},
};

static const struct ending *ending_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(endings); i++) {
		size_t len = strlen(name), end_len = strlen(endings[i].text);

		if (len > end_len && text_equal(name + len - end_len, endings[i].text))
			return &endings[i];
	}
	return NULL;
}

enum config_syntax config_syntax(const char *name)
{
	const struct ending *ending = ending_of(name);

	return ending ? ending->syntax : CONFIG_NONE;
}

bool config_is_override(const char *name)
{
	static const char word[] = "override", with_more[] = "_override";
	const struct ending *ending = ending_of(name);
	size_t len = ending ? strlen(name) - strlen(ending->text) : 0, more = sizeof(with_more) - 1;

	return (len == sizeof(word) - 1 && strncmp(name, word, len) == 0) ||
		(len > more && strncmp(name + len - more, with_more, more) == 0);
}

static bool native_calls_modules(const char *text, size_t len)
{
	json_auto_t *blocks = NULL;
	struct err err = ERR_INIT;
	const json_t *block;
	size_t i;

	if (hcl_blocks(text, len, &blocks, &err) < 0)
		return true;
	json_array_foreach(blocks, i, block)
	{
		if (text_equal(json_string_at(block, "type"), module_type))
			return true;
	}
	return false;
}

/* The root of a file is an object, or an array of objects that the engine merges. */
static bool json_calls_modules(const char *text, size_t len)
{
	json_auto_t *root = NULL;
	struct err err = ERR_INIT;
	const json_t *body;
	size_t i;

	if (json_parse(text, len, &root, &err) < 0)
		return true;
	if (json_is_object(root))
		return json_object_get(root, module_type) != NULL;
	json_array_foreach(root, i, body)
	{
		if (!json_is_object(body) || json_object_get(body, module_type))
			return true;
	}
	return !json_is_array(root);
}

bool text_calls_modules(enum config_syntax syntax, const char *text, size_t len)
{
	switch (syntax) {
	case CONFIG_NATIVE:
		return native_calls_modules(text, len);
	case CONFIG_JSON:
		return json_calls_modules(text, len);
	case CONFIG_NONE:
		break;
	}
	return false;
}

/* ---- the files of a folder ---- */

static bool file_matches(
	int folder, const char *name, bool (*match)(void *data, const struct config_file *file), void *data)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(FILE_LIMIT);
	struct config_file file = {.name = name, .syntax = config_syntax(name)};
	struct err err = ERR_INIT;

	if (file.syntax == CONFIG_NONE)
		return false;
	if (beneath_read(folder, name, &text, &err) == 0) {
		file.text = buf_str(&text);
		file.len = text.len;
	}
	return match(data, &file);
}

bool config_any(int folder, bool (*match)(void *data, const struct config_file *file), void *data)
{
	_cleanup_(list_closep) DIR *list = beneath_list(folder, ".");
	bool found = !list;
	const char *name;

	while (!found && (name = list_next(list)))
		found = file_matches(dirfd(list), name, match, data);
	return found;
}

static bool file_calls_modules(void *data, const struct config_file *file)
{
	(void)data;
	return !file->text || text_calls_modules(file->syntax, file->text, file->len);
}

bool folder_calls_modules(int folder)
{
	return config_any(folder, file_calls_modules, NULL);
}
