/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/opa_network.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/json/json.h"
#include "worker/exec/beneath.h"

enum { SOURCE_LIMIT = 16 << 20, MAX_DEEP = 100 };

static bool has_word(const struct buf *text, const char *word)
{
	return memmem(buf_str(text), text->len, word, strlen(word)) != NULL;
}

static bool file_wants(int folder, const char *name)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(SOURCE_LIMIT);
	const char *dot = strrchr(name, '.');
	struct err err = ERR_INIT;

	if (!text_equal(dot, ".rego"))
		return false;
	if (beneath_read(folder, name, &text, &err) < 0)
		return true; /* behind a link, or huge: assume that it does */
	return (has_word(&text, "http") && has_word(&text, "send")) || has_word(&text, "lookup_ip_addr");
}

/* Takes the descriptor. */
static bool folder_wants(int fd, int depth)
{
	DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
	struct dirent *entry;
	bool wants = false;

	if (!list || depth > MAX_DEEP) {
		if (list)
			closedir(list);
		else
			closep(&fd);
		return true;
	}
	while (!wants && (entry = readdir(list))) {
		int below;

		if (text_equal(entry->d_name, ".") || text_equal(entry->d_name, ".."))
			continue;
		below = beneath_open(fd, entry->d_name, O_RDONLY | O_DIRECTORY, 0);
		wants = below >= 0 ? folder_wants(below, depth + 1) : file_wants(fd, entry->d_name);
	}
	closedir(list);
	return wants;
}

bool opa_wants_network(int root, const char *folder)
{
	return folder_wants(beneath_open(root, folder, O_RDONLY | O_DIRECTORY, 0), 0);
}

static bool needs_network(const char *builtin)
{
	return text_equal(builtin, "http.send") || text_equal(builtin, "net.lookup_ip_addr");
}

char *opa_capabilities_offline(const char *said, struct err *err)
{
	json_auto_t *all = NULL, *kept = json_array();
	json_t *builtin;
	size_t i;

	if (json_parse(said, strlen(said), &all, err) < 0) {
		err_context(err, "opa's list of its functions can't be read");
		return NULL;
	}
	json_array_foreach(json_object_get(all, "builtins"), i, builtin)
	{
		if (!needs_network(text_or_empty(json_string_at(builtin, "name"))))
			json_array_append(kept, builtin);
	}
	json_object_set(all, "builtins", kept);
	return json_text(all);
}
