/* SPDX-License-Identifier: MPL-2.0 */
#include "common/terraform/state_text.h"

#include "common/json/json_scan.h"

/* Finds the value of a member of the outermost object. */
static bool member_find(const char *text, size_t len, const char *member, struct json_span *ret_value)
{
	struct json_span name;
	struct json_scan scan;

	if (json_scan_open((struct json_span){text, len}, &scan) < 0)
		return false;
	while (json_scan_next(&scan, &name, ret_value) > 0)
		if (json_span_is(name, member))
			return true;
	return false;
}

static bool is_number(struct json_span value)
{
	return *value.bytes == '-' || (*value.bytes >= '0' && *value.bytes <= '9');
}

/* The old value must be a string or a number as the new one is. */
static int member_replace(const char *text, size_t len, const char *member, const char *value, struct buf *out)
{
	struct json_span old;
	size_t begin, end;

	if (!member_find(text, len, member, &old) || (*value == '"' ? *old.bytes != '"' : !is_number(old)))
		return -1;
	begin = (size_t)(old.bytes - text);
	end = begin + old.len;
	if (buf_append(out, text, begin) < 0 || buf_text(out, value) < 0)
		return -1;
	return buf_append(out, text + end, len - end);
}

int state_renumber(const char *state, size_t len, long long serial, struct buf *out)
{
	_cleanup_(freep) char *value = mem_printf("%lld", serial);

	return member_replace(state, len, "serial", value, out);
}

int state_relineage(const char *state, size_t len, const char *lineage, struct buf *out)
{
	_cleanup_(freep) char *value = mem_printf("\"%s\"", lineage);

	return member_replace(state, len, "lineage", value, out);
}
