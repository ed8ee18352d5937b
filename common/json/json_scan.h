/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_JSON_JSON_SCAN_H
#define COMMON_JSON_JSON_SCAN_H

/*
 * Finds the members of an object or the items of an array in a JSON text, without a parsed copy of the text. It needs
 * no memory, and nesting needs no stack. The inside of a part is not checked: parse the part before use.
 */

#include <stdbool.h>
#include <stddef.h>

struct json_span {
	const char *bytes; /* borrowed from the text */
	size_t len;
};

struct json_scan {
	const char *at, *end;
	char close; /* '}' or ']' */
	bool began;
};

/* -1 if the value is neither an object nor an array, or is empty. */
int json_scan_open(struct json_span value, struct json_scan *ret_scan);
/* Reads the next part. Returns 1 with the part, 0 at the end, -1 if the text is malformed. ret_name is the member's
 * name with its quotes and escapes, or empty for an item. */
int json_scan_next(struct json_scan *scan, struct json_span *ret_name, struct json_span *ret_value);
/* Finds the members of an object: the last one of each name. -1 if the text is no whole object, or goes on after it.
 * The members before that place are found anyway. */
struct json_member {
	const char *name;       /* without escapes */
	struct json_span value; /* empty: it is missing */
};
int json_scan_members(struct json_span object, struct json_member *members, size_t count);
/* True for a member of that name. The name must not need escapes. */
bool json_span_is(struct json_span name, const char *text);

#endif
