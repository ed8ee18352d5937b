/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "common/base.h"
#include "common/buf.h"
#include "common/err.h"
#include "common/terraform/mocks.h"
#include "common/terraform/plan_text.h"
#include "common/terraform/v1/mocks.h"
#include "policy/evaluate/evaluate.h"
#include "policy/imports/standard.h"
#include "policy/imports/terraform.h"
#include "policy/imports/v1/v1.h"

/* A policy that imports plan and run. Its variable x is the result. */
struct policy {
	const char *text;
	struct source plan, facts, schemas;
	const char *mock; /* the source of the module "mock"; or NULL */
	struct run run;
	struct value x;
	char printed[8192];
};

/* ---- evaluation ---- */

static const struct {
	const char *name;
	struct value (*make)(struct run *run, const struct source *source);
	bool of_run;
} imports[] = {
	{"tfplan/v2", import_tfplan, false},
	{"tfstate/v2", import_tfstate, false},
	{"tfconfig/v2", import_tfconfig, false},
	{"tfrun", import_tfrun, true},
};

static const struct {
	const char *name;
	struct value (*make)(struct run *run, const struct source *plan, const struct source *schemas);
	const char *fields[12];
} v1_imports[] = {
	{"tfplan", import_v1_plan,
		{"module_paths", "path", "data", "resources", "terraform_version", "variables", "config.resources",
			"config.module_paths", "config.providers", "state.resources", "state.outputs"}},
	{"tfconfig", import_v1_config,
		{"module_paths", "path", "data", "resources", "modules", "outputs", "providers", "variables"}},
	{"tfstate", import_v1_state, {"module_paths", "path", "data", "resources", "outputs", "terraform_version"}},
};

static struct unit *load(struct policy *policy, struct source *source, enum tree_role role);

static struct value import_of(struct policy *policy, const char *name, size_t len)
{
	struct source *mock = run_alloc(&policy->run, 1, sizeof(*mock));

	for (size_t i = 0; i < ARRAY_LEN(imports); i++)
		if (strlen(imports[i].name) == len && memcmp(imports[i].name, name, len) == 0)
			return imports[i].make(&policy->run, imports[i].of_run ? &policy->facts : &policy->plan);
	for (size_t i = 0; i < ARRAY_LEN(v1_imports); i++)
		if (strlen(v1_imports[i].name) == len && memcmp(v1_imports[i].name, name, len) == 0)
			return v1_imports[i].make(
				&policy->run, &policy->plan, policy->schemas.text ? &policy->schemas : NULL);
	if (standard_import(name, len))
		return (struct value){.type = VALUE_IMPORT, .import = standard_import(name, len)};
	*mock = (struct source){.name = "mock", .text = policy->mock, .len = strlen(policy->mock)};
	return unit_as_import(load(policy, mock, TREE_MODULE));
}

static struct unit *load(struct policy *policy, struct source *source, enum tree_role role)
{
	struct tree *tree = tree_parse(&policy->run, source, role);
	struct unit *unit = unit_new(&policy->run, tree);

	for (uint32_t i = 0; i < tree->import_count; i++)
		unit_set_import(unit, i, import_of(policy, tree->imports[i].path.bytes, tree->imports[i].path.len));
	return unit;
}

static void evaluate(struct run *run, void *data)
{
	struct policy *policy = data;
	struct source *source = run_alloc(run, 1, sizeof(*source));
	struct outcome outcome;
	struct unit *unit;
	struct value text;

	*source = (struct source){.name = "policy", .text = policy->text, .len = strlen(policy->text)};
	unit = load(policy, source, TREE_POLICY);
	unit_evaluate(run, unit, &outcome);
	if (!unit_variable(unit, "x", 1, &policy->x))
		run_fail(run, "x has no value");
	text = value_print(run, policy->x, VALUE_QUOTED);
	snprintf(policy->printed, sizeof(policy->printed), "%.*s", (int)string_len(text), string_bytes(text));
}

static void policy_init(struct policy *policy, const char *text, const char *plan)
{
	*policy = (struct policy){.text = text,
		.plan = {.name = "plan.json", .text = plan, .len = strlen(plan)},
		.facts = {.name = "run.json", .text = "{}", .len = 2}};
	run_init(&policy->run, &run_limits_default);
}

static void assert_result(struct policy *policy, const char *wanted)
{
	if (run_protected(&policy->run, evaluate, policy) < 0)
		fail_msg("%s", policy->run.failure.message);
	assert_string_equal(policy->printed, wanted);
	run_release(&policy->run);
}

/* `expression` with the imports tfplan, tfstate and tfconfig of the plan. */
static void assert_value(const char *plan, const char *expression, const char *wanted)
{
	_cleanup_(freep) char *text = mem_printf("import \"tfplan/v2\" as tfplan\nimport \"tfstate/v2\" as tfstate\n"
						 "import \"tfconfig/v2\" as tfconfig\nx = %s\nmain = true\n",
		expression);
	struct policy policy;

	policy_init(&policy, text, plan);
	assert_result(&policy, wanted);
}

static void assert_failure(const char *plan, const char *expression, const char *wanted)
{
	_cleanup_(freep) char *text =
		mem_printf("import \"tfplan/v2\" as tfplan\nx = string(%s)\nmain = true\n", expression);
	_cleanup_(freep) char *error = NULL;
	struct policy policy;
	unsigned line = 0, column = 0;

	policy_init(&policy, text, plan);
	assert_int_equal(run_protected(&policy.run, evaluate, &policy), -1);
	place_position(policy.run.failure.place, &line, &column);
	error = mem_printf("%s:%u:%u: %s", policy.run.failure.place.source ? policy.run.failure.place.source->name : "",
		line, column, policy.run.failure.message);
	assert_string_equal(error, wanted);
	run_release(&policy.run);
}

/* ---- members ---- */

static void absent_members_have_defaults(void **state)
{
	static const char plan[] =
		"{\"resource_changes\": [{\"address\": \"t.a\"}, {\"address\": \"t.a\", \"deposed\": \"d1\","
		" \"index\": 0, \"change\": {\"actions\": [\"delete\"], \"before\": {\"b\": \"\"}, \"after\": null,"
		" \"replace_paths\": []}}],"
		" \"output_changes\": {\"u\": {\"actions\": [\"create\"], \"before\": null, \"after_unknown\": true},"
		" \"n\": {\"actions\": [\"no-op\"], \"before\": 1, \"after\": null, \"after_unknown\": false,"
		" \"before_sensitive\": true}},"
		" \"planned_values\": {\"outputs\": {\"u\": {\"sensitive\": false, \"type\": \"string\"}}},"
		" \"variables\": {\"e\": {\"value\": null}},"
		" \"prior_state\": {\"values\": {\"root_module\": {\"resources\": [{\"address\": \"t.a\"},"
		" {\"address\": \"t.a\", \"deposed_key\": \"d1\", \"tainted\": true, \"depends_on\": null}]}}},"
		" \"terraform_version\": \"1.9.0\","
		" \"configuration\": {\"root_module\": {\"resources\": [{\"address\": \"t.a\"}],"
		" \"module_calls\": {\"m\": {\"module\": {\"variables\": {\"v\": {}},"
		" \"module_calls\": {\"n\": {\"module\": {\"outputs\": {\"o\": {}},"
		" \"resources\": [{\"address\": \"data.t.b\", \"provisioners\": [{}, {\"type\": \"p\"}]}]}}}}}}}}}";
	static const char *const rows[][2] = {
		{"tfplan.resource_changes[\"t.a\"]",
			"{\"address\": \"t.a\", \"module_address\": \"\", \"mode\": \"\", \"type\": \"\", \"name\": "
			"\"\", \"index\": null, \"provider_name\": \"\", \"deposed\": \"\", \"change\": {\"actions\": "
			"[], \"before\": null, \"after\": null, \"after_unknown\": {}}}"},
		{"tfplan.resource_changes[\"t.a:d1\"].change",
			"{\"actions\": [\"delete\"], \"before\": {\"b\": \"\"}, \"after\": null, \"after_unknown\": "
			"{}}"},
		{"tfplan.resource_changes[\"t.a:d1\"].index", "0"},
		{"tfplan.resource_drift", "{}"},
		{"tfplan.output_changes.u",
			"{\"name\": \"u\", \"change\": {\"actions\": [\"create\"], \"before\": "
			"null, \"after_unknown\": true}}"},
		{"tfplan.output_changes.n.change",
			"{\"actions\": [\"no-op\"], \"before\": 1, \"after\": null, \"after_unknown\": false}"},
		{"tfplan.planned_values",
			"{\"outputs\": {\"u\": {\"name\": \"u\", \"sensitive\": false}}, \"resources\": {}}"},
		{"tfplan.variables", "{\"e\": {\"name\": \"e\", \"value\": null}}"},
		{"keys(tfplan.raw)[5:]", "[\"terraform_version\", \"configuration\"]"},
		{"tfplan.raw.resource_changes[1].change.replace_paths", "[]"},
		{"tfplan.module_paths", "undefined"},
		{"tfstate.terraform_version", "\"1.9.0\""},
		{"tfstate.outputs", "{}"},
		{"tfstate.resources[\"t.a\"]",
			"{\"address\": \"t.a\", \"module_address\": \"\", \"mode\": \"\", \"type\": \"\", \"name\": "
			"\"\", \"index\": null, \"provider_name\": \"\", \"values\": {}, \"depends_on\": [], "
			"\"tainted\": false, \"deposed_key\": \"\"}"},
		{"[tfstate.resources[\"t.a:d1\"].tainted, tfstate.resources[\"t.a:d1\"].depends_on]", "[true, []]"},
		{"tfconfig.providers", "{}"},
		{"keys(tfconfig.resources)", "[\"t.a\", \"module.m.module.n.data.t.b\"]"},
		{"tfconfig.resources[\"t.a\"]",
			"{\"address\": \"t.a\", \"module_address\": \"\", \"mode\": \"\", \"type\": \"\", \"name\": "
			"\"\", \"provider_config_key\": \"\", \"provisioners\": [], \"config\": {}, \"count\": {}, "
			"\"for_each\": {}, \"depends_on\": []}"},
		{"tfconfig.provisioners",
			"{\"module.m.module.n.data.t.b:0\": {\"resource_address\": \"module.m.module.n.data.t.b\", "
			"\"type\": \"\", \"index\": \"0\", \"config\": {}}, \"module.m.module.n.data.t.b:1\": "
			"{\"resource_address\": \"module.m.module.n.data.t.b\", \"type\": \"p\", \"index\": \"1\", "
			"\"config\": {}}}"},
		{"tfconfig.resources[\"module.m.module.n.data.t.b\"].provisioners[1].index", "\"1\""},
		{"tfconfig.variables",
			"{\"module.m:v\": {\"module_address\": \"module.m\", \"name\": \"v\", "
			"\"default\": null, \"description\": \"\"}}"},
		{"tfconfig.outputs",
			"{\"module.m.module.n:o\": {\"module_address\": \"module.m.module.n\", \"name\": "
			"\"o\", \"sensitive\": false, \"value\": {}, \"description\": \"\", "
			"\"depends_on\": []}}"},
		{"keys(tfconfig.module_calls)", "[\"m\", \"module.m:n\"]"},
		{"tfconfig.module_calls.m",
			"{\"module_address\": \"\", \"name\": \"m\", \"source\": \"\", \"config\": {}, \"count\": {}, "
			"\"for_each\": {}, \"depends_on\": [], \"version_constraint\": \"\"}"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_value(plan, rows[i][0], rows[i][1]);
	assert_value("{}", "[tfplan.terraform_version, tfplan.planned_values, tfplan.resource_changes]",
		"[\"\", {\"outputs\": {}, \"resources\": {}}, {}]");
}

static void numbers_and_strings_are_kept(void **state)
{
	static const char plan[] =
		"{\"variables\":{\"a\\u0062\\\"c\":{\"value\":[1,1.5,9223372036854775807,9223372036854775808,1e3,"
		"-0,\"\\u00e9\\n\\\\\",true]}}}";

	(void)state;
	assert_value(plan, "tfplan.variables",
		"{\"ab\\\"c\": {\"name\": \"ab\\\"c\", \"value\": [1, 1.5, 9223372036854775807, "
		"9.223372036854776e18, 1000.0, 0, \"é\\n\\\\\", true]}}");
}

static void an_index_is_stripped(void **state)
{
	static const char *const rows[][2] = {
		{"\"a.b\"", "\"a.b\""},
		{"\"module.a[0].t.b[1]\"", "\"module.a.t.b\""},
		{"\"module.a[\\\"x\\\"].t.b[\\\"y.z\\\"]\"", "\"module.a.t.b\""},
		{"\"a[\\\"]x[\\\"].b[\\\"\\\\\\\"]\\\"]\"", "\"a.b\""},
		{"\"a[\"", "\"a\""},
		{"\"a[\\\"b\"", "\"a\""},
		{"\"\"", "\"\""},
		{"tfplan.raw.nothing", "undefined"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(freep) char *expression = mem_printf("tfconfig.strip_index(%s)", rows[i][0]);

		assert_value("{}", expression, rows[i][1]);
	}
}

static void a_policy_changes_no_import(void **state)
{
	struct policy policy;

	(void)state;
	policy_init(&policy,
		"import \"tfplan/v2\" as tfplan\nvars = tfplan.variables\nvars.a[\"value\"] = 2\n"
		"x = [vars.a.value, tfplan.variables.a.value]\nmain = true\n",
		"{\"variables\": {\"a\": {\"value\": 1}}}");
	assert_result(&policy, "[2, 1]");
}

/* ---- the run ---- */

static void the_run_is_as_the_file_says(void **state)
{
	static const char facts[] = "{\"id\": \"run-1\", \"variables\": {\"a-b\": {\"category\": \"env\"}},"
				    " \"workspace\": {\"description\": null, \"tags\": []}}";
	struct policy policy;

	(void)state;
	policy_init(&policy,
		"import \"tfrun\"\nx = [tfrun.id, tfrun.variables[\"a-b\"].category, tfrun.workspace, "
		"tfrun.cost_estimate else \"none\"]\nmain = true\n",
		"");
	policy.facts = (struct source){.name = "run.json", .text = facts, .len = strlen(facts)};
	assert_result(&policy, "[\"run-1\", \"env\", {\"description\": null, \"tags\": []}, \"none\"]");
}

/* ---- mocks ---- */

/* The file of tests/policy/terraform. Owned by the caller. */
static char *plan_read(const char *name)
{
	_cleanup_(freep) char *path = mem_printf(SOURCE_DIR "/tests/policy/terraform/%s", name);
	FILE *file = fopen(path, "r");
	char *text = mem_new(1 << 20, 1);

	assert_non_null(file);
	text[fread(text, 1, (1 << 20) - 1, file)] = '\0';
	fclose(file);
	return text;
}

/* Each field of the import is equal to that of the module that the mock is. */
static void assert_equals_mock(const char *plan, const struct mock *mock, const char *name)
{
	_cleanup_(buf_release) struct buf source = BUF_INIT(1 << 20), text = BUF_INIT(1 << 20);
	json_auto_t *parsed = json_loads(plan, 0, NULL), *facts = json_object();
	json_auto_t *values = mock_values(mock, parsed, facts);
	struct policy policy;
	const char *field;
	json_t *value;

	assert_int_equal(mock_write(mock, parsed, facts, &source), 0);
	buf_printf(&text, "import \"%s\" as a\nimport \"mock\" as b\nx = []\n", mock->import);
	json_object_foreach(values, field, value) buf_printf(
		&text, "if a.%s is not b.%s { append(x, [\"%s\", a.%s, b.%s]) }\n", field, field, field, field, field);
	buf_text(&text, "main = x is empty\n");
	policy_init(&policy, buf_str(&text), plan);
	policy.mock = buf_str(&source);
	if (run_protected(&policy.run, evaluate, &policy) < 0)
		fail_msg("%s: %s", name, policy.run.failure.message);
	if (strcmp(policy.printed, "[]") != 0)
		fail_msg("%s, %s: %s", name, mock->import, policy.printed);
	run_release(&policy.run);
}

static void v1_equals_its_mock(const char *plan, const char *schemas, size_t number, const char *name)
{
	_cleanup_(buf_release) struct buf source = BUF_INIT(1 << 20), text = BUF_INIT(1 << 20);
	_cleanup_(json_document_release) struct json_document parsed = JSON_NO_DOCUMENT;
	json_auto_t *types = schemas ? json_loads(schemas, 0, NULL) : NULL;
	const char *const *fields = v1_imports[number].fields;
	struct err err = ERR_INIT;
	struct policy policy;

	assert_int_equal(plan_parse(plan, strlen(plan), &parsed, &err), 0);
	assert_int_equal(v1_mock_write(&v1_mocks[number], parsed.value, types, &source), 0);
	assert_string_equal(v1_mocks[number].imports[0], v1_imports[number].name);
	buf_printf(&text, "import \"%s\" as a\nimport \"mock\" as b\nx = []\n", v1_imports[number].name);
	for (size_t i = 0; fields[i]; i++)
		buf_printf(&text, "if a.%s is not b.%s { append(x, [\"%s\", a.%s, b.%s]) }\n", fields[i], fields[i],
			fields[i], fields[i], fields[i]);
	buf_text(&text,
		"for a.module_paths as p { if a.module(p) is not b.module(p) { append(x, [p, a.module(p), "
		"b.module(p)]) } }\nfor [[\"none\"], [\"\"]] as p { if b.module(p) is not null { append(x, p) } }\n"
		"main = x is empty\n");
	policy_init(&policy, buf_str(&text), plan);
	if (schemas)
		policy.schemas = (struct source){.name = "schemas.json", .text = schemas, .len = strlen(schemas)};
	policy.mock = buf_str(&source);
	if (run_protected(&policy.run, evaluate, &policy) < 0)
		fail_msg("%s: %s", name, policy.run.failure.message);
	if (strcmp(policy.printed, "[]") != 0)
		fail_msg("%s, %s: %s", name, v1_imports[number].name, policy.printed);
	run_release(&policy.run);
}

static void v1_imports_equal_their_mocks(void **state)
{
	static const char *const plans[] = {"create.json", "update.json", "destroy.json", "v1.json"};
	_cleanup_(freep) char *schemas = plan_read("v1-schemas.json");

	(void)state;
	assert_int_equal(v1_mock_count, ARRAY_LEN(v1_imports));
	for (size_t i = 0; i < ARRAY_LEN(plans); i++) {
		_cleanup_(freep) char *plan = plan_read(plans[i]);

		for (size_t n = 0; n < v1_mock_count; n++) {
			v1_equals_its_mock(plan, schemas, n, plans[i]);
			v1_equals_its_mock(plan, NULL, n, plans[i]);
		}
	}
	for (size_t n = 0; n < v1_mock_count; n++) {
		v1_equals_its_mock("{}", NULL, n, "an empty plan");
		v1_equals_its_mock("{\"configuration\": {\"root_module\": {\"variables\": [{\"default\": 1}]}}}", NULL,
			n, "a list in place of an object");
	}
}

/* One resource whose flat keys take much more than its JSON. */
static void a_mock_has_a_bound(void **state)
{
	enum { DEPTH = 1000, NAME = 1000, LEAVES = 1000 };
	_cleanup_(buf_release) struct buf plan = BUF_INIT(1 << 24), out = BUF_INIT((size_t)1 << 32);
	_cleanup_(freep) char *name = mem_new(NAME + 1, 1);
	_cleanup_(json_document_release) struct json_document parsed = JSON_NO_DOCUMENT;
	struct err err = ERR_INIT;

	(void)state;
	memset(name, 'k', NAME);
	buf_text(&plan, "{\"resource_changes\":[{\"change\":{\"actions\":[\"create\"],\"after\":");
	for (size_t i = 0; i < DEPTH; i++)
		buf_printf(&plan, "{\"%s\":", name);
	buf_text(&plan, "[0");
	for (size_t i = 1; i < LEAVES; i++)
		buf_text(&plan, ",0");
	buf_text(&plan, "]");
	for (size_t i = 0; i < DEPTH; i++)
		buf_text(&plan, "}");
	buf_text(&plan, "}}]}");
	assert_int_equal(plan_parse(buf_str(&plan), plan.len, &parsed, &err), 0);
	assert_int_equal(v1_mock_write(&v1_mocks[0], parsed.value, NULL, &out), -1);
}

static void imports_of_real_plans_equal_their_mocks(void **state)
{
	static const char *const plans[] = {"create.json", "update.json", "destroy.json", "refresh.json"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(plans); i++) {
		_cleanup_(freep) char *plan = plan_read(plans[i]);

		for (size_t n = 0; n < mock_count; n++)
			if (strcmp(mocks[n].import, "tfrun") != 0)
				assert_equals_mock(plan, &mocks[n], plans[i]);
	}
}

static void real_plans_are_shown(void **state)
{
	static const char *const rows[][3] = {
		{"create.json", "tfstate.resources is empty", "false"},
		{"create.json", "tfplan.output_changes.one.change.after is defined", "false"},
		{"create.json", "tfplan.resource_changes[\"terraform_data.one\"].change.after_unknown.id", "true"},
		{"create.json", "tfplan.resource_changes[\"terraform_data.one\"].change.after.id is defined", "false"},
		{"create.json", "tfplan.resource_changes[\"terraform_data.each[\\\"a.b\\\"]\"].index", "\"a.b\""},
		{"create.json", "keys(tfconfig.provisioners)", "[\"terraform_data.one:0\"]"},
		{"create.json", "tfconfig.variables[\"module.m.module.inner:label\"].default", "\"x\""},
		{"update.json",
			"keys(filter tfplan.resource_changes as _, rc { rc.change.actions contains \"delete\" })",
			"[\"terraform_data.each[\\\"c[\\\\\\\"d\\\\\\\"]\\\"]\", "
			"\"module.m.terraform_data.part[0]:abcd1234\", \"module.m.terraform_data.part[1]\"]"},
		{"update.json", "keys(filter tfstate.resources as _, r { r.tainted })",
			"[\"module.m.terraform_data.part[1]\"]"},
		{"update.json", "tfplan.output_changes.known.change",
			"{\"actions\": [\"delete\"], \"before\": \"k\", \"after\": null, \"after_unknown\": false}"},
		{"destroy.json", "all tfplan.resource_changes as _, rc { rc.change.after is null }", "true"},
		{"destroy.json", "length(tfplan.planned_values.resources)", "0"},
		{"refresh.json", "keys(tfplan.resource_drift)", "[\"terraform_data.uno\"]"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(freep) char *plan = plan_read(rows[i][0]);

		assert_value(plan, rows[i][1], rows[i][2]);
	}
}

/* Objects and lists of many members, each of them large. */
static void wide_values_are_whole(void **state)
{
	enum { COUNT = 300 };
	static const char text[] = "a text that makes a list or an object a large one, of more than 64 bytes";
	_cleanup_(buf_release) struct buf plan = BUF_INIT(1 << 20);

	(void)state;
	buf_text(&plan, "{\"object\": {\"m0\": 0");
	for (int i = 0; i < COUNT; i++)
		buf_printf(&plan, ", \"m%d\": {\"text\": \"%s\", \"list\": [%d, \"%s\"]}", i, text, i, text);
	buf_text(&plan, "}, \"list\": [[]");
	for (int i = 0; i < COUNT; i++)
		buf_printf(&plan, ", [\"%s\", [{\"n\": %d}]]", text, i);
	buf_text(&plan, "]}");
	assert_value(buf_str(&plan), "length(tfplan.raw.object)", "300");
	assert_value(buf_str(&plan), "tfplan.raw.object.m0.list[0]", "0");
	assert_value(buf_str(&plan), "tfplan.raw.object.m299.list[0]", "299");
	assert_value(buf_str(&plan), "keys(tfplan.raw.object)[64]", "\"m64\"");
	assert_value(buf_str(&plan), "length(tfplan.raw.list)", "301");
	assert_value(buf_str(&plan), "map tfplan.raw.list[299:301] as e { e[1][0].n }", "[298, 299]");
}

/* The cost of a policy that reads one member of each resource. It grew with all that the resources have, and with the
 * number of objects around it. */
static void a_walk_costs_what_it_reads(void **state)
{
	enum { RESOURCES = 1000, TAGS = 40, MAX_STEPS = 100, MAX_BYTES = 4096 };
	_cleanup_(buf_release) struct buf plan = BUF_INIT(8 << 20);
	struct policy policy;

	(void)state;
	buf_text(&plan, "{\"resource_changes\": [");
	for (int i = 0; i < RESOURCES; i++) {
		buf_printf(&plan,
			"%s{\"address\": \"t.r[%d]\", \"mode\": \"managed\", \"change\": {\"actions\": [\"create\"],"
			" \"after\": {\"name\": \"name %d\", \"tags\": {\"first\": 0",
			i > 0 ? ", " : "", i, i);
		for (int tag = 0; tag < TAGS; tag++)
			buf_printf(&plan, ", \"tag-%d\": \"value %d of %d\"", tag, tag, i);
		buf_text(&plan, "}}}}");
	}
	buf_text(&plan, "]}");
	policy_init(&policy,
		"import \"tfplan/v2\" as tfplan\n"
		"x = all tfplan.resource_changes as _, rc { rc.change.after.name contains \"name\" }\nmain = true\n",
		buf_str(&plan));
	assert_int_equal(run_protected(&policy.run, evaluate, &policy), 0);
	assert_string_equal(policy.printed, "true");
	assert_in_range(policy.run.steps / RESOURCES, 1, MAX_STEPS);
	assert_in_range(policy.run.allocated / RESOURCES, 1, MAX_BYTES);
	run_release(&policy.run);
}

/* ---- wrong JSON ---- */

static void wrong_json_is_an_error_at_its_place(void **state)
{
	static const char *const rows[][3] = {
		{"", "tfplan.raw", "plan.json:1:1: the JSON is wrong: a value is missing"},
		{"[]", "tfplan.variables", "plan.json:1:1: this JSON is no object"},
		{"{\n \"variables\": {\"a\": {\"value\": \"x}}\n", "tfplan.variables",
			"plan.json:2:31: the JSON is wrong: a string is not closed"},
		{"{\"variables\": {", "tfplan.variables", "plan.json:1:15: the JSON is wrong: a bracket is not closed"},
		{"{\"variables\": {\"a\" {}}}", "tfplan.variables",
			"plan.json:1:20: the JSON is wrong: a colon is missing"},
		{"{\"variables\": {\"a\": {\"value\": tru}}}", "tfplan.variables.a.value",
			"plan.json:1:31: the JSON is wrong: a value is missing"},
		{"{\"variables\": {}} x", "tfplan.variables",
			"plan.json:1:19: the JSON is wrong: something follows the value"},
		{"{\"variables\": {\"a\": [1}}}", "tfplan.raw.variables.a",
			"plan.json:1:23: the JSON is wrong: a comma or ] is missing"},
		{"{\"variables\": {\"a\": [\"a text that makes this list a larger one, of more than 64 bytes\"}}}",
			"tfplan.raw.variables.a", "plan.json:1:87: the JSON is wrong: a comma is missing"},
		{"{\"variables\": {} \"b\": 1}", "tfplan.variables",
			"plan.json:1:18: the JSON is wrong: a comma is missing"},
		{"{1: 2}", "tfplan.variables", "plan.json:1:2: the JSON is wrong: a member's name is missing"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_failure(rows[i][0], rows[i][1], rows[i][2]);
}

static void unused_parts_are_not_decoded(void **state)
{
	static const char plan[] =
		"{\"variables\": {\"a\": {\"value\": 1}}, \"resource_changes\": [{\"address\": "
		"\"t.a\", \"type\": \"t\", \"change\": {\"before\": wrong, \"after\": {\"k\": 1}}}]}";

	(void)state;
	assert_value(plan, "tfplan.variables.a.value", "1");
	assert_value(plan, "tfplan.resource_changes[\"t.a\"].type", "\"t\"");
	assert_value(plan, "tfplan.resource_changes[\"t.a\"].change.after.k", "1");
	assert_failure(plan, "tfplan.resource_changes[\"t.a\"].change.before",
		"plan.json:1:110: the JSON is wrong: a value is missing");
}

static void deep_json_ends_at_the_limit(void **state)
{
	static const char head[] = "{\"variables\": {\"a\": {\"value\": ";
	char *plan = mem_new(200100, 1);

	(void)state;
	memcpy(plan, head, strlen(head));
	memset(plan + strlen(head), '[', 100000);
	memset(plan + strlen(head) + 100000, ']', 100000);
	memcpy(plan + strlen(head) + 200000, "}}}", 4);
	struct policy policy;

	policy_init(&policy, "import \"tfplan/v2\" as tfplan\nx = tfplan.variables\nmain = true\n", plan);
	assert_int_equal(run_protected(&policy.run, evaluate, &policy), -1);
	assert_non_null(strstr(policy.run.failure.message, "nesting"));
	run_release(&policy.run);
	free(plan);
}

/* A plan that is cut or changed gives a value or an error, and is read within its bounds. */
static void damaged_plans_are_read_safely(void **state)
{
	static const char plan[] =
		"{\"variables\":{\"a\\n\":{\"value\":[1,\"\\\"\",{}]}},\"resource_changes\":[{\"address\":"
		"\"t\",\"change\":{\"after\":{\"x\":-1.5e3}}}],\"configuration\":{\"root_module\":{"
		"\"module_calls\":{\"m\":{\"module\":{\"resources\":[{\"provisioners\":[{}]}]}}}}}}";
	static const char odd[] = "\"{}[],:\\x";
	static const char text[] = "import \"tfplan/v2\" as p\nimport \"tfconfig/v2\" as c\nimport \"tfplan\" as v\n"
				   "x = string(length(p.variables))\n"
				   "print(p.raw, p.variables, p.resource_changes, c.provisioners, c.resources, "
				   "v.resources)\nmain = true\n";

	(void)state;
	for (size_t at = 0; at < strlen(plan); at++) {
		char *copy = mem_new(strlen(plan), 1); /* exactly sized, for the sanitizer */
		struct policy policy;

		memcpy(copy, plan, strlen(plan));
		copy[at] = odd[at % sizeof(odd)];
		policy_init(&policy, text, "");
		policy.plan.text = copy;
		policy.plan.len = at % 3 ? strlen(plan) : at;
		if (run_protected(&policy.run, evaluate, &policy) < 0)
			assert_int_equal(policy.run.failure.kind, FAILURE_RUNTIME);
		run_release(&policy.run);
		free(copy);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(absent_members_have_defaults),
		cmocka_unit_test(numbers_and_strings_are_kept),
		cmocka_unit_test(an_index_is_stripped),
		cmocka_unit_test(a_policy_changes_no_import),
		cmocka_unit_test(the_run_is_as_the_file_says),
		cmocka_unit_test(imports_of_real_plans_equal_their_mocks),
		cmocka_unit_test(v1_imports_equal_their_mocks),
		cmocka_unit_test(a_mock_has_a_bound),
		cmocka_unit_test(real_plans_are_shown),
		cmocka_unit_test(wide_values_are_whole),
		cmocka_unit_test(a_walk_costs_what_it_reads),
		cmocka_unit_test(wrong_json_is_an_error_at_its_place),
		cmocka_unit_test(unused_parts_are_not_decoded),
		cmocka_unit_test(deep_json_ends_at_the_limit),
		cmocka_unit_test(damaged_plans_are_read_safely),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
