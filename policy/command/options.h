/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_COMMAND_OPTIONS_H
#define POLICY_COMMAND_OPTIONS_H

/*
 * The command line: a command, flags with one or two dashes (-name=value, -name value), and paths in any order. A
 * switch is -name or -name=false. Nothing follows "--" but paths. For eval, SENTINEL_PARAM_NAME=VALUE of the
 * environment is -param=NAME=VALUE before all flags.
 */

#include "policy/configuration/loader.h"

enum command_bit { EVAL = 1, TEST = 2 };

struct options {
	enum command_bit command;
	const char **paths; /* what is no flag */
	size_t path_count;

	const char *config, *policy, *plan, *schemas, *tfrun, *root, *json_rule, *run_pattern, *http_hosts;
	bool json, trace, color, verbose;
	struct setting *params, *globals; /* the last of a name counts */
	struct run_limits
		limits; /* of an evaluation, but for the time: of all together, from begun_ms (clock_mono_ms) */
	int64_t begun_ms;
	uint64_t concurrency;              /* 0: one for each processor */
	const struct http_transport *http; /* to http_hosts; set by the program; NULL: no requests */
};

/* Reads the arguments behind the command, and the environment ("NAME=VALUE", ended by NULL). False, with a message on
 * standard error, if they are wrong. options_release is due in both cases. */
bool options_parse(struct options *options, enum command_bit command, char **args, char **environment);
void options_release(struct options *options);

/* The limits of the next evaluation: its time is what is left, perhaps none. */
struct run_limits options_limits(const struct options *options);

/* Prints the command's flags. */
void options_help(enum command_bit command);

#endif
