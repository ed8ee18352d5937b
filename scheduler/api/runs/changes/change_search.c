/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/api/runs/changes/change_search.h"

#include <stdlib.h>
#include <string.h>

/* ---- one change ---- */

static bool plain_has(const json_t *value, const char *text)
{
	_cleanup_(freep) char *digits = NULL;

	if (json_is_string(value))
		return strcasestr(json_string_value(value), text);
	if (!json_is_number(value) && !json_is_boolean(value))
		return false;
	digits = json_text(value);
	return strcasestr(digits, text);
}

static bool value_has(const json_t *value, const char *text)
{
	const char *key;
	json_t *member;
	size_t i;

	json_object_foreach((json_t *)value, key, member) if (value_has(member, text)) return true;
	json_array_foreach((json_t *)value, i, member) if (value_has(member, text)) return true;
	return plain_has(value, text);
}

static bool change_has(const char *bytes, size_t len, const char *text)
{
	json_auto_t *change = json_loadb(bytes, len, 0, NULL);

	return value_has(json_object_get(change, "before"), text) || value_has(json_object_get(change, "after"), text);
}

/* ---- all changes ---- */

/* The text as it stands inside of a string in the stored JSON, which the same library wrote. */
static char *text_escaped(const char *text)
{
	json_auto_t *value = json_string(text);
	char *escaped = json_text(value);
	size_t len = strlen(escaped);

	memmove(escaped, escaped + 1, len - 2);
	escaped[len - 2] = 0;
	return escaped;
}

/* Marks the changes that match. Only those whose JSON has the text anywhere are parsed. */
static void changes_match(const struct plan_changes_draft *stored, const char *text, bool *matches)
{
	_cleanup_(freep) char *escaped = text_escaped(text);
	const char *begin = buf_str(&stored->changes), *at = begin;
	long long count = (long long)(stored->ends.len / sizeof(uint64_t)), index = 0;

	while ((at = strcasestr(at, escaped)) && index < count) {
		long long from, to;

		while (index < count && plan_changes_end(&stored->ends, index) <= at - begin)
			index++;
		if (index == count)
			return;
		from = plan_changes_end(&stored->ends, index - 1);
		to = plan_changes_end(&stored->ends, index);
		matches[index++] = change_has(begin + from, (size_t)(to - from), text);
		at = begin + to;
	}
}

static json_t *rows_filter(const json_t *rows, const bool *matches, long long count)
{
	json_t *kept = json_array(), *row;
	size_t i;

	json_array_foreach((json_t *)rows, i, row)
	{
		long long index = json_int_at(row, "index", -1);

		if (index < 0 || (index < count && matches[index]))
			json_array_append(kept, row);
	}
	return kept;
}

json_t *changes_filter(json_t *summary, const struct plan_changes_draft *stored, const char *text)
{
	long long count = (long long)(stored->ends.len / sizeof(uint64_t));
	_cleanup_(freep) bool *matches = mem_new((size_t)count + 1, sizeof(*matches));
	json_t *filtered = json_object(), *member;
	const char *name;

	changes_match(stored, text, matches);
	json_object_foreach(summary, name, member)
	{
		if (json_is_array(member))
			json_object_set_new(filtered, name, rows_filter(member, matches, count));
		else
			json_object_set(filtered, name, member);
	}
	json_decref(summary);
	return filtered;
}
