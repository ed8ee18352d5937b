/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/sentinel/configuration/terraform.h"

#include <string.h>

#include "common/base.h"
#include "worker/policy/sentinel/imports/terraform.h"

/* A JSON file of the run. */
struct input {
	const char *what, *flag;
	size_t offset;             /* in struct terraform_paths */
	const char *const keys[4]; /* of a plugin's `config`, ended by NULL; any of them names the file */
};

static const struct input plan = {
	.what = "plan",
	.flag = "-plan",
	.offset = offsetof(struct terraform_paths, plan),
	.keys = {"plan_path", "plan", "path"},
};

static const struct input run_input = {
	.what = "run",
	.flag = "-tfrun",
	.offset = offsetof(struct terraform_paths, run),
	.keys = {"run_path"},
};

struct terraform_import {
	const char *name;
	const struct input *input;
	struct value (*make)(struct run *run, const struct source *source);
};

static const struct terraform_import imports[] = {
	{"tfplan/v2", &plan, import_tfplan},
	{"tfconfig/v2", &plan, import_tfconfig},
	{"tfstate/v2", &plan, import_tfstate},
	{"tfrun", &run_input, import_tfrun},
};

const struct terraform_import *terraform_find(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(imports); i++)
		if (strlen(imports[i].name) == len && memcmp(imports[i].name, name, len) == 0)
			return &imports[i];
	return NULL;
}

/* ---- files ---- */

static const char *given_path(const struct input *input, const struct terraform_paths *paths)
{
	return *(const char *const *)((const char *)paths + input->offset);
}

bool terraform_is_given(const struct terraform_import *import, const struct terraform_paths *paths)
{
	return given_path(import->input, paths) != NULL;
}

/* The path in the plugin's `config`, or NULL. */
static const char *configured_path(struct run *run, const struct input *input, const struct import_entry *plugin)
{
	struct value path;

	for (const char *const *key = input->keys; plugin && *key; key++) {
		if (!map_get_text(run, plugin->value, *key, &path))
			continue;
		if (!value_is(path, VALUE_STRING))
			run_fail_at(run, plugin->place, "%s: \"%s\" is no string", plugin->subject, *key);
		return run_copy(run, string_bytes(path), string_len(path));
	}
	return NULL;
}

static const struct source *source_of(struct run *run, const char *name, struct file file)
{
	struct source *source = run_alloc(run, 1, sizeof(*source));

	*source = (struct source){.name = name, .text = file.bytes, .len = file.len};
	return source;
}

static const struct source *given_file(struct run *run, const struct terraform_import *import, const char *path)
{
	static const struct files anywhere = {.root = -1};
	const struct reader reader = {
		.subject = run_text(run, "the %s for the import \"%s\"", import->input->what, import->name),
		.place = run->at,
	};
	const struct source *opened = terraform_opened(run, path);

	return opened ? opened : source_of(run, path, file_map(run, &anywhere, path, &reader));
}

static const struct source *configured_file(struct run *run, const struct terraform_import *import,
	const struct files *files, const char *folder, const struct import_entry *plugin)
{
	const char *path = configured_path(run, import->input, plugin);
	struct reader reader;

	if (!path)
		run_fail(run, "import \"%s\" needs a %s (%s)", import->name, import->input->what, import->input->flag);
	reader = (struct reader){.subject = plugin->subject, .place = plugin->place};
	return source_of(run, source_path(run, folder, path), source_map(run, files, folder, path, &reader));
}

struct value terraform_load(struct run *run, const struct terraform_import *import, const struct terraform_paths *paths,
	const struct files *files, const char *folder, const struct import_entry *plugin)
{
	const char *path = given_path(import->input, paths);

	return import->make(
		run, path ? given_file(run, import, path) : configured_file(run, import, files, folder, plugin));
}
