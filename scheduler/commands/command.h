/* SPDX-License-Identifier: MPL-2.0 */
#ifndef SCHEDULER_COMMANDS_COMMAND_H
#define SCHEDULER_COMMANDS_COMMAND_H

/*
 * The parts that the subcommands of runyard-scheduler share. A row of scheduler/commands/commands.def names the
 * function of a command, its arguments and its options. commands.c checks these before it calls the function, and
 * handles --help.
 *
 * A command that lists something makes an array of JSON objects and passes it to command_print.
 */

#include "scheduler/scheduler.h"

enum { MAX_COMMAND_ARGUMENTS = 8, MAX_COMMAND_OPTIONS = 4 };

struct command {
	const char *name;
	int (*run)(struct scheduler *s, const struct command_line *line, struct err *err);
	int min_arguments, max_arguments; /* without the options */
	const char *options;              /* "pool= contract": --pool takes a value, --contract takes none */
	bool has_json;
	const char *usage, *help;
};

struct command_option {
	const char *name;
	size_t name_len;
	const char *value; /* "" if it takes none */
};

struct command_line {
	const struct command *command;
	int count;
	const char *arguments[MAX_COMMAND_ARGUMENTS]; /* without the command and the options */
	struct command_option options[MAX_COMMAND_OPTIONS];
	int option_count;
	bool as_json;
};

/* The value of the option ("pool"), "" if it takes none, NULL if it was not given. */
const char *command_option(const struct command_line *line, const char *name);
/* For arguments that the table can't check: ERR_INVALID with the command's usage. Returns -1. */
int command_usage(const struct command_line *line, struct err *err);

enum { COMMAND_TIME = 19 }; /* The width of a time that is printed to the second. */

/* A column of a printed table: its title, and the dotted path of its value in each item. */
struct command_column {
	const char *title, *member;
	size_t width; /* longer values are cut off; 0: as wide as the values */
};
/* Prints an array of objects: with --json each as one line of JSON, otherwise as a table with a line of titles. The
 * last column has a null title. A null value is printed as "-". */
void command_print(const struct command_line *line, const json_t *items, const struct command_column *columns);
/* Prints the table alone. */
void command_print_table(const json_t *items, const struct command_column *columns);
/* Prints one value as one line of JSON. */
void command_print_json(const json_t *value);
/* A copy that is safe to print on a terminal: an attacker may have written the text, so control characters become
 * question marks. The caller frees it. */
char *command_printable(const char *text);

/* The functions of scheduler/commands/commands.def. */
#define COMMAND(name, function, ...)                                                                                   \
	int function(struct scheduler *s, const struct command_line *line, struct err *err);
#include "scheduler/commands/commands.def"
#undef COMMAND

#endif
