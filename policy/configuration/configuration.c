/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/configuration/configuration.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base.h"
#include "policy/configuration/hcl.h"
#include "policy/configuration/override.h"
#include "policy/imports/standard.h"

/* ---- blocks and their attributes ---- */

#define ATTRIBUTES(...)                                                                                                \
	(const char *const[])                                                                                          \
	{                                                                                                              \
		__VA_ARGS__, NULL                                                                                      \
	}

static const char *const no_attributes[] = {NULL};

static const struct hcl_type mock_blocks[] = {
	{"module", 0, ATTRIBUTES("source"), NULL, NULL},
	{0},
};

static const struct hcl_type types[] = {
	{"policy", 1, ATTRIBUTES("source", "enforcement_level", "description", "params"), NULL, NULL},
	{"import", 2, ATTRIBUTES("source", "format", "config", "args", "env"), NULL, NULL},
	{"imports", 1, ATTRIBUTES("path", "config", "args", "env"), NULL, NULL},
	{"module", 1, ATTRIBUTES("source", "path"), NULL, NULL},
	{"modules", 1, ATTRIBUTES("source", "path"), NULL, NULL},
	{"mock", 1, ATTRIBUTES("data", "value"), "value", mock_blocks},
	{"param", 1, ATTRIBUTES("value"), "value", NULL},
	{"global", 1, ATTRIBUTES("value"), "value", NULL},
	{"test", 0, ATTRIBUTES("rules"), "rules", NULL},
	{"sentinel", 0, ATTRIBUTES("features"), NULL, NULL},
	{NULL, 0, no_attributes, NULL, NULL},
};

static const char *const features[] = {"terraform", "apply-all"};

static const char *const levels[] = {"advisory", "soft-mandatory", "hard-mandatory"};

/* ---- reading of blocks ---- */

struct reading_state {
	struct run *run;
	struct configuration *configuration;
	struct policy_entry **policy_tail;
	struct import_entry **import_tail;
	size_t policy_count, import_count;
};

static struct place place_of(const struct hcl_block *block)
{
	return (struct place){.source = block->source, .offset = block->begin};
}

static const char *block_title(struct run *run, const struct hcl_block *block)
{
	if (block->label_count == 0)
		return block->type;
	return run_text(run, "%s \"%s\"", block->label_count > 1 ? block->labels[0] : block->type,
		block->labels[block->label_count - 1]);
}

static _Noreturn void fail_type(
	const struct reading_state *state, const struct hcl_block *block, const char *name, const char *type)
{
	run_fail_at(state->run, place_of(block), "%s: \"%s\" is no %s", block_title(state->run, block), name, type);
}

/* The attribute as a text, or `otherwise`. */
static const char *get_text(const struct reading_state *state, const struct hcl_block *block,
	const struct hcl_body *body, const char *name, const char *otherwise)
{
	struct value value;

	if (!hcl_get(state->run, body, name, &value))
		return otherwise;
	if (!value_is(value, VALUE_STRING) || memchr(string_bytes(value), '\0', string_len(value)))
		fail_type(state, block, name, "string");
	return run_copy(state->run, string_bytes(value), string_len(value));
}

static const char *need_text(
	const struct reading_state *state, const struct hcl_block *block, const struct hcl_body *body, const char *name)
{
	const char *text = get_text(state, block, body, name, NULL);

	if (!text)
		run_fail_at(state->run, place_of(block), "%s has no \"%s\"", block_title(state->run, block), name);
	return text;
}

/* The attribute as a map; empty if it is missing or null. */
static struct value get_map(const struct reading_state *state, const struct hcl_block *block, const char *name)
{
	struct value value;

	if (!hcl_get(state->run, &block->body, name, &value) || value_is(value, VALUE_NULL))
		return map_new(state->run, 0);
	if (!value_is(value, VALUE_MAP))
		fail_type(state, block, name, "object");
	return value;
}

static _Noreturn void fail_twice(const struct reading_state *state, const struct hcl_block *block)
{
	run_fail_at(state->run, place_of(block), "%s is given twice", block_title(state->run, block));
}

/* ---- policies ---- */

static void check_level(const struct reading_state *state, const struct hcl_block *block, const char *level)
{
	for (size_t i = 0; i < ARRAY_LEN(levels); i++)
		if (strcmp(levels[i], level) == 0)
			return;
	run_fail_at(state->run, place_of(block),
		"%s: the enforcement level \"%s\" is not advisory, soft-mandatory or hard-mandatory",
		block_title(state->run, block), level);
}

static void read_policy(struct reading_state *state, const struct hcl_block *block)
{
	struct policy_entry *policy = run_alloc(state->run, 1, sizeof(*policy));
	const char *name = block->labels[0];

	run_step(state->run, state->policy_count++);
	if (configuration_policy(state->configuration, name))
		fail_twice(state, block);
	*policy = (struct policy_entry){
		.name = name,
		.source = get_text(state, block, &block->body, "source", run_text(state->run, "./%s.sentinel", name)),
		.enforcement_level = get_text(state, block, &block->body, "enforcement_level", levels[0]),
		.description = get_text(state, block, &block->body, "description", ""),
		.params = get_map(state, block, "params"),
		.place = place_of(block),
	};
	check_level(state, block, policy->enforcement_level);
	*state->policy_tail = policy;
	state->policy_tail = &policy->next;
}

/* ---- imports ---- */

static struct import_entry *add_import(
	struct reading_state *state, const struct hcl_block *block, enum import_kind kind, bool mock)
{
	struct import_entry *entry = run_alloc(state->run, 1, sizeof(*entry));
	const char *name = block->labels[block->label_count - 1];

	run_step(state->run, state->import_count++);
	for (const struct import_entry *other = state->configuration->imports; other; other = other->next)
		if (other->mock == mock && strcmp(other->name, name) == 0)
			fail_twice(state, block);
	if (!mock && kind != IMPORT_PLUGIN && standard_import(name, strlen(name)))
		run_fail_at(state->run, place_of(block), "%s: \"%s\" is the name of a standard import",
			block_title(state->run, block), name);
	*entry = (struct import_entry){
		.name = name,
		.subject = block_title(state->run, block),
		.kind = kind,
		.mock = mock,
		.place = place_of(block),
	};
	*state->import_tail = entry;
	state->import_tail = &entry->next;
	return entry;
}

static void read_static(struct reading_state *state, const struct hcl_block *block)
{
	const char *format = get_text(state, block, &block->body, "format", "json");

	if (strcmp(format, "json") != 0)
		run_fail_at(state->run, place_of(block), "%s: the format \"%s\" is not known, only json",
			block_title(state->run, block), format);
	add_import(state, block, IMPORT_STATIC, false)->source = need_text(state, block, &block->body, "source");
}

static void add_plugin(struct reading_state *state, const struct hcl_block *block, const char *program)
{
	struct import_entry *entry = add_import(state, block, IMPORT_PLUGIN, false);

	entry->value = get_map(state, block, "config");
	entry->source = get_text(state, block, &block->body, program, NULL);
	entry->has_program = entry->source != NULL;
}

static void read_plugin(struct reading_state *state, const struct hcl_block *block)
{
	add_plugin(state, block, "source");
}

static void read_legacy_import(struct reading_state *state, const struct hcl_block *block)
{
	state->configuration->legacy = true;
	add_plugin(state, block, "path");
}

static void read_module(struct reading_state *state, const struct hcl_block *block)
{
	add_import(state, block, IMPORT_MODULE, false)->source = need_text(state, block, &block->body, "source");
}

static void read_legacy_module(struct reading_state *state, const struct hcl_block *block)
{
	const char *path = get_text(state, block, &block->body, "path", NULL);

	state->configuration->legacy = true;
	add_import(state, block, IMPORT_MODULE, false)->source =
		path ? path : need_text(state, block, &block->body, "source");
}

static void read_import(struct reading_state *state, const struct hcl_block *block)
{
	static const struct {
		const char *name;
		void (*read)(struct reading_state *state, const struct hcl_block *block);
	} kinds[] = {{"module", read_module}, {"static", read_static}, {"plugin", read_plugin}};

	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (strcmp(kinds[i].name, block->labels[0]) == 0) {
			kinds[i].read(state, block);
			return;
		}
	run_fail_at(state->run, place_of(block), "import \"%s\" \"%s\": the kind is not module, static or plugin",
		block->labels[0], block->labels[1]);
}

/* The older JSON form: a file's name, or data. */
static bool read_legacy_mock(struct reading_state *state, const struct hcl_block *block)
{
	struct value value;

	if (!hcl_get(state->run, &block->body, "value", &value))
		return false;
	state->configuration->legacy = true;
	if (value_is(value, VALUE_STRING))
		add_import(state, block, IMPORT_MODULE, true)->source = need_text(state, block, &block->body, "value");
	else
		add_import(state, block, IMPORT_DATA, true)->value = value;
	return true;
}

static void read_mock(struct reading_state *state, const struct hcl_block *block)
{
	const struct hcl_block *module = block->body.blocks;
	struct value data;

	while (module && strcmp(module->type, "module") != 0)
		module = module->next;
	if (read_legacy_mock(state, block))
		return;
	if (module)
		add_import(state, block, IMPORT_MODULE, true)->source =
			need_text(state, block, &module->body, "source");
	else if (hcl_get(state->run, &block->body, "data", &data))
		add_import(state, block, IMPORT_DATA, true)->value = data;
	else
		run_fail_at(state->run, place_of(block), "%s has neither \"data\" nor a block \"module\"",
			block_title(state->run, block));
}

/* ---- values, tests, features ---- */

static void read_value(struct reading_state *state, const struct hcl_block *block, struct value map)
{
	struct value value, other;

	if (!hcl_get(state->run, &block->body, "value", &value))
		run_fail_at(state->run, place_of(block), "%s has no \"value\"", block_title(state->run, block));
	if (map_get_text(state->run, map, block->labels[0], &other))
		fail_twice(state, block);
	map_set_text(state->run, map, block->labels[0], value);
}

static void read_param(struct reading_state *state, const struct hcl_block *block)
{
	read_value(state, block, state->configuration->params);
}

static void read_global(struct reading_state *state, const struct hcl_block *block)
{
	read_value(state, block, state->configuration->globals);
}

static void expect(struct reading_state *state, const struct hcl_block *block, struct value rule, struct value wanted)
{
	struct value rules = state->configuration->rules, before;

	if (map_get(state->run, rules, rule, &before) && !value_equal(state->run, before, wanted))
		run_fail_at(state->run, place_of(block), "the rule \"%.*s\" has two different expectations",
			(int)string_len(rule), string_bytes(rule));
	map_set(state->run, rules, rule, wanted);
}

/* The rules of all blocks are expected. */
static void read_test(struct reading_state *state, const struct hcl_block *block)
{
	struct configuration *configuration = state->configuration;
	struct iterator at;
	struct value rules;

	if (!hcl_get(state->run, &block->body, "rules", &rules))
		return;
	if (configuration->has_rules)
		configuration_warn(state->run, configuration, place_of(block), "the block \"test\" is repeated");
	else
		configuration->rules = map_new(state->run, 0);
	configuration->has_rules = true;
	at = value_iterate(state->run, get_map(state, block, "rules"));
	while (iterator_next(state->run, &at))
		expect(state, block, at.key, at.element);
}

static bool is_feature(struct value name)
{
	for (size_t i = 0; i < ARRAY_LEN(features); i++)
		if (string_equals(name, features[i]))
			return true;
	return false;
}

static void read_features(struct reading_state *state, const struct hcl_block *block)
{
	struct iterator at = value_iterate(state->run, get_map(state, block, "features"));

	while (iterator_next(state->run, &at))
		if (!is_feature(at.key))
			configuration_warn(state->run, state->configuration, place_of(block),
				"the feature \"%.*s\" is not known", (int)string_len(at.key), string_bytes(at.key));
}

/* ---- the file ---- */

static void (*const readers[ARRAY_LEN(types) - 1])(struct reading_state *state, const struct hcl_block *block) = {
	read_policy, read_import, read_legacy_import, read_legacy_module, read_legacy_module, read_mock, read_param,
	read_global, read_test, read_features};

static void check_body(const struct reading_state *state, const struct hcl_block *block, const struct hcl_type *type)
{
	for (const struct hcl_attribute *attribute = block->body.attributes; attribute; attribute = attribute->next)
		if (!hcl_has_attribute(type, attribute->name))
			run_fail_at(state->run, (struct place){.source = block->source, .offset = attribute->offset},
				"%s has no attribute \"%s\"", block_title(state->run, block), attribute->name);
	for (const struct hcl_block *inner = block->body.blocks; inner; inner = inner->next) {
		const struct hcl_type *nested = hcl_type(type->nested, inner->type);
		bool known = nested ? inner->label_count == nested->labels
				    : inner->label_count == 0 && hcl_has_attribute(type, inner->type);

		if (!known)
			run_fail_at(state->run, place_of(inner), "%s has no block \"%s\"",
				block_title(state->run, block), inner->type);
	}
}

/* `import "NAME"` is an older form of a plugin. */
static const struct hcl_type *type_of(const struct hcl_block *block)
{
	bool legacy = block->label_count == 1 && strcmp(block->type, "import") == 0;

	return hcl_type(types, legacy ? "imports" : block->type);
}

/* The block's type. Fails if there is none, or it has other labels and attributes. */
static const struct hcl_type *check_block(const struct reading_state *state, const struct hcl_block *block)
{
	const struct hcl_type *type = type_of(block);

	if (!type)
		run_fail_at(state->run, place_of(block), "the block \"%s\" is not known", block->type);
	if (block->label_count != type->labels)
		run_fail_at(state->run, place_of(block), "the block \"%s\" has %u labels, it needs %u", block->type,
			block->label_count, type->labels);
	check_body(state, block, type);
	return type;
}

static void read_block(struct reading_state *state, const struct hcl_block *block)
{
	const struct hcl_type *type = check_block(state, block);

	readers[type - types](state, block);
}

static bool is_json(const char *path)
{
	size_t len = strlen(path);

	return len > 5 && strcmp(path + len - 5, ".json") == 0;
}

struct configuration *configuration_empty(struct run *run, const char *folder)
{
	struct configuration *configuration = run_alloc(run, 1, sizeof(*configuration));

	*configuration = (struct configuration){
		.folder = folder,
		.params = map_new(run, 0),
		.globals = map_new(run, 0),
		.rules = map_new(run, 0),
		.warnings = list_new(run, 0),
	};
	return configuration;
}

/* ---- files ---- */

static struct hcl_body *parse(struct run *run, const struct source *source)
{
	struct hcl_body *body = is_json(source->name) ? hcl_read_json(run, source, types) : hcl_read(run, source);

	if (body->attributes)
		run_fail_at(run, (struct place){.source = source, .offset = body->attributes->offset},
			"the attribute \"%s\" stands outside of blocks", body->attributes->name);
	return body;
}

static void override(struct reading_state *state, struct hcl_body *body, const struct hcl_body *by)
{
	for (const struct hcl_block *block = by->blocks; block; block = block->next) {
		check_block(state, block);
		if (!override_block(state->run, body, block))
			run_fail_at(
				state->run, place_of(block), "%s overrides nothing", block_title(state->run, block));
	}
}

static void append(struct hcl_body *body, const struct hcl_body *more)
{
	struct hcl_block **tail = &body->blocks;

	while (*tail)
		tail = &(*tail)->next;
	*tail = more->blocks;
}

static struct configuration *read_sources(struct run *run, const struct source *const *sources)
{
	struct configuration *configuration = configuration_empty(run, files_folder(run, sources[0]->name));
	struct reading_state state = {
		.run = run,
		.configuration = configuration,
		.policy_tail = &configuration->policies,
		.import_tail = &configuration->imports,
	};
	struct hcl_body *body = parse(run, sources[0]);

	configuration->source = sources[0];
	for (const struct source *const *source = sources + 1; *source; source++)
		if (override_is((*source)->name))
			override(&state, body, parse(run, *source));
		else
			append(body, parse(run, *source));
	for (const struct hcl_block *block = body->blocks; block; block = block->next) {
		run_step(run, 1);
		read_block(&state, block);
	}
	return configuration;
}

struct configuration *configuration_parse(struct run *run, const struct source *source)
{
	const struct source *const sources[] = {source, NULL};

	return read_sources(run, sources);
}

static const struct source *read_source(
	struct run *run, const struct files *files, const char *path, const struct reader *reader)
{
	const char *name = files_beneath(run, files, path);
	struct file file = file_read(run, files, name, reader);
	struct source *source = run_alloc(run, 1, sizeof(*source));

	*source = (struct source){.name = name, .text = file.bytes, .len = file.len};
	return source;
}

struct configuration *configuration_read(
	struct run *run, const struct files *files, const char *const *paths, const struct reader *reader)
{
	const struct source **sources;
	size_t count = 0;

	while (paths[count])
		count++;
	sources = run_alloc(run, count + 1, sizeof(struct source *));
	for (size_t i = 0; i < count; i++)
		sources[i] = read_source(run, files, paths[i], reader);
	return read_sources(run, sources);
}

struct policy_entry *configuration_policy(const struct configuration *configuration, const char *name)
{
	struct policy_entry *policy = configuration->policies;

	while (policy && strcmp(policy->name, name) != 0)
		policy = policy->next;
	return policy;
}

void configuration_warn(
	struct run *run, struct configuration *configuration, struct place place, const char *format, ...)
{
	size_t count = list_len(configuration->warnings);
	unsigned line, column;
	char message[512];
	va_list args;

	if (count == MAX_WARNINGS)
		list_push(run, configuration->warnings, string_text(run, "warning: more warnings are left out"));
	if (count >= MAX_WARNINGS)
		return;
	va_start(args, format);
	vsnprintf(message, sizeof(message), format, args);
	va_end(args);
	run_position(run, place, &line, &column);
	list_push(run, configuration->warnings,
		string_text(run,
			run_text(run, "%s:%u:%u: warning: %s", place.source ? place.source->name : "", line, column,
				message)));
}
