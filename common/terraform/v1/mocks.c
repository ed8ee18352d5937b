/* SPDX-License-Identifier: MPL-2.0 */
#include "common/terraform/v1/mocks.h"

#include <string.h>

#include "common/terraform/literal.h"
#include "common/terraform/v1/doc_json.h"
#include "common/terraform/v1/v1.h"

/* About the most memory that the modules take, and one resource. */
static const size_t memory_budget = (size_t)256 << 20;

static const char *const plan_names[] = {"tfplan", "tfplan/v1", NULL};
static const char *const config_names[] = {"tfconfig", "tfconfig/v1", NULL};
static const char *const state_names[] = {"tfstate", "tfstate/v1", NULL};

const struct v1_mock v1_mocks[] = {
	{plan_names, "mock-tfplan.sentinel", V1_PLAN},
	{config_names, "mock-tfconfig.sentinel", V1_CONFIG},
	{state_names, "mock-tfstate.sentinel", V1_STATE},
};
const size_t v1_mock_count = ARRAY_LEN(v1_mocks);

static const char functions[] = "import \"strings\"\n"
				"import \"types\"\n\n"
				"_module = func(modules, path) {\n"
				"\tif types.type_of(path) is not \"list\" {\n"
				"\t\terror(\"argument 1 of module must be a list, not\", types.type_of(path))\n"
				"\t}\n"
				"\tif length(path) is 0 {\n"
				"\t\treturn modules[\"\"]\n"
				"\t}\n"
				"\treturn modules[\"module.\" + strings.join(path, \".module.\")] else null\n"
				"}\n\n";

/* ---- modules ---- */

/* Below a module's `resources` and `data`: type and name, and of a plan or state the index. */
enum level { LEVEL_TYPE, LEVEL_NAME, LEVEL_INDEX };

static int write_level(const struct v1 *v1, json_t *value, enum level level, struct buf *out);

static int write_text(const char *text, struct buf *out)
{
	json_auto_t *string = json_string(text);

	return literal_write(out, string, LITERAL_SENTINEL);
}

static int write_resource(const struct v1 *v1, const json_t *resource, struct buf *out)
{
	struct doc_json owner;
	struct v1 own = *v1;
	json_t *made;
	int result;

	doc_json_init(&owner, memory_budget);
	own.doc.owner = &owner;
	owner.v1 = &own;
	made = doc_to_json(v1_element(&own, doc_from_json(resource)));
	result = owner.spent ? -1 : literal_write(out, made, LITERAL_SENTINEL);
	doc_json_release(&owner);
	return result;
}

/* An index is a number or a string (doc_json.h). */
static int write_key(const char *key, enum level level, struct buf *out)
{
	if (level != LEVEL_INDEX)
		return write_text(key, out);
	return *key == 'i' ? buf_text(out, key + 1) : write_text(key + 1, out);
}

static int write_value(const struct v1 *v1, json_t *value, enum level level, struct buf *out)
{
	const enum level last = v1->import == V1_CONFIG ? LEVEL_NAME : LEVEL_INDEX;

	return level == last ? write_resource(v1, value, out) : write_level(v1, value, level + 1, out);
}

static int write_level(const struct v1 *v1, json_t *value, enum level level, struct buf *out)
{
	const char *separator = "", *key;
	json_t *member;

	if (buf_text(out, "{") < 0)
		return -1;
	json_object_foreach(value, key, member)
	{
		if (buf_text(out, separator) < 0 || write_key(key, level, out) < 0 || buf_text(out, ": ") < 0 ||
			write_value(v1, member, level, out) < 0)
			return -1;
		separator = ", ";
	}
	return buf_text(out, "}");
}

static int write_module(const struct v1 *v1, json_t *module, struct buf *out)
{
	const char *name;
	json_t *member;

	if (buf_text(out, "{\n") < 0)
		return -1;
	json_object_foreach(module, name, member)
	{
		const bool resources = text_equal(name, "data") || text_equal(name, "resources");

		if (buf_printf(out, "\t\t\"%s\": ", name) < 0 ||
			(resources ? write_level(v1, member, LEVEL_TYPE, out)
				   : literal_write(out, member, LITERAL_SENTINEL)) < 0 ||
			buf_text(out, ",\n") < 0)
			return -1;
	}
	return buf_text(out, "\t},\n");
}

static int write_modules(const struct v1 *v1, json_t *modules, const char *variable, struct buf *out)
{
	const char *address;
	json_t *module;

	if (buf_printf(out, "%s = {\n", variable) < 0)
		return -1;
	json_object_foreach(modules, address, module)
	{
		if (buf_text(out, "\t") < 0 || write_text(address, out) < 0 || buf_text(out, ": ") < 0 ||
			write_module(v1, module, out) < 0)
			return -1;
	}
	return buf_text(out, "}\n\n");
}

/* ---- an import ---- */

/* Members of an import are written as variables of a module, or as members of a map. */
struct style {
	const char *before, *between, *after; /* around the name, behind the value */
	const char *modules;                  /* the variable with the modules */
};

static const struct style own_style = {"", " = ", "\n\n", "_modules"};
static const struct style config_style = {"\t\"", "\": ", ",\n", "_config"};
static const struct style state_style = {"\t\"", "\": ", ",\n", "_state"};

static int write_member(const struct style *style, const char *name, struct doc_value value, struct buf *out)
{
	const json_t *json = doc_to_json(value);

	if (!json || buf_printf(out, "%s%s%s", style->before, name, style->between) < 0 ||
		literal_write(out, json, LITERAL_SENTINEL) < 0)
		return -1;
	return buf_text(out, style->after);
}

/* The members of the root module are members of the import, too. */
static int write_aliases(const struct style *style, const json_t *root, struct buf *out)
{
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)root, name, member)
	{
		if (buf_printf(out, "%s%s%s%s[\"\"][\"%s\"]%s", style->before, name, style->between, style->modules,
			    name, style->after) < 0)
			return -1;
	}
	return 0;
}

static int write_scalars(const struct v1 *v1, const struct style *style, struct buf *out)
{
	if (v1->import != V1_CONFIG && write_member(style, "terraform_version", v1_terraform_version(v1), out) < 0)
		return -1;
	if (v1->import == V1_PLAN)
		return write_member(style, "variables", v1_variables(v1), out);
	return v1->import == V1_STATE ? write_member(style, "outputs", v1_outputs(v1), out) : 0;
}

static int write_members(const struct v1 *v1, const struct style *style, struct doc_value modules, struct buf *out)
{
	if (buf_printf(out, "%smodule%sfunc(path) { return _module(%s, path) }%s", style->before, style->between,
		    style->modules, style->after) < 0 ||
		write_scalars(v1, style, out) < 0 ||
		write_member(style, "module_paths", v1_module_paths(v1, modules), out) < 0)
		return -1;
	return write_aliases(style, json_object_get(doc_to_json(modules), ""), out);
}

static bool too_large(const struct v1 *v1)
{
	return ((const struct doc_json *)v1->doc.owner)->spent;
}

static int write_own(const struct v1 *v1, struct buf *out)
{
	struct doc_value modules = v1_modules(v1);

	if (too_large(v1) || write_modules(v1, doc_to_json(modules), own_style.modules, out) < 0)
		return -1;
	return write_members(v1, &own_style, modules, out);
}

/* The configuration or the state as a member of the plan's import. */
static int write_inner(const struct v1 *plan, enum v1_import import, struct buf *out)
{
	const struct style *style = import == V1_CONFIG ? &config_style : &state_style;
	struct v1 v1 = *plan;
	struct doc_value modules;

	v1.import = import;
	modules = v1_modules(&v1);
	if (too_large(&v1) || write_modules(&v1, doc_to_json(modules), style->modules, out) < 0 ||
		buf_printf(out, "%s = {\n", style->modules + 1) < 0 || write_members(&v1, style, modules, out) < 0)
		return -1;
	return buf_text(out, "}\n\n");
}

int v1_mock_write(const struct v1_mock *mock, const json_t *plan, const json_t *schemas, struct buf *out)
{
	struct doc_json owner;
	const struct v1 v1 = {.doc = {.class = &doc_of_json, .owner = &owner},
		.import = (enum v1_import)mock->import,
		.plan = doc_from_json(plan),
		.schemas = doc_from_json(schemas)};
	int result;

	doc_json_init(&owner, memory_budget);
	result = buf_text(out, functions);
	if (result == 0)
		result = write_own(&v1, out);
	if (result == 0 && v1.import == V1_PLAN)
		result = write_inner(&v1, V1_CONFIG, out);
	if (result == 0 && v1.import == V1_PLAN)
		result = write_inner(&v1, V1_STATE, out);
	if (too_large(&v1))
		result = -1;
	doc_json_release(&owner);
	return result;
}
