/* SPDX-License-Identifier: MPL-2.0 */
#include "common/terraform/plan_text.h"

#include <string.h>

#include "common/buf.h"
#include "common/err.h"

enum { INT_DIGITS = 19 }; /* of the largest number with 63 bits */

/* The length of the text at `at` up to one of `stops`. */
static size_t span(const char *at, const char *end, const char *stops)
{
	const char *begin = at;

	while (at < end && !(*at && strchr(stops, *at)))
		at++;
	return (size_t)(at - begin);
}

/* The length of the string at `at`, with its quotes. */
static size_t string_span(const char *at, const char *end)
{
	const char *begin = at++;

	for (at += span(at, end, "\"\\"); at < end && *at == '\\'; at += span(at, end, "\"\\"))
		at += end - at > 1 ? 2 : 1;
	return (size_t)(at - begin) + (at < end);
}

/* True for a whole number that is no int64_t. */
static bool is_wide(const char *number, size_t len)
{
	bool negative = *number == '-';
	const char *digits = number + negative;

	len -= negative;
	if (len < INT_DIGITS || strspn(digits, "0123456789") < len)
		return false;
	return len > INT_DIGITS ||
		memcmp(digits, negative ? "9223372036854775808" : "9223372036854775807", INT_DIGITS) > 0;
}

static size_t token_span(const char *at, const char *end)
{
	if (*at == '"')
		return string_span(at, end);
	if (strchr("{}[],: \t\r\n", *at))
		return 1;
	return span(at, end, "{}[],: \t\r\n\"");
}

/* Adds an exponent of zero to wide numbers. */
static int widen(const char *text, size_t len, struct buf *out)
{
	const char *end = text + len, *copied = text;
	size_t token;

	for (const char *at = text; at < end; at += token) {
		token = token_span(at, end);
		if (*at == '"' || !is_wide(at, token))
			continue;
		if (buf_append(out, copied, (size_t)(at - copied) + token) < 0 || buf_text(out, "e0") < 0)
			return -1;
		copied = at + token;
	}
	return buf_append(out, copied, (size_t)(end - copied));
}

int plan_parse(const char *text, size_t len, struct json_document *ret_plan, struct err *err)
{
	_cleanup_(buf_release) struct buf wide = BUF_INIT(len + len / INT_DIGITS * strlen("e0"));
	struct json_document plan = JSON_NO_DOCUMENT;
	struct err why = ERR_INIT;

	if (json_document_load(&plan, text, len, JSON_ALLOW_NUL, &why) < 0 && why.kind == ERR_MALFORMED &&
		widen(text, len, &wide) == 0)
		json_document_load(&plan, buf_str(&wide), wide.len, JSON_ALLOW_NUL, &why);
	if (json_is_object(plan.value)) {
		*ret_plan = plan;
		return 0;
	}
	if (plan.value || why.kind == ERR_MALFORMED)
		err_set(&why, ERR_MALFORMED, "the plan as JSON can't be read");
	json_document_release(&plan);
	*err = why;
	return -1;
}
