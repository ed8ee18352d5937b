/* SPDX-License-Identifier: MPL-2.0 */
#include "worker/policy/report.h"

#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "worker/upload/redact.h"

enum { MAX_DOCUMENT_TEXT = 16 << 20 };

static const char *const verdict_names[] = {
	[VERDICT_PASSED] = "passed",
	[VERDICT_FAILED] = "failed",
	[VERDICT_ERRORED] = "errored",
};

/* ---- texts ---- */

/* The length of the UTF-8 character at `at`, or 0 if it is invalid. */
static size_t character_at(const unsigned char *at, size_t left)
{
	size_t len = *at < 0x80             ? 1
		: *at >= 0xc2 && *at < 0xe0 ? 2
		: (*at & 0xf0) == 0xe0      ? 3
		: *at >= 0xf0 && *at < 0xf5 ? 4
					    : 0;

	if (len == 0 || len > left)
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	if ((*at == 0xe0 && at[1] < 0xa0) || (*at == 0xed && at[1] >= 0xa0) || (*at == 0xf0 && at[1] < 0x90) ||
		(*at == 0xf4 && at[1] >= 0x90))
		return 0;
	return len;
}

char *text_clean(const char *bytes, size_t len)
{
	struct buf out = BUF_INIT(len + 1);

	for (size_t i = 0; i < len;) {
		const unsigned char *at = (const unsigned char *)bytes + i;
		size_t size = character_at(at, len - i);
		bool shown = size > 1 || (size == 1 && ((*at >= ' ' && *at != 0x7f) || *at == '\n' || *at == '\t'));

		if (shown)
			buf_append(&out, at, size);
		else if (*at != '\r')
			buf_text(&out, "?");
		i += size > 0 ? size : 1;
	}
	return buf_take(&out);
}

json_t *text_trimmed(const char *text)
{
	size_t len;

	text += strspn(text, "\n");
	len = strlen(text);
	while (len > 0 && strchr("\n ", text[len - 1]))
		len--;
	return len > 0 ? json_stringn(text, len) : NULL;
}

/* Adds {"print": text}, cut to the available room. Returns false if it was cut. */
static bool output_add(json_t *output, const char *text, const struct redactor *redactor, size_t *room)
{
	_cleanup_(freep) char *clean = text_clean(text, strlen(text));
	_cleanup_(buf_release) struct buf shown = BUF_INIT((size_t)64 << 20);
	_cleanup_(freep) char *kept = NULL;
	bool whole;

	if (redact_cut(redactor, clean, strlen(clean), &shown) < 0)
		return false;
	whole = shown.len <= *room;
	kept = mem_new(1, *room + 1);
	text_copy(kept, *room + 1, buf_str(&shown));
	*room -= strlen(kept);
	if (*kept)
		json_array_append_new(output, json_pack("{ss}", "print", kept));
	return whole;
}

static json_t *output_of(const struct judgement *judgement, const struct redactor *redactor)
{
	json_t *output = json_array();
	size_t room = POLICY_OUTPUT_KEPT, i;
	bool whole = true;
	const json_t *text;

	if (judgement->verdict == VERDICT_ERRORED)
		output_add(output, judgement->reason, redactor, &room);
	json_array_foreach(judgement->says, i, text)
	{
		whole = room > 0 && output_add(output, text_or_empty(json_string_value(text)), redactor, &room);
		if (!whole)
			break;
	}
	if (!whole)
		json_array_append_new(output,
			json_pack("{ss}", "print",
				"(the rest of what this policy said is not kept: it is more than 64 KiB)"));
	return output;
}

void report_add(struct policy_set *set, const struct policy *policy, const struct judgement *judgement,
	const struct redactor *redactor)
{
	json_array_append_new(set->outcomes,
		json_pack("{ss ss so ss ss so}", "policy_name", policy->name, "enforcement_level", policy->enforcement,
			"query", json_string_or_null(policy->query), "status", verdict_names[judgement->verdict],
			"description", policy->description, "output", output_of(judgement, redactor)));
}

/* ---- text for the log ---- */

static void text_of_outcome(struct buf *out, const json_t *outcome)
{
	const json_t *entry;
	size_t i;

	buf_printf(out, "\n%s: %s (%s)\n", json_string_at(outcome, "policy_name"), json_string_at(outcome, "status"),
		json_string_at(outcome, "enforcement_level"));
	json_array_foreach(json_object_get(outcome, "output"), i, entry)
	{
		_cleanup_(freep) char *copy = mem_text(text_or_empty(json_string_at(entry, "print")));
		char *rest = copy, *line;

		while ((line = strsep(&rest, "\n")))
			buf_printf(out, "%s%s\n", *line ? "  " : "", line);
	}
}

static void text_of_set(struct buf *out, const struct policy_set *set)
{
	const json_t *outcome;
	size_t i;

	buf_printf(out, "\nPolicy set %s", set->name);
	if (*set->error)
		buf_printf(out, ": errored, %s", set->error);
	buf_text(out, "\n");
	json_array_foreach(set->outcomes, i, outcome) text_of_outcome(out, outcome);
}

static size_t sets_in_error(const struct policy_sets *sets)
{
	size_t count = 0;

	for (size_t i = 0; i < sets->count; i++)
		count += *sets->sets[i].error != '\0';
	return count;
}

static char *text_of_all(const struct policy_sets *sets, const struct evaluator *evaluator)
{
	struct buf out = BUF_INIT(MAX_DOCUMENT_TEXT);
	char sentence[RESULT_ERROR_SIZE];
	enum outcome outcome = report_conclude(sets, evaluator, sentence, sizeof(sentence));
	size_t broken = sets_in_error(sets);

	size_t passed = report_count(sets, "passed"), failed = report_count(sets, "failed"),
	       errored = report_count(sets, "errored");

	buf_printf(&out, "Result: %s\n%zu policies evaluated: %zu passed, %zu failed, %zu errored",
		outcome == OUTCOME_PASSED ? "passed" : "failed", passed + failed + errored, passed, failed, errored);
	if (broken > 0)
		buf_printf(&out, "; %zu policy %s could not be evaluated", broken, broken == 1 ? "set" : "sets");
	buf_text(&out, "\n");
	for (size_t i = 0; i < sets->count; i++)
		text_of_set(&out, &sets->sets[i]);
	return buf_take(&out);
}

json_t *report_document(const struct policy_sets *sets, const struct evaluator *evaluator)
{
	_cleanup_(freep) char *text = text_of_all(sets, evaluator);
	json_t *list = json_array();

	for (size_t i = 0; i < sets->count; i++) {
		const struct policy_set *set = &sets->sets[i];

		json_array_append_new(list,
			json_pack("{ss so sO}", "id", set->id, "error",
				json_string_or_null(*set->error ? set->error : NULL), "outcomes", set->outcomes));
	}
	return json_pack("{so ss}", "sets", list, "output", text);
}

/* ---- the end of the stage ---- */

size_t report_count(const struct policy_sets *sets, const char *status)
{
	const json_t *outcome;
	size_t count = 0, i;

	for (size_t n = 0; n < sets->count; n++)
		json_array_foreach(sets->sets[n].outcomes, i, outcome) count +=
			text_equal(json_string_at(outcome, "status"), status);
	return count;
}

/* Policies that did not pass: their names, and the strictest level among them as an index into the evaluator's
 * levels. */
struct refused {
	size_t level;
	size_t count;
	struct buf names;
};

static void refuse(struct refused *refused, size_t level, const char *what, const char *name)
{
	if (level > refused->level)
		refused->level = level;
	if (level > 0)
		buf_printf(&refused->names, "%s%s%s", refused->count++ ? ", " : "", what, name);
}

static size_t level_of(const struct evaluator *evaluator, const char *level)
{
	size_t i = 0;

	while (evaluator->levels[i + 1] && !text_equal(evaluator->levels[i], level))
		i++;
	return i;
}

static size_t strictest(const struct evaluator *evaluator)
{
	return level_of(evaluator, NULL);
}

static void refuse_all(const struct policy_sets *sets, const struct evaluator *evaluator, struct refused *refused)
{
	const json_t *outcome;
	size_t i;

	for (size_t n = 0; n < sets->count; n++) {
		const struct policy_set *set = &sets->sets[n];

		if (*set->error)
			refuse(refused, strictest(evaluator), "the set ", set->name);
		json_array_foreach(set->outcomes, i, outcome)
		{
			if (!text_equal(json_string_at(outcome, "status"), "passed"))
				refuse(refused, level_of(evaluator, json_string_at(outcome, "enforcement_level")), "",
					json_string_at(outcome, "policy_name"));
		}
	}
}

enum outcome report_conclude(
	const struct policy_sets *sets, const struct evaluator *evaluator, char *ret_sentence, size_t size)
{
	struct refused refused = {.names = BUF_INIT(800)};

	refuse_all(sets, evaluator, &refused);
	*ret_sentence = '\0';
	if (refused.count > 0)
		snprintf(ret_sentence, size, "Policies that must pass did not: %s", buf_str(&refused.names));
	buf_release(&refused.names);
	if (refused.level == 0)
		return OUTCOME_PASSED;
	if (sets->count > 0 && sets_in_error(sets) == sets->count)
		return OUTCOME_ERRORED;
	return refused.level == strictest(evaluator) ? OUTCOME_FAILED : OUTCOME_SOFT_FAILED;
}
