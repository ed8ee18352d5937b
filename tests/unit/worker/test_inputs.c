/* SPDX-License-Identifier: MPL-2.0 */
/* The inputs of a job: its description, variables, arguments, override file, and the engine's version. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "proto/version.h"
#include "worker/engine/apply_variables.h"
#include "worker/engine/arguments.h"
#include "worker/engine/backend.h"
#include "worker/engine/engine.h"
#include "worker/exec/access.h"
#include "worker/exec/beneath.h"
#include "worker/exec/workdir.h"
#include "worker/packages/modules.h"

static const char job_text[] =
	"{\"job\":\"job-AAAAAAAAAAAAAAAA\",\"attempt\":2,\"token\":\"t\",\"stage\":\"plan\",\"run\":\"run-"
	"AAAAAAAAAAAAAAAA\","
	"\"working-directory\":\"/envs//./prod/\",\"destroy\":true,\"refresh\":false,\"target-addrs\":[\"a.b\"],"
	"\"replace-addrs\":[\"c.d[\\\"x\\\"]\"],\"variables\":["
	"{\"key\":\"a\",\"value\":\"weak\",\"category\":\"terraform\"},"
	"{\"key\":\"l\",\"value\":\"[1, 2]\",\"category\":\"terraform\",\"hcl\":true},"
	"{\"key\":\"a\",\"value\":\"s${x}%{y}\\\"\\n\",\"category\":\"terraform\"},"
	"{\"key\":\"TF_CLI_CONFIG_FILE\",\"value\":\"/x\",\"category\":\"env\"},"
	"{\"key\":\"TF_TOKEN_example_com\",\"value\":\"tt\",\"category\":\"env\"},"
	"{\"key\":\"bad name\",\"value\":\"x\",\"category\":\"env\"},"
	"{\"key\":\"GIT_SSH_COMMAND\",\"value\":\"x\",\"category\":\"env\"}]}";

static int read_with(const char *member, json_t *value, struct assignment *ret_assignment, struct err *err)
{
	json_auto_t *source = json_loads(job_text, 0, NULL);

	if (value)
		json_object_set_new(source, member, value);
	return assignment_read(source, ret_assignment, err);
}

static void a_job_is_parsed(void **state)
{
	struct assignment assignment;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(read_with("", NULL, &assignment, &err), 0);
	assert_string_equal(assignment.working_directory, "envs/prod");
	assert_int_equal(assignment.stage, STAGE_PLAN);
	assert_int_equal(assignment.attempt, 2);
	assert_true(assignment.json_log);
	assignment_release(&assignment);
}

static void invalid_ids_are_refused(void **state)
{
	static const char *const members[] = {"job", "run", "token", "attempt"};
	struct assignment assignment;
	struct err err = ERR_INIT;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(members); i++) {
		assert_int_equal(read_with(members[i], json_string("../../etc"), &assignment, &err), i == 2 ? 0 : -1);
		if (i == 2)
			assignment_release(&assignment);
		else
			assert_int_equal(err.kind, ERR_MALFORMED);
	}
}

static void a_job_with_invalid_settings_keeps_its_id(void **state)
{
	struct assignment assignment;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(read_with("working-directory", json_string("a/../../b"), &assignment, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(assignment.job, "job-AAAAAAAAAAAAAAAA");
	assignment_release(&assignment);
	assert_int_equal(read_with("stage", json_string("audit"), &assignment, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assignment_release(&assignment);
}

static void contents_of_a_claim_are_taken_once(void **state)
{
	static const struct {
		const char *contents, *expected; /* NULL: it must be downloaded */
	} cases[] = {
		{"{\"state\":\"e30=\"}", "{}"},
		{"{\"state\":\"\"}", ""},
		{"{\"plan\":\"e30=\"}", NULL},
		{"{\"state\":null}", NULL},
		{"{\"state\":{}}", NULL},
		{"{\"state\":\"e30\"}", NULL},
		{"{\"state\":\"e3!=\"}", NULL},
		{"{\"state\":\"e3=0\"}", NULL},
		{"{\"state\":\"e30=e30=\"}", NULL},
		{"{\"state\":\" e30=   \"}", NULL},
		{"{}", NULL},
		{"[]", NULL},
		{"null", NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		_cleanup_(buf_release) struct buf out = BUF_INIT(100);
		struct assignment assignment;
		struct err err = ERR_INIT;

		assert_int_equal(read_with("contents", json_of(cases[i].contents), &assignment, &err), 0);
		assert_int_equal(assignment_take(&assignment, "state", &out), cases[i].expected ? 0 : -1);
		assert_string_equal(buf_str(&out), text_or_empty(cases[i].expected));
		assert_int_equal(assignment_take(&assignment, "state", &out), -1);
		assignment_release(&assignment);
	}
}

static void values_are_quoted_and_the_last_one_is_used(void **state)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(1000);
	struct assignment assignment;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(read_with("", NULL, &assignment, &err), 0);
	assert_int_equal(variables_file(&assignment, &text), 0);
	assert_string_equal(buf_str(&text), "a = \"s$${x}%%{y}\\\"\\n\"\nl = [1, 2]\n");
	assignment_release(&assignment);
}

static void quoted_texts_are_not_interpreted(void **state)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(1000);

	(void)state;
	assert_int_equal(hcl_quote(&text, "$x %y $${a} \\ \t\r\x01 ü"), 0);
	assert_string_equal(buf_str(&text), "\"$x %y $$${a} \\\\ \\t\\r\\u0001 ü\"");
}

static bool has(const struct texts *texts, const char *text)
{
	for (size_t i = 0; i < texts->count; i++)
		if (text_equal(texts->items[i], text))
			return true;
	return false;
}

static void reserved_variables_can_not_be_set(void **state)
{
	_cleanup_(texts_release) struct texts all = {.items = NULL};
	_cleanup_(texts_release) struct texts tokens = {.items = NULL};
	struct assignment assignment;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(read_with("", NULL, &assignment, &err), 0);
	variables_environment(&assignment, &all);
	variables_tokens(&assignment, &tokens);
	assert_int_equal(all.count, 2);
	assert_true(has(&all, "GIT_SSH_COMMAND=x"));
	assert_int_equal(tokens.count, 1);
	assert_true(has(&tokens, "TF_TOKEN_example_com=tt"));
	assert_true(variables_reserved("TF_DATA_DIR"));
	assert_false(variables_reserved("TF_CLI_ARGS_plan"));
	assignment_release(&assignment);
}

static void an_environment_has_each_name_once(void **state)
{
	_cleanup_(texts_release) struct texts env = {.items = NULL};

	(void)state;
	texts_set_env(&env, "PATH", "/a");
	texts_set_env(&env, "PATHS", "/b");
	texts_set_env(&env, "PATH", "/c");
	assert_int_equal(env.count, 2);
	assert_string_equal(env.items[0], "PATH=/c");
	assert_null(env.items[2]);
}

static void a_plan_has_the_runs_options(void **state)
{
	_cleanup_(texts_release) struct texts args = {.items = NULL};
	struct assignment assignment;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(read_with("", NULL, &assignment, &err), 0);
	arguments_plan(&assignment, "/v", "/p", &args);
	assert_string_equal(args.items[0], "plan");
	assert_true(has(&args, "-json") && has(&args, "-destroy") && has(&args, "-refresh=false"));
	assert_true(has(&args, "-target=a.b") && has(&args, "-replace=c.d[\"x\"]"));
	assert_true(has(&args, "-out=/p") && has(&args, "-var-file=/v"));
	assert_false(has(&args, "-refresh-only") || has(&args, "-generate-config-out=/p.tf"));
	texts_release(&args);
	args = (struct texts){.items = NULL};
	assignment.generate = true;
	arguments_plan(&assignment, NULL, "/p", &args);
	assert_true(has(&args, "-generate-config-out=/p.tf"));
	assert_false(has(&args, "-var-file=/v") || has(&args, "-var-file=(null)"));
	texts_release(&args);
	args = (struct texts){.items = NULL};
	arguments_query("/v", "/p.tf", &args);
	assert_string_equal(args.items[0], "query");
	assert_true(has(&args, "-json") && has(&args, "-var-file=/v") && has(&args, "-generate-config-out=/p.tf"));
	texts_release(&args);
	args = (struct texts){.items = NULL};
	arguments_query(NULL, NULL, &args);
	assert_int_equal(args.count, 3);
	assignment_release(&assignment);
}

static void the_state_is_outside_of_the_configuration(void **state)
{
	_cleanup_(buf_release) struct buf text = BUF_INIT(1000);
	struct assignment deep = {.working_directory = "a/b"}, top = {.working_directory = ""};

	(void)state;
	assert_int_equal(workdir_override(&deep, &text), 0);
	assert_non_null(strstr(buf_str(&text), "path = \"../../../state/terraform.tfstate\""));
	buf_reset(&text);
	assert_int_equal(workdir_override(&top, &text), 0);
	assert_non_null(strstr(buf_str(&text), "path = \"../state/terraform.tfstate\""));
	assert_non_null(strstr(buf_str(&text), "workspace_dir = \"../workspaces\""));
}

static void the_engine_gets_the_name_of_the_workspace(void **state)
{
	static const struct {
		const char *name, *expected;
	} rows[] = {{"network-prod_2", "network-prod_2"}, {"default", "default"}, {"", "default"}, {"../x", "default"},
		{"a/b", "default"}, {"..", "default"}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct assignment assignment = {.workspace = rows[i].name};

		assert_string_equal(workdir_workspace(&assignment), rows[i].expected);
	}
}

static void module_calls_are_found_by_parsing(void **state)
{
	static const struct {
		const char *text;
		enum config_syntax syntax;
		bool calls;
	} rows[] = {
		{"module \"a\" {}", CONFIG_NATIVE, true},
		{"module \"a\" {", CONFIG_NATIVE, true},
		{"\nmodule x {\n}\n", CONFIG_NATIVE, true},
		{"/* */module \"a\" {}", CONFIG_NATIVE, true},
		{"module\t\"a\"{}", CONFIG_NATIVE, true},
		{"a \"${f(\"{\")}\" {}\nmodule \"b\" {}", CONFIG_NATIVE, true},
		{"this is no configuration", CONFIG_NATIVE, true},
		{"", CONFIG_NATIVE, false},
		{"# module \"a\" {}\n", CONFIG_NATIVE, false},
		{"a \"b\" {\n  c = <<X\nmodule \"a\" {}\nX\n}\n", CONFIG_NATIVE, false},
		{"locals {\n  a = \"${path.module}/${f(\"{\")}\"\n}\n", CONFIG_NATIVE, false},
		{"modules {}", CONFIG_NATIVE, false},
		{"{\"module\": {}}", CONFIG_JSON, true},
		{"{\"\\u006dodule\": {\"a\": {\"source\": \"git::x\"}}}", CONFIG_JSON, true},
		{"{\"m\\u006Fdul\\u0065\": {}}", CONFIG_JSON, true},
		{"[{}, {\"module\": {}}]", CONFIG_JSON, true},
		{"{\"module\":", CONFIG_JSON, true},
		{"\"module\"", CONFIG_JSON, true},
		{"{\"output\": {\"module\": {\"value\": \"module\"}}}", CONFIG_JSON, false},
		{"[]", CONFIG_JSON, false},
		{"module \"a\" {}", CONFIG_NONE, false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (text_calls_modules(rows[i].syntax, rows[i].text, strlen(rows[i].text)) != rows[i].calls)
			fail_msg("%s", rows[i].text);
	assert_int_equal(config_syntax("a.tf"), CONFIG_NATIVE);
	assert_int_equal(config_syntax("a.tofu"), CONFIG_NATIVE);
	assert_int_equal(config_syntax("a.tf.json"), CONFIG_JSON);
	assert_int_equal(config_syntax("a.tofu.json"), CONFIG_JSON);
	assert_int_equal(config_syntax("a.json"), CONFIG_NONE);
	assert_int_equal(config_syntax("a.tf.bak"), CONFIG_NONE);
}

static void git_uses_only_explicit_repositories(void **state)
{
	_cleanup_(texts_release) struct texts env = {.items = NULL}, own = {.items = NULL}, wrong = {.items = NULL};

	(void)state;
	variables_git("/job", "/job/config", &env);
	assert_true(has(&env, "GIT_CONFIG_NOSYSTEM=1") && has(&env, "GIT_CONFIG_GLOBAL=/dev/null"));
	assert_true(has(&env, "GIT_CEILING_DIRECTORIES=/job:/job/config"));
	assert_true(has(&env, "GIT_CONFIG_COUNT=1") && has(&env, "GIT_CONFIG_KEY_0=safe.bareRepository"));
	assert_true(has(&env, "GIT_CONFIG_VALUE_0=explicit"));
	texts_set_env(&own, "GIT_CONFIG_COUNT", "1");
	texts_set_env(&own, "GIT_CONFIG_KEY_0", "http.sslVerify");
	variables_git("/job", "/job/config", &own);
	assert_true(has(&own, "GIT_CONFIG_COUNT=2") && has(&own, "GIT_CONFIG_KEY_0=http.sslVerify"));
	assert_true(has(&own, "GIT_CONFIG_KEY_1=safe.bareRepository") && has(&own, "GIT_CONFIG_VALUE_1=explicit"));
	texts_set_env(&wrong, "GIT_CONFIG_COUNT", "x");
	variables_git("/job", "/job/config", &wrong);
	assert_true(has(&wrong, "GIT_CONFIG_COUNT=x"));
}

/* ---- the effective backend ---- */

static void other_backends_are_detected(void **state)
{
	static const struct {
		const char *record;
		bool ours, old; /* with and without the folder of workspaces */
	} rows[] = {
		{"{\"version\":3,\"backend\":{\"type\":\"local\",\"config\":{\"path\":\"../"
		 "s\",\"workspace_dir\":null}}}",
			false, true},
		{"{\"backend\":{\"type\":\"local\",\"config\":{\"path\":\"../s\"}}}", false, true},
		{"{\"backend\":{\"type\":\"local\",\"config\":{\"path\":\"../s\",\"workspace_dir\":\"../w\"}}}", true,
			false},
		{"{\"backend\":{\"type\":\"local\",\"config\":{\"path\":\"../s\",\"workspace_dir\":\"x\"}}}", false,
			false},
		{"{\"backend\":{\"type\":\"local\",\"config\":{\"path\":\"../s/\",\"workspace_dir\":\"../w\"}}}", false,
			false},
		{"{\"backend\":{\"type\":\"local\",\"config\":{\"path\":null,\"workspace_dir\":\"../w\"}}}", false,
			false},
		{"{\"backend\":{\"type\":\"cloud\",\"config\":{\"path\":\"../s\"}}}", false, false},
		{"{\"backend\":{\"type\":\"s3\",\"config\":{}}}", false, false},
		{"{\"version\":3}", false, false},
		{"[]", false, false},
		{"", false, false},
	};
	static const struct backend_paths ours = {.state = "../s", .workspaces = "../w"}, old = {.state = "../s"};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = ERR_INIT;

		if ((backend_check_record(rows[i].record, strlen(rows[i].record), &ours, &err) == 0) != rows[i].ours ||
			(backend_check_record(rows[i].record, strlen(rows[i].record), &old, &err) == 0) != rows[i].old)
			fail_msg("%s", rows[i].record);
	}
}

/* ---- variables that an apply gets again ---- */

static char *names_text(const json_t *names)
{
	json_auto_t *list = json_array();
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)names, name, value) json_array_append_new(list, json_string(name));
	return json_text(list);
}

static void ephemeral_variables_are_found(void **state)
{
	static const struct {
		enum config_syntax syntax;
		const char *text, *names;
	} rows[] = {
		{CONFIG_NATIVE, "variable \"a\" {\n  ephemeral = true\n}\nvariable \"b\" {\n  type = string\n}\n",
			"[\"a\"]"},
		{CONFIG_NATIVE, "variable \"a\" {\n  description = \"not ephemeral\"\n}\n", "[\"a\"]"},
		{CONFIG_NATIVE, "ephemeral \"random_password\" \"x\" {\n}\noutput \"o\" {\n  ephemeral = true\n}\n",
			"[]"},
		{CONFIG_NATIVE, "variable \"a\" {", "[]"},
		{CONFIG_JSON, "{\"variable\":{\"a\":{\"\\u0065phemeral\":true},\"b\":{}}}", "[\"a\"]"},
		{CONFIG_JSON,
			"[{\"variable\":[{\"a\":[{\"type\":\"string\"},{\"ephemeral\":true}]},{\"b\":{\"ephemeral\":"
			"false}}]}]",
			"[\"a\",\"b\"]"},
		{CONFIG_JSON, "{\"variable\":\"ephemeral\"}", "[]"},
		{CONFIG_JSON, "{", "[]"},
		{CONFIG_NONE, "variable \"a\" {\n  ephemeral = true\n}\n", "[]"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		json_auto_t *names = json_object();
		_cleanup_(freep) char *text = NULL;

		text_find_ephemeral(rows[i].syntax, rows[i].text, strlen(rows[i].text), names);
		text = names_text(names);
		assert_string_equal(text, rows[i].names);
	}
}

static void the_last_value_of_an_ephemeral_variable_is_used(void **state)
{
	struct variable variables[] = {
		{.key = "secret", .value = "weak"},
		{.key = "kept", .value = "in the plan"},
		{.key = "secret", .value = "env", .env = true},
		{.key = "unset", .value = " null\n", .hcl = true},
		{.key = "word", .value = "null"},
		{.key = "secret", .value = "strong"},
	};
	const struct assignment assignment = {.variables = variables, .variable_count = ARRAY_LEN(variables)};
	json_auto_t *names = json_pack("{sbsbsb}", "secret", true, "unset", true, "word", true), *none = json_object();
	_cleanup_(buf_release) struct buf text = BUF_INIT(1000);

	(void)state;
	assert_int_equal(variables_file_of(&assignment, none, &text), 0);
	assert_int_equal(text.len, 0);
	assert_int_equal(variables_file_of(&assignment, names, &text), 0);
	assert_string_equal(buf_str(&text), "secret = \"strong\"\nword = \"null\"\n");
}

static void variables_with_weaker_values_are_found(void **state)
{
	static const struct {
		const char *file, *text, *names;
	} rows[] = {
		{"terraform.tfvars", "word = \"a\"\n", "[\"exported\",\"word\"]"},
		{"x.auto.tfvars.json", "{\"word\": 1, \"other\": 2}", "[\"exported\",\"word\",\"other\"]"},
		{"more.tfvars", "word = \"a\"\n", "[\"exported\"]"},
		{"main.tf", "word", "[\"exported\"]"},
	};
	struct variable variables[] = {{.key = "word"}, {.key = "other"}, {.key = "TF_VAR_exported", .env = true}};
	const struct assignment assignment = {.variables = variables, .variable_count = ARRAY_LEN(variables)};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct bytes bytes = {rows[i].text, strlen(rows[i].text)};
		char path[] = "/tmp/runyard-values.XXXXXX";
		json_auto_t *names = json_object();
		_cleanup_(freep) char *text = NULL;
		struct err err = ERR_INIT;
		int folder;

		assert_non_null(mkdtemp(path));
		folder = open(path, O_RDONLY | O_DIRECTORY);
		assert_int_equal(beneath_write(folder, rows[i].file, 0600, bytes, &err), 0);
		folder_find_weaker(folder, &assignment, names);
		assert_int_equal(unlinkat(folder, rows[i].file, 0), 0);
		assert_int_equal(close(folder) | rmdir(path), 0);
		text = names_text(names);
		assert_string_equal(text, rows[i].names);
	}
}

static void versions_of_engines_with_ephemeral_variables(void **state)
{
	static const struct {
		bool tofu;
		const char *version;
		bool has;
	} rows[] = {{false, "1.9.8", false}, {false, "1.10.0", true}, {false, "1.11.4", true}, {false, "2.0.0", true},
		{true, "1.10.10", false}, {true, "1.11.0", true}, {true, "1.12.6", true}, {false, "0.15.5", false}};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct version version;

		assert_int_equal(version_parse(rows[i].version, &version), 0);
		if (engine_has_ephemeral(rows[i].tofu, &version) != rows[i].has)
			fail_msg("%s", rows[i].version);
	}
}

static void files_that_set_a_backend_are_found(void **state)
{
	static const struct {
		enum config_syntax syntax;
		const char *text;
		bool sets;
	} rows[] = {
		{CONFIG_NATIVE, "terraform {\n  backend \"s3\" {\n    bucket = \"x\"\n  }\n}\n", true},
		{CONFIG_NATIVE, "locals {}\nterraform {\n  a = 1\n  cloud {\n  }\n}\n", true},
		{CONFIG_NATIVE, "terraform {\n  required_version = \"1\"\n}\nbackend \"x\" {}\n", false},
		{CONFIG_NATIVE, "terraform {}\n", false},
		{CONFIG_NATIVE, "terraform {", false},
		{CONFIG_JSON, "{\"terraform\":{\"\\u0062ackend\":{\"http\":{}}}}", true},
		{CONFIG_JSON, "[{\"terraform\":[{},{\"cloud\":{}}]}]", true},
		{CONFIG_JSON, "{\"terraform\":{}}", false},
		{CONFIG_NONE, "terraform {\n  cloud {}\n}\n", false},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (text_sets_backend(rows[i].syntax, rows[i].text, strlen(rows[i].text)) != rows[i].sets)
			fail_msg("%s", rows[i].text);
	assert_true(config_is_override("override.tf") && config_is_override("zzz_override.tofu.json"));
	assert_true(config_is_override("a_override.tf.json") && config_is_override("a_override.tofu"));
	assert_false(config_is_override("xoverride.tf") || config_is_override("_override") ||
		config_is_override(".tf") || config_is_override(".."));
}

/* ---- versions ---- */

static bool fits(const char *version_text, const char *constraint)
{
	struct version version;

	assert_int_equal(version_parse(version_text, &version), 0);
	return version_fits(&version, constraint, NULL);
}

static void constraints_follow_terraforms_rules(void **state)
{
	(void)state;
	assert_true(fits("1.11.4", "") && fits("1.11.4", "latest") && fits("1.11.4", "1.11.4"));
	assert_true(fits("1.11.4", "~> 1.11.0") && fits("1.11.4", "~>1.9") && fits("1.11.4", ">= 1.0, < 2.0.0"));
	assert_false(fits("1.12.0", "~> 1.11.0") || fits("2.0.0", "~> 1.9") || fits("1.11.3", "~> 1.11.4"));
	assert_false(fits("1.11.4", "1.11.5") || fits("1.11.4", "!= 1.11.4") || fits("1.12.0-rc1", ">= 1.12.0"));
	assert_false(fits("1.11.4", "invalid") || fits("1.11.4", "~> 1") || fits("1.11.4", "1.11.4,"));
}

static void an_exact_version_is_safe_in_a_path(void **state)
{
	static const char *const exact[] = {"1.11.0", "v1.11.0-rc1", "= 1.11.0", "=1.11.0", "1.11.0+ent"};
	static const char *const other[] = {"~> 1.11.0", ">= 1.11.0", "!= 1.11.0", "1.11", "latest", "",
		"1.11.0, 1.11.0", "1.11.0-../../x", "1.11.0-a b", "1.11.0-%2f",
		"1.11.0-0123456789012345678901234567890123456789012345"};
	struct version version;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(exact); i++) {
		assert_int_equal(version_exact(exact[i], &version), 0);
		assert_int_equal(version.part[1], 11);
	}
	for (size_t i = 0; i < ARRAY_LEN(other); i++)
		assert_int_equal(version_exact(other[i], &version), -1);
}

static void engines_are_identified_by_their_version_output(void **state)
{
	struct version version;
	const char *program;

	(void)state;
	assert_int_equal(engine_version_read("Terraform v1.11.4\non linux_amd64\n", &version, &program), 0);
	assert_string_equal(version.text, "1.11.4");
	assert_string_equal(program, "terraform");
	assert_int_equal(engine_version_read("OpenTofu v1.10.10\n", &version, &program), 0);
	assert_string_equal(program, "tofu");
	assert_int_equal(engine_version_read("Version: 1.4.2\nBuild Commit: \n", &version, &program), 0);
	assert_string_equal(version.text, "1.4.2");
	assert_string_equal(program, "opa");
	assert_int_equal(engine_version_read("GNU bash, version 5", &version, &program), -1);
}

static void credentials_and_services_are_set_for_the_apis_host(void **state)
{
	static const struct {
		const char *url, *token, *expected;
	} cases[] = {
		{"https://runyard.example.com", "t\"",
			"credentials \"runyard.example.com\" {\n  token = \"t\\\"\"\n}\n"},
		{"https://example.com:8443/below", "t", "credentials \"example.com:8443\" {\n  token = \"t\"\n}\n"},
		{"http://127.0.0.1:80", "t",
			"credentials \"127.0.0.1:80\" {\n  token = \"t\"\n}\nhost \"127.0.0.1:80\" {\n  services = {\n"
			"    \"state.v2\" = \"http://127.0.0.1:80/api/v2/\"\n    \"tfe.v2\" = "
			"\"http://127.0.0.1:80/api/v2/\"\n"
			"    \"tfe.v2.1\" = \"http://127.0.0.1:80/api/v2/\"\n    \"tfe.v2.2\" = "
			"\"http://127.0.0.1:80/api/v2/\"\n"
			"    \"modules.v1\" = \"http://127.0.0.1:80/api/registry/v1/modules/\"\n"
			"    \"providers.v1\" = \"http://127.0.0.1:80/api/registry/v1/providers/\"\n  }\n}\n"},
		{"https://runyard.example.com", "", ""},
		{"", "t", ""},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct assignment assignment = {.api_url = cases[i].url, .run_token = cases[i].token};
		_cleanup_(buf_release) struct buf out = BUF_INIT(4096);

		assert_int_equal(access_cli_config(&assignment, &out), 0);
		assert_string_equal(buf_str(&out), cases[i].expected);
	}
}

static void hosts_and_mirrors_of_the_api_are_used_if_engines_accept_them(void **state)
{
	static const struct {
		const char *url, *host, *mirror;
	} cases[] = {
		{"https://runyard.example.com", "runyard.example.com",
			"https://runyard.example.com/api/registry/v1/mirror/"},
		{"https://example.com:8443", "example.com:8443", "https://example.com:8443/api/registry/v1/mirror/"},
		{"http://127.0.0.1:80", "127.0.0.1:80", NULL},
		{"http://under_score:80", NULL, NULL},
		{"http://[::1]:80", NULL, NULL},
		{"http://-a", NULL, NULL},
		{"http://a..b", NULL, NULL},
		{"http://a:99999", NULL, NULL},
		{"", NULL, NULL},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct assignment assignment = {.api_url = cases[i].url, .has_mirror = true};
		const struct assignment without = {.api_url = cases[i].url};
		_cleanup_(freep) char *host = access_host(&assignment), *mirror = access_mirror(&assignment);

		assert_string_equal(text_or_empty(host), text_or_empty(cases[i].host));
		assert_string_equal(text_or_empty(mirror), text_or_empty(cases[i].mirror));
		assert_null(access_mirror(&without));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_and_mirrors_of_the_api_are_used_if_engines_accept_them),
		cmocka_unit_test(a_job_is_parsed),
		cmocka_unit_test(invalid_ids_are_refused),
		cmocka_unit_test(a_job_with_invalid_settings_keeps_its_id),
		cmocka_unit_test(contents_of_a_claim_are_taken_once),
		cmocka_unit_test(values_are_quoted_and_the_last_one_is_used),
		cmocka_unit_test(quoted_texts_are_not_interpreted),
		cmocka_unit_test(reserved_variables_can_not_be_set),
		cmocka_unit_test(an_environment_has_each_name_once),
		cmocka_unit_test(a_plan_has_the_runs_options),
		cmocka_unit_test(the_state_is_outside_of_the_configuration),
		cmocka_unit_test(the_engine_gets_the_name_of_the_workspace),
		cmocka_unit_test(module_calls_are_found_by_parsing),
		cmocka_unit_test(git_uses_only_explicit_repositories),
		cmocka_unit_test(other_backends_are_detected),
		cmocka_unit_test(ephemeral_variables_are_found),
		cmocka_unit_test(the_last_value_of_an_ephemeral_variable_is_used),
		cmocka_unit_test(variables_with_weaker_values_are_found),
		cmocka_unit_test(versions_of_engines_with_ephemeral_variables),
		cmocka_unit_test(files_that_set_a_backend_are_found),
		cmocka_unit_test(constraints_follow_terraforms_rules),
		cmocka_unit_test(an_exact_version_is_safe_in_a_path),
		cmocka_unit_test(engines_are_identified_by_their_version_output),
		cmocka_unit_test(credentials_and_services_are_set_for_the_apis_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
