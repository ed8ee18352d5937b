/* SPDX-License-Identifier: MPL-2.0 */
#include "scheduler/commands.h"

#include <stdio.h>
#include <string.h>

#include "scheduler/commands/command.h"

static const struct command commands[] = {
#define COMMAND(command, function, fewest, limit, names, json, arguments, text)                                        \
	{.name = (command),                                                                                            \
		.run = (function),                                                                                     \
		.min_arguments = (fewest),                                                                             \
		.max_arguments = (limit),                                                                              \
		.options = (names),                                                                                    \
		.has_json = (json),                                                                                    \
		.usage = (arguments),                                                                                  \
		.help = (text)},
#include "scheduler/commands/commands.def"
#undef COMMAND
};

/* The name within the options of the command, and whether it takes a value. */
static bool option_find(const struct command *command, const char *name, struct command_option *ret_option)
{
	size_t len;

	for (const char *at = command->options; *at; at += len + (at[len] == ' ')) {
		size_t name_len;

		len = strcspn(at, " ");
		name_len = at[len - 1] == '=' ? len - 1 : len;
		if (strlen(name) != name_len || memcmp(name, at, name_len) != 0)
			continue;
		*ret_option =
			(struct command_option){.name = at, .name_len = name_len, .value = name_len < len ? NULL : ""};
		return true;
	}
	return false;
}

/* Reads the option at argv[i], and moves *i to its value if it takes one. */
static int option_read(struct command_line *line, int argc, char **argv, int *i, struct err *err)
{
	struct command_option option;

	if (line->command->has_json && text_equal(argv[*i], "--json")) {
		line->as_json = true;
		return 0;
	}
	if (!option_find(line->command, argv[*i] + 2, &option) || line->option_count == MAX_COMMAND_OPTIONS)
		return err_set(err, ERR_INVALID,
			"%s is not an option of this command. Options of the process precede it: runyard-scheduler "
			"[options] %s",
			argv[*i], line->command->name);
	if (!option.value && *i + 1 == argc)
		return err_set(err, ERR_INVALID, "%s needs a value: see runyard-scheduler %s --help", argv[*i],
			line->command->name);
	if (!option.value)
		option.value = argv[++*i];
	line->options[line->option_count++] = option;
	return 0;
}

static int line_read(struct command_line *line, int argc, char **argv, struct err *err)
{
	for (int i = 1; i < argc; i++) {
		if (text_starts(argv[i], "--")) {
			if (option_read(line, argc, argv, &i, err) < 0)
				return -1;
		} else if (line->count == line->command->max_arguments) {
			return line->count ? command_usage(line, err)
					   : err_set(err, ERR_INVALID,
						     "unexpected argument '%s': see runyard-scheduler --help", argv[i]);
		} else {
			line->arguments[line->count++] = argv[i];
		}
	}
	return line->count < line->command->min_arguments ? command_usage(line, err) : 0;
}

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (text_equal(name, commands[i].name))
			return &commands[i];
	return NULL;
}

bool command_help(int argc, char **argv)
{
	const struct command *command = argc > 1 ? command_find(argv[0]) : NULL;
	struct err err = ERR_INIT;

	if (!command || !text_equal(argv[argc - 1], "--help"))
		return false;
	command_usage(&(struct command_line){.command = command}, &err);
	printf("%s\n\n%s\n", err.message, command->help);
	return true;
}

int command_run(struct scheduler *s, int argc, char **argv, struct err *err)
{
	struct command_line line = {.command = argc ? command_find(argv[0]) : &commands[0]};

	if (command_help(argc, argv))
		return 0;
	if (!line.command)
		return err_set(err, ERR_INVALID, "unknown command '%s': see runyard-scheduler --help", argv[0]);
	return line_read(&line, argc, argv, err) < 0 ? -1 : line.command->run(s, &line, err);
}
