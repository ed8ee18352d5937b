/* SPDX-License-Identifier: MPL-2.0 */
#ifndef TESTS_POLICY_CASE_FILE_H
#define TESTS_POLICY_CASE_FILE_H

/*
 * Files of small cases of the policy language (*.cases), by lines:
 *
 *	# a comment
 *	1 + 2 => 3                        an expression and its value, as it is printed
 *	1 + "a" => error: MESSAGE         an expression that fails
 *	@ l = [1, 2]                      a statement (or import) before all expressions that follow
 *	@                                 no statements any more
 *	@plan FILE, @schemas FILE         of tests/policy/terraform, for the Terraform imports of all cases that follow
 *	@plan, @schemas                   no such file any more
 *	== NAME                           a policy; its source follows
 *	-> pass                           its result: pass, fail, undefined [LINE:COLUMN],
 *	-> value 3                        main, as it is printed,
 *	-> error LINE:COLUMN: MESSAGE     an error of the evaluation (or "error: MESSAGE"),
 *	-> static LINE:COLUMN: MESSAGE    an error that parsing finds,
 *	-> print LINE                     a line that it prints; all lines, if there is any
 *	-> warning LINE:COLUMN: MESSAGE   a warning of the parser; all warnings, in the order of the file
 *	-> rule NAME VALUE                an evaluated rule, in the order of the trace; all rules, if there is any
 *
 * Between the name and the results:
 *
 *	-- module NAME                    the source of a module or mock follows, which the policy can import
 *	-- data NAME                      static data, written in the language
 *	-- policy                         the source of the policy follows (again)
 *	-- param NAME VALUE               a parameter's value
 *	-- steps N, -- memory N           limits
 *	-- crlf, -- open                  of the policy: lines end with CRLF; the last line has no end
 */

#include "common/buf.h"

enum { CASE_FILES = 8, CASE_LINES = 32 };

enum part_kind { PART_POLICY, PART_MODULE, PART_DATA, PART_PARAM };

struct part {
	enum part_kind kind;
	char *name; /* NULL for the policy */
	struct buf text;
};

struct test_case {
	char *name;
	unsigned line;                 /* of the file */
	struct part parts[CASE_FILES]; /* the policy is the first */
	size_t part_count;
	char *expected[CASE_LINES]; /* without "-> " */
	size_t expected_count;
	bool expression; /* the only expectation is x's value, or an error */
	bool crlf, open;
	uint64_t steps, memory; /* 0: the default */
	char *plan, *schemas;   /* paths of files, or NULL */
};

struct case_file {
	struct test_case *cases;
	size_t count;
};

/* -1 with the error; the cases that were read until then must be released, too. */
int case_file_read(struct case_file *file, const char *path, struct err *err);
void case_file_release(struct case_file *file);

#endif
