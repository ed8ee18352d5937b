/* SPDX-License-Identifier: MPL-2.0 */
/* Traces as text and as JSON. */
#include <string.h>

#include "policy/command/evaluation.h"
#include "common/text.h"

enum { MAX_SHOWN = 2000 }; /* bytes of a value */

static const char not_shown[] = "(can't be shown)";

/* ---- text ---- */

static void add_lines(struct run *run, struct output *output, const char *indent, const char *text, size_t len)
{
	while (len > 0) {
		const char *newline = memchr(text, '\n', len);
		size_t line = newline ? (size_t)(newline - text) : len;

		output_text(run, output, indent);
		output_add(run, output, text, line);
		output_text(run, output, "\n");
		text += line + (newline != NULL);
		len -= line + (newline != NULL);
	}
}

static void add_line(struct run *run, struct output *output, const char *indent, const char *text)
{
	add_lines(run, output, indent, text, strlen(text));
}

/* The length of the text without a character that is cut at `len`. */
static size_t whole(const char *bytes, size_t len)
{
	while (len > 0 && ((unsigned char)bytes[len] & 0xc0) == 0x80)
		len--;
	return len;
}

const char *trace_shown(struct run *run, struct value value)
{
	struct value text = value_print(run, value, VALUE_QUOTED);
	size_t len = string_len(text);

	if (len <= MAX_SHOWN)
		return run_copy(run, string_bytes(text), len);
	len = whole(string_bytes(text), MAX_SHOWN);
	return run_text(run, "%s... (%zu bytes more)", run_copy(run, string_bytes(text), len), string_len(text) - len);
}

static void add_description(struct run *run, struct output *output, const char *indent, struct word description)
{
	if (description.len == 0)
		return;
	add_line(run, output, indent, "Description:");
	add_lines(run, output, run_text(run, "%s  ", indent), description.bytes, description.len);
}

static struct place place_of_rule(const struct result *result, const struct rule_note *note)
{
	return (struct place){.source = unit_tree(result->unit)->source, .offset = note->offset};
}

static void add_rule(struct run *run, const struct result *result, const char *indent,
	const struct evaluated_rule *rule, struct output *output)
{
	const char *inner = run_text(run, "%s  ", indent);
	unsigned line, column;

	run_position(run, place_of_rule(result, rule->note), &line, &column);
	output_text(run, output, "\n");
	add_line(run, output, indent,
		run_text(run, "%s:%u:%u - Rule \"%.*s\"", unit_tree(result->unit)->source->name, line, column,
			(int)rule->note->name.len, rule->note->name.bytes));
	add_description(run, output, inner, rule->note->description);
	add_line(run, output, inner, "Value:");
	add_line(run, output, run_text(run, "%s  ", inner),
		result->without_values ? not_shown : trace_shown(run, rule->value));
}

void trace_prints(struct run *run, const char *indent, struct output *output)
{
	add_lines(run, output, indent, run->printed.bytes, run->printed.len);
}

void trace_text(struct run *run, const struct result *result, const char *indent, struct output *output)
{
	struct evaluated_rule *rules;
	size_t count;

	if (result->unit) {
		struct word description = unit_tree(result->unit)->description;

		if (description.len > 0)
			output_text(run, output, "\n");
		add_description(run, output, indent, description);
		count = unit_rules(run, result->unit, &rules);
		for (size_t i = 0; i < count; i++)
			add_rule(run, result, indent, &rules[i], output);
	}
	if (run->printed.len > 0) {
		output_text(run, output, "\n");
		add_line(run, output, indent, "Printed:");
	}
	trace_prints(run, run_text(run, "%s  ", indent), output);
}

/* ---- JSON ---- */

static struct value word_value(struct run *run, struct word word)
{
	return string_new(run, word.bytes, word.len);
}

static struct value position_value(struct run *run, struct place place)
{
	struct value position = map_new(run, 4);
	unsigned line, column;

	run_position(run, place, &line, &column);
	map_set_text(run, position, "filename", string_text(run, place.source->name));
	map_set_text(run, position, "offset", value_int(place.offset));
	map_set_text(run, position, "line", value_int(line));
	map_set_text(run, position, "column", value_int(column));
	return position;
}

static struct value rule_value(struct run *run, const struct result *result, const struct evaluated_rule *rule)
{
	struct value map = map_new(run, 4);

	map_set_text(run, map, "desc", word_value(run, rule->note->description));
	map_set_text(run, map, "ident", word_value(run, rule->note->name));
	map_set_text(run, map, "position", position_value(run, place_of_rule(result, rule->note)));
	map_set_text(run, map, "value", result->without_values ? string_text(run, not_shown) : rule->value);
	return map;
}

static struct value rules_value(struct run *run, const struct result *result)
{
	struct value map = map_new(run, 0);
	struct evaluated_rule *rules;
	size_t count = result->unit ? unit_rules(run, result->unit, &rules) : 0;

	for (size_t i = 0; i < count; i++)
		map_set(run, map, word_value(run, rules[i].note->name), rule_value(run, result, &rules[i]));
	return map;
}

struct value trace_value(struct run *run, const struct result *result)
{
	struct word description = result->unit ? unit_tree(result->unit)->description : (struct word){0};
	const char *error = result_error(run, result);
	struct value map = map_new(run, 5);

	map_set_text(run, map, "description", word_value(run, description));
	map_set_text(run, map, "error", error ? string_text(run, error) : value_null());
	map_set_text(run, map, "print", string_new(run, run->printed.bytes, run->printed.len));
	map_set_text(run, map, "result", value_bool(result_code(result) == EXIT_PASSED));
	map_set_text(run, map, "rules", rules_value(run, result));
	return map;
}
