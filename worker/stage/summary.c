/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/stage/summary.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"

static bool line_has(const char *line, size_t len, const char *text)
{
	return memmem(line, len, text, strlen(text)) != NULL;
}

/* ---- lines of JSON ---- */

static void numbers_of_json(const json_t *value, struct job_result *result)
{
	result->additions = (int)json_int_at(value, "changes.add", 0);
	result->changes = (int)json_int_at(value, "changes.change", 0);
	result->destructions = (int)json_int_at(value, "changes.remove", 0);
	result->imports = (int)json_int_at(value, "changes.import", 0);
}

static void error_of_json(const json_t *value, struct job_result *result)
{
	if (!*result->error && text_equal(json_string_at(value, "diagnostic.severity"), "error"))
		text_copy(result->error, sizeof(result->error),
			text_or_empty(json_string_at(value, "diagnostic.summary")));
}

/* Counts single resources, because an interrupted apply prints no totals. */
static void count_one(struct job_result *result, const char *action)
{
	static const char *const creates[] = {"create", "Creation"}, *const updates[] = {"update", "Modifications"},
				 *const deletes[] = {"delete", "Destruction"};

	for (size_t i = 0; i < ARRAY_LEN(creates); i++) {
		result->additions += text_equal(action, creates[i]);
		result->changes += text_equal(action, updates[i]);
		result->destructions += text_equal(action, deletes[i]);
	}
}

static void count_json(const json_t *value, struct job_result *result)
{
	count_one(result, text_or_empty(json_string_at(value, "hook.action")));
}

static void json_line(const char *line, size_t len, struct job_result *result)
{
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;
	const char *type;

	if (json_parse(line, len, &value, &err) < 0)
		return;
	type = json_string_at(value, "type");
	if (text_equal(type, "change_summary"))
		numbers_of_json(value, result);
	else if (text_equal(type, "apply_complete"))
		count_json(value, result);
	else if (text_equal(type, "diagnostic"))
		error_of_json(value, result);
}

/* ---- plain lines ---- */

/* The number before the words, such as "3 to add" and "3 added", or 0. */
static int number_before(const char *line, const char *planned, const char *applied)
{
	const char *at = strstr(line, planned);
	int number = 0, scale = 1;

	if (!at)
		at = strstr(line, applied);
	for (at = at ? at - 1 : NULL; at && at >= line && *at >= '0' && *at <= '9' && scale < 100000000;
		at--, scale *= 10)
		number += (*at - '0') * scale;
	return number;
}

static void numbers_of_text(const char *line, struct job_result *result)
{
	result->additions = number_before(line, " to add", " added");
	result->changes = number_before(line, " to change", " changed");
	result->destructions = number_before(line, " to destroy", " destroyed");
	result->imports = number_before(line, " to import", " imported");
}

/* Parses "aws_instance.one: Creation complete after 3s [id=i-1]". */
static void count_text(const char *line, struct job_result *result)
{
	static const char *const words[] = {"Creation", "Modifications", "Destruction"};

	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		char text[64];

		snprintf(text, sizeof(text), ": %s complete after ", words[i]);
		if (strstr(line, text))
			count_one(result, words[i]);
	}
}

static void text_line(const char *line, struct job_result *result)
{
	if (text_starts(line, "Plan: ") || text_starts(line, "Apply complete! Resources: ") ||
		text_starts(line, "Destroy complete! Resources: "))
		numbers_of_text(line, result);
	else if (!*result->error)
		summary_first_error(line, result->error, sizeof(result->error));
	count_text(line, result);
}

void summary_line(const char *line, size_t len, struct job_result *result)
{
	if (len == 0)
		return;
	if (*line != '{')
		text_line(line, result);
	else if (line_has(line, len, "\"change_summary\"") || line_has(line, len, "\"apply_complete\"") ||
		line_has(line, len, "\"diagnostic\""))
		json_line(line, len, result);
}

void summary_test_line(const char *line, size_t len, struct job_result *result)
{
	json_auto_t *value = NULL;
	struct err err = ERR_INIT;

	if (!line_has(line, len, "\"test_summary\"") && !line_has(line, len, "\"diagnostic\""))
		return;
	if (json_parse(line, len, &value, &err) < 0)
		return;
	error_of_json(value, result);
	if (!text_equal(json_string_at(value, "type"), "test_summary"))
		return;
	result->additions = (int)json_int_at(value, "test_summary.passed", 0);
	result->changes = (int)json_int_at(value, "test_summary.failed", 0);
	result->destructions = (int)json_int_at(value, "test_summary.errored", 0);
	result->imports = (int)json_int_at(value, "test_summary.skipped", 0);
}

bool summary_line_changes(const char *line, size_t len)
{
	return line_has(line, len, *line == '{' ? "\"apply_complete\"" : " complete after ");
}

void summary_first_error(const char *text, char *ret_text, size_t size)
{
	static const char preface[] = "Error: Terraform encountered problems during initialisation";
	const char *at = strstr(text, "Error: ");
	const char *next = at && text_starts(at, preface) ? strstr(at + strlen(preface), "Error: ") : NULL;

	/* init prints this first, and then the errors */
	if (next)
		at = next;
	if (at)
		snprintf(ret_text, size, "%.*s", (int)strcspn(at + 7, "\r\n"), at + 7);
}
