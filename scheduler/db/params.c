/* SPDX-License-Identifier: MPL-2.0 */
/* Parameters as libpq takes them. */
#include <endian.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "scheduler/db/connection.h"

static const char *number_text(char text[NUMBER_SIZE], const long long *number)
{
	if (number)
		snprintf(text, NUMBER_SIZE, "%lld", *number);
	return number ? text : NULL;
}

static const char *float_text(char text[NUMBER_SIZE], double number)
{
	snprintf(text, NUMBER_SIZE, "%.17g", number);
	return text;
}

static void bytes_pack(struct packed *packed, int i, const void *data, size_t len)
{
	packed->values[i] = data;
	packed->lengths[i] = (int)len;
	packed->formats[i] = 1;
}

static void param_pack(struct packed *packed, int i, unsigned char kind, const void *value)
{
	struct db_array *array;
	struct db_bytes *bytes;

	packed->lengths[i] = packed->formats[i] = 0;
	switch (kind) {
	case DB_TEXT:
		packed->values[i] = *(const char *const *)value;
		break;
	case DB_INT:
		packed->values[i] = number_text(packed->numbers[i], value);
		break;
	case DB_INT_OR_NULL:
		packed->values[i] = number_text(packed->numbers[i], *(const long long *const *)value);
		break;
	case DB_FLOAT:
		packed->values[i] = float_text(packed->numbers[i], *(const double *)value);
		break;
	case DB_BOOL:
		packed->values[i] = *(const bool *)value ? "t" : "f";
		break;
	case DB_BYTES:
		bytes_pack(packed, i, ((const struct db_blob *)value)->data, ((const struct db_blob *)value)->len);
		break;
	case DB_ARRAY:
		array = *(struct db_array *const *)value;
		packed->values[i] = array ? db_array_text(array) : NULL;
		break;
	case DB_BYTES_ARRAY:
		bytes = *(struct db_bytes *const *)value;
		bytes_pack(packed, i, db_bytes_data(bytes), bytes->data.len);
		break;
	}
}

void params_pack(const struct db_statement *statement, const void *params, struct packed *ret_packed)
{
	ret_packed->count = (int)statement->takes_count;
	for (int i = 0; i < ret_packed->count; i++)
		param_pack(ret_packed, i, statement->takes[i].kind, (const char *)params + statement->takes[i].at);
}

const struct db_statement *db_like(const struct db_statement *statement, const struct db_statement *like)
{
	if (statement->takes == like->takes)
		return statement;
	log_error("a statement takes other parameters", "statement", statement->name, "like", like->name, NULL);
	abort();
}

/* ---- arrays ---- */

static void array_item(struct db_array *array, const char *text)
{
	buf_text(&array->text, array->count++ ? "," : "{");
	buf_text(&array->text, text);
}

void db_array_add(struct db_array *array, const char *value)
{
	if (!value) {
		array_item(array, "NULL");
		return;
	}
	array_item(array, "\"");
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			buf_append(&array->text, "\\", 1);
		buf_append(&array->text, value, 1);
	}
	buf_append(&array->text, "\"", 1);
}

struct db_array *db_array_or_null(struct db_array *array)
{
	return array && array->count ? array : NULL;
}

void db_array_add_int(struct db_array *array, long long value)
{
	char digits[24];

	snprintf(digits, sizeof(digits), "%lld", value);
	array_item(array, digits);
}

void db_array_add_bool(struct db_array *array, bool value)
{
	array_item(array, value ? "t" : "f");
}

void db_array_add_texts(struct db_array *array, const json_t *texts)
{
	const json_t *text;
	size_t i;

	json_array_foreach(texts, i, text) db_array_add(array, json_string_value(text));
}

const char *db_array_text(struct db_array *array)
{
	/* Adds the closing brace for the reader; the next item overwrites it. */
	if (!array->count)
		return "{}";
	buf_append(&array->text, "}", 1);
	array->text.len--;
	return array->text.data;
}

void db_array_release(struct db_array *array)
{
	buf_release(&array->text);
	array->count = 0;
}

/* The header of a binary array: dimensions, whether there are nulls, the element's type, then size and lower bound of
 * the only dimension. */
struct bytes_head {
	uint32_t dimensions, nulls, type, size, low;
};

enum { BYTEA_TYPE = 17 };

int db_bytes_add(struct db_bytes *array, const void *bytes, size_t len)
{
	static const struct bytes_head empty;
	uint32_t size = htobe32((uint32_t)len);

	if (!array->count && buf_append(&array->data, &empty, sizeof(empty)) < 0)
		return -1;
	if (len > array->data.limit || array->data.len + sizeof(size) + len > array->data.limit)
		return -1;
	array->count++;
	buf_append(&array->data, &size, sizeof(size));
	return buf_append(&array->data, bytes, len);
}

const char *db_bytes_data(struct db_bytes *array)
{
	struct bytes_head head = {htobe32(1), 0, htobe32(BYTEA_TYPE), htobe32(array->count), htobe32(1)};

	memcpy(array->data.data, &head, sizeof(head));
	return array->data.data;
}

void db_bytes_release(struct db_bytes *array)
{
	buf_release(&array->data);
	array->count = 0;
}
