/* SPDX-License-Identifier: MPL-2.0 */
#include "common/terraform/state_text.h"

#include <string.h>

struct span {
	size_t begin, end;
};

static size_t skip(const char *text, size_t len, size_t at, const char *bytes)
{
	while (at < len && text[at] && strchr(bytes, text[at]))
		at++;
	return at;
}

/* Returns the offset after the closing quote of the string that begins at `at`. */
static size_t string_end(const char *text, size_t len, size_t at)
{
	for (at++; at < len && text[at] != '"'; at++)
		at += text[at] == '\\';
	return at < len ? at + 1 : len;
}

/* Reads the value after a name and its colon: a string or a number. False if there is neither. */
static bool value_behind(const char *text, size_t len, size_t at, struct span *ret_value)
{
	at = skip(text, len, at, " \t\r\n");
	if (at >= len || text[at] != ':')
		return false;
	ret_value->begin = skip(text, len, at + 1, " \t\r\n");
	if (ret_value->begin < len && text[ret_value->begin] == '"')
		ret_value->end = string_end(text, len, ret_value->begin);
	else
		ret_value->end = skip(text, len, ret_value->begin, "0123456789+-.eE");
	return ret_value->end > ret_value->begin;
}

/* Finds the value of a member of the outermost object. `member` includes its quotes. */
static bool member_find(const char *text, size_t len, const char *member, struct span *ret_value)
{
	int depth = 0;

	for (size_t at = 0; at < len;) {
		size_t end = at + 1;

		if (text[at] == '"') {
			end = string_end(text, len, at);
			if (depth == 1 && end - at == strlen(member) && memcmp(text + at, member, end - at) == 0 &&
				value_behind(text, len, end, ret_value))
				return true;
		}
		depth += (text[at] == '{' || text[at] == '[') - (text[at] == '}' || text[at] == ']');
		at = end;
	}
	return false;
}

static int member_replace(const char *text, size_t len, const char *member, const char *value, struct buf *out)
{
	struct span old;

	if (!member_find(text, len, member, &old) || (text[old.begin] == '"') != (*value == '"') ||
		buf_append(out, text, old.begin) < 0 || buf_text(out, value) < 0)
		return -1;
	return buf_append(out, text + old.end, len - old.end);
}

int state_renumber(const char *state, size_t len, long long serial, struct buf *out)
{
	_cleanup_(freep) char *value = mem_printf("%lld", serial);

	return member_replace(state, len, "\"serial\"", value, out);
}

int state_relineage(const char *state, size_t len, const char *lineage, struct buf *out)
{
	_cleanup_(freep) char *value = mem_printf("\"%s\"", lineage);

	return member_replace(state, len, "\"lineage\"", value, out);
}
