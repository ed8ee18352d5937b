/* SPDX-License-Identifier: MPL-2.0 */
/* runyard-policy: evaluates and tests Sentinel-language policies. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base.h"
#include "common/build_info.h"
#include "common/err.h"
#include "policy/http/transport.h"
#include "policy/command/command.h"
#include "policy/command/evaluation.h"

#ifdef __SANITIZE_ADDRESS__
/* The search for leaks needs ptrace, which a worker's sandbox forbids. ASAN_OPTIONS=detect_leaks=1 brings it back. The
 * exit code of a finding is none of a policy's. */
const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
	return "detect_leaks=0:exitcode=99";
}
#endif

static const struct command {
	const char *name;
	enum command_bit bit;
	int (*run)(const struct options *options);
	const char *usage, *help;
} commands[] = {
	{"eval", EVAL, command_eval, "eval [FLAGS] [POLICY]",
		"Evaluates POLICY, a file or a policy of the configuration, or all policies of the configuration."},
	{"apply", EVAL, command_eval, NULL, NULL}, /* the same as eval */
	{"test", TEST, command_test, "test [FLAGS] [PATH...]",
		"Evaluates the test cases of the policies: for X.sentinel each test/X/*.hcl and *.json."},
};

static int help(void)
{
	printf("Usage: runyard-policy COMMAND\n\nEvaluates and tests Sentinel-language policies.\n");
	for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
		if (!commands[i].usage)
			continue;
		printf("\n%s\n  %s\n", commands[i].usage, commands[i].help);
		options_help(commands[i].bit);
	}
	printf("\napply is eval. --help and --version (or version) print what they say.\n"
	       "\nExit codes: 0 passed, 1 failed, 2 undefined, 3 error of the evaluation or limit, 9 any other "
	       "error.\n");
	return output_finish(EXIT_PASSED);
}

static int version(void)
{
	printf("runyard-policy %s (revision %s)\n", build_version, build_revision);
	return output_finish(EXIT_PASSED);
}

static bool is_either(const char *word, const char *one, const char *two)
{
	return strcmp(word, one) == 0 || strcmp(word, two) == 0;
}

static bool is_help(const char *word)
{
	return is_either(word, "--help", "-help") || strcmp(word, "-h") == 0;
}

static int run_with_transport(const struct command *command, struct options *options)
{
	struct http_transport *transport = NULL;
	struct err err = ERR_INIT;
	int code;

	if (options->http_hosts && http_transport_new(options->http_hosts, &transport, &err) < 0) {
		fprintf(stderr, "-http-hosts: %s\n", err.message);
		return EXIT_OTHER;
	}
	options->http = transport;
	code = command->run(options);
	http_transport_free(transport);
	return code;
}

static int run_command(const struct command *command, char **args)
{
	struct options options;
	int code = EXIT_OTHER;

	for (char **arg = args; *arg; arg++)
		if (is_help(*arg))
			return help();
	if (options_parse(&options, command->bit, args, environ))
		code = run_with_transport(command, &options);
	options_release(&options);
	return code;
}

/* Plans and static data are mapped: a page of them can be missing when it is read. */
static void end_without_page(int number)
{
	static const char message[] = "a file became shorter, or its disk failed, while it was read\n";
	ssize_t written = write(STDERR_FILENO, message, sizeof(message) - 1);

	(void)number;
	(void)written;
	_exit(EXIT_OTHER);
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";

	signal(SIGBUS, end_without_page);
	if (is_help(name))
		return help();
	if (argc < 2) {
		help();
		return EXIT_OTHER;
	}
	if (is_either(name, "--version", "-version") || strcmp(name, "version") == 0)
		return version();
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return run_command(&commands[i], argv + 2);
	fprintf(stderr, "runyard-policy: there is no command \"%s\" (--help)\n", name);
	return EXIT_OTHER;
}
