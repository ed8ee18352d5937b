/* SPDX-License-Identifier: MPL-2.0 */
/* A pattern in the first line, and a text after it. A pattern that the run has kept must match as a new one does, and a
 * quoted text must match itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/core/regex.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const struct run_limits limits = {.steps = 1000000, .timeout_ms = 20000, .memory_bytes = 64 << 20};

struct matching {
	const char *pattern, *text;
	size_t pattern_len, text_len;
	bool matched;
};

static void check(bool holds)
{
	if (!holds)
		abort();
}

static void match_twice(struct run *run, void *data)
{
	struct matching *matching = data;

	matching->matched =
		regex_match(run, matching->pattern, matching->pattern_len, matching->text, matching->text_len);
	check(matching->matched ==
		regex_match(run, matching->pattern, matching->pattern_len, matching->text, matching->text_len));
}

static void match_quoted(struct run *run, void *data)
{
	const struct matching *matching = data;
	const char *quoted;

	if (memchr(matching->text, '\\', matching->text_len) || memchr(matching->text, '\0', matching->text_len))
		return;
	quoted = run_text(run, "^\\Q%.*s\\E$", (int)matching->text_len, matching->text);
	check(regex_match(run, quoted, strlen(quoted), matching->text, matching->text_len));
}

/* True if the function ended without a failure. */
static bool protected(void (*function)(struct run *run, void *data), struct matching *matching)
{
	struct run run;
	bool complete;

	run_init(&run, &limits);
	complete = run_protected(&run, function, matching) == 0;
	check(complete || run.failure.message[0] != '\0');
	run_release(&run);
	return complete;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	const char *text = (const char *)bytes;
	const char *end = memchr(text, '\n', len);
	struct matching first = {.pattern = text, .pattern_len = end ? (size_t)(end - text) : len};
	struct matching second;

	first.text = end ? end + 1 : text + len;
	first.text_len = (size_t)(text + len - first.text);
	second = first;
	check(protected(match_twice, &first) == protected(match_twice, &second));
	check(first.matched == second.matched);
	protected(match_quoted, &first);
	return 0;
}
