/* SPDX-License-Identifier: MPL-2.0 */
/* A policy's source, parsed and formatted. The formatted source must parse to the same tree, and be formatted to itself
 * if it has no comments. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/policy/tree_text.h"
#include "policy/syntax/format/format.h"
#include "policy/syntax/parser.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const struct run_limits limits = {.steps = 10000000, .timeout_ms = 20000, .memory_bytes = 256 << 20};

struct formatting {
	struct source source, once, twice;
	bool parsed, formatted;
	const char *tree, *again;
};

static struct source format_source(struct run *run, const struct source *source, const char **ret_tree)
{
	struct tree *tree = parser_run(run, source, TREE_POLICY);
	struct output output = {0};

	*ret_tree = tree_text(run, tree, false);
	format_tree(run, tree, &output);
	return (struct source){.name = "formatted", .text = output.bytes, .len = output.len};
}

static void format_twice(struct run *run, void *data)
{
	struct formatting *formatting = data;

	run->loading = true;
	formatting->tree = tree_text(run, parser_run(run, &formatting->source, TREE_POLICY), false);
	formatting->parsed = true;
	formatting->once = format_source(run, &formatting->source, &formatting->tree);
	formatting->twice = format_source(run, &formatting->once, &formatting->again);
	formatting->formatted = true;
}

static bool has_comment(const struct source *source)
{
	return memchr(source->text, '#', source->len) || memmem(source->text, source->len, "//", 2) ||
		memmem(source->text, source->len, "/*", 2);
}

static void check(const struct run *run, const struct formatting *formatting)
{
	const struct source *once = &formatting->once, *twice = &formatting->twice;

	if (!formatting->parsed)
		return;
	if (!formatting->formatted) {
		if (!strstr(run->failure.message, "the limit of"))
			abort();
		return;
	}
	if (strcmp(formatting->tree, formatting->again) != 0)
		abort();
	if (once->len > 0 && !has_comment(once) &&
		(once->len != twice->len || memcmp(once->text, twice->text, once->len) != 0))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct formatting formatting = {.source = {.name = "policy", .text = (const char *)bytes, .len = len}};
	struct run run;

	run_init(&run, &limits);
	run_protected(&run, format_twice, &formatting);
	check(&run, &formatting);
	run_release(&run);
	return 0;
}
