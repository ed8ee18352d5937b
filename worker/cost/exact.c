/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/cost/exact.h"

#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/terraform/plan_text.h"

/* The position after the closing quote of the text that begins after this quote. */
static const char *text_end(const char *at, const char *end)
{
	while (at < end && *at != '"')
		at += *at == '\\' && at + 1 < end ? 2 : 1;
	return at < end ? at + 1 : end;
}

static const char *number_end(const char *at, const char *end)
{
	while (at < end && *at && strchr("+-0123456789.eE", *at))
		at++;
	return at;
}

static bool begins_number(char c)
{
	return c == '-' || (c >= '0' && c <= '9');
}

static void quote_numbers(const char *bytes, size_t len, struct buf *out)
{
	const char *end = bytes + len, *from = bytes, *at = bytes;

	while (at < end) {
		if (*at == '"') {
			at = text_end(at + 1, end);
		} else if (begins_number(*at)) {
			const char *number = at;

			at = number_end(at, end);
			buf_append(out, from, (size_t)(number - from));
			buf_printf(out, "\"%.*s\"", (int)(at - number), number);
			from = at;
		} else {
			at++;
		}
	}
	buf_append(out, from, (size_t)(end - from));
}

int exact_parse(const char *bytes, size_t len, json_t **ret_value, struct err *err)
{
	/* Each number gains two quotes. It occupies at least one byte and is followed by a delimiter. */
	_cleanup_(buf_release) struct buf quoted = BUF_INIT(2 * len + 16);
	json_error_t error;
	json_t *value;

	quote_numbers(bytes, len, &quoted);
	if (json_memory_check(buf_str(&quoted), quoted.len, PLAN_MEMORY_MAX, err) < 0)
		return -1;
	value = json_loadb(buf_str(&quoted), quoted.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
	if (!value)
		return err_set(err, ERR_MALFORMED, "it is not JSON: %s (line %d)", error.text, error.line);
	*ret_value = value;
	return 0;
}
