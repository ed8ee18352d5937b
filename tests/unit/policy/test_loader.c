/* SPDX-License-Identifier: MPL-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "common/base.h"
#include "common/buf.h"
#include "policy/configuration/loader.h"

/* Policies in a folder of this test's own, with their configuration. */

static char folder[] = "/tmp/runyard-test-loader.XXXXXX";

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "we");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

struct load {
	const char *config; /* the configuration's path; NULL: none */
	struct load_settings settings;
	const struct value *params;
	struct run run;
	struct outcome outcome;
	char shown[1200]; /* the verdict, or the error as "FILE:LINE:COLUMN: message" */
};

static void load_and_evaluate(struct run *run, void *data)
{
	const struct reader reader = {.subject = "test"};
	struct load *load = data;
	struct configuration *configuration;
	struct policy_file policy = {.name = "p.sentinel", .params = load->params};
	struct policy_entry *entry;
	struct unit *unit;

	run->loading = true;
	configuration = load->config
		? configuration_read(run, &load->settings.files, (const char *const[]){load->config, NULL}, &reader)
		: configuration_empty(run, "");
	entry = configuration_policy(configuration, "p");
	if (entry)
		policy.params = &entry->params;
	policy.file = file_read(run, &load->settings.files, policy.name, &reader);
	unit = loader_load(run, &load->settings, configuration, &policy);
	run->loading = false;
	unit_evaluate(run, unit, &load->outcome);
}

static void show_failure(struct load *load)
{
	const struct failure *failure = &load->run.failure;
	unsigned line, column;

	place_position(failure->place, &line, &column);
	snprintf(load->shown, sizeof(load->shown), "%s:%u:%u: %s",
		failure->place.source ? failure->place.source->name : "", line, column, failure->message);
}

static void assert_loaded(struct load *load, const char *wanted)
{
	static const char *const verdicts[] = {"pass", "fail", "undefined"};

	if (!load->settings.files.root_path)
		load->settings.files.root = -1;
	run_init(&load->run, &run_limits_default);
	if (run_protected(&load->run, load_and_evaluate, load) < 0)
		show_failure(load);
	else
		text_copy(load->shown, sizeof(load->shown), verdicts[load->outcome.verdict]);
	run_release(&load->run);
	assert_string_equal(load->shown, wanted);
}

/* Writes the policy and its configuration, and evaluates it. */
static void assert_policy(const char *policy, const char *config, const char *wanted)
{
	struct load load = {.config = "c.hcl"};

	write_file("p.sentinel", policy);
	write_file("c.hcl", config);
	assert_loaded(&load, wanted);
}

/* ---- imports ---- */

static void test_imports_have_an_order(void **state)
{
	(void)state;
	write_file("real.sentinel", "x = 1\n");
	write_file("mocked.sentinel", "x = 2\n");
	assert_policy(
		"import \"m\"\nmain = m.x is 1", "import \"module\" \"m\" { source = \"real.sentinel\" }", "pass");
	assert_policy("import \"m\"\nmain = m.x is 2",
		"import \"module\" \"m\" { source = \"real.sentinel\" }\n"
		"mock \"m\" {\n module {\n source = \"mocked.sentinel\"\n}\n}",
		"pass");
	assert_policy("import \"m\"\nmain = m.x is 1", "module \"m\" { source = \"./real.sentinel\" }", "pass");
	assert_policy("import \"strings\"\nmain = strings.x is 3", "mock \"strings\" { data = { x = 3 } }", "pass");
	assert_policy("import \"strings\"\nmain = true", "module \"strings\" { source = \"real.sentinel\" }",
		"c.hcl:1:1: module \"strings\": \"strings\" is the name of a standard import");
	assert_policy("import \"odd\"\nmain = true", "", "p.sentinel:1:8: import \"odd\" is not known");
}

static void test_a_module_is_loaded_once(void **state)
{
	(void)state;
	write_file("count.sentinel", "l = []\nadd = func() {\n append(l, 1)\n return length(l)\n}\n");
	write_file("user.sentinel", "import \"count\" as c\nadded = c.add()\n");
	assert_policy("import \"count\" as a\nimport \"user\" as u\nmain = a.add() is 2 and u.added is 1",
		"module \"count\" { source = \"count.sentinel\" }\nmodule \"user\" { source = \"user.sentinel\" }",
		"pass");
}

static void test_modules_see_mocks(void **state)
{
	(void)state;
	write_file("user.sentinel", "import \"data\"\nx = data.x\n");
	assert_policy("import \"user\" as u\nmain = u.x is 5",
		"module \"user\" { source = \"user.sentinel\" }\nmock \"data\" { data = { x = 5 } }", "pass");
}

static void test_a_circle_is_named(void **state)
{
	(void)state;
	write_file("a.sentinel", "import \"b\"\n");
	write_file("b.sentinel", "import \"c\"\n");
	write_file("c.sentinel", "\nimport \"a\"\n");
	write_file("self.sentinel", "import \"self\"\n");
	assert_policy("import \"a\"\nmain = true",
		"module \"a\" { source = \"a.sentinel\" }\nmodule \"b\" { source = \"b.sentinel\" }\n"
		"module \"c\" { source = \"c.sentinel\" }",
		"c.sentinel:2:8: a circle of imports: \"a\" imports \"b\", which imports \"c\", which imports \"a\"");
	assert_policy("import \"self\" as s\nmain = true", "module \"self\" { source = \"self.sentinel\" }",
		"self.sentinel:1:8: a circle of imports: \"self\" imports \"self\"");
}

/* A chain of `count` modules, each of which imports the next. */
static void write_chain(unsigned count)
{
	char config[16384] = "";
	size_t len = 0;

	for (unsigned i = 0; i < count; i++) {
		char name[32], text[64] = "x = 1";

		snprintf(name, sizeof(name), "m%u.sentinel", i);
		if (i + 1 < count)
			snprintf(text, sizeof(text), "import \"m%u\" as m\n", i + 1);
		write_file(name, text);
		len += (size_t)snprintf(
			config + len, sizeof(config) - len, "module \"m%u\" { source = \"%s\" }\n", i, name);
	}
	write_file("c.hcl", config);
	write_file("p.sentinel", "import \"m0\" as m\nmain = true");
}

static void test_the_depth_of_imports_has_a_limit(void **state)
{
	struct load load = {.config = "c.hcl"};

	(void)state;
	write_chain(64);
	assert_loaded(&load, "pass");
	write_chain(65);
	assert_loaded(&load, "m63.sentinel:1:8: the limit of imports of imports, 64, is reached");
}

static void test_the_number_of_modules_has_a_limit(void **state)
{
	_cleanup_(buf_release) struct buf policy = BUF_INIT(1 << 20), config = BUF_INIT(1 << 20);

	(void)state;
	write_file("empty.sentinel", "");
	for (unsigned i = 0; i <= MAX_MODULES; i++) {
		buf_printf(&policy, "import \"m%u\"\n", i);
		buf_printf(&config, "module \"m%u\" { source = \"empty.sentinel\" }\n", i);
	}
	buf_text(&policy, "main = true\n");
	assert_policy(buf_str(&policy), buf_str(&config),
		"p.sentinel:1001:8: the limit of modules and mocks, 1000, is reached");
}

static void test_static_data(void **state)
{
	static const char config[] = "import \"static\" \"people\" {\n source = \"people.json\"\n format = \"json\"\n}";

	(void)state;
	write_file("people.json", "{\"dogs\": [\"a\", \"b\"], \"n\": null}");
	assert_policy("import \"people\" as p\nmain = p.n is null and length(keys(p)) is 2", config, "pass");
	assert_policy("import \"people/dogs\" as d\nmain = filter d as x { x is \"b\" } is [\"b\"]", config, "pass");
	assert_policy(
		"import \"people/cats\" as c\nmain = true", config, "p.sentinel:1:8: the static data has no \"cats\"");
	assert_policy("import \"people\" as p\nmain = true",
		"import \"static\" \"people\" {\n source = \"people.json\"\n format = \"yaml\"\n}",
		"c.hcl:1:1: static \"people\": the format \"yaml\" is not known, only json");
}

static void test_plugins_configure_imports_alone(void **state)
{
	(void)state;
	assert_policy("import \"time\"\nmain = time.now.zone is 32400",
		"import \"plugin\" \"time\" {\n config = { timezone = \"Asia/Tokyo\" }\n}", "pass");
	assert_policy("import \"x\"\nmain = true", "import \"plugin\" \"x\" { source = \"./program\" }",
		"c.hcl:1:1: plugin \"x\": the source ./program is a program, and programs of imports are not "
		"supported");
	assert_policy("main = true", "import \"plugin\" \"x\" { source = \"./program\" }", "pass");
	assert_policy("import \"x\"\nmain = true", "import \"plugin\" \"x\" {}",
		"c.hcl:1:1: plugin \"x\": there is no import of that name to configure");
}

/* ---- parameters and globals ---- */

static void test_parameters_have_an_order(void **state)
{
	static struct setting flag = {.name = "x", .text = "[4]", .literal = true};
	struct load load = {.config = "c.hcl"};

	(void)state;
	assert_policy("param x default 1\nmain = x is 1", "", "pass");
	assert_policy("param x default 1\nmain = x is 2", "param \"x\" { value = 2 }", "pass");
	assert_policy("param x default 1\nmain = x is 3",
		"param \"x\" { value = 2 }\npolicy \"p\" { params = { x = 3 } }", "pass");
	load.settings.params = &flag;
	write_file("p.sentinel", "param x default 1\nmain = x is [4]");
	assert_loaded(&load, "pass");
	assert_policy(
		"\nparam x\nmain = x is 1", "", "p.sentinel:2:7: the parameter \"x\" has no value and no default");
}

static void test_globals_are_variables_of_all_files(void **state)
{
	(void)state;
	write_file("user.sentinel", "x = func() { return g }\n");
	assert_policy("import \"user\" as u\nmain = g is 7 and u.x() is 7",
		"global \"g\" { value = 7 }\nmodule \"user\" { source = \"user.sentinel\" }", "pass");
}

/* ---- configurations ---- */

static void test_wrong_configurations(void **state)
{
	static const struct {
		const char *config, *wanted;
	} rows[] = {
		{"x = 1", "c.hcl:1:1: the attribute \"x\" stands outside of blocks"},
		{"odd {}", "c.hcl:1:1: the block \"odd\" is not known"},
		{"policy {}", "c.hcl:1:1: the block \"policy\" has 0 labels, it needs 1"},
		{"policy \"a\" {\n  sauce = 1\n}", "c.hcl:2:3: policy \"a\" has no attribute \"sauce\""},
		{"policy \"a\" { source = 1 }", "c.hcl:1:1: policy \"a\": \"source\" is no string"},
		{"policy \"a\" { params = [] }", "c.hcl:1:1: policy \"a\": \"params\" is no object"},
		{"policy \"a\" {}\npolicy \"a\" {}", "c.hcl:2:1: policy \"a\" is given twice"},
		{"policy \"a\" { enforcement_level = \"x\" }",
			"c.hcl:1:1: policy \"a\": the enforcement level \"x\" is not advisory, soft-mandatory or "
			"hard-mandatory"},
		{"import \"module\" \"a\" {}", "c.hcl:1:1: module \"a\" has no \"source\""},
		{"import \"odd\" \"a\" {}",
			"c.hcl:1:1: import \"odd\" \"a\": the kind is not module, static or plugin"},
		{"mock \"a\" {}", "c.hcl:1:1: mock \"a\" has neither \"data\" nor a block \"module\""},
		{"param \"a\" {}", "c.hcl:1:1: param \"a\" has no \"value\""},
		{"param \"a\" { value = b }",
			"c.hcl:1:21: an expression is not possible in a configuration, only a literal value"},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_policy("main = true", rows[i].config, rows[i].wanted);
}

/* ---- files ---- */

static void test_sources_stay_below_the_root(void **state)
{
	struct load load = {.config = "c.hcl"};

	(void)state;
	mkdir("root", 0755);
	mkdir("root/set", 0755);
	write_file("outside.sentinel", "x = 1\n");
	write_file("root/above.sentinel", "x = 1\n");
	assert_true(symlink("../../outside.sentinel", "root/set/link.sentinel") == 0);
	assert_int_equal(chdir("root/set"), 0);
	assert_int_equal(chdir(".."), 0);
	write_file("p.sentinel", "import \"m\"\nmain = m.x is 1");
	assert_int_equal(files_open(&load.settings.files, "."), 0);
	write_file("c.hcl", "module \"m\" { source = \"set/../above.sentinel\" }");
	assert_loaded(&load, "pass");
	write_file("c.hcl", "module \"m\" { source = \"../outside.sentinel\" }");
	assert_loaded(&load, "c.hcl:1:1: module \"m\": ../outside.sentinel is outside of the root (-root)");
	write_file("c.hcl", "module \"m\" { source = \"set/link.sentinel\" }");
	assert_loaded(
		&load, "c.hcl:1:1: module \"m\": set/link.sentinel is a symbolic link or in one, which -root refuses");
	files_close(&load.settings.files);
	assert_int_equal(chdir(".."), 0);
}

static void test_refused_sources(void **state)
{
	static const struct {
		const char *source, *wanted;
	} rows[] = {
		{"https://example.com/x", "the source https://example.com/x is remote, which is not supported"},
		{"git::ssh://x", "the source git::ssh://x is remote, which is not supported"},
		{"git@example.com:x", "the source git@example.com:x is remote, which is not supported"},
		{"/etc/passwd", "the source /etc/passwd is an absolute path, which is refused"},
		{"", "the source is empty"},
		{"./none.sentinel", "none.sentinel does not exist"},
		{"root", "root is no file"},
		{"real.sentinel?checksum=crc:1", "the checksum crc:1 is not md5, sha1, sha256 or sha512:HEX"},
		{"real.sentinel?checksum=md5:00",
			"the file's checksum is md5:3253b41059cac6e987c5a5e9233ea5d0, not md5:00"},
	};

	(void)state;
	mkdir("root", 0755);
	write_file("real.sentinel", "x = 1\n");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		_cleanup_(freep) char *config = mem_printf("module \"m\" { source = \"%s\" }", rows[i].source);
		_cleanup_(freep) char *wanted = mem_printf("c.hcl:1:1: module \"m\": %s", rows[i].wanted);

		assert_policy("import \"m\"\nmain = true", config, wanted);
		assert_policy("main = true", config, "pass");
	}
}

static void test_a_correct_checksum_is_accepted(void **state)
{
	(void)state;
	write_file("empty.sentinel", "");
	assert_policy("import \"m\"\nmain = true",
		"module \"m\" { source = \"empty.sentinel?checksum=sha256:"
		"E3B0C44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\" }",
		"pass");
	assert_policy("import \"m\"\nmain = true",
		"module \"m\" { source = \"empty.sentinel?checksum=sha1:da39a3ee5e6b4b0d3255bfef95601890afd80709\" }",
		"pass");
}

static void show_join(struct run *run, void *data)
{
	static const struct {
		const char *folder, *path, *wanted;
	} rows[] = {
		{"", "a", "a"},
		{"a/b", "./c", "a/b/c"},
		{"a/b", "../c", "a/c"},
		{"a", "../../c", "../c"},
		{"", "../../c", "../../c"},
		{"/a", "../c", "/c"},
		{"a//b/", "c/", "a/b/c"},
		{"", ".", ""},
		{"..", "../a/../b", "../../b"},
	};

	(void)data;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(files_join(run, rows[i].folder, rows[i].path), rows[i].wanted) != 0)
			run_fail(run, "%s and %s give %s", rows[i].folder, rows[i].path,
				files_join(run, rows[i].folder, rows[i].path));
}

static void test_paths_are_joined(void **state)
{
	struct run run;

	(void)state;
	run_init(&run, &run_limits_default);
	if (run_protected(&run, show_join, NULL) < 0)
		fail_msg("%s", run.failure.message);
	run_release(&run);
}

/* ---- the folder ---- */

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
	_cleanup_(freep) char *command = mem_printf("rm -rf %s", folder);

	(void)state;
	return chdir("/") == 0 ? system(command) : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_imports_have_an_order),
		cmocka_unit_test(test_a_module_is_loaded_once),
		cmocka_unit_test(test_modules_see_mocks),
		cmocka_unit_test(test_a_circle_is_named),
		cmocka_unit_test(test_the_depth_of_imports_has_a_limit),
		cmocka_unit_test(test_the_number_of_modules_has_a_limit),
		cmocka_unit_test(test_static_data),
		cmocka_unit_test(test_plugins_configure_imports_alone),
		cmocka_unit_test(test_parameters_have_an_order),
		cmocka_unit_test(test_globals_are_variables_of_all_files),
		cmocka_unit_test(test_wrong_configurations),
		cmocka_unit_test(test_sources_stay_below_the_root),
		cmocka_unit_test(test_refused_sources),
		cmocka_unit_test(test_a_correct_checksum_is_accepted),
		cmocka_unit_test(test_paths_are_joined),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
