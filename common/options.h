/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

/*
 * One table of options a process. A row gives the name, the type, the default and the help; from it come
 * `--name VALUE`, the environment variable RUNYARD_NAME, `--help`, the reference page and the check of the value.
 *
 * A secret is never taken from the command line, where every user of the machine could read it: it comes from
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

/* An option of an earlier version. To give it is an error that says what takes its place. */
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

/* Fills the struct from defaults, environment and arguments (the later wins). Returns 0, 1 if --help or --version was
 * asked for and printed, or -1 with a message that says what to change. Texts are owned by the struct.
 * Stops at the first argument that is no option and puts its index into *ret_rest. */
int options_read(
	const struct option_table *table, int argc, char **argv, void *ret_options, int *ret_rest, struct err *err);
void options_release(const struct option_table *table, void *options);
/* ERR_INVALID, naming the argument, if one is left after the options: for a process without commands. */
int options_ended(const struct option_table *table, int argc, char **argv, int rest, struct err *err);
/* Prints the table as `--help` does. */
void options_help(const struct option_table *table);

#endif
