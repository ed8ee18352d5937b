/* SPDX-License-Identifier: MPL-2.0 */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

/*
 * The options of a process in one table, its options.def. `--name VALUE`, the environment variable RUNYARD_NAME,
 * `--help`, the reference page and the check of the value are derived from its rows:
 *
 *     OPTION(field, "name", type, default, help)
 *
 *   type     TEXT, URL, URL_OR_EMPTY, SECRET, NUMBER(lowest, highest) or CHOICE("one|other")
 *   default  a text; NULL: the option is required
 *
 * Rows that several processes have are in the other .def files of this folder, which their tables include. The slash at
 * the end of a URL is removed, so that a path can be appended.
 *
 * A secret is never read from the command line, which every user of the machine can see. It is read from
 * RUNYARD_NAME or from the file that `--name-file` or RUNYARD_NAME_FILE names.
 */

#include "common/base.h"

struct err;

enum option_type { OPT_TEXT, OPT_URL, OPT_SECRET, OPT_NUMBER, OPT_CHOICE };

struct option_row {
	const char *name; /* "database-url" */
	enum option_type type;
	size_t offset;        /* of the field in the process's options struct: char * or long long */
	const char *fallback; /* NULL: required */
	long long low, high;  /* OPT_NUMBER. `low` of an OPT_URL: its least length */
	const char *choices;  /* OPT_CHOICE: "one|other" */
	const char *help;
};

/* The field of a type in the options struct, and the members of its row. */
#define OPTION_FIELD_TEXT              char *
#define OPTION_FIELD_URL               char *
#define OPTION_FIELD_URL_OR_EMPTY      char *
#define OPTION_FIELD_SECRET            char *
#define OPTION_FIELD_NUMBER(low, high) long long
#define OPTION_FIELD_CHOICE(words)     char *

#define OPTION_TYPE_TEXT                .type = OPT_TEXT
#define OPTION_TYPE_URL                 .type = OPT_URL, .low = 1
#define OPTION_TYPE_URL_OR_EMPTY        .type = OPT_URL
#define OPTION_TYPE_SECRET              .type = OPT_SECRET
#define OPTION_TYPE_NUMBER(lowest, max) .type = OPT_NUMBER, .low = (lowest), .high = (max)
#define OPTION_TYPE_CHOICE(words)       .type = OPT_CHOICE, .choices = (words)

/* For the struct and for the table, as `OPTION` while options.def is included. */
#define OPTION_FIELD(field, name, type, ...) OPTION_FIELD_##type field;
#define OPTION_ROW(options, field, option, type, standard, text)                                                       \
	{                                                                                                              \
		.name = (option), .offset = offsetof(options, field), .fallback = (standard), .help = (text),          \
		OPTION_TYPE_##type                                                                                     \
	}

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

/* The arguments of main. */
struct arguments {
	int count;
	char **values;
	int next; /* the first that is not read yet */
};

/* Fills the struct from defaults, environment and arguments, in this order. Returns 0, or 1 if --help was given and
 * printed, or -1 with a message that says what to change. The struct owns its texts. Stops at the first argument that
 * is not an option. */
int options_read(const struct option_table *table, struct arguments *arguments, void *ret_options, struct err *err);
void options_release(const struct option_table *table, void *options);
/* For a process without commands: ERR_INVALID with the name of the argument if one is left after the options. */
int options_ended(const struct option_table *table, const struct arguments *arguments, struct err *err);
/* Sets an empty name to the host's name, or if that is unknown to `fallback`. */
void options_host_name(char **name, const char *fallback);
/* Prints the table as `--help` does. */
void options_help(const struct option_table *table);

#endif
