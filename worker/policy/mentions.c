/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/mentions.h"

#include <fcntl.h>
#include <string.h>

#include "common/err.h"
#include "worker/exec/beneath.h"

enum { SOURCE_LIMIT = 16 << 20, MAX_DEEP = 100 };

struct search {
	const char *ending;
	bool (*mentions)(const struct buf *text);
};

bool has_word(const struct buf *text, const char *word)
{
	return memmem(buf_str(text), text->len, word, strlen(word)) != NULL;
}

static bool ends_with(const char *name, const char *ending)
{
	size_t len = strlen(name), ending_len = strlen(ending);

	return len >= ending_len && strcmp(name + len - ending_len, ending) == 0;
}

static bool file_mentions(const struct search *search, int folder, const char *name)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(SOURCE_LIMIT);
	struct err err = ERR_INIT;

	if (!ends_with(name, search->ending))
		return false;
	return beneath_read(folder, name, &text, &err) < 0 || search->mentions(&text);
}

/* Takes the list; NULL: the folder can't be read. */
static bool list_mentions(const struct search *search, DIR *opened, int depth)
{
	_cleanup_(list_closep) DIR *list = opened;
	bool found = !list || depth > MAX_DEEP;
	const char *name;

	while (!found && (name = list_next(list))) {
		DIR *below = beneath_list(dirfd(list), name);

		found = below ? list_mentions(search, below, depth + 1) : file_mentions(search, dirfd(list), name);
	}
	return found;
}

bool folder_mentions(int root, const char *folder, const char *ending, bool (*mentions)(const struct buf *text))
{
	const struct search search = {.ending = ending, .mentions = mentions};

	return list_mentions(&search, beneath_list(root, folder), 0);
}
