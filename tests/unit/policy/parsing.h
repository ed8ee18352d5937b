/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_UNIT_POLICY_PARSING_H
#define TESTS_UNIT_POLICY_PARSING_H

/* A run for one test of the syntax, and its error as a text: "3:5: main is missing". */

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <setjmp.h>
/* cmocka.h needs the headers above. */
#include <cmocka.h>

#include "common/base.h"
#include "policy/core/run.h"

struct parsing {
	struct run run;
	struct source source;
	char error[1100]; /* "" if there is none */
};

static void parsing_report(struct parsing *parsing)
{
	unsigned line, column;

	assert_int_equal(parsing->run.failure.kind,
		text_starts(parsing->run.failure.message, "the limit of ") ? FAILURE_RUNTIME : FAILURE_STATIC);
	place_position(parsing->run.failure.place, &line, &column);
	snprintf(parsing->error, sizeof(parsing->error), "%u:%u: %s", line, column, parsing->run.failure.message);
}

/* Calls body(run, parsing) for the text. parsing_end is due afterwards. */
static void parsing_begin(
	struct parsing *parsing, const char *text, size_t len, void (*body)(struct run *run, void *parsing))
{
	memset(parsing, 0, sizeof(*parsing));
	parsing->source = (struct source){.name = "a.sentinel", .text = text, .len = len};
	run_init(&parsing->run, &run_limits_default);
	parsing->run.loading = true;
	if (run_protected(&parsing->run, body, parsing) < 0)
		parsing_report(parsing);
}

static void parsing_end(struct parsing *parsing)
{
	run_release(&parsing->run);
}

#endif
