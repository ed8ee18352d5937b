/* SPDX-License-Identifier: MPL-2.0 */
/* Plans for the Terraform imports, and behind a zero byte schemas of providers for the imports of before tfplan/v2. Any
 * bytes give values or an error. If the other reader of JSON takes them, the imports must have the values of the
 * mocks. */
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "common/terraform/import_values.h"
#include "common/terraform/v1/mocks.h"
#include "policy/evaluate/evaluate.h"
#include "policy/imports/standard.h"
#include "policy/imports/terraform.h"
#include "policy/imports/v1/v1.h"
#include "policy/library/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const struct run_limits limits = {.steps = 1000000, .timeout_ms = 20000, .memory_bytes = 64 << 20};

static const struct {
	struct value (*make)(struct run *run, const struct source *source);
	enum import_shape shape;
} imports[] = {
	{import_tfplan, SHAPE_TFPLAN},
	{import_tfstate, SHAPE_TFSTATE},
	{import_tfconfig, SHAPE_TFCONFIG},
};

static const struct {
	struct value (*make)(struct run *run, const struct source *plan, const struct source *schemas);
	const char *const fields[12];
} v1_imports[] = {
	{import_v1_plan,
		{"terraform_version", "variables", "module_paths", "path", "data", "resources", "config", "state"}},
	{import_v1_config,
		{"module_paths", "path", "data", "resources", "modules", "outputs", "providers", "variables"}},
	{import_v1_state, {"terraform_version", "module_paths", "path", "data", "resources", "outputs"}},
};

struct plan {
	struct source source, schemas;
	json_t *parsed;                          /* NULL: the other reader refuses it, or it is not compared */
	json_t *values[ARRAY_LEN(imports)];      /* of the mocks; without a parsed plan only their names are used */
	struct buf mocks[ARRAY_LEN(v1_imports)]; /* sources; empty if they are not compared */
};

static void check(bool holds)
{
	if (!holds)
		abort();
}

/* As a value of the run. */
static struct value value_of(struct run *run, const json_t *json)
{
	char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);
	const size_t len = strlen(text);
	struct json_error error;
	struct value value;

	run_on_release(run, free, text);
	check(json_read(run, text, len, &value, &error));
	return value;
}

/* Reads all fields, so that nothing stays undecoded. */
static void read_import(struct run *run, const struct plan *plan, size_t number)
{
	const struct value import = imports[number].make(run, &plan->source);
	const char *name;
	json_t *value;

	json_object_foreach(plan->values[number], name, value)
	{
		struct output output = {0};
		struct value field;

		check(import_get(run, import.import, name, strlen(name), &field));
		json_write(run, &output, field);
		if (plan->parsed)
			check(value_equal(run, field, value_of(run, value)));
	}
}

/* ---- imports of before tfplan/v2 ---- */

static struct unit *load(struct run *run, const char *text, size_t len, enum tree_role role)
{
	struct source *source = run_alloc(run, 1, sizeof(*source));

	*source = (struct source){.name = "mock", .text = text, .len = len};
	return unit_new(run, tree_parse(run, source, role));
}

/* The mock as an import of a policy, which evaluates it. */
static struct value mock_of(struct run *run, const struct buf *mock)
{
	static const char text[] = "import \"mock\"\nmain = true\n";
	struct unit *module = load(run, buf_str(mock), mock->len, TREE_MODULE);
	struct unit *policy = load(run, text, strlen(text), TREE_POLICY);
	const struct tree *tree = unit_tree(module);
	struct outcome outcome;

	for (uint32_t i = 0; i < tree->import_count; i++) {
		const struct import *import = standard_import(tree->imports[i].path.bytes, tree->imports[i].path.len);

		unit_set_import(module, i, (struct value){.type = VALUE_IMPORT, .import = import});
	}
	unit_set_import(policy, 0, unit_as_import(module));
	unit_evaluate(run, policy, &outcome);
	return unit_as_import(module);
}

/* As JSON, which leaves out functions, so that what has some can be compared. */
static struct value without_functions(struct run *run, struct value value)
{
	struct output output = {0};
	struct json_error error;
	struct value read = value_null();

	if (json_write(run, &output, value))
		check(json_read(run, output.bytes, output.len, &read, &error));
	return read;
}

static void read_v1(struct run *run, const struct plan *plan, size_t number)
{
	const struct source *schemas = plan->schemas.len > 0 ? &plan->schemas : NULL;
	const struct value import = v1_imports[number].make(run, &plan->source, schemas);
	const struct buf *mock = &plan->mocks[number];
	const struct value mocked = mock->len > 0 ? mock_of(run, mock) : import;

	for (const char *const *name = v1_imports[number].fields; *name; name++) {
		struct value field, other;

		check(import_get(run, import.import, *name, strlen(*name), &field));
		field = without_functions(run, field);
		check(import_get(run, mocked.import, *name, strlen(*name), &other));
		if (mock->len > 0)
			check(value_equal(run, field, without_functions(run, other)));
	}
}

static void mocks_write(struct plan *plan, const json_t *schemas)
{
	for (size_t i = 0; i < ARRAY_LEN(v1_imports); i++)
		if (v1_mock_write(&v1_mocks[i], plan->parsed, schemas, &plan->mocks[i]) < 0)
			buf_reset(&plan->mocks[i]);
}

static void read_plan(struct run *run, void *data)
{
	for (size_t i = 0; i < ARRAY_LEN(imports); i++)
		read_import(run, data, i);
}

static void read_plan_v1(struct run *run, void *data)
{
	for (size_t i = 0; i < ARRAY_LEN(v1_imports); i++)
		read_v1(run, data, i);
}

/* Escaped names of members are not found. */
static json_t *parse(const char *text, size_t len)
{
	json_t *parsed;

	for (size_t i = 0; i + 1 < len; i++)
		if (text[i] == '\\' && text[i + 1] == 'u')
			return NULL;
	parsed = json_loadb(text, len, JSON_REJECT_DUPLICATES, NULL);
	if (json_is_object(parsed))
		return parsed;
	json_decref(parsed);
	return NULL;
}

/* The plan ends at the first zero byte. */
static struct plan plan_of(const char *text, size_t len)
{
	const char *zero = memchr(text, '\0', len);
	struct plan plan = {.source = {.name = "plan.json", .text = text, .len = len}};

	if (zero) {
		plan.source.len = (size_t)(zero - text);
		plan.schemas =
			(struct source){.name = "schemas.json", .text = zero + 1, .len = len - plan.source.len - 1};
	}
	for (size_t i = 0; i < ARRAY_LEN(v1_imports); i++)
		plan.mocks[i] = (struct buf)BUF_INIT(8 << 20);
	return plan;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct plan plan = plan_of((const char *)bytes, len);
	json_t *schemas = plan.schemas.len > 0 ? parse(plan.schemas.text, plan.schemas.len) : NULL;
	struct run run;
	bool complete;

	plan.parsed = plan.schemas.len == 0 || schemas ? parse(plan.source.text, plan.source.len) : NULL;
	for (size_t i = 0; i < ARRAY_LEN(imports); i++)
		plan.values[i] = import_values(imports[i].shape, plan.parsed);
	if (plan.parsed)
		mocks_write(&plan, schemas);
	run_init(&run, &limits);
	complete = run_protected(&run, read_plan, &plan) == 0;
	complete = run_protected(&run, read_plan_v1, &plan) == 0 && complete;
	check(!plan.parsed || complete || strstr(run.failure.message, "the limit of"));
	run_release(&run);
	for (size_t i = 0; i < ARRAY_LEN(imports); i++)
		json_decref(plan.values[i]);
	for (size_t i = 0; i < ARRAY_LEN(v1_imports); i++)
		buf_release(&plan.mocks[i]);
	json_decref(plan.parsed);
	json_decref(schemas);
	return 0;
}
