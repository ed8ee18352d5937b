/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/vcs/tags_regex.h"

#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "common/err.h"

/* A match meets them after some milliseconds. Ordinary patterns of tags need a few hundred steps. */
enum { STEPS_MAX = 100000, DEPTH_MAX = 5000, HEAP_KIB_MAX = 4096, PARENTHESES_MAX = 50 };

static void *allocate(size_t size, void *data)
{
	(void)data;
	return mem_new(size, 1);
}

static void release(void *memory, void *data)
{
	(void)data;
	free(memory);
}

static void free_general(pcre2_general_context **context)
{
	pcre2_general_context_free(*context);
}

static void free_compile(pcre2_compile_context **context)
{
	pcre2_compile_context_free(*context);
}

static void free_match(pcre2_match_context **context)
{
	pcre2_match_context_free(*context);
}

static void free_code(pcre2_code **code)
{
	pcre2_code_free(*code);
}

static void free_data(pcre2_match_data **data)
{
	pcre2_match_data_free(*data);
}

static pcre2_code *compile(const char *pattern, pcre2_general_context *general, struct err *err)
{
	_cleanup_(free_compile) pcre2_compile_context *context = mem_check(pcre2_compile_context_create(general));
	PCRE2_UCHAR reason[160];
	PCRE2_SIZE offset = 0;
	pcre2_code *code;
	int error = 0;

	pcre2_set_max_pattern_length(context, TAGS_REGEX_MAX);
	pcre2_set_parens_nest_limit(context, PARENTHESES_MAX);
	code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C, &error,
		&offset, context);
	if (!code) {
		pcre2_get_error_message(error, reason, sizeof(reason));
		err_set(err, ERR_INVALID, "The regular expression is not valid: %s (at character %zu).",
			(const char *)reason, (size_t)offset + 1);
	}
	return code;
}

int tags_regex_check(const char *pattern, struct err *err)
{
	_cleanup_(free_general) pcre2_general_context *general =
		mem_check(pcre2_general_context_create(allocate, release, NULL));
	_cleanup_(free_code) pcre2_code *code = compile(pattern, general, err);

	return code ? 0 : -1;
}

enum tags_regex_match tags_regex_match(const char *pattern, const char *tag)
{
	struct err err = ERR_INIT;
	_cleanup_(free_general) pcre2_general_context *general =
		mem_check(pcre2_general_context_create(allocate, release, NULL));
	_cleanup_(free_code) pcre2_code *code = compile(pattern, general, &err);
	int result;

	if (!code)
		return TAGS_REGEX_LIMIT;
	_cleanup_(free_match) pcre2_match_context *context = mem_check(pcre2_match_context_create(general));
	_cleanup_(free_data) pcre2_match_data *data = mem_check(pcre2_match_data_create(1, general));
	pcre2_set_match_limit(context, STEPS_MAX);
	pcre2_set_depth_limit(context, DEPTH_MAX);
	pcre2_set_heap_limit(context, HEAP_KIB_MAX);
	result = pcre2_match(code, (PCRE2_SPTR)tag, strlen(tag), 0, 0, data, context);
	if (result >= 0)
		return TAGS_REGEX_YES;
	return result == PCRE2_ERROR_NOMATCH ? TAGS_REGEX_NO : TAGS_REGEX_LIMIT;
}
