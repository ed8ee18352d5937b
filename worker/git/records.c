/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/git/records.h"

#include <string.h>

int record_add_bytes(struct buf *records, const char *name, const char *bytes, size_t len)
{
	size_t before = records->len;

	if (buf_append(records, name, strlen(name) + 1) == 0 && buf_append(records, bytes, strnlen(bytes, len)) == 0 &&
		buf_append(records, "", 1) == 0)
		return 0;
	buf_cut(records, before);
	return -1;
}

int record_add(struct buf *records, const char *name, const char *value)
{
	return value ? record_add_bytes(records, name, value, strlen(value)) : 0;
}

bool record_next(struct bytes records, size_t *at, struct record *ret_record)
{
	const char *begin = (const char *)records.data + *at, *value, *end;
	size_t left = records.len - *at;

	value = left ? memchr(begin, '\0', left) : NULL;
	if (!value)
		return false;
	value++;
	left -= (size_t)(value - begin);
	end = left ? memchr(value, '\0', left) : NULL;
	if (!end)
		return false;
	*ret_record = (struct record){begin, value};
	*at += (size_t)(end + 1 - begin);
	return true;
}

const char *record_value(struct bytes records, const char *name)
{
	struct record record;

	for (size_t at = 0; record_next(records, &at, &record);)
		if (text_equal(record.name, name))
			return record.value;
	return "";
}
