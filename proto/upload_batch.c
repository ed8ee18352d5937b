/* SPDX-License-Identifier: MPL-2.0 */
#include "proto/upload_batch.h"

#include <string.h>

#include "common/err.h"

/* ---- the request ---- */

void upload_batch_write(const struct upload_batch_part *parts, size_t count, struct buf *out)
{
	json_t *list = json_array();
	json_auto_t *head = json_pack("{so}", "parts", list);
	_cleanup_(freep) char *line = NULL;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(
			list, json_pack("{ss sI}", "path", parts[i].path, "size", (json_int_t)parts[i].len));
	line = json_text(head);
	buf_printf(out, "%s\n", line);
	for (size_t i = 0; i < count; i++)
		buf_append(out, parts[i].bytes, parts[i].len);
}

void upload_batch_release(struct upload_batch *batch)
{
	json_decref(batch->head);
	*batch = (struct upload_batch){.count = 0};
}

static int part_read(
	const json_t *said, const char **at, const char *end, struct upload_batch_part *ret_part, struct err *err)
{
	const char *path = json_string_at(said, "path");
	long long size = json_int_at(said, "size", -1);

	if (!path || size < 0)
		return err_set(err, ERR_MALFORMED, "each part of a batch needs its 'path' and its 'size'");
	if (size > end - *at)
		return err_set(err, ERR_MALFORMED, "the batch ends in the midst of a part");
	*ret_part = (struct upload_batch_part){path, *at, (size_t)size};
	*at += size;
	return 0;
}

static int parts_read(struct upload_batch *batch, const char *at, const char *end, struct err *err)
{
	const json_t *parts = json_at(batch->head, "parts");
	size_t count = json_array_size(parts);

	if (!count || count > UPLOAD_BATCH_PARTS_MAX)
		return err_set(err, ERR_MALFORMED, "a batch has 1 to %d 'parts'", UPLOAD_BATCH_PARTS_MAX);
	for (; batch->count < count; batch->count++)
		if (part_read(json_array_get(parts, batch->count), &at, end, &batch->parts[batch->count], err) < 0)
			return -1;
	return at == end ? 0 : err_set(err, ERR_MALFORMED, "the batch is longer than its parts");
}

int upload_batch_read(const char *text, size_t len, struct upload_batch *ret_batch, struct err *err)
{
	const char *line_end =
		len ? memchr(text, '\n', len < UPLOAD_BATCH_HEAD_MAX ? len : UPLOAD_BATCH_HEAD_MAX) : NULL;
	struct upload_batch batch = {.count = 0};

	if (!line_end)
		return err_set(
			err, ERR_MALFORMED, "a batch begins with a line of at most %d bytes", UPLOAD_BATCH_HEAD_MAX);
	if (json_parse(text, (size_t)(line_end - text), &batch.head, err) < 0)
		return -1;
	if (parts_read(&batch, line_end + 1, text + len, err) < 0) {
		upload_batch_release(&batch);
		return -1;
	}
	*ret_batch = batch;
	return 0;
}

/* ---- the answer ---- */

void upload_batch_answers_write(const struct upload_batch_answer *answers, size_t count, struct buf *out)
{
	buf_text(out, "{\"parts\":[");
	for (size_t i = 0; i < count; i++) {
		buf_printf(out, "%s{\"status\":%d", i ? "," : "", answers[i].status);
		if (answers[i].body.len)
			buf_printf(out, ",\"body\":%s", buf_str(&answers[i].body));
		buf_text(out, "}");
	}
	buf_text(out, "]}");
}

int upload_batch_answers_read(const char *text, size_t len, struct upload_batch_answer *ret_answers, size_t count)
{
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;
	const json_t *parts;

	json_parse(text, len, &value, &err);
	parts = json_at(value, "parts");
	if (json_array_size(parts) != count)
		return -1;
	for (size_t i = 0; i < count; i++) {
		const json_t *part = json_array_get(parts, i), *body = json_at(part, "body");
		struct buf bytes = BUF_INIT(SIZE_MAX / 2);

		if (body) {
			bytes.data = json_text_len(body, &bytes.len);
			bytes.cap = bytes.len + 1;
		}
		ret_answers[i] = (struct upload_batch_answer){(int)json_int_at(part, "status", 0), bytes};
	}
	return 0;
}

void upload_batch_answers_release(struct upload_batch_answer *answers, size_t count)
{
	for (size_t i = 0; i < count; i++)
		buf_release(&answers[i].body);
}
