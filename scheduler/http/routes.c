/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/http/routes.h"

#include <string.h>

/* The end of the path's segment that begins at `at`. */
static const char *segment_end(const char *at)
{
	return at + strcspn(at, "/");
}

static bool segment_plain(const char *at, const char *end)
{
	for (; at < end; at++)
		if (*at <= ' ' || *at > '~')
			return false;
	return true;
}

/* Stores the path's segment as the value of the pattern's `:name`. False if the segment is not a valid value. */
static bool match_param(
	struct route_match *match, const char *name, const char *name_end, const char *value, const char *value_end)
{
	size_t len = (size_t)(value_end - value);

	if (!len || match->count == ROUTE_PARAMS || len >= sizeof(match->params[0].value) ||
		!segment_plain(value, value_end))
		return false;
	match->params[match->count].name = name + 1;
	match->params[match->count].name_len = (size_t)(name_end - name - 1);
	text_copy(match->params[match->count].value, len + 1, value);
	match->count++;
	return true;
}

/* Some clients send paths with a slash at the end. */
static bool slash_at_end(const struct route *route, const char *rest)
{
	return text_equal(rest, "/") && route->pattern[strlen(route->pattern) - 1] != '/';
}

/* Compares character by character: most patterns differ within the first few characters. */
bool route_fits(const struct route *route, const char *path, struct route_match *match)
{
	const char *pattern = route->pattern;

	match->count = 0;
	while (*pattern) {
		if (*pattern == ':') {
			const char *pattern_end = segment_end(pattern), *path_end = segment_end(path);

			if (!match_param(match, pattern, pattern_end, path, path_end))
				return false;
			pattern = pattern_end;
			path = path_end;
		} else if (*pattern++ != *path++) {
			return false;
		}
	}
	return !*path || slash_at_end(route, path);
}

const struct route *route_find(
	const struct route *table, size_t count, const char *method, const char *path, struct route_match *ret_match)
{
	const char *asked = text_equal(method, "HEAD") ? "GET" : method;
	struct route_match match;

	for (size_t i = 0; i < count; i++) {
		if (!text_equal(table[i].method, asked) || !route_fits(&table[i], path, &match))
			continue;
		if (ret_match)
			*ret_match = match;
		return &table[i];
	}
	return NULL;
}

bool route_is_batched(const struct route *route)
{
	return route->executor >= BATCH_RUNS;
}

bool route_blocks(const struct route *route)
{
	return route->executor >= BLOCKING_CALL && route->executor < BATCH_RUNS;
}
