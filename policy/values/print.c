/* SPDX-License-Identifier: MPL-2.0 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"
#include "policy/core/output.h"
#include "policy/values/value.h"

static void print(struct run *run, struct output *output, struct value value);

/* ---- numbers ---- */

/* The exponent's "+" is left out: 1e+21 is 1e21. */
static void drop_plus(char *text)
{
	char *plus = strchr(text, '+');

	if (plus)
		memmove(plus, plus + 1, strlen(plus));
}

static void shortest(char text[REAL_TEXT_SIZE], double real)
{
	text_real(text, real);
	drop_plus(text);
	if (!strpbrk(text, ".e"))
		snprintf(text + strlen(text), REAL_TEXT_SIZE - strlen(text), ".0");
}

static void print_float(struct run *run, struct output *output, double real)
{
	char text[REAL_TEXT_SIZE];

	if (isfinite(real))
		shortest(text, real);
	else
		snprintf(text, sizeof(text), "%s", isnan(real) ? "NaN" : real > 0 ? "Inf" : "-Inf");
	output_text(run, output, text);
}

static void print_int(struct run *run, struct output *output, int64_t number)
{
	char text[REAL_TEXT_SIZE];

	snprintf(text, sizeof(text), "%" PRId64, number);
	output_text(run, output, text);
}

/* ---- strings ---- */

static const char *const escapes[256] = {
	['\a'] = "\\a",
	['\b'] = "\\b",
	['\f'] = "\\f",
	['\n'] = "\\n",
	['\r'] = "\\r",
	['\t'] = "\\t",
	['\v'] = "\\v",
	['\\'] = "\\\\",
	['"'] = "\\\"",
};

static bool is_plain(unsigned char byte)
{
	return byte >= 0x20 && byte != 0x7f && !escapes[byte];
}

static void print_escape(struct run *run, struct output *output, unsigned char byte)
{
	char text[8];

	if (escapes[byte]) {
		output_text(run, output, escapes[byte]);
		return;
	}
	snprintf(text, sizeof(text), "\\x%02x", byte);
	output_text(run, output, text);
}

static void print_quoted(struct run *run, struct output *output, struct value string)
{
	const char *bytes = string_bytes(string);
	size_t len = string_len(string), begin = 0;

	output_add(run, output, "\"", 1);
	for (size_t i = 0; i < len; i++) {
		if (is_plain((unsigned char)bytes[i]))
			continue;
		output_add(run, output, bytes + begin, i - begin);
		print_escape(run, output, (unsigned char)bytes[i]);
		begin = i + 1;
	}
	output_add(run, output, bytes + begin, len - begin);
	output_add(run, output, "\"", 1);
}

/* ---- containers ---- */

static void print_list(struct run *run, struct output *output, struct value list)
{
	output_add(run, output, "[", 1);
	for (size_t i = 0; i < list_len(list); i++) {
		if (i > 0)
			output_add(run, output, ", ", 2);
		print(run, output, list_at(run, list, i));
	}
	output_add(run, output, "]", 1);
}

static void print_map(struct run *run, struct output *output, struct value map)
{
	struct iterator at = value_iterate(run, map);
	const char *separator = "";

	output_add(run, output, "{", 1);
	while (iterator_next(run, &at)) {
		output_text(run, output, separator);
		print(run, output, at.key);
		output_add(run, output, ": ", 2);
		print(run, output, at.element);
		separator = ", ";
	}
	output_add(run, output, "}", 1);
}

static void print(struct run *run, struct output *output, struct value value)
{
	run_enter(run);
	switch (value.type) {
	case VALUE_BOOL:
		output_text(run, output, value.truth ? "true" : "false");
		break;
	case VALUE_INT:
		print_int(run, output, value.number);
		break;
	case VALUE_FLOAT:
		print_float(run, output, value.real);
		break;
	case VALUE_STRING:
		print_quoted(run, output, value);
		break;
	case VALUE_LIST:
		print_list(run, output, value);
		break;
	case VALUE_MAP:
		print_map(run, output, value);
		break;
	default:
		output_text(run, output, value_type_name(value));
	}
	run_leave(run);
}

struct value value_print(struct run *run, struct value value, enum value_form form)
{
	struct output output = {0};

	if (value.type == VALUE_STRING && form == VALUE_BARE)
		return value;
	print(run, &output, value);
	return string_borrow(run, output.bytes, output.len);
}
