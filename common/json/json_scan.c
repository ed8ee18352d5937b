/* SPDX-License-Identifier: MPL-2.0 */
#include "common/json/json_scan.h"

#include <string.h>

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static const char *space_skip(const char *at, const char *end)
{
	while (at < end && is_space(*at))
		at++;
	return at;
}

/* `at` is behind the opening quote. Returns the end behind the closing one, or NULL. */
static const char *string_skip(const char *at, const char *end)
{
	for (; at < end; at++) {
		if (*at == '"')
			return at + 1;
		if (*at == '\\')
			at++;
	}
	return NULL;
}

static const char *nested_skip(const char *at, const char *end)
{
	size_t depth = 0;

	while (at < end) {
		char c = *at++;

		if (c == '"' && !(at = string_skip(at, end)))
			return NULL;
		if (c == '{' || c == '[')
			depth++;
		else if ((c == '}' || c == ']') && --depth == 0)
			return at;
	}
	return NULL;
}

static const char *word_skip(const char *at, const char *end)
{
	const char *begin = at;

	while (at < end && !is_space(*at) && !strchr(",:]}[{\"", *at))
		at++;
	return at > begin ? at : NULL;
}

static const char *value_skip(const char *at, const char *end)
{
	if (at >= end)
		return NULL;
	if (*at == '"')
		return string_skip(at + 1, end);
	return *at == '{' || *at == '[' ? nested_skip(at, end) : word_skip(at, end);
}

int json_scan_open(struct json_span value, struct json_scan *ret_scan)
{
	const char *end, *at;

	if (!value.len)
		return -1;
	end = value.bytes + value.len;
	at = space_skip(value.bytes, end);
	if (at == end || (*at != '{' && *at != '['))
		return -1;
	*ret_scan = (struct json_scan){.at = at + 1, .end = end, .close = *at == '{' ? '}' : ']'};
	return 0;
}

/* Reads `"name" :`. */
static int name_read(struct json_scan *scan, struct json_span *ret_name)
{
	const char *begin = scan->at, *end;

	if (begin >= scan->end || *begin != '"' || !(end = string_skip(begin + 1, scan->end)))
		return -1;
	scan->at = space_skip(end, scan->end);
	if (scan->at >= scan->end || *scan->at != ':')
		return -1;
	scan->at = space_skip(scan->at + 1, scan->end);
	*ret_name = (struct json_span){begin, (size_t)(end - begin)};
	return 0;
}

int json_scan_next(struct json_scan *scan, struct json_span *ret_name, struct json_span *ret_value)
{
	struct json_span name = {scan->at, 0};
	const char *end;

	scan->at = space_skip(scan->at, scan->end);
	if (scan->at < scan->end && *scan->at == scan->close)
		return 0;
	if (scan->began) {
		if (scan->at >= scan->end || *scan->at != ',')
			return -1;
		scan->at = space_skip(scan->at + 1, scan->end);
	}
	scan->began = true;
	if (scan->close == '}' && name_read(scan, &name) < 0)
		return -1;
	end = value_skip(scan->at, scan->end);
	if (!end)
		return -1;
	*ret_name = name;
	*ret_value = (struct json_span){scan->at, (size_t)(end - scan->at)};
	scan->at = end;
	return 1;
}

bool json_span_is(struct json_span name, const char *text)
{
	size_t len = strlen(text);

	return name.len == len + 2 && memcmp(name.bytes + 1, text, len) == 0;
}

int json_scan_members(struct json_span object, struct json_member *members, size_t count)
{
	struct json_span name, value;
	struct json_scan scan;
	int found;

	if (json_scan_open(object, &scan) < 0 || scan.close != '}')
		return -1;
	while ((found = json_scan_next(&scan, &name, &value)) > 0)
		for (size_t i = 0; i < count; i++)
			if (json_span_is(name, members[i].name))
				members[i].value = value;
	return found == 0 && space_skip(scan.at + 1, scan.end) == scan.end ? 0 : -1;
}
