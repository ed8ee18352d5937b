/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/configuration/terraform.h"

#include <string.h>

#include "common/base.h"
#include "policy/imports/terraform.h"
#include "policy/imports/v1/v1.h"

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

static const struct input schemas = {
	.what = "file of the provider schemas",
	.flag = "-schemas",
	.offset = offsetof(struct terraform_paths, schemas),
	.keys = {"schemas_path"},
};

struct terraform_import {
	const char *name;
	const struct input *input;
	struct value (*make)(struct run *run, const struct source *source);
	/* Or, of before tfplan/v2: `schemas` may be NULL. */
	struct value (*make_v1)(struct run *run, const struct source *source, const struct source *schemas);
};

static const struct terraform_import imports[] = {
	{"tfplan/v2", &plan, import_tfplan, NULL},
	{"tfconfig/v2", &plan, import_tfconfig, NULL},
	{"tfstate/v2", &plan, import_tfstate, NULL},
	{"tfrun", &run_input, import_tfrun, NULL},
	{"tfplan", &plan, NULL, import_v1_plan},
	{"tfplan/v1", &plan, NULL, import_v1_plan},
	{"tfconfig", &plan, NULL, import_v1_config},
	{"tfconfig/v1", &plan, NULL, import_v1_config},
	{"tfstate", &plan, NULL, import_v1_state},
	{"tfstate/v1", &plan, NULL, import_v1_state},
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

/* An import that is made, and where its files are. */
struct making {
	struct run *run;
	const struct terraform_import *import;
	const struct terraform_paths *paths;
	const struct files *files;
	const char *folder;
	const struct import_entry *plugin; /* or NULL */
};

static const struct source *given_file(const struct making *making, const struct input *input, const char *path)
{
	static const struct files anywhere = {.root = -1};
	struct run *run = making->run;
	const struct reader reader = {
		.subject = run_text(run, "the %s for the import \"%s\"", input->what, making->import->name),
		.place = run->at,
	};
	const struct source *opened = terraform_opened(run, path);

	return opened ? opened : source_of(run, path, file_map(run, &anywhere, path, &reader));
}

/* NULL if neither the command line nor the plugin names it. */
static const struct source *file_of(const struct making *making, const struct input *input)
{
	const char *given = given_path(input, making->paths);
	const char *path = given ? given : configured_path(making->run, input, making->plugin);
	struct reader reader;

	if (!path)
		return NULL;
	if (given)
		return given_file(making, input, given);
	reader = (struct reader){.subject = making->plugin->subject, .place = making->plugin->place};
	return source_of(making->run, source_path(making->run, making->folder, path),
		source_map(making->run, making->files, making->folder, path, &reader));
}

struct value terraform_load(struct run *run, const struct terraform_import *import, const struct terraform_paths *paths,
	const struct files *files, const char *folder, const struct import_entry *plugin)
{
	const struct making making = {
		.run = run,
		.import = import,
		.paths = paths,
		.files = files,
		.folder = folder,
		.plugin = plugin,
	};
	const struct source *source = file_of(&making, import->input);

	if (!source)
		run_fail(run, "import \"%s\" needs a %s (%s)", import->name, import->input->what, import->input->flag);
	return import->make ? import->make(run, source) : import->make_v1(run, source, file_of(&making, &schemas));
}
