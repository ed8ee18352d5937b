/* SPDX-License-Identifier: MPL-2.0 */
#include "common/json/json.h"

#include <limits.h>
#include <string.h>

#include "common/err.h"
#include "common/memory.h"

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

/* ---- the memory of documents ---- */

/* Bytes that jansson allocates for each kind of value, with malloc's own ones; measured with jansson 2.14. */
enum { OBJECT_BYTES = 232, ARRAY_BYTES = 136, MEMBER_BYTES = 24, QUOTE_BYTES = 80, ITEM_BYTES = 48 };
/* A document that needs less is always parsed: the number of threads bounds those. */
enum { FREE_BYTES = 32 << 20 };

size_t json_memory_of(const char *text, size_t len)
{
	static const unsigned char costs[UCHAR_MAX + 1] = {
		['{'] = OBJECT_BYTES, ['['] = ARRAY_BYTES, [':'] = MEMBER_BYTES, [','] = ITEM_BYTES};
	bool quoted = false;
	size_t bytes = len;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"') {
			quoted = !quoted;
			bytes += QUOTE_BYTES;
		} else if (!quoted) {
			bytes += costs[(unsigned char)text[i]];
		} else if (text[i] == '\\') {
			i++;
		}
	}
	return bytes;
}

int json_memory_check(const char *text, size_t len, size_t most, struct err *err)
{
	if (len <= most / JSON_MEMORY_MOST || json_memory_of(text, len) <= most)
		return 0;
	return err_set(err, ERR_TOO_LARGE, "the document would take more than %zu MiB of memory", most >> 20);
}

/* ---- parsing ---- */

enum { PARSE_FLAGS = JSON_DECODE_ANY | JSON_REJECT_DUPLICATES };

static int load(const char *bytes, size_t len, size_t flags, json_t **ret_value, struct err *err)
{
	json_error_t error;
	json_t *value = json_loadb(bytes, len, flags, &error);

	if (!value)
		return err_set(err, ERR_MALFORMED, "the body is not JSON: %s (line %d, column %d)", error.text,
			error.line, error.column);
	*ret_value = value;
	return 0;
}

int json_document_load(struct json_document *ret_document, const char *bytes, size_t len, size_t flags, struct err *err)
{
	bool may_be_large = memory_is_bounded() && len > FREE_BYTES / JSON_MEMORY_MOST;
	size_t needed = may_be_large ? json_memory_of(bytes, len) : 0;
	struct json_document document = {NULL, needed > FREE_BYTES ? needed : 0};

	if (memory_take(document.taken, err) < 0)
		return -1;
	if (load(bytes, len, flags, &document.value, err) < 0) {
		json_document_release(&document);
		return -1;
	}
	*ret_document = document;
	return 0;
}

int json_document_parse(struct json_document *ret_document, const char *bytes, size_t len, struct err *err)
{
	return json_document_load(ret_document, bytes, len, PARSE_FLAGS, err);
}

void json_document_release(struct json_document *document)
{
	json_decref(document->value);
	memory_return(document->taken);
	*document = JSON_NO_DOCUMENT;
}

int json_parse(const char *bytes, size_t len, json_t **ret_value, struct err *err)
{
	if (json_memory_check(bytes, len, JSON_PARSE_MOST, err) < 0)
		return -1;
	return load(bytes, len, PARSE_FLAGS, ret_value, err);
}

json_t *json_of(const char *text)
{
	json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);

	return value ? value : json_null();
}

json_t *json_of_scalar(struct json_span value, size_t most)
{
	if (!value.len || value.len > most || *value.bytes == '{' || *value.bytes == '[')
		return NULL;
	return json_loadb(value.bytes, value.len, JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, NULL);
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

int json_whole(const json_t *value, long long low, long long high, long long *ret_number)
{
	const double number = json_number_value(value);

	if (!json_is_number(value) || number < (double)low || number > (double)high)
		return -1;
	*ret_number = (long long)number;
	return 0;
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
