/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/configuration/loader.h"

#include <string.h>

#include "policy/configuration/hcl.h"
#include "policy/imports/standard.h"
#include "policy/library/json.h"

/* An importer and the ones that import it: for the message about a circle. */
struct chain {
	const struct import_entry *entry; /* NULL: the policy */
	const struct chain *importer;
};

struct loader {
	struct run *run;
	const struct load_settings *settings;
	struct configuration *configuration;
	struct import_entry *terraform; /* Terraform imports without a block, as they are made */
	size_t modules;
	const struct chain *chain;
	unsigned depth;
};

static struct unit *load_unit(struct loader *loader, const struct source *source, enum tree_role role);

/* ---- modules ---- */

static const char *circle_text(struct run *run, const struct chain *chain, const struct import_entry *entry)
{
	const char *text = run_text(run, "\"%s\"", entry->name);

	for (bool first = false; !first; chain = chain->importer) {
		first = chain->entry == entry;
		text = run_text(run, "\"%s\"%s imports %s", chain->entry->name, first ? "" : ", which", text);
	}
	return text;
}

static void check_module(struct loader *loader, const struct import_entry *entry)
{
	if (entry->state == IMPORT_LOADING)
		run_fail(loader->run, "a circle of imports: %s", circle_text(loader->run, loader->chain, entry));
	if (loader->depth >= MAX_IMPORT_DEPTH)
		run_fail_limit(loader->run, "imports of imports, 64,", NULL);
	if (++loader->modules > MAX_MODULES)
		run_fail_limit(loader->run, "modules and mocks, 1000,", NULL);
}

static struct source *module_source(struct loader *loader, const struct import_entry *entry)
{
	const struct reader reader = {.subject = entry->subject, .place = entry->place};
	struct run *run = loader->run;
	struct file file =
		source_read(run, &loader->settings->files, loader->configuration->folder, entry->source, &reader);
	struct source *source = run_alloc(run, 1, sizeof(*source));

	*source = (struct source){
		.name = source_path(run, loader->configuration->folder, entry->source),
		.text = file.bytes,
		.len = file.len,
	};
	return source;
}

static struct value load_module(struct loader *loader, struct import_entry *entry)
{
	const struct chain *importer = loader->chain;
	const struct chain chain = {.entry = entry, .importer = importer};

	check_module(loader, entry);
	entry->state = IMPORT_LOADING;
	loader->chain = &chain;
	loader->depth++;
	entry->unit = load_unit(loader, module_source(loader, entry), TREE_MODULE);
	loader->depth--;
	loader->chain = importer;
	return unit_as_import(entry->unit);
}

/* ---- data ---- */

static struct value load_static(struct loader *loader, struct import_entry *entry)
{
	const struct reader reader = {.subject = entry->subject, .place = entry->place};
	struct run *run = loader->run;
	struct file file =
		source_map(run, &loader->settings->files, loader->configuration->folder, entry->source, &reader);
	struct source *source = run_alloc(run, 1, sizeof(*source));
	struct place importer = run->at;
	struct json_error error;
	struct value value;

	*source = (struct source){
		.name = source_path(run, loader->configuration->folder, entry->source),
		.text = file.bytes,
		.len = file.len,
	};
	run->at = (struct place){.source = source};
	if (!json_read_file(run, file.bytes, file.len, &value, &error))
		run_fail_at(run, (struct place){.source = source, .offset = (uint32_t)error.offset}, "%s: %s",
			entry->subject, error.message);
	run->at = importer;
	return value;
}

static struct value load_data(struct loader *loader, struct import_entry *entry)
{
	(void)loader;
	return entry->value;
}

/* ---- standard imports ---- */

static bool find_standard(const char *name, size_t len, struct value *ret_value)
{
	const struct import *import = standard_import(name, len);

	if (import)
		*ret_value = (struct value){.type = VALUE_IMPORT, .import = import};
	return import != NULL;
}

/* `plugin` is the block that configures it, or NULL. */
static struct value load_terraform(
	struct loader *loader, const struct terraform_import *import, const struct import_entry *plugin)
{
	return terraform_load(loader->run, import, &loader->settings->terraform, &loader->settings->files,
		loader->configuration->folder, plugin);
}

static bool find_terraform(struct loader *loader, struct word path, struct value *ret_value)
{
	const struct terraform_import *import = terraform_find(path.bytes, path.len);
	struct import_entry *entry = loader->terraform;

	if (!import)
		return false;
	while (entry && (strlen(entry->name) != path.len || memcmp(entry->name, path.bytes, path.len) != 0))
		entry = entry->next;
	if (!entry) {
		entry = run_alloc(loader->run, 1, sizeof(*entry));
		*entry = (struct import_entry){
			.name = run_copy(loader->run, path.bytes, path.len),
			.loaded = load_terraform(loader, import, NULL),
			.next = loader->terraform,
		};
		loader->terraform = entry;
	}
	*ret_value = entry->loaded;
	return true;
}

static bool terraform_is_first(const struct loader *loader, struct word path)
{
	const struct terraform_import *import = terraform_find(path.bytes, path.len);

	return import && terraform_is_given(import, &loader->settings->terraform);
}

static void configure_time(struct loader *loader, const struct import_entry *entry)
{
	struct run *run = loader->run;
	struct place importer = run->at;
	struct value zone, now;

	run->at = entry->place;
	if (map_get_text(run, entry->value, "timezone", &zone)) {
		if (!value_is(zone, VALUE_STRING))
			run_fail(run, "%s: \"timezone\" is no string", entry->subject);
		run->timezone = run_copy(run, string_bytes(zone), string_len(zone));
	}
	if (map_get_text(run, entry->value, "fixed_time", &now))
		time_set_now(run, now);
	run->at = importer;
}

static struct value load_plugin(struct loader *loader, struct import_entry *entry)
{
	const struct terraform_import *terraform = terraform_find(entry->name, strlen(entry->name));
	struct value value;

	if (entry->has_program)
		run_fail_at(loader->run, entry->place,
			"%s: the source %s is a program, and programs of imports are not supported", entry->subject,
			entry->source);
	if (strcmp(entry->name, "time") == 0)
		configure_time(loader, entry);
	if (terraform)
		return load_terraform(loader, terraform, entry);
	if (!find_standard(entry->name, strlen(entry->name), &value))
		run_fail_at(
			loader->run, entry->place, "%s: there is no import of that name to configure", entry->subject);
	return value;
}

/* ---- finding an import ---- */

static struct value (*const loads[])(struct loader *loader, struct import_entry *entry) = {
	[IMPORT_MODULE] = load_module,
	[IMPORT_STATIC] = load_static,
	[IMPORT_PLUGIN] = load_plugin,
	[IMPORT_DATA] = load_data,
};

static struct import_entry *find_entry(const struct loader *loader, const char *name, size_t len)
{
	struct import_entry *found = NULL;

	for (struct import_entry *entry = loader->configuration->imports; entry; entry = entry->next) {
		run_step(loader->run, 1);
		if (strlen(entry->name) == len && memcmp(entry->name, name, len) == 0 && (!found || entry->mock))
			found = entry;
	}
	return found;
}

static struct value load_entry(struct loader *loader, struct import_entry *entry)
{
	if (entry->state != IMPORT_LOADED) {
		entry->loaded = loads[entry->kind](loader, entry);
		entry->state = IMPORT_LOADED;
	}
	return entry->loaded;
}

/* The value that the segments of the path lead to: "a/b" in {"a": {"b": 1}} is 1. */
static struct value go_into(struct loader *loader, struct value value, const char *path, size_t len)
{
	while (len > 0) {
		const char *slash = memchr(path, '/', len);
		size_t segment = slash ? (size_t)(slash - path) : len;

		if (!value_is(value, VALUE_MAP) || !map_get_bytes(loader->run, value, path, segment, &value))
			run_fail(loader->run, "the static data has no \"%.*s\"", (int)segment, path);
		path += segment + (slash != NULL);
		len -= segment + (slash != NULL);
	}
	return value;
}

/* Static data whose name is the beginning of the path. */
static bool find_within(struct loader *loader, struct word path, struct value *ret_value)
{
	for (size_t len = path.len; len-- > 0;) {
		struct import_entry *entry = path.bytes[len] == '/' ? find_entry(loader, path.bytes, len) : NULL;

		if (!entry || (entry->kind != IMPORT_STATIC && entry->kind != IMPORT_DATA))
			continue;
		*ret_value = go_into(loader, load_entry(loader, entry), path.bytes + len + 1, path.len - len - 1);
		return true;
	}
	return false;
}

static struct value find_import(struct loader *loader, struct word path)
{
	struct import_entry *entry = find_entry(loader, path.bytes, path.len);
	struct value value;

	if (entry && !terraform_is_first(loader, path))
		return load_entry(loader, entry);
	if (!find_standard(path.bytes, path.len, &value) && !find_terraform(loader, path, &value) &&
		!find_within(loader, path, &value))
		run_fail(loader->run, "import \"%.*s\" is not known", (int)path.len, path.bytes);
	return value;
}

/* ---- files ---- */

struct value setting_value(struct run *run, const struct setting *setting)
{
	struct source source = {.name = setting->name, .text = setting->text, .len = strlen(setting->text)};

	return setting->literal ? hcl_literal(run, &source) : string_text(run, setting->text);
}

static bool find_setting(
	struct run *run, const struct setting *settings, const char *name, size_t len, struct value *ret_value)
{
	const struct setting *found = NULL;

	for (; settings; settings = settings->next)
		if (strlen(settings->name) == len && memcmp(settings->name, name, len) == 0)
			found = settings;
	if (found)
		*ret_value = setting_value(run, found);
	return found != NULL;
}

/* Warns of each name that has no value. */
static void set_globals(struct loader *loader, struct unit *unit)
{
	const struct tree *tree = unit_tree(unit);
	struct run *run = loader->run;

	for (uint32_t i = 0; i < tree->unassigned_count; i++) {
		const struct name_use *use = &tree->unassigned[i];
		const struct word name = use->name;
		struct value value;

		run_step(run, 1);
		if (find_setting(run, loader->settings->globals, name.bytes, name.len, &value) ||
			map_get_bytes(run, loader->configuration->globals, name.bytes, name.len, &value))
			unit_set_variable(unit, use->slot, value);
		else
			configuration_warn(run, loader->configuration,
				(struct place){.source = tree->source, .offset = use->offset},
				"\"%.*s\" never gets a value", (int)name.len, name.bytes);
	}
}

static void pass_warnings(struct loader *loader, const struct tree *tree)
{
	for (uint32_t i = 0; i < tree->warning_count; i++)
		configuration_warn(loader->run, loader->configuration,
			(struct place){.source = tree->source, .offset = tree->warnings[i].offset}, "%s",
			tree->warnings[i].message);
}

/* A field that is missing is undefined: a call of it does nothing. */
static void warn_of_fields(struct loader *loader, const struct tree *tree, const struct value *imports)
{
	for (uint32_t i = 0; i < tree->field_count; i++) {
		const struct field_use *use = &tree->fields[i];
		const struct word import = tree->imports[use->import].path;

		run_step(loader->run, 1);
		if (import_lacks(loader->run, imports[use->import], use->field.bytes, use->field.len))
			configuration_warn(loader->run, loader->configuration,
				(struct place){.source = tree->source, .offset = use->offset},
				"the import \"%.*s\" has no \"%.*s\", so it is undefined", (int)import.len,
				import.bytes, (int)use->field.len, use->field.bytes);
	}
}

static void set_params(struct loader *loader, struct unit *unit, const struct value *own)
{
	const struct tree *tree = unit_tree(unit);
	struct run *run = loader->run;

	for (uint32_t i = 0; i < tree->param_count; i++) {
		struct word name = tree->params[i].name;
		struct value value;

		if (find_setting(run, loader->settings->params, name.bytes, name.len, &value) ||
			(own && map_get_bytes(run, *own, name.bytes, name.len, &value)) ||
			map_get_bytes(run, loader->configuration->params, name.bytes, name.len, &value))
			unit_set_variable(unit, tree->params[i].slot, value);
	}
}

static struct unit *load_unit(struct loader *loader, const struct source *source, enum tree_role role)
{
	struct run *run = loader->run;
	struct tree *tree;
	struct unit *unit;
	struct value *imports;

	run->at = (struct place){.source = source};
	if (source->len > MAX_SOURCE)
		run_fail_limit(run, "a source's length, 8 MiB,", NULL);
	tree = tree_parse(run, source, role);
	unit = unit_new(run, tree);
	imports = run_alloc(run, tree->import_count, sizeof(*imports));
	run_enter(run);
	for (uint32_t i = 0; i < tree->import_count; i++) {
		run->at = (struct place){.source = source, .offset = tree->imports[i].offset};
		imports[i] = find_import(loader, tree->imports[i].path);
		unit_set_import(unit, i, imports[i]);
	}
	run_leave(run);
	set_globals(loader, unit);
	warn_of_fields(loader, tree, imports);
	pass_warnings(loader, tree);
	return unit;
}

struct unit *loader_load(struct run *run, const struct load_settings *settings, struct configuration *configuration,
	const struct policy_file *policy)
{
	struct loader loader = {.run = run, .settings = settings, .configuration = configuration};
	struct source *source = run_alloc(run, 1, sizeof(*source));
	bool loading = run->loading;
	struct unit *unit;

	*source = (struct source){.name = policy->name, .text = policy->file.bytes, .len = policy->file.len};
	run->loading = true;
	unit = load_unit(&loader, source, TREE_POLICY);
	set_params(&loader, unit, policy->params);
	run->loading = loading;
	return unit;
}
