/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/commands/command.h"

#include <stdio.h>
#include <string.h>

enum { MAX_COLUMNS = 16, GAP = 2 };

const char *command_option(const struct command_line *line, const char *name)
{
	for (int i = 0; i < line->option_count; i++)
		if (strlen(name) == line->options[i].name_len &&
			memcmp(name, line->options[i].name, line->options[i].name_len) == 0)
			return line->options[i].value;
	return NULL;
}

int command_usage(const struct command_line *line, struct err *err)
{
	const struct command *c = line->command;

	return err_set(err, ERR_INVALID, "usage: runyard-scheduler %s%s%s%s", c->name, *c->usage ? " " : "", c->usage,
		c->has_json ? " [--json]" : "");
}

static bool is_control(const unsigned char *at)
{
	return *at < 0x20 || *at == 0x7f || (at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f);
}

char *command_printable(const char *text)
{
	char *copy = mem_text(text_or_empty(text));

	for (unsigned char *at = (unsigned char *)copy; *at; at++) {
		if (!is_control(at))
			continue;
		if (*at == 0xc2)
			*at++ = '?';
		*at = '?';
	}
	return copy;
}

void command_print_json(const json_t *value)
{
	_cleanup_(freep) char *line = json_text(value);

	printf("%s\n", line);
}

/* The text of one cell. The caller frees it. */
static char *cell_text(const json_t *item, const struct command_column *column)
{
	const json_t *value = json_at(item, column->member);
	_cleanup_(freep) char *raw = NULL;
	char *text;

	if (!value || json_is_null(value))
		return mem_text("-");
	if (json_is_boolean(value))
		return mem_text(json_is_true(value) ? "yes" : "no");
	if (!json_is_string(value))
		raw = json_text(value);
	text = command_printable(raw ? raw : json_string_value(value));
	if (column->width && strlen(text) > column->width)
		text[column->width] = 0;
	return text;
}

/* The number of characters, as the columns of a terminal. */
static size_t text_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void cell_print(const char *text, size_t width, bool is_last)
{
	printf("%s", text);
	for (size_t i = text_width(text); !is_last && i < width + GAP; i++)
		putchar(' ');
	if (is_last)
		putchar('\n');
}

void command_print_table(const json_t *items, const struct command_column *columns)
{
	size_t widths[MAX_COLUMNS] = {0}, count = 0, i;
	json_t *item;

	for (; columns[count].title && count < MAX_COLUMNS; count++) {
		widths[count] = text_width(columns[count].title);
		json_array_foreach((json_t *)items, i, item)
		{
			_cleanup_(freep) char *text = cell_text(item, &columns[count]);

			widths[count] = text_width(text) > widths[count] ? text_width(text) : widths[count];
		}
	}
	for (size_t c = 0; c < count; c++)
		cell_print(columns[c].title, widths[c], c + 1 == count);
	json_array_foreach((json_t *)items, i, item)
	{
		for (size_t c = 0; c < count; c++) {
			_cleanup_(freep) char *text = cell_text(item, &columns[c]);

			cell_print(text, widths[c], c + 1 == count);
		}
	}
}

void command_print(const struct command_line *line, const json_t *items, const struct command_column *columns)
{
	json_t *item;
	size_t i;

	if (!line->as_json) {
		command_print_table(items, columns);
		return;
	}
	json_array_foreach((json_t *)items, i, item) command_print_json(item);
}
