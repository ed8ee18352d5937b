/* SPDX-License-Identifier: MPL-2.0 */
/* Plans for the Terraform imports, and behind a zero byte schemas of providers for the imports of before tfplan/v2. Any
 * bytes give values or an error. If the other reader of JSON takes a plan, the imports of now must have the values of
 * the mocks. */
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "common/terraform/import_values.h"
#include "worker/policy/sentinel/imports/terraform.h"
#include "worker/policy/sentinel/imports/v1/v1.h"
#include "worker/policy/sentinel/library/json.h"

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

struct plan {
	struct source source, schemas;
	json_t *parsed;                     /* NULL: the other reader refuses it, or it is not compared */
	json_t *values[ARRAY_LEN(imports)]; /* of the mocks; without a parsed plan only their names are used */
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

static void read_plan(struct run *run, void *data)
{
	for (size_t i = 0; i < ARRAY_LEN(imports); i++)
		read_import(run, data, i);
}

static void read_v1(struct run *run, void *data)
{
	static struct value (*const makers[])(struct run *, const struct source *, const struct source *) = {
		import_v1_plan, import_v1_config, import_v1_state};
	static const char *const names[] = {"terraform_version", "variables", "outputs", "module_paths", "path", "data",
		"resources", "modules", "providers", "config", "state"};
	const struct plan *plan = data;

	for (size_t i = 0; i < ARRAY_LEN(makers); i++) {
		const struct value import = makers[i](run, &plan->source, plan->schemas.text ? &plan->schemas : NULL);

		for (size_t j = 0; j < ARRAY_LEN(names); j++) {
			struct output output = {0};
			struct value field;

			if (import_get(run, import.import, names[j], strlen(names[j]), &field))
				json_write(run, &output, field);
		}
	}
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

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct plan plan = {.source = {.name = "plan.json", .text = (const char *)bytes, .len = len}};
	const char *end = memchr(plan.source.text, '\0', len);
	struct run run;
	int failed;

	if (end) {
		plan.source.len = (size_t)(end - plan.source.text);
		plan.schemas =
			(struct source){.name = "schemas.json", .text = end + 1, .len = len - plan.source.len - 1};
	}
	plan.parsed = parse(plan.source.text, plan.source.len);
	for (size_t i = 0; i < ARRAY_LEN(imports); i++)
		plan.values[i] = import_values(imports[i].shape, plan.parsed);
	run_init(&run, &limits);
	failed = run_protected(&run, read_plan, &plan);
	check(!plan.parsed || failed == 0 || strstr(run.failure.message, "the limit of"));
	run_protected(&run, read_v1, &plan);
	run_release(&run);
	for (size_t i = 0; i < ARRAY_LEN(imports); i++)
		json_decref(plan.values[i]);
	json_decref(plan.parsed);
	return 0;
}
