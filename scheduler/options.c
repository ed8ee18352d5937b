/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/options.h"

static const struct option_row rows[] = {
#define OPTION(...) OPTION_ROW(struct scheduler_options, __VA_ARGS__),
#include "scheduler/options.def"
#undef OPTION
};

static const struct option_removed removed[] = {
	{"hold-seconds",
		"The last state, a person or the worker's limits of the apply end a hold; --hold-alert-seconds says "
		"when "
		"to warn."},
};

const struct option_table scheduler_options = {
	.process = "runyard-scheduler",
	.summary =
		"usage: runyard-scheduler [options] [command]\n\n"
		"Owns the queues, decides every transition, serves the API.\n\n"
		"Commands:\n"
		"  serve                          the default; brings the database up to date first\n"
		"  migrate                        only brings the database up to date\n"
		"  bootstrap USER EMAIL ORG       makes the first user, organization and worker pool; prints new "
		"tokens\n"
		"  add-user USER EMAIL            makes a user, who takes up invitations to that address; prints a "
		"password\n"
		"  set-password USER              gives a user the password that stands on standard input, and ends "
		"their sessions\n"
		"  holds [release WORKSPACE [WHY]]  shows workspaces that wait for the last state of a lost apply; "
		"lets one "
		"go on\n"
		"  new-epoch                      fences every attempt: run it after the database was restored from a "
		"backup or a snapshot\n"
		"  dead-letters [replay ID]       shows messages that could not be read; puts one back\n"
		"    --json, show ID, replay all, discard ID|all: as JSON lines, one whole, all back, forgets them\n"
		"  states                         prints the states of a run and the ways between them",
	.rows = rows,
	.count = ARRAY_LEN(rows),
	.removed = removed,
	.removed_count = ARRAY_LEN(removed),
};
