/* SPDX-License-Identifier: MPL-2.0 */
#include "common/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base.h"
#include "common/clock.h"

enum { LINE_SIZE = 8192, FIELD_SIZE = 2048 };

static const char *process_name = "runyard";
static enum log_level least_level = LOG_INFO;
static const char *const level_names[] = {"debug", "info", "warn", "error"};

void log_setup(const char *process, enum log_level least)
{
	process_name = process;
	least_level = least;
}

int log_level_parse(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(level_names); i++)
		if (text_equal(name, level_names[i]))
			return (int)i;
	return -1;
}

struct line {
	char text[LINE_SIZE];
	size_t len;
};

static void line_char(struct line *line, char c)
{
	/* Room is kept for the closing quote, brace and line end. */
	if (line->len < sizeof(line->text) - 4)
		line->text[line->len++] = c;
}

static void line_escaped(struct line *line, const char *text)
{
	static const char hex[] = "0123456789abcdef";

	for (size_t i = 0; text[i] && i < FIELD_SIZE; i++) {
		unsigned char c = (unsigned char)text[i];

		if (line->len > sizeof(line->text) - 16)
			return;
		if (c == '"' || c == '\\') {
			line_char(line, '\\');
			line_char(line, (char)c);
		} else if (c < 0x20 || c == 0x7f) {
			const char escape[] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};

			for (size_t k = 0; k < sizeof(escape); k++)
				line_char(line, escape[k]);
		} else {
			line_char(line, (char)c);
		}
	}
}

static void line_field(struct line *line, const char *name, const char *value)
{
	/* A field that would not fit whole is left out, so that every line stays JSON. */
	if (line->len + strlen(name) + 32 > sizeof(line->text))
		return;
	line_char(line, line->len > 1 ? ',' : ' ');
	line_char(line, '"');
	line_escaped(line, name);
	line_char(line, '"');
	line_char(line, ':');
	line_char(line, '"');
	line_escaped(line, value);
	line->text[line->len++] = '"';
}

void log_line(enum log_level level, const char *message, ...)
{
	struct line line = {.text = "{", .len = 1};
	char now[CLOCK_TEXT_SIZE];
	const char *name;
	va_list args;

	if (level < least_level)
		return;
	line_field(&line, "ts", clock_text(clock_wall_us(), now));
	line_field(&line, "level", level_names[level]);
	line_field(&line, "process", process_name);
	line_field(&line, "msg", message);
	va_start(args, message);
	while ((name = va_arg(args, const char *))) {
		const char *value = va_arg(args, const char *);

		if (value)
			line_field(&line, name, value);
	}
	va_end(args);
	line.text[line.len++] = '}';
	line.text[line.len++] = '\n';
	/* One write, so that lines of several threads do not mix. There is nobody to tell if it fails. */
	if (write(STDERR_FILENO, line.text, line.len) < 0)
		return;
}
