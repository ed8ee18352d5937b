/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

/*
 * The options of a process in one table. A row gives the name, the type, the default and the help. `--name VALUE`,
 * the environment variable RUNYARD_NAME, `--help`, the reference page and the check of the value are derived from
 * it.
 *
 * A secret is never read from the command line, which every user of the machine can see. It is read from
 * RUNYARD_NAME or from the file that `--name-file` or RUNYARD_NAME_FILE names.
 */

#include "common/base.h"

struct err;

enum option_type { OPT_TEXT, OPT_SECRET, OPT_NUMBER, OPT_BOOL };

struct option_row {
	const char *name; /* "database-url" */
	enum option_type type;
	size_t offset;        /* of the field in the process's options struct: char * , long long or bool */
	const char *fallback; /* NULL: required */
	long long low, high;  /* OPT_NUMBER */
	const char *help;
};

/* An option of an earlier version. Using it is an error that names the replacement. */
struct option_removed {
	const char *name;
	const char *instead; /* a sentence */
};

struct option_table {
	const char *process; /* "runyard-scheduler" */
	const char *summary;
	const struct option_row *rows;
	size_t count;
	const struct option_removed *removed;
	size_t removed_count;
};

/* Fills the struct from defaults, environment and arguments, in this order. Returns 0, or 1 if --help or --version
 * was given and printed, or -1 with a message that says what to change. The struct owns its texts. Stops at the
 * first argument that is not an option and stores its index in *ret_rest. */
int options_read(
	const struct option_table *table, int argc, char **argv, void *ret_options, int *ret_rest, struct err *err);
void options_release(const struct option_table *table, void *options);
/* For a process without commands: ERR_INVALID with the name of the argument if one is left after the options. */
int options_ended(const struct option_table *table, int argc, char **argv, int rest, struct err *err);
/* Prints the table as `--help` does. */
void options_help(const struct option_table *table);

#endif
