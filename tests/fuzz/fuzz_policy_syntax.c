/* SPDX-License-Identifier: MPL-2.0 */
/* A policy's source, parsed and resolved, and its tree as text. */
#include "tests/unit/policy/tree_text.h"
#include "policy/syntax/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const struct run_limits limits = {.steps = 10000000, .timeout_ms = 20000, .memory_bytes = 256 << 20};

static void parse(struct run *run, void *data)
{
	run->loading = true;
	tree_text(run, tree_parse(run, data, TREE_MODULE), true);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct source source = {.name = "policy", .text = (const char *)bytes, .len = len};
	struct run run;

	run_init(&run, &limits);
	run_protected(&run, parse, &source);
	run_release(&run);
	return 0;
}
