/* SPDX-License-Identifier: MPL-2.0 */
#include "policy/core/regex.h"

#include <string.h>

#include "common/text.h"
#include "policy/core/regex_engine.h"

/* A row is free if its program is NULL. The patterns are in the arena: a row that is used again keeps its room. */
struct regex_row {
	struct regex_program *program;
	char *pattern;
	size_t len, room;
	size_t memory;       /* of the program, as it is counted in run->allocated */
	uint64_t hash, used; /* used: the time of the last match, by regex_patterns.clock */
};

struct regex_patterns {
	struct regex_row rows[MAX_PATTERNS];
	size_t memory; /* of all rows */
	uint64_t clock;
	size_t newest; /* the row of the last match: a loop asks for one pattern again and again */
};

static void patterns_release(void *data)
{
	struct regex_patterns *patterns = data;

	for (size_t i = 0; i < MAX_PATTERNS; i++)
		regex_program_free(patterns->rows[i].program);
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

static uint64_t pattern_hash(const char *pattern, size_t len)
{
	uint64_t hash = TEXT_HASH;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ (unsigned char)pattern[i]) * UINT64_C(0x100000001b3);
	return hash;
}

static bool row_has(const struct regex_row *row, const char *pattern, size_t len, uint64_t hash)
{
	return row->program != NULL && row->hash == hash && row->len == len && memcmp(row->pattern, pattern, len) == 0;
}

/* The pattern's row, or NULL. */
static struct regex_row *patterns_find(struct regex_patterns *patterns, const char *pattern, size_t len, uint64_t hash)
{
	if (row_has(&patterns->rows[patterns->newest], pattern, len, hash))
		return &patterns->rows[patterns->newest];
	for (size_t i = 0; i < MAX_PATTERNS; i++)
		if (row_has(&patterns->rows[i], pattern, len, hash))
			return &patterns->rows[i];
	return NULL;
}

/* ---- memory ---- */

/* Counts the row's memory as what it is by now. Fails if the run has no more. */
static void row_count(struct run *run, struct regex_patterns *patterns, struct regex_row *row, size_t memory)
{
	if (memory > row->memory && memory - row->memory > run->limits.memory_bytes - run->allocated)
		run_fail_limit(run, "memory", "-memory");
	run->allocated = run->allocated - row->memory + memory;
	patterns->memory = patterns->memory - row->memory + memory;
	row->memory = memory;
}

static void row_empty(struct run *run, struct regex_patterns *patterns, struct regex_row *row)
{
	regex_program_free(row->program);
	row->program = NULL;
	row_count(run, patterns, row, 0);
}

/* The program that was unused for the longest time. There must be one. */
static struct regex_row *patterns_oldest(struct regex_patterns *patterns)
{
	struct regex_row *oldest = NULL;

	for (size_t i = 0; i < MAX_PATTERNS; i++) {
		struct regex_row *row = &patterns->rows[i];

		if (row->program && (!oldest || row->used < oldest->used))
			oldest = row;
	}
	return oldest;
}

/* Counts what the program that was used last takes by now. Others are dropped while all take more than their part. */
static void count_memory(struct run *run, struct regex_patterns *patterns, struct regex_row *newest)
{
	row_count(run, patterns, newest, regex_program_memory(newest->program));
	while (patterns->memory > run->limits.memory_bytes / KEPT_PART && patterns->memory > newest->memory)
		row_empty(run, patterns, patterns_oldest(patterns));
}

/* A row without a program. */
static struct regex_row *patterns_free_row(struct run *run, struct regex_patterns *patterns)
{
	struct regex_row *row;

	for (size_t i = 0; i < MAX_PATTERNS; i++)
		if (!patterns->rows[i].program)
			return &patterns->rows[i];
	row = patterns_oldest(patterns);
	row_empty(run, patterns, row);
	return row;
}

static void row_name(struct run *run, struct regex_row *row, const char *pattern, size_t len)
{
	if (!row->pattern || row->room < len) {
		row->pattern = run_alloc(run, len + 1, 1);
		row->room = len;
	}
	if (len > 0)
		memcpy(row->pattern, pattern, len);
	row->len = len;
}

static struct regex_row *patterns_add(
	struct run *run, struct regex_patterns *patterns, const char *pattern, size_t len, uint64_t hash)
{
	char error[REGEX_ERROR_SIZE];
	struct regex_row *row = patterns_free_row(run, patterns);

	run_step(run, 1 + len);
	row_name(run, row, pattern, len);
	row->hash = hash;
	row->program = regex_program_new(pattern, len, MAX_PATTERN_MEMORY, error);
	if (row->program == NULL)
		run_fail(run, "the regular expression is not accepted: %s", error);
	run_step(run, regex_program_size(row->program));
	return row;
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

static bool match(struct run *run, struct regex_patterns *patterns, struct regex_row *row, const char *text, size_t len)
{
	const size_t left = run->limits.memory_bytes - run->allocated;
	const enum regex_result result = regex_program_match(row->program, text, len, left);

	if (result == REGEX_NO_MEMORY)
		run_fail(run, "out of memory");
	if (result == REGEX_LIMIT)
		run_fail_limit(run, "memory", "-memory");
	count_memory(run, patterns, row);
	return result == REGEX_MATCH;
}

bool regex_match(struct run *run, const char *pattern, size_t pattern_len, const char *text, size_t len)
{
	struct regex_patterns *patterns = run_patterns(run);
	struct regex_row *row;
	uint64_t hash;
	bool matched;

	if (pattern_len > MAX_PATTERN)
		run_fail_limit(run, "64 KiB for a regular expression", NULL);
	run_step_bytes(run, pattern_len + len);
	hash = pattern_hash(pattern, pattern_len);
	row = patterns_find(patterns, pattern, pattern_len, hash);
	if (row == NULL)
		row = patterns_add(run, patterns, pattern, pattern_len, hash);
	row->used = ++patterns->clock;
	patterns->newest = (size_t)(row - patterns->rows);
	check_work(run, row->program, len);
	matched = match(run, patterns, row, text, len);
	if (len > LONG_TEXT)
		run_check(run);
	return matched;
}
