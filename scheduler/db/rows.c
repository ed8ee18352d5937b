/* SPDX-License-Identifier: MPL-2.0 */
/* Rows as structs. */
#include <string.h>

#include "common/log.h"
#include "scheduler/db/connection.h"

void rows_release(struct rows *rows)
{
	PQclear(rows->result);
	free(rows->cells);
	*rows = (struct rows)ROWS_INIT;
}

const struct db_field *shape_column(const struct db_shape *shape, const char *name)
{
	const char *names = shape->names;

	for (size_t i = 0; i < shape->count; i++, names += strlen(names) + 1)
		if (text_equal(names, name))
			return &shape->columns[i];
	return NULL;
}

/* The number of the shape's i-th column in the result; -1: there is none. It is mostly i. */
static int column_number(const PGresult *result, const struct db_shape *shape, size_t i, const char *name)
{
	int count = PQnfields(result);

	if ((int)i < count && text_equal(PQfname(result, (int)i), name))
		return (int)i;
	for (int number = 0; number < count; number++)
		if (text_equal(PQfname(result, number), name))
			return number;
	if (shape->columns[i].optional)
		return -1;
	log_error("a statement lacks a column of its shape", "shape", shape->name, "column", name, NULL);
	abort();
}

static void cell_read(const PGresult *result, int row, int number, const struct db_field *column, char *cells)
{
	void *cell = cells + column->at;
	const char *text = PQgetvalue(result, row, number);

	if (PQgetisnull(result, row, number)) {
		if (column->null_at)
			*(bool *)(cells + column->null_at) = true;
		return;
	}
	switch (column->kind) {
	case DB_INT:
		*(long long *)cell = strtoll(text, NULL, 10);
		break;
	case DB_BOOL:
		*(bool *)cell = *text == 't';
		break;
	case DB_FLOAT:
		*(double *)cell = strtod(text, NULL);
		break;
	case DB_BYTES:
		*(struct db_hex *)cell = (struct db_hex){text, (size_t)PQgetlength(result, row, number)};
		break;
	default:
		*(const char **)cell = text;
	}
}

/* No rows have one of nulls. */
static int rows_made(const struct rows *rows)
{
	int count = PQntuples(rows->result);

	return count ? count : 1;
}

static void column_read(struct rows *rows, size_t i, const char *name)
{
	int number = column_number(rows->result, rows->shape, i, name);
	const struct db_field *column = &rows->shape->columns[i];

	for (int row = 0; row < rows_made(rows); row++) {
		char *cells = (char *)rows->cells + (size_t)row * rows->shape->size;

		if (number >= 0 && row < rows->count)
			cell_read(rows->result, row, number, column, cells);
		else if (column->null_at)
			*(bool *)(cells + column->null_at) = true;
	}
}

/* Takes the result. The rows know their shape already. */
void rows_fill(struct rows *rows, PGresult *result)
{
	const char *name;

	rows->result = result;
	rows->count = PQntuples(result);
	if (!rows->shape)
		return;
	name = rows->shape->names;
	rows->cells = mem_new((size_t)rows_made(rows), rows->shape->size);
	for (size_t i = 0; i < rows->shape->count; i++, name += strlen(name) + 1)
		column_read(rows, i, name);
}

const void *row_cells(const struct rows *rows, int row)
{
	return row_at(rows, row, rows->shape);
}

const void *row_at(const struct rows *rows, int row, const struct db_shape *shape)
{
	if (rows->cells && rows->shape == shape && row >= 0 && row < rows_made(rows))
		return (const char *)rows->cells + (size_t)row * shape->size;
	log_error("no such row of that shape", "shape", shape->name, NULL);
	abort();
}

json_t *json_shown(const char *text)
{
	return text ? json_of(text) : json_null();
}

/* The value of a hex digit that PostgreSQL wrote. */
static unsigned char nibble(char digit)
{
	return (unsigned char)((digit & 0xf) + (digit >> 6) * 9);
}

/* Decodes logs and plans. PQunescapeBytea would read each digit twice, and allocate twice. */
static void hex_append(const char *text, size_t len, struct buf *out)
{
	unsigned char part[4096];

	for (size_t left = len / 2; left;) {
		size_t count = left < sizeof(part) ? left : sizeof(part);

		for (size_t i = 0; i < count; i++, text += 2)
			part[i] = (unsigned char)(nibble(text[0]) << 4 | nibble(text[1]));
		buf_append(out, part, count);
		left -= count;
	}
}

void hex_decode(struct db_hex hex, struct buf *out)
{
	unsigned char *bytes;
	size_t len;

	if (!hex.text)
		return;
	if (text_starts(hex.text, "\\x")) {
		hex_append(hex.text + 2, hex.len - 2, out);
	} else if ((bytes = PQunescapeBytea((const unsigned char *)hex.text, &len))) {
		buf_append(out, bytes, len);
		PQfreemem(bytes);
	}
}

int db_affected(const struct rows *rows)
{
	return (int)strtol(text_or_empty(PQcmdTuples(rows->result)), NULL, 10);
}
