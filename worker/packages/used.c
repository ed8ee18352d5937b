/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/packages/used.h"

#include <string.h>

#include "common/err.h"
#include "common/json/json.h"
#include "worker/exec/beneath.h"
#include "worker/packages/lockfile.h"

enum { FILE_LIMIT = 4 << 20 };

/* Several calls of the same version of a module are listed once. */
static void package_add(json_t *list, json_t *seen, const char *source, const char *version)
{
	_cleanup_(freep) char *key = mem_printf("%s %s", source, text_or_empty(version));

	if (json_object_get(seen, key))
		return;
	json_object_set_new(seen, key, json_true());
	json_array_append_new(list, json_pack("{ss so}", "source", source, "version", json_string_or_null(version)));
}

static json_t *modules_used(int root, const char *folder)
{
	_cleanup_(freep) char *path = mem_printf("%s/.terraform/modules/modules.json", folder);
	_cleanup_(buf_release) struct buf text = BUF_INIT(FILE_LIMIT);
	json_auto_t *manifest = NULL, *seen = json_object();
	json_t *list = json_array();
	struct err err = ERR_INIT;
	const json_t *module;
	size_t i;

	if (beneath_read(root, path, &text, &err) < 0)
		return list;
	json_parse(buf_str(&text), text.len, &manifest, &err);
	json_array_foreach(json_at(manifest, "Modules"), i, module)
	{
		const char *source = json_string_at(module, "Source");

		if (*text_or_empty(source))
			package_add(list, seen, source, json_string_at(module, "Version"));
	}
	return list;
}

static json_t *providers_used(int root, const char *folder)
{
	_cleanup_(freep) char *path = mem_printf("%s/%s", folder, LOCKFILE_NAME);
	_cleanup_(buf_release) struct buf text = BUF_INIT(FILE_LIMIT);
	json_auto_t *seen = json_object();
	json_t *list = json_array();
	struct err err = ERR_INIT;
	struct lockfile lockfile;

	if (beneath_read(root, path, &text, &err) < 0)
		return list;
	lockfile_read(buf_str(&text), &lockfile);
	for (size_t i = 0; i < lockfile.count; i++)
		package_add(list, seen, lockfile.providers[i].address, lockfile.providers[i].version);
	lockfile_release(&lockfile);
	return list;
}

char *packages_used(int root, const char *folder)
{
	json_auto_t *used =
		json_pack("{so so}", "modules", modules_used(root, folder), "providers", providers_used(root, folder));
	char *text = json_text(used);

	if (strlen(text) > USED_MAX)
		freep(&text);
	return text;
}
