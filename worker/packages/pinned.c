/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/packages/pinned.h"

#include <ctype.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/json/json.h"
#include "worker/exec/beneath.h"
#include "worker/packages/lockfile.h"
#include "worker/packages/modules.h"
#include "common/hcl/blocks.h"

enum { FILE_LIMIT = 16 * 1024 * 1024, COMMIT_LEN = 40 };

/* ---- one module ---- */

static bool is_local(const char *source)
{
	return text_starts(source, "./") || text_starts(source, "../");
}

/* True for "1.2.3" or "= 1.2.3" only. Only modules of a registry may have a version. */
static bool version_is_exact(const char *version)
{
	static const char plain[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.+-";

	version += strspn(version, " ");
	version += *version == '=';
	version += strspn(version, " ");
	return isdigit((unsigned char)*version) && version[strspn(version, plain)] == '\0';
}

static bool commit_is_named(const char *source)
{
	const char *ref = strstr(source, "ref=");
	size_t len;

	if (!ref || ref == source || !strchr("?&", ref[-1]))
		return false;
	ref += strlen("ref=");
	len = strspn(ref, "0123456789abcdef");
	return len == COMMIT_LEN && (ref[len] == '\0' || ref[len] == '&');
}

bool module_is_pinned(const char *source, const char *version)
{
	if (!source || strstr(source, "${"))
		return false;
	return is_local(source) || (version && version_is_exact(version)) || commit_is_named(source);
}

/* ---- calls of a module ---- */

static bool calls_are_pinned(enum config_syntax syntax, const char *text, size_t len)
{
	json_auto_t *blocks = NULL;
	struct err err = ERR_INIT;
	const json_t *block;
	size_t i;

	if (!text_calls_modules(syntax, text, len))
		return true;
	if ((syntax == CONFIG_JSON ? hcl_blocks_json : hcl_blocks)(text, len, &blocks, &err) < 0)
		return false;
	json_array_foreach(blocks, i, block)
	{
		if (text_equal(json_string_at(block, "type"), "module") &&
			!module_is_pinned(json_string_at(block, "attributes.source"),
				json_string_at(block, "attributes.version")))
			return false;
	}
	return true;
}

static bool file_is_unpinned(void *data, const struct config_file *file)
{
	(void)data;
	return !file->text || !calls_are_pinned(file->syntax, file->text, file->len);
}

static bool folder_is_pinned(int root, const char *path)
{
	_cleanup_(closep) int folder = beneath_open(root, path, O_RDONLY | O_DIRECTORY, 0);

	return folder >= 0 && !config_any(folder, file_is_unpinned, NULL);
}

/* ---- installed modules and providers ---- */

/* Resolves `path` relative to `folder`, without "..": a new text, or NULL if it leads out. */
static char *path_from(const char *folder, const char *path)
{
	_cleanup_(freep) char *copy = mem_text(path);
	char *joined = mem_text(folder), *rest = copy, *part;

	while ((part = strsep(&rest, "/"))) {
		_cleanup_(freep) char *before = joined;
		char *slash = strrchr(before, '/');

		if (!text_equal(part, "..")) {
			bool stays = !*part || text_equal(part, ".");

			joined = mem_printf("%s%s%s", before, stays ? "" : "/", stays ? "" : part);
			continue;
		}
		if (!slash)
			return NULL;
		joined = mem_printf("%.*s", (int)(slash - before), before);
	}
	return joined;
}

static bool module_folder_is_pinned(int root, const char *folder, const json_t *module)
{
	_cleanup_(freep) char *path = path_from(folder, text_or_empty(json_string_at(module, "Dir")));

	return path && folder_is_pinned(root, path);
}

/* True for the configuration itself, whose key is empty, and for modules called by a local path. */
static bool module_is_part(const json_t *module)
{
	return text_equal(json_string_at(module, "Key"), "") ||
		is_local(text_or_empty(json_string_at(module, "Source")));
}

static bool modules_are_pinned(int root, const char *folder)
{
	_cleanup_(freep) char *path = mem_printf("%s/.terraform/modules/modules.json", folder);
	_cleanup_(buf_release) struct buf text = BUF_INIT(FILE_LIMIT);
	json_auto_t *manifest = NULL;
	struct err err = ERR_INIT;
	const json_t *modules, *module;
	bool part = true, pinned = true;
	size_t i;

	if (beneath_read(root, path, &text, &err) < 0)
		return err.kind == ERR_NOT_FOUND;
	json_parse(buf_str(&text), text.len, &manifest, &err);
	modules = json_at(manifest, "Modules");
	if (!json_is_array(modules))
		return false;
	json_array_foreach(modules, i, module) part &= module_is_part(module);
	if (part)
		return true;
	json_array_foreach(modules, i, module) pinned = pinned && module_folder_is_pinned(root, folder, module);
	return pinned;
}

/* True if the lock file already had all selected providers. */
static bool providers_are_pinned(int root, const char *folder, const char *locked)
{
	_cleanup_(freep) char *path = mem_printf("%s/%s", folder, LOCKFILE_NAME);
	_cleanup_(buf_release) struct buf text = BUF_INIT(FILE_LIMIT);
	struct lockfile before, after;
	struct err err = ERR_INIT;
	bool pinned = true;

	if (beneath_read(root, path, &text, &err) < 0)
		return err.kind == ERR_NOT_FOUND;
	lockfile_read(text_or_empty(locked), &before);
	lockfile_read(buf_str(&text), &after);
	for (size_t i = 0; i < after.count; i++)
		pinned &= lockfile_find(&before, after.providers[i].address, after.providers[i].version) != NULL;
	lockfile_release(&before);
	lockfile_release(&after);
	return pinned;
}

enum init_life init_life(int root, const char *folder, const char *locked)
{
	if (!modules_are_pinned(root, folder))
		return INIT_MOVES;
	return providers_are_pinned(root, folder, locked) ? INIT_STAYS : INIT_AGES;
}
