/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/core/regex.h"

#include <string.h>

#include "policy/core/regex_engine.h"

struct regex_row {
	struct regex_program *program;
	const char *pattern; /* of the arena */
	size_t len;
};

struct regex_patterns {
	struct regex_row rows[MAX_PATTERNS];
	size_t count;
	size_t newest; /* the row of the last match: a loop asks for one pattern again and again */
};

static void patterns_release(void *data)
{
	struct regex_patterns *patterns = data;

	for (size_t i = 0; i < patterns->count; i++)
		regex_program_free(patterns->rows[i].program);
	patterns->count = 0;
}

static struct regex_patterns *run_patterns(struct run *run)
{
	struct regex_patterns *patterns = run->regexes;

	if (patterns == NULL) {
		patterns = run_alloc(run, 1, sizeof(*patterns));
		run_on_release(run, patterns_release, patterns);
		run->regexes = patterns;
	}
	return patterns;
}

static bool row_has(const struct regex_row *row, const char *pattern, size_t len)
{
	return row->len == len && memcmp(row->pattern, pattern, len) == 0;
}

/* The number of the pattern's row; patterns->count if there is none. */
static size_t patterns_find(const struct regex_patterns *patterns, const char *pattern, size_t len)
{
	size_t number = patterns->newest;

	if (number < patterns->count && row_has(&patterns->rows[number], pattern, len))
		return number;
	for (number = 0; number < patterns->count; number++)
		if (row_has(&patterns->rows[number], pattern, len))
			break;
	return number;
}

/* Returns the number of the pattern's new row. */
static size_t patterns_add(struct run *run, struct regex_patterns *patterns, const char *pattern, size_t len)
{
	const char *kept = run_copy(run, pattern, len);
	char error[REGEX_ERROR_SIZE];
	struct regex_program *program;

	if (patterns->count == MAX_PATTERNS)
		patterns_release(patterns);
	run_step(run, 1 + len);
	program = regex_program_new(pattern, len, MAX_PATTERN_MEMORY, error);
	if (program == NULL)
		run_fail(run, "the regular expression is not accepted: %s", error);
	patterns->rows[patterns->count++] = (struct regex_row){program, kept, len};
	run_step(run, regex_program_size(program));
	return patterns->count - 1;
}

/* The clock is looked at after a long text. */
enum { LONG_TEXT = 64 << 10, STEP_WORK = 64 << 10 };

static void check_work(struct run *run, const struct regex_program *program, size_t len)
{
	const uint64_t work = (uint64_t)len * regex_program_size(program);

	if (work > MAX_MATCH_WORK)
		run_fail_limit(run, "10,000,000,000 for a text's bytes times its pattern's instructions", NULL);
	run_step(run, work / STEP_WORK);
}

bool regex_match(struct run *run, const char *pattern, size_t pattern_len, const char *text, size_t len)
{
	struct regex_patterns *patterns = run_patterns(run);
	const struct regex_program *program;
	enum regex_result result;

	if (pattern_len > MAX_PATTERN)
		run_fail_limit(run, "64 KiB for a regular expression", NULL);
	run_step_bytes(run, pattern_len + len);
	patterns->newest = patterns_find(patterns, pattern, pattern_len);
	if (patterns->newest == patterns->count)
		patterns->newest = patterns_add(run, patterns, pattern, pattern_len);
	program = patterns->rows[patterns->newest].program;
	check_work(run, program, len);
	result = regex_program_match(program, text, len);
	if (result == REGEX_NO_MEMORY)
		run_fail(run, "out of memory");
	if (len > LONG_TEXT)
		run_check(run);
	return result == REGEX_MATCH;
}
