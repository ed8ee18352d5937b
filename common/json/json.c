/* SPDX-License-Identifier: MPL-2.0 */
#include "common/json/json.h"

#include <string.h>

#include "common/err.h"

static void *json_memory(size_t size)
{
	return mem_resize(NULL, size, 1);
}

/* Ends the process when jansson can't allocate memory. Otherwise jansson would leave out a member or report a
 * document that can't be parsed, and a result lost that way would look like one that never existed. */
__attribute__((constructor)) static void json_memory_or_death(void)
{
	json_set_alloc_funcs(json_memory, free);
}

int json_parse(const char *bytes, size_t len, json_t **ret_value, struct err *err)
{
	json_error_t error;
	json_t *value = json_loadb(bytes, len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);

	if (!value)
		return err_set(err, ERR_MALFORMED, "the body is not JSON: %s (line %d, column %d)", error.text,
			error.line, error.column);
	*ret_value = value;
	return 0;
}

json_t *json_of(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

	return value ? value : json_null();
}

bool json_path_next(const char **path, char name[JSON_NAME_SIZE])
{
	size_t len = strcspn(*path, ".");

	if (!**path)
		return false;
	snprintf(name, JSON_NAME_SIZE, "%.*s", (int)len, *path);
	*path += len + ((*path)[len] == '.');
	return true;
}

const json_t *json_at(const json_t *value, const char *path)
{
	char name[JSON_NAME_SIZE];

	while (value && json_path_next(&path, name))
		value = json_object_get(value, name);
	return value;
}

const char *json_string_at(const json_t *value, const char *path)
{
	return json_string_value(json_at(value, path));
}

long long json_int_at(const json_t *value, const char *path, long long fallback)
{
	const json_t *at = json_at(value, path);

	return json_is_integer(at) ? json_integer_value(at) : fallback;
}

bool json_bool_at(const json_t *value, const char *path, bool fallback)
{
	const json_t *at = json_at(value, path);

	return json_is_boolean(at) ? json_is_true(at) : fallback;
}

bool json_has_text(const json_t *array, const char *text)
{
	const json_t *item;
	size_t i;

	json_array_foreach(array, i, item) if (text_equal(json_string_value(item), text)) return true;
	return false;
}

json_t *json_string_or_null(const char *text)
{
	return text ? json_string(text) : json_null();
}
