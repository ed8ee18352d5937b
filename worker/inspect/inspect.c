/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/inspect/inspect.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/buf.h"
#include "common/terraform/module_description.h"
#include "worker/inspect/description.h"
#include "worker/packages/modules.h"

/* What the description's own members and the names of its folders need. */
enum { RESERVED = 128 * 1024 };

static const struct part {
	const char *folder; /* with its slash */
	const char *member;
} parts[] = {{"modules/", "submodules"}, {"examples/", "examples"}};

/* ---- paths ---- */

static const char *base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The length of the path's folder without its slash. */
static size_t folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash - path) : 0;
}

static bool is_readme(const char *base)
{
	static const char *const names[] = {"README.md", "README.markdown", "README", "README.txt"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcasecmp(base, names[i]) == 0)
			return true;
	return false;
}

/* Engines skip hidden files and those that editors leave. */
static enum config_syntax syntax_of(const char *base)
{
	return *base == '.' || *base == '#' ? CONFIG_NONE : config_syntax(base);
}

/* Whether that folder is the module's, one of its submodules or one of its examples. */
static bool is_described(const char *path, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
		const size_t prefix = strlen(parts[i].folder);

		if (len > prefix && strncmp(path, parts[i].folder, prefix) == 0)
			return !memchr(path + prefix, '/', len - prefix);
	}
	return len == 0;
}

bool inspect_reads(const char *path)
{
	return is_described(path, folder_len(path)) && (is_readme(base_of(path)) || syntax_of(base_of(path)));
}

/* ---- folders ---- */

/* By folder, then files that override others last, then by name. So each folder's files are together. */
static int file_compare(const void *left, const void *right)
{
	const struct inspected_file *a = left, *b = right;
	const size_t a_len = folder_len(a->path), b_len = folder_len(b->path);
	const int folder = strncmp(a->path, b->path, a_len < b_len ? a_len : b_len);
	const int later = config_is_override(base_of(a->path)) - config_is_override(base_of(b->path));

	if (a_len != b_len)
		return folder ? folder : a_len < b_len ? -1 : 1;
	return folder ? folder : later ? later : strcmp(a->path, b->path);
}

static void file_read(struct folder_description *folder, const struct inspected_file *file)
{
	const char *base = base_of(file->path);
	const struct place place = {.path = file->path, .is_override = config_is_override(base)};
	const enum config_syntax syntax = syntax_of(base);

	if (syntax)
		folder->empty = false;
	if (syntax == CONFIG_NATIVE)
		native_read(folder, file->text, file->len, &place);
	else if (syntax == CONFIG_JSON)
		json_read(folder, file->text, file->len, &place);
	else if (!*json_string_value(folder->readme)) {
		json_decref(folder->readme);
		folder->readme = described_text(folder->all, file->text, file->len, MAX_README_BYTES);
	}
}

/* Whether the folder has the same file for terraform, which reads no .tofu. */
static bool is_shadowed(const struct inspected_file *files, size_t count, const char *path)
{
	static const char tofu[] = ".tofu", tofu_json[] = ".tofu.json";
	const size_t len = strlen(path);
	const bool json = len > strlen(tofu_json) && text_equal(path + len - strlen(tofu_json), tofu_json);
	_cleanup_(freep) char *other = NULL;

	if (!json && !(len > strlen(tofu) && text_equal(path + len - strlen(tofu), tofu)))
		return false;
	other = mem_printf(
		"%.*s%s", (int)(len - (json ? strlen(tofu_json) : strlen(tofu))), path, json ? ".tf.json" : ".tf");
	for (size_t i = 0; i < count; i++)
		if (text_equal(files[i].path, other))
			return true;
	return false;
}

/* Describes the folder of the first file. *ret_count: how many files are in it. */
static json_t *folder_describe(
	struct description *all, const struct inspected_file *files, size_t count, size_t *ret_count)
{
	const size_t len = folder_len(files[0].path);
	_cleanup_(freep) char *path = mem_printf("%.*s", (int)len, files[0].path);
	struct folder_description folder;
	size_t n = 0;

	folder_open(&folder, all, path, base_of(path));
	while (n < count && folder_len(files[n].path) == len && strncmp(files[n].path, path, len) == 0)
		n++;
	for (size_t i = 0; i < n; i++)
		if (!is_shadowed(files, n, files[i].path))
			file_read(&folder, &files[i]);
	*ret_count = n;
	return folder_close(&folder);
}

static json_t *root_of(struct description *all)
{
	struct folder_description folder;

	folder_open(&folder, all, "", "");
	return folder_close(&folder);
}

/* The list for a folder below the root. */
static json_t *list_of(json_t *described, const char *path)
{
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (text_starts(path, parts[i].folder))
			return json_object_get(described, parts[i].member);
	return NULL;
}

static void error_set(json_t *described, const char *error)
{
	struct description all = {.room = RESERVED};

	json_object_set_new(described, "error",
		*error ? described_text(&all, error, strlen(error), MAX_NAME_BYTES * 2) : json_null());
}

json_t *inspect_files(struct inspected_file *files, size_t count)
{
	struct description all = {.room = MODULE_DESCRIPTION_MAX - RESERVED};
	json_t *described = json_pack("{s[] s[]}", parts[0].member, parts[1].member);
	size_t n;

	if (count)
		qsort(files, count, sizeof(*files), file_compare);
	for (size_t i = 0; i < count; i += n) {
		json_t *folder = folder_describe(&all, files + i, count - i, &n);
		json_t *list = list_of(described, json_string_at(folder, "path"));

		if (!list)
			json_object_set(described, "root", folder);
		else if (json_array_size(list) < INSPECT_FOLDERS)
			json_array_append(list, folder);
		else
			all.cut = true;
		json_decref(folder);
	}
	if (!json_object_get(described, "root"))
		json_object_set_new(described, "root", root_of(&all));
	json_object_set_new(described, "cut", json_boolean(all.cut));
	error_set(described, all.error);
	return described;
}

json_t *inspect_failed(const char *sentence)
{
	json_t *described = inspect_files(NULL, 0);

	error_set(described, sentence);
	return described;
}
