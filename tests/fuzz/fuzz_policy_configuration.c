/* SPDX-License-Identifier: MPL-2.0 */
/* A configuration: the first byte says whether it is HCL or JSON. */
#include <stdlib.h>
#include <string.h>

#include "policy/configuration/configuration.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static const struct run_limits limits = {.steps = 2000000, .timeout_ms = 20000, .memory_bytes = 64 << 20};

static void parse(struct run *run, void *data)
{
	const struct source *source = data;
	const struct configuration *configuration;
	struct value warnings;

	run->loading = true;
	configuration = configuration_parse(run, source);
	warnings = value_print(run, configuration->warnings, VALUE_QUOTED);
	for (const struct import_entry *entry = configuration->imports; entry; entry = entry->next)
		if (entry->source)
			source_path(run, configuration->folder, entry->source);
	if (string_len(warnings) == 0)
		abort();
}

/* A place of a failure is within the text. */
static void check_failure(const struct run *run, const struct source *source)
{
	unsigned line, column;

	if (run->failure.place.source && run->failure.place.offset > source->len)
		abort();
	place_position(run->failure.place, &line, &column);
	if (run->failure.message[0] == '\0')
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	struct source source = {.name = "folder/c.hcl", .text = (const char *)bytes + 1, .len = len - 1};
	struct run run;

	if (len == 0)
		return 0;
	if (bytes[0] == 'j')
		source.name = "folder/c.json";
	run_init(&run, &limits);
	if (run_protected(&run, parse, &source) < 0)
		check_failure(&run, &source);
	run_release(&run);
	return 0;
}
