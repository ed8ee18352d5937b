/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/command/folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "policy/configuration/override.h"

bool name_ends(const char *name, const char *ending)
{
	size_t len = strlen(name), ending_len = strlen(ending);

	return len > ending_len && strcmp(name + len - ending_len, ending) == 0;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

bool folder_list(
	const char *folder, int (*wanted)(const struct dirent *entry), struct dirent ***ret_entries, size_t *ret_count)
{
	int count = scandir(folder, ret_entries, wanted, by_name);

	*ret_count = count < 0 ? 0 : (size_t)count;
	if (count >= 0)
		return true;
	*ret_entries = NULL;
	if (errno == ENOENT || errno == ENOTDIR)
		return true;
	perror(folder);
	return false;
}

/* ---- the configuration ---- */

static bool is_hidden(const struct dirent *entry)
{
	return entry->d_name[0] == '.';
}

static int is_hcl(const struct dirent *entry)
{
	return !is_hidden(entry) && name_ends(entry->d_name, ".hcl") && !override_is(entry->d_name);
}

static int is_json(const struct dirent *entry)
{
	return strcmp(entry->d_name, "sentinel.json") == 0;
}

static int is_override(const struct dirent *entry)
{
	return !is_hidden(entry) && override_is(entry->d_name);
}

static bool add_names(char ***names, size_t *count, int (*wanted)(const struct dirent *entry))
{
	struct dirent **entries;
	size_t added;
	bool listed = folder_list(".", wanted, &entries, &added);

	*names = mem_resize(*names, *count + added + 1, sizeof(**names));
	for (size_t i = 0; i < added; i++) {
		(*names)[(*count)++] = mem_text(entries[i]->d_name);
		free(entries[i]);
	}
	(*names)[*count] = NULL;
	free(entries);
	return listed;
}

bool folder_config(char ***ret_names)
{
	char **names = NULL;
	size_t count = 0;
	bool listed = add_names(&names, &count, is_hcl);

	if (count == 0)
		listed = listed && add_names(&names, &count, is_json);
	if (count > 0)
		listed = listed && add_names(&names, &count, is_override);
	if (!listed || count == 0) {
		folder_free_names(names);
		names = NULL;
	}
	*ret_names = names;
	return listed;
}

void folder_free_names(char **names)
{
	for (char **name = names; name && *name; name++)
		free(*name);
	free(names);
}
