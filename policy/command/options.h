/* SPDX-License-Identifier: MPL-2.0 */
#ifndef POLICY_COMMAND_OPTIONS_H
#define POLICY_COMMAND_OPTIONS_H

/*
 * The command line: a command, flags with one or two dashes (-name=value, -name value), and paths in any order. A
 * switch is -name or -name=false. Nothing follows "--" but paths.
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
	struct run_limits limits;
	uint64_t concurrency;              /* 0: one for each processor */
	const struct http_transport *http; /* to http_hosts; set by the program; NULL: no requests */
};

/* Reads the arguments behind the command. False, with a message on standard error, if they are wrong. options_release
 * is due in both cases. */
bool options_parse(struct options *options, enum command_bit command, char **args);
void options_release(struct options *options);

/* Prints the command's flags. */
void options_help(enum command_bit command);

#endif
