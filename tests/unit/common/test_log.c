/* SPDX-License-Identifier: MPL-2.0 */
/* The contents of log lines, and their rate limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/err.h"
#include "common/json/json.h"
#include "common/log.h"

enum { MAX_LINES = 32 };

/* The lines written to standard error since capture_begin, as JSON. */
struct capture {
	FILE *file;
	int before;
	json_t *lines[MAX_LINES];
	size_t count;
};

static void capture_begin(struct capture *capture)
{
	*capture = (struct capture){.file = tmpfile(), .before = dup(STDERR_FILENO)};
	assert_non_null(capture->file);
	dup2(fileno(capture->file), STDERR_FILENO);
}

static off_t capture_size(const struct capture *capture)
{
	struct stat info;

	assert_int_equal(fstat(fileno(capture->file), &info), 0);
	return info.st_size;
}

static void capture_end(struct capture *capture)
{
	char text[16384];
	struct err err = ERR_INIT;

	dup2(capture->before, STDERR_FILENO);
	close(capture->before);
	rewind(capture->file);
	while (fgets(text, sizeof(text), capture->file)) {
		assert_true(capture->count < MAX_LINES);
		assert_int_equal(json_parse(text, strlen(text), &capture->lines[capture->count++], &err), 0);
	}
	fclose(capture->file);
}

static void capture_release(struct capture *capture)
{
	while (capture->count > 0)
		json_decref(capture->lines[--capture->count]);
}

static const char *field(const struct capture *capture, size_t line, const char *name)
{
	assert_true(line < capture->count);
	return json_string_at(capture->lines[line], name);
}

static void the_event_is_made_of_the_start_of_the_message(void **state)
{
	static const char *const cases[][2] = {
		{"disk low: no jobs are claimed", "disk-low"},
		{"a sweep failed, and comes again", "sweep-failed"},
		{"the scheduler can't be reached; trying again", "scheduler-cant-be-reached"},
		{"stopped", "stopped"},
		{"an apply -- \"it\" ended ", "apply-it-ended"},
		{"PostgreSQL 15 is away", "postgresql-15-is-away"},
		{"another \xc3\xa4", "another"},
		{"", ""},
		{": ", ""},
	};
	char event[LOG_EVENT_SIZE], longest[200];

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		log_event(cases[i][0], event);
		assert_string_equal(event, cases[i][1]);
	}
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	log_event(longest, event);
	assert_int_equal(strlen(event), LOG_EVENT_SIZE - 1);
}

static void a_line_names_its_process_and_event(void **state)
{
	struct capture capture;

	(void)state;
	log_setup("worker", "worker-7", LOG_INFO);
	capture_begin(&capture);
	log_info("job claimed", "run", "run-1", "stage", NULL, "why", "a \"quote\"\n", NULL);
	log_debug("step", NULL);
	log_setup("scheduler", NULL, LOG_DEBUG);
	log_debug("step", NULL);
	capture_end(&capture);
	assert_int_equal(capture.count, 2);
	assert_string_equal(field(&capture, 0, "process"), "worker");
	assert_string_equal(field(&capture, 0, "name"), "worker-7");
	assert_string_equal(field(&capture, 0, "event"), "job-claimed");
	assert_string_equal(field(&capture, 0, "why"), "a \"quote\"\n");
	assert_null(field(&capture, 0, "stage"));
	assert_null(field(&capture, 0, "count"));
	assert_null(field(&capture, 1, "name"));
	capture_release(&capture);
}

/* One second after the first line of a kind, the next one is written, with the count of those before it. */
static void repeated_warnings_are_written_once_a_second(void **state)
{
	struct capture capture;
	off_t size;

	(void)state;
	log_setup("worker", NULL, LOG_INFO);
	capture_begin(&capture);
	for (int i = 0; i < 1000; i++) {
		char number[16];

		snprintf(number, sizeof(number), "%d", i);
		log_warn("sweep failed", "sweep", number, "error", "refused", NULL);
	}
	log_warn("sweep failed", "sweep", "1", "error", "another", NULL);
	log_error("sweep broken", "sweep", "1", "error", "refused", NULL);
	for (int i = 0; i < 3; i++)
		log_info("job ended", "run", "run-1", "why", "the same", NULL);
	for (int i = 0; i < 3; i++)
		log_warn("counted", "why", "the same", "count", "7", NULL);
	size = capture_size(&capture);
	while (capture_size(&capture) == size)
		log_warn("sweep failed", "sweep", "last", "error", "refused", NULL);
	capture_end(&capture);
	assert_int_equal(capture.count, 10);
	assert_string_equal(field(&capture, 0, "sweep"), "0");
	assert_null(field(&capture, 0, "count"));
	assert_string_equal(field(&capture, 1, "error"), "another");
	assert_string_equal(field(&capture, 2, "event"), "sweep-broken");
	assert_string_equal(field(&capture, 5, "event"), "job-ended");
	assert_string_equal(field(&capture, 8, "count"), "7");
	assert_string_equal(field(&capture, 9, "sweep"), "last");
	assert_true(strtol(field(&capture, 9, "count"), NULL, 10) >= 1000);
	capture_release(&capture);
}

static void warnings_without_a_cause_are_compared_as_a_whole(void **state)
{
	struct capture capture;

	(void)state;
	log_setup("worker", NULL, LOG_INFO);
	capture_begin(&capture);
	for (int i = 0; i < 4; i++) {
		log_warn("job lost", "run", i % 2 ? "run-1" : "run-2", NULL);
		log_warn("job lost", "run", "run-", "2", "", NULL);
	}
	capture_end(&capture);
	assert_int_equal(capture.count, 3);
	capture_release(&capture);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_event_is_made_of_the_start_of_the_message),
		cmocka_unit_test(a_line_names_its_process_and_event),
		cmocka_unit_test(repeated_warnings_are_written_once_a_second),
		cmocka_unit_test(warnings_without_a_cause_are_compared_as_a_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
