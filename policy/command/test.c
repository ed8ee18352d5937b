/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/command/test.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base.h"
#include "common/clock.h"
#include "policy/command/command.h"
#include "policy/command/evaluation.h"

enum { MAX_THREADS = 64 };

/* ---- evaluation in threads ---- */

/* Each thread takes the next case. The results are shown when all have ended, in order. */
struct work {
	const struct options *options;
	const struct load_settings *settings;
	const struct tests *tests;
	atomic_size_t next;
};

/* The case at that place among all policies' cases, or NULL. */
static struct test_case *case_at(const struct tests *tests, size_t place, const struct test_policy **ret_policy)
{
	for (size_t i = 0; i < tests->count; i++) {
		*ret_policy = &tests->policies[i];
		if (place < tests->policies[i].case_count)
			return &tests->policies[i].cases[place];
		place -= tests->policies[i].case_count;
	}
	return NULL;
}

static void *run_cases(void *data)
{
	struct work *work = data;
	const struct test_policy *policy;
	struct test_case *test;

	while ((test = case_at(work->tests, atomic_fetch_add(&work->next, 1), &policy)))
		if (test->chosen)
			test_case_run(test, policy, work->options, work->settings);
	return NULL;
}

/* Time zones are set in the environment (library/instant.h), which other threads read. */
static bool environment_ready(void)
{
	return setenv("TZ", "UTC", 1) == 0;
}

static size_t thread_count(const struct options *options)
{
	long processors = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t count = options->concurrency > 0 ? options->concurrency : processors > 0 ? (uint64_t)processors : 1;

	return count > MAX_THREADS ? MAX_THREADS : (size_t)count;
}

static void run_all(struct work *work)
{
	size_t wanted = environment_ready() ? thread_count(work->options) : 1, started = 0;
	pthread_t threads[MAX_THREADS];

	while (started + 1 < wanted && pthread_create(&threads[started], NULL, run_cases, work) == 0)
		started++;
	run_cases(work);
	while (started > 0)
		pthread_join(threads[--started], NULL);
}

/* ---- what is shown ---- */

static size_t chosen_count(const struct test_policy *policy)
{
	size_t count = 0;

	for (size_t i = 0; i < policy->case_count; i++)
		count += policy->cases[i].chosen;
	return count;
}

static enum case_status worst_of(const struct test_policy *policy)
{
	enum case_status worst = CASE_PASSED;

	for (size_t i = 0; i < policy->case_count; i++)
		if (policy->cases[i].chosen && policy->cases[i].status > worst)
			worst = policy->cases[i].status;
	return worst;
}

static const char *const words[] = {"PASS", "FAIL", "ERROR"};

static void print_text(const struct test_policy *policy)
{
	if (policy->case_count == 0) {
		printf("? - %s (no test cases)\n", policy->path);
		return;
	}
	printf("%s - %s\n", words[worst_of(policy)], policy->path);
	for (size_t i = 0; i < policy->case_count; i++) {
		const struct test_case *test = &policy->cases[i];

		if (test->text)
			fwrite(test->text, 1, test->text_len, stdout);
		else if (test->chosen)
			printf("  ERROR - %s\n    the result can't be written\n", test->path);
	}
}

static void print_case_json(const struct test_case *test)
{
	json_print_text(test->path);
	putchar(':');
	if (test->text)
		fwrite(test->text, 1, test->text_len, stdout);
	else
		fputs("{\"status\":\"ERROR\",\"errors\":[\"the result can't be written\"]}", stdout);
}

static void print_json(const struct test_policy *policy)
{
	const char *separator = "";

	json_print_text(policy->path);
	fputs(":{\"path\":", stdout);
	json_print_text(policy->path);
	printf(",\"status\":\"%s\",\"errors\":[],\"cases\":{", policy->case_count == 0 ? "?" : words[worst_of(policy)]);
	for (size_t i = 0; i < policy->case_count; i++) {
		if (!policy->cases[i].chosen)
			continue;
		fputs(separator, stdout);
		print_case_json(&policy->cases[i]);
		separator = ",";
	}
	fputs("}}", stdout);
}

/* Policies of which -run chose no case are not shown. */
static bool is_shown(const struct test_policy *policy, const struct options *options)
{
	return chosen_count(policy) > 0 || (policy->case_count == 0 && !options->run_pattern);
}

static int print_all(const struct tests *tests, const struct options *options)
{
	enum exit_code code = EXIT_PASSED;
	const char *separator = "";

	fputs(options->json ? "{\"policies\":{" : "", stdout);
	for (size_t i = 0; i < tests->count; i++) {
		const struct test_policy *policy = &tests->policies[i];

		if (!is_shown(policy, options))
			continue;
		if (worst_of(policy) != CASE_PASSED)
			code = EXIT_FAILED;
		if (options->json) {
			fputs(separator, stdout);
			print_json(policy);
			separator = ",";
		} else {
			print_text(policy);
		}
	}
	if (options->json)
		printf("},\"duration\":%lld}\n", (long long)(clock_mono_ms() - options->begun_ms));
	return output_finish((int)code);
}

/* ---- the command ---- */

static int test_all(const struct options *options, const struct load_settings *settings)
{
	struct work work = {.options = options, .settings = settings};
	struct tests tests;
	int code = EXIT_OTHER;

	if (tests_find(&tests, options->paths, options->path_count) && tests_choose(&tests, options->run_pattern)) {
		work.tests = &tests;
		run_all(&work);
		code = print_all(&tests, options);
	}
	tests_release(&tests);
	return code;
}

int command_test(const struct options *options)
{
	struct load_settings settings = {0};
	int code;

	if (files_open(&settings.files, options->root) < 0) {
		fprintf(stderr, "%s: %s (-root)\n", options->root, strerror(errno));
		return EXIT_OTHER;
	}
	code = test_all(options, &settings);
	files_close(&settings.files);
	return code;
}
