/* SPDX-License-Identifier: MPL-2.0 */
#include "common/hcl/blocks.h"

#include <string.h>

#include "common/err.h"
#include "common/hcl/hcl.h"

enum { MAX_ITEMS = 100 * 1000 };

/* The state of reading a file. */
struct file {
	struct hcl_reader reader;
	json_t *blocks;
	size_t items; /* blocks and their attributes so far */
};

static bool count_item(struct file *file, const struct hcl_item *item)
{
	return ++file->items <= MAX_ITEMS ||
		hcl_fail(&file->reader, item->begin, "there are more than %d blocks and attributes", MAX_ITEMS);
}

/* A new string. NULL with an error if the text is none of JSON's, or has a zero byte. */
static json_t *read_text(struct file *file, const struct hcl_text *text)
{
	_cleanup_(freep) char *bytes = mem_new(text->end - text->begin + 1, 1);
	const size_t len = hcl_text_bytes(&file->reader, text, bytes);
	json_t *string = memchr(bytes, '\0', len) ? NULL : json_stringn(bytes, len);

	if (!string)
		hcl_fail(&file->reader, text->begin, "it is not valid UTF-8, or has a zero byte");
	return string;
}

/* ---- blocks ---- */

/* The value if it is one string, else null. NULL at an error. */
static json_t *read_value(struct file *file)
{
	struct hcl_reader *reader = &file->reader;
	const bool quoted = hcl_peek(reader, 0) == '"', heredoc = hcl_peek(reader, 0) == '<';
	struct hcl_text text;

	if (!quoted && !heredoc)
		return hcl_skip_value(reader) ? json_null() : NULL;
	if (!(quoted ? hcl_string : hcl_heredoc)(reader, &text) || !hcl_skip_spaces(reader))
		return NULL;
	if (!hcl_at_end(reader))
		return hcl_skip_value(reader) ? json_null() : NULL;
	return text.template ? json_null() : read_text(file, &text);
}

static bool read_attribute(struct file *file, json_t *attributes, const struct hcl_item *item)
{
	json_auto_t *name = read_text(file, &item->name);
	json_t *value;

	if (!name)
		return false;
	if (json_object_get(attributes, json_string_value(name)))
		return hcl_fail(&file->reader, item->begin, "\"%.100s\" is given twice", json_string_value(name));
	value = read_value(file);
	return value && json_object_set_new(attributes, json_string_value(name), value) == 0;
}

static bool read_body(struct file *file, json_t *attributes, const struct hcl_item *block)
{
	struct hcl_reader *reader = &file->reader;
	struct hcl_item item;

	while (hcl_next(reader, block, &item)) {
		const bool read = count_item(file, &item) &&
			(item.block ? hcl_skip_block(reader) : read_attribute(file, attributes, &item));

		if (!read || !hcl_end(reader, &item))
			return false;
	}
	return !hcl_failed(reader);
}

static bool read_block(struct file *file, const struct hcl_item *item)
{
	const struct hcl_text *label = item->label_count > 0 ? &item->labels[item->label_count - 1] : NULL;
	json_auto_t *type = read_text(file, &item->name), *name = label ? read_text(file, label) : json_string("");
	json_auto_t *attributes = json_object();

	if (!type || !name || !read_body(file, attributes, item))
		return false;
	return json_array_append_new(file->blocks,
		       json_pack("{sO sO sO sI sI}", "type", type, "label", name, "attributes", attributes, "begin",
			       (json_int_t)item->begin, "end", (json_int_t)file->reader.at)) == 0;
}

static int wrong(const struct hcl_reader *reader, struct err *err)
{
	return err_set(err, ERR_INVALID, "line %zu: %s", hcl_error_line(reader), reader->error.message);
}

int hcl_blocks(const char *text, size_t len, json_t **ret_blocks, struct err *err)
{
	json_auto_t *blocks = json_array();
	struct file file = {.reader = hcl_reader(text, len), .blocks = blocks};
	struct hcl_item item;

	while (hcl_next(&file.reader, NULL, &item)) {
		const bool read = count_item(&file, &item) &&
			(item.block ? read_block(&file, &item) : hcl_skip_value(&file.reader));

		if (!read || !hcl_end(&file.reader, &item))
			break;
	}
	if (hcl_failed(&file.reader))
		return wrong(&file.reader, err);
	*ret_blocks = json_incref(blocks);
	return 0;
}

/* ---- the JSON form ---- */

static void add_labelled(json_t *blocks, const char *type, json_t *by_label)
{
	const char *label;
	json_t *body;

	json_object_foreach(by_label, label, body)
	{
		json_t *last = json_is_array(body) ? json_array_get(body, json_array_size(body) - 1) : body;

		json_array_append_new(blocks,
			json_pack("{ss ss sO}", "type", type, "label", label, "attributes", last ? last : body));
	}
}

int hcl_blocks_json(const char *text, size_t len, json_t **ret_blocks, struct err *err)
{
	json_auto_t *root = NULL;
	json_t *blocks, *value, *item;
	const char *type;
	size_t i;

	if (json_parse(text, len, &root, err) < 0)
		return -1;
	if (!json_is_object(root))
		return err_set(err, ERR_INVALID, "the file holds no JSON object");
	blocks = json_array();
	json_object_foreach(root, type, value)
	{
		add_labelled(blocks, type, value);
		json_array_foreach(value, i, item) add_labelled(blocks, type, item);
	}
	*ret_blocks = blocks;
	return 0;
}
