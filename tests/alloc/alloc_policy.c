/* SPDX-License-Identifier: MPL-2.0 */
/*
 * Commands of runyard-policy without memory. One that fails must not pass, whichever allocation failed: it ends with a
 * message, or has its usual result. One that passes may also end with a message.
 */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base.h"
#include "tests/alloc/alloc.h"
#include "policy/command/command.h"

struct example {
	enum command_bit command;
	const char *args[8]; /* behind the command */
	int code;            /* with enough memory */
	const char *name;    /* and of the folder in which it runs */
	const char *files[8][2];
};

static void write_file(const char *name, const char *text)
{
	FILE *file = fopen(name, "w");

	HOLDS(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static const struct example *current;

static void prepare(void)
{
	char folder[64] = "";

	HOLDS(dup2(memfd_create("stdout", MFD_CLOEXEC), STDOUT_FILENO) >= 0);
	mkdir(current->name, 0700);
	HOLDS(chdir(current->name) == 0);
	for (size_t i = 0; current->files[i][0]; i++) {
		text_copy(folder, sizeof(folder), current->files[i][0]);
		for (char *slash = folder; (slash = strchr(slash, '/')); *slash++ = '/') {
			*slash = '\0';
			mkdir(folder, 0700);
		}
		write_file(current->files[i][0], current->files[i][1]);
	}
}

/* The output of a command that passes must not show an error. */
static bool shows_errors(void)
{
	static char shown[64 << 10];
	ssize_t len = pread(STDOUT_FILENO, shown, sizeof(shown) - 1, 0);

	HOLDS(len >= 0);
	shown[len] = '\0';
	return strstr(shown, "ERROR") || strstr(shown, "can't be written");
}

static void check_code(int code)
{
	HOLDS(code != 0 || !shows_errors());
	if (code == current->code || (code == 1 && current->command == TEST && shows_errors()))
		return;
	HOLDS(code != 0 && code != 1 && code != 2);
	HOLDS(lseek(STDERR_FILENO, 0, SEEK_CUR) > 0);
}

static void run_example(const struct example *example)
{
	static int (*const commands[])(const struct options *) = {[EVAL] = command_eval, [TEST] = command_test};
	struct options options;
	int code = 9;

	current = example;
	alloc_prepare(prepare);
	if (options_parse(&options, example->command, (char **)(uintptr_t)example->args, (char *[]){NULL}))
		code = commands[example->command](&options);
	options_release(&options);
	alloc_faults_end();
	check_code(code);
}

/* ---- the examples ---- */

#define EXAMPLE(id, ...)                                                                                               \
	static void run_##id(void)                                                                                     \
	{                                                                                                              \
		static const struct example example = {.name = #id, __VA_ARGS__};                                      \
		run_example(&example);                                                                                 \
	}

EXAMPLE(passing, .command = EVAL, .args = {"-trace", "passing.sentinel"}, .code = 0,
	.files = {{"passing.sentinel",
		"# A description.\n"
		"l = []\n"
		"for range(2000) as i { append(l, {\"k\": [string(i)]}) }\n"
		"print(l)\n"
		"main = rule { length(l) is 2000 }\n"}})

EXAMPLE(language, .command = EVAL, .args = {"-json", "language.sentinel"}, .code = 1,
	.files = {{"language.sentinel",
		"s = \"\"\n"
		"for range(3000) as i { s += \"0123456789\" }\n"
		"f = func(x) { return func(y) { return {\"sum\": x + y, s: [x, y]} } }\n"
		"l = map range(500) as i { f(i)(1).sum }\n"
		"even = filter l as i, v { v % 2 is 0 }\n"
		"m = {}\n"
		"for l as i, v { m[string(i)] = l + even }\n"
		"inner = rule when all even as v { v > 0 } { any l as v { v is 7 } }\n"
		"print(even, keys(m))\n"
		"main = rule { inner and length(s[1:]) is 30000 }\n"}})

EXAMPLE(strings, .command = EVAL, .args = {"strings.sentinel"}, .code = 1,
	.files = {{"strings.sentinel",
		"import \"strings\"\n"
		"parts = strings.split(strings.replace(\"a,b,c\", \"b\", \"x\"), \",\")\n"
		"main = strings.join(parts, \"\") is not \"axc\" or\n"
		"\tstrings.to_lower(\"\\u00c4\") is \"\\u00c4\"\n"}})

EXAMPLE(regex, .command = EVAL, .args = {"regex.sentinel"}, .code = 1,
	.files = {{"regex.sentinel",
		"main = \"a-prod-1\" not matches \"^(?<a>[a-z]+)-(\\\\pL{1,9}|x)*-\\\\d+$\" or\n"
		"\t\"\\xff1234567890\" not matches \"^.(1|12|3|34|4)+[^b]+0$\" or\n"
		"\t\"abc\" matches \"(a|b|ab)*[^c]$\"\n"}})

EXAMPLE(decimals, .command = EVAL, .args = {"decimals.sentinel"}, .code = 1,
	.files = {{"decimals.sentinel",
		"import \"decimal\"\n"
		"d = decimal.new(\"1.1\").power(\"2.5\").add(\"1e-30\").sqrt().exp().div(3)\n"
		"main = d.int is 0 and d.string is \"1\"\n"}})

/* An hour later in that zone. */
EXAMPLE(time, .command = EVAL, .args = {"-config=time.hcl", "time.sentinel"}, .code = 1,
	.files = {{"time.hcl", "import \"plugin\" \"time\" { config = { timezone = \"Europe/Berlin\" } }\n"},
		{"time.sentinel", "import \"time\"\nmain = time.load(0).hour is 0\n"}})

EXAMPLE(json, .command = EVAL, .args = {"json.sentinel"}, .code = 1,
	.files = {{"json.sentinel",
		"import \"json\"\nimport \"collection/maps\"\nimport \"collection/lists\"\nimport \"base64\"\n"
		"v = json.unmarshal(\"{\\\"a\\\": [1, 2.5, \\\"\\\\u00e9\\\"], \\\"b\\\": {\\\"c\\\": null}}\")\n"
		"w = maps.set(maps.omit(v, [\"b\"]), \"x.y\", lists.sort([3, 1, 2], func(a, b) { return a < b }))\n"
		"main = json.marshal(w) is base64.decode(base64.encode(\"none\"))\n"}})

EXAMPLE(plan, .command = EVAL, .args = {"-trace", "-plan=plan.json", "-tfrun=run.json", "plan.sentinel"}, .code = 1,
	.files = {{"plan.json",
			  "{\"format_version\": \"1.2\", \"terraform_version\": \"1.9.0\","
			  "\"resource_changes\": [{\"address\": \"a.b\", \"type\": \"a\", \"name\": \"b\", "
			  "\"mode\": \"managed\", \"change\": {\"actions\": [\"create\"], \"before\": null, "
			  "\"after\": {\"x\": [1, {\"y\": \"z\"}]}, \"after_unknown\": {\"id\": true}}}],"
			  "\"configuration\": {\"root_module\": {\"resources\": [{\"address\": \"a.b\", "
			  "\"expressions\": {\"x\": {\"constant_value\": 1}}}]}}}"},
		{"run.json", "{\"workspace\": {\"name\": \"w\", \"tags\": [\"t\"]}, \"variables\": {}}"},
		{"plan.sentinel",
			"import \"tfplan/v2\" as tfplan\nimport \"tfconfig/v2\" as tfconfig\n"
			"import \"tfstate/v2\" as tfstate\nimport \"tfrun\"\n"
			"changes = filter tfplan.resource_changes as _, c { c.change.actions contains \"create\" }\n"
			"changes[\"a.b\"].change.after.x[1].y = 2\n"
			"print(tfconfig.resources, tfstate.resources, tfrun.workspace, changes)\n"
			"main = rule { length(changes) is 0 or tfrun.workspace.name is not \"w\" }\n"}})

#define CONFIGURATION                                                                                                  \
	"policy \"one\" {\n\tsource = \"one.sentinel\"\n\tenforcement_level = \"hard-mandatory\"\n"                    \
	"\tparams = { limit = 3 }\n}\n"                                                                                \
	"policy \"two\" {\n\tsource = \"two.sentinel?checksum=sha256:"                                                 \
	"b3bea5ba0ba5e8c41df6cbe1d3bb54d6386d7f3ab42a6f7d1dc1d0dbc1be4e4c\"\n}\n"                                      \
	"import \"module\" \"lib\" { source = \"modules/lib.sentinel\" }\n"                                            \
	"import \"static\" \"people\" {\n\tsource = \"people.json\"\n\tformat = \"json\"\n}\n"                         \
	"mock \"tfrun\" { data = { speculative = true, list = [1, \"a\", null] } }\n"                                  \
	"param \"limit\" { value = 1 }\n"                                                                              \
	"global \"origin\" { value = <<EOT\ntext\nEOT\n}\n"

EXAMPLE(configuration, .command = EVAL,
	.args = {"-config=set.hcl", "-root=.", "-policy=one", "-param=name=[\"a\", 1]", "-trace"}, .code = 1,
	.files = {{"set.hcl", CONFIGURATION}, {"two.sentinel", "main = true\n"},
		{"people.json", "{\"dogs\": [{\"name\": \"Rex\"}]}"},
		{"modules/lib.sentinel",
			"import \"strings\"\nseen = []\n"
			"count = func(x) {\n\tappend(seen, strings.to_lower(x))\n\treturn length(seen)\n}\n"},
		{"one.sentinel",
			"import \"lib\"\nimport \"people/dogs\"\nimport \"tfrun\"\n"
			"param limit\nparam name default []\n"
			"n = map dogs as d { lib.count(d.name) }\n"
			"dogs[0].name = origin\nprint(n, lib.seen, tfrun.list, name)\n"
			"main = rule { tfrun.speculative and n[0] is 1 and limit is 2 }\n"}})

/* The checksum of the second one is wrong. */
EXAMPLE(all_policies, .command = EVAL, .args = {"-config=all.hcl", "-root=."}, .code = 9,
	.files = {{"all.hcl", CONFIGURATION}, {"one.sentinel", "param limit\nmain = true\n"},
		{"two.sentinel", "main = true\n"}})

/* The override makes the policy fail. */
EXAMPLE(folder, .command = EVAL, .args = {"-json"}, .code = 1,
	.files = {{"a.hcl", "policy \"p\" { params = { x = 1 } }\n"},
		{"b.hcl", "import \"module\" \"m\" { source = \"m.sentinel\" }\n"}, {"m.sentinel", "one = 1\n"},
		{"override.hcl", "policy \"p\" { params = { x = 2 } }\n"},
		{"p.sentinel", "import \"m\"\nparam x\nmain = rule { x is m.one and m.two is not 3 }\n"}})

EXAMPLE(tests, .command = TEST, .args = {"-maxConcurrency=1", "-run=.*", "folder"}, .code = 1,
	.files = {{"folder/p.sentinel", "param x default 1\nmain = rule { x is 1 }\n"},
		{"folder/test/p/fails.hcl", "param \"x\" { value = 2 }\ntest { rules = { main = true } }\n"},
		{"folder/test/p/passes.hcl", "test { rules = { main = true } }\n"}})

EXAMPLE(passing_tests, .command = TEST, .args = {"-maxConcurrency=1", "passing"}, .code = 0,
	.files = {{"passing/p.sentinel", "main = true\n"}, {"passing/test/p/passes.hcl", ""}})

EXAMPLE(tests_as_json, .command = TEST, .args = {"-json", "-maxConcurrency=1", "json"}, .code = 1,
	.files = {{"json/p.sentinel", "main = false\n"}, {"json/test/p/c.json", "{\"test\": {\"main\": true}}"}})

/* Threads and streams of the C library, RE2's own and the digests are all that allocates besides the program. */
#define LIBRARIES "program libstdc++ libre2 libc libcrypto"

const struct alloc_case alloc_cases[] = {
	{.name = "passing", .libraries = LIBRARIES, .run = run_passing},
	{.name = "language", .libraries = LIBRARIES, .run = run_language},
	{.name = "strings", .libraries = LIBRARIES, .run = run_strings},
	{.name = "regex", .libraries = LIBRARIES, .run = run_regex},
	{.name = "decimals", .libraries = LIBRARIES, .run = run_decimals},
	{.name = "decimals_by_gmp", .libraries = "libgmp libmpfr", .run = run_decimals, .ends_itself = true},
	{.name = "time", .libraries = LIBRARIES, .run = run_time},
	{.name = "json", .libraries = LIBRARIES, .run = run_json},
	{.name = "plan", .libraries = LIBRARIES, .run = run_plan},
	{.name = "configuration", .libraries = LIBRARIES, .run = run_configuration},
	{.name = "all_policies", .libraries = LIBRARIES, .run = run_all_policies},
	{.name = "folder", .libraries = LIBRARIES, .run = run_folder},
	{.name = "tests", .libraries = LIBRARIES, .run = run_tests},
	{.name = "passing_tests", .libraries = LIBRARIES, .run = run_passing_tests},
	{.name = "tests_as_json", .libraries = LIBRARIES, .run = run_tests_as_json},
	{0},
};
