/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/store/content/contents.h"

#include "common/err.h"
#include "scheduler/store/store.h"

/* A bundle of policies may need many objects; more than that indicates a loop. */
enum { MAX_OBJECTS = 256, OBJECT_LIMIT = 1 << 30 };

struct content {
	struct object_part part;
	struct buf bytes;
};

void contents_release(struct contents *contents)
{
	for (size_t i = 0; i < contents->count; i++)
		buf_release(&contents->have[i].bytes);
	free(contents->have);
	*contents = (struct contents){.count = 0};
}

static bool part_equal(const struct object_part *a, const struct object_part *b)
{
	return a->from == b->from && a->len == b->len && text_equal(a->key, b->key);
}

const struct buf *contents_find(struct contents *contents, const struct object_part *part)
{
	if (!contents)
		return NULL;
	for (size_t i = 0; i < contents->count; i++)
		if (part_equal(&contents->have[i].part, part))
			return &contents->have[i].bytes;
	contents->wanted = *part;
	return NULL;
}

/* An object may be missing once, because its blob was just deleted: the retry then finds no row that names it. Missing
 * twice is an error. */
static int gone_note(struct contents *contents, const struct object_part *part, struct err *err)
{
	if (part_equal(&contents->gone, part))
		return err_set(err, ERR_INTERNAL, "the object store has lost the object %s", part->key);
	contents->gone = *part;
	return 0;
}

int contents_fetch(struct contents *contents, struct objects *objects, struct err *err)
{
	struct content content = {.part = contents->wanted, .bytes = BUF_INIT(OBJECT_LIMIT)};

	contents->wanted.key[0] = '\0';
	if (!objects)
		return err_set(err, ERR_UNAVAILABLE, "the content is in an object store, and none is set up");
	if (contents->count == MAX_OBJECTS)
		return err_set(err, ERR_TOO_LARGE, "more than %d objects are needed for that", MAX_OBJECTS);
	if (object_get(objects, &content.part, &content.bytes, err) < 0) {
		buf_release(&content.bytes);
		return err->kind == ERR_NOT_FOUND ? gone_note(contents, &content.part, err) : -1;
	}
	contents->have = mem_resize(contents->have, contents->count + 1, sizeof(content));
	contents->have[contents->count++] = content;
	return 0;
}

int contents_read(const struct store *store, struct objects *objects, contents_read_fn read, void *data, bool *ret_lost,
	struct err *err)
{
	_cleanup_(contents_release) struct contents contents = {.count = 0};
	struct store reading = *store;
	bool ignored, *lost = ret_lost ? ret_lost : &ignored;

	*lost = false;
	reading.contents = &contents;
	while (read(&reading, data, err) < 0) {
		if (!*contents.wanted.key)
			return -1;
		*err = (struct err)ERR_INIT;
		if (contents_fetch(&contents, objects, err) < 0) {
			*lost = err->kind == ERR_INTERNAL;
			return -1;
		}
	}
	return 0;
}
