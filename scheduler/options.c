/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/options.h"

static const struct option_row rows[] = {
#define OPTION(...) OPTION_ROW(struct scheduler_options, __VA_ARGS__),
#include "scheduler/options.def"
#undef OPTION
};

#define JSON_true  " [--json]"
#define JSON_false ""

static const struct option_removed removed[] = {
	{"hold-seconds",
		"The last state, a person or the worker's limits of the apply end a hold; --hold-alert-seconds says "
		"when "
		"to warn."},
};

const struct option_table scheduler_options = {
	.process = "runyard-scheduler",
	.summary = "usage: runyard-scheduler [options] [command]\n\n"
		   "Owns the queues, decides every transition, serves the API.\n\n"
		   "Commands (COMMAND --help shows one):\n"
#define COMMAND(name, function, min, max, options, has_json, usage, help)                                              \
	"  " name " " usage JSON_##has_json "\n"                                                                       \
					    "      " help "\n"
#include "scheduler/commands/commands.def"
#undef COMMAND
		   "  states\n"
		   "      prints the states of a run and the ways between them",
	.rows = rows,
	.count = ARRAY_LEN(rows),
	.removed = removed,
	.removed_count = ARRAY_LEN(removed),
};
